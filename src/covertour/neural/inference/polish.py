"""Polish: a learned tour, improved stop by stop until no single change shortens it."""

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
    """The tours, int64[k, t], with no stop to spare, moved, replaced or added to drop others.

    ``instance``: int64[k], whose tour each is. A tour that has fewer stops than others repeats its
    last. Where distances differ one way and the other, legs stay as they are.
    """
    n, t = tables.covers.shape[1], tours.shape[1]
    room = Room(
        coverers=np.empty(n, dtype=np.int64),
        covered=np.empty(n * n, dtype=np.int32),
        first=np.zeros(n + 1, dtype=np.int64),
        alone=np.empty(n, dtype=np.int64),
        stop=np.empty(n, dtype=np.bool_),
        spare=np.empty(t, dtype=np.bool_),
        saved=np.empty(t, dtype=np.float64),
        kept=np.empty(t + 1, dtype=np.int64),
        able=np.empty(n, dtype=np.int64),
        cost=np.empty(n, dtype=np.float64),
        leg=np.empty(n, dtype=np.int64),
    )
    slack = SLACK * float(tables.distances.max(initial=0.0))
    better = np.ascontiguousarray(tours).copy()
    _polish(better, instance, tables, room, slack)
    return better


class Room(NamedTuple):
    """What is known while a tour is polished.

    ``covered``: int32[n * n], the places that place i covers from ``first[i]`` to ``first[i + 1]``.
    ``coverers``: int64[n], how many stops cover each place; ``alone``: int64[n], the places that
    only one stop covers; ``stop``: bool[n], places on the tour; ``spare``: bool[t], stops that may
    be dropped; ``saved``: float64[t], what that would save; ``kept``: int64[t + 1], the stops of a
    tour that stay, and one more. ``able``: int64[n], the places that may be one of two that replace
    a stop; ``cost``, float64[n], and ``leg``, int64[n]: the cheapest leg of each.
    """

    coverers: IntArray
    covered: IntArray
    first: IntArray
    alone: IntArray
    stop: BoolArray
    spare: BoolArray
    saved: FloatArray
    kept: IntArray
    able: IntArray
    cost: FloatArray
    leg: IntArray


@entry
def _polish(tours, instance, tables, room, slack):
    """Polish tours in place; ``slack``: what a change must save to count."""
    known, turns = -1, False
    for row in range(len(tours)):
        one = instance[row]
        distances, covers = tables.distances[one], tables.covers[one]
        allowed, needed = tables.allowed[one], tables.needed[one]
        if one != known:
            known, turns = one, _symmetric(distances)
            _list_coverage(covers, room)
        tour = tours[row]
        size = 1
        for position in range(1, len(tour)):
            if tour[position] != tour[size - 1]:
                tour[size] = tour[position]
                size += 1
        _count_coverers(tour, size, room)
        changed = True
        while changed:
            size = _drop_spare(tour, size, distances, needed, room, slack)
            if turns:
                _uncross(tour, size, distances, slack)
            changed = _move_stops(tour, size, distances, covers, allowed, needed, room, slack)
            if not changed:
                size, changed = _add_stops(tour, size, distances, allowed, needed, room, slack)
            if not changed:
                size, changed = _split_stops(
                    tour, size, distances, covers, allowed, needed, room, slack
                )
        repeat_last(tour, size)


@inner
def _symmetric(distances):
    for i in range(len(distances)):
        for j in range(i):
            if distances[i, j] != distances[j, i]:
                return False
    return True


@inner
def _list_coverage(covers, room):
    many = 0
    for i in range(len(covers)):
        room.first[i] = many
        for j in range(len(covers)):
            if covers[i, j]:
                room.covered[many] = j
                many += 1
    room.first[len(covers)] = many


@inner
def _count_coverers(tour, size, room):
    room.coverers[:] = 0
    room.stop[:] = False
    for position in range(size):
        _count(room, tour[position], 1)


@inner
def _count(room, stop, change):
    """A stop comes, 1, or goes, -1."""
    room.stop[stop] = change > 0
    for index in range(room.first[stop], room.first[stop + 1]):
        room.coverers[room.covered[index]] += change


@inner
def _drop_spare(tour, size, distances, needed, room, slack):
    """Leave out stops whose places others cover too, the one that saves most first.

    Gives the new size.
    """
    spare, saved = room.spare, room.saved
    for position in range(size):
        spare[position] = not needed[tour[position]]
        saved[position] = _saving(tour, size, position, distances)
    while True:
        best = -1
        for position in range(size):
            if spare[position] and _covers_alone(tour[position], room):
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
        _count(room, tour[best], -1)
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
def _covers_alone(stop, room):
    """Whether a stop is the only one that covers some place."""
    for index in range(room.first[stop], room.first[stop + 1]):
        if room.coverers[room.covered[index]] == 1:
            return True
    return False


@inner
def _move_stops(tour, size, distances, covers, allowed, needed, room, slack):
    """Put each stop, or a place that covers what only it does, where that is cheapest.

    Gives whether any was moved or replaced. The first stop stays first if it must be one.
    """
    kept = room.kept
    moved = False
    for position in range(size if size > 1 else 0):
        stop = tour[position]
        if position == 0 and needed[stop]:
            continue
        for other in range(size - 1):
            kept[other] = tour[other if other < position else other + 1]
        many = _list_alone(stop, room)
        least = _saving(tour, size, position, distances) - slack
        best, leg = -1, 0
        for other in range(len(covers)):
            if other == stop or (
                many > 0
                and not needed[stop]
                and allowed[other]
                and _covers_all(covers[other], room.alone, many)
            ):
                cost, at = _cheapest_leg(kept, size - 1, other, distances)
                if cost < least:
                    least, best, leg = cost, other, at
        if best >= 0:
            moved = True
            _count(room, stop, -1)
            _count(room, best, 1)
            _insert(kept, size - 1, leg, best)
            _copy(kept, size, tour)
    return moved


@inner
def _covers_all(row, places, many):
    for index in range(many):
        if not row[places[index]]:
            return False
    return True


@inner
def _add_stops(tour, size, distances, allowed, needed, room, slack):
    """Add stops where those that they make spare save more than they cost.

    Gives the new size and whether any was added.
    """
    spare, kept = room.spare, room.kept
    added = False
    for other in range(len(allowed)):
        if room.stop[other] or not allowed[other]:
            continue
        _count(room, other, 1)
        many = 0
        for position in range(size):
            stop = tour[position]
            spare[position] = not needed[stop] and not _covers_alone(stop, room)
            if spare[position]:
                _count(room, stop, -1)
            else:
                kept[many] = stop
                many += 1
        if many < size:
            _, leg = _cheapest_leg(kept, many, other, distances)
            _insert(kept, many, leg, other)
            change = _length(kept, many + 1, distances) - _length(tour, size, distances)
            if change < -slack:
                size = many + 1
                _copy(kept, size, tour)
                added = True
                continue
            for position in range(size):
                if spare[position]:
                    _count(room, tour[position], 1)
        _count(room, other, -1)
    return size, added


@inner
def _split_stops(tour, size, distances, covers, allowed, needed, room, slack):
    """Replace stops by two places that together cover what only they do, in their cheapest legs.

    Gives the new size and whether any was replaced.
    """
    kept, alone, able, cost, leg = room.kept, room.alone, room.able, room.cost, room.leg
    split = False
    for position in range(size if size > 1 else 0):
        stop = tour[position]
        if size == len(tour):
            break
        if needed[stop]:
            continue
        left = size - 1
        for other in range(left):
            kept[other] = tour[other if other < position else other + 1]
        many = _list_alone(stop, room)
        saved = _saving(tour, size, position, distances) - slack
        count = 0
        for other in range(len(covers)):
            if room.stop[other] or not allowed[other]:
                continue
            if _covers_any(covers[other], alone, many):
                cost[count], leg[count] = _cheapest_leg(kept, left, other, distances)
                if cost[count] < saved:
                    able[count] = other
                    count += 1
        least, best, second, at, then = saved, -1, -1, 0, 0
        for i in range(count):
            a, where = able[i], leg[i]
            before, after = kept[where - 1], kept[where if where < left else 0]
            for j in range(count):
                b = able[j]
                if i == j or not _both_cover(covers[a], covers[b], alone, many):
                    continue
                # The second goes before or after the first, or into a leg of its own.
                price = cost[i] + distances[before, b] + distances[b, a] - distances[before, a]
                if price < least:
                    least, best, second, at, then = price, a, b, where, where
                price = cost[i] + distances[a, b] + distances[b, after] - distances[a, after]
                if price < least:
                    least, best, second, at, then = price, a, b, where, where + 1
                if i < j and leg[j] != where and cost[i] + cost[j] < least:
                    least, best, second, at = cost[i] + cost[j], a, b, where
                    then = leg[j] if leg[j] < where else leg[j] + 1
        if best >= 0:
            split = True
            _count(room, stop, -1)
            _count(room, best, 1)
            _count(room, second, 1)
            _insert(kept, left, at, best)
            _insert(kept, left + 1, then, second)
            size += 1
            _copy(kept, size, tour)
    return size, split


@inner
def _list_alone(stop, room):
    """List the places that only this stop covers; gives how many there are."""
    many = 0
    for index in range(room.first[stop], room.first[stop + 1]):
        place = room.covered[index]
        if room.coverers[place] == 1:
            room.alone[many] = place
            many += 1
    return many


@inner
def _covers_any(row, places, many):
    for index in range(many):
        if row[places[index]]:
            return True
    return False


@inner
def _both_cover(row, other, places, many):
    for index in range(many):
        place = places[index]
        if not (row[place] or other[place]):
            return False
    return True


@inner
def _cheapest_leg(tour, size, other, distances):
    """What another stop costs at least, and at which position; the first only of an empty tour."""
    least, leg = np.inf, size
    for position in range(1, size + 1):
        before, after = tour[position - 1], tour[position if position < size else 0]
        cost = distances[before, other] + distances[other, after] - distances[before, after]
        if cost < least:
            least, leg = cost, position
    return least, leg


@inner
def _insert(tour, size, leg, stop):
    for position in range(size, leg, -1):
        tour[position] = tour[position - 1]
    tour[leg] = stop


@inner
def _copy(tour, size, other):
    for position in range(size):
        other[position] = tour[position]


@inner
def _length(tour, size, distances):
    length = distances[tour[size - 1], tour[0]]
    for position in range(1, size):
        length += distances[tour[position - 1], tour[position]]
    return length


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
