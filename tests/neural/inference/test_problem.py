"""Instances as models see them: the same without torch as in a training's batch."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from covertour import InputError, Instance, random_instance
from covertour.neural.config import ModelConfig
from covertour.neural.inference.problem import problem_of, turned, unit_square
from covertour.neural.training.batch import batch_from
from covertour.neural.training.episodes import rules_of


@pytest.mark.parametrize("guidance", ["c/N", "(c-1)/N"])
@pytest.mark.parametrize("name", ["am-gain", "am", "am-dynamic"])
def test_problems_are_those_of_torch(name: str, guidance: str, instances: list[Instance]) -> None:
    config = ModelConfig(name, guidance=guidance)
    for one in instances:
        problem, batch = problem_of(one, config), batch_from([one], guidance)
        assert_allclose(problem.places, batch.places[0].numpy(), rtol=1e-6)
        assert_allclose(problem.distances, batch.distances[0].numpy(), rtol=1e-6, atol=1e-7)
        expected = rules_of(batch, config)
        for field, value in problem.rules._asdict().items():
            assert value.dtype == getattr(expected, field).dtype, field
            assert np.array_equal(value, getattr(expected, field)), field


def test_tied_places_share_their_rank() -> None:
    corner = Instance.from_coordinates([[0, 0], [1, 0], [0, 1]], nearest=2)
    factors = problem_of(corner, ModelConfig(guidance="c/N")).rules.factors[0]
    assert factors.tolist() == [[1, 1, 1], [0.5, 1, 1], [0.5, 1, 1]]
    factors = problem_of(corner, ModelConfig(guidance="(c-1)/N")).rules.factors[0]
    assert factors.tolist() == [[1, 0, 0], [0, 1, 0.5], [0, 0.5, 1]]


def test_symmetries_are_eight_and_keep_distances() -> None:
    problem = problem_of(random_instance(5, nearest=1, seed=1), ModelConfig())
    ways = [turned(problem, way).places for way in range(8)]
    assert len({way.tobytes() for way in ways}) == 8
    for way in ways:
        apart = np.linalg.norm(way[:, None] - way, axis=2)
        assert_allclose(apart, problem.distances, atol=1e-6)


def test_places_on_the_globe_keep_their_distances_in_the_square() -> None:
    towns = [[179.9, -17.0], [-179.8, -17.2], [179.6, -16.8]]
    for metric in ("haversine", "geo"):
        places = towns if metric == "haversine" else [town[::-1] for town in towns]
        globe = Instance.from_coordinates(places, metric=metric, nearest=1)
        square, side = unit_square(globe)
        assert square.min() >= 0
        assert square.max() == 1
        for i, j in ((0, 1), (1, 2), (0, 2)):
            flat = side * np.linalg.norm(square[i] - square[j])
            assert flat == pytest.approx(globe.distances(i, j), rel=0.03)


def test_what_no_model_can_look_at_is_refused() -> None:
    matrix = Instance.from_matrix(np.ones((3, 3)) - np.eye(3), nearest=1)
    with pytest.raises(InputError, match="needs coordinates, not only a matrix"):
        problem_of(matrix, ModelConfig())
    with pytest.raises(InputError, match="takes at most 2,000 places, not 2,001"):
        problem_of(random_instance(2001, nearest=1), ModelConfig())
