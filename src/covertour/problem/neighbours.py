"""Making the table of who covers whom: by a k-d tree, by comparing all places, or from a matrix.

The memory grows with the number of covered pairs and never with n × n (a matrix instance aside). A
few places are simply all compared, which takes less time than loading the tree; so are places that
cover a good part of all the others, where the tree would have to list nearly every pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.problem import metric as metrics
from covertour.problem.coverage import (
    SAME,
    Coverage,
    Int32Array,
    Nearest,
    Radius,
    Rule,
    Sets,
    limit,
)
from covertour.problem.errors import InputError
from covertour.problem.metric import FloatArray, IntArray

MOST_PAIRS = 200_000_000
"""More covered pairs than this are refused: the table and its making would take over 4 GB."""

DENSE_UP_TO = 1_000
"""Up to so many places all pairs are compared."""

DENSE_SHARE = 0.1
"""So are they where at least this share of them is covered."""

SAMPLE = 64
"""So many places tell about how many pairs are covered."""

COMPARED_AT_A_TIME = 250_000
"""Pairs that are compared at once: few enough to stay in the processor's cache."""

PLACES_AT_A_TIME = 1_000
PAIRS_AT_A_TIME = 2_000_000
"""How much is asked of the k-d tree at once; bounds the memory on top of the result."""

Pairs = tuple[Int32Array, Int32Array]
"""Covered pairs, each once, in any order: who covers, and whom."""


def build_coverage(
    metric: str,
    coordinates: FloatArray | None,
    matrix: FloatArray | None,
    rule: Rule,
    forbidden: Sequence[int] = (),
) -> Coverage:
    """The table of covered pairs for a rule; see :class:`Coverage`."""
    symmetric = False
    match rule:
        case Sets(sets):
            n, (owner, value) = len(sets), _pairs_of_sets(sets)
        case Nearest(k) if matrix is not None:
            n, (owner, value) = len(matrix), _nearest_in_matrix(matrix, k)
        case Radius(r) if matrix is not None:
            n, (owner, value) = len(matrix), _radius_in_matrix(matrix, r)
        case _ if coordinates is not None and _dense(metric, coordinates, rule):
            return _all_compared(metric, coordinates, rule, forbidden)
        case Nearest(k):
            assert coordinates is not None
            n, (owner, value) = len(coordinates), _nearest(metric, coordinates, k)
        case Radius(r):
            assert coordinates is not None
            n = len(coordinates)
            symmetric = np.ndim(r) == 0 and len(forbidden) == 0
            if np.ndim(r) == 0:
                owner, value = _one_radius(metric, coordinates, float(r))
            else:
                owner, value = _radius_each(metric, coordinates, np.asarray(r))
    if len(forbidden):
        banned = np.zeros(n, dtype=bool)
        banned[list(forbidden)] = True
        allowed = ~banned[owner]
        owner, value = owner[allowed], value[allowed]
    return _both_ways(n, owner, value, symmetric)


def _both_ways(n: int, owner: Int32Array, value: Int32Array, symmetric: bool) -> Coverage:
    """Sort the pairs both ways; a symmetric table is its own reverse and is kept once."""
    if n <= DENSE_UP_TO:
        return Coverage(*_sorted(n, owner, value), *_sorted(n, value, owner))
    from scipy.sparse import coo_matrix

    pairs = coo_matrix((np.ones(len(owner), dtype=np.int8), (owner, value)), shape=(n, n))
    pairs.has_canonical_format = True  # no pair comes twice, so spare the search for doubles
    rows = pairs.tocsr()
    # Turning rows into columns, and back, is a counting sort that leaves each in ascending order.
    back = rows.tocsc()
    covered_by = back.indices.astype(np.int32, copy=False)
    covered_by_start = back.indptr.astype(np.int64, copy=False)
    if symmetric:
        return Coverage(covered_by, covered_by_start, covered_by, covered_by_start)
    rows = back.tocsr()
    return Coverage(
        covers=rows.indices.astype(np.int32, copy=False),
        covers_start=rows.indptr.astype(np.int64, copy=False),
        covered_by=covered_by,
        covered_by_start=covered_by_start,
    )


def _sorted(n: int, row: Int32Array, column: Int32Array) -> tuple[Int32Array, IntArray]:
    """Pairs as compressed rows: the columns, row by row and ascending, and where rows begin."""
    ordered = np.sort(row.astype(np.int64) * n + column)
    start = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=n), out=start[1:])
    return (ordered % n).astype(np.int32), start


def _pairs_of_sets(sets: tuple[IntArray, ...]) -> Pairs:
    alone = np.arange(len(sets), dtype=np.int32)
    owner = np.repeat(alone, [len(members) for members in sets])
    value = np.concatenate(sets).astype(np.int32)
    other = owner != value
    return np.concatenate([alone, owner[other]]), np.concatenate([alone, value[other]])


def _pairs_of_mask(mask: npt.NDArray[np.bool_]) -> Pairs:
    np.fill_diagonal(mask, True)
    owner, value = np.nonzero(mask)
    return owner.astype(np.int32), value.astype(np.int32)


def _nearest_in_matrix(matrix: FloatArray, k: int | IntArray) -> Pairs:
    n = len(matrix)
    rank = np.broadcast_to(np.minimum(k, n - 1), n)
    others = matrix.copy()
    np.fill_diagonal(others, -1.0)  # a place comes first in its own order
    farthest = np.take_along_axis(np.sort(others, axis=1), rank[:, None], axis=1)
    return _pairs_of_mask(others <= farthest * SAME)


def _radius_in_matrix(matrix: FloatArray, r: float | FloatArray) -> Pairs:
    return _pairs_of_mask(matrix <= np.broadcast_to(r, len(matrix))[:, None] * SAME)


def _dense(metric: str, coordinates: FloatArray, rule: Nearest | Radius) -> bool:
    """Whether to compare all places: they are few, or so many pairs are covered."""
    n = len(coordinates)
    if n <= DENSE_UP_TO:
        return True
    if n * n * DENSE_SHARE > MOST_PAIRS:
        return False  # it is refused, or not dense
    if isinstance(rule, Nearest):
        return float(np.minimum(rule.k, n).mean()) >= DENSE_SHARE * n
    from scipy.spatial import cKDTree

    points = metrics.positions(metric, coordinates)
    some = np.linspace(0, n - 1, SAMPLE).astype(np.int64)
    reach = np.broadcast_to(_reach(metric, np.asarray(rule.r)), n)[some]
    counts = cKDTree(points).query_ball_point(points[some], reach, return_length=True)
    return float(counts.mean()) >= DENSE_SHARE * n


def _all_compared(
    metric: str, coordinates: FloatArray, rule: Nearest | Radius, forbidden: Sequence[int]
) -> Coverage:
    """The table where every place is compared with every other, some rows at a time."""
    n = len(coordinates)
    points = metrics.positions(metric, coordinates)
    step = max(8, COMPARED_AT_A_TIME // max(n, 1) // 8 * 8)
    bits = np.empty((n, -(-n // 8)), dtype=np.uint8)
    covers_size, covered_by_size = np.empty(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    found = 0
    banned = np.zeros(n, dtype=bool)
    banned[list(forbidden)] = True
    for first in range(0, n, step):
        rows = np.arange(first, min(first + step, n))
        mask = _compared(metric, coordinates, points, rule, rows)
        mask[banned[rows]] = False
        bits[rows] = np.packbits(mask, axis=1)
        covers_size[rows] = mask.sum(axis=1)
        covered_by_size += mask.sum(axis=0)
        found += int(covers_size[rows].sum())
        _refuse_over(found)
    by_rows = (
        np.unpackbits(bits[first : first + step], axis=1, count=n) for first in range(0, n, step)
    )
    covers, covers_start = _compressed(covers_size, by_rows)
    if found == n * n or (isinstance(rule, Radius) and np.ndim(rule.r) == 0 and not forbidden):
        return Coverage(covers, covers_start, covers, covers_start)  # it is its own reverse
    by_columns = (
        np.unpackbits(bits[:, first : first + step // 8], axis=1, count=min(step, n - 8 * first)).T
        for first in range(0, bits.shape[1], step // 8)
    )
    return Coverage(covers, covers_start, *_compressed(covered_by_size, by_columns))


def _compressed(
    size: IntArray, masks: Iterator[npt.NDArray[np.uint8]]
) -> tuple[Int32Array, IntArray]:
    """Rows as zeros and ones, some at a time, as compressed rows of known sizes."""
    n = len(size)
    start = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(size, out=start[1:])
    members = np.empty(start[-1], dtype=np.int32)
    everyone = np.arange(n, dtype=np.int32)
    row = 0
    for mask in masks:
        chosen = np.ascontiguousarray(mask).view(bool)
        members[start[row] : start[row + len(mask)]] = np.broadcast_to(everyone, mask.shape)[chosen]
        row += len(mask)
    return members, start


def _compared(
    metric: str,
    coordinates: FloatArray,
    points: FloatArray,
    rule: Nearest | Radius,
    rows: IntArray,
) -> npt.NDArray[np.bool_]:
    """Which places some rows of them cover, bool[m, n], by the chords between ``points``.

    As the tree finds them.
    """
    n = len(coordinates)
    square = np.zeros((len(rows), n))
    for axis in points.T:
        apart = np.subtract.outer(axis[rows], axis)
        apart *= apart
        square += apart
    chord = np.sqrt(square, out=square)
    if isinstance(rule, Radius):
        radius = np.asarray(rule.r, dtype=np.float64)
        mask = chord <= np.broadcast_to(_reach(metric, radius), n)[rows, None]
        if not _chords_suffice(metric, radius):
            i, j = np.nonzero(mask)
            mask[i, j] = _within(metric, coordinates, rows[i], j, radius)
    else:
        rank = np.broadcast_to(np.minimum(rule.k, n - 1), n)
        # The place itself is one of those at chord 0, so the k-th other place stands at index k.
        if np.ndim(rule.k):
            farthest = np.take_along_axis(np.sort(chord, axis=1), rank[rows, None], axis=1)
        else:
            farthest = np.partition(chord, rank[0], axis=1)[:, rank[:1]]
        reach = metrics.to_chord(metric, limit(metric, metrics.from_chord(metric, farthest)))
        mask = chord <= reach
        opposite = rows[~metrics.chords_decide(metric, farthest[:, 0])]
        for some, near in _nearest_by_distance(metric, coordinates, opposite, rank):
            mask[some - rows[0]] = near
        mask[rank[rows] == n - 1] = True
        mask[rank[rows] == 0] = False
    mask[np.arange(len(rows)), rows] = True
    return mask


def _nearest(metric: str, coordinates: FloatArray, k: int | IntArray) -> Pairs:
    from scipy.spatial import cKDTree

    n = len(coordinates)
    rank = np.broadcast_to(np.minimum(k, n - 1), n)
    points = metrics.positions(metric, coordinates)
    # A place whose spot holds more others than it asks for covers all of them.
    here = _copies(coordinates)
    _refuse_over(np.where(rank == 0, 1, np.where(here > rank, here, rank + 1)).sum())
    tree = cKDTree(points)
    alone = np.flatnonzero(rank == 0).astype(np.int32)
    owners, values = [alone], [alone]
    # Whole spots, and all places there are, need no ranking of neighbours.
    simple = (here > rank) | (rank == n - 1)
    tied = [np.flatnonzero((rank > 0) & simple)]
    spot = float(metrics.to_chord(metric, limit(metric, np.zeros(()))))
    reaches = [np.where(rank[tied[0]] == n - 1, np.inf, spot)]
    opposite = [np.empty(0, dtype=np.int64)]
    # Near places follow each other in the tree's own order, which keeps the look-ups in the cache.
    places = tree.indices[((rank > 0) & ~simple)[tree.indices]]
    if np.ndim(k):
        places = places[np.argsort(rank[places], kind="stable")]
    while len(places):
        # As many places as fit when all ask for as much as the last of them, who asks for most.
        most = max(1, PAIRS_AT_A_TIME // (int(rank[places[0]]) + 2))
        most = max(1, PAIRS_AT_A_TIME // (int(rank[places[:most][-1]]) + 2))
        mine, places = places[:most], places[most:]
        # One neighbour more than asked tells whether the k-th has ties beyond it. The place itself
        # is one of those at chord 0, so the k-th other place stands at index k.
        asked = min(int(rank[mine[-1]]) + 2, n)
        chord, index = tree.query(points[mine], k=np.arange(1, asked + 1))
        farthest = np.take_along_axis(chord, rank[mine][:, None], axis=1)
        reach = metrics.to_chord(metric, limit(metric, metrics.from_chord(metric, farthest)))
        keep = chord <= reach
        decided = metrics.chords_decide(metric, farthest[:, 0])
        keep[~decided] = False
        opposite.append(mine[~decided])
        more = keep[:, -1] & (asked < n)
        keep[more] = False
        owners.append(np.repeat(mine.astype(np.int32), keep.sum(axis=1)))
        values.append(index[keep].astype(np.int32))
        tied.append(mine[more])
        reaches.append(reach[more, 0])
    for some, near in _nearest_by_distance(metric, coordinates, np.concatenate(opposite), rank):
        row, column = np.nonzero(near)
        owners.append(some[row].astype(np.int32))
        values.append(column.astype(np.int32))
    found = sum(len(owner) for owner in owners)
    for owner, value in _around(tree, np.concatenate(tied), np.concatenate(reaches), found):
        owners.append(owner)
        values.append(value)
    return np.concatenate(owners), np.concatenate(values)


def _nearest_by_distance(
    metric: str, coordinates: FloatArray, places: IntArray, rank: IntArray
) -> Iterator[tuple[IntArray, npt.NDArray[np.bool_]]]:
    """Some of the places at a time, and which of all places each covers, bool[m, n].

    For places whose k-th neighbour lies nearly opposite, where chords cannot tell distances apart.
    They are few: whoever they cover is nearly everybody, so each costs no more than its answer.
    """
    step = max(1, PAIRS_AT_A_TIME // len(coordinates))
    for first in range(0, len(places), step):
        some = places[first : first + step]
        far = metrics.unrounded(metric, coordinates[some, None], coordinates[None])
        far[np.arange(len(some)), some] = -1.0  # a place comes first in its own order
        farthest = np.take_along_axis(np.sort(far, axis=1), rank[some, None], axis=1)
        yield some, far <= limit(metric, farthest)


def _one_radius(metric: str, coordinates: FloatArray, radius: float) -> Pairs:
    """The pairs where all places have the same radius: the tree finds each of them once."""
    from scipy.spatial import cKDTree

    n = len(coordinates)
    tree = cKDTree(metrics.positions(metric, coordinates))
    reach = float(_reach(metric, np.asarray(radius)))
    _refuse_over(tree.count_neighbors(tree, reach))
    found = tree.query_pairs(reach, output_type="ndarray")
    a, b = found[:, 0].astype(np.int32), found[:, 1].astype(np.int32)
    del found
    if not _chords_suffice(metric, np.asarray(radius)):
        near = _within(metric, coordinates, a, b, np.asarray(radius))
        a, b = a[near], b[near]
    alone = np.arange(n, dtype=np.int32)
    return np.concatenate([alone, a, b]), np.concatenate([alone, b, a])


def _radius_each(metric: str, coordinates: FloatArray, radius: FloatArray) -> Pairs:
    """The pairs where every place has a radius of its own."""
    from scipy.spatial import cKDTree

    n = len(coordinates)
    points = metrics.positions(metric, coordinates)
    if metric != "geo":  # where two places in one spot are 1 km apart
        _refuse_over(_copies(coordinates).sum())
    tree = cKDTree(points)
    reach = _reach(metric, radius)
    suffice = _chords_suffice(metric, radius)
    owners = [np.arange(n, dtype=np.int32)]
    values = [np.arange(n, dtype=np.int32)]
    for owner, value in _around(tree, tree.indices, reach[tree.indices]):
        keep = owner != value
        if not suffice:
            keep &= _within(metric, coordinates, owner, value, radius)
        owners.append(owner[keep])
        values.append(value[keep])
    return np.concatenate(owners), np.concatenate(values)


def _reach(metric: str, radius: FloatArray) -> FloatArray:
    """Chords that hold the places within the radii; a little more where distances must decide."""
    if metric in metrics.INTEGER_METRICS:
        return metrics.chord_within(metric, radius)
    chord = metrics.to_chord(metric, limit(metric, radius))
    return np.where(metrics.chords_decide(metric, chord), chord, chord * (1.0 + 1e-6))


def _chords_suffice(metric: str, radius: FloatArray) -> bool:
    """Whether chords tell who is within the radii; else it takes the distances."""
    if metric in metrics.INTEGER_METRICS:
        return False
    return bool(np.all(metrics.chords_decide(metric, _reach(metric, radius))))


def _within(
    metric: str,
    coordinates: FloatArray,
    i: Int32Array | IntArray,
    j: Int32Array | IntArray,
    radius: FloatArray,
) -> npt.NDArray[np.bool_]:
    """Which of the pairs are within the radius, by their distances."""
    most = radius * SAME if metric in metrics.INTEGER_METRICS else limit(metric, radius)
    near = np.empty(len(i), dtype=bool)
    for first in range(0, len(i), PAIRS_AT_A_TIME):
        part = slice(first, first + PAIRS_AT_A_TIME)
        far = metrics.distances(metric, coordinates[i[part]], coordinates[j[part]])
        near[part] = far <= (most[i[part]] if most.ndim else most)
    return near


def _around(tree: Any, places: IntArray, reach: FloatArray, found: int = 0) -> Iterator[Pairs]:
    """The pairs (place, neighbour), itself included, within each place's own reach, in batches.

    ``found`` pairs are known already and count towards MOST_PAIRS.
    """
    for first in range(0, len(places), PLACES_AT_A_TIME):
        mine = places[first : first + PLACES_AT_A_TIME]
        radii = reach[first : first + PLACES_AT_A_TIME]
        counts = tree.query_ball_point(tree.data[mine], radii, return_length=True)
        found += int(counts.sum())
        _refuse_over(found)
        cuts = np.flatnonzero(np.diff(np.cumsum(counts) // PAIRS_AT_A_TIME)) + 1
        for batch in np.split(np.arange(len(mine)), cuts):
            lists = tree.query_ball_point(tree.data[mine[batch]], radii[batch], return_sorted=False)
            count = counts[batch]
            value = np.fromiter(chain.from_iterable(lists), dtype=np.int32, count=count.sum())
            yield np.repeat(mine[batch].astype(np.int32), count), value


def _copies(coordinates: FloatArray) -> IntArray:
    """How many places each place shares its exact spot with, itself included: int64[n]."""
    spots = coordinates[:, 0] + 1j * coordinates[:, 1]  # one number per spot sorts faster than two
    _, spot, copies = np.unique(spots, return_inverse=True, return_counts=True)
    return copies[spot]


def _refuse_over(pairs: int) -> None:
    if pairs > MOST_PAIRS:
        raise InputError(
            f"coverage: more than {MOST_PAIRS:,} covered pairs; "
            "let each place cover fewer, or merge places in the same spot"
        )
