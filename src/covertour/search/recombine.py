"""recombine: a tour made of two, by edge assembly (Nagata and Kobayashi 2013).

The first tour takes over parts of the second, see parts.py. What comes of it may be several rings,
which are joined where that costs least; places that are still uncovered, and stops without use, are
mended as in any attempt of the search.

This is for the plain problem with symmetric distances.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry, inner
from covertour.search.changes import load_tour, spare, touch
from covertour.search.construct import drop_spare
from covertour.search.improve import FINAL, improve
from covertour.search.moves import exchange, lacks, serve
from covertour.search.parts import (
    LEFT,
    MOST_RINGS,
    NOBODY,
    TAKEN,
    choose,
    clear,
    part_of,
    take_apart,
    tried_before,
)
from covertour.search.state import QUEUE, STOPS, Place, distance

MOST_ADDED = 1.0
"""A part that makes a tour longer by this many mean legs, with rings joined, is not mended."""

HOPELESS = 2.0
"""A tour that is mended, and still longer by this many mean legs, is not improved."""

LEAST_GAIN = 1e-9
"""A tour must become shorter by more than this share of it."""

MOST_TAKEN = 0.25
"""At most this share of the legs of the tours is in parts that are taken. More would make the one a
copy of the other, and a pool of tours that are alike has nothing left to recombine."""

MOST_PARTS = 20
"""How many parts of one tour are tried in another, those that promise most first."""


@entry
def keep_tour(s, tours, row):
    """Write the tour of the state to a row."""
    _keep(s, tours, row)


@inner
def _keep(s, tours, row):
    size = s.tour.size
    stop = s.lists[STOPS, 0]
    for index in range(size):
        tours.places[row, index] = stop
        stop = s.at[stop].next
    tours.size[row] = size
    tours.length[row] = s.tour.length


@entry
def recombine_pairs(s, tours, mothers, fathers, first, last, most, noise, room):
    """Let each tour mothers[first:last] get a part of the tour fathers[...], if that shortens it.

    mothers, fathers: int64[p], rows of ``tours``. Tries up to MOST_PARTS parts of each, those that
    promise most first, and ``most`` in all. Returns how many tours became shorter, and how many
    tries were made. The state is left with some tour.
    """
    better = 0
    tried = 0
    for pair in range(first, last):
        made, shorter = _combine(
            s, tours, mothers[pair], fathers[pair], min(MOST_PARTS, most - tried), noise, room
        )
        tried += made
        better += shorter
    return better, tried


@inner
def _combine(s, tours, one, two, most, noise, room):
    """Take a part of the second tour into the first, if that makes it shorter.

    Returns how many parts were tried, and whether one made it.
    """
    length = tours.length[one]
    enough = length * (1.0 - LEAST_GAIN)
    leg = length / tours.size[one]
    most_legs = np.int64(MOST_TAKEN * (tours.size[one] + tours.size[two]))
    many = take_apart(s, tours, one, two, length - enough, most_legs, room)
    tried = 0
    made = 0
    changed = True  # whether the state has another tour than the first
    while tried < many and made < most:
        best = tried
        for index in range(tried + 1, many):
            if room.change[room.parts[index]] < room.change[room.parts[best]]:
                best = index
        part = room.parts[best]
        room.parts[best] = room.parts[tried]
        tried += 1
        if changed:
            _load(s, tours, one, room)
            changed = False
        chosen, change = choose(s, part, length - enough, most_legs, room)
        if tried_before(tours, one, chosen, room):
            continue
        made += 1
        added, size = _assemble(s, tours, one, two, change, room)
        for index in range(chosen):
            room.taken[room.chosen[index]] = LEFT
        if added > MOST_ADDED * leg:
            continue
        load_tour(s, room.found, size)
        changed = True
        _queue_changed(s, room, size)
        if _mend(s, noise, length, length + HOPELESS * leg, room) and s.tour.length < enough:
            clear(tours, one, two, room)
            _keep(s, tours, one)
            return made, True
    clear(tours, one, two, room)
    return made, False


@inner
def _load(s, tours, row, room):
    """Make the state hold a tour."""
    for index in range(tours.size[row]):
        room.found[index] = tours.places[row, index]
    load_tour(s, room.found, tours.size[row])


@inner
def _assemble(s, tours, one, two, change, room):
    """Write the first tour with the taken parts of the second to ``found``, as one ring.

    Returns what that adds to the length, with the ``change`` by the parts, inf where there are too
    many rings; and how many stops there are.
    """
    many = _choose_legs(tours, one, two, room)
    added = change
    rings = 0
    for index in range(many):
        if room.ring[room.stops[index]] == NOBODY:
            if rings == MOST_RINGS:
                return np.inf, 0
            room.rings[rings] = _number(room, room.stops[index], rings)
            rings += 1
    for _ in range(rings - 1):
        smallest = NOBODY
        for number in range(rings):
            if room.rings[number] > 0 and (
                smallest == NOBODY or room.rings[number] < room.rings[smallest]
            ):
                smallest = number
        added += _join(s, room, many, smallest)
    beside = room.beside
    before = room.stops[0]
    stop = beside[before, 1]
    room.found[0] = before
    for index in range(1, many):
        room.found[index] = stop
        following = beside[stop, 0] if beside[stop, 0] != before else beside[stop, 1]
        before = stop
        stop = following
    return added, many


@inner
def _queue_changed(s, room, size):
    """Queue the stops at new legs, and note those that may be of no use."""
    for index in range(size):
        number = room.found[index]
        stop = Place(number)
        for side in range(2):
            other = room.beside[number, side]
            if room.one[number, 0] != other and room.one[number, 1] != other:
                touch(s, stop)
        if s.at[stop].unique == 0:
            spare(s, stop)


@inner
def _mend(s, noise, length, most, room):
    """Serve what is not served, drop what is of no use, improve where something changed.

    Gives up, and returns False, where the tour is longer than ``most`` before it is improved, or
    has its ``length`` again: then most likely the part has been undone.
    """
    last = s.lists[STOPS, 0]
    while lacks(s):
        if s.tour.length > most:
            return False
        last = serve(s, noise, last)
    drop_spare(s)
    if s.tour.length > most or abs(s.tour.length - length) <= LEAST_GAIN * length:
        return False
    many = s.tour.queue
    for index in range(many):
        room.stops[index] = s.lists[QUEUE, index]
    improve(s, FINAL)
    for index in range(many):
        stop = Place(room.stops[index])
        if s.at[stop].stop_at >= 0 and exchange(s, stop):
            drop_spare(s)
    improve(s, FINAL)
    s.tour.log = 0
    length = 0.0  # summed anew, without drift
    for index in range(s.tour.size):
        length += s.at[s.lists[STOPS, index]].leg
    s.tour.length = length
    return True


@inner
def _choose_legs(tours, one, two, room):
    """Write the legs of the first tour, but in taken parts those of the second, to ``beside``.

    The stops that there are then go to ``stops``, with no number of a ring; how many there are.
    """
    many = 0
    for index in range(tours.size[one]):
        stop = tours.places[one, index]
        if room.two[stop, 0] == NOBODY and room.taken[part_of(room, 2 * stop)] == TAKEN:
            continue
        for side in range(2):
            taken = room.taken[part_of(room, 2 * stop + side)] == TAKEN
            room.beside[stop, side] = room.two[stop, side] if taken else room.one[stop, side]
        room.stops[many] = stop
        room.ring[stop] = NOBODY
        many += 1
    for index in range(tours.size[two]):
        stop = tours.places[two, index]
        if room.one[stop, 0] == NOBODY and room.taken[part_of(room, 2 * stop)] == TAKEN:
            room.beside[stop, 0] = room.two[stop, 0]
            room.beside[stop, 1] = room.two[stop, 1]
            room.stops[many] = stop
            room.ring[stop] = NOBODY
            many += 1
    return many


@inner
def _number(room, first, number):
    """Give a number to the ring of a stop; how many stops it has."""
    before = first
    stop = room.beside[first, 1]
    room.ring[first] = number
    many = 1
    while stop != first:
        room.ring[stop] = number
        many += 1
        following = room.beside[stop, 0]
        if following == before:
            following = room.beside[stop, 1]
        before = stop
        stop = following
    return many


@inner
def _join(s, room, many, number):
    """Join a ring to another one where that costs least; what it costs."""
    beside = room.beside
    longest = 0.0
    for i in range(many):
        a = room.stops[i]
        for side in range(2):
            longest = max(longest, distance(s, Place(a), Place(beside[a, side])))
    best = np.inf
    legs = (NOBODY, NOBODY, NOBODY, NOBODY)
    for i in range(many):
        a = room.stops[i]
        if room.ring[a] != number:
            continue
        saved = (
            distance(s, Place(a), Place(beside[a, 0])),
            distance(s, Place(a), Place(beside[a, 1])),
        )
        spare = max(saved[0], saved[1]) + longest  # what is taken away is no longer than this
        for j in range(many):
            b = room.stops[j]
            far = distance(s, Place(a), Place(b))
            if far - spare >= best or room.ring[b] == number:
                continue
            for side in range(2):
                x = beside[a, side]
                for other in range(2):
                    y = beside[b, other]
                    cost = far - saved[side]
                    cost += distance(s, Place(x), Place(y)) - distance(s, Place(b), Place(y))
                    if cost < best:
                        best = cost
                        legs = (a, x, b, y)
    a, x, b, y = legs
    joined = room.ring[b]
    room.rings[joined] += room.rings[number]
    room.rings[number] = 0
    _number(room, a, joined)
    _swap(beside, a, x, b)
    _swap(beside, x, a, y)
    _swap(beside, b, y, a)
    _swap(beside, y, b, x)
    return best


@inner
def _swap(beside, stop, old, new):
    """Replace a neighbour of a stop."""
    slot = 0 if beside[stop, 0] == old else 1
    beside[stop, slot] = new
