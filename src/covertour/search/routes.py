"""routes: what is known of the routes of a fleet, kept right while their stops change.

A route begins at its start and ends before the next one on the ring. After each change the routes
that it touched are gone through again, which takes as long as they have stops.
"""

from __future__ import annotations

from covertour.kernel import inner
from covertour.search.state import NOWHERE, Place, for_both


@inner
def penalty_of(s, total, load):
    """What a route of such a length and so many stops costs above its length."""
    limits = s.goal.routes.limits
    price = 0.0
    if total > limits.longest:
        price = (total - limits.longest) * limits.price_length
    if load > limits.most_stops:
        price += (load - limits.most_stops) * limits.price_stops
    return price


def _change_none(s, stop, length, stops):
    return 0.0


def _change_of_route(s, stop, length, stops):
    routes = s.goal.routes
    start = routes.route[stop]
    total = routes.total[start]
    load = routes.load[start]
    return penalty_of(s, total + length, load + stops) - penalty_of(s, total, load)


penalty_change = for_both(_change_none, _change_none, _change_of_route)
"""What more a stop's route would cost above its length, were it so much longer and had it so many
more stops."""


@inner
def refresh_route(s, stop):
    """Go through the route of a stop again; of a start, through the route that it begins."""
    routes = s.goal.routes
    limits = routes.limits
    start = stop
    while routes.is_start[start] == 0:
        start = s.at[start].prev
    length = 0.0
    load = 0
    at = start
    while True:
        routes.route[at] = start
        routes.rank[at] = load
        routes.so_far[at] = length
        routes.seen[at] = limits.stamp
        length += s.at[at].leg
        at = s.at[at].next
        if routes.is_start[at] != 0:
            break
        load += 1
    routes.total[start] = length
    routes.load[start] = load
    too_long = max(length - limits.longest, 0.0)
    too_many = max(load - limits.most_stops, 0)
    limits.over_length += too_long - routes.too_long[start]
    limits.over_stops += too_many - routes.too_many[start]
    routes.too_long[start] = too_long
    routes.too_many[start] = too_many


def _nothing(s):
    pass


def _refresh_all(s):
    routes = s.goal.routes
    routes.limits.over_length = 0.0
    routes.limits.over_stops = 0
    for index in range(len(routes.starts)):
        start = routes.starts[index]
        routes.too_long[start] = 0.0
        routes.too_many[start] = 0
    for index in range(len(routes.starts)):
        refresh_route(s, routes.starts[index])


refresh_all = for_both(_nothing, _nothing, _refresh_all)
"""Go through all routes again."""


@inner
def _refresh_at(s, stop):
    routes = s.goal.routes
    stamp = routes.limits.stamp
    if stop == NOWHERE or s.at[stop].stop_at < 0:
        return
    if routes.seen[stop] != stamp:
        refresh_route(s, stop)
    before = s.at[stop].prev
    if routes.is_start[stop] != 0 and routes.seen[before] != stamp:  # ends elsewhere now
        refresh_route(s, before)


def _nothing_logged(s, entries):
    pass


def _mark_logged(s, entries):
    routes = s.goal.routes
    routes.limits.stamp += 1
    for entry in range(min(entries, len(s.log))):
        stop = Place(s.log[entry, 1])
        if s.at[stop].stop_at >= 0:
            routes.seen[routes.route[stop]] = -routes.limits.stamp
            if routes.is_start[stop] != 0:  # the route before it goes on once it leaves
                routes.seen[routes.route[s.at[stop].prev]] = -routes.limits.stamp


mark_logged = for_both(_nothing_logged, _nothing_logged, _mark_logged)
"""Before so many entries of the log are undone: mark the routes in which their stops are."""


def _refresh_logged(s, entries):
    routes = s.goal.routes
    marked = -routes.limits.stamp
    routes.limits.stamp += 1
    for entry in range(min(entries, len(s.log))):
        _refresh_at(s, Place(s.log[entry, 1]))
        _refresh_at(s, Place(s.log[entry, 2]))
    for index in range(len(routes.starts)):
        if routes.seen[routes.starts[index]] == marked:
            refresh_route(s, routes.starts[index])


refresh_logged = for_both(_nothing_logged, _nothing_logged, _refresh_logged)
"""Go through the routes again whose stops are in so many entries of the log, made or undone, and
through those that were marked."""


def _nothing_near(s, stop):
    pass


refresh_near = for_both(_nothing_near, _nothing_near, lambda s, stop: refresh_route(s, stop))
"""Go through the route of a stop again."""
