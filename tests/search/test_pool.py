"""Pools: tours of their own that are recombined into shorter ones."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from covertour import Instance, LnsParams, random_instance, solve, verify
from covertour.problem.metric import IntArray
from covertour.search.construct import complete
from covertour.search.pool import Pool, absorb, make_pool, may_have_pools, recombine
from covertour.search.recombine import recombine_pairs
from covertour.search.state import make_state
from covertour.solving.clock import Clock
from covertour.solving.stop import MaxIterations, TargetLength

VILLAGES = random_instance(400, nearest=7, seed=3)
"""A tour of some 75 stops."""

ENOUGH = 20_000
"""Iterations that pay for a pool."""


def rough_pool(instance: Instance, many: int, seed: int = 0) -> Pool:
    """First tours of one instance, each with places served in another order."""
    pool = make_pool(make_state(instance, seed), seed, many)
    nobody = np.empty(0, dtype=np.int64)
    for _ in range(many):
        serving = pool.random.permutation(instance.n)
        complete(pool.state, nobody, instance.must_visit, serving)
        pool.add(pool.state)
    return pool


def pool_of(instance: Instance, *tours: list[int]) -> Pool:
    """A pool of the given tours."""
    s = make_state(instance, 0)
    pool = make_pool(s, 0, len(tours))
    for tour in tours:
        pool.put(pool.many, instance.length(tour), s.number[tour])
        pool.many += 1
    return pool


def take_from_next(pool: Pool, most: int) -> tuple[int, int]:
    """Let the first tour get a part of the second: how many became shorter, and how many tries."""
    rows = np.arange(2)
    better, tried = recombine_pairs(
        pool.state, pool.tours, rows[:1], rows[1:], 0, 1, most, 0.0, pool.room
    )
    return int(better), int(tried)


def places(pool: Pool, row: int) -> IntArray:
    """A tour of the pool by the instance's numbers."""
    return pool.state.order[pool.stops(row)]


def ring(n: int) -> Instance:
    """Places on a circle that cover nobody else."""
    turn = 2 * np.pi * np.arange(n) / n
    return Instance.from_coordinates(np.stack([np.cos(turn), np.sin(turn)], axis=1), nearest=0)


def test_recombined_tours_cover_everything_and_are_shorter() -> None:
    pool = rough_pool(VILLAGES, 10)
    before = pool.lengths.min()
    made: list[int] = []
    recombine(pool, Clock(), 0.3, lambda tried, _: made.append(tried))
    assert pool.lengths.min() < 0.97 * before
    assert sum(made) > 20
    for row in range(pool.many):
        tour = places(pool, row)
        assert verify(VILLAGES, tour).ok
        assert VILLAGES.length(tour) == pytest.approx(pool.lengths[row])


def test_a_better_part_is_taken_and_a_worse_one_is_not() -> None:
    instance = ring(24)
    good = list(range(24))
    crossed = [
        *range(5),
        7,
        6,
        5,
        *range(8, 24),
    ]  # two legs that cross
    pool = pool_of(instance, crossed, good)
    assert take_from_next(pool, 5) == (1, 1)
    assert pool.lengths[0] == pytest.approx(instance.length(good))
    assert take_from_next(pool_of(instance, good, crossed), 5) == (0, 0)


def detour() -> tuple[Instance, list[int], list[int]]:
    """Places on a line and back, with two tours: the second takes a short way past a bulge.

    The bulge (21) is worth a stop in the first tour only as it covers place 22, which in the second
    one is covered by 20, on the other side: the parts are good only together.
    """
    there = [(float(x), 0.0) for x in range(10)]
    back = [(float(x), 3.0) for x in range(9, -1, -1)]
    points = [*there, *back, (4.5, 3.2), (4.5, -1.5), (4.5, 1.5)]
    covers = [[place] for place in range(20)] + [[20, 21, 22]] * 2 + [[22]]
    instance = Instance.from_coordinates(points, sets=covers)
    first = [*range(5), 21, *range(5, 20)]
    second = [*range(15), 20, *range(15, 20)]
    return instance, first, second


def test_a_part_brings_the_part_that_covers_what_it_leaves_uncovered() -> None:
    instance, first, second = detour()
    pool = pool_of(instance, first, second)
    assert take_from_next(pool, 1) == (1, 1)
    assert pool.lengths[0] == pytest.approx(instance.length(second))
    assert verify(instance, places(pool, 0)).ok


def test_a_part_that_was_in_vain_is_not_tried_again() -> None:
    pool = rough_pool(VILLAGES, 2, seed=1)
    while take_from_next(pool, 20)[0]:
        pass
    state = int(pool.state.tour["random"])
    pool.tours.tried[0] = 0
    _, tried = take_from_next(pool, 20)
    assert tried > 0
    pool.state.tour["random"] = state  # the tours are taken apart in the same way
    assert take_from_next(pool, 20) == (0, 0)


def test_all_better_parts_of_another_tour_are_absorbed() -> None:
    instance = ring(40)
    one = [*range(5), 7, 6, 5, *range(8, 15), 17, 16, 15, *range(18, 40)]
    pool = pool_of(instance, one)
    s = make_state(instance, 1)
    absent = np.empty(0, dtype=np.int64)
    complete(s, absent, absent, np.arange(40))  # the circle itself
    absorb(pool, s, Clock(), 0.0, lambda *_: None)
    assert pool.lengths[0] == pytest.approx(instance.length(np.arange(40)))
    assert pool.many == 1


def test_no_more_tours_are_made_than_iterations_are_allowed() -> None:
    pool = rough_pool(VILLAGES, 10)
    clock = Clock(MaxIterations(7))
    recombine(pool, clock, 0.3, lambda tried, seconds: clock.ran(tried, seconds))
    assert clock.iterations == 7


def test_the_same_tours_are_left_once() -> None:
    pool = rough_pool(VILLAGES, 3)
    lengths = sorted(pool.lengths)
    pool.add(pool.state)
    assert pool.many == 4
    pool.forget()
    assert list(pool.lengths) == lengths
    for row in range(pool.many):
        assert VILLAGES.length(places(pool, row)) == pytest.approx(lengths[row])


@pytest.mark.parametrize("workers", [1, 3])
def test_a_search_in_pools_is_repeatable_and_makes_the_iterations_it_is_allowed(
    workers: int,
) -> None:
    found = solve(VILLAGES, iterations=workers * ENOUGH, seed=4, workers=workers)
    again = solve(VILLAGES, iterations=workers * ENOUGH, seed=4, workers=workers)
    assert_array_equal(found.tour.places, again.tour.places)
    assert found.iterations == workers * ENOUGH
    lengths = [length for _, length in found.trace]
    assert lengths == sorted(lengths, reverse=True)
    assert found.length == pytest.approx(lengths[-1])


def test_members_change_the_search() -> None:
    pools = solve(VILLAGES, iterations=ENOUGH)
    cycles = solve(VILLAGES, iterations=ENOUGH, params=LnsParams(members=0))
    assert [length for _, length in pools.trace] != [length for _, length in cycles.trace]


def test_a_search_in_pools_ends_at_its_target() -> None:
    first = solve(VILLAGES, "greedy").length
    found = solve(VILLAGES, stop=TargetLength(0.9 * first))
    assert found.length <= 0.9 * first
    assert found.stopped == "limit"


def test_required_and_forbidden_places_and_the_depot_are_kept() -> None:
    instance = VILLAGES.with_changes(depot=7, required=[50, 51, 52], forbidden=[1, 2, 3])
    found = solve(instance, iterations=ENOUGH)
    assert verify(instance, found.tour).ok
    assert {7, 50, 51, 52} <= set(found.tour.places.tolist())


def test_a_matrix_is_searched_in_pools_too() -> None:
    points = np.random.default_rng(5).random((120, 2))
    matrix = np.linalg.norm(points[:, None] - points, axis=2)
    instance = Instance.from_matrix(matrix, nearest=2)
    found = solve(instance, iterations=15_000)
    assert verify(instance, found.tour).ok
    cycles = solve(instance, iterations=15_000, params=LnsParams(members=0))
    assert found.trace != cycles.trace


def test_only_plain_problems_with_many_stops_are_searched_in_pools() -> None:
    assert may_have_pools(VILLAGES)
    assert not may_have_pools(random_instance(80, nearest=7))
    assert not may_have_pools(VILLAGES.with_changes(quota=0.9))
    matrix = np.random.default_rng(3).random((200, 200))
    assert not may_have_pools(Instance.from_matrix(matrix, nearest=2))
