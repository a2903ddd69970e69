"""assemble: a tour with some parts of another one, found without going through all of it.

The legs that the parts replace cut the first tour into segments, each of which keeps its order. So
the rings that the parts leave are found from segment to segment, and joined where that costs least.
See parts.py for what is taken.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import inner
from covertour.search.parts import MOST_RINGS, NOBODY
from covertour.search.state import NEAR, Place, distance, stops_near

GONE = -2
"""The ring of a stop that the parts leave out."""


@inner
def assemble(s, tours, one, chosen, change, most, room):
    """Write the first tour with the chosen parts of the second to ``found``, as one ring.

    The state holds the first tour. Returns what that adds to the length, with the ``change`` by the
    parts, and how many stops there are; inf and 0 where there are too many rings, or it adds more
    than ``most``. And how many stops are ``touched``: at them there are new legs.
    """
    cuts, added_stops, touched = _cut(chosen, room)
    _sort(room.cuts, cuts)
    size = tours.size[one]
    segments = cuts + added_stops
    added = change
    rings = _number_rings(tours, one, cuts, segments, room)
    if rings > MOST_RINGS:
        added = np.inf
    many = 0
    for number in range(min(rings, MOST_RINGS)):
        many += room.rings[number]
    for _ in range(rings - 1):
        if added > most:
            break
        smallest = NOBODY
        for number in range(rings):
            if room.rings[number] > 0 and (
                smallest == NOBODY or room.rings[number] < room.rings[smallest]
            ):
                smallest = number
        cost, touched = _join(s, tours, one, cuts, segments, smallest, touched, room)
        added += cost
    if added <= most:
        first = 0
        while room.ring[first] == GONE:
            first += 1
        _walk(_end(tours, one, cuts, first, 1, size, room), many, room)
    else:
        many = 0
    for index in range(touched):  # as in the first tour again
        stop = room.touched[index]
        room.beside[stop, 0] = room.one[stop, 0]
        room.beside[stop, 1] = room.one[stop, 1]
    return added, many, touched


@inner
def _walk(first, many, room):
    """Write the ring of a stop to ``found``."""
    beside = room.beside
    before = first
    stop = beside[before, 1]
    room.found[0] = before
    for index in range(1, many):
        room.found[index] = stop
        following = beside[stop, 0] if beside[stop, 0] != before else beside[stop, 1]
        before = stop
        stop = following


@inner
def _cut(chosen, room):
    """Put the legs of the chosen parts into ``beside``.

    Returns how many legs of the first tour are cut, which are noted in ``cuts`` by the index of the
    stop before; how many stops only the second tour has, noted in ``stops``; and how many stops are
    ``touched``.
    """
    cuts = 0
    added = 0
    touched = 0
    for index in range(chosen):
        part = room.chosen[index]
        stop = room.first_leg[part]
        while stop != NOBODY:
            room.cuts[cuts] = room.rank[stop]
            cuts += 1
            after = room.one[stop, 1]
            room.beside[stop, 1] = room.two[stop, 1]
            room.beside[after, 0] = room.two[after, 0]
            room.touched[touched] = stop
            room.touched[touched + 1] = after
            touched += 2
            stop = room.next_leg[stop]
        stop = room.only[part]
        while stop != NOBODY:
            if room.one[stop, 0] == NOBODY:
                room.beside[stop, 0] = room.two[stop, 0]
                room.beside[stop, 1] = room.two[stop, 1]
                room.stops[added] = stop
                room.rank[stop] = -1 - added
                room.touched[touched] = stop
                added += 1
                touched += 1
            stop = room.next_only[stop]
    return cuts, added, touched


@inner
def _sort(numbers, many):
    """Sort the first so many numbers; there are few."""
    gap = 1
    while gap < many // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for index in range(gap, many):
            number = numbers[index]
            at = index
            while at >= gap and numbers[at - gap] > number:
                numbers[at] = numbers[at - gap]
                at -= gap
            numbers[at] = number
        gap //= 3


@inner
def _segment(room, stop, cuts):
    """The segment of a stop: by the cut behind it, or one of its own."""
    index = room.rank[stop]
    if index < 0:
        return cuts - 1 - index
    low = 0
    high = cuts
    while low < high:
        middle = (low + high) // 2
        if room.cuts[middle] < index:
            low = middle + 1
        else:
            high = middle
    return low if low < cuts else 0


@inner
def _end(tours, one, cuts, segment, side, size, room):
    """The first (side 0) or last stop (side 1) of a segment."""
    if segment >= cuts:
        return room.stops[segment - cuts]
    if side == 1:
        return tours.places[one, room.cuts[segment]]
    first = room.cuts[segment - 1 if segment > 0 else cuts - 1] + 1
    return tours.places[one, first if first < size else 0]


@inner
def _size(cuts, segment, size, room):
    """How many stops a segment has."""
    if segment >= cuts:
        return 1
    many = room.cuts[segment] - room.cuts[segment - 1 if segment > 0 else cuts - 1]
    return many if many > 0 else many + size


@inner
def _number_rings(tours, one, cuts, segments, room):
    """Write the ring of each segment to ``ring``, how many stops each has to ``rings``.

    How many rings there are; numbering ends where there are more than MOST_RINGS.
    """
    size = tours.size[one]
    beside = room.beside
    for segment in range(segments):
        end = _end(tours, one, cuts, segment, 1, size, room)
        gone = room.two[end, 0] == NOBODY and _size(cuts, segment, size, room) == 1
        room.ring[segment] = GONE if gone else NOBODY
    rings = 0
    for first in range(segments):
        if room.ring[first] != NOBODY:
            continue
        if rings == MOST_RINGS:
            return rings + 1
        segment = first
        side = 1
        many = 0
        while room.ring[segment] == NOBODY:
            room.ring[segment] = rings
            many += _size(cuts, segment, size, room)
            end = _end(tours, one, cuts, segment, side, size, room)
            following = beside[end, side]
            side = 1 if beside[following, 0] == end else 0
            segment = _segment(room, following, cuts)
        room.rings[rings] = many
        rings += 1
    return rings


@inner
def _join(s, tours, one, cuts, segments, number, touched, room):
    """Join a ring to another one where that costs least; what it costs, and how many are touched.

    Only stops near each other are joined; inf where the ring is far from the others.
    """
    size = tours.size[one]
    beside = room.beside
    best = np.inf
    legs = (NOBODY, NOBODY, NOBODY, NOBODY)
    joined = NOBODY
    for segment in range(segments):
        if room.ring[segment] != number:
            continue
        a = _end(tours, one, cuts, segment, 0, size, room)
        for _ in range(_size(cuts, segment, size, room)):
            saved = (
                distance(s, Place(a), Place(beside[a, 0])),
                distance(s, Place(a), Place(beside[a, 1])),
            )
            for index in range(stops_near(s, Place(a))):
                b = np.int64(s.lists[NEAR, index])
                ring = room.ring[_segment(room, b, cuts)]
                if ring == number or ring == GONE:
                    continue
                far = distance(s, Place(a), Place(b))
                for other in range(2):
                    y = beside[b, other]
                    cost = far - distance(s, Place(b), Place(y))
                    for side in range(2):
                        x = beside[a, side]
                        price = cost + distance(s, Place(x), Place(y)) - saved[side]
                        if price < best and not (is_tied(room, a, x) or is_tied(room, b, y)):
                            best = price
                            legs = (a, x, b, y)
                            joined = ring
            a = room.one[a, 1]  # the next one of the segment
    if joined == NOBODY:
        return best, touched
    for segment in range(segments):
        if room.ring[segment] == number:
            room.ring[segment] = joined
    room.rings[joined] += room.rings[number]
    room.rings[number] = 0
    a, x, b, y = legs
    _swap(beside, a, x, b)
    _swap(beside, x, a, y)
    _swap(beside, b, y, a)
    _swap(beside, y, b, x)
    for index in range(4):
        room.touched[touched + index] = legs[index]
    return best, touched + 4


@inner
def is_tied(room, a, b):
    """Whether the leg between two neighbours must stay."""
    return room.tied[a, 0] == b or room.tied[a, 1] == b


@inner
def _swap(beside, stop, old, new):
    """Replace a neighbour of a stop."""
    slot = 0 if beside[stop, 0] == old else 1
    beside[stop, slot] = new
