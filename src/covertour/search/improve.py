"""improve: 2-opt and Or-opt around the queued stops, until none of them finds a shorter tour.

A move joins a queued stop to ``near``, a stop of its granular neighbourhood (Toth and Vigo 2003):
the stops in the blocks around it. Below, ``-x-`` is a leg that a move takes away, ``===`` one that
it adds, and ``...`` a path.

2-opt joins the two stops, and their followers or predecessors; the path between is turned around:

    JOIN_NEXT   ... stop -x- after ... near  -x- near_after ...
                ... stop === near  ... after === near_after ...

    JOIN_PREV   ... near_before -x- near   ... before -x- stop ...
                ... near_before === before ... near   === stop ...

Or-opt takes out a segment [stop..last] of up to three stops, which lies ahead of the stop or behind
it, joins what was on both sides of it, and puts it beside near:

                ... one -x- [stop..last] -x- other ...
                ... one ======================= other ...

    SHIFT_NEXT  ... near -x- near_after ...
                ... near === [stop..last] === near_after ...

    SHIFT_PREV  ... near_before -x- near ...
                ... near_before === [last..stop] === near ...

The best move of a stop is made, and the stops that it touches are queued again. Where distances are
asymmetric, segments keep their direction and a turned path is priced stop by stop, so only short
ones are tried.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from covertour.kernel import INNER, inner
from covertour.search.changes import clear_queue, move, path_size, reverse, touch
from covertour.search.crossing import improve_directed_routes, improve_symmetric_routes
from covertour.search.state import (
    LOG_SIZE,
    NEAR,
    NOWHERE,
    QUEUE,
    STOPS,
    axes,
    distance,
    has_routes,
    is_directed,
    stops_near,
)

LONGEST_REVERSAL = 1_000
"""2-opt moves that would reverse more stops than this are passed over."""

LONGEST_PRICED = 50
"""The same where every stop of the path must be priced."""

LONGEST_SEGMENT = 3
"""Or-opt moves up to this many stops at a time."""

TINY = 1e-12
"""A move must gain more than this share of the tour, so that rounding errors cannot cycle."""

LOG_RESERVE = 64
"""Log entries that must be left to begin a move."""

UNDOABLE, FINAL = np.bool_(True), np.bool_(False)

NO_MOVE, JOIN_NEXT, JOIN_PREV, SHIFT_NEXT, SHIFT_PREV = (np.int64(kind) for kind in range(5))
"""Kinds of moves, as drawn above."""

AHEAD, BEHIND = np.bool_(True), np.bool_(False)


class Move(NamedTuple):
    """A move of a stop: its kind, the stop that it is joined to, and what that gains.

    A shift moves ``length`` stops, those AHEAD of the stop (``ahead``) or BEHIND it.
    """

    kind: Any
    near: Any
    length: Any
    ahead: Any
    gain: Any


@inner
def improve(s, undoable):
    """Work through the queue; returns with an empty queue and a tour that is never longer.

    The log of an UNDOABLE improvement is kept, and ends it when it is full.
    """
    while s.tour.queue > 0:
        s.tour.queue -= 1
        stop = s.lists[QUEUE, s.tour.queue]
        s.at[stop].queued = 0
        if s.at[stop].stop_at < 0:
            continue
        better = True
        while better:
            if not undoable:
                s.tour.log = 0
            elif s.tour.log > LOG_SIZE - LOG_RESERVE:
                clear_queue(s)
                return
            better = improve_stop(s, stop)


def improve_stop(s, stop):
    """Make the best move of one stop; False where there is none."""
    return IMPROVERS[is_directed(s)](s, stop)


@overload(improve_stop, jit_options=INNER)
def _improve_stop(s, stop):
    if has_routes(s):
        return improve_directed_routes if axes(s) == 3 else improve_symmetric_routes
    return IMPROVERS[axes(s) == 3]  # a kernel is compiled with the one that it needs


# --- Symmetric distances --------------------------------------------------------------------------


def _improve_symmetric(s, stop):
    if s.tour.size < 5:
        return False
    best = _best_move(s, stop)
    if best.kind == NO_MOVE:
        return False
    return _make_move(s, stop, best)


@inner(inlined=True)
def _best_move(s, stop):
    """The move of a stop that gains most."""
    at = s.at
    after = at[stop].next
    before = at[stop].prev
    to_after = at[stop].leg
    to_before = at[before].leg
    # The segments from stop to last: alone, with one or two stops ahead, with one or two behind.
    ahead_2 = at[after].next
    behind_2 = at[before].prev
    lasts = (stop, after, ahead_2, before, behind_2)
    ahead_3 = at[ahead_2].next
    behind_3 = at[behind_2].prev
    # A leg below 0 must stay, so the segments that it lies in are not to be moved.
    stay_ahead = min(to_after, 0.0)
    stay_behind = min(to_before, 0.0)
    savings = (  # of taking each of them out
        to_before + to_after - distance(s, before, after),
        to_before + at[after].leg - distance(s, before, ahead_2) + stay_ahead,
        to_before
        + at[ahead_2].leg
        - distance(s, before, ahead_3)
        + (stay_ahead + min(at[after].leg, 0.0)),
        to_after + at[behind_2].leg - distance(s, after, behind_2) + stay_behind,
        to_after
        + at[behind_3].leg
        - distance(s, after, behind_3)
        + (stay_behind + min(at[behind_2].leg, 0.0)),
    )
    most = max(max(savings[0], max(savings[1], savings[2])), max(savings[3], savings[4]))
    most = max(most, max(to_after, to_before))  # joining stops that are farther gains nothing
    kept = 0  # the near enough ones of those nearby, without branches again
    for index in range(stops_near(s, stop)):
        near = s.lists[NEAR, index]
        s.lists[NEAR, kept] = near
        kept += (distance(s, stop, near) < most) & (near != stop)
    best = TINY * max(s.tour.length, 0.0)  # rounding may take it below
    best_kind = NO_MOVE
    best_near = NOWHERE
    best_segment = np.int64(0)
    for index in range(kept):
        near = s.lists[NEAR, index]
        far = distance(s, stop, near)
        near_after = at[near].next
        near_before = at[near].prev
        leg_after = at[near].leg
        leg_before = at[near_before].leg
        if far < to_after:
            gain = to_after + leg_after - far - distance(s, after, near_after)
            if gain > best:
                best, best_kind, best_near = gain, JOIN_NEXT, near
        if far < to_before:
            gain = to_before + leg_before - far - distance(s, before, near_before)
            if gain > best:
                best, best_kind, best_near = gain, JOIN_PREV, near
        for segment in range(5):
            spare = savings[segment] - far
            if spare + max(leg_after, leg_before) <= best:
                continue
            last = lasts[segment]
            if (near == after and (segment == 1 or segment == 2)) or (
                near == before and segment > 2
            ):
                continue  # near is in the segment
            if near == last:
                continue
            if near_after != stop and near_after != last:
                gain = spare + leg_after - distance(s, last, near_after)
                if gain > best:
                    best, best_kind, best_near = gain, SHIFT_NEXT, near
                    best_segment = segment
            if near_before != stop and near_before != last:
                gain = spare + leg_before - distance(s, last, near_before)
                if gain > best:
                    best, best_kind, best_near = gain, SHIFT_PREV, near
                    best_segment = segment
    ahead = best_segment < 3
    length = best_segment + 1 if ahead else best_segment - 1
    return Move(best_kind, best_near, length, ahead, best)


@inner(inlined=True)
def _make_move(s, stop, best):
    """Make a move; False where it would reverse too long a path."""
    at = s.at
    near = best.near
    after = at[stop].next
    before = at[stop].prev
    near_after = at[near].next
    near_before = at[near].prev
    if best.kind == SHIFT_NEXT or best.kind == SHIFT_PREV:
        _shift(s, stop, near, best.length, best.ahead, best.kind == SHIFT_NEXT)
    else:
        first, last = after, near
        if best.kind == JOIN_PREV:
            first, last = stop, near_before
        inside = path_size(s, first, last)
        if inside > 0.5 * s.tour.size:  # the rest of the tour is the shorter path to reverse
            first, last = at[last].next, at[first].prev
            inside = s.tour.size - inside
        if inside > LONGEST_REVERSAL:
            return False
        reverse(s, first, last)
    touch(s, after)
    touch(s, before)
    touch(s, near)
    touch(s, near_after)
    touch(s, near_before)
    s.tour.length -= best.gain
    return True


@inner
def _shift(s, stop, near, length, ahead, behind_near):
    """Move a segment of some stops, from ``stop`` on, between near and its neighbour.

    ``stop`` becomes near's neighbour; ``behind_near`` says on which side of it.
    """
    place = stop
    anchor = near if behind_near else s.at[near].prev
    for _ in range(length):
        following = s.at[place].next if ahead else s.at[place].prev
        touch(s, place)
        move(s, place, anchor)
        if behind_near:
            anchor = place
        place = following
    touch(s, place)


# --- Asymmetric distances -------------------------------------------------------------------------


def _improve_directed(s, stop):
    if s.tour.size < 3:
        return False
    best = _best_shift(s, stop)
    best = _better_turn(s, stop, best)
    if best.kind == NO_MOVE:
        return False
    _make_directed_move(s, stop, best)
    return True


@inner
def _best_shift(s, stop):
    """Or-opt: the segment from a stop on and the place for it that gain most."""
    size = s.tour.size
    before = s.at[stop].prev
    from_before = distance(s, before, stop)
    best = TINY * max(s.tour.length, 0.0)  # rounding may take it below
    best_kind = NO_MOVE
    best_near = NOWHERE
    best_length = np.int64(0)
    last = stop
    second = stop
    for length in range(1, min(LONGEST_SEGMENT, size - 2) + 1):
        if length > 1:
            last = s.at[last].next
        if length == 2:
            second = last
        beyond = s.at[last].next
        saved = from_before + distance(s, last, beyond) - distance(s, before, beyond)
        for at in range(size):
            near = s.lists[STOPS, at]
            follower = s.at[near].next
            if near == stop or near == second or near == last or near == before:
                continue
            gain = (
                saved
                - distance(s, near, stop)
                - distance(s, last, follower)
                + distance(s, near, follower)
            )
            if gain > best:
                best, best_kind, best_near, best_length = gain, SHIFT_NEXT, near, length
    return Move(best_kind, best_near, best_length, AHEAD, best)


@inner
def _better_turn(s, stop, best):
    """2-opt: the path from the next stop on that gains most when turned, if more than ``best``."""
    after = s.at[stop].next
    to_after = distance(s, stop, after)
    there = 0.0
    back = 0.0
    near = after
    for _ in range(min(LONGEST_PRICED, s.tour.size - 2)):
        follower = s.at[near].next
        there += distance(s, near, follower)
        back += distance(s, follower, near)
        near = follower
        follower = s.at[near].next
        gain = (
            to_after
            + there
            + distance(s, near, follower)
            - distance(s, stop, near)
            - back
            - distance(s, after, follower)
        )
        if gain > best.gain:
            best = Move(JOIN_NEXT, near, np.int64(0), AHEAD, gain)
    return best


@inner
def _make_directed_move(s, stop, best):
    """Make a move that keeps the direction of segments and turns short paths."""
    after = s.at[stop].next
    touch(s, s.at[stop].prev)
    touch(s, after)
    touch(s, best.near)
    touch(s, s.at[best.near].next)
    if best.kind == JOIN_NEXT:
        reverse(s, after, best.near)
    else:
        _shift(s, stop, best.near, best.length, AHEAD, AHEAD)
    s.tour.length -= best.gain


IMPROVERS = {False: _improve_symmetric, True: _improve_directed}
"""By whether distances are asymmetric."""
