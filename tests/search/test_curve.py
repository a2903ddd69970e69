"""The curve comes by every place once, and on a grid it goes from neighbour to neighbour."""

from __future__ import annotations

import numpy as np
import pytest

from covertour import Instance, random_instance
from covertour.search.curve import along_curve, renumbered


@pytest.mark.parametrize("metric", ["euclidean", "att", "geo", "haversine"])
def test_every_place_comes_once_whatever_the_metric(metric: str) -> None:
    points = np.random.default_rng(1).uniform(-80, 80, (150, 2))
    assert sorted(along_curve(metric, points)) == list(range(150))


def test_places_in_one_spot_come_in_their_own_order() -> None:
    assert along_curve("euclidean", np.full((130, 2), 2.0)).tolist() == list(range(130))


def test_places_on_a_grid_follow_each_other_as_neighbours() -> None:
    grid = np.array([[x, y] for x in range(16) for y in range(16)], dtype=float)
    np.random.default_rng(0).shuffle(grid)
    along = grid[along_curve("euclidean", grid)]
    steps = np.abs(np.diff(along, axis=0)).sum(axis=1)
    assert steps.tolist() == [1.0] * 255


@pytest.mark.parametrize("rule", [{"nearest": 5}, {"radius": 0.3}])
def test_a_coverage_by_other_numbers_says_the_same(rule: dict[str, float]) -> None:
    instance: Instance = random_instance(60, seed=3, **rule)
    coverage = instance.coverage
    order = np.random.default_rng(2).permutation(60)
    number = np.argsort(order)
    table, covers, covered = renumbered(coverage, order, number)
    halves = (
        (covers, coverage.covers, coverage.covers_start),
        (covered, coverage.covered_by, coverage.covered_by_start),
    )
    for begin, who, start in halves:
        for row, place in enumerate(order):
            known = number[who[start[place] : start[place + 1]]]
            assert table[begin[row] : begin[row + 1]].tolist() == known.tolist()
