"""rejoin: the regions of a tour put back together, and rings that came of it made one tour.

Put back together every stop has two neighbours again, but there may be several rings: two regions
may each have joined their ends in a way that only fits the old way of the other. Such rings are
joined where that costs least.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.metric import IntArray
from covertour.search.regions import NOBODY, Division, Improved
from covertour.search.state import FIRST_STOP, NEAR, NOWHERE, Place, State, distance, stops_near


def put_back(
    s: State, tour: IntArray, division: Division, improved: Sequence[Improved | None]
) -> IntArray:
    """The tour, int64[t], with the stops of the regions that were improved, None for others."""
    d = division
    n = len(d.region)
    beside, tied = (np.full((n, 2), NOBODY, dtype=np.int64) for _ in range(2))
    link_across(tour, d.region, beside)
    for which, done in enumerate(improved):
        first, end = d.stops_begin[which], d.stops_begin[which + 1]
        old, stays = d.stops[first:end], d.stays[first:end]
        new = old[:0]
        if done is not None and min(len(old), len(done.stops)) >= 3:
            new = d.places[d.begin[which] + done.stops]  # an array of its own, whoever sent it
        link_inside(old, stays, new, tied, beside)
    stops = np.flatnonzero(beside[:, 0] != NOBODY)
    ring = np.full(n, NOBODY, dtype=np.int32)
    number_rings(stops, beside, ring)
    numbers = ring[stops]
    smallest_first = np.argsort(np.bincount(numbers), kind="stable")[:-1]
    firsts = stops[np.unique(numbers, return_index=True)[1]]
    join_rings(s, stops, beside, ring, smallest_first, firsts)
    found = np.empty(len(stops), dtype=np.int64)
    found[0] = stops[0]
    follow(beside, found)
    return found


@inner
def _link(beside, a, b):
    """Make two stops neighbours."""
    for stop, other in ((a, b), (b, a)):
        slot = 0 if beside[stop, 0] == NOBODY else 1
        beside[stop, slot] = other


@entry
def link_across(tour, region, beside):
    """Keep the legs of the tour between regions; beside: int64[n, 2], the neighbours of a stop."""
    for index in range(len(tour)):
        a = tour[index]
        b = tour[(index + 1) % len(tour)]
        if region[a] != region[b]:
            _link(beside, a, b)


@entry
def link_inside(old, stays, new, tied, beside):
    """Add the legs of a region's ring, but for those that stand for the way outside.

    old, stays: the ring before; new: int64[t], the ring now, empty where it is the same; tied:
    int64[n, 2], room, NOBODY all over.
    """
    for index in range(len(old)):
        a = old[index]
        b = old[(index + 1) % len(old)]
        if stays[index]:
            _link(tied, a, b)
        elif len(new) == 0:
            _link(beside, a, b)
    for index in range(len(new)):
        a = new[index]
        b = new[(index + 1) % len(new)]
        if tied[a, 0] != b and tied[a, 1] != b:
            _link(beside, a, b)


@inner
def _step(beside, before, stop):
    """The neighbour of a stop that one has not come from."""
    return beside[stop, 0] if beside[stop, 0] != before else beside[stop, 1]


@entry
def number_rings(stops, beside, ring):
    """Number the rings from 0 on; ring: int32[n], NOBODY all over."""
    many = 0
    for index in range(len(stops)):
        first = stops[index]
        if ring[first] != NOBODY:
            continue
        _renumber(beside, ring, first, many)
        many += 1


@inner
def _renumber(beside, ring, first, number):
    """Give a number to the ring of a stop."""
    ring[first] = number
    before = first
    stop = beside[first, 0]
    while stop != first:
        ring[stop] = number
        following = _step(beside, before, stop)
        before = stop
        stop = following


@entry
def follow(beside, found):
    """Write the ring of the stop in found[0] to ``found``, int64[t]."""
    before = found[0]
    stop = beside[before, 0]
    for index in range(1, len(found)):
        found[index] = stop
        following = _step(beside, before, stop)
        before = stop
        stop = following


@entry
def join_rings(s, stops, beside, ring, smallest_first, firsts):
    """Join rings to others nearby by swapping two legs, each where that costs least.

    smallest_first: int64[r - 1], all rings but the largest; firsts: int64[r], a stop of each.
    """
    for index in range(len(s.blocks)):
        s.blocks[index, FIRST_STOP] = NOWHERE
    for index in range(len(stops)):
        stop = Place(stops[index])
        block = s.at[stop].block
        s.at[stop].in_next = s.blocks[block, FIRST_STOP]
        s.blocks[block, FIRST_STOP] = stop
    for number in smallest_first:
        first = firsts[number]
        best = np.inf
        legs = (first, first, first, first)
        stop = first
        before = beside[first, 1]
        while True:
            for index in range(stops_near(s, Place(stop))):
                near = np.int64(s.lists[NEAR, index])
                if ring[near] != number:
                    best, legs = _cheaper(s, beside, stop, near, best, legs)
            following = _step(beside, before, stop)
            before = stop
            stop = following
            if stop == first:
                break
        if best == np.inf:  # far from all others
            for index in range(len(stops)):
                if ring[stops[index]] != number:
                    best, legs = _cheaper(s, beside, first, stops[index], best, legs)
        a, a_beside, b, b_beside = legs
        _renumber(beside, ring, first, ring[b])
        _swap(beside, a, a_beside, b)
        _swap(beside, a_beside, a, b_beside)
        _swap(beside, b, b_beside, a)
        _swap(beside, b_beside, b, a_beside)


@inner
def _cheaper(s, beside, a, b, best, legs):
    """The cheapest way so far to join two rings, with a beside b if that is cheaper."""
    joined = distance(s, Place(a), Place(b))
    for i in range(2):
        x = beside[a, i]
        for j in range(2):
            y = beside[b, j]
            cost = joined + distance(s, Place(x), Place(y))
            cost -= distance(s, Place(a), Place(x)) + distance(s, Place(b), Place(y))
            if cost < best:
                best = cost
                legs = (a, x, b, y)
    return best, legs


@inner
def _swap(beside, stop, old, new):
    """Replace a neighbour of a stop."""
    slot = 0 if beside[stop, 0] == old else 1
    beside[stop, slot] = new


@entry
def tour_length(s, tour):
    """The length of a tour, int64[t]."""
    length = 0.0
    for index in range(len(tour)):
        length += distance(s, Place(tour[index]), Place(tour[(index + 1) % len(tour)]))
    return length
