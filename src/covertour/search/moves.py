"""moves: what an attempt of the search does to a tour, in each flavour of the problem.

It removes a few stops, consecutive or clustered, or swaps two neighbouring paths; serves what is
not served any more; and exchanges single stops for better ones.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import inner
from covertour.search.changes import (
    insert,
    move,
    remove,
    saving,
    touch,
    touch_neighbours,
)
from covertour.search.construct import (
    cover_place,
    real_stops,
    shortage,
)
from covertour.search.routes import penalty_change, refresh_logged
from covertour.search.state import (
    FIXED,
    FORBIDDEN,
    NEAR,
    NOWHERE,
    STOPS,
    UNCOVERED,
    Place,
    distance,
    draw_below,
    draw_unit,
    for_both,
    stops_near,
)

OFFERS = 6
"""So many places that are not worth a stop end the repair of a tour."""

STAY_THERE = 0.9
"""Where places may be left out: how often one that has just lost its stop is served again, and not
any other one."""

WHOLE_ROUTES = 0.2
"""How often a route that was drawn and is short enough is removed whole."""


def _destroy(s, most):
    """Remove a few stops around a random one: consecutive on the tour, or the nearest to it."""
    first = s.lists[STOPS, draw_below(s, s.tour.size)]
    wanted = min(1 + draw_below(s, most), s.tour.size)
    clustered = draw_unit(s) < 0.5
    many = stops_near(s, first) if clustered else 0
    stop = first
    for _ in range(wanted):
        if clustered:
            # The nearest stop that is left of those nearby.
            best = np.inf
            stop = NOWHERE
            for index in range(many):
                near = s.lists[NEAR, index]
                if s.at[near].stop_at >= 0 and s.at[near].role != FIXED:
                    far = distance(s, first, near)
                    if far < best:
                        best = far
                        stop = near
            if stop == NOWHERE:
                return
        follower = s.at[stop].next
        if s.at[stop].role != FIXED:
            touch_neighbours(s, stop)
            remove(s, stop)
        stop = follower


_destroy_around = inner(_destroy)


def _destroy_with_routes(s, most):
    """The same, or remove a whole route."""
    routes = s.goal.routes
    start = routes.starts[draw_below(s, len(routes.starts))]
    load = routes.load[start]
    if load == 0 or load > 2 * most or draw_unit(s) >= WHOLE_ROUTES:
        _destroy_around(s, most)
        return
    stop = s.at[start].next
    for _ in range(load):
        follower = s.at[stop].next
        if s.at[stop].role != FIXED:
            touch_neighbours(s, stop)
            remove(s, stop)
        stop = follower


destroy = for_both(_destroy, _destroy, _destroy_with_routes)


@inner
def swap_paths(s, longest):
    """Swap two neighbouring paths of up to so many stops somewhere; no direction changes."""
    at = s.at
    most = min(longest, s.tour.size // 3)
    before = s.lists[STOPS, draw_below(s, s.tour.size)]
    stops = 1 + draw_below(s, most)
    first = at[before].next
    first_end = before
    stay = at[before].leg < 0.0  # a leg that must stay
    for _ in range(stops):
        first_end = at[first_end].next
        stay |= at[first_end].leg < 0.0
    second = at[first_end].next
    second_end = first_end
    for _ in range(1 + draw_below(s, most)):
        second_end = at[second_end].next
    after = at[second_end].next
    if stay or at[second_end].leg < 0.0:
        return
    s.tour.length += (
        distance(s, before, second) + distance(s, second_end, first) + distance(s, first_end, after)
    )
    s.tour.length -= at[before].leg + at[first_end].leg + at[second_end].leg
    stop = first
    anchor = second_end
    for _ in range(stops):
        following = at[stop].next
        move(s, stop, anchor)
        anchor = stop
        stop = following
    refresh_logged(s, s.tour.log)
    for end in (before, first, first_end, second, second_end, after):
        touch(s, end)


@inner
def _replace(s, stop, other, before):
    """Put another place between the neighbours of a stop, and not the stop."""
    remove(s, stop)
    insert(s, other, before)
    touch(s, other)
    touch_neighbours(s, other)
    return True


def _exchange_plain(s, stop):
    """Replace a stop by a place off the tour that covers all that only it covers, if shorter."""
    if s.at[stop].role == FIXED or s.tour.size < 2:
        return False
    needed = s.at[stop].unique
    witness = NOWHERE
    for k in range(s.at[stop].covers_from, s.at[stop].covers_to):
        place = Place(s.who[k])
        if s.served[place].count == 1:
            witness = place
            break
    if witness == NOWHERE:
        return False
    before = s.at[stop].prev
    after = s.at[stop].next
    saved = saving(s, stop)
    direct = distance(s, before, after)
    best = saved * (1.0 - 1e-9)
    best_stop = NOWHERE
    for k in range(s.at[witness].covered_from, s.at[witness].covered_to):
        other = Place(s.who[k])
        if s.at[other].stop_at >= 0:
            continue
        cost = distance(s, before, other) + distance(s, other, after) - direct
        if cost >= best:
            continue
        covered = 0
        for c in range(s.at[other].covers_from, s.at[other].covers_to):
            place = s.who[c]
            if s.served[place].count == 1 and s.served[place].owner == stop:
                covered += 1
        if covered == needed:
            best = cost
            best_stop = other
    return best_stop != NOWHERE and _replace(s, stop, best_stop, before)


def _exchange_with_goal(s, stop):
    """Replace a stop by a place off the tour that serves as much as is needed, if cheaper."""
    if s.at[stop].role == FIXED or real_stops(s) < 2:
        return False
    goal = s.goal
    tally = goal.tally
    start = s.at[stop].covers_from
    many = np.int64(s.at[stop].covers_to - start)
    stamp = tally.stamp + 1
    tally.stamp = stamp
    witness = NOWHERE
    for k in range(start, s.at[stop].covers_to):
        place = Place(s.who[k])
        goal.stamped[place] = stamp
        if s.served[place].count == 1:
            witness = place
    if tally.partial != 0:
        witness = Place(s.who[start + Place(draw_below(s, many))])
    elif witness == NOWHERE:
        return False
    lost = goal.unique[stop]
    before = s.at[stop].prev
    after = s.at[stop].next
    direct = distance(s, before, after)
    saved = saving(s, stop)
    best = saved * (1.0 - 1e-9) + shortage(s, 0.0)
    best_stop = NOWHERE
    for k in range(s.at[witness].covered_from, s.at[witness].covered_to):
        other = Place(s.who[k])
        if s.at[other].stop_at >= 0:
            continue
        cost = distance(s, before, other) + distance(s, other, after) - direct
        if cost >= best:
            continue
        gain = 0.0
        for c in range(s.at[other].covers_from, s.at[other].covers_to):
            place = Place(s.who[c])
            # Served by the other instead of the stop, or not served before.
            if s.served[place].count == np.int32(goal.stamped[place] == stamp):
                gain += goal.weight[place]
        cost += shortage(s, lost - gain) + penalty_change(s, stop, cost - saved, 0)
        if cost < best:
            best = cost
            best_stop = other
    return best_stop != NOWHERE and _replace(s, stop, best_stop, before)


exchange = for_both(_exchange_plain, _exchange_with_goal)


def _begin_plain(s):
    pass


def _begin_with_goal(s):
    s.goal.tally.fresh = s.tour.uncovered
    s.goal.tally.offers = 0


begin = for_both(_begin_plain, _begin_with_goal)
"""Called before anything is changed in an iteration."""


def _lacks_plain(s):
    return s.tour.uncovered > 0


def _lacks_with_goal(s):
    return s.goal.tally.served < s.goal.tally.need or real_stops(s) == 0


lacks = for_both(_lacks_plain, _lacks_with_goal)
"""Whether the tour has to serve more."""


def _serve_plain(s, noise, last):
    place = s.lists[UNCOVERED, draw_below(s, s.tour.uncovered)]
    return cover_place(s, place, noise, last)


def _serve_with_goal(s, noise, last):
    tally = s.goal.tally
    if tally.served >= tally.need:  # any stop will do
        place = Place(draw_below(s, tally.blank))
        while s.at[place].role == FORBIDDEN:
            place = Place(draw_below(s, tally.blank))
        insert(s, place, last)
        touch(s, place)
        return place
    while tally.offers < OFFERS:
        first = np.int64(0)
        if tally.partial != 0 and s.tour.uncovered > tally.fresh and draw_unit(s) < STAY_THERE:
            first = tally.fresh
        place = s.lists[UNCOVERED, first + draw_below(s, s.tour.uncovered - first)]
        stop = cover_place(s, place, noise, last)
        if stop != NOWHERE:
            return stop
        tally.offers += 1
    return NOWHERE


serve = for_both(_serve_plain, _serve_with_goal)
"""Insert a stop for some place that has to be served; returns the stop. The scores of coverers are
blurred by ``noise``, and the stop goes behind ``last`` where no other is nearby. NOWHERE where no
stop was found that is worth its price."""
