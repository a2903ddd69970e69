"""construct: a first covering tour, greedily by cost per newly covered place, in near-linear time.

Uncovered places are taken along a space-filling curve, so that the next one always lies near stops
that are there already; each time the coverer with the least insertion cost per newly covered place
goes to its cheapest position nearby.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.metric import IntArray
from covertour.search.changes import (
    clear_spare,
    insert,
    insertion_cost,
    load_tour,
    relabel,
    remove,
    saving,
    touch,
    touch_neighbours,
)
from covertour.search.improve import FINAL, improve
from covertour.search.state import (
    FIRST_NEAR,
    FIXED,
    NEAR,
    NOWHERE,
    SEEN,
    SPARE,
    STOPS,
    Place,
    State,
    distance,
    draw_below,
    draw_unit,
    is_directed,
    stops_near,
)

MOST_COVERERS = 24
"""Of the coverers of a place at most this many, drawn at random, are compared."""


@inner
def gain_of(s, place):
    """How many uncovered places a place would cover."""
    gain = 0
    for k in range(s.at[place].covers_from, s.at[place].covers_to):
        if s.served[s.who[k]].count == 0:
            gain += 1
    return gain


@inner
def gather_legs(s, place):
    """Write the legs that begin or end near a place to ``s.legs``; how many there are."""
    many = np.int64(0)
    if s.blocks.shape[0] == 1:  # the whole tour is near
        for index in range(s.tour.size):
            many = _note_leg(s, many, s.lists[STOPS, index])
        return many
    s.tour.looks += 1
    look = Place(s.tour.looks)
    block = s.at[place].block
    for w in range(FIRST_NEAR, s.blocks.shape[1]):
        s.blocks[s.blocks[block, w], SEEN] = look
    for index in range(stops_near(s, place)):
        stop = s.lists[NEAR, index]
        many = _note_leg(s, many, stop)
        before = s.at[stop].prev
        if s.blocks[s.at[before].block, SEEN] != look:  # else that leg is noted anyway
            many = _note_leg(s, many, before)
    return many


@inner
def _note_leg(s, many, stop):
    s.legs[many].stop = stop
    s.legs[many].next = s.at[stop].next
    s.legs[many].length = s.at[stop].leg
    return many + 1


@inner
def cheapest_position(s, place, many):
    """The stop behind which inserting a place costs least, and that cost.

    Looks at the first ``many`` legs in ``s.legs``; (NOWHERE, inf) where there are none.
    """
    best = np.inf
    best_after = NOWHERE
    for index in range(many):
        stop = s.legs[index].stop
        there = distance(s, stop, place) if is_directed(s) else distance(s, place, stop)
        cost = there + distance(s, place, s.legs[index].next) - s.legs[index].length
        if cost < best:
            best = cost
            best_after = stop
    return best_after, best


@inner
def cover_place(s, place, noise, fallback):
    """Insert the coverer of an uncovered place with the least cost per newly covered place.

    The scores are blurred by random factors in 1 ± ``noise``. Where no stop is nearby the coverer
    goes behind ``fallback`` (NOWHERE: an empty tour). Returns the new stop.
    """
    start = s.at[place].covered_from
    many = np.int64(s.at[place].covered_to - start)
    legs = gather_legs(s, place)  # its coverers are near
    best = np.inf
    best_stop = NOWHERE
    best_after = NOWHERE
    tries = min(many, MOST_COVERERS)
    for t in range(tries):
        at = t if many <= MOST_COVERERS else draw_below(s, many)
        coverer = Place(s.who[start + Place(at)])
        after, cost = cheapest_position(s, coverer, legs)
        if after == NOWHERE:
            after = fallback
            cost = 0.0
            if fallback != NOWHERE:
                cost = insertion_cost(s, coverer, fallback)
        score = cost / gain_of(s, coverer)
        score *= 1.0 + noise * (2.0 * draw_unit(s) - 1.0)
        if score < best:
            best = score
            best_stop = coverer
            best_after = after
    insert(s, best_stop, best_after)
    touch(s, best_stop)
    touch_neighbours(s, best_stop)
    return best_stop


@inner
def is_redundant(s, stop):
    """Whether a place is a stop that no rule and no other place needs."""
    return (
        s.at[stop].stop_at >= 0
        and s.at[stop].unique == 0
        and s.at[stop].role != FIXED
        and s.tour.size > 1
    )


@inner
def drop_spare(s):
    """Drop stops that nothing needs, the one that saves most first; never lengthens the tour."""
    while True:
        best = 0.0
        best_stop = NOWHERE
        kept = 0
        for at in range(s.tour.spare):
            stop = s.lists[SPARE, at]
            if not is_redundant(s, stop):
                s.at[stop].spared = 0
                continue
            s.lists[SPARE, kept] = stop
            kept += 1
            saved = saving(s, stop)
            if saved > best or (saved == best and best_stop == NOWHERE):
                best = saved
                best_stop = stop
        s.tour.spare = kept
        if best_stop == NOWHERE:
            return
        touch_neighbours(s, best_stop)
        remove(s, best_stop)


@entry
def construct(s, start, must_visit, serving):
    """See ``complete``; by the numbers of the state."""
    s.tour.labelled = 0
    load_tour(s, start, len(start))
    last = s.lists[STOPS, 0] if len(start) else NOWHERE
    for number in must_visit:
        place = Place(number)
        if s.at[place].stop_at < 0:
            after, _ = cheapest_position(s, place, gather_legs(s, place))
            insert(s, place, after if after != NOWHERE else last)
            s.tour.log = 0
            last = place
    for number in serving:
        place = Place(number)
        if s.served[place].count == 0:
            last = cover_place(s, place, 0.0, last)
            s.tour.log = 0
    for index in range(s.tour.size - 1, -1, -1):
        stop = s.lists[STOPS, index]
        if is_redundant(s, stop) and saving(s, stop) >= 0.0:
            remove(s, stop)
            s.tour.log = 0
    clear_spare(s)
    s.tour.labelled = 1
    relabel(s, s.lists[STOPS, 0])
    for index in range(s.tour.size):
        touch(s, s.lists[STOPS, index])
    improve(s, FINAL)


def complete(s: State, start: IntArray, must_visit: IntArray, serving: IntArray) -> None:
    """Complete a tour so that it covers everything, and improve it.

    All by the instance's numbers, int64. ``start``: distinct allowed places in tour order, may be
    empty; ``must_visit``: places that must be stops; ``serving``: all places, in the order in which
    uncovered ones are served.
    """
    construct(s, s.number[start], s.number[must_visit], s.number[serving])
