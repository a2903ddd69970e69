"""The best routes of a fleet with very few possible stops, by dynamic programming over sets.

First the cheapest route through each set of stops, by the recursion of Held and Karp (1962); then
the cheapest plan of so many routes for each set: the route of its first stop is one of the sets
that hold it, and the others serve the rest.
"""

from __future__ import annotations

import numpy as np

from covertour.problem.coverage import SAME
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

EQUAL = 1e-12
"""Costs summed in different orders differ by less than this share."""


def best_routes(instance: Instance) -> IntArray:
    """The best plan, int64[m], each route from the depot on, by the objective of the fleet.

    A set of stops is a whole number whose bit i says whether the i-th stop is in it; the depot is
    none of them.
    """
    fleet, depot = instance.fleet, instance.depot
    assert fleet is not None
    assert depot is not None
    stops = np.setdiff1d(np.arange(instance.n), [depot, *instance.forbidden])
    good = _good_sets(instance, stops)
    if good[0]:  # nothing but the depot: no route is cheaper, and one there is always
        return np.array([depot], dtype=np.int64)
    cost, last, before = _routes(instance, stops)
    size = np.bitwise_count(np.arange(len(cost)))
    may = cost <= (np.inf if fleet.max_length is None else fleet.max_length * SAME)
    if fleet.max_stops is not None:
        may &= size <= fleet.max_stops
    may[0] = False
    most = len(stops) if fleet.vehicles is None else min(fleet.vehicles, len(stops))
    if fleet.objective == "balance":
        longest = np.sort(np.unique(cost[may]))
        low, high = 0, len(longest)  # the least limit under which there is a plan
        while low < high:
            middle = (low + high) // 2
            plans, _ = _plans(cost, may & (cost <= longest[middle] * (1.0 + EQUAL)), most)
            found = np.isfinite(plans[1:, good]).any()
            low, high = (low, middle) if found else (middle + 1, high)
        if low < len(longest):
            may &= cost <= longest[low] * (1.0 + EQUAL)
    plans, chosen = _plans(cost, may, most)
    worth = np.where(good, plans, np.inf)
    worth[0] = np.inf
    possible = np.flatnonzero(np.isfinite(worth).any(axis=1))
    if len(possible) == 0:
        raise InputError(f"{instance.name}: no routes keep to the limits of the fleet")
    routes = int(possible[0])
    if fleet.objective != "fewest":
        routes = int(worth.min(axis=1).argmin())
    rest = int(worth[routes].argmin())
    places: list[int] = []
    for many in range(routes, 0, -1):
        route = int(chosen[many, rest])
        places += [depot, *stops[_order(route, last, before)].tolist()]
        rest ^= route
    return np.array(places, dtype=np.int64)


def _routes(instance: Instance, stops: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """What the cheapest route through each set costs, float64[2^m], and how it runs.

    Its last stop, int64[2^m], and before each last stop the one before, int64[2^m, m].
    """
    m = len(stops)
    home = np.full(m, instance.depot)
    distance = instance.distances(stops[:, None], stops)
    sets, bit = np.arange(1 << m), 1 << np.arange(m)
    member = (sets[:, None] & bit) > 0
    size = member.sum(axis=1)
    length = np.full((1 << m, m), np.inf)
    length[bit, np.arange(m)] = instance.distances(home, stops)
    before = np.tile(np.arange(m), (1 << m, 1))
    for many in range(2, m + 1):
        for end in range(m):
            grown = sets[(size == many) & member[:, end]]
            paths = length[grown ^ bit[end]] + distance[:, end]
            before[grown, end] = paths.argmin(axis=1)
            length[grown, end] = paths.min(axis=1)
    if not instance.open:
        length = length + instance.distances(stops, home)
    visits = member @ instance.visit_costs[stops] + instance.visit_costs[instance.depot]
    return length.min(axis=1) + visits, length.argmin(axis=1), before


def _order(route: int, last: IntArray, before: IntArray) -> list[int]:
    """The stops of the cheapest route through a set, in order."""
    at = int(last[route])
    order = [at]
    while route != 1 << at:
        route, at = route ^ (1 << at), int(before[route, at])
        order.append(at)
    return order[::-1]


def _plans(cost: FloatArray, may: np.ndarray, most: int) -> tuple[FloatArray, IntArray]:
    """What each set costs in so many routes, float64[most + 1, 2^m], and one of those routes."""
    many = len(cost)
    plans = np.full((most + 1, many), np.inf)
    plans[0, 0] = 0.0
    chosen = np.zeros((most + 1, many), dtype=np.int64)
    route_cost = np.where(may, cost, np.inf)
    sets = np.arange(many)
    for whole in range(1, many):
        lowest = whole & -whole
        parts = sets[: whole + 1]
        parts = parts[((parts & whole) == parts) & ((parts & lowest) > 0)]
        totals = plans[:-1, whole ^ parts] + route_cost[parts]
        at = totals.argmin(axis=1)
        plans[1:, whole] = totals[np.arange(most), at]
        chosen[1:, whole] = parts[at]
    return plans, chosen


def _good_sets(instance: Instance, stops: IntArray) -> np.ndarray:
    """Which sets of stops, with the depot, serve what they must, bool[2^m]."""
    m = len(stops)
    sets = np.arange(1 << m)
    member = (sets[:, None] & (1 << np.arange(m))) > 0
    table = np.zeros((m + 1, instance.n), dtype=np.int64)
    for row, place in enumerate([*stops.tolist(), instance.depot]):
        table[row, instance.coverage.covers_of(int(place))] = 1
    served = member.astype(np.int64) @ table[:m] + table[m] >= instance.demands
    if instance.partial:
        good = served @ instance.weights * SAME >= instance.quota_weight
    else:
        good = served.all(axis=1)
    must = np.isin(stops, instance.must_visit)
    return np.asarray(good & member[:, must].all(axis=1))
