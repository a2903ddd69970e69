"""Polish: learned tours without stops to spare, with better ones, without crossings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from covertour.kernel import entry, inner
from covertour.neural.inference.environment import BoolArray, repeat_last
from covertour.problem.metric import FloatArray, IntArray

SLACK = 1e-6
"""A change must save more than this share of the longest distance; less is rounding."""


class Tables(NamedTuple):
    """What is known of b instances of n places.

    ``distances``: float64[b, n, n]. ``covers``: bool[b, n, n], row i covers column j. ``allowed``,
    ``needed``: bool[b, n], places that may be stops, and stops that must stay. All in C order.
    """

    distances: FloatArray
    covers: BoolArray
    allowed: BoolArray
    needed: BoolArray


def polish(tours: IntArray, instance: IntArray, tables: Tables) -> IntArray:
    """The tours, int64[k, t], with no stop to spare and no better pair of legs; and better stops.

    ``instance``: int64[k], whose tour each is. A tour that has fewer stops than others repeats its
    last. Where distances differ one way and the other, legs stay as they are.
    """
    b, n, _ = tables.covers.shape
    t = tours.shape[1]
    room = Room(
        coverers=np.empty(n, dtype=np.int64),
        alone=np.empty(n, dtype=np.int64),
        spare=np.empty(t, dtype=np.bool_),
        saved=np.empty(t, dtype=np.float64),
        turns=np.empty(b, dtype=np.bool_),
    )
    slack = SLACK * float(tables.distances.max(initial=0.0))
    better = np.ascontiguousarray(tours).copy()
    _polish(better, instance, tables, room, slack)
    return better


class Room(NamedTuple):
    """What is known while a tour is polished.

    ``coverers``: int64[n], how many stops cover each place; ``alone``: int64[n], the places that
    only one stop covers; ``spare``: bool[t], stops that may yet be dropped; ``saved``: float64[t],
    what that would save; ``turns``: bool[b], whether legs may be turned round.
    """

    coverers: IntArray
    alone: IntArray
    spare: BoolArray
    saved: FloatArray
    turns: BoolArray


@entry
def _polish(tours, instance, tables, room, slack):
    """Polish tours in place; ``slack``: what a change must save to count."""
    for one in range(len(room.turns)):
        room.turns[one] = _symmetric(tables.distances[one])
    for row in range(len(tours)):
        one = instance[row]
        tour = tours[row]
        distances, covers = tables.distances[one], tables.covers[one]
        needed = tables.needed[one]
        size = 1
        for position in range(1, len(tour)):
            if tour[position] != tour[size - 1]:
                tour[size] = tour[position]
                size += 1
        size = _drop_spare(tour, size, distances, covers, needed, room, slack)
        if room.turns[one]:
            _uncross(tour, size, distances, slack)
        _replace(tour, size, distances, covers, tables.allowed[one], needed, room, slack)
        size = _drop_spare(tour, size, distances, covers, needed, room, slack)
        if room.turns[one]:
            _uncross(tour, size, distances, slack)
        repeat_last(tour, size)


@inner
def _symmetric(distances):
    for i in range(len(distances)):
        for j in range(i):
            if distances[i, j] != distances[j, i]:
                return False
    return True


@inner
def _drop_spare(tour, size, distances, covers, needed, room, slack):
    """Leave out stops whose places others cover too, the one that saves most first.

    Gives the new size.
    """
    count, spare, saved = room.coverers, room.spare, room.saved
    count[:] = 0
    for position in range(size):
        stop = tour[position]
        for place in range(len(count)):
            count[place] += covers[stop, place]
        spare[position] = not needed[stop]
        saved[position] = _saving(tour, size, position, distances)
    while True:
        best = -1
        for position in range(size):
            if spare[position] and _covers_alone(tour[position], covers, count):
                spare[position] = False
            # With rounded distances the direct way can be longer.
            if (
                spare[position]
                and saved[position] >= -slack
                and (best < 0 or saved[position] > saved[best])
            ):
                best = position
        if best < 0:
            return size
        for place in range(len(count)):
            count[place] -= covers[tour[best], place]
        size -= 1
        for position in range(best, size):
            tour[position] = tour[position + 1]
            spare[position] = spare[position + 1]
            saved[position] = saved[position + 1]
        for position in ((best + size - 1) % size, best % size):
            saved[position] = _saving(tour, size, position, distances)


@inner
def _saving(tour, size, position, distances):
    """What leaving out a stop saves."""
    before, stop, after = tour[position - 1 if position else size - 1], tour[position], tour[0]
    if position + 1 < size:
        after = tour[position + 1]
    return distances[before, stop] + distances[stop, after] - distances[before, after]


@inner
def _covers_alone(stop, covers, count):
    """Whether a stop is the only one that covers some place."""
    for place in range(len(count)):
        if covers[stop, place] and count[place] == 1:
            return True
    return False


@inner
def _replace(tour, size, distances, covers, allowed, needed, room, slack):
    """Replace stops, one after the other, by the places that cover what only they do at least cost.

    A stop that covers nothing alone stays as it is.
    """
    count, alone = room.coverers, room.alone
    for position in range(size):
        stop = tour[position]
        many = 0
        for place in range(len(count)):
            if covers[stop, place] and count[place] == 1:
                alone[many] = place
                many += 1
        if many == 0 or needed[stop]:
            continue
        before = tour[position - 1 if position else size - 1]
        after = tour[position + 1 if position + 1 < size else 0]
        best = stop
        least = distances[before, stop] + distances[stop, after] - slack
        for other in range(len(count)):
            way = distances[before, other] + distances[other, after]
            if way < least and allowed[other]:
                able = True
                for index in range(many):
                    if not covers[other, alone[index]]:
                        able = False
                        break
                if able:
                    best, least = other, way
        if best != stop:
            for place in range(len(count)):
                count[place] += np.int64(covers[best, place]) - np.int64(covers[stop, place])
            tour[position] = best


@inner
def _uncross(tour, size, distances, slack):
    """2-opt: turn round the part between two legs, the pair that saves most, while any saves."""
    while True:
        least = -slack
        low = high = -1
        for i in range(size - 1):
            a, b = tour[i], tour[i + 1]
            for j in range(i + 1, size):
                c, d = tour[j], tour[j + 1 if j + 1 < size else 0]
                change = distances[a, c] + distances[b, d] - distances[a, b] - distances[c, d]
                if change < least:
                    least, low, high = change, i + 1, j
        if low < 0:
            return
        while low < high:
            tour[low], tour[high] = tour[high], tour[low]
            low, high = low + 1, high - 1
