"""Who covers whom: the rules (nearest k, radius, explicit sets) and the table they make.

A :class:`Coverage` holds both directions as compressed rows, so that "what does i cover" and "who
covers j" are slices. It is built with a k-d tree, in memory that grows with the number of covered
pairs and never with n × n (a matrix instance aside).

Two distances within a relative 1e-9 of each other count as equal, for ties in ``nearest`` and at
the rim of ``radius``: the last bit of a computed distance must not decide who is covered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from covertour import metric as metrics
from covertour.errors import InputError
from covertour.metric import FloatArray, IntArray

Int32Array = npt.NDArray[np.int32]

SAME = 1.0 + 1e-9
"""Distances a and b count as equal where a <= b * SAME and b <= a * SAME."""

MOST_PAIRS = 500_000_000
"""More covered pairs than this are refused: the table would not fit in memory."""

PLACES_AT_A_TIME = 50_000
PAIRS_AT_A_TIME = 5_000_000
"""How much is asked of the k-d tree at once; bounds the memory on top of the result."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """Each place covers its k nearest others and all that are tied with the k-th.

    ``k`` is one whole number for all places or int64[n], one a place.
    """

    k: int | IntArray


@dataclass(frozen=True, eq=False)
class Radius:
    """Place i covers every j with d(i, j) <= r_i; ``r`` is one number or float64[n], one a place."""

    r: float | FloatArray


@dataclass(frozen=True, eq=False)
class Sets:
    """Place i covers the places in ``sets[i]``, int64 arrays, and itself."""

    sets: tuple[IntArray, ...]


Rule = Nearest | Radius | Sets


@dataclass(frozen=True, eq=False)
class Coverage:
    """The covered pairs, both ways, as compressed rows in ascending order.

    Place i covers ``covers[covers_start[i]:covers_start[i + 1]]``; place j is covered by
    ``covered_by[covered_by_start[j]:covered_by_start[j + 1]]``. int32[m] and int64[n + 1].
    A forbidden place is never on a tour, so it covers nothing here.
    """

    covers: Int32Array
    covers_start: IntArray
    covered_by: Int32Array
    covered_by_start: IntArray

    @property
    def n(self) -> int:
        """Number of places."""
        return len(self.covers_start) - 1

    def covers_of(self, place: int) -> Int32Array:
        """The places that ``place`` covers."""
        return self.covers[self.covers_start[place] : self.covers_start[place + 1]]

    def covered_by_of(self, place: int) -> Int32Array:
        """The places that cover ``place``."""
        return self.covered_by[self.covered_by_start[place] : self.covered_by_start[place + 1]]


Rows = tuple[Int32Array, IntArray]
"""Compressed rows: values, and how many each row has."""


def build_coverage(
    metric: str,
    coordinates: FloatArray | None,
    matrix: FloatArray | None,
    rule: Rule,
    forbidden: Sequence[int] = (),
) -> Coverage:
    """The table of covered pairs for a rule; see :class:`Coverage`."""
    match rule:
        case Sets(sets):
            values, counts = _rows_of_sets(sets)
        case Nearest(k) if matrix is not None:
            values, counts = _nearest_in_matrix(matrix, k)
        case Radius(r) if matrix is not None:
            values, counts = _radius_in_matrix(matrix, r)
        case Nearest(k):
            assert coordinates is not None
            values, counts = _nearest(metric, coordinates, k)
        case Radius(r):
            assert coordinates is not None
            values, counts = _radius(metric, coordinates, r)
    if len(forbidden):
        banned = np.zeros(len(counts), dtype=bool)
        banned[list(forbidden)] = True
        values = values[~np.repeat(banned, counts)]
        counts = np.where(banned, 0, counts)
    return _both_ways(values, counts)


def _both_ways(values: Int32Array, counts: IntArray) -> Coverage:
    from scipy.sparse import csr_matrix

    n = len(counts)
    start = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(counts, out=start[1:])
    table = csr_matrix((np.ones(len(values), dtype=np.int8), values, start), shape=(n, n))
    table.sort_indices()
    back = table.tocsc()
    return Coverage(
        covers=table.indices.astype(np.int32, copy=False),
        covers_start=start,
        covered_by=back.indices.astype(np.int32, copy=False),
        covered_by_start=back.indptr.astype(np.int64, copy=False),
    )


def _rows_of_sets(sets: tuple[IntArray, ...]) -> Rows:
    rows = [np.union1d(members, [place]).astype(np.int32) for place, members in enumerate(sets)]
    return np.concatenate(rows), np.array([len(row) for row in rows], dtype=np.int64)


def _rows_of_mask(mask: npt.NDArray[np.bool_]) -> Rows:
    np.fill_diagonal(mask, True)
    return np.nonzero(mask)[1].astype(np.int32), mask.sum(axis=1, dtype=np.int64)


def _nearest_in_matrix(matrix: FloatArray, k: int | IntArray) -> Rows:
    n = len(matrix)
    per_place = np.broadcast_to(np.minimum(k, n - 1), n)
    others = matrix.copy()
    np.fill_diagonal(others, -1.0)  # a place comes first in its own order
    farthest = np.take_along_axis(np.sort(others, axis=1), per_place[:, None], axis=1)
    return _rows_of_mask(others <= farthest * SAME)


def _radius_in_matrix(matrix: FloatArray, r: float | FloatArray) -> Rows:
    return _rows_of_mask(matrix <= np.broadcast_to(r, len(matrix))[:, None] * SAME)


def _nearest(metric: str, coordinates: FloatArray, k: int | IntArray) -> Rows:
    from scipy.spatial import cKDTree

    n = len(coordinates)
    per_place = np.broadcast_to(np.minimum(k, n - 1), n)
    points = metrics.positions(metric, coordinates)
    tree = cKDTree(points)
    values: list[Int32Array] = []
    counts: list[IntArray] = []
    for first in range(0, n, PLACES_AT_A_TIME):
        mine = slice(first, min(first + PLACES_AT_A_TIME, n))
        rank = per_place[mine]
        # One neighbour more than asked tells whether the k-th has ties beyond it. The place itself
        # is one of those at chord 0, so the k-th other place stands at index k.
        asked = min(int(rank.max()) + 2, n)
        chord, index = tree.query(points[mine], k=np.arange(1, asked + 1))
        farthest = np.take_along_axis(chord, rank[:, None], axis=1)
        reach = metrics.from_chord(metric, farthest) * SAME
        keep = metrics.from_chord(metric, chord) <= reach
        tied = np.flatnonzero(keep[:, -1] & (asked < n))
        count = keep.sum(axis=1)
        if len(tied) == 0:
            values.append(index[keep].astype(np.int32))
        else:
            rows = np.split(index[keep], np.cumsum(count)[:-1])
            around = tree.query_ball_point(points[mine][tied], farthest[tied, 0] * SAME + 1e-300)
            for row, members in zip(tied, around, strict=True):
                rows[row] = np.asarray(members)
                count[row] = len(members)
            values.append(np.concatenate(rows).astype(np.int32))
        counts.append(count)
    return np.concatenate(values), np.concatenate(counts)


def _radius(metric: str, coordinates: FloatArray, r: float | FloatArray) -> Rows:
    from scipy.sparse import coo_matrix
    from scipy.spatial import cKDTree

    n = len(coordinates)
    radius = np.broadcast_to(np.asarray(r, dtype=np.float64), n)
    points = metrics.positions(metric, coordinates)
    tree = cKDTree(points)
    reach = metrics.chord_within(metric, radius)
    expected = tree.query_ball_point(points, reach, return_length=True)
    if expected.sum() > MOST_PAIRS:
        raise InputError(f"coverage: more than {MOST_PAIRS:,} covered pairs; use a smaller radius")
    owners: list[Int32Array] = [np.arange(n, dtype=np.int32)]
    values: list[Int32Array] = [np.arange(n, dtype=np.int32)]
    # The tree joins places of like radius at a time: all within the largest reach of the batch.
    size_class = np.floor(np.log2(reach.max() / reach))
    for size in np.unique(size_class):
        alike = np.flatnonzero(size_class == size)
        for batch in np.split(alike, _batches(expected[alike])):
            pairs = cKDTree(points[batch]).sparse_distance_matrix(
                tree, float(reach[batch].max()), output_type="ndarray"
            )
            owner, index = batch[pairs["i"]], pairs["j"]
            if metric in metrics.INTEGER_METRICS:
                exact = metrics.distances(metric, coordinates[owner], coordinates[index])
            else:
                exact = metrics.from_chord(metric, pairs["v"])
            keep = (exact <= radius[owner] * SAME) & (index != owner)
            owners.append(owner[keep].astype(np.int32))
            values.append(index[keep].astype(np.int32))
    owner, index = np.concatenate(owners), np.concatenate(values)
    table = coo_matrix((np.ones(len(owner), dtype=np.int8), (owner, index)), shape=(n, n)).tocsr()
    return table.indices.astype(np.int32, copy=False), np.diff(table.indptr).astype(np.int64)


def _batches(expected: IntArray) -> IntArray:
    """Where to split places so that each batch has at most about PAIRS_AT_A_TIME pairs."""
    return np.flatnonzero(np.diff(np.cumsum(expected) // PAIRS_AT_A_TIME)) + 1
