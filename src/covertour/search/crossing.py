"""crossing: moves within and between the routes of a fleet, with what they exceed limits by.

As in improve.py a move joins a stop to ``near``, a stop of its granular neighbourhood. A segment of
up to three stops goes beside near, in the same route or another (SHIFT); a path within a route is
turned around (TURN); and two routes swap what lies behind the stop and from near on (TAILS), or
what lies behind the one with what lies before the other (HEADS):

    TAILS   start ... stop -x- after ...         start ... before -x- near ...
            start ... stop === near ...          start ... before === after ...

    HEADS   start ... stop -x- after ...         start ... near -x- beyond ...
            start ... stop === near ... start    start ... after === beyond ...

Turned paths are for symmetric distances only.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import inner
from covertour.search.changes import move, reverse, touch
from covertour.search.routes import penalty_of, refresh_route
from covertour.search.state import NEAR, NOWHERE, distance, stops_near

TINY = 1e-12
"""A move must gain more than this share of the tour, so that rounding errors cannot cycle."""

LONGEST_SEGMENT = 3

NO_MOVE, SHIFT_NEXT, SHIFT_PREV, TURN_NEXT, TURN_PREV, TAILS, HEADS = range(7)
"""Kinds of moves; NEXT puts the segment behind near, PREV before it."""


@inner
def _penalty(s, start):
    routes = s.goal.routes
    return penalty_of(s, routes.total[start], routes.load[start])


@inner
def _best_shift(s, stop, many, turns, best):
    """The best way to put a segment that begins at a stop beside one nearby.

    ``turns``: whether it may lie either way round. (gain, kind, near, stops, ahead, length).
    """
    at = s.at
    routes = s.goal.routes
    own = routes.route[stop]
    own_penalty = _penalty(s, own)
    best_kind = NO_MOVE
    best_near = NOWHERE
    best_stops = 0
    best_ahead = True
    best_length = 0.0
    if routes.is_start[stop] != 0:
        return best, best_kind, best_near, best_stops, best_ahead, best_length
    for side in range(2):
        ahead = side == 0
        last = stop
        for stops in range(1, LONGEST_SEGMENT + 1):
            if stops > 1:
                last = at[last].next if ahead else at[last].prev
                if routes.is_start[last] != 0:
                    break
            elif not ahead and turns:
                continue  # a single stop lies both ways round
            head = stop if ahead else last  # the segment as it lies on the ring
            tail = last if ahead else stop
            one = at[head].prev
            other = at[tail].next
            saved = at[one].leg + at[tail].leg - distance(s, one, other)
            inside = routes.so_far[tail] - routes.so_far[head]
            for index in range(many):
                near = s.lists[NEAR, index]
                if routes.route[near] == own:
                    rank = routes.rank[near]
                    if routes.rank[head] <= rank <= routes.rank[tail]:
                        continue
                far = distance(s, near, stop)
                there = routes.route[near]
                if turns or ahead:  # behind near, the stop beside it
                    follower = at[near].next
                    if near != one or (turns and stops > 1):
                        if near == one:
                            follower = other
                            added = far + distance(s, last, other) - distance(s, one, other)
                        elif follower == head:
                            added = np.inf
                        else:
                            added = far + distance(s, last, follower) - at[near].leg
                        if saved - added + own_penalty > best:
                            gain = (
                                saved - added - _shifted(s, own, there, stops, saved, added, inside)
                            )
                            if gain > best:
                                best = gain
                                best_kind = SHIFT_NEXT
                                best_near = near
                                best_stops = stops
                                best_ahead = ahead
                                best_length = saved - added
                if (turns or not ahead) and routes.is_start[near] == 0:  # before near
                    before = at[near].prev
                    if near != other and before != tail:
                        back = distance(s, stop, near)
                        added = distance(s, before, last) + back - at[before].leg
                        if saved - added + own_penalty > best:
                            gain = (
                                saved - added - _shifted(s, own, there, stops, saved, added, inside)
                            )
                            if gain > best:
                                best = gain
                                best_kind = SHIFT_PREV
                                best_near = near
                                best_stops = stops
                                best_ahead = ahead
                                best_length = saved - added
    return best, best_kind, best_near, best_stops, best_ahead, best_length


@inner
def _shifted(s, own, there, stops, saved, added, inside):
    """What two routes exceed their limits by more once stops went from the one to the other.

    The legs among them, ``inside``, go with them.
    """
    routes = s.goal.routes
    if own == there:
        total = routes.total[own]
        return penalty_of(s, total - saved + added, routes.load[own]) - _penalty(s, own)
    left = penalty_of(s, routes.total[own] - saved - inside, routes.load[own] - stops)
    total = routes.total[there] + added + inside
    grown = penalty_of(s, total, routes.load[there] + stops)
    return left + grown - _penalty(s, own) - _penalty(s, there)


@inner
def _swapped(s, own, there, length, stops, other_length, other_stops):
    """What two routes exceed their limits by more once they have such lengths and loads."""
    price = penalty_of(s, length, stops) + penalty_of(s, other_length, other_stops)
    return price - _penalty(s, own) - _penalty(s, there)


@inner
def _make_shift(s, stop, kind, near, stops, ahead):
    place = stop
    anchor = near if kind == SHIFT_NEXT else s.at[near].prev
    touch(s, s.at[near].next)
    touch(s, s.at[near].prev)
    touch(s, s.at[stop].prev)
    touch(s, s.at[stop].next)
    origin = s.goal.routes.route[stop]
    for _ in range(stops):
        following = s.at[place].next if ahead else s.at[place].prev
        if place == anchor:
            anchor = s.at[place].prev
        touch(s, place)
        move(s, place, anchor)
        if kind == SHIFT_NEXT:
            anchor = place
        place = following
    touch(s, place)
    refresh_route(s, origin)
    refresh_route(s, stop)


@inner
def _best_swap(s, stop, many, turns, best):
    """The best swap of the tails of two routes, or turn within one: (gain, kind, near, length)."""
    at = s.at
    routes = s.goal.routes
    own = routes.route[stop]
    own_penalty = _penalty(s, own)
    after = at[stop].next
    leg = at[stop].leg
    rank = routes.rank[stop]
    load = routes.load[own]
    to_end = routes.total[own] - routes.so_far[stop] - leg  # from the next stop on
    best_kind = NO_MOVE
    best_near = NOWHERE
    best_length = 0.0
    for index in range(many):
        near = s.lists[NEAR, index]
        there = routes.route[near]
        far = distance(s, stop, near)
        if there == own:
            if not turns:
                continue
            if routes.rank[near] > rank + 1:
                length = leg + at[near].leg - far - distance(s, after, at[near].next)
                kind = TURN_NEXT
            elif 0 < routes.rank[near] < rank - 1:
                before = at[stop].prev
                near_before = at[near].prev
                length = at[before].leg + at[near_before].leg
                length -= far + distance(s, before, near_before)
                kind = TURN_PREV
            else:
                continue
            if length > best:
                gain = length - _shifted(s, own, own, 0, length, 0.0, 0.0)
                if gain > best:
                    best, best_kind, best_near, best_length = gain, kind, near, length
            continue
        other_penalty = _penalty(s, there)
        if routes.is_start[near] == 0:
            before = at[near].prev
            joined = distance(s, before, after)
            length = leg + at[before].leg - far - joined
            if length + own_penalty + other_penalty > best:
                mine = routes.so_far[stop] + far + routes.total[there] - routes.so_far[near]
                theirs = routes.so_far[before] + joined + to_end
                mine_stops = rank + routes.load[there] - routes.rank[near] + 1
                all_stops = load + routes.load[there]
                gain = length - _swapped(
                    s, own, there, mine, mine_stops, theirs, all_stops - mine_stops
                )
                if gain > best:
                    best, best_kind, best_near, best_length = gain, TAILS, near, length
        if turns:
            beyond = at[near].next
            joined = distance(s, after, beyond)
            length = leg + at[near].leg - far - joined
            if length + own_penalty + other_penalty > best:
                mine = routes.so_far[stop] + far + routes.so_far[near]
                theirs = to_end + joined
                theirs += routes.total[there] - routes.so_far[near] - at[near].leg
                mine_stops = rank + routes.rank[near]
                all_stops = load + routes.load[there]
                gain = length - _swapped(
                    s, own, there, mine, mine_stops, theirs, all_stops - mine_stops
                )
                if gain > best:
                    best, best_kind, best_near, best_length = gain, HEADS, near, length
    return best, best_kind, best_near, best_length


@inner
def _make_swap(s, stop, kind, near):
    """Make a swap of two routes or a turn within one."""
    at = s.at
    routes = s.goal.routes
    own = routes.route[stop]
    there = routes.route[near]
    after = at[stop].next
    for end in (stop, after, near, at[near].prev, at[near].next, at[stop].prev):
        touch(s, end)
    if kind == TURN_NEXT:
        reverse(s, after, near)
    elif kind == TURN_PREV:
        reverse(s, near, at[stop].prev)
    elif kind == TAILS:
        mine = routes.load[own] - routes.rank[stop]
        theirs = routes.load[there] - routes.rank[near] + 1
        before = at[near].prev
        anchor = stop
        place = near
        for _ in range(theirs):
            following = at[place].next
            move(s, place, anchor)
            anchor = place
            place = following
        place = after
        anchor = before
        for _ in range(mine):
            following = at[place].next
            move(s, place, anchor)
            anchor = place
            place = following
    else:
        mine = routes.load[own] - routes.rank[stop]
        anchor = stop
        place = near
        for _ in range(routes.rank[near]):
            following = at[place].prev
            move(s, place, anchor)
            anchor = place
            place = following
        place = after
        for _ in range(mine):
            following = at[place].next
            move(s, place, there)
            place = following
    refresh_route(s, own)
    refresh_route(s, there)


@inner
def _improve(s, stop, turns):
    many = 0
    for index in range(stops_near(s, stop)):
        near = s.lists[NEAR, index]
        s.lists[NEAR, many] = near
        many += near != stop
    length = max(s.tour.length, s.goal.tally.tiny)  # rounding may take it below 0
    best = TINY * length * (1.0 + s.goal.routes.limits.price_length)
    gain, kind, near, stops, ahead, length = _best_shift(s, stop, many, turns, best)
    _, swap_kind, swap_near, swap_length = _best_swap(s, stop, many, turns, gain)
    if swap_kind != NO_MOVE:
        _make_swap(s, stop, swap_kind, swap_near)
        s.tour.length -= swap_length
        return True
    if kind == NO_MOVE:
        return False
    _make_shift(s, stop, kind, near, stops, ahead)
    s.tour.length -= length
    return True


def improve_symmetric_routes(s, stop):
    """Make the best move of one stop; False where there is none."""
    return _improve(s, stop, True)


def improve_directed_routes(s, stop):
    """The same where distances are asymmetric."""
    return _improve(s, stop, False)
