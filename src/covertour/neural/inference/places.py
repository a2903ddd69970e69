"""Where a model sees the places of an instance: in the unit square. Needs no torch."""

from __future__ import annotations

import numpy as np

from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import SPHERE_KM, FloatArray, radians, unrolled

MOST_PLACES = 2_000
"""Learned methods take no more: what they keep for each pair of places would fill the memory."""


def check_places(instance: Instance) -> None:
    """Refuse an instance that no learned method can look at."""
    if instance.coordinates is None:
        raise InputError(f"{instance.name}: a learned method needs coordinates, not only a matrix")
    if instance.n > MOST_PLACES:
        raise InputError(
            f"{instance.name}: a learned method takes at most {MOST_PLACES:,} places, "
            f"not {instance.n:,}; lns takes them"
        )


def unit_square(instance: Instance) -> tuple[FloatArray, float]:
    """Where the places lie, float64[n, 2], moved and scaled, not stretched, to the unit square.

    And the side of that square in the instance's own unit. Places on the globe are projected so
    that distances near the middle are right.
    """
    check_places(instance)
    assert instance.coordinates is not None
    points = np.array(instance.coordinates)
    if instance.metric in SPHERE_KM:
        latitude, longitude = radians(instance.metric, points)
        east = unrolled(longitude, 2.0 * np.pi) * np.cos(latitude.mean())
        points = np.stack([east, latitude], axis=1) * SPHERE_KM[instance.metric]
    points -= points.min(axis=0)
    side = float(points.max()) or 1.0
    return points / side, side
