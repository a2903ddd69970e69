"""curve: the places along a Hilbert curve, where neighbours follow each other.

The search numbers places in this order, so that what it looks at together lies together in memory.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.coverage import Coverage, Int32Array
from covertour.problem.metric import FloatArray, IntArray, radians

ORDER = 16
"""The curve goes through 2^16 times 2^16 cells, so how far along it a cell lies takes 32 bits."""

DIGIT_BITS = 8
"""Places are sorted by so many bits at a time."""

MOST_GROUPS = 1024
"""Rows are put in order in so many groups."""


def along_curve(metric: str, coordinates: FloatArray) -> IntArray:
    """The places in the order in which the curve comes by, int64[n]; in one cell as they come."""
    flat = coordinates
    if metric in ("geo", "haversine"):
        flat = np.stack(radians(metric, coordinates), axis=1)
    low = flat.min(axis=0)
    span = max(float(np.ptp(flat, axis=0).max()), 1e-300)
    cell = ((flat - low) / span * (2.0**ORDER - 1.0)).astype(np.int64)
    keys, room = (np.empty(len(cell), dtype=np.uint64) for _ in range(2))
    sort_by_curve(cell, keys, room, np.empty(1 << DIGIT_BITS, dtype=np.int64))
    return (keys & np.uint64(2**32 - 1)).astype(np.int64)


@entry
def sort_by_curve(cell, keys, room, count):
    """Sort cells, int64[n, 2], along the curve: the lower 32 bits of ``keys`` are their numbers.

    ``keys`` and ``room``: uint64[n]; ``count``: int64[2^DIGIT_BITS]. By the lowest digits first,
    an even number of times, so that what is sorted ends where it began; in time that grows with n.
    """
    n = len(keys)
    for i in range(n):
        keys[i] = np.uint64(hilbert(cell[i, 0], cell[i, 1])) << np.uint64(32) | np.uint64(i)
    source, target = keys, room
    for digit in range(2 * ORDER // DIGIT_BITS):
        shift = np.uint64(32 + digit * DIGIT_BITS)
        mask = np.uint64(len(count) - 1)
        count[:] = 0
        for i in range(n):
            count[np.int64(source[i] >> shift & mask)] += 1
        before = 0
        for value in range(len(count)):
            many = count[value]
            count[value] = before
            before += many
        for i in range(n):
            value = np.int64(source[i] >> shift & mask)
            target[count[value]] = source[i]
            count[value] += 1
        source, target = target, source


@inner
def hilbert(x, y):
    """How far along the curve a cell lies.

    Bit by bit from the coarsest: each says in which quarter of the square the cell lies, and the
    curve within a quarter is that of the whole, with x and y swapped or counted backwards or both.
    """
    along = swapped = backwards = 0
    for step in range(ORDER):
        bit = ORDER - 1 - step
        differ = (x ^ y) >> bit & 1
        right = (x >> bit & 1) ^ (swapped & differ) ^ backwards
        along = along << 2 | right << 1 | differ
        swapped ^= right ^ differ ^ 1
        backwards ^= right & differ
    return along


def renumbered(
    coverage: Coverage, order: IntArray, number: IntArray
) -> tuple[Int32Array, IntArray, IntArray]:
    """Both halves of a Coverage in one table, by other numbers; where rows of each half begin.

    ``order``: which place comes when; ``number``: the new number of each place. Where places cover
    those by whom they are covered, there is only one half.
    """
    halves = [(coverage.covers, coverage.covers_start)]
    if coverage.covered_by is not coverage.covers:
        halves.append((coverage.covered_by, coverage.covered_by_start))
    elif order is number:  # as the instance numbers them
        return coverage.covers, coverage.covers_start, coverage.covers_start
    table = np.empty(sum(len(who) for who, _ in halves), dtype=np.int32)
    short = number.astype(np.int32)
    groups = np.empty(MOST_GROUPS, dtype=np.int64)
    begins = []
    first = 0
    for who, start in halves:
        begin = np.full(len(start), first)
        begin[1:] += np.cumsum(np.diff(start)[order])
        renumber(who, start, short, begin, table, np.empty(len(who) + len(order), np.int32), groups)
        begins.append(begin)
        first += len(who)
    return table, begins[0], begins[-1]


@entry
def renumber(who, start, number, begin, table, room, groups):
    """Write row i of ``who`` to where row number[i] begins in ``table``, by the new numbers.

    In two steps, neither of which jumps about in a large memory: first rows go to the group of
    rows that they will be in, one behind the other, then each group, whose rows name few places
    that others name, is put in order by the new numbers. ``room``: int32, for all rows and their
    numbers; ``groups``: int64[MOST_GROUPS], where each goes on.
    """
    n = len(number)
    size = n // len(groups) + 1
    for group in range(len(groups)):
        row = min(group * size, n)
        groups[group] = begin[row] - begin[0] + row
    for i in range(n):
        row = number[i]
        group = row // size
        at = groups[group]
        room[at] = row
        at += 1
        for k in range(start[i], start[i + 1]):
            room[at] = who[k]
            at += 1
        groups[group] = at
    at = 0
    for _ in range(n):
        row = room[at]
        at += 1
        for k in range(begin[row], begin[row + 1]):
            table[k] = number[room[at]]
            at += 1
