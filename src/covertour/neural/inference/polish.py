"""Polish: learned tours without stops to spare, with better ones, without crossings."""

from __future__ import annotations

import numpy as np

from covertour.neural.inference.compiled import loops
from covertour.neural.inference.kernels import Tables
from covertour.problem.metric import IntArray

SLACK = 1e-6
"""A change must save more than this share of the longest distance; less is rounding."""


def polish(tours: IntArray, instance: IntArray, tables: Tables) -> IntArray:
    """The tours, int64[k, t], with no stop to spare and no better pair of legs; and better stops.

    ``instance``: int64[k], whose tour each is. A tour that has fewer stops than others repeats its
    last. Where distances differ one way and the other, legs stay as they are.
    """
    slack = SLACK * float(tables.distances.max(initial=0.0))
    better = np.ascontiguousarray(tours).copy()
    loops().polish_tours(better, instance, tables, slack)
    return better
