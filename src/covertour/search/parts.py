"""parts: what two tours differ by, taken apart into parts that can be taken over one by one.

A stop has two sides, and on each a leg of the first tour and one of the second; a leg that both
have is on one side. Going from stop to stop by a leg of the one tour and on by the leg of the other
on the same side, one comes back to where one began: such a circle is a part. A stop that only one
of the tours has is passed from one of its sides to the other, so its part has all of its legs.
Taking a part from the second tour replaces the legs and stops of the first that are in it.

That may leave places uncovered. The second tour has stops that cover them, and the parts with these
are chosen too, as long as all of them together promise a shorter tour.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from covertour.kernel import inner
from covertour.problem.metric import FloatArray, IntArray
from covertour.search.state import Place, State, distance, draw_below
from covertour.search.ties import NO_TIES

NOBODY = -1

LEFT, TAKEN, WANTED = range(3)
"""What becomes of a part: it is left, or taken, or would cover what is uncovered."""

MOST_RINGS = 12
"""More rings than this are not joined."""

REMEMBERED = 1 << 9
"""About so many parts of others that were tried in a tour are not tried again, a power of two. They
are remembered when the tour changes, as most changes are far from them."""


class Tours(NamedTuple):
    """Tours by the state's numbers, a row each.

    ``places``: int64[m, n], the stops in order; ``size``: int64[m], how many there are; ``length``:
    float64[m]; ``tried``: uint64[m, REMEMBERED], the marks of parts that were tried in it.
    """

    places: IntArray
    size: IntArray
    length: FloatArray
    tried: Any


class Room(NamedTuple):
    """Room for the kernels: arrays with an entry for each place, or for each of its two sides.

    ``one``, ``two``: int64[n, 2], the neighbours in the two tours by side, NOBODY off the tour;
    ``beside``: int64[n, 2], those in the tour that is made. Of parts, each named after one of its
    sides: ``parent``: int64[2n], the part of a side, as a forest; ``change``: float64[2n], what
    taking it adds to the length; ``legs``: int64[2n], how many it has; ``mark``: uint64[2n], a
    number by which it is known; ``taken``: int64[2n], whether it is, see TAKEN; ``only``:
    int64[2n], its first stop that only one of the tours has, ``next_only``: int64[n], the next one;
    ``first_leg``: int64[2n], its first leg of the first tour, by the stop before it, ``next_leg``:
    int64[n], the next one.
    ``parts``: int64[2n], the parts that promise a shorter tour; ``chosen``: int64[2n], those that
    are taken together; ``bare``: int64[n], places that then lose their last stop, ``is_bare``:
    int64[n], whether they do. ``rank``: int64[n], the place of a stop in the first tour. For the
    tour that is made, see assemble.py: ``cuts``: int64[n], where the first tour is cut; ``stops``:
    int64[n], the stops that it has not; ``ring``: int64[2n], the ring of each segment; ``rings``:
    int64[MOST_RINGS], how many stops each has; ``touched``: int64[4n + 4 MOST_RINGS], stops with
    other neighbours; ``found``: int64[n], its stops in order. ``ties``: int64[k, 2], stops that
    every tour has side by side, see ties.py; ``tied``: int64[n, 2], with whom a stop is, or NOBODY.
    """

    one: IntArray
    two: IntArray
    beside: IntArray
    parent: IntArray
    change: FloatArray
    legs: IntArray
    mark: Any
    taken: IntArray
    parts: IntArray
    chosen: IntArray
    only: IntArray
    next_only: IntArray
    first_leg: IntArray
    next_leg: IntArray
    bare: IntArray
    is_bare: IntArray
    rank: IntArray
    cuts: IntArray
    stops: IntArray
    ring: IntArray
    rings: IntArray
    touched: IntArray
    found: IntArray
    ties: IntArray
    tied: IntArray


def room_for(s: State, ties: IntArray = NO_TIES) -> Room:
    """Room for the places of a state; ties: int64[k, 2]."""
    n = len(s.at)
    tied = np.full((n, 2), NOBODY)
    for a, b in [*ties, *ties[:, ::-1]]:
        tied[a, 0 if tied[a, 0] == NOBODY else 1] = b
    return Room(
        one=np.full((n, 2), NOBODY),
        two=np.full((n, 2), NOBODY),
        beside=np.empty((n, 2), dtype=np.int64),
        parent=np.empty(2 * n, dtype=np.int64),
        change=np.empty(2 * n),
        legs=np.empty(2 * n, dtype=np.int64),
        mark=np.empty(2 * n, dtype=np.uint64),
        taken=np.empty(2 * n, dtype=np.int64),
        parts=np.empty(2 * n, dtype=np.int64),
        chosen=np.empty(2 * n, dtype=np.int64),
        only=np.empty(2 * n, dtype=np.int64),
        next_only=np.empty(n, dtype=np.int64),
        first_leg=np.empty(2 * n, dtype=np.int64),
        next_leg=np.empty(n, dtype=np.int64),
        bare=np.empty(n, dtype=np.int64),
        is_bare=np.zeros(n, dtype=np.int64),
        rank=np.empty(n, dtype=np.int64),
        cuts=np.empty(n, dtype=np.int64),
        stops=np.empty(n, dtype=np.int64),
        ring=np.empty(2 * n, dtype=np.int64),
        rings=np.empty(MOST_RINGS, dtype=np.int64),
        touched=np.empty(4 * n + 4 * MOST_RINGS, dtype=np.int64),
        found=np.empty(n, dtype=np.int64),
        ties=ties,
        tied=tied,
    )


@inner
def take_apart(s, tours, one, two, least, most, room):
    """List the parts of two tours that would shorten the first by at least so much.

    Those of more than ``most`` legs are passed over. Returns how many there are. Whether legs on a
    side are seen as straight on or turned back is drawn where the tours have no leg of a stop in
    common.
    """
    _lay_out(s, tours, one, two, room)
    places = tours.places
    size_one = tours.size[one]
    size_two = tours.size[two]
    for index in range(size_one):
        a = places[one, index]
        b = room.one[a, 1]
        if room.two[a, 1] != b:  # legs that both have are on one side, and in no part
            _tie(room, 2 * a + 1, 2 * b)
        if room.two[a, 0] == NOBODY:
            _tie(room, 2 * a, 2 * a + 1)
    for index in range(size_two):
        a = places[two, index]
        b = places[two, index + 1 if index + 1 < size_two else 0]
        if room.one[a, 0] == NOBODY:
            _tie(room, 2 * a, 2 * a + 1)
        elif _has(room.one, a, b):
            continue
        _tie(room, _side(room.two, a, b), _side(room.two, b, a))
    for index in range(size_one):
        a = places[one, index]
        b = room.one[a, 1]
        if room.two[a, 1] != b:
            part = part_of(room, 2 * a + 1)
            room.change[part] -= distance(s, Place(a), Place(b))
            room.legs[part] += 1
            room.mark[part] -= _mark(a, b)
            room.next_leg[a] = room.first_leg[part]
            room.first_leg[part] = a
    for index in range(size_two):
        a = places[two, index]
        b = places[two, index + 1 if index + 1 < size_two else 0]
        if room.one[a, 0] == NOBODY or not _has(room.one, a, b):
            part = part_of(room, _side(room.two, a, b))
            room.change[part] += distance(s, Place(a), Place(b))
            room.legs[part] += 1
            room.mark[part] += _mark(a, b)
    many = 0
    for index in range(size_one):
        a = places[one, index]
        if room.two[a, 0] == NOBODY:
            _put_into(room, a)
        many = _list_parts(room, a, least, most, many)
    for index in range(size_two):
        a = places[two, index]
        if room.one[a, 0] == NOBODY:
            _put_into(room, a)
            many = _list_parts(room, a, least, most, many)
    return many


@inner
def _put_into(room, stop):
    """Note that a stop that only one of the tours has is in its part."""
    part = part_of(room, 2 * stop)
    room.next_only[stop] = room.only[part]
    room.only[part] = stop


@inner
def _lay_out(s, tours, one, two, room):
    """Note the neighbours in both tours; legs that both have get on one side."""
    places = tours.places
    size_one = tours.size[one]
    size_two = tours.size[two]
    for index in range(size_one):
        _reset(room, places[one, index])
    for index in range(size_two):
        _reset(room, places[two, index])
    for index in range(size_one):
        stop = places[one, index]
        for side in range(2):
            other = index + 2 * side - 1
            other = size_one - 1 if other < 0 else (0 if other == size_one else other)
            room.one[stop, side] = places[one, other]
            room.beside[stop, side] = places[one, other]
        room.rank[stop] = index
    for index in range(size_two):
        stop = places[two, index]
        before = places[two, index - 1 if index > 0 else size_two - 1]
        after = places[two, (index + 1) % size_two]
        turned = before == room.one[stop, 1] or after == room.one[stop, 0]
        straight = before == room.one[stop, 0] or after == room.one[stop, 1]
        if turned == straight:
            turned = draw_below(s, 2) == 0 and not straight
        room.two[stop, 0] = after if turned else before
        room.two[stop, 1] = before if turned else after


@inner
def _reset(room, stop):
    """Let each side of a stop be a part of its own."""
    for side in range(2 * stop, 2 * stop + 2):
        room.parent[side] = side
        room.change[side] = 0.0
        room.legs[side] = 0
        room.mark[side] = np.uint64(0)
        room.taken[side] = LEFT
        room.only[side] = NOBODY
        room.first_leg[side] = NOBODY


@inner
def _mark(a, b):
    """A number for a leg, the same both ways, that hardly any other leg has."""
    mark = np.uint64(min(a, b)) * np.uint64(0x9E3779B97F4A7C15)
    mark += np.uint64(max(a, b)) * np.uint64(0xC2B2AE3D27D4EB4F)
    mark ^= mark >> np.uint64(29)
    mark *= np.uint64(0xBF58476D1CE4E5B9)
    return mark ^ (mark >> np.uint64(32))


@inner
def part_of(room, side):
    """The part of a side."""
    parent = room.parent
    while parent[side] != side:
        parent[side] = parent[parent[side]]
        side = parent[side]
    return side


@inner
def _tie(room, a, b):
    """Put two sides into one part."""
    room.parent[part_of(room, a)] = part_of(room, b)


@inner
def _side(beside, a, b):
    """The side of stop a on which stop b is."""
    return 2 * a if beside[a, 0] == b else 2 * a + 1


@inner
def _has(beside, a, b):
    """Whether two stops are neighbours."""
    return beside[a, 0] == b or beside[a, 1] == b


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
def choose(s, part, least, most, room):
    """Take a part, and the parts that cover what it leaves uncovered.

    All parts together must promise to shorten the tour of the state, the first one, by at least so
    much, and have at most so many legs; else the last ones that are needed are not taken. Returns
    how many are ``chosen``, and what they add to the length.
    """
    room.chosen[0] = part
    room.taken[part] = TAKEN
    change = room.change[part]
    legs = room.legs[part]
    chosen = 1
    counted = 0
    bare = 0
    while True:
        for index in range(counted, chosen):
            bare = _count(s, room.chosen[index], bare, room)
        counted = chosen
        wanted_change = change
        wanted_legs = legs
        for index in range(bare):
            if s.served[room.bare[index]].count == 0:
                part = _want(s, Place(room.bare[index]), room)
                if part != NOBODY:
                    room.chosen[chosen] = part
                    chosen += 1
                    wanted_change += room.change[part]
                    wanted_legs += room.legs[part]
        if chosen == counted or wanted_change > -least or wanted_legs > most:
            break
        for index in range(counted, chosen):
            room.taken[room.chosen[index]] = TAKEN
        change = wanted_change
        legs = wanted_legs
    for index in range(counted, chosen):
        room.taken[room.chosen[index]] = LEFT
    for index in range(counted):
        _count_back(s, room.chosen[index], room)
    return counted, change


@inner
def _count(s, part, bare, room):
    """Count who covers the places once a part is taken.

    Adds places that lose their last stop to the first so many of ``bare``; how many there are now.
    """
    stop = room.only[part]
    while stop != NOBODY:
        there = room.one[stop, 0] != NOBODY
        for k in range(s.at[stop].covers_from, s.at[stop].covers_to):
            place = s.who[k]
            if there:
                s.served[place].count -= 1
                if s.served[place].count == 0 and room.is_bare[place] == 0:
                    room.is_bare[place] = 1
                    room.bare[bare] = place
                    bare += 1
            else:
                s.served[place].count += 1
        stop = room.next_only[stop]
    return bare


@inner
def _count_back(s, part, room):
    """Count again who covers the places without a part."""
    stop = room.only[part]
    while stop != NOBODY:
        there = room.one[stop, 0] != NOBODY
        for k in range(s.at[stop].covers_from, s.at[stop].covers_to):
            place = s.who[k]
            room.is_bare[place] = 0
            s.served[place].count += 1 if there else -1
        stop = room.next_only[stop]


@inner
def _want(s, place, room):
    """Want the part with a coverer of an uncovered place that adds least.

    Returns that part, NOBODY where one that has a coverer is wanted already, or none has one.
    """
    best = np.inf
    best_part = NOBODY
    for k in range(s.at[place].covered_from, s.at[place].covered_to):
        coverer = s.who[k]
        if room.two[coverer, 0] == NOBODY:
            continue
        part = part_of(room, 2 * coverer)
        if room.taken[part] == WANTED:
            return NOBODY
        if room.taken[part] == TAKEN:
            continue
        if room.change[part] < best:
            best = room.change[part]
            best_part = part
    if best_part != NOBODY:
        room.taken[best_part] = WANTED
    return best_part


@inner
def tried_before(tours, one, chosen, room):
    """Whether the chosen parts were tried in this tour before; they are noted, or else left."""
    mark = np.uint64(0)
    for index in range(chosen):
        mark += room.mark[room.chosen[index]]
    slot = np.int64(mark & np.uint64(REMEMBERED - 1))
    if tours.tried[one, slot] != mark:
        tours.tried[one, slot] = mark
        return False
    for index in range(chosen):
        room.taken[room.chosen[index]] = LEFT
    return True


@inner
def clear(tours, one, two, room):
    """Forget the neighbours in both tours."""
    for index in range(tours.size[one]):
        room.one[tours.places[one, index], 0] = NOBODY
        room.one[tours.places[one, index], 1] = NOBODY
    for index in range(tours.size[two]):
        room.two[tours.places[two, index], 0] = NOBODY
        room.two[tours.places[two, index], 1] = NOBODY
