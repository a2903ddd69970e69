"""recombine: a tour made of two, by edge assembly (Nagata and Kobayashi 2013).

A stop has two sides, and on each a leg of the first tour and one of the second; a leg that both
have is on one side. Going from stop to stop by a leg of the one tour and on by the leg of the other
on the same side, one comes back to where one began: such a circle is a part. A stop that only one
of the tours has is passed from one of its sides to the other, so its part has all of its legs.
Taking a part from the second tour replaces the legs and stops of the first that are in it.

That may leave places uncovered. The second tour has stops that cover them, and the parts with these
are taken too, as long as all of them together promise a shorter tour. What comes of it may be
several rings, which are joined where that costs least; places that are still uncovered, and stops
without use, are mended as in any attempt of the search.

This is for the plain problem with symmetric distances.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.metric import FloatArray, IntArray
from covertour.search.changes import copy_tour, load_tour, spare, touch
from covertour.search.construct import drop_spare
from covertour.search.improve import FINAL, improve
from covertour.search.moves import exchange, lacks, serve
from covertour.search.state import QUEUE, STOPS, UNCOVERED, Place, State, distance, draw_below

NOBODY = -1

MOST_ADDED = 1.0
"""A part that makes a tour longer by this many mean legs, with rings joined, is not mended."""

LEAST_GAIN = 1e-9
"""A tour must become shorter by more than this share of it."""

LEFT, TAKEN, WANTED = range(3)
"""What becomes of a part: it is left, or taken, or would cover what is uncovered."""

MOST_TAKEN = 0.25
"""At most this share of the legs of the tours is in parts that are taken. More would make the one a
copy of the other, and a pool of tours that are alike has nothing left to recombine."""

MOST_RINGS = 12
"""More rings than this are not joined."""


class Room(NamedTuple):
    """Room for the kernels: arrays with an entry for each place, or for each of its two sides.

    ``one``, ``two``: int64[n, 2], the neighbours in the two tours by side, NOBODY off the tour;
    ``beside``: int64[n, 2], those in the tour that is made; ``parent``: int64[2n], the part of a
    side, as a forest; ``change``: float64[2n], what taking a part adds to the length; ``legs``:
    int64[2n], how many a part has; ``taken``: int64[2n], whether it is, see TAKEN; ``parts``:
    int64[2n], those that promise a shorter tour; ``ring``, ``stops``, ``found``: int64[n], the
    rings of the tour that is made, its stops in no order, and in order; ``rings``:
    int64[MOST_RINGS], how many stops each has.
    """

    one: IntArray
    two: IntArray
    beside: IntArray
    parent: IntArray
    change: FloatArray
    legs: IntArray
    taken: IntArray
    parts: IntArray
    ring: IntArray
    stops: IntArray
    found: IntArray
    rings: IntArray


def room_for(s: State) -> Room:
    """Room for the places of a state."""
    n = len(s.at)
    return Room(
        one=np.empty((n, 2), dtype=np.int64),
        two=np.empty((n, 2), dtype=np.int64),
        beside=np.empty((n, 2), dtype=np.int64),
        parent=np.empty(2 * n, dtype=np.int64),
        change=np.empty(2 * n),
        legs=np.empty(2 * n, dtype=np.int64),
        taken=np.empty(2 * n, dtype=np.int64),
        parts=np.empty(2 * n, dtype=np.int64),
        ring=np.empty(n, dtype=np.int64),
        stops=np.empty(n, dtype=np.int64),
        found=np.empty(n, dtype=np.int64),
        rings=np.empty(MOST_RINGS, dtype=np.int64),
    )


@entry
def present(s, places):
    """Write the tour of the state to ``places``, int64[n]; how many stops it has."""
    return copy_tour(s, places)


@entry
def combine(s, one, two, length, most, noise, room):
    """Take a part of the second tour, int64[t], into the first, if that makes it shorter.

    Tries up to ``most`` parts, those that promise most first; ``length`` is that of the first tour.
    Returns how many stops the new tour has, which is the state's then and in ``found``, 0 where
    there is none; and how many were tried.
    """
    enough = length * (1.0 - LEAST_GAIN)
    limit = MOST_ADDED * length / len(one)
    most_legs = np.int64(MOST_TAKEN * (len(one) + len(two)))
    many = _take_apart(s, one, two, length - enough, most_legs, room)
    tried = 0
    while tried < min(many, most):
        best = tried
        for index in range(tried + 1, many):
            if room.change[room.parts[index]] < room.change[room.parts[best]]:
                best = index
        part = room.parts[best]
        room.parts[best] = room.parts[tried]
        tried += 1
        size = _take(s, one, two, part, length - enough, limit, most_legs, room)
        if size == 0:
            continue
        _queue_changed(s, room, size)
        _mend(s, noise, room)
        if s.tour.length < enough:
            return copy_tour(s, room.found), tried
    return 0, tried


@inner
def _take(s, one, two, part, least, limit, most, room):
    """Load the first tour with a part of the second, and with the parts that this needs.

    All parts together must promise to shorten it by at least so much, and have at most so many
    legs; with rings joined it may become longer by ``limit``. Returns how many stops it has, 0
    where nothing comes of it.
    """
    for side in range(len(room.taken)):
        room.taken[side] = LEFT
    room.taken[part] = TAKEN
    change = room.change[part]
    legs = room.legs[part]
    while True:
        added, size = _assemble(s, one, two, change, room)
        if added > limit:
            return 0
        load_tour(s, room.found, size)
        if not lacks(s):
            return size
        for index in range(s.tour.uncovered):
            part = _want(s, s.lists[UNCOVERED, index], room)
            if part != NOBODY:
                change += room.change[part]
                legs += room.legs[part]
        if change > -least or legs > most:
            return size
        for side in range(len(room.taken)):
            if room.taken[side] == WANTED:
                room.taken[side] = TAKEN


@inner
def _want(s, place, room):
    """Want the part with a coverer of an uncovered place that adds least.

    Returns that part, NOBODY where one that has a coverer is wanted already.
    """
    best = np.inf
    best_part = NOBODY
    for k in range(s.at[place].covered_from, s.at[place].covered_to):
        coverer = s.who[k]
        if room.two[coverer, 0] == NOBODY:
            continue
        part = _part(room, 2 * coverer)
        if room.taken[part] == WANTED:
            return NOBODY
        if room.change[part] < best:
            best = room.change[part]
            best_part = part
    room.taken[best_part] = WANTED
    return best_part


@inner
def _take_apart(s, one, two, least, most, room):
    """List the parts of two tours that would shorten the first by at least so much.

    Those of more than ``most`` legs are passed over. Returns how many there are. Whether legs on a
    side are seen as straight on or turned back is drawn where the tours have no leg of a stop in
    common.
    """
    _lay_out(s, one, two, room)
    for index in range(len(one)):
        a = one[index]
        _tie(room, 2 * a + 1, 2 * room.one[a, 1])
        if room.two[a, 0] == NOBODY:
            _tie(room, 2 * a, 2 * a + 1)
    for index in range(len(two)):
        a = two[index]
        b = two[(index + 1) % len(two)]
        _tie(room, _side(room.two, a, b), _side(room.two, b, a))
        if room.one[a, 0] == NOBODY:
            _tie(room, 2 * a, 2 * a + 1)
    for index in range(len(one)):
        a = one[index]
        part = _part(room, 2 * a + 1)
        room.change[part] -= distance(s, Place(a), Place(room.one[a, 1]))
        room.legs[part] += 1
    for index in range(len(two)):
        a = two[index]
        b = two[(index + 1) % len(two)]
        part = _part(room, _side(room.two, a, b))
        room.change[part] += distance(s, Place(a), Place(b))
        room.legs[part] += 1
    many = 0
    for index in range(len(one)):
        many = _list_parts(room, one[index], least, most, many)
    for index in range(len(two)):
        if room.one[two[index], 0] == NOBODY:
            many = _list_parts(room, two[index], least, most, many)
    return many


@inner
def _lay_out(s, one, two, room):
    """Note the neighbours in both tours; legs that both have get on one side."""
    for place in range(len(s.at)):
        for side in range(2):
            room.one[place, side] = NOBODY
            room.two[place, side] = NOBODY
            room.parent[2 * place + side] = 2 * place + side
            room.change[2 * place + side] = 0.0
            room.legs[2 * place + side] = 0
    for index in range(len(one)):
        room.one[one[index], 0] = one[index - 1 if index > 0 else len(one) - 1]
        room.one[one[index], 1] = one[(index + 1) % len(one)]
    for index in range(len(two)):
        stop = two[index]
        before = two[index - 1 if index > 0 else len(two) - 1]
        after = two[(index + 1) % len(two)]
        turned = before == room.one[stop, 1] or after == room.one[stop, 0]
        straight = before == room.one[stop, 0] or after == room.one[stop, 1]
        if turned == straight:
            turned = draw_below(s, 2) == 0 and not straight
        room.two[stop, 0] = after if turned else before
        room.two[stop, 1] = before if turned else after


@inner
def _part(room, side):
    """The part of a side."""
    parent = room.parent
    while parent[side] != side:
        parent[side] = parent[parent[side]]
        side = parent[side]
    return side


@inner
def _tie(room, a, b):
    """Put two sides into one part."""
    room.parent[_part(room, a)] = _part(room, b)


@inner
def _side(beside, a, b):
    """The side of stop a on which stop b is."""
    return 2 * a if beside[a, 0] == b else 2 * a + 1


@inner
def _list_parts(room, stop, least, most, many):
    """List the parts that are named after a side of a stop; how many are listed now."""
    for side in range(2 * stop, 2 * stop + 2):
        whole = room.parent[side] == side and room.legs[side] <= most
        if whole and room.change[side] <= -least:
            room.parts[many] = side
            many += 1
    return many


@inner
def _assemble(s, one, two, change, room):
    """Write the first tour with the taken parts of the second to ``found``, as one ring.

    Returns what that adds to the length, with the ``change`` by the parts, inf where there are too
    many rings; and how many stops there are.
    """
    many = _choose_legs(one, two, room)
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
def _mend(s, noise, room):
    """Serve what is not served, drop what is of no use, improve where something changed."""
    last = s.lists[STOPS, 0]
    while lacks(s):
        last = serve(s, noise, last)
    drop_spare(s)
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


@inner
def _choose_legs(one, two, room):
    """Write the legs of the first tour, but in taken parts those of the second, to ``beside``.

    The stops that there are then go to ``stops``, with no number of a ring; how many there are.
    """
    many = 0
    for index in range(len(one)):
        stop = one[index]
        if room.two[stop, 0] == NOBODY and room.taken[_part(room, 2 * stop)] == TAKEN:
            continue
        for side in range(2):
            taken = room.taken[_part(room, 2 * stop + side)] == TAKEN
            room.beside[stop, side] = room.two[stop, side] if taken else room.one[stop, side]
        room.stops[many] = stop
        room.ring[stop] = NOBODY
        many += 1
    for index in range(len(two)):
        stop = two[index]
        if room.one[stop, 0] == NOBODY and room.taken[_part(room, 2 * stop)] == TAKEN:
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
    best = np.inf
    legs = (NOBODY, NOBODY, NOBODY, NOBODY)
    for i in range(many):
        a = room.stops[i]
        if room.ring[a] != number:
            continue
        for side in range(2):
            x = beside[a, side]
            saved = distance(s, Place(a), Place(x))
            for j in range(many):
                b = room.stops[j]
                if room.ring[b] == number:
                    continue
                far = distance(s, Place(a), Place(b)) - saved
                for other in range(2):
                    y = beside[b, other]
                    cost = far + distance(s, Place(x), Place(y)) - distance(s, Place(b), Place(y))
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
