"""Polish: learned tours without stops to spare, with better ones, without crossings; numpy.

Many tours at a time; one that has fewer stops than others repeats its last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covertour.metric import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]

SLACK = 1e-6
"""A change must save more than this share of the longest distance; less is rounding."""


class Tables(NamedTuple):
    """What is known of b instances of n places.

    ``distances``: float[b, n, n]. ``covers``: bool[b, n, n], row i covers column j. ``allowed``,
    ``needed``: bool[b, n], places that may be stops, and stops that must stay.
    """

    distances: FloatArray
    covers: BoolArray
    allowed: BoolArray
    needed: BoolArray

    @property
    def slack(self) -> float:
        """What a change must save to count."""
        return SLACK * float(self.distances.max(initial=0.0))


def polish(tours: IntArray, instance: IntArray, tables: Tables) -> IntArray:
    """The tours, int64[k, t], with no stop to spare and no better pair of legs; and better stops.

    ``instance``: int64[k], whose tour each is. Where distances differ one way and the other, legs
    stay as they are.
    """
    better = without_spare_stops(tours, instance, tables)
    better = gathered(uncrossed(better, instance, tables))
    better = with_better_stops(better, instance, tables)
    better = without_spare_stops(better, instance, tables)
    better = uncrossed(better, instance, tables)
    return np.take(better, np.minimum(np.arange(tours.shape[1]), better.shape[1] - 1), axis=1)


def gathered(tours: IntArray) -> IntArray:
    """The tours with all that is repeated at the end again, and no longer than they need to be."""
    return _kept(tours, _new(tours))


def _kept(tours: IntArray, keep: BoolArray) -> IntArray:
    """The stops to keep, bool[k, t], in front, the last of them repeated."""
    stops = keep.sum(axis=1)
    order = np.argsort(~keep, axis=1, kind="stable")[:, : stops.max(initial=1)]
    last = np.take_along_axis(order, stops[:, None] - 1, axis=1)
    order = np.where(np.arange(order.shape[1]) < stops[:, None], order, last)
    return np.take_along_axis(tours, order, axis=1)


def _new(tours: IntArray) -> BoolArray:
    """Where a stop is another than the one before it."""
    new = np.ones(tours.shape, dtype=bool)
    new[:, 1:] = tours[:, 1:] != tours[:, :-1]
    return new


def without_spare_stops(tours: IntArray, instance: IntArray, tables: Tables) -> IntArray:
    """Leave out stops whose places others cover too, the one that saves most first."""
    distances, covers, needed = tables.distances, tables.covers, tables.needed
    k, t = tours.shape
    kept = _new(tours)
    has = covers[instance[:, None], tours] & kept[:, :, None]  # bool[k, t, n]
    count = has.sum(axis=1)
    before, after = _neighbours(kept)

    def saving(row: IntArray, at: IntArray) -> FloatArray:
        """What leaving out the stops at these positions saves."""
        one, stop = instance[row], tours[row, at]
        left, right = tours[row, before[row, at]], tours[row, after[row, at]]
        way = distances[one, left, stop] + distances[one, stop, right]
        return way - distances[one, left, right]

    every = np.arange(k)
    saved = saving(np.repeat(every, t), np.tile(np.arange(t), k)).reshape(k, t)
    slack = tables.slack
    spare = kept & ~needed[instance[:, None], tours]
    while True:
        row, at = spare.nonzero()
        spare[row, at] = ~(has[row, at] & (count[row] == 1)).any(axis=1)
        # With rounded distances the direct way can be longer.
        worth = np.where(spare & (saved >= -slack), saved, -np.inf)
        best = worth.argmax(axis=1)
        row = np.flatnonzero(worth[every, best] > -np.inf)
        if not len(row):
            return _kept(tours, kept)
        at = best[row]
        spare[row, at] = kept[row, at] = False
        count[row] -= has[row, at]
        left, right = before[row, at], after[row, at]
        after[row, left], before[row, right] = right, left
        twice, beside = np.concatenate([row, row]), np.concatenate([left, right])
        saved[twice, beside] = saving(twice, beside)


def _neighbours(kept: BoolArray) -> tuple[IntArray, IntArray]:
    """The positions of the stops before and after each that is kept, int64[k, t]; tours close.

    ``kept``: those in front of each tour.
    """
    k, t = kept.shape
    position = np.arange(t)
    last = kept.sum(axis=1) - 1
    before, after = np.tile(position - 1, (k, 1)), np.tile(position + 1, (k, 1))
    before[:, 0] = last
    after[np.arange(k), last] = 0
    return before, np.minimum(after, t - 1)


def with_better_stops(tours: IntArray, instance: IntArray, tables: Tables) -> IntArray:
    """Replace stops, one after the other, by the places that cover what only they do at least cost.

    A stop that covers nothing alone stays as it is.
    """
    distances, covers = tables.distances, tables.covers
    tours = tours.copy()
    new = _new(tours)
    last = new.sum(axis=1) - 1
    count = (covers[instance[:, None], tours] & new[:, :, None]).sum(axis=1)
    slack = tables.slack
    for position in range(tours.shape[1]):
        rows = np.flatnonzero((last >= position) & ~tables.needed[instance, tours[:, position]])
        alone = covers[instance[rows], tours[rows, position]] & (count[rows] == 1)
        some = alone.any(axis=1)
        rows, alone = rows[some], alone[some]
        if not len(rows):
            continue
        one, stop = instance[rows], tours[rows, position]
        before = tours[rows, np.where(position > 0, position - 1, last[rows])]
        after = tours[rows, np.where(position < last[rows], position + 1, 0)]
        way = distances[one, before] + distances[one, :, after]
        # Those who cover every place that the stop alone covers.
        which, place = alone.nonzero()
        begin = np.flatnonzero(np.append(True, which[1:] != which[:-1]))
        able = np.logical_and.reduceat(covers[one[which], :, place], begin, axis=0)
        way[~(able & tables.allowed[one])] = np.inf
        best = way.argmin(axis=1)
        row = np.arange(len(rows))
        better = way[row, best] < way[row, stop] - slack
        rows, one, stop, best = rows[better], one[better], stop[better], best[better]
        count[rows] += covers[one, best].astype(np.int64) - covers[one, stop]
        tours[rows, position] = best
        ends = rows[last[rows] == position]
        tours[ends, position:] = tours[ends, position, None]
    return tours


def uncrossed(tours: IntArray, instance: IntArray, tables: Tables) -> IntArray:
    """2-opt: turn round the part between two legs, the pair that saves most, while any saves."""
    distances = tables.distances
    tours = tours.copy()
    t = tours.shape[1]
    symmetric = (distances == distances.transpose(0, 2, 1)).all(axis=(1, 2))
    rows = np.flatnonzero(symmetric[instance])
    position = np.arange(t)
    slack = tables.slack
    while len(rows):
        part, one = tours[rows], instance[rows]
        apart = distances[one[:, None, None], part[:, :, None], part[:, None, :]]
        leg = apart[:, position, (position + 1) % t]
        change = apart + np.roll(apart, (-1, -1), axis=(1, 2)) - leg[:, :, None] - leg[:, None, :]
        between = part == np.roll(part, -1, axis=1)  # legs from a repeated stop to itself
        change[between[:, :, None] | between[:, None, :]] = 0.0
        change[:, position, position] = 0.0
        change = change.reshape(len(rows), -1)
        best = change.argmin(axis=1)
        better = change[np.arange(len(rows)), best] < -slack
        rows, best = rows[better], best[better]
        low, high = np.minimum(best // t, best % t), np.maximum(best // t, best % t)
        inside = (position > low[:, None]) & (position <= high[:, None])
        order = np.where(inside, (low + 1 + high)[:, None] - position, position)
        tours[rows] = np.take_along_axis(tours[rows], order, axis=1)
    return tours
