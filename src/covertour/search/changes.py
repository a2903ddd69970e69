"""changes: inserting, removing, moving and turning stops, with everything that follows from it.

The tour is a ring of links with order labels: a stop is inserted or removed in constant time, a
path is reversed in time proportional to its length, and labels tell about how long a path is.
Every change is written to a log, so that an attempt that failed is taken back step by step instead
of copying the tour.
"""

from __future__ import annotations

from covertour.kernel import inner
from covertour.search.routes import mark_logged, refresh_all, refresh_logged, refresh_near
from covertour.search.state import (
    FIRST_STOP,
    LOG_SIZE,
    NOWHERE,
    QUEUE,
    SPARE,
    STOPS,
    UNCOVERED,
    Place,
    distance,
    for_both,
    is_directed,
)

INSERTED, REMOVED, MOVED, REVERSED = (Place(kind) for kind in range(4))
"""Kinds of log entries, of the same type as the places that follow them there."""

STEP = 1 << 36
"""Distance between the order labels of neighbours on a freshly labelled tour."""

HIGHEST = 1 << 62

# --- The ring -------------------------------------------------------------------------------------


@inner
def _link(s, stop, after):
    """Put a stop into the ring behind another one; into an empty ring if ``after`` is NOWHERE."""
    at = s.at
    if after == NOWHERE:
        at[stop].next = stop
        at[stop].prev = stop
        at[stop].label = 0
        at[stop].leg = distance(s, stop, stop)
        s.tour.top = 0
        return
    before = at[after].next
    if s.tour.labelled == 1:
        _label(s, stop, after, before)
    at[after].next = stop
    at[after].leg = distance(s, after, stop)
    at[stop].prev = after
    at[stop].next = before
    at[stop].leg = distance(s, stop, before)
    at[before].prev = stop


@inner
def _label(s, stop, after, before):
    """Give a stop an order label between those of its neighbours to be."""
    at = s.at
    low = at[after].label
    high = at[before].label
    if (high > low and high - low < 2) or low > HIGHEST:
        relabel(s, before)
        low = at[after].label
        high = at[before].label
    if high > low:
        at[stop].label = low + (high - low) // 2
    else:
        at[stop].label = low + STEP
        s.tour.top = low + STEP


@inner
def _unlink(s, stop):
    before = s.at[stop].prev
    after = s.at[stop].next
    s.at[before].next = after
    s.at[before].leg = distance(s, before, after)
    s.at[after].prev = before


@inner
def relabel(s, first):
    """Give the stops evenly spaced order labels again, ascending from ``first``."""
    stop = first
    label = 0
    while True:
        s.at[stop].label = label
        stop = s.at[stop].next
        if stop == first:
            break
        label += STEP
    s.tour.top = label


@inner
def _flip(s, first, last):
    """Reverse the path from first to last, following ``next``."""
    at = s.at
    before = at[first].prev
    after = at[last].next
    i = first
    j = last
    while i != j:
        label = at[i].label
        at[i].label = at[j].label
        at[j].label = label
        i = at[i].next
        if i == j:
            break
        j = at[j].prev
    stop = first
    leg = distance(s, first, after)
    while True:
        follower = at[stop].next
        following_leg = at[stop].leg
        at[stop].next = at[stop].prev
        at[stop].prev = follower
        at[stop].leg = leg
        if stop == last:
            break
        leg = distance(s, follower, stop) if is_directed(s) else following_leg
        stop = follower
    at[before].next = last
    at[before].leg = distance(s, before, last)
    at[last].prev = before
    at[first].next = after
    at[after].prev = first


@inner
def path_size(s, first, last):
    """About how many stops the path from first to last has, judged by the order labels."""
    ahead = s.at[last].label - s.at[first].label
    whole = s.tour.top + STEP
    if ahead < 0:
        ahead += whole
    return ahead / whole * s.tour.size


# --- Coverage -------------------------------------------------------------------------------------


def _cover_plain(s, stop):
    """Count a new stop for all the places it covers."""
    at = s.at
    served = s.served
    own = 0
    for k in range(at[stop].covers_from, at[stop].covers_to):
        place = Place(s.who[k])
        times = served[place].count
        served[place].count = times + 1
        if times == 0:
            own += 1
            last = s.tour.uncovered - 1
            moved = s.lists[UNCOVERED, last]
            index = at[place].uncovered_at
            s.lists[UNCOVERED, index] = moved
            at[moved].uncovered_at = index
            at[place].uncovered_at = -1
            s.tour.uncovered = last
        elif times == 1:
            other = served[place].owner
            at[other].unique -= 1
            if at[other].unique == 0 and at[other].spared == 0:
                at[other].spared = 1
                s.lists[SPARE, s.tour.spare] = other
                s.tour.spare += 1
        served[place].owner ^= stop
    at[stop].unique = own


def _uncover_plain(s, stop):
    """Take a stop's coverage back."""
    at = s.at
    served = s.served
    for k in range(at[stop].covers_from, at[stop].covers_to):
        place = Place(s.who[k])
        times = served[place].count - 1
        served[place].count = times
        served[place].owner ^= stop
        if times == 1:
            at[served[place].owner].unique += 1
        elif times == 0:
            index = s.tour.uncovered
            s.lists[UNCOVERED, index] = place
            at[place].uncovered_at = index
            s.tour.uncovered = index + 1
    at[stop].unique = 0


@inner
def spare(s, stop):
    """Note that a stop may have become redundant."""
    if s.at[stop].spared == 0:
        s.at[stop].spared = 1
        s.lists[SPARE, s.tour.spare] = stop
        s.tour.spare += 1


@inner
def _share(s, place, weight):
    """Add to what would be lost without a stop, for all the stops that cover a place."""
    goal = s.goal
    if goal.shared[place] == 0:
        owner = s.served[place].owner
        goal.unique[owner] += weight
        if weight < 0.0 and (goal.unique[owner] == 0.0 or goal.tally.partial != 0):
            spare(s, owner)
        return
    for k in range(s.at[place].covered_from, s.at[place].covered_to):
        stop = Place(s.who[k])
        if s.at[stop].stop_at >= 0:
            goal.unique[stop] += weight
            if weight < 0.0 and (goal.unique[stop] == 0.0 or goal.tally.partial != 0):
                spare(s, stop)


def _cover_with_goal(s, stop):
    """The same with weights and demands; the stop is not yet in the list of stops."""
    at = s.at
    served = s.served
    goal = s.goal
    own = 0.0
    for k in range(at[stop].covers_from, at[stop].covers_to):
        place = Place(s.who[k])
        times = served[place].count
        served[place].count = times + 1
        if times == 0:
            weight = goal.weight[place]
            own += weight
            goal.tally.served += weight
            if goal.shared[place] != 0:
                _share(s, place, weight)
            last = s.tour.uncovered - 1
            moved = s.lists[UNCOVERED, last]
            index = at[place].uncovered_at
            s.lists[UNCOVERED, index] = moved
            at[moved].uncovered_at = index
            at[place].uncovered_at = -1
            s.tour.uncovered = last
        elif times == 1:
            _share(s, place, -goal.weight[place])
        served[place].owner ^= stop
    goal.unique[stop] = own


def _uncover_with_goal(s, stop):
    """The same with weights and demands; the stop is no longer in the list of stops."""
    at = s.at
    served = s.served
    goal = s.goal
    for k in range(at[stop].covers_from, at[stop].covers_to):
        place = Place(s.who[k])
        times = served[place].count - 1
        served[place].count = times
        served[place].owner ^= stop
        if times == 1:
            _share(s, place, goal.weight[place])
        elif times == 0:
            weight = goal.weight[place]
            goal.tally.served -= weight
            if goal.shared[place] != 0:
                _share(s, place, -weight)
            index = s.tour.uncovered
            s.lists[UNCOVERED, index] = place
            at[place].uncovered_at = index
            s.tour.uncovered = index + 1
    goal.unique[stop] = 0.0


_cover = for_both(_cover_plain, _cover_with_goal)
_uncover = for_both(_uncover_plain, _uncover_with_goal)


# --- Changes, each with its log entry -------------------------------------------------------------


@inner
def _note(s, kind, a, b):
    """Write to the log; beyond its end changes are only counted, and cannot be undone."""
    entry = s.tour.log
    if entry < LOG_SIZE:
        s.log[entry, 0] = kind
        s.log[entry, 1] = a
        s.log[entry, 2] = b
    s.tour.log = entry + 1


@inner
def _enter(s, stop, after):
    """Insert without log or length."""
    _cover(s, stop)
    _link(s, stop, after)
    _list(s, stop)


@inner
def _list(s, stop):
    """Put a stop into the list of stops and into its block."""
    at = s.at
    at[stop].stop_at = s.tour.size
    s.lists[STOPS, s.tour.size] = stop
    s.tour.size += 1
    first = s.blocks[at[stop].block, FIRST_STOP]
    at[stop].in_next = first
    at[stop].in_prev = NOWHERE
    if first != NOWHERE:
        at[first].in_prev = stop
    s.blocks[at[stop].block, FIRST_STOP] = stop


@inner
def _leave(s, stop):
    """Remove without log or length."""
    at = s.at
    _unlink(s, stop)
    last = s.tour.size - 1
    moved = s.lists[STOPS, last]
    index = at[stop].stop_at
    s.lists[STOPS, index] = moved
    at[moved].stop_at = index
    at[stop].stop_at = -1
    s.tour.size = last
    ahead = at[stop].in_next
    behind = at[stop].in_prev
    if behind != NOWHERE:
        at[behind].in_next = ahead
    else:
        s.blocks[at[stop].block, FIRST_STOP] = ahead
    if ahead != NOWHERE:
        at[ahead].in_prev = behind
    _uncover(s, stop)


@inner
def insertion_cost(s, stop, after):
    """What inserting a place behind a stop adds to the length."""
    return distance(s, after, stop) + distance(s, stop, s.at[after].next) - s.at[after].leg


@inner
def saving(s, stop):
    """The length saved by joining a stop's neighbours directly."""
    before = s.at[stop].prev
    after = s.at[stop].next
    return s.at[before].leg + s.at[stop].leg - distance(s, before, after)


@inner
def insert(s, stop, after):
    """Insert a stop behind another one (NOWHERE: as the first) and keep length and log.

    Where that would break a leg that must stay, one below 0, it goes into the next one that may.
    """
    if after != NOWHERE:
        for _ in range(s.tour.size):
            if s.at[after].leg >= 0.0:
                break
            after = s.at[after].next
        s.tour.length += insertion_cost(s, stop, after)
    else:
        s.tour.length += distance(s, stop, stop)
    _note(s, INSERTED, stop, after)
    _enter(s, stop, after)
    refresh_near(s, stop)


@inner
def remove(s, stop):
    """Remove a stop and keep length and log."""
    s.tour.length -= saving(s, stop)
    before = s.at[stop].prev
    _note(s, REMOVED, stop, before if before != stop else NOWHERE)
    _leave(s, stop)
    refresh_near(s, before)


@inner
def move(s, stop, after):
    """Move a stop behind another one; the caller accounts for the length."""
    _note(s, MOVED, stop, s.at[stop].prev)
    _unlink(s, stop)
    _link(s, stop, after)


@inner
def reverse(s, first, last):
    """Reverse the path from first to last; the caller accounts for the length."""
    _note(s, REVERSED, first, last)
    _flip(s, first, last)


@inner
def undo(s, length):
    """Take back everything in the log; ``length`` is what the tour had before."""
    entries = s.tour.log
    mark_logged(s, entries)
    for entry in range(s.tour.log - 1, -1, -1):
        kind = s.log[entry, 0]
        a = s.log[entry, 1]
        b = s.log[entry, 2]
        if kind == INSERTED:
            _leave(s, a)
        elif kind == REMOVED:
            _enter(s, a, b)
        elif kind == MOVED:
            _unlink(s, a)
            _link(s, a, b)
        else:
            _flip(s, b, a)
    refresh_logged(s, entries)
    s.tour.log = 0
    s.tour.length = length
    clear_spare(s)
    clear_queue(s)


@inner
def touch(s, stop):
    """Queue a stop for improvement."""
    if s.at[stop].queued == 0:
        s.at[stop].queued = 1
        s.lists[QUEUE, s.tour.queue] = stop
        s.tour.queue += 1


@inner
def touch_neighbours(s, stop):
    """Queue the two neighbours of a stop."""
    touch(s, s.at[stop].next)
    touch(s, s.at[stop].prev)


@inner
def clear_queue(s):
    """Forget the queue."""
    for index in range(s.tour.queue):
        s.at[s.lists[QUEUE, index]].queued = 0
    s.tour.queue = 0


@inner
def clear_spare(s):
    """Forget which stops may have become redundant."""
    for index in range(s.tour.spare):
        s.at[s.lists[SPARE, index]].spared = 0
    s.tour.spare = 0


@inner
def copy_tour(s, places):
    """Write the stops in order to int64 places[:size] and return the size."""
    size = s.tour.size
    stop = s.lists[STOPS, 0]
    for index in range(size):
        places[index] = stop
        stop = s.at[stop].next
    return size


least_length = for_both(lambda s: 0.0, lambda s: s.goal.tally.base)
"""What every tour costs beside its legs."""


@inner
def load_tour(s, places, size):
    """Make the state hold the tour places[:size] (int64), with log, queue and spares empty."""
    at = s.at
    clear_queue(s)
    for index in range(size):
        at[places[index]].queued = 1  # stays if it is there: it is cover that takes time to count
    for index in range(s.tour.size - 1, -1, -1):
        if at[s.lists[STOPS, index]].queued == 0:
            _leave(s, s.lists[STOPS, index])
    length = least_length(s)
    before = Place(places[size - 1]) if size > 0 else NOWHERE
    for index in range(size):
        stop = Place(places[index])
        at[stop].queued = 0
        if at[stop].stop_at < 0:
            _cover(s, stop)
            _list(s, stop)
        at[before].next = stop
        at[before].leg = distance(s, before, stop)
        length += max(at[before].leg, 0.0)  # but for legs that must stay
        at[stop].prev = before
        at[stop].label = index * STEP
        before = stop
    s.tour.top = (size - 1) * STEP
    s.tour.length = length
    s.tour.log = 0
    clear_spare(s)
    refresh_all(s)
