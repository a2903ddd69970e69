"""curve: the places along a Hilbert curve, where neighbours follow each other.

The search numbers places in this order, so that what it looks at together lies together in memory.
"""

from __future__ import annotations

import numpy as np

from covertour.metric import FloatArray, IntArray, radians


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
    """Distance along the Hilbert curve of order 16 for cells x, y in 0..65535."""
    x, y = x.copy(), y.copy()
    along = np.zeros_like(x)
    side = 1 << 15
    while side:
        right = (x & side) > 0
        up = (y & side) > 0
        along += side * side * ((3 * right) ^ up)
        flip = ~up & right
        x[flip], y[flip] = 65535 - x[flip], 65535 - y[flip]
        swap = ~up
        x[swap], y[swap] = y[swap], x[swap]
        side >>= 1
    return along
