"""blocks: groups of neighbouring places, and for each the groups around it.

A block is meant to hold one stop, so that the stops near a place are those in the blocks around it,
however dense places are and however few of them become stops.
"""

from __future__ import annotations

import numpy as np

from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

ONE_BLOCK_UP_TO = 30
"""Tours expected to have at most this many stops are looked through whole."""

NEAR_BLOCKS = 13
"""How many blocks around a place are looked at."""

ASKED_AT_ONCE = 1 << 14
"""The tree is asked about so many blocks at a time, so that its answers stay in the cache."""

SERVED_SHARE = 0.6
"""A stop of a good tour is the only one to cover about this share of the places that it covers."""


def places_per_stop(instance: Instance) -> float:
    """About how many places there are for each stop of a good tour."""
    n, coverage = instance.n, instance.coverage
    if not instance.features:
        return max(1.0, SERVED_SHARE * len(coverage.covers) / n)
    worth = instance.demands.astype(float)
    needed = float(worth.sum())
    if instance.partial:
        worth = np.where(worth > 0.0, instance.weights, 0.0)
        needed = float(worth.sum()) if instance.budget is not None else instance.quota_weight
    allowed = n - len(instance.forbidden)
    each = SERVED_SHARE * float(worth[coverage.covers].sum()) / allowed
    stops = min(max(1.0, needed / each), allowed) if each > 0.0 else 1.0
    return n / stops


def expected_stops(instance: Instance) -> float:
    """About how many stops a good tour has."""
    return instance.n / places_per_stop(instance)


def has_blocks(instance: Instance) -> bool:
    """Whether stops nearby are told from others: places have positions, and stops are not few."""
    return instance.matrix is None and expected_stops(instance) > ONE_BLOCK_UP_TO


def make_blocks(points: FloatArray, size: int) -> tuple[IntArray, IntArray]:
    """The block of each place, int64[n], and the blocks around each block, itself first.

    ``points`` lie along the curve, which is cut into runs of ``size``, so blocks are small where
    places are dense.
    """
    from scipy.spatial import cKDTree

    n = len(points)
    block = np.arange(n) // size
    members = np.bincount(block)
    sums = np.stack([np.bincount(block, column) for column in points.T], axis=1)
    middle = sums / members[:, None]
    width = min(NEAR_BLOCKS, len(members))
    near = np.empty((len(members), width), dtype=np.int64)
    # A tree that is not balanced is made and, as middles are spread evenly, asked in less time.
    tree = cKDTree(middle, balanced_tree=False, compact_nodes=False)
    for first in range(0, len(members), ASKED_AT_ONCE):
        part = slice(first, first + ASKED_AT_ONCE)
        near[part] = tree.query(middle[part], k=np.arange(1, width + 1))[1]
    # Where middles coincide the tree may have put another block first.
    own = np.flatnonzero(near[:, 0] != np.arange(len(members)))
    rows = near[own]
    rows = np.where(rows == own[:, None], rows[:, :1], rows)
    rows[:, 0] = own
    near[own] = rows
    return block, near


def load_tree(instance: Instance) -> None:
    """Import what the blocks of an instance are made with, so that no solve's clock pays for it."""
    if has_blocks(instance):
        import scipy.spatial  # noqa: F401
