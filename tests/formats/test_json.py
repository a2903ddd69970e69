from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from covertour import InputError, Instance, Result, Tour, make_tour, read, read_tour, write

GOOD = {"metric": "euclidean", "coordinates": [[0.1, 0.9], [0.4, 0.2]], "coverage": {"nearest": 1}}
SQUARE = Instance.from_coordinates([[0, 0], [0, 1], [1, 1], [1, 0]], radius=1, name="square")


def file(tmp_path: Path, value: object, name: str = "a.json") -> Path:
    path = tmp_path / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def message(tmp_path: Path, value: object, **rule: object) -> str:
    path = file(tmp_path, value)
    with pytest.raises(InputError) as caught:
        read(path, **rule)
    return str(caught.value).replace(str(path), "a.json")


def test_the_example_of_the_manual(tmp_path: Path) -> None:
    instance = read(file(tmp_path, GOOD | {"name": "villages", "depot": 0, "labels": ["a", "b"]}))
    assert (instance.name, instance.depot, instance.labels) == ("villages", 0, ("a", "b"))
    assert instance.coordinates.tolist() == GOOD["coordinates"]


def test_the_name_defaults_to_the_files_and_the_metric_to_what_is_there(tmp_path: Path) -> None:
    instance = read(file(tmp_path, {"coordinates": [[0, 0]]}), radius=1)
    assert (instance.name, instance.metric) == ("a", "euclidean")
    assert read(file(tmp_path, {"matrix": [[0]]}), radius=1).metric == "matrix"


def test_the_caller_overrides_rule_and_metric(tmp_path: Path) -> None:
    instance = read(file(tmp_path, GOOD), radius=[1, 2], metric="haversine")
    assert instance.metric == "haversine"
    assert instance.rule.r.tolist() == [1, 2]
    both = {"matrix": [[0, 1], [1, 0]], "coordinates": [[0, 0], [3, 4]], "metric": "matrix"}
    assert read(file(tmp_path, both), radius=1, metric="euclidean").length([0, 1]) == 10


def test_geojson_is_known_by_its_content(tmp_path: Path) -> None:
    point = {"type": "Point", "coordinates": [5, 50]}
    value = {"type": "Feature", "geometry": point, "properties": None}
    assert read(file(tmp_path, value), radius=1).metric == "haversine"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", "a.json: the file is empty"),
        ("{\n'a'", "a.json, line 2: not JSON: Expecting property name"),
        ("[" * 100_000, "a.json: JSON with numbers too long or lists too deep"),
        ("[1]", "a.json: expected an object {...}, got [1]"),
        ({"tour": [0]}, "a.json: this is a result, expected an instance"),
        ({}, "a.json: has no coverage rule; give nearest or radius"),
        ({"coverage": {"radius": 1}}, "a.json: expected the field 'coordinates' or 'matrix'"),
        (GOOD | {"coverage": None}, "give nearest or radius (--nearest, --radius)"),
        (GOOD | {"requierd": [1]}, "a.json: unknown field 'requierd'; did you mean 'required'?"),
        (GOOD | {"coordinates": []}, "a.json: an instance needs at least one place"),
        (GOOD | {"coordinates": 5}, "a.json: coordinates: expected a list, got 5"),
        (GOOD | {"coordinates": [[1, 2], [3]]}, "a.json: coordinates: expected numbers in rows"),
        (GOOD | {"coordinates": [[1, "a"]]}, "a.json: coordinates: expected numbers"),
        (GOOD | {"coordinates": [[1, 10**400]]}, "a.json: coordinates: a number is too large"),
        (GOOD | {"coordinates": [[1, None]]}, "a.json: coordinates: expected numbers, got None"),
        ('{"coordinates": [[1, Infinity]], "coverage": {"radius": 1}}', "not JSON: Infinity"),
        ('{"coordinates": [[1, 1]], "coordinates": [[2, 2]]}', "the key 'coordinates' is given"),
        (GOOD | {"coordinates": [[1, "2"]]}, "a.json: coordinates: expected numbers, got '2'"),
        (GOOD | {"coordinates": [[1, True]]}, "a.json: coordinates: expected numbers, got True"),
        (GOOD | {"coordinates": ["12", "34"]}, "coordinates: expected rows [...], got '12'"),
        (GOOD | {"coverage": {"radius": ["1", 2]}}, "a.json: radius: expected numbers, got '1'"),
        (GOOD | {"coverage": {"nearest": [True, 2]}}, "a.json: nearest: expected numbers, got Tr"),
        (GOOD | {"coverage": {"sets": [[True], []]}}, "a.json: sets: expected numbers, got True"),
        (GOOD | {"coverage": {"nearest": 2**63}}, "a.json: nearest: 9.22337e+18 is too large"),
        ('{"coverage": {"radius": 1}, "name": ' + "[" * 900 + "]" * 900 + "}", "name: expected"),
        (GOOD | {"metric": "warp"}, "a.json: metric: no 'warp'; there are euclidean"),
        (GOOD | {"metric": 3}, "a.json: metric: expected text, got 3"),
        (GOOD | {"metric": "haversine", "coordinates": [[0, 91]]}, "latitude 91, outside ±90"),
        (GOOD | {"required": 1}, "a.json: required: expected a list, got 1"),
        (GOOD | {"required": ["b"]}, "a.json: required: expected a place number, got 'b'"),
        (GOOD | {"required": [2]}, "a.json: required: place 2 does not exist, there are 0 to 1"),
        (GOOD | {"depot": True}, "a.json: depot: expected a place number, got True"),
        (GOOD | {"depot": 0, "forbidden": [0]}, "a.json: depot: place 0 is forbidden too"),
        (GOOD | {"labels": ["a"]}, "a.json: labels: 1 of them for 2 places"),
        (GOOD | {"labels": ["a", 2]}, "a.json: labels: expected texts, got 2"),
        (GOOD | {"coverage": 7}, "a.json: coverage: expected {'nearest': ...}"),
        (GOOD | {"coverage": {"k": 7}}, "a.json: coverage: expected {'nearest': ...}"),
        (GOOD | {"coverage": {"nearest": 1, "radius": 1}}, "a.json: coverage: expected {'near"),
        (GOOD | {"coverage": {"nearest": "7"}}, "a.json: nearest: expected a number or a list"),
        (GOOD | {"coverage": {"nearest": 1.5}}, "a.json: nearest: expected whole numbers"),
        (GOOD | {"coverage": {"nearest": -1}}, "a.json: nearest: -1 is not a finite number >= 0"),
        (GOOD | {"coverage": {"radius": [1, -1]}}, "a.json: radius: -1 of place 1 is not a finite"),
        (GOOD | {"coverage": {"radius": [1]}}, "a.json: radius: expected one number or 2"),
        (GOOD | {"coverage": {"sets": [1, 2]}}, "a.json: sets: expected a list of lists"),
        (GOOD | {"coverage": {"sets": [[1], [9]]}}, "a.json: sets[1]: place 9 does not exist"),
        (GOOD | {"coverage": {"sets": [[1]]}}, "a.json: sets: 1 of them for 2 places"),
        ({"matrix": [[0, 1]], "coverage": {"radius": 1}}, "a.json: matrix: expected a square"),
        (
            {"matrix": [[0, -1], [1, 0]], "coverage": {"radius": 1}},
            "a.json: matrix: row 0, column 1",
        ),
    ],
)
def test_bad_instances(tmp_path: Path, value: object, expected: str) -> None:
    found = message(tmp_path, value)
    assert expected in found
    assert "\n" not in found
    assert len(found) < 200


def test_a_result_is_written_as_documented(tmp_path: Path) -> None:
    tour = make_tour(SQUARE, [0, 2])
    result = Result(SQUARE, "lns", tour, seconds=1.5, seed=3, iterations=9, bound=2.0)
    write(tmp_path / "r.json", SQUARE, result)
    value = json.loads((tmp_path / "r.json").read_text())
    assert value["tour"] == [0, 2]
    assert value["gap"] == result.gap
    write(tmp_path / "t.json", SQUARE, tour)
    bare = json.loads((tmp_path / "t.json").read_text())
    assert list(bare) == list(value)
    assert bare["length"] == tour.length
    assert bare["bound"] is bare["method"] is None


def test_a_tour_keeps_its_mistakes_for_the_referee(tmp_path: Path) -> None:
    tour = read_tour(file(tmp_path, {"tour": [0, 0, 3], "length": 1}), SQUARE)
    assert tour.places.tolist() == [0, 0, 3]
    assert tour.length == 1
    assert read_tour(file(tmp_path, [0, 2]), SQUARE).length == pytest.approx(2 * np.sqrt(2))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (GOOD, "expected a result with the field 'tour'"),
        ({"tour": 5}, "tour: expected a list of place numbers, got 5"),
        ({"tour": []}, "tour: expected a list of at least one place"),
        ({"tour": [0, 99]}, "tour: expected places 0 to 3, there is no place 99"),
        ([0, -1], "tour: expected places 0 to 3, there is no place -1"),
        ({"tour": [0], "stops": [{"place": 1}]}, "stops: expected one object per place"),
        ({"tour": [0], "stops": [{"place": 0, "name": 7}]}, "expected text for the name, got 7"),
        ({"tour": [[0]]}, "tour: expected a place number, got .0."),
        ("[" * 100_000 + "]" * 100_000, "numbers too long or lists too deep"),
        ({"tour": [1.5]}, "tour: expected a place number, got 1.5"),
        ({"tour": [10**30]}, "a place number or the length of the tour is too large"),
        ({"tour": [1], "length": "far"}, "length: expected a number, got 'far'"),
        ({"tour": [1], "length": 10**400}, "the length of the tour is too large"),
    ],
)
def test_bad_tours(tmp_path: Path, value: object, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        read_tour(file(tmp_path, value), SQUARE)


def test_a_tour_without_length_claims_none(tmp_path: Path) -> None:
    write(tmp_path / "t.json", SQUARE, Tour(np.array([0, 2]), float("nan")))
    assert read_tour(tmp_path / "t.json", SQUARE).length == pytest.approx(2 * np.sqrt(2))
