"""Instances by road in files: what reads back, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from covertour import InputError, Instance, Roads, make_tour, read
from covertour.formats import encode


class Bend:
    """Roads that all go round by one corner."""

    def line(self, start: int, end: int) -> np.ndarray:
        return np.array([[start, 0.0], [5.0, 5.0], [end, 0.0]])


@pytest.fixture
def instance() -> Instance:
    return Instance(
        metric="matrix",
        rule=Instance.from_matrix(np.zeros((3, 3)), sets=[[1], [0], []]).rule,
        matrix=np.array([[0, 3, 4], [5, 0, 6], [7, 8, 0]], dtype=float),
        coordinates=np.array([[0.0, 0], [1, 0], [2, 0]]),
        labels=("a", "b", "c"),
        roads=Roads(
            "min",
            "by car, the fastest way",
            "all within 2 km on foot by road",
            pair=np.array([1, 3]),
            distance=np.array([1.5, 1.25]),
            credit="© somebody",
            lines=Bend(),
        ),
    )


def value(instance: Instance) -> dict[str, Any]:
    return json.loads(encode(instance, None, "json"))


def test_json_has_all_but_the_lines(instance: Instance) -> None:
    again = read(value(instance))
    assert again.roads is not None
    assert again.roads.unit == "min"
    assert again.roads.cover == instance.roads.cover
    assert again.cover_distances([0, 1, 0, 2], [1, 0, 2, 2]).tolist() == [1.5, 1.25, np.inf, 0.0]
    assert again.matrix.tolist() == instance.matrix.tolist()
    assert encode(again, None, "json") == encode(instance, None, "json")


def test_another_rule_is_asked_of_the_matrix(instance: Instance) -> None:
    again = read(value(instance), radius=4.5)
    assert again.roads is not None
    assert (again.roads.pair, again.roads.cover) == (None, "")
    assert again.coverage.covers_of(0).tolist() == [0, 1, 2]
    assert again.cover_distances(0, 2) == 4.0


@pytest.mark.parametrize(
    ("roads", "complaint"),
    [
        (5, "roads: expected an object"),
        ({"unit": "miles"}, "roads: unit: expected km or min, got 'miles'"),
        ({"unit": "km", "tour": 3}, "roads: tour: expected text"),
        ({"unit": "km", "lines": []}, "roads: unknown field 'lines'"),
        ({"unit": "km", "distances": [[1]]}, "one for each member of each set"),
        ({"unit": "km", "distances": [[1], ["x"], []]}, "expected numbers >= 0"),
        ({"unit": "km", "distances": [[1], [-1], []]}, "expected numbers >= 0"),
    ],
)
def test_roads_that_make_no_sense_are_refused(
    instance: Instance, roads: Any, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint):
        read(value(instance) | {"roads": roads})


def test_roads_need_a_matrix_and_coordinates() -> None:
    with pytest.raises(InputError, match="roads: need a distance matrix, and coordinates"):
        Instance.from_coordinates([[0, 0]], radius=1).with_changes(roads=Roads("km", "by car"))


def test_geojson_and_gpx_run_along_the_roads(instance: Instance) -> None:
    tour = make_tour(instance, [0, 2])
    line = json.loads(encode(instance, tour, "geojson"))["features"][0]["geometry"]["coordinates"]
    assert line == [[0, 0], [5, 5], [2, 0], [5, 5], [0, 0]]
    gpx = encode(instance, tour, "gpx").decode()
    assert gpx.count("<trkseg>") == 2
    assert gpx.count('<trkpt lat="5.0000000" lon="5.0000000"/>') == 2
    assert "4.000 min from the start" in gpx
    assert "1.500 km away" in gpx


def test_one_stop_has_no_way(instance: Instance) -> None:
    alone = instance.with_changes(required=[0], forbidden=[1, 2], quota=0.5)
    tour = make_tour(alone, [0])
    for kind in ("geojson", "gpx", "html", "png", "csv", "json"):
        assert encode(alone, tour, kind)


def test_the_map_has_the_roads_and_their_credit(instance: Instance) -> None:
    page = encode(instance, make_tour(instance, [0, 2]), "html").decode()
    steps = "[[0,0,500000,500000,-300000,-500000],[200000,0,300000,500000,-500000,-500000]]"
    assert f'"ways":{{"step":1e-05,"lines":{steps}}}' in page
    assert "© somebody" in json.loads('"' + page.split('"credit":"')[1].split('"')[0] + '"')
    assert "Minutes are by car, the fastest way, along real roads." in page


def test_pictures_show_the_roads(instance: Instance) -> None:
    svg = encode(instance, make_tour(instance, [0, 2]), "svg").decode()
    assert "Roads: © somebody" in svg
