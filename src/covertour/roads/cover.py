"""Who covers whom by road: a coverage rule, asked of distances that come in rows."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from covertour.problem.coverage import MILLIMETRE, SAME, Nearest, Radius, Rule, Sets
from covertour.problem.metric import FloatArray, IntArray

Rows = Iterable[tuple[IntArray, FloatArray]]
"""Some places, int64[k], and their distances to all places, float64[k, n]; inf where too far."""


def farthest(rule: Rule) -> float:
    """The distance beyond which nobody is covered, for those who make the rows."""
    return float(_limit(np.max(rule.r))) if isinstance(rule, Radius) else np.inf


def covered_pairs(rule: Rule, n: int, rows: Rows) -> tuple[IntArray, FloatArray]:
    """The covered pairs i n + j, int64[m], ascending, without i = j, and their distances.

    Explicit sets stay as they are; a pair without a way has the distance inf.
    """
    pairs: list[IntArray] = []
    distances: list[FloatArray] = []
    for some, far in rows:
        covered = _covered(rule, some, far)
        covered[np.arange(len(some)), some] = False
        row, place = np.nonzero(covered)
        pairs.append(some[row] * n + place)
        distances.append(far[row, place])
    return np.concatenate(pairs), np.concatenate(distances)


def _covered(rule: Rule, some: IntArray, far: FloatArray) -> npt.NDArray[np.bool_]:
    n = far.shape[1]
    match rule:
        case Radius(r):
            radius = np.broadcast_to(np.asarray(r, dtype=np.float64), n)[some]
            return far <= _limit(radius)[:, None]
        case Nearest(k):
            wanted = np.minimum(np.broadcast_to(k, n)[some], n - 1)
            others = far.copy()
            others[np.arange(len(some)), some] = -1.0  # a place comes first in its own order
            last = np.take_along_axis(np.sort(others), wanted[:, None], axis=1)
            return (others <= _limit(last)) & np.isfinite(others) & (wanted > 0)[:, None]
        case Sets(sets):
            covered = np.zeros(far.shape, dtype=bool)
            for row, place in enumerate(some.tolist()):
                covered[row, sets[place]] = True
            return covered


def _limit(distance: npt.ArrayLike) -> FloatArray:
    """The largest distances that count as at most this one, as on the globe."""
    return np.asarray(distance, dtype=np.float64) * SAME + MILLIMETRE
