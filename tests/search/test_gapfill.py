"""The integer program finds the shortest filling of gaps, compared with trying all of them."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from covertour import Instance, random_instance, verify
from covertour.problem.metric import IntArray
from covertour.problem.tour import make_tour
from covertour.search.gapfill import fill_gaps
from covertour.solving.clock import Clock
from covertour.solving.stop import MaxIterations


def shortest_by_trying(instance: Instance, tour: IntArray, kept: list[int]) -> float:
    """The length of the shortest covering tour with up to two others in each gap."""
    rest = tour[kept]
    others = np.setdiff1d(np.arange(instance.n), rest).tolist()
    fillings = [(), *permutations(others, 1), *permutations(others, 2)]
    best = np.inf
    for chosen in product(fillings, repeat=len(rest)):
        places = [p for stop, some in zip(rest, chosen, strict=True) for p in (stop, *some)]
        if len(set(places)) == len(places) and instance.covered(places).all():
            best = min(best, instance.length(places))
    return best


def filled(instance: Instance, tour: IntArray, kept: list[int]) -> IntArray | None:
    removed = np.ones(len(tour), dtype=np.bool_)
    removed[kept] = False
    everywhere = np.ones(len(tour), dtype=np.bool_)
    return fill_gaps(instance, Clock(MaxIterations(9)), tour, removed, everywhere)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("directed", [False, True])
def test_gaps_are_filled_as_short_as_can_be(seed: int, directed: bool) -> None:
    instance = random_instance(9, nearest=2, seed=seed)
    if directed:  # a little longer one way than the other, and the triangle inequality still holds
        points = instance.coordinates
        assert points is not None
        apart = np.linalg.norm(points[:, None] - points, axis=2)
        apart += 0.05 * np.maximum(points[:, None, 0] - points[:, 0], 0.0)
        instance = Instance.from_matrix(apart, nearest=2)
    rng = np.random.default_rng(seed)
    tour = rng.permutation(9)
    kept = sorted(rng.permutation(9)[: 2 if seed % 3 else 1].tolist())
    found = filled(instance, tour, kept)
    best = shortest_by_trying(instance, tour, kept)
    if found is None:
        assert best >= instance.length(tour) * (1 - 1e-9)
    else:
        assert verify(instance, make_tour(instance, found)).ok
        assert instance.length(found) == pytest.approx(best)


def test_a_shortest_tour_has_no_shorter_filling() -> None:
    square = Instance.from_coordinates([[0, 0], [9, 0], [9, 9], [0, 9]], nearest=0)
    assert filled(square, np.arange(4), [0, 2]) is None


def test_a_tour_of_no_length_is_left_alone() -> None:
    spot = Instance.from_coordinates([[1, 1]] * 4, nearest=0)
    assert filled(spot, np.arange(4), [0]) is None
