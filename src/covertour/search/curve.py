"""curve: the places along a Hilbert curve, where neighbours follow each other.

The search numbers places in this order, so that what it looks at together lies together in memory.
"""

from __future__ import annotations

import numpy as np

from covertour.problem.metric import FloatArray, IntArray, radians


def along_curve(metric: str, coordinates: FloatArray) -> IntArray:
    """The places in the order in which the curve comes by, int64[n]."""
    flat = coordinates
    if metric in ("geo", "haversine"):
        flat = np.stack(radians(metric, coordinates), axis=1)
    low = flat.min(axis=0)
    span = max(float(np.ptp(flat, axis=0).max()), 1e-300)
    cell = ((flat - low) / span * 65535.0).astype(np.int64)
    return np.argsort(_hilbert(cell[:, 0], cell[:, 1]), kind="stable").astype(np.int64)


def _hilbert(x: IntArray, y: IntArray) -> IntArray:
    """How far along the Hilbert curve of order 16 cells x, y in 0..65535 lie.

    Bit by bit from the coarsest: each says in which quarter of the square a cell lies, and the
    curve within a quarter is that of the whole, with x and y swapped or counted backwards or both.
    """
    along = np.zeros_like(x)
    swapped = np.zeros_like(x)
    backwards = np.zeros_like(x)
    for bit in range(15, -1, -1):
        differ = (x ^ y) >> bit & 1
        right = (x >> bit & 1) ^ (swapped & differ) ^ backwards
        along = along << 2 | right << 1 | differ
        swapped ^= right ^ differ ^ 1
        backwards ^= right & differ
    return along
