"""The plain problem is searched as it always was: known tours of known seeds."""

from __future__ import annotations

import numpy as np
import pytest

from covertour import Instance, random_instance, solve
from covertour.solving.stop import MaxIterations


def test_a_map_is_searched_as_before() -> None:
    instance = random_instance(60, nearest=7, seed=1)
    found = solve(instance, stop=MaxIterations(300), seed=2)
    assert found.tour.places.tolist() == [5, 32, 57, 15, 19, 9, 47, 35, 33, 26, 17, 38, 25, 51]


def test_an_asymmetric_matrix_is_searched_as_before() -> None:
    matrix = np.random.default_rng(3).random((30, 30))
    instance = Instance.from_matrix(matrix, nearest=4, depot=2)
    found = solve(instance, stop=MaxIterations(300))
    assert found.tour.places.tolist() == [2, 7, 15, 17, 24, 14, 3, 9, 6, 22, 28]


def test_a_large_map_is_searched_as_before() -> None:
    instance = random_instance(1200, nearest=7, seed=1)
    found = solve(instance, stop=MaxIterations(300))
    assert found.length == pytest.approx(11.372740935, rel=1e-9)
