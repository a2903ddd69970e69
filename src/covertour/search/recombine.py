"""recombine: a tour made of two, by edge assembly (Nagata and Kobayashi 2013).

The first tour takes over parts of the second, see parts.py. What comes of it may be several rings,
which are joined where that costs least; places that are still uncovered, and stops without use, are
mended as in any attempt of the search.

This is for the plain problem with symmetric distances.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry, inner
from covertour.search.assemble import assemble
from covertour.search.changes import load_tour, spare, touch
from covertour.search.construct import drop_spare
from covertour.search.improve import FINAL, improve
from covertour.search.moves import exchange, lacks, serve
from covertour.search.parts import (
    LEFT,
    choose,
    clear,
    take_apart,
    tried_before,
)
from covertour.search.state import QUEUE, STOPS, Place
from covertour.search.ties import hold, holds

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
        most_added = MOST_ADDED * leg
        added, size, touched = assemble(s, tours, one, chosen, change, most_added, room)
        for index in range(chosen):
            room.taken[room.chosen[index]] = LEFT
        if added > most_added:
            continue
        load_tour(s, room.found, size)
        changed = True
        hold(s, room.ties)
        _queue_changed(s, room, touched, size)
        if (
            _mend(s, noise, length, length + HOPELESS * leg, room)
            and s.tour.length < enough
            and holds(s, room.ties)
        ):
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
    hold(s, room.ties)


@inner
def _queue_changed(s, room, touched, size):
    """Queue the stops at new legs, and note those that may be of no use."""
    for index in range(touched):
        stop = Place(room.touched[index])
        if s.at[stop].stop_at >= 0:
            touch(s, stop)
    for index in range(size):
        stop = Place(room.found[index])
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
        length += max(s.at[s.lists[STOPS, index]].leg, 0.0)  # but for legs that must stay
    s.tour.length = length
    return True
