"""Who covers whom: the rules one by one, on maps small enough to see."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

import covertour.problem.neighbours
from covertour import InputError, Instance


def covers(instance: Instance) -> list[list[int]]:
    return [instance.coverage.covers_of(i).tolist() for i in range(instance.n)]


LINE = [[0, 0], [1, 0], [3, 0], [7, 0]]


def test_nearest_covers_the_place_and_its_nearest_others() -> None:
    assert covers(Instance.from_coordinates(LINE, nearest=1)) == [[0, 1], [0, 1], [1, 2], [2, 3]]


def test_nearest_may_differ_by_place() -> None:
    found = covers(Instance.from_coordinates(LINE, nearest=[0, 1, 2, 3]))
    assert found == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]]


def test_places_tied_with_the_last_nearest_are_covered_too() -> None:
    cross = [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [5, 5]]
    assert covers(Instance.from_coordinates(cross, nearest=1))[0] == [0, 1, 2, 3, 4]


def test_more_nearest_than_places_is_everyone() -> None:
    assert covers(Instance.from_coordinates(LINE, nearest=99)) == [[0, 1, 2, 3]] * 4


def test_nearest_0_covers_the_place_alone_even_among_doubles() -> None:
    assert covers(Instance.from_coordinates([[1, 1]] * 3, nearest=0)) == [[0], [1], [2]]
    assert covers(Instance.from_matrix(np.zeros((2, 2)), nearest=0)) == [[0], [1]]


def test_doubles_are_nearest_and_tied() -> None:
    spots = [[0, 0], [0, 0], [0, 0], [1, 0], [9, 9]]
    found = covers(Instance.from_coordinates(spots, nearest=1))
    assert found == [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2, 3], [3, 4]]


def test_nearest_goes_by_unrounded_distance() -> None:
    places = [[0, 0], [1.2, 0], [0, 1.4]]  # both are 1 away as euc_2d rounds
    assert covers(Instance.from_coordinates(places, metric="euc_2d", nearest=1))[0] == [0, 1]


def test_radius_includes_its_rim() -> None:
    found = covers(Instance.from_coordinates(LINE, radius=2))
    assert found == [[0, 1], [0, 1, 2], [1, 2], [3]]


def test_the_last_bit_does_not_decide_at_the_rim() -> None:
    places = [[0, 0], [0.1 + 0.2, 0]]  # 0.30000000000000004
    assert covers(Instance.from_coordinates(places, radius=0.3)) == [[0, 1], [0, 1]]


def test_radius_may_differ_by_place_so_coverage_is_directed() -> None:
    instance = Instance.from_coordinates(LINE, radius=[0, 2, 2, 100])
    assert covers(instance) == [[0], [0, 1, 2], [1, 2], [0, 1, 2, 3]]
    assert instance.coverage.covered_by_of(0).tolist() == [0, 1, 3]


def test_radius_goes_by_rounded_distance() -> None:
    places = [[0, 0], [1.4, 0], [1.5, 0]]
    assert covers(Instance.from_coordinates(places, metric="euc_2d", radius=1))[0] == [0, 1]
    assert covers(Instance.from_coordinates(places, metric="ceil_2d", radius=1))[0] == [0]


def test_radius_0_covers_what_is_in_the_same_spot() -> None:
    found = covers(Instance.from_coordinates([[0, 0], [0, 0], [1, 0]], radius=0))
    assert found == [[0, 1], [0, 1], [2]]


def test_places_in_one_spot_are_a_kilometre_apart_in_geo() -> None:
    twins = [[10, 10], [10, 10]]
    assert covers(Instance.from_coordinates(twins, metric="geo", radius=0)) == [[0], [1]]
    assert covers(Instance.from_coordinates(twins, metric="geo", radius=1)) == [[0, 1], [0, 1]]


def test_haversine_radius_is_in_kilometres_and_goes_around_the_globe() -> None:
    places = [[179.9, 0], [-179.9, 0], [0, 90], [120, 90]]
    found = covers(Instance.from_coordinates(places, metric="haversine", radius=23))
    assert found == [[0, 1], [0, 1], [2, 3], [2, 3]]


def test_opposite_places_are_tied_whatever_their_last_bits() -> None:
    places = [[0, -90], [10, 90], [77, 90], [-133, 90]]
    assert covers(Instance.from_coordinates(places, metric="haversine", nearest=1))[0] == [
        0,
        1,
        2,
        3,
    ]


def test_sets_cover_what_they_list_and_the_place_itself() -> None:
    instance = Instance.from_coordinates(LINE, sets=[[1, 2], [], [2, 0, 0], [3]])
    assert covers(instance) == [[0, 1, 2], [1], [0, 2], [3]]


def test_an_asymmetric_matrix_is_read_by_rows() -> None:
    matrix = [[0, 1, 9], [5, 0, 2], [1, 9, 0]]
    assert covers(Instance.from_matrix(matrix, radius=2)) == [[0, 1], [1, 2], [0, 2]]
    assert covers(Instance.from_matrix(matrix, nearest=1)) == [[0, 1], [1, 2], [0, 2]]


def test_forbidden_places_cover_nothing_but_can_be_covered() -> None:
    instance = Instance.from_coordinates(LINE, nearest=1, forbidden=[1, 2])
    assert instance.coverage.covers_of(1).tolist() == []
    assert instance.coverage.covered_by_of(1).tolist() == [0]
    assert instance.coverage.covered_by_of(2).tolist() == [3]


def test_an_instance_nobody_can_cover_names_the_places() -> None:
    instance = Instance.from_coordinates(
        LINE, radius=1, forbidden=[2, 3], labels=["a", "b", "c", "d"], name="map"
    )
    with pytest.raises(InputError, match=r"^map: no allowed place covers places c, d, so no tour"):
        _ = instance.coverage


@pytest.mark.parametrize(
    ("places", "rule"),
    [
        (np.zeros((200, 2)), {"nearest": 3}),
        (np.zeros((200, 2)), {"radius": 1}),
        (np.zeros((200, 2)), {"radius": np.ones(200)}),
        (np.random.default_rng(1).random((200, 2)), {"nearest": 150}),
        (np.random.default_rng(1).random((200, 2)), {"radius": np.full(200, 2.0)}),
        (np.indices((15, 15)).reshape(2, -1).T, {"nearest": np.r_[np.full(200, 120), [1] * 25]}),
    ],
)
@pytest.mark.parametrize("dense", [0, 1000])
def test_more_pairs_than_memory_holds_are_refused(
    places: np.ndarray, rule: dict, dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(covertour.problem.neighbours, "MOST_PAIRS", 20_000)
    monkeypatch.setattr(covertour.problem.neighbours, "DENSE_UP_TO", dense)
    monkeypatch.setattr(covertour.problem.neighbours, "DENSE_SHARE", 2.0)
    with pytest.raises(InputError, match=r"^coverage: more than 20,000 covered pairs"):
        _ = Instance.from_coordinates(places, **rule).coverage


@pytest.mark.parametrize("rule", [{"nearest": 5}, {"nearest": [*range(10)] * 30}, {"radius": 0.1}])
def test_building_in_many_small_batches_changes_nothing(
    rule: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = np.random.default_rng(2).integers(0, 12, (300, 2)) / 40
    monkeypatch.setattr(covertour.problem.neighbours, "DENSE_UP_TO", 0)
    monkeypatch.setattr(covertour.problem.neighbours, "DENSE_SHARE", 2.0)
    whole = covers(Instance.from_coordinates(places, **rule))
    monkeypatch.setattr(covertour.problem.neighbours, "PAIRS_AT_A_TIME", 50)
    monkeypatch.setattr(covertour.problem.neighbours, "PLACES_AT_A_TIME", 7)
    assert covers(Instance.from_coordinates(places, **rule)) == whole


@pytest.mark.parametrize("dense", [0, 1000], ids=["tree", "compared"])
@pytest.mark.parametrize("rule", [{"nearest": 1}, {"radius": 6371.0088 * np.pi - 1e-4}])
def test_places_nearly_opposite_are_told_apart(dense: int, rule: dict) -> None:
    """The far places are 0.11 m apart, which the chords to them do not show."""
    places = [[7, 48], [-173, -48 + 1e-6], [-173, -48]]
    instance = Instance.from_coordinates(places, metric="haversine", **rule)
    with patch.multiple(covertour.problem.neighbours, DENSE_UP_TO=dense, DENSE_SHARE=2.0):
        assert covers(instance)[0] == [0, 1]


@pytest.mark.parametrize(
    ("rule", "dense"),
    [
        ({"radius": 0.5}, True),
        ({"radius": [0.3, 0.6] * 600}, True),
        ({"nearest": 1199}, True),
        ({"nearest": 200}, True),
        ({"radius": 0.05}, False),
        ({"nearest": 7}, False),
    ],
)
def test_many_places_that_cover_many_are_compared_as_the_tree_would(
    rule: dict, dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = covertour.problem.neighbours
    instance = Instance.from_coordinates(np.random.default_rng(3).random((1200, 2)), **rule)
    assert module._dense("euclidean", instance.coordinates, instance.rule) is dense
    table = instance.coverage
    monkeypatch.setattr(module, "DENSE_SHARE", 2.0)
    tree = module.build_coverage("euclidean", instance.coordinates, None, instance.rule)
    for one, other in zip(vars(table).values(), vars(tree).values(), strict=True):
        assert np.array_equal(one, other)


def test_a_table_that_is_its_own_reverse_is_kept_once() -> None:
    places = np.random.default_rng(3).random((1200, 2))
    for rule in ({"radius": 2.0}, {"nearest": 1199}, {"radius": 0.5}):
        table = Instance.from_coordinates(places, **rule).coverage
        assert table.covered_by is table.covers
