"""Problem: instances of one size as arrays, the way exported models are given them. No torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from covertour.neural.inference.compiled import loops
from covertour.neural.inference.kernels import BoolArray, Float32Array
from covertour.neural.inference.places import unit_square
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray


@dataclass(frozen=True, eq=False)
class Problem:
    """b instances of n places, as arrays; the fields of a training's ``Batch``."""

    places: Float32Array
    distances: Float32Array
    covers: BoolArray
    factors: Float32Array
    allowed: BoolArray
    required: BoolArray
    depot: IntArray


def problem_of(instances: Sequence[Instance], guidance: bool = True) -> Problem:
    """Instances of the same number of places as arrays.

    Without ``guidance`` the factors are left out, float32[b, 0, 0], for models without it.
    """
    n = instances[0].n
    if any(instance.n != n for instance in instances):
        raise InputError("expected instances of the same number of places")
    b = len(instances)
    places = np.empty((b, n, 2), dtype=np.float32)
    distances = np.empty((b, n, n), dtype=np.float32)
    covers = np.zeros((b, n, n), dtype=bool)
    factors = np.ones((b, n, n) if guidance else (b, 0, 0), dtype=np.float32)
    allowed = np.ones((b, n), dtype=bool)
    required = np.zeros((b, n), dtype=bool)
    depot = np.full(b, -1)
    for row, instance in enumerate(instances):
        square, _ = unit_square(instance)
        places[row] = square
        x, y = square.T
        across, along = np.subtract.outer(x, x), np.subtract.outer(y, y)
        across *= across
        along *= along
        across += along
        np.sqrt(across, out=distances[row], casting="same_kind")
        table = instance.coverage
        owner = np.repeat(np.arange(n), np.diff(table.covers_start))
        covers[row, owner, table.covers] = True
        if guidance:
            far = instance.distances(owner, table.covers)
            far[owner == table.covers] = -1.0  # each place is the first that it covers
            order = np.lexsort((far, owner))
            loops().set_factors(factors[row], table.covers_start, table.covers[order], far[order])
        if instance.forbidden:
            allowed[row, list(instance.forbidden)] = False
        required[row, instance.must_visit] = True
        if instance.depot is not None:
            depot[row] = instance.depot
    return Problem(places, distances, covers, factors, allowed, required, depot)


def turn(places: Float32Array, way: int) -> Float32Array:
    """Places of the unit square after one of its eight symmetries."""
    x, y = places[..., 0], places[..., 1]
    if way & 1:
        x = 1 - x
    if way & 2:
        y = 1 - y
    if way & 4:
        x, y = y, x
    return np.stack([x, y], axis=-1)
