"""Problem: an instance as arrays, the way a model is given it; its places in the unit square."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from covertour.neural.config import ModelConfig
from covertour.neural.inference.environment import Float32Array, Rules
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import SPHERE_KM, FloatArray, radians, unrolled

MOST_PLACES = 2_000
"""Learned methods take no more: what they keep for each pair of places would fill the memory."""


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance of n places, as arrays; as one of a training's ``Batch``.

    ``places``: float32[n, 2], in the unit square. ``distances``: float32[n, n], between those
    positions. ``rules``: what it asks for, with b = 1.
    """

    places: Float32Array
    distances: Float32Array
    rules: Rules


def check_places(instance: Instance) -> None:
    """Refuse an instance that no learned method can look at."""
    if instance.coordinates is None:
        raise InputError(f"{instance.name}: a learned method needs coordinates, not only a matrix")
    if instance.n > MOST_PLACES:
        raise InputError(
            f"{instance.name}: a learned method takes at most {MOST_PLACES:,} places, "
            f"not {instance.n:,}; lns takes them"
        )


def problem_of(instance: Instance, config: ModelConfig) -> Problem:
    """The instance as arrays; those that the model does not look at are left empty."""
    n = instance.n
    square, _ = unit_square(instance)
    x, y = square.T
    across, along = np.subtract.outer(x, x), np.subtract.outer(y, y)
    across *= across
    along *= along
    across += along
    distances = np.empty((n, n), dtype=np.float32)
    np.sqrt(across, out=distances, casting="same_kind")

    table = instance.coverage
    owner = np.repeat(np.arange(n), np.diff(table.covers_start))
    covers = np.zeros((1, n, n), dtype=np.bool_)
    covers[0, owner, table.covers] = True
    covered_by = factors = np.empty((1, 0, n), dtype=np.float32)
    if config.gains:
        covered_by = covers.transpose(0, 2, 1).astype(np.float32, order="C")
    if config.guided:
        factors = guidance_factors(instance, config.guidance)[None]
    allowed = np.ones((1, n), dtype=np.bool_)
    allowed[0, list(instance.forbidden)] = False
    required = np.zeros((1, n), dtype=np.bool_)
    required[0, instance.must_visit] = True
    depot = np.array([-1 if instance.depot is None else instance.depot], dtype=np.int64)
    rules = Rules(covers, covered_by, factors, allowed, required, depot)
    return Problem(square.astype(np.float32), distances, rules)


def guidance_factors(instance: Instance, guidance: str) -> Float32Array:
    """c_i / N_C of the paper's guidance update, float32[n, n]; 1 where nothing changes.

    As in :func:`covertour.neural.training.batch.guidance_factors`, the specification: tied places
    share the rank of the last of them or, with the ``guidance`` of the released code, count only
    those that are nearer.
    """
    n, table = instance.n, instance.coverage
    owner = np.repeat(np.arange(n), np.diff(table.covers_start))
    others = owner != table.covers
    owner, covered = owner[others], table.covers[others]
    far = instance.distances(owner, covered)
    order = np.lexsort((far, owner))
    owner, covered, far = owner[order], covered[order], far[order]
    count = np.bincount(owner, minlength=n)
    begin = np.cumsum(count) - count
    new = np.append(True, (owner[1:] != owner[:-1]) | (far[1:] != far[:-1]))[: len(far)]
    first = np.flatnonzero(new)  # of each group of tied places
    size = np.diff(first, append=len(far))
    nearer = first if guidance == "(c-1)/N" else first + size
    rank = np.repeat(nearer, size) - begin[owner]
    factors = np.ones((n, n), dtype=np.float32)
    factors[owner, covered] = rank / count[owner]
    return factors


def unit_square(instance: Instance) -> tuple[FloatArray, float]:
    """Where the places lie, float64[n, 2], moved and scaled, not stretched, to the unit square.

    And the side of that square in the instance's own unit. Places on the globe are projected so
    that distances near the middle are right.
    """
    check_places(instance)
    assert instance.coordinates is not None
    points = np.array(instance.coordinates)
    if instance.drawn_metric in SPHERE_KM:
        latitude, longitude = radians(instance.drawn_metric, points)
        east = unrolled(longitude, 2.0 * np.pi) * np.cos(latitude.mean())
        points = np.stack([east, latitude], axis=1) * SPHERE_KM[instance.drawn_metric]
    points -= points.min(axis=0)
    side = float(points.max()) or 1.0
    return points / side, side


def turned(problem: Problem, way: int) -> Problem:
    """The problem with its places after one of the eight symmetries of the unit square."""
    x, y = problem.places[:, 0], problem.places[:, 1]
    if way & 1:
        x = 1 - x
    if way & 2:
        y = 1 - y
    if way & 4:
        x, y = y, x
    return replace(problem, places=np.stack([x, y], axis=-1))
