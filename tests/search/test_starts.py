"""Other tours to begin with: kept only if they are better, and the same for the same seed."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from covertour import Instance, solve
from covertour.problem.referee import verify
from covertour.search import blocks, starts
from covertour.search.blocks import places_per_stop
from covertour.search.state import make_state
from covertour.solving.stop import MaxIterations, NoImprovement

ITERATIONS = 50_000


def villages(seed: int = 0, **fields: Any) -> Instance:
    """Four towns of villages around a depot, of which half are to be reached."""
    rng = np.random.default_rng(seed)
    towns = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    points = np.concatenate([[[5.0, 5.0]], *(town + rng.normal(size=(12, 2)) for town in towns)])
    return Instance.from_coordinates(
        points, nearest=3, weight=rng.integers(1, 9, len(points)).astype(float), depot=0, **fields
    )


@pytest.mark.parametrize("goal", [{"quota": 0.5}, {"budget": 30.0}])
@pytest.mark.parametrize("workers", [1, 2])
def test_other_tours_are_tried_and_the_search_goes_on_from_the_best(
    goal: dict[str, float], workers: int
) -> None:
    instance = villages(**goal)
    looks = []
    explore = starts.Elsewhere._explore

    def watched(self: starts.Elsewhere, team: Any, cycle: Any) -> starts.Found:
        before = starts.found_by(team[0])
        other = explore(self, team, cycle)
        looks.append((before, other))
        return other

    with patch.object(starts.Elsewhere, "_explore", watched):
        result = solve(instance, stop=MaxIterations(ITERATIONS), workers=workers)
        again = solve(instance, stop=MaxIterations(ITERATIONS), workers=workers)
    assert looks
    assert verify(instance, result.tour).ok
    assert again.tour.places.tolist() == result.tour.places.tolist()
    for before, other in looks:
        for found in (before, other):
            if "quota" in goal:
                assert result.cost <= found.length * (1.0 + 1e-9)
            else:
                assert result.covered_weight >= found.weight


def test_tours_to_begin_with_differ_and_serve_enough() -> None:
    instance = villages(quota=0.5)
    made = []
    begin = starts.Elsewhere._begin

    def watched(self: starts.Elsewhere, worker: Any, whole: Any) -> None:
        begin(self, worker, whole)
        tally = worker.state.goal.tally
        made.append((float(tally["served"]), float(worker.state.tour["length"])))

    with patch.object(starts.Elsewhere, "_begin", watched):
        solve(instance, stop=MaxIterations(ITERATIONS))
    assert len(made) >= starts.STARTS
    assert all(served >= instance.quota_weight for served, _ in made)
    assert len({round(length, 6) for _, length in made}) > 1


def test_a_search_that_is_idle_ends() -> None:
    result = solve(villages(quota=0.5), stop=NoImprovement(iterations=6_000) | MaxIterations(10**7))
    assert result.iterations < 10**6


def test_blocks_are_as_large_as_stops_are_sparse() -> None:
    rng = np.random.default_rng(3)
    plain = Instance.from_coordinates(rng.random((600, 2)), nearest=5)
    few = plain.with_changes(weight=np.ones(600), quota=0.25)
    assert places_per_stop(few) == pytest.approx(4 * places_per_stop(plain), rel=0.05)
    with patch.object(blocks, "ONE_BLOCK_UP_TO", 0):
        assert len(make_state(few, 0).blocks) < len(make_state(plain, 0).blocks) / 3
    wide = Instance.from_coordinates(rng.random((600, 2)), nearest=20)
    candidates = wide.with_changes(forbidden=range(200), demand=[1] * 599 + [2])
    assert places_per_stop(candidates) == pytest.approx(places_per_stop(wide), rel=0.05)
