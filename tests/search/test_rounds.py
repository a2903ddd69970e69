"""Searching region by region: repeatable, whoever works, within its limits, and never worse."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from covertour import LnsParams, Result, random_instance, solve, verify
from covertour.search import lns, rounds
from covertour.search.rounds import regions_for
from covertour.solving.stop import MaxIterations, NoImprovement, Progress, TargetLength

LARGE = random_instance(6_000, nearest=3, seed=2)
"""A tour of some 2,000 stops."""


@pytest.fixture(autouse=True, scope="module")
def _divided_by_one_worker_too() -> Iterator[None]:
    """One worker leaves tours of this length whole: these tests are about regions."""
    with patch.object(lns, "REGIONS_FROM", 1_000):
        yield


@pytest.fixture(scope="module")
def divided() -> Result:
    return solve(LARGE, iterations=20_000, seed=1)


def test_a_long_tour_is_improved(divided: Result) -> None:
    assert divided.iterations == 20_000
    assert divided.stopped == "limit"
    assert divided.length < 0.97 * solve(LARGE, "greedy").length


def test_one_thread_and_several_find_the_same(divided: Result) -> None:
    assert regions_for(len(divided.tour), 1) % 5 == 0  # so that five workers get the same regions
    found = solve(LARGE, iterations=20_000, seed=1, workers=5)
    assert_array_equal(found.tour.places, divided.tour.places)


def test_another_seed_finds_another_tour(divided: Result) -> None:
    found = solve(LARGE, iterations=20_000, seed=2)
    assert not np.array_equal(found.tour.places, divided.tour.places)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_best_tour_is_told_of_as_it_shortens(workers: int) -> None:
    told: list[float] = []
    found = solve(
        LARGE,
        iterations=12_000,
        workers=workers,
        on_improve=lambda _, length, __: told.append(length),
    )
    assert len(told) >= 3
    assert told == sorted(told, reverse=True)
    assert found.length == pytest.approx(told[-1])


@pytest.mark.parametrize("workers", [1, 2])
def test_a_rule_of_ones_own_ends_it_between_stretches(workers: int) -> None:
    asked: list[int] = []

    def enough(progress: Progress) -> bool:
        asked.append(progress.iterations)
        return len(asked) > 6

    found = solve(LARGE, stop=enough, workers=workers)
    assert found.stopped == "limit"
    assert found.length <= solve(LARGE, "greedy").length


@pytest.mark.parametrize("workers", [1, 2])
def test_it_ends_at_a_target(workers: int) -> None:
    first = solve(LARGE, "greedy").length
    found = solve(LARGE, stop=TargetLength(0.99 * first), workers=workers)
    assert found.length <= 0.99 * first
    assert found.stopped == "limit"


def test_idle_iterations_are_counted_one_by_one() -> None:
    found = solve(LARGE, stop=NoImprovement(50) | MaxIterations(3_000))
    assert found.iterations < 3_000


@pytest.mark.parametrize("workers", [1, 2])
def test_time_is_shared_by_all_regions(workers: int) -> None:
    found = solve(LARGE, seconds=0.5, workers=workers)
    assert found.iterations > 100
    assert found.length < solve(LARGE, "greedy").length


@pytest.fixture
def _time_for_pools() -> Iterator[None]:
    """Pools of regions take more iterations than a test has time for."""
    with patch.object(rounds, "POOLS_FROM", 20):
        yield


@pytest.mark.usefixtures("_time_for_pools")
def test_where_there_is_time_regions_are_searched_in_pools_by_whoever_works() -> None:
    found = solve(LARGE, iterations=50_000, seed=1)
    assert found.iterations == 50_000
    assert verify(LARGE, found.tour).ok
    assert regions_for(len(found.tour), 1, rounds.STOPS_PER_POOL) % 5 == 0
    together = solve(LARGE, iterations=50_000, seed=1, workers=5)
    assert_array_equal(together.tour.places, found.tour.places)


@pytest.mark.usefixtures("_time_for_pools")
def test_without_members_regions_are_annealed_only() -> None:
    pools = solve(LARGE, iterations=45_000, seed=1)
    cycles = solve(LARGE, iterations=45_000, seed=1, params=LnsParams(members=0))
    assert pools.trace != cycles.trace


@pytest.mark.usefixtures("_time_for_pools")
def test_pools_of_regions_end_at_a_target_and_in_time() -> None:
    first = solve(LARGE, "greedy").length
    found = solve(LARGE, stop=TargetLength(0.95 * first) | MaxIterations(10**7))
    assert found.length <= 0.95 * first
    assert found.stopped == "limit"
    assert found.iterations < 10**7
    assert solve(LARGE, seconds=1.0).length < first


def test_a_good_tour_is_gone_on_from(divided: Result) -> None:
    good = solve(LARGE, iterations=300_000, seed=1)
    for iterations in (60_000, 700_000):  # without and with time for new members of pools
        found = solve(LARGE, iterations=iterations, seed=2, start=good.tour)
        assert found.length < good.length


def test_a_poor_tour_to_begin_with_is_annealed(divided: Result) -> None:
    everywhere = solve(LARGE, "greedy").tour
    found = solve(LARGE, iterations=20_000, seed=1, start=everywhere)
    assert found.length < 1.01 * divided.length


def test_the_number_of_regions_suits_the_tour_and_the_workers() -> None:
    assert regions_for(2_000, 1) == 5
    assert regions_for(2_000, 2) == 6
    assert regions_for(1_000, 8) == 5  # not smaller than is worth while
    assert regions_for(100, 2) == 1
