"""fleet: the first routes of a fleet, and as few routes as possible.

The first routes are cut out of one tour over all that is to be served (route first, cluster second;
Beasley 1983): along the tour, the cheapest way to cut it into routes that keep to the limits is
found by dynamic programming (Prins 2004). So routes are right from the start however many there
are, also far from the depot.

Where there are to be few routes, the search is asked for the cheapest plan with at most so many,
and in turns for one with a route less.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from covertour.problem.errors import SolveError
from covertour.problem.feasibility import visitable
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.tour import routes_of
from covertour.search.goal import DEAR, TOLERANCE
from covertour.search.params import LnsParams
from covertour.solving.clock import Clock
from covertour.solving.stop import MaxIterations, MaxSeconds

CYCLES = 4
"""So many first cycles of annealing are given to the first try at a number of routes."""

Search = Callable[[Clock, IntArray, int | None], IntArray]
"""Finds a cheap plan with at most so many routes, None for as many as it takes; from a start."""


def within_reach(instance: Instance) -> Instance:
    """The instance without stops that no route can visit and return from within its limit."""
    beyond = ~visitable(instance)
    beyond[list(instance.forbidden)] = False
    if not beyond.any():
        return instance
    forbidden = (*instance.forbidden, *np.flatnonzero(beyond).tolist())
    return instance.with_changes(forbidden=tuple(sorted(forbidden)))


def most_routes(instance: Instance) -> int:
    """How many routes there can be: one for each stop, or what the fleet has."""
    assert instance.fleet is not None
    most = max(1, instance.n - 1 - len(instance.forbidden))
    vehicles = instance.fleet.vehicles
    return most if vehicles is None else min(most, vehicles)


def keeps_limits(instance: Instance, places: IntArray) -> bool:
    """Whether the routes of a plan, int64[m], keep to the limits of a route."""
    fleet = instance.fleet
    assert fleet is not None
    longest = np.inf if fleet.max_length is None else fleet.max_length * (1.0 + TOLERANCE)
    most = instance.n if fleet.max_stops is None else fleet.max_stops
    routes = routes_of(instance, places)
    return all(len(route) <= most + 1 and instance.cost(route) <= longest for route in routes)


def split(instance: Instance, stops: IntArray, most: int) -> IntArray:
    """Stops in driving order, int64[m] without the depot, as a plan of routes from the depot.

    The cheapest way to cut them into routes that keep to the limits or, where that makes more than
    ``most`` routes, one into fewer of them.
    """
    if len(stops) == 0:
        return np.array([instance.depot], dtype=np.int64)
    begins = _cut(instance, stops, 0.0)
    if len(begins) > most:
        begins = _cut(instance, stops, 1.0 + instance.cost(stops))
    assert instance.depot is not None
    return np.insert(stops, begins, instance.depot)


def _cut(instance: Instance, stops: IntArray, extra: float) -> IntArray:
    """Where routes begin, int64[k] ascending, if each costs so much extra.

    ``least[j]`` is the cost of the first j stops in routes, the last of which begins at
    ``begin[j]``. A stop that no route can visit within the limits gets one of its own.
    """
    fleet, depot, many = instance.fleet, instance.depot, len(stops)
    assert fleet is not None
    home = np.full(many, depot)
    there = instance.distances(home, stops) + instance.visit_costs[depot]
    back = np.zeros(many) if instance.open else instance.distances(stops, home)
    visits = instance.visit_costs[stops]
    legs = instance.distances(stops[:-1], stops[1:]) + visits[1:]
    along: FloatArray = np.concatenate([[0.0], np.cumsum(legs)])
    there = there + visits - along  # of a route that begins here, but for its end
    longest = np.inf if fleet.max_length is None else fleet.max_length * (1.0 + TOLERANCE / 2)
    most = many if fleet.max_stops is None else fleet.max_stops
    first = np.maximum(np.searchsorted(along, along - longest), np.arange(many) - most + 1)
    least = np.zeros(many + 1)
    begin = np.zeros(many + 1, dtype=np.int64)
    for last in range(many):
        costs = there[first[last] : last + 1] + (along[last] + back[last])
        plans = np.where(costs <= longest, costs + least[first[last] : last + 1], np.inf)
        best = int(np.argmin(plans))
        if not np.isfinite(plans[best]):
            best = last - int(first[last])
            plans[best] = DEAR * costs[best] + least[last]
        least[last + 1] = plans[best] + extra
        begin[last + 1] = first[last] + best
    begins = [int(begin[many])]
    while begins[-1] > 0:
        begins.append(int(begin[begins[-1]]))
    return np.array(begins[::-1], dtype=np.int64)


def fewest(
    instance: Instance,
    clock: Clock,
    seed: int,
    start: IntArray,
    params: LnsParams,
    search: Search,
) -> IntArray:
    """The cheapest plan found with as few routes as were found to do, int64[m].

    Tries with a route less begin without one of the routes, drawn at random.
    """
    rng = np.random.default_rng(seed)
    best: IntArray | None = None
    tries = 0
    planned = float(CYCLES * params.first_cycle)  # iterations per stop

    made = 0

    def attempt(begin: IntArray, most: int | None) -> IntArray | None:
        nonlocal made
        stops = max(len(begin), 1 + instance.n // 10)
        limit = MaxIterations(max(1, int(planned * stops)))
        if clock.counted:
            limit = MaxIterations(min(limit.iterations, clock.iterations_left))
        part = clock.part(limit | MaxSeconds(clock.limits.seconds) | (lambda _: clock.over))
        try:
            return search(part, begin, most)
        except SolveError:
            return None
        finally:
            made = part.iterations
            clock.iterations += made

    while best is None or not clock.over:
        if best is None:
            best = attempt(start, None)
            if best is None and clock.over:
                raise SolveError("fleet: no routes were found that keep to the limits")
        else:
            routes = routes_of(instance, best)
            better = None
            if len(routes) > 1 and tries % 2 == 0:
                gone = int(rng.integers(len(routes)))
                rest = [route for index, route in enumerate(routes) if index != gone]
                better = attempt(np.concatenate(rest), len(routes) - 1)
            else:
                better = attempt(best, len(routes))
            tries += 1
            if better is not None and _is_better(instance, better, best):
                best = better
                continue
        if made == 0 and best is not None:  # nothing is left to try
            break
        planned *= params.growth
    return best


def _is_better(instance: Instance, one: IntArray, other: IntArray) -> bool:
    """Whether a plan has fewer routes than another, or as many at less cost."""

    def worth(places: IntArray) -> tuple[int, float]:
        return len(routes_of(instance, places)), instance.cost(places)

    return worth(one) < worth(other)
