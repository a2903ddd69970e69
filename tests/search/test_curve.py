"""The curve comes by every place once, and on a grid it goes from neighbour to neighbour."""

from __future__ import annotations

import numpy as np
import pytest

from covertour.search.curve import along_curve


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
