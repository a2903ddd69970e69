"""Seeded random instances: uniform or clustered places, every coverage rule of the paper."""

from __future__ import annotations

import numpy as np

from covertour.problem.checks import LARGEST_COORDINATE
from covertour.problem.coverage import Nearest, Radius, Rule, only_rule
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray

LAYOUTS = ("uniform", "clustered")

MOST_PLACES = 10_000_000
"""More are refused: their coverage would not fit in memory."""


def random_instance(
    n: int,
    *,
    nearest: int | tuple[int, int] | None = None,
    radius: float | tuple[float, float] | None = None,
    weight: tuple[int, int] | None = None,
    layout: str = "uniform",
    seed: int = 0,
) -> Instance:
    """A random instance in the unit square; the same arguments give the same instance.

    A pair for ``nearest`` or ``radius`` draws a value for each place from that range, both ends
    included; so does one for ``weight``, without which places have none. Places are the same with
    weights and without. ``clustered`` scatters the places around about sqrt(n) / 2 centres.

    >>> random_instance(100, nearest=7).name
    'uniform-100-nearest-7-seed-0'
    """
    if not 1 <= n <= MOST_PLACES:
        raise InputError(f"n: expected 1 to {MOST_PLACES:,} places, got {n:,}")
    if seed < 0:
        raise InputError(f"seed: expected a whole number >= 0, got {seed}")
    if layout not in LAYOUTS:
        raise InputError(f"layout: no {shown(layout)}{did_you_mean(str(layout), LAYOUTS)}")
    if only_rule(nearest=nearest, radius=radius) is None:
        raise InputError("coverage: give one of nearest and radius")
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2)) if layout == "uniform" else _clustered(n, rng)
    rule: Rule
    if nearest is not None:
        rule, text = Nearest(nearest), f"nearest-{nearest}"  # type: ignore[arg-type]
        if isinstance(nearest, tuple):
            low, high = _ascending("nearest", nearest)
            if low != int(low) or high != int(high):
                raise InputError(f"nearest: expected whole numbers, got {low} and {high}")
            rule = Nearest(rng.integers(int(low), int(high), size=n, endpoint=True))
            text = f"nearest-{nearest[0]}-{nearest[1]}"
    else:
        assert radius is not None
        rule, text = Radius(radius), f"radius-{radius}"  # type: ignore[arg-type]
        if isinstance(radius, tuple):
            rule = Radius(rng.uniform(*_ascending("radius", radius), size=n))
            text = f"radius-{radius[0]}-{radius[1]}"
    people = None
    if weight is not None:
        low, high = _ascending("weight", weight)
        people = rng.integers(int(low), int(high), size=n, endpoint=True).astype(float)
    return Instance(
        metric="euclidean",
        rule=rule,
        coordinates=points,
        weight=people,
        name=f"{layout}-{n}-{text}-seed-{seed}",
    )


def _ascending(field: str, ends: tuple[float, float]) -> tuple[float, float]:
    low, high = ends
    if not 0 <= low <= high <= LARGEST_COORDINATE:
        raise InputError(f"{field}: expected 0 <= low <= high, got {low} and {high}")
    return low, high


def _clustered(n: int, rng: np.random.Generator) -> FloatArray:
    """Normal scatter around random centres, folded back into the unit square at its edges."""
    centres = rng.random((max(1, round(np.sqrt(n) / 2)), 2))
    points = centres[rng.integers(len(centres), size=n)] + rng.normal(scale=0.04, size=(n, 2))
    folded = np.abs(points) % 2.0
    return np.where(folded > 1.0, 2.0 - folded, folded)
