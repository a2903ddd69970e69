"""The best tours of very small instances by trying all of them, straight from the definition.

Knows demands, weights, quotas, budgets, visit costs, open ends and fleets, all mixed. Slow and
plain on purpose; for up to eight places.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise, permutations

import definition

from covertour import Instance

SAME = 1e-9
"""What a quota may be missed by and a limit exceeded, as a share of it."""

Value = tuple[float, ...]
"""What is to be least, the most important first."""


def value(instance: Instance, stops: list[int]) -> Value | None:
    """What a tour is worth, the less the better; None where it breaks a rule."""
    allowed = set(range(instance.n)) - set(instance.forbidden)
    if (
        not stops
        or not set(stops) <= allowed
        or not set(instance.must_visit.tolist()) <= set(stops)
    ):
        return None
    fleet = instance.fleet
    if fleet is None:
        if len(set(stops)) < len(stops):
            return None
        if instance.depot is not None and stops[0] != instance.depot:
            return None
        if instance.end is not None and stops[-1] != instance.end:
            return None
        routes = [stops]
    else:
        routes = split(instance, stops)
        others = [stop for stop in stops if stop != instance.depot]
        if stops[0] != instance.depot or len(set(others)) < len(others):
            return None
        if len(routes) > 1 and any(len(route) == 1 for route in routes):
            return None
        if fleet.vehicles is not None and len(routes) > fleet.vehicles:
            return None
        if fleet.max_stops is not None and max(map(len, routes)) - 1 > fleet.max_stops:
            return None
    costs = [route_cost(instance, route) for route in routes]
    longest = None if fleet is None else fleet.max_length
    if longest is not None and max(costs) > longest * (1 + SAME):
        return None
    cost = sum(costs)
    weight = served(instance, set(stops))
    if instance.budget is not None:
        return (-weight, cost) if cost <= instance.budget * (1 + SAME) else None
    if weight < needed(instance) * (1 - SAME):
        return None
    if fleet is not None and fleet.objective == "fewest":
        return (len(routes), cost)
    if fleet is not None and fleet.objective == "balance":
        return (max(costs), cost)
    return (cost,)


def best(instance: Instance) -> Value | None:
    """The value of the best tour; None where there is none."""
    allowed = [i for i in range(instance.n) if i not in instance.forbidden]
    must = set(instance.must_visit.tolist())
    found: Value | None = None
    for size in range(max(1, len(must)), len(allowed) + 1):
        for chosen in combinations(allowed, size):
            if must <= set(chosen) and may_do(instance, set(chosen)):
                for stops in tours(instance, chosen):
                    worth = value(instance, stops)
                    if worth is not None and (found is None or worth < found):
                        found = worth
    return found


def may_do(instance: Instance, chosen: set[int]) -> bool:
    """Whether stops serve enough, in whatever order."""
    if instance.budget is not None:
        return True
    return served(instance, chosen) >= needed(instance) * (1 - SAME)


def tours(instance: Instance, chosen: tuple[int, ...]) -> Iterator[list[int]]:
    """All tours of these stops, but for closed ones that only begin elsewhere."""
    if instance.fleet is None:
        if instance.open:
            yield from map(list, permutations(chosen))
            return
        first = chosen[0] if instance.depot is None else instance.depot
        others = [stop for stop in chosen if stop != first]
        for order in permutations(others):
            yield [first, *order]
        return
    depot = instance.depot
    assert depot is not None
    others = [stop for stop in chosen if stop != depot]
    for order in permutations(others):
        for cuts in range(1 << max(len(others) - 1, 0)):
            stops = [depot]
            for index, stop in enumerate(order):
                stops.append(stop)
                if index < len(order) - 1 and cuts >> index & 1:
                    stops.append(depot)
            yield stops


def split(instance: Instance, stops: list[int]) -> list[list[int]]:
    """The routes of a fleet."""
    routes: list[list[int]] = []
    for stop in stops:
        if stop == instance.depot or not routes:
            routes.append([])
        routes[-1].append(stop)
    return routes


def route_cost(instance: Instance, stops: list[int]) -> float:
    """The length of a route, with the way back unless it is open, and its visit costs."""
    legs = list(pairwise(stops))
    if not instance.open:
        legs.append((stops[-1], stops[0]))
    visits = (
        0.0 if instance.visit_cost is None else sum(float(instance.visit_cost[i]) for i in stops)
    )
    return sum(definition.distance(instance, i, j) for i, j in legs) + visits


def served(instance: Instance, stops: set[int]) -> float:
    """The weight of the places whose demand is met."""
    times = [0] * instance.n
    for stop in stops:
        for place in definition.covers(instance, stop):
            times[place] += 1
    demand = [1] * instance.n if instance.demand is None else instance.demand.tolist()
    weight = weights(instance)
    return sum(weight[i] for i in range(instance.n) if times[i] >= demand[i])


def needed(instance: Instance) -> float:
    """The weight that has to be served."""
    total = sum(weights(instance))
    if instance.quota is None:
        return total
    if instance.quota.weight is not None:
        return instance.quota.weight
    assert instance.quota.share is not None
    return instance.quota.share * total


def weights(instance: Instance) -> list[float]:
    """What places count; without a quota and a budget all of them are to be served, so 1 each."""
    if instance.weight is None or (instance.quota is None and instance.budget is None):
        return [1.0] * instance.n
    return [float(value) for value in instance.weight]
