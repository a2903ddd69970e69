"""Polish: learned tours without the stops that they do not need, and without crossings; numpy.

Many tours at a time; one that has fewer stops than others repeats its last.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from covertour.metric import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]

SLACK = 1e-6
"""A change must save more than this share of the longest distance; less is rounding."""


def polish(
    tours: IntArray,
    instance: IntArray,
    distances: FloatArray,
    covers: BoolArray,
    needed: BoolArray,
) -> IntArray:
    """The tours, int64[k, t], with no stop to spare and no better pair of legs.

    ``instance``: int64[k], whose tour each is. ``distances``: float[b, n, n]; where they differ one
    way and the other, legs stay as they are. ``covers``: bool[b, n, n], row i covers column j;
    ``needed``: bool[b, n], stops that must stay.
    """
    return uncrossed(
        without_spare_stops(tours, instance, distances, covers, needed), instance, distances
    )


def without_spare_stops(
    tours: IntArray,
    instance: IntArray,
    distances: FloatArray,
    covers: BoolArray,
    needed: BoolArray,
) -> IntArray:
    """Leave out stops whose places others cover too, the one that saves most first."""
    tours = tours.copy()
    position = np.arange(tours.shape[1])
    new = tours != np.roll(tours, 1, axis=1)
    new[:, 0] = True
    stops = new.sum(axis=1)  # each tour's own come first, then its last repeated
    count = (covers[instance[:, None], tours] & new[:, :, None]).sum(axis=1)
    slack = SLACK * distances.max(initial=0.0)
    rows = np.arange(len(tours))
    while len(rows):
        part, one, last = tours[rows], instance[rows], stops[rows] - 1
        alone = covers[one[:, None], part] & (count[rows] == 1)[:, None]
        spare = ~alone.any(axis=2) & ~needed[one[:, None], part] & (position <= last[:, None])
        saved = _saved(part, one, last, distances)
        spare &= saved >= -slack  # with rounded distances the direct way can be longer
        saved[~spare] = -np.inf
        where = saved.argmax(axis=1)
        some = spare.any(axis=1)
        rows, one, where, last = rows[some], one[some], where[some], last[some]
        count[rows] -= covers[one, tours[rows, where]]
        stops[rows] -= 1
        # Those behind it move up; if it was the last, the one before it is repeated.
        order = position + (position >= where[:, None])
        order = np.minimum(order, np.where(where < last, last, last - 1)[:, None])
        tours[rows] = np.take_along_axis(tours[rows], order, axis=1)
    return tours


def _saved(
    tours: IntArray, instance: IntArray, last: IntArray, distances: FloatArray
) -> FloatArray:
    """What leaving out each stop saves, float[k, t]; ``last``: int64[k], where each tour ends."""
    one, row = instance[:, None], np.arange(len(tours))
    before, after = np.roll(tours, 1, axis=1), np.roll(tours, -1, axis=1)
    after[row, last] = tours[:, 0]
    return (
        distances[one, before, tours] + distances[one, tours, after] - distances[one, before, after]
    )


def uncrossed(tours: IntArray, instance: IntArray, distances: FloatArray) -> IntArray:
    """2-opt: turn round the part between two legs, the pair that saves most, while any saves."""
    tours = tours.copy()
    t = tours.shape[1]
    symmetric = (distances == distances.transpose(0, 2, 1)).all(axis=(1, 2))
    rows = np.flatnonzero(symmetric[instance])
    position = np.arange(t)
    slack = SLACK * distances.max(initial=0.0)
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
