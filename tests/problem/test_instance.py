"""Instance: what it answers, and the one line it answers bad input with."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from covertour import InputError, Instance, Nearest, Radius, Sets
from covertour.problem.instance import make_rule

SQUARE = [[0, 0], [0, 1], [1, 1], [1, 0]]


def test_lengths_are_of_closed_tours() -> None:
    square = Instance.from_coordinates(SQUARE, radius=1)
    assert square.length([0, 1, 2, 3]) == 4
    assert square.length([0, 1]) == 2  # there and back
    assert square.length([2]) == 0
    assert square.length([]) == 0


def test_the_way_around_matters_in_an_asymmetric_matrix() -> None:
    oneway = Instance.from_matrix([[0, 1, 9], [9, 0, 1], [1, 9, 0]], nearest=0)
    assert (oneway.length([0, 1, 2]), oneway.length([2, 1, 0])) == (3, 27)
    assert not oneway.symmetric


def test_a_place_is_at_distance_0_from_itself_even_in_geo() -> None:
    twins = Instance.from_coordinates([[10, 10], [10, 10]], metric="geo", nearest=1)
    assert twins.distances([0, 0], [0, 1]).tolist() == [0, 1]
    assert Instance.from_matrix([[5, 1], [1, 7]], nearest=0).distances(0, 0) == 0


def test_distances_broadcast() -> None:
    square = Instance.from_coordinates(SQUARE, radius=1)
    table = square.distances(np.arange(4)[:, None], np.arange(4)[None, :])
    assert table.shape == (4, 4)
    assert np.array_equal(table, table.T)


@pytest.mark.parametrize(
    ("metric", "whole"), [("euc_2d", True), ("att", True), ("euclidean", False)]
)
def test_integral_tells_whether_lengths_are_whole(metric: str, whole: bool) -> None:
    assert Instance.from_coordinates(SQUARE, metric=metric, nearest=1).integral is whole


def test_a_matrix_is_integral_and_symmetric_by_its_entries() -> None:
    assert Instance.from_matrix([[0, 2], [2, 0]], nearest=1).integral
    assert Instance.from_matrix([[0, 2], [2, 0]], nearest=1).symmetric
    assert not Instance.from_matrix([[0, 2.5], [2, 0]], nearest=1).integral


def test_must_visit_is_the_depot_and_the_required_places_once() -> None:
    square = Instance.from_coordinates(SQUARE, radius=1, depot=2, required=[3, 2, 0])
    assert square.must_visit.tolist() == [0, 2, 3]
    assert Instance.from_coordinates(SQUARE, radius=1).must_visit.tolist() == []


def test_places_are_called_by_label_or_number() -> None:
    plain = Instance.from_coordinates(SQUARE, radius=1)
    named = plain.with_changes(labels=["a", "b", "c", "d"])
    assert (plain.label(1), named.label(1)) == ("1", "b")
    assert named.describe([2]) == "place c"
    assert named.describe([0, 3]) == "places a, d"
    assert plain.describe(range(10), most=3) == "places 0, 1, 2 and 7 more"


def test_a_change_is_checked_anew_and_leaves_the_original() -> None:
    square = Instance.from_coordinates(SQUARE, radius=1)
    assert square.with_changes(depot=3).depot == 3
    assert square.depot is None
    with pytest.raises(InputError, match=r"^depot:"):
        square.with_changes(depot=4)


def test_the_input_arrays_are_copied_and_cannot_be_written() -> None:
    points = np.array(SQUARE, dtype=float)
    square = Instance.from_coordinates(points, radius=[1, 1, 1, 1])
    points[0] = 99
    assert square.length([0, 1]) == 2
    with pytest.raises(ValueError, match="read-only"):
        square.coordinates[0] = 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        square.depot = 1


def test_required_and_forbidden_are_sorted_and_unique() -> None:
    square = Instance.from_coordinates(
        SQUARE, radius=2, required=(3, 1, 3), forbidden=np.array([2])
    )
    assert (square.required, square.forbidden) == ((1, 3), (2,))


def test_sets_are_sorted_and_unique() -> None:
    square = Instance.from_coordinates(SQUARE, sets=[(3, 1, 3), [], np.array([0]), [2.0]])
    assert isinstance(square.rule, Sets)
    assert [members.tolist() for members in square.rule.sets] == [[1, 3], [], [0], [2]]


def test_a_matrix_instance_may_have_coordinates_to_be_drawn_by() -> None:
    drawn = Instance.from_matrix([[0, 7], [7, 0]], nearest=1, coordinates=[[0, 0], [1, 1]])
    assert drawn.length([0, 1]) == 14


def test_rules_are_made_from_exactly_one_of_three() -> None:
    assert isinstance(make_rule(nearest=3), Nearest)
    assert isinstance(make_rule(radius=0), Radius)
    assert isinstance(make_rule(sets=[[0]]), Sets)


GOOD: dict[str, Any] = {"coordinates": SQUARE, "radius": 1}
TWO = {"coordinates": None, "metric": "matrix"}

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("unknown metric", {"metric": "taxi"}, r"^metric: no 'taxi'; there are euclidean, .*matrix$"),
    ("no rule", {"radius": None}, r"^coverage: give one of nearest, radius and sets$"),
    ("two rules", {"nearest": 1}, r"^coverage: nearest and radius are given; give only one"),
    ("no coordinates", {"coordinates": None}, r"^coordinates: the metric 'euclidean' needs them$"),
    ("no places", {"coordinates": []}, r"at least one place"),
    ("text", {"coordinates": [["a", 1]] * 4}, r"^coordinates: expected numbers"),
    ("ragged", {"coordinates": [[1, 2], [3]]}, r"^coordinates: expected numbers in rows"),
    ("three columns", {"coordinates": [[1, 2, 3]]}, r"^coordinates: .* got shape \(1, 3\)$"),
    ("nan", {"coordinates": [[0, 0], [0, np.nan]]}, r"^coordinates: place 1 has .*nan.*not finite"),
    ("infinite", {"coordinates": [[np.inf, 0]]}, r"^coordinates: place 0 .* not finite"),
    ("too large", {"coordinates": [[10**400, 0]]}, r"^coordinates: "),
    (
        "latitude",
        {"coordinates": [[0, 91]], "metric": "haversine"},
        r"^coordinates: place 0 has latitude 91, outside ±90$",
    ),
    (
        "longitude",
        {"coordinates": [[0, 0], [-361, 9]], "metric": "haversine"},
        r"^coordinates: place 1 has longitude -361, outside ±360$",
    ),
    (
        "geo latitude",
        {"coordinates": [[95, 0]], "metric": "geo"},
        r"^coordinates: place 0 has latitude 95, outside ±90$",
    ),
    ("negative radius", {"radius": -1}, r"^radius: -1 is not a finite number >= 0$"),
    ("radius nan", {"radius": [1, 1, np.nan, 1]}, r"^radius: nan of place 2 is not a finite"),
    (
        "radii of another size",
        {"radius": [1, 2]},
        r"^radius: expected one number or 4, one per place",
    ),
    ("negative k", {"radius": None, "nearest": -3}, r"^nearest: -3 is not a finite number >= 0$"),
    ("k not whole", {"radius": None, "nearest": 1.5}, r"^nearest: expected whole numbers$"),
    ("k text", {"radius": None, "nearest": "many"}, r"^nearest: expected numbers"),
    ("sets of another size", {"radius": None, "sets": [[0]]}, r"^sets: 1 of them for 4 places$"),
    (
        "sets naming nobody",
        {"radius": None, "sets": [[0], [1], [7], [3]]},
        r"^sets\[2\]: place 7 does not exist, there are 0 to 3$",
    ),
    ("sets of text", {"radius": None, "sets": [["x"]] * 4}, r"^sets\[0\]: expected"),
    ("sets in sets", {"radius": None, "sets": [[[0]]] * 4}, r"^sets\[0\]: expected a list"),
    ("sets of halves", {"radius": None, "sets": [[0], [0.5], [], []]}, r"^sets\[1\]: expected"),
    ("sets not even arrays", {"radius": None, "sets": [np.array(1)] * 4}, r"^sets\[0\]: expected"),
    ("sets not lists", {"radius": None, "sets": [0, 1, 2, 3]}, r"^sets\[0\]: expected a list"),
    ("unknown depot", {"depot": 4}, r"^depot: place 4 does not exist, there are 0 to 3$"),
    ("depot not whole", {"depot": 0.5}, r"^depot: expected a list of place numbers$"),
    ("unknown required", {"required": [0, -1]}, r"^required: place -1 does not exist"),
    ("unknown forbidden", {"forbidden": [9]}, r"^forbidden: place 9 does not exist"),
    ("depot forbidden", {"depot": 1, "forbidden": [1]}, r"^depot: place 1 is forbidden too$"),
    (
        "required forbidden",
        {"required": [2], "forbidden": [2], "labels": ["a", "b", "c", "d"]},
        r"^required: place c is forbidden too$",
    ),
    ("labels", {"labels": ["a"]}, r"^labels: 1 of them for 4 places$"),
    ("matrix unasked", {"matrix": [[0]]}, r"^matrix: the metric 'euclidean' takes coordinates"),
    ("matrix missing", TWO, r"^matrix: the metric 'matrix' needs a distance matrix$"),
    ("matrix empty", TWO | {"matrix": []}, r"at least one place"),
    ("matrix not square", TWO | {"matrix": [[0, 1]]}, r"^matrix: .* got shape \(1, 2\)$"),
    ("matrix ragged", TWO | {"matrix": [[0, 1], [1]]}, r"^matrix: expected numbers"),
    (
        "matrix negative",
        TWO | {"matrix": [[0, 1], [-2, 0]]},
        r"^matrix: row 1, column 0 is -2; distances are finite and >= 0$",
    ),
    ("matrix nan", TWO | {"matrix": [[0, np.nan], [2, 0]]}, r"^matrix: row 0, column 1 is nan"),
    (
        "matrix with other coordinates",
        {"metric": "matrix", "matrix": [[0, 1], [1, 0]]},
        r"^coordinates: 4 of them for 2 places$",
    ),
]


def made(
    nearest: Any = None,
    radius: Any = None,
    sets: Any = None,
    metric: str = "euclidean",
    **more: Any,
) -> Instance:
    return Instance(metric=metric, rule=make_rule(nearest, radius, sets), **more)


@pytest.mark.parametrize(
    ("changes", "message"), [case[1:] for case in BAD], ids=[case[0] for case in BAD]
)
def test_bad_input_gets_one_clear_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as refusal:
        made(**GOOD | changes)
    assert "\n" not in str(refusal.value)


def test_something_that_is_no_rule_is_refused() -> None:
    with pytest.raises(InputError, match=r"^coverage: expected Nearest, Radius or Sets"):
        Instance(metric="euclidean", rule="all", coordinates=SQUARE)


def test_places_too_near_to_tell_apart_are_refused() -> None:
    tiny = [[0, 0], [5, 1e-170], [0, 3e-170]]
    with pytest.raises(InputError, match="places 0 and 2 are less than 1e-130 apart"):
        Instance.from_coordinates(tiny, radius=1)
    assert Instance.from_coordinates(tiny[:2], radius=1).n == 2
    assert Instance.from_coordinates([[0, 1e-170], [0, 1e-170], [-0.0, 1e-170]], radius=1).n == 3
    with pytest.raises(InputError, match="places 0 and 1 are less than"):
        Instance.from_coordinates([[0, 1e-170], [0, -1e-170]], radius=1)
    near = Instance.from_coordinates([[0, 0], [0, 3e-130]], radius=0)
    assert near.length([0, 1]) == pytest.approx(6e-130)
    with pytest.raises(InputError, match="row 1, column 0 is 1e-306; distances are 0 or at least"):
        Instance.from_matrix([[0, 1], [1e-306, 0]], radius=1)
