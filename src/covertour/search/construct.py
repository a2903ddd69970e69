"""construct: a first covering tour, greedily by cost per newly covered place, in near-linear time.

Uncovered places are taken along a space-filling curve, so that the next one always lies near stops
that are there already; each time the coverer with the least insertion cost per newly covered place
goes to its cheapest position nearby.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.metric import FloatArray, IntArray
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
from covertour.search.routes import penalty_change
from covertour.search.state import (
    FIRST_NEAR,
    FIXED,
    FORBIDDEN,
    NEAR,
    NOWHERE,
    QUEUE,
    SEEN,
    SPARE,
    STOPS,
    Place,
    State,
    distance,
    draw_below,
    draw_unit,
    for_both,
    is_directed,
    ring_of,
    stops_near,
)
from covertour.search.ties import NO_TIES, hold

MOST_COVERERS = 24
"""Of the coverers of a place at most this many, drawn at random, are compared."""

BLINKS, BLINKS_UP_TO = 0.05, 6
"""How often some of the legs of a short tour are overlooked when a stop is inserted (not in the
plain problem): there are tours that cheapest insertions do not lead to."""

PRUNED_SHARE = 4
"""Where a tour is cut back, one of so many of the stops that may go is dropped at a time."""

LOOKED_THROUGH = 64
"""Where places may be left out, all stops of a tour of up to this many may be dropped at any time;
of longer ones those where something changed."""


def _gain_plain(s, place):
    gain = 0
    for k in range(s.at[place].covers_from, s.at[place].covers_to):
        if s.served[s.who[k]].count == 0:
            gain += 1
    return gain


def _gain_with_goal(s, place):
    gain = 0.0
    for k in range(s.at[place].covers_from, s.at[place].covers_to):
        other = s.who[k]
        times = s.served[other].count
        if times <= 0:  # 1 - times stops are missing
            gain += s.goal.weight[other] / (1 - times)
    return min(gain, s.goal.tally.need - s.goal.tally.served)


gain_of = for_both(_gain_plain, _gain_with_goal)
"""How many uncovered places a place would cover; the weight that it would bring nearer to be
served, as far as it is needed."""


def _gather_legs(s, place):
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


_legs_in_blocks = inner(_gather_legs)


def _gather_legs_and_blanks(s, place):
    many = _legs_in_blocks(s, place)
    if s.blocks.shape[0] > 1:
        for index in range(len(s.goal.blanks)):
            blank = s.goal.blanks[index]
            many = _note_leg(s, many, blank)
            many = _note_leg(s, many, s.at[blank].prev)
    return many


def _gather_legs_and_a_route(s, place):
    """The same, and that of an empty route: places far from the depot may need one too."""
    many = _legs_in_blocks(s, place)
    if s.blocks.shape[0] > 1:
        routes = s.goal.routes
        limits = routes.limits
        for _ in range(len(routes.starts)):
            if routes.load[routes.starts[limits.empty]] == 0:
                return _note_leg(s, many, routes.starts[limits.empty])
            limits.empty = (limits.empty + 1) % len(routes.starts)
    return many


gather_legs = for_both(_gather_legs, _gather_legs_and_blanks, _gather_legs_and_a_route)


@inner
def _note_leg(s, many, stop):
    s.legs[many].stop = stop
    s.legs[many].next = s.at[stop].next
    s.legs[many].length = s.at[stop].leg
    return many + 1


def _cheapest_position(s, place, many):
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


def _cheapest_in_routes(s, place, many):
    """The same; the cost includes what a route then exceeds its limits by."""
    best = np.inf
    best_after = NOWHERE
    for index in range(many):
        stop = s.legs[index].stop
        there = distance(s, stop, place)
        cost = there + distance(s, place, s.legs[index].next) - s.legs[index].length
        if cost < best:
            cost += penalty_change(s, stop, cost, 1)
        if cost < best:
            best = cost
            best_after = stop
    return best_after, best


cheapest_position = for_both(_cheapest_position, _cheapest_position, _cheapest_in_routes)


def _cover_plain(s, place, noise, fallback):
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


def _cover_with_goal(s, place, noise, fallback):
    start = s.at[place].covered_from
    many = np.int64(s.at[place].covered_to - start)
    legs = gather_legs(s, place)
    if noise > 0.0 and 1 < legs <= BLINKS_UP_TO and draw_unit(s) < BLINKS:
        legs = 1 + draw_below(s, legs)
    best = np.inf
    best_stop = NOWHERE
    best_after = NOWHERE
    first = draw_below(s, many) if many > MOST_COVERERS else 0
    tried = 0
    for index in range(many):  # from somewhere on, as drawing might hit stops only
        at = index if many <= MOST_COVERERS else (first + index) % many
        coverer = Place(s.who[start + Place(at)])
        if s.at[coverer].stop_at >= 0:  # one of several that the place needs
            continue
        tried += 1
        if tried > MOST_COVERERS:
            break
        after, cost = cheapest_position(s, coverer, legs)
        if after == NOWHERE:
            after = fallback
            cost = distance(s, coverer, coverer)
            if fallback != NOWHERE:
                cost = insertion_cost(s, coverer, fallback)
        score = (cost + s.goal.tally.tiny) / gain_of(s, coverer)
        score *= 1.0 + noise * (2.0 * draw_unit(s) - 1.0)
        if score < best or best_stop == NOWHERE:
            best = score
            best_stop = coverer
            best_after = after
    if best > s.goal.tally.price and real_stops(s) > 0:
        return NOWHERE
    insert(s, best_stop, best_after)
    touch(s, best_stop)
    touch_neighbours(s, best_stop)
    return best_stop


cover_place = for_both(_cover_plain, _cover_with_goal)


@inner
def real_stops(s):
    """How many stops there are beside the blanks."""
    return s.tour.size - len(s.goal.blanks)


def _is_redundant_plain(s, stop):
    return (
        s.at[stop].stop_at >= 0
        and s.at[stop].unique == 0
        and s.at[stop].role != FIXED
        and s.tour.size > 1
    )


@inner
def shortage(s, lost):
    """What is missing, in terms of length, where so much less is served than now."""
    missing = s.goal.tally.need - s.goal.tally.served + lost
    return missing * s.goal.tally.price if missing > 0.0 else 0.0


def _is_redundant_with_goal(s, stop):
    return (
        s.at[stop].stop_at >= 0
        and s.goal.unique[stop] <= s.goal.tally.served - s.goal.tally.need
        and s.at[stop].role != FIXED
        and real_stops(s) > 1
    )


is_redundant = for_both(_is_redundant_plain, _is_redundant_with_goal)
"""Whether a place is a stop that no rule and no other place needs."""


def _drop_plain(s):
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


_drop_unneeded = inner(_drop_plain)


def _drop_with_goal(s):
    """The same; where places may be left out, also stops that save more than they are worth."""
    if s.goal.tally.partial == 0:
        _drop_unneeded(s)
        return
    while real_stops(s) > 1:
        best = -1e-300
        best_stop = NOWHERE
        few = s.tour.size <= LOOKED_THROUGH
        now = shortage(s, 0.0)
        for index in range(s.tour.size if few else s.tour.queue):
            stop = s.lists[STOPS, index] if few else s.lists[QUEUE, index]
            if s.at[stop].role == FIXED or s.at[stop].stop_at < 0:
                continue
            saved = saving(s, stop)
            gain = saved + now - shortage(s, s.goal.unique[stop])
            gain -= penalty_change(s, stop, -saved, -1)
            if gain > best:
                best = gain
                best_stop = stop
        if best_stop == NOWHERE:
            break
        touch_neighbours(s, best_stop)
        remove(s, best_stop)


drop_spare = for_both(_drop_plain, _drop_with_goal)


@entry
def construct(s, start, must_visit, serving, ties, go_on):
    """A tour that serves all in ``serving``; see ``complete``; by the numbers of the state.

    ties: int64[k, 2], stops of ``start`` whose legs must stay, see ties.py. To go
    on is to improve the tour that there is where stops of it are queued, and nothing else.
    """
    if go_on:
        improve(s, FINAL)
        return
    labelled = s.tour.labelled
    s.tour.labelled = 0
    load_tour(s, start, len(start))
    hold(s, ties)
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
        while s.served[place].count <= 0:
            last = cover_place(s, place, 0.0, last)
            s.tour.log = 0
    for index in range(s.tour.size - 1, -1, -1):
        stop = s.lists[STOPS, index]
        if is_redundant(s, stop) and saving(s, stop) >= 0.0:
            remove(s, stop)
            s.tour.log = 0
    clear_spare(s)
    s.tour.labelled = labelled
    if labelled == 1:
        relabel(s, s.lists[STOPS, 0])
    for index in range(s.tour.size):
        touch(s, s.lists[STOPS, index])
    improve(s, FINAL)


@entry
def prune(s, stops, enough):
    """Drop stops in this order, int64[m], until the tour is no longer than ``enough``.

    Passes over stops that are needed, and those beside which one was dropped. How many it dropped.
    """
    stamp = s.goal.tally.stamp + 1
    s.goal.tally.stamp = stamp
    dropped = 0
    for number in stops:
        stop = Place(number)
        if s.tour.length <= enough:
            break
        if s.goal.stamped[stop] != stamp and is_redundant(s, stop):
            s.goal.stamped[s.at[stop].prev] = stamp
            s.goal.stamped[s.at[stop].next] = stamp
            touch_neighbours(s, stop)
            remove(s, stop)
            s.tour.log = 0
            dropped += 1
    clear_spare(s)
    return dropped


def complete(s: State, start: IntArray, must_visit: IntArray, serving: IntArray) -> None:
    """Complete a tour so that it covers everything, and improve it.

    All by the instance's numbers, int64. ``start``: distinct allowed places in tour order, may be
    empty; ``must_visit``: places that must be stops; ``serving``: all places, in the order in which
    uncovered ones are served. Where places may be left out, only as much is served as must be.
    """
    if s.goal is None:
        construct(s, s.number[start], s.number[must_visit], s.number[serving], NO_TIES, False)
    else:
        _complete_with_goal(s, ring_of(s, start), s.number[must_visit], s.number[serving])


def _complete_with_goal(s: State, ring: IntArray, must: IntArray, serving: IntArray) -> None:
    """The same by the state's numbers; a tour of all is made, and stops are dropped from it."""
    serve_all(s, ring, must, serving)
    assert s.goal is not None
    if s.goal.tally["partial"]:
        cut_back(s)


def serve_all(s: State, ring: IntArray, must: IntArray, serving: IntArray) -> None:
    """Complete a ring so that it serves all; by the state's numbers, see ``complete``."""
    assert s.goal is not None
    goal, tally = s.goal, s.goal.tally
    blanks = len(goal.blanks)
    if len(ring) == blanks and len(must) == 0 and s.tour["uncovered"] == 0:
        allowed = np.flatnonzero(s.at["role"][: tally["blank"]] != FORBIDDEN)
        cheapest = allowed[np.argmin(goal.visit[allowed])]
        ring = np.concatenate([[cheapest], ring]).astype(np.int64)
    before = float(tally["need"]), float(tally["price"])
    tally["need"], tally["price"] = float(tally["total"]), np.inf
    construct(s, ring, must, serving, NO_TIES, False)
    tally["need"], tally["price"] = before


def cut_back(s: State, favour: FloatArray | None = None) -> None:
    """Drop stops as long as enough is served, or until the budget is kept; improve what is left.

    ``favour``: float64[N], by how much stops are worth more than they are.
    """
    assert s.goal is not None
    tally = s.goal.tally
    enough = float(tally["limit"]) if np.isfinite(tally["limit"]) else -np.inf
    while True:
        spare = _stops_by_worth(s, favour)
        if len(spare) == 0 or prune(s, spare[: 1 + len(spare) // PRUNED_SHARE], enough) == 0:
            break
    none = np.empty(0, dtype=np.int64)
    construct(s, none, none, none, NO_TIES, True)


def _stops_by_worth(s: State, favour: FloatArray | None) -> IntArray:
    """The stops that may be dropped, int64[m], first those that save most for what they serve."""
    at, goal = s.at, s.goal
    assert goal is not None
    stops = s.lists[STOPS, : s.tour["size"]].astype(np.int64)
    if len(stops) <= len(goal.blanks) + 1:
        return np.empty(0, dtype=np.int64)
    slack = goal.tally["served"] - goal.tally["need"]
    stops = stops[(at["role"][stops] != FIXED) & (goal.unique[stops] <= slack)]
    before = at["prev"][stops].astype(np.int64)
    after = at["next"][stops].astype(np.int64)
    direct = np.empty(len(stops))
    measure(s, before, after, direct)
    saved = at["leg"][before] + at["leg"][stops] - direct
    worth = goal.unique[stops] / np.maximum(saved, float(goal.tally["tiny"]))
    if favour is not None:
        worth *= favour[stops]
    keep = saved >= 0.0
    return stops[keep][np.argsort(worth[keep], kind="stable")]


@entry
def measure(s, start, end, between):
    """Write the distances between pairs of places to ``between``."""
    for index in range(len(start)):
        between[index] = distance(s, Place(start[index]), Place(end[index]))
