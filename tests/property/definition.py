"""The covering salesman problem as loops over pairs of places, straight from its definition.

Slow and plain on purpose, and written without a look at covertour's own arithmetic: the tests
compare the coverage table and the referee with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from covertour import Instance, Nearest, Radius, Sets


def tsplib_radians(value: float) -> float:
    degrees = math.trunc(value)
    minutes = value - degrees
    return 3.141592 * (degrees + 5.0 * minutes / 3.0) / 180.0


def on_the_sphere(latitude: float, longitude: float) -> tuple[float, float, float]:
    return (
        math.cos(latitude) * math.cos(longitude),
        math.cos(latitude) * math.sin(longitude),
        math.sin(latitude),
    )


def angle(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    cross = (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )
    return math.atan2(math.hypot(*cross), sum(x * y for x, y in zip(a, b, strict=True)))


def distance(instance: Instance, i: int, j: int, rounded: bool = True) -> float:
    if i == j:
        return 0.0
    if instance.metric == "matrix":
        return float(instance.matrix[i][j])
    a, b = instance.coordinates[i].tolist(), instance.coordinates[j].tolist()
    if instance.metric == "haversine":
        start, end = (on_the_sphere(math.radians(y), math.radians(x)) for x, y in (a, b))
        return 6371.0088 * angle(start, end)
    if instance.metric == "geo":
        (lat_a, lon_a), (lat_b, lon_b) = (map(tsplib_radians, point) for point in (a, b))
        if not rounded:
            start, end = on_the_sphere(lat_a, lon_a), on_the_sphere(lat_b, lon_b)
            return 6378.388 * angle(start, end)
        q1 = math.cos(lon_a - lon_b)
        q2 = math.cos(lat_a - lat_b)
        q3 = math.cos(lat_a + lat_b)
        cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
        return float(int(6378.388 * math.acos(max(-1.0, min(1.0, cosine))) + 1.0))
    square = (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2
    straight = math.sqrt(square / 10.0) if instance.metric == "att" else math.sqrt(square)
    if not rounded or instance.metric == "euclidean":
        return straight
    if instance.metric == "euc_2d":
        return float(int(straight + 0.5))
    if instance.metric == "ceil_2d":
        return float(math.ceil(straight))
    assert instance.metric == "att"
    nearest = int(straight + 0.5)
    return float(nearest + 1 if nearest < straight else nearest)


def at_most(instance: Instance, a: float, b: float, rounded: bool) -> bool:
    """Whether distance a counts as at most b."""
    globe = instance.metric == "haversine" or (instance.metric == "geo" and not rounded)
    return a <= b * (1 + 1e-9) + (1e-6 if globe else 0.0)


def covers(instance: Instance, i: int) -> set[int]:
    """The places that i covers when it is a stop."""
    everyone = range(instance.n)
    match instance.rule:
        case Sets(sets):
            return {i, *sets[i].tolist()}
        case Radius(r):
            radius = r if isinstance(r, float) else float(r[i])
            return {
                j
                for j in everyone
                if j == i or at_most(instance, distance(instance, i, j), radius, rounded=True)
            }
        case Nearest(k):
            wanted = min(k if isinstance(k, int) else int(k[i]), instance.n - 1)
            if wanted == 0:
                return {i}
            far = {j: distance(instance, i, j, rounded=False) for j in everyone if j != i}
            last = sorted(far.values())[wanted - 1]
            return {i} | {j for j in far if at_most(instance, far[j], last, rounded=False)}
    raise AssertionError(instance.rule)


def routes(instance: Instance, stops: list[int]) -> list[list[int]]:
    """The routes, each from the depot on; one where there is no fleet."""
    if instance.fleet is None:
        return [stops]
    found: list[list[int]] = []
    for stop in stops:
        if stop == instance.depot or not found:
            found.append([])
        found[-1].append(stop)
    return found


def length(instance: Instance, stops: list[int]) -> float:
    return math.fsum(
        distance(instance, a, b)
        for route in routes(instance, stops)
        for a, b in zip(route, route[1:] + route[:1], strict=True)
        if not (instance.open and b == route[0])
    )


def cost(instance: Instance, stops: list[int]) -> float:
    visits = [] if instance.visit_cost is None else [float(instance.visit_cost[i]) for i in stops]
    return length(instance, stops) + math.fsum(visits)


def uncovered(instance: Instance, stops: list[int]) -> tuple[int, ...]:
    """The places that fewer stops cover than demand it."""
    allowed = {i for i in stops if i in range(instance.n) and i not in instance.forbidden}
    reached = [covers(instance, i) for i in allowed]

    def wanted(j: int) -> int:
        return 1 if instance.demand is None else int(instance.demand[j])

    return tuple(j for j in range(instance.n) if sum(j in places for places in reached) < wanted(j))


def weight(instance: Instance, places: Iterable[int]) -> float:
    if instance.weight is None:
        return float(len(list(places)))
    return math.fsum(float(instance.weight[i]) for i in places)


def served_weight(instance: Instance, stops: list[int]) -> float:
    left_out = uncovered(instance, stops)
    return weight(instance, [i for i in range(instance.n) if i not in left_out])


def serves_enough(instance: Instance, stops: list[int]) -> bool:
    if instance.budget is not None:
        return True
    if instance.quota is None:
        return not uncovered(instance, stops)
    wanted = instance.quota.weight
    if wanted is None:
        wanted = instance.quota.share * weight(instance, range(instance.n))
    return served_weight(instance, stops) >= wanted * (1 - 1e-9)


def keeps_limits(instance: Instance, stops: list[int]) -> bool:
    """Whether budget and fleet allow these routes."""
    if instance.budget is not None and cost(instance, stops) > instance.budget * (1 + 1e-9):
        return False
    fleet = instance.fleet
    if fleet is None:
        return True
    ways = routes(instance, stops)
    return (
        (fleet.vehicles is None or len(ways) <= fleet.vehicles)
        and (fleet.max_stops is None or all(len(way) - 1 <= fleet.max_stops for way in ways))
        and (
            fleet.max_length is None
            or all(cost(instance, way) <= fleet.max_length * (1 + 1e-9) for way in ways)
        )
        and (len(ways) == 1 or all(len(way) > 1 for way in ways))
    )


def is_tour(instance: Instance, stops: list[int]) -> bool:
    """Whether these stops in this order solve the instance."""
    many = [i for i in stops if instance.fleet is None or i != instance.depot]
    return (
        len(stops) > 0
        and len(set(many)) == len(many)
        and not set(stops) & set(instance.forbidden)
        and set(instance.required) <= set(stops)
        and (instance.depot is None or stops[0] == instance.depot)
        and (instance.end is None or stops[-1] == instance.end)
        and serves_enough(instance, stops)
        and keeps_limits(instance, stops)
    )


def value(instance: Instance, stops: list[int]) -> tuple[float, ...]:
    """What makes a tour better than another: less of this, the first number first."""
    price = cost(instance, stops)
    if instance.budget is not None:
        return (-served_weight(instance, stops), price)
    if instance.fleet is not None and instance.fleet.objective == "fewest":
        return (len(routes(instance, stops)), price)
    if instance.fleet is not None and instance.fleet.objective == "balance":
        return (max(cost(instance, way) for way in routes(instance, stops)), price)
    return (price,)


def covering_stops(instance: Instance) -> list[int] | None:
    """Some valid stops, the depot first; None where no tour can cover all places."""
    first = [] if instance.depot is None else [instance.depot]
    stops = first + [i for i in instance.required if i not in first]
    for i in range(instance.n):
        if i not in instance.forbidden and i not in stops:
            left = uncovered(instance, stops)
            if covers(instance, i) & set(left):
                stops.append(i)
    return None if uncovered(instance, stops) else stops
