"""Learned tours after the polish: still right, never longer, no change of one stop or two legs."""

import numpy as np
import pytest

from covertour import Instance, random_instance
from covertour.neural.config import ModelConfig
from covertour.neural.inference.polish import Tables, polish
from covertour.neural.inference.problem import problem_of


def polished(instance: Instance, tours: list[list[int]]) -> list[list[int]]:
    """The tours of one instance, padded, polished, and without repeated stops again."""
    longest = max(len(tour) for tour in tours)
    rows = np.array([tour + tour[-1:] * (longest - len(tour)) for tour in tours])
    rules = problem_of(instance, ModelConfig()).rules
    everyone = np.arange(instance.n)
    distances = instance.distances(everyone[:, None], everyone[None, :])[None]
    tables = Tables(distances, rules.covers, rules.allowed, rules.required)
    found = polish(rows, np.zeros(len(rows), dtype=np.int64), tables)
    return [list(dict.fromkeys(row)) for row in found.tolist()]


@pytest.mark.parametrize("seed", range(5))
def test_tours_stay_right_and_get_no_longer(seed: int) -> None:
    instance = random_instance(40, nearest=4, seed=seed)
    rng = np.random.default_rng(seed)
    tours = [rng.permutation(40)[: rng.integers(30, 41)].tolist() for _ in range(20)]
    tours = [tour for tour in tours if covers_all(instance, tour)]
    for before, after in zip(tours, polished(instance, tours), strict=True):
        length = instance.length(np.array(after))
        assert covers_all(instance, after)
        assert length <= instance.length(np.array(before)) + 1e-9
        for stop in after:
            assert not covers_all(instance, [other for other in after if other != stop])
        for i in range(len(after)):
            for j in range(i + 1, len(after)):
                turned = after[:i] + after[i : j + 1][::-1] + after[j + 1 :]
                assert instance.length(np.array(turned)) > length - 1e-5
        for stop in after:
            rest = [other for other in after if other != stop]
            for other in set(range(40)) - set(rest):
                if covers_all(instance, [*rest, other]):
                    for leg in range(len(after)):
                        moved = [*rest[:leg], other, *rest[leg:]]
                        assert instance.length(np.array(moved)) > length - 1e-5


def covers_all(instance: Instance, tour: list[int]) -> bool:
    """Whether every place is a stop's or covered by one."""
    covers = problem_of(instance, ModelConfig()).rules.covers[0]
    return bool(covers[tour].any(axis=0).all()) if tour else False


def test_a_crossing_is_undone() -> None:
    square = Instance.from_coordinates([[0, 0], [1, 0], [1, 1], [0, 1]], radius=0.1)
    (tour,) = polished(square, [[0, 2, 1, 3]])
    assert square.length(np.array(tour)) == pytest.approx(4.0)


def test_required_stops_and_the_depot_stay() -> None:
    line = Instance.from_coordinates(
        [[0, 0], [1, 0], [2, 0], [3, 0]], radius=5.0, depot=3, required=[1]
    )
    (tour,) = polished(line, [[3, 0, 1, 2]])
    assert sorted(tour) == [1, 3]


def test_of_many_stops_that_each_cover_all_one_remains() -> None:
    together = Instance.from_coordinates([[0, 0], [1, 0], [0, 1]], radius=9.0)
    assert [len(tour) for tour in polished(together, [[0, 1, 2], [1, 2], [2]])] == [1, 1, 1]


@pytest.mark.parametrize(("forbidden", "expected"), [((), {0, 1, 3}), ((3,), {0, 1, 2})])
def test_a_stop_off_the_way_is_replaced_by_one_on_it_that_covers_the_same(
    forbidden: tuple[int, ...], expected: set[int]
) -> None:
    west, east, far, near, village = [0, 0], [4, 0], [2, 3], [2, 1], [2, 2]
    instance = Instance.from_coordinates(
        [west, east, far, near, village],
        radius=[2.3, 0.1, 1.1, 2.1, 0.1],
        required=[0, 1],
        forbidden=forbidden,
    )
    (tour,) = polished(instance, [[0, 2, 1]])
    assert set(tour) == expected


def test_a_stop_between_two_others_is_added_where_it_makes_both_spare() -> None:
    west, east, left, right, between = [0, 0], [6, 0], [2, 2], [4, 2], [3, 1]
    villages = [[2, 2.5], [4, 2.5]]
    instance = Instance.from_coordinates(
        [west, east, left, right, between, *villages],
        radius=[0.1, 0.1, 0.6, 0.6, 2.0, 0.1, 0.1],
        required=[0, 1],
    )
    (tour,) = polished(instance, [[0, 2, 3, 1]])
    assert set(tour) == {0, 1, 4}


@pytest.mark.parametrize("turned", [False, True])
def test_a_stop_off_the_way_is_replaced_by_two_on_it_that_share_what_it_covers(
    turned: bool,
) -> None:
    west, east, far, left, right = [0, 0], [6, 0], [3, 3], [2, 0.5], [4, 0.5]
    villages = [[2, 2], [4, 2]]
    instance = Instance.from_coordinates(
        [west, east, far, left, right, *villages],
        sets=[[2, 3, 4], [], [5, 6], [5], [6], [], []],
        required=[0, 1],
    )
    tour = [0, 2, 6, 1]  # the second village has a stop of its own, so there is room for one more
    (tour,) = polished(instance, [tour[::-1] if turned else tour])
    assert set(tour) == {0, 1, 3, 4}
    assert instance.length(np.array(tour)) == pytest.approx(8 + 2 * np.hypot(2, 0.5))


def test_a_stop_in_the_wrong_leg_is_moved_where_legs_have_directions() -> None:
    circle = np.array([[(j - i) % 6 for j in range(6)] for i in range(6)], dtype=float)
    instance = Instance.from_matrix(
        circle, nearest=0, depot=0, coordinates=np.random.default_rng(0).random((6, 2))
    )
    (tour,) = polished(instance, [[0, 1, 4, 2, 3, 5]])
    assert tour == [0, 1, 2, 3, 4, 5]


def test_where_ways_differ_by_direction_better_stops_are_judged_by_theirs() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.uniform(1, 2, (12, 12))
    np.fill_diagonal(matrix, 0)
    coverage = [[(i + 1) % 12, (i + 2) % 12] for i in range(12)]
    instance = Instance.from_matrix(matrix, sets=coverage, coordinates=rng.random((12, 2)))
    before = list(range(0, 12, 2))
    (after,) = polished(instance, [before])
    assert covers_all(instance, after)
    assert instance.length(np.array(after)) < instance.length(np.array(before))
