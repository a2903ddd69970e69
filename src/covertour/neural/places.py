"""Where a model sees the places of an instance: in the unit square. Needs no torch."""

from __future__ import annotations

import numpy as np

from covertour.errors import InputError
from covertour.instance import Instance
from covertour.metric import SPHERE_KM, FloatArray

KILOMETRES_PER_DEGREE = 111.2


def unit_square(instance: Instance) -> tuple[FloatArray, float]:
    """Where the places lie, float64[n, 2], moved and scaled, not stretched, to the unit square.

    And the side of that square in the instance's own unit. Places on the globe are projected so
    that distances near the middle are right.
    """
    if instance.coordinates is None:
        raise InputError(f"{instance.name}: a learned method needs coordinates, not only a matrix")
    points = np.array(instance.coordinates)
    if instance.metric in SPHERE_KM:
        if instance.metric == "geo":
            points = points[:, ::-1].copy()
        points[:, 0] *= np.cos(np.radians(points[:, 1].mean()))
        points *= KILOMETRES_PER_DEGREE
    points -= points.min(axis=0)
    side = float(points.max()) or 1.0
    return points / side, side
