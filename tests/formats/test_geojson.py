from __future__ import annotations

import json
from pathlib import Path

import pytest

from covertour import InputError, Instance, Result, make_tour, read, read_tour, write


def point(lon: object, lat: object, **properties: object) -> dict:
    geometry = {"type": "Point", "coordinates": [lon, lat]}
    return {"type": "Feature", "geometry": geometry, "properties": properties}


def collection(tmp_path: Path, *features: object, **more: object) -> Path:
    path = tmp_path / "a.geojson"
    value = {"type": "FeatureCollection", "features": features, **more}
    path.write_text(json.dumps(value))
    return path


def test_points_and_properties(tmp_path: Path) -> None:
    path = collection(
        tmp_path,
        point(5, 50, Name="Aye", radius=2.5, depot=True, population=7),
        point(6, 51, Name=None, radius=3, depot=False),
        point(7, 52, Name=12, radius=4, forbidden="yes"),
    )
    instance = read(path)
    assert instance.metric == "haversine"
    assert instance.coordinates.tolist() == [[5, 50], [6, 51], [7, 52]]
    assert instance.labels == ("Aye", "", "12")
    assert instance.rule.r.tolist() == [2.5, 3, 4]
    assert (instance.depot, instance.forbidden) == (0, (2,))
    assert read(path, nearest=1, metric="euclidean").metric == "euclidean"


@pytest.mark.parametrize(
    ("features", "expected"),
    [
        ([], "a.geojson: expected point features, found none"),
        ([3], "a.geojson, feature 1: expected a feature, got 3"),
        ([point(1, 2), point(1, 97)], "a.geojson, feature 2: latitude 97 is outside ±90"),
        ([point(1, "b")], "a.geojson, feature 1: coordinates: expected two numbers, got [1, 'b']"),
        ([point(float("nan"), 1)], "a.geojson: not JSON: NaN is not a number in JSON"),
        ([point(10**400, 1)], "a.geojson, feature 1: coordinates: a number is too large"),
        ([point(1, 2) | {"geometry": None}], "feature 1: expected the geometry Point, got None"),
        (
            [point(1, 2) | {"geometry": {"type": "LineString", "coordinates": []}}],
            "a.geojson, feature 1: expected the geometry Point, got 'LineString'",
        ),
        ([point(1, 2) | {"properties": 3}], "feature 1: properties: expected an object"),
        ([point(1, 2, radius=1), point(1, 2)], "a.geojson, feature 2: radius is missing"),
        ([point(1, 2, k=-1)], "a.geojson, feature 1: nearest -1 is negative"),
        ([point(1, 2, covers=[[0]])], "a.geojson, feature 1: covers: expected a text or numbers"),
        ([point(1, 2, name={"en": "x"})], "a.geojson, feature 1: name: expected a text or numbers"),
        ([point(1, 2)], "a.geojson: has no coverage rule; give nearest or radius"),
        (
            [point(1, 2, r=1, start=1), point(1, 2, r=1, start=1)],
            "a.geojson, feature 2: a second depot",
        ),
    ],
)
def test_bad_collections(tmp_path: Path, features: list, expected: str) -> None:
    path = collection(tmp_path, *features)
    with pytest.raises(InputError) as caught:
        read(path)
    assert expected in str(caught.value).replace(str(path), "a.geojson")


def test_geojson_that_is_something_else(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text('{"type": "Point", "coordinates": [1, 2]}')
    with pytest.raises(InputError, match="expected a GeoJSON FeatureCollection"):
        read(path, radius=1)
    with pytest.raises(InputError, match="not the metric 'geo'"):
        read(path, radius=1, metric="geo")


COAST = Instance.from_coordinates(
    [[0, 0], [0, 0.1], [1, 0], [1, 0.1]],
    metric="haversine",
    radius=20,
    name="coast",
    labels=["a", "b", "c", "d"],
)


def test_a_tour_has_its_route_its_stops_and_who_serves_whom(tmp_path: Path) -> None:
    result = Result(COAST, "lns", make_tour(COAST, [0, 2]), seconds=1.0)
    write(tmp_path / "r.geojson", COAST, result)
    route, *others = json.loads((tmp_path / "r.geojson").read_text())["features"]
    assert route["geometry"] == {"type": "LineString", "coordinates": [[0, 0], [1, 0], [0, 0]]}
    assert route["properties"]["length"] == result.length
    assert [other["properties"]["kind"] for other in others] == ["stop", "stop", "place", "place"]
    first, _, place, _ = (other["properties"] for other in others)
    assert (first["stop"], first["place"], first["name"], first["covers"]) == (1, 0, "a", [1])
    assert (place["place"], place["stop"], place["stop_name"]) == (1, 1, "a")
    assert place["distance"] == pytest.approx(11.119, abs=1e-3)


def test_an_uncovered_place_has_no_stop(tmp_path: Path) -> None:
    write(tmp_path / "r.geojson", COAST, make_tour(COAST, [0]))
    features = json.loads((tmp_path / "r.geojson").read_text())["features"]
    assert features[-1]["properties"]["stop"] is None


def test_places_in_the_plane_have_no_geojson(tmp_path: Path) -> None:
    plane = Instance.from_coordinates([[0, 0]], radius=1)
    for outcome in (None, make_tour(plane, [0])):
        with pytest.raises(InputError, match=r"needs longitude and latitude \(metric haversine\)"):
            write(tmp_path / "a.geojson", plane, outcome)
    assert list(tmp_path.iterdir()) == []


def test_tsplibs_geo_is_written_in_decimal_degrees(tmp_path: Path) -> None:
    instance = Instance.from_coordinates([[50.30, 6.15]], metric="geo", radius=1)
    write(tmp_path / "a.geojson", instance, make_tour(instance, [0]))
    stop = json.loads((tmp_path / "a.geojson").read_text())["features"][1]
    assert stop["geometry"]["coordinates"] == pytest.approx([6.25, 50.5], abs=1e-4)


def test_stops_are_read_in_order_and_with_their_mistakes(tmp_path: Path) -> None:
    stops = [point(0, 0, kind="stop", stop=2, place=1), point(0, 0, kind="stop", stop=1, place=0)]
    route = point(0, 0, kind="route", length=5)
    tour = read_tour(collection(tmp_path, route, *stops), COAST)
    assert tour.places.tolist() == [0, 1]
    assert tour.length == 5


@pytest.mark.parametrize(
    ("feature", "expected"),
    [
        (point(0, 0), "expected a tour with features of the kinds route and stop"),
        (point(0, 0, kind="stop", stop=1), "feature 1: expected whole numbers for the stop and"),
        (point(0, 0, kind="route", length="far"), "feature 1: length: expected a number"),
    ],
)
def test_bad_tours(tmp_path: Path, feature: dict, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read_tour(collection(tmp_path, feature), COAST)


def test_properties_nested_too_deeply_are_refused_and_unused_ones_passed_over(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.geojson"
    for depth, words in ((2000, "lists too deep"), (900, "name: expected a text or numbers, got")):
        text = json.dumps({"type": "FeatureCollection", "features": [point(1, 2, name="NEST")]})
        path.write_text(text.replace('"NEST"', "[" * depth + "]" * depth))
        with pytest.raises(InputError, match=words) as caught:
            read(path, radius=1)
        assert len(str(caught.value)) < 300
    path.write_text(text.replace('"name": "NEST"', '"other": ' + "[" * 900 + "]" * 900))
    assert read(path, radius=1).n == 1
