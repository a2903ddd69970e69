"""improve: 2-opt and Or-opt around the queued stops, until none of them finds a shorter tour.

Stops nearby come from the blocks of the problem; the stops that a move touches are queued again.
Where distances are asymmetric, segments keep their direction and a reversed path is priced stop by
stop, so only short ones are tried.
"""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from covertour.kernel import INNER, inner
from covertour.search.changes import clear_queue, move, path_size, reverse, touch
from covertour.search.state import (
    LOG_SIZE,
    NEAR,
    NOWHERE,
    QUEUE,
    STOPS,
    axes,
    distance,
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

NONE, TURN_AHEAD, TURN_BEHIND, SHIFT_AHEAD, SHIFT_BEHIND = (np.int64(kind) for kind in range(5))
"""Kinds of moves: 2-opt joins two stops and their followers, or their predecessors; Or-opt shifts a
segment behind a stop or before it."""


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
    return IMPROVERS[axes(s) == 3]  # a kernel is compiled with the one that it needs


def _improve_symmetric(s, stop):
    """2-opt or Or-opt."""
    size = s.tour.size
    if size < 5:
        return False
    at = s.at
    after = at[stop].next
    before = at[stop].prev
    to_after = at[stop].leg
    to_before = at[before].leg
    # Or-opt moves segments from stop to last: alone, or with one or two stops ahead or behind.
    ahead_1 = after
    ahead_2 = at[after].next
    behind_1 = before
    behind_2 = at[before].prev
    lasts = (stop, ahead_1, ahead_2, behind_1, behind_2)
    beyond_ahead = at[ahead_2].next
    beyond_behind = at[behind_2].prev
    gaps = (
        to_before + to_after - distance(s, before, after),
        to_before + at[ahead_1].leg - distance(s, before, ahead_2),
        to_before + at[ahead_2].leg - distance(s, before, beyond_ahead),
        to_after + at[behind_2].leg - distance(s, after, behind_2),
        to_after + at[beyond_behind].leg - distance(s, after, beyond_behind),
    )
    widest = max(max(gaps[0], max(gaps[1], gaps[2])), max(gaps[3], gaps[4]))
    widest = max(widest, max(to_after, to_before))  # nearer ones alone can gain anything
    best = TINY * s.tour.length
    move_kind = NONE
    best_near = NOWHERE
    best_segment = np.int64(0)
    kept = 0  # the near enough ones of those nearby, without branches again
    for index in range(stops_near(s, stop)):
        near = s.lists[NEAR, index]
        s.lists[NEAR, kept] = near
        kept += (distance(s, stop, near) < widest) & (near != stop)
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
                best, move_kind, best_near = gain, TURN_AHEAD, near
        if far < to_before:
            gain = to_before + leg_before - far - distance(s, before, near_before)
            if gain > best:
                best, move_kind, best_near = gain, TURN_BEHIND, near
        for segment in range(5):
            spare = gaps[segment] - far
            if spare + max(leg_after, leg_before) <= best:
                continue
            last = lasts[segment]
            if (near == ahead_1 and (segment == 1 or segment == 2)) or (
                near == behind_1 and segment > 2
            ):
                continue
            if near == last:
                continue
            if near_after != stop and near_after != last:
                gain = spare + leg_after - distance(s, last, near_after)
                if gain > best:
                    best, move_kind, best_near = gain, SHIFT_AHEAD, near
                    best_segment = segment
            if near_before != stop and near_before != last:
                gain = spare + leg_before - distance(s, last, near_before)
                if gain > best:
                    best, move_kind, best_near = gain, SHIFT_BEHIND, near
                    best_segment = segment
    if best_near == NOWHERE:
        return False
    near_after = at[best_near].next
    near_before = at[best_near].prev
    if move_kind == SHIFT_AHEAD or move_kind == SHIFT_BEHIND:
        length = best_segment + 1 if best_segment < 3 else best_segment - 1
        _move_segment(s, stop, best_near, length, best_segment < 3, move_kind == SHIFT_AHEAD)
    else:
        first, last = after, best_near
        if move_kind == TURN_BEHIND:
            first, last = stop, near_before
        inside = path_size(s, first, last)
        if inside > 0.5 * size:
            first, last = at[last].next, at[first].prev
            inside = size - inside
        if inside > LONGEST_REVERSAL:
            return False
        reverse(s, first, last)
    touch(s, after)
    touch(s, before)
    touch(s, best_near)
    touch(s, near_after)
    touch(s, near_before)
    s.tour.length -= best
    return True


@inner
def _move_segment(s, stop, near, length, forward, ahead):
    """Move the segment of some stops from ``stop`` on between near and its neighbour.

    ``stop`` becomes near's neighbour; ``ahead`` says whether the segment comes behind near.
    """
    place = stop
    anchor = near if ahead else s.at[near].prev
    for _ in range(length):
        following = s.at[place].next if forward else s.at[place].prev
        touch(s, place)
        move(s, place, anchor)
        if ahead:
            anchor = place
        place = following
    touch(s, place)


def _improve_directed(s, stop):
    """Or-opt or short 2-opt, in an asymmetric problem."""
    size = s.tour.size
    if size < 3:
        return False
    after = s.at[stop].next
    before = s.at[stop].prev
    from_before = distance(s, before, stop)
    to_after = distance(s, stop, after)
    best = TINY * s.tour.length
    best_near = NOWHERE
    best_length = np.int64(0)
    best_last = NOWHERE
    last = stop
    second = stop
    for length in range(1, min(LONGEST_SEGMENT, size - 2) + 1):
        if length > 1:
            last = s.at[last].next
        if length == 2:
            second = last
        beyond = s.at[last].next
        gap = from_before + distance(s, last, beyond) - distance(s, before, beyond)
        for at in range(size):
            near = s.lists[STOPS, at]
            follower = s.at[near].next
            if near == stop or near == second or near == last or near == before:
                continue
            gain = (
                gap
                - distance(s, near, stop)
                - distance(s, last, follower)
                + distance(s, near, follower)
            )
            if gain > best:
                best, best_near, best_length = gain, near, length
    # 2-opt: stop -> near ... after -> follower, the path from after to near turned around.
    there = 0.0
    back = 0.0
    near = after
    for _ in range(min(LONGEST_PRICED, size - 2)):
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
        if gain > best:
            best, best_length, best_last, best_near = gain, 0, near, near
    if best_near == NOWHERE:
        return False
    touch(s, before)
    touch(s, after)
    touch(s, best_near)
    touch(s, s.at[best_near].next)
    if best_length == 0:
        reverse(s, after, best_last)
    else:
        _move_segment(s, stop, best_near, best_length, np.bool_(True), np.bool_(True))
    s.tour.length -= best
    return True


IMPROVERS = {False: _improve_symmetric, True: _improve_directed}
"""By whether distances are asymmetric."""
