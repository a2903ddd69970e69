"""The ground of the page's map: coasts, borders and names of a part of the world, as JSON."""

from __future__ import annotations

import json
from functools import lru_cache

import numpy as np

from covertour.plot.ground import ground
from covertour.problem.metric import FloatArray

DIGITS = 4
"""Of degrees; ten metres, finer than the outlines are."""


@lru_cache(maxsize=64)
def outlines(west: float, south: float, east: float, north: float, finest: float) -> bytes:
    """What lies between two corners; lines are lists of longitudes and latitudes in turn."""
    found = ground(np.array([west, south]), np.array([east, north]), finest)

    def flat(lines: tuple[FloatArray, ...]) -> list[list[float]]:
        return [np.round(line, DIGITS).ravel().tolist() for line in lines]

    value = {
        "land": flat(found.land),
        "coasts": flat(found.coasts),
        "borders": flat(found.borders),
        "names": [[name, round(x, 3), round(y, 3)] for name, x, y in found.names],
    }
    return json.dumps(value, separators=(",", ":")).encode()
