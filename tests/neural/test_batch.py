"""Batches agree with the domain about who covers whom, whatever is mixed in them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from covertour import InputError, Instance, random_instance
from covertour.neural.config import rule_range
from covertour.neural.inference.problem import unit_square
from covertour.neural.training.batch import batch_from, batch_of, draw

RULES = ["nearest 7", "nearest 0", "nearest 2-15", "radius 0.2", "radius 0-0.25", "nearest 100"]


def covers_of(instance: Instance) -> np.ndarray:
    table = instance.coverage
    covers = np.zeros((instance.n, instance.n), dtype=bool)
    for place in range(instance.n):
        covers[place, table.covers_of(place)] = True
    return covers


@pytest.mark.parametrize("rules", [*([rule] for rule in RULES), RULES])
def test_drawn_coverage_is_that_of_the_same_instances(rules: list[str]) -> None:
    drawn = draw(12, 30, [rule_range(rule) for rule in rules], torch.Generator().manual_seed(5))
    batch = batch_of(drawn, "c/N")
    other = batch_from(drawn.instances(), "c/N")
    for row, instance in enumerate(drawn.instances()):
        assert np.array_equal(batch.covers[row].numpy(), covers_of(instance))
    assert torch.equal(batch.factors, other.factors)


def test_every_number_of_a_range_is_drawn_and_every_rule_used() -> None:
    rules = [rule_range("nearest 2-5"), rule_range("radius 0.1-0.2")]
    drawn = draw(50, 40, rules, torch.Generator().manual_seed(1))
    assert set(drawn.nearest.unique().tolist()) == {-1, 2, 3, 4, 5}
    radii = drawn.radius[drawn.nearest < 0]
    assert 0.1 <= radii.min() < 0.11
    assert 0.19 < radii.max() < 0.2
    assert not drawn.radius[drawn.nearest >= 0].any()


def test_ties_are_covered_as_in_the_domain() -> None:
    grid = [[x / 4, y / 4] for x in range(5) for y in range(5)]
    for rule in ({"nearest": 1}, {"nearest": 5}, {"radius": 0.25}):
        instance = Instance.from_coordinates(grid, **rule)
        drawn = draw(1, 25, [rule_range("nearest 1")], torch.Generator())
        k = torch.full_like(drawn.nearest, rule.get("nearest", -1))
        r = torch.full_like(drawn.radius, rule.get("radius", 0.0))
        points = torch.tensor([grid], dtype=torch.float64)
        batch = batch_of(type(drawn)(points, k, r), "c/N")
        assert np.array_equal(batch.covers[0].numpy(), covers_of(instance))


def test_smaller_instances_are_padded_with_places_that_do_not_count() -> None:
    small = random_instance(4, nearest=1, seed=1)
    large = random_instance(9, radius=0.3, seed=2)
    batch = batch_from([small, large], "c/N")
    assert batch.exists.sum(1).tolist() == [4, 9]
    assert not batch.covers[0, 4:].any()
    assert not batch.covers[0, :, 4:].any()
    assert np.array_equal(batch.covers[0, :4, :4].numpy(), covers_of(small))
    assert not batch.allowed[0, 4:].any()


def test_any_scale_and_the_globe_fit_in_the_unit_square() -> None:
    wide = Instance.from_coordinates([[100, 50], [300, 150]], nearest=1)
    square, side = unit_square(wide)
    assert (square.tolist(), side) == ([[0, 0], [1, 0.5]], 200)
    alone = Instance.from_coordinates([[7, 7]], nearest=0)
    assert unit_square(alone)[0].tolist() == [[0, 0]]
    globe = Instance.from_coordinates(
        [[10, 60], [11, 60], [10, 60.5]], metric="haversine", nearest=1
    )
    square, side = unit_square(globe)
    ways = np.linalg.norm(square[1:], axis=1) * side
    assert ways == pytest.approx(globe.distances([0, 0], [1, 2]), rel=0.01)


def test_a_matrix_without_coordinates_is_refused() -> None:
    with pytest.raises(InputError, match="needs coordinates"):
        batch_from([Instance.from_matrix(np.ones((3, 3)), nearest=1)], "c/N")
