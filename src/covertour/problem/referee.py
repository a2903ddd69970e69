"""verify(): the independent referee.

It recomputes coverage and length from the raw input in plain numpy and shares no code with the
solvers, the coverage table or the metrics they use: a mistake there cannot hide here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.problem.coverage import MILLIMETRE, SAME, Nearest, Radius, Sets
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.tour import Tour
from covertour.problem.verdict import Verdict

PAIRS_AT_A_TIME = 4_000_000
FEW_PAIRS = 20_000
SAMPLE = 32
"""How many stops are measured against all places to learn how far a look has to go."""


def verify(instance: Instance, tour: Tour | Sequence[int] | IntArray) -> Verdict:
    """Check a tour against the raw input of an instance; see :class:`Verdict`.

    >>> square = Instance.from_coordinates([[0, 0], [0, 1], [1, 1], [1, 0]], radius=1)
    >>> verify(square, [0, 2]).ok, verify(square, [0]).uncovered
    (True, (2,))
    """
    claimed = tour.length if isinstance(tour, Tour) and tour.length == tour.length else None
    stops = np.asarray(tour.places if isinstance(tour, Tour) else tour, dtype=np.int64)
    n = instance.n
    known = (stops >= 0) & (stops < n)
    unknown = sorted(set(stops[~known].tolist()))
    visits = np.bincount(stops[known], minlength=n)
    ends = (place for place in (instance.depot, instance.end) if place is not None)
    needed = {*instance.required, *ends}
    met = _times_covered(instance, visits > 0) >= _demand(instance)
    weights = np.ones(n) if instance.weight is None else instance.weight
    cost = length = float("nan")
    if not unknown:
        length = _length(instance, stops)
        cost = length + float(_visit_costs(instance)[stops].sum())
    known_ends = len(stops) > 0 and not unknown
    repeated = visits > 1
    if instance.fleet is not None:
        repeated[instance.depot] = False
    return Verdict(
        stops=len(stops),
        length=length,
        cost=cost,
        claimed=claimed,
        uncovered=tuple(np.flatnonzero(~met).tolist()),
        repeated=tuple(np.flatnonzero(repeated).tolist()),
        forbidden=tuple(place for place in sorted(instance.forbidden) if visits[place]),
        missing=tuple(place for place in sorted(needed) if not visits[place]),
        unknown=tuple(unknown),
        starts_elsewhere=instance.depot is not None
        and bool(visits[instance.depot])
        and int(stops[0]) != instance.depot,
        ends_elsewhere=known_ends and instance.end is not None and int(stops[-1]) != instance.end,
        covered_weight=float(weights[met].sum()),
        quota=_quota(instance, weights),
        over_budget=_over_budget(instance, cost),
        **(_routes(instance, stops) if known_ends else {}),
    )


def _demand(instance: Instance) -> IntArray:
    return np.ones(instance.n, dtype=np.int64) if instance.demand is None else instance.demand


def _visit_costs(instance: Instance) -> FloatArray:
    return np.zeros(instance.n) if instance.visit_cost is None else instance.visit_cost


def _quota(instance: Instance, weights: FloatArray) -> float | None:
    """The weight that must be served; None where every place must be."""
    if instance.budget is not None:
        return 0.0
    if instance.quota is None:
        return None
    if instance.quota.weight is not None:
        return instance.quota.weight
    assert instance.quota.share is not None
    return instance.quota.share * float(weights.sum())


def _over_budget(instance: Instance, cost: float) -> float:
    if instance.budget is None or not cost > instance.budget * (1 + 1e-9):
        return 0.0
    return cost - instance.budget


def _routes(instance: Instance, stops: IntArray) -> dict[str, Any]:
    """What a fleet's routes break; nothing without a fleet, or where the tour starts elsewhere."""
    fleet, depot = instance.fleet, instance.depot
    if fleet is None or stops[0] != depot:
        return {}
    routes: list[list[int]] = []
    for stop in stops.tolist():
        if stop == depot:
            routes.append([])
        routes[-1].append(stop)
    long, full, empty = [], [], []
    for number, route in enumerate(routes, start=1):
        places = np.array(route)
        following = places if instance.open else np.append(places, places[0])
        cost = float(_distance(instance, following[:-1], following[1:]).sum())
        cost += float(_visit_costs(instance)[places].sum())
        if fleet.max_length is not None and cost > fleet.max_length * (1 + 1e-9):
            long.append(number)
        if fleet.max_stops is not None and len(route) - 1 > fleet.max_stops:
            full.append(number)
        if len(route) == 1 and len(routes) > 1:
            empty.append(number)
    spare = 0 if fleet.vehicles is None else max(0, len(routes) - fleet.vehicles)
    return {
        "routes": len(routes),
        "spare_routes": spare,
        "long_routes": tuple(long),
        "full_routes": tuple(full),
        "empty_routes": tuple(empty),
    }


def _length(instance: Instance, stops: IntArray) -> float:
    if len(stops) < 2:
        return 0.0
    following = stops if instance.open else np.concatenate([stops, stops[:1]])
    start, end = following[:-1], following[1:]
    if instance.open and instance.fleet is not None:
        driven = end != instance.depot
        start, end = start[driven], end[driven]
    return float(_distance(instance, start, end).sum())


def _times_covered(instance: Instance, visited: npt.NDArray[np.bool_]) -> IntArray:
    """By how many stops each place is covered; a stop covers itself once."""
    allowed = visited.copy()
    allowed[list(instance.forbidden)] = False
    times = allowed.astype(np.int64)
    if instance.demand is None and allowed.all():
        return times
    for stop, place in _covered_pairs(instance, np.flatnonzero(allowed)):
        times += np.bincount(place[place != stop], minlength=instance.n)
    return times


def _distance(instance: Instance, i: IntArray, j: IntArray, rounded: bool = True) -> FloatArray:
    """Distances from places i to places j, written out once more from the definitions."""
    i, j = np.broadcast_arrays(i, j)
    if instance.matrix is not None:
        return instance.matrix[i, j]
    assert instance.coordinates is not None
    x, y = instance.coordinates.T
    xi, yi, xj, yj = x[i], y[i], x[j], y[j]
    match instance.metric:
        case "haversine":
            return 6371.0088 * _arc(*(np.deg2rad(v) for v in (yi, yj, xj - xi)))
        case "geo":
            lat_i, lat_j, lon_i, lon_j = (
                3.141592 * (np.trunc(v) + 5 * (v - np.trunc(v)) / 3) / 180 for v in (xi, xj, yi, yj)
            )
            if not rounded:
                return 6378.388 * _arc(lat_i, lat_j, lon_j - lon_i)
            q1 = np.cos(lon_i - lon_j)
            q2, q3 = np.cos(lat_i - lat_j), np.cos(lat_i + lat_j)
            cosine = np.clip(0.5 * ((1 + q1) * q2 - (1 - q1) * q3), -1, 1)
            return np.where(i == j, 0, np.floor(6378.388 * np.arccos(cosine) + 1))
    square = (xi - xj) * (xi - xj) + (yi - yj) * (yi - yj)
    straight = np.sqrt(square / 10) if instance.metric == "att" else np.sqrt(square)
    if rounded and instance.metric == "euc_2d":
        return np.floor(straight + 0.5)
    if rounded and instance.metric in ("ceil_2d", "att"):
        return np.ceil(straight)
    return straight


def _arc(a: FloatArray, b: FloatArray, turn: FloatArray) -> FloatArray:
    """Angles between points at latitudes a and b whose longitudes differ by turn, in radians.

    The squared half chords to the point and to its antipode, so that both near and opposite points
    keep all their digits.
    """
    around = np.cos(a) * np.cos(b)
    near = np.sin((a - b) / 2) ** 2 + around * np.sin(turn / 2) ** 2
    opposite = np.sin((a + b) / 2) ** 2 + around * np.cos(turn / 2) ** 2
    return 2 * np.arctan2(np.sqrt(near), np.sqrt(opposite))


def _covered_pairs(instance: Instance, stops: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Arrays of stops and places, element by element: the stop covers the place, each pair once.

    A stop may or may not be among its own.
    """
    match instance.rule:
        case Sets(sets):
            counts = [len(sets[stop]) for stop in stops]
            if sum(counts):
                yield np.repeat(stops, counts), np.concatenate([sets[stop] for stop in stops])
        case Radius(r):
            radius = np.broadcast_to(np.asarray(r, dtype=np.float64), instance.n)
            for index, place in _pairs_in_reach(instance, stops, _reach(instance, radius[stops])):
                stop = stops[index]
                far = _distance(instance, stop, place)
                near = far <= radius[stop] * SAME + _slack(instance, rounded=True)
                yield stop[near], place[near]
        case Nearest(k):
            wanted = np.broadcast_to(np.minimum(k, instance.n - 1), instance.n)
            everyone = np.arange(instance.n)
            for stop in stops[wanted[stops] == instance.n - 1]:
                yield np.broadcast_to(stop, instance.n), everyone
            some = stops[(wanted[stops] > 0) & (wanted[stops] < instance.n - 1)]
            yield from _nearest(instance, some, wanted[some])


def _slack(instance: Instance, rounded: bool) -> float:
    """By how much two distances on the globe may differ and still count as equal."""
    unrounded_geo = instance.metric == "geo" and not rounded
    return MILLIMETRE if instance.metric == "haversine" or unrounded_geo else 0.0


def _nearest(
    instance: Instance, stops: IntArray, wanted: IntArray
) -> Iterator[tuple[IntArray, IntArray]]:
    """For each stop its wanted number of nearest others and what is tied with the last of them.

    Where pairs are few, or a matrix knows no reach, all are looked at. Otherwise looks around all
    stops at a small reach, settles those that found enough within it, and doubles the reach for the
    rest.
    """
    slack = _slack(instance, rounded=False)
    if _all_pairs(instance, stops):
        everyone = np.arange(instance.n)
        step = max(1, PAIRS_AT_A_TIME // instance.n)
        for begin in range(0, len(stops), step):
            some = stops[begin : begin + step, None]
            far = np.where(
                some == everyone, -1.0, _distance(instance, some, everyone, rounded=False)
            )
            last = np.take_along_axis(np.sort(far), wanted[begin : begin + step, None], axis=1)
            index, place = np.nonzero(far <= last * SAME + slack)
            yield some[index, 0], place
        return
    reach = _first_reach(instance, stops, wanted)
    while len(stops):
        done = np.zeros(len(stops), dtype=bool)
        for index, place in _pairs_in_reach(instance, stops, np.full(len(stops), reach)):
            far = _distance(instance, stops[index], place, rounded=False)
            far[stops[index] == place] = -1.0  # a stop comes first in its own order
            order = np.lexsort((far, index))
            index, place, far = index[order], place[order], far[order]
            mine, first, count = np.unique(index, return_index=True, return_counts=True)
            # Enough are found where the farthest within reach is farther than the last one wanted
            # and its ties, as all beyond the reach then are too; or where everyone is within it.
            last = far[first + np.minimum(wanted[mine], count - 1)]
            limit = last * SAME + slack
            enough = (count > wanted[mine] + 1) & (limit < far[first + count - 1])
            enough |= count == instance.n
            near = np.repeat(enough, count) & (far <= np.repeat(limit, count))
            yield stops[index[near]], place[near]
            done[mine[enough]] = True
        stops, wanted = stops[~done], wanted[~done]
        reach *= 2.0


def _first_reach(instance: Instance, stops: IntArray, wanted: IntArray) -> float:
    """A reach at which few stops find much more than they want: the least that a sample needs."""
    points = _embedding(instance)
    needed = []
    for index in np.linspace(0, len(stops) - 1, SAMPLE).astype(np.int64):
        square = _square(points, points[stops[index]])
        needed.append(float(np.partition(square, wanted[index])[wanted[index]]))
    apart = [square for square in needed if square > 0]
    extent = float(np.ptp(points, axis=0).max())
    return float(np.sqrt(min(apart))) if apart else max(extent * 1e-6, 1e-12)


def _all_pairs(instance: Instance, stops: IntArray) -> bool:
    """Whether to look at every pair of a stop and a place."""
    return instance.matrix is not None or len(stops) * instance.n <= FEW_PAIRS


def _square(points: FloatArray, others: FloatArray) -> FloatArray:
    """Squared straight-line distances, axis by axis, which is quicker than a sum over rows."""
    total = (points[..., 0] - others[..., 0]) ** 2
    for axis in range(1, points.shape[-1]):
        total += (points[..., axis] - others[..., axis]) ** 2
    return total


def _embedding(instance: Instance) -> FloatArray:
    """Points whose straight-line distance grows with the unrounded distance of the places."""
    assert instance.coordinates is not None
    first, second = instance.coordinates.T
    if instance.metric == "geo":
        latitude, longitude = (
            3.141592 * (np.trunc(v) + 5 * (v - np.trunc(v)) / 3) / 180 for v in (first, second)
        )
    elif instance.metric == "haversine":
        latitude, longitude = np.deg2rad(second), np.deg2rad(first)
    else:
        return instance.coordinates
    x, y = np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude)
    return np.stack([x, y, np.sin(latitude)], axis=1)


def _reach(instance: Instance, radius: FloatArray) -> FloatArray:
    """Straight-line distances in the embedding that are surely enough for the radii."""
    match instance.metric:
        case "haversine" | "geo":
            earth = 6371.0088 if instance.metric == "haversine" else 6378.388
            straight = 2 * np.sin(np.minimum(radius / earth, np.pi) / 2)
        case "att":
            straight = radius * np.sqrt(10)
        case _:
            straight = radius + 0.5 * (instance.metric == "euc_2d")
    return straight * 1.000001 + 1e-12


def _pairs_in_reach(
    instance: Instance, stops: IntArray, reach: FloatArray
) -> Iterator[tuple[IntArray, IntArray]]:
    """The pairs (index into stops, place) where the place lies within reach of the stop.

    A stop's pairs come together in one batch; a matrix knows no reach and gives all, and so do
    pairs that are few. Otherwise places are sorted into square cells as wide as the reach, so only
    the cells around a stop's own are looked at; stops of like reach go together.
    """
    if _all_pairs(instance, stops):
        everyone = np.arange(instance.n)
        step = max(1, PAIRS_AT_A_TIME // instance.n)
        for first in range(0, len(stops), step):
            index = np.arange(first, min(first + step, len(stops)))
            yield np.repeat(index, instance.n), np.tile(everyone, len(index))
        return
    points = _embedding(instance)
    origin = points.min(axis=0)
    extent = np.ptp(points, axis=0).max()
    # At most so many cells across that their numbers fit into int64.
    smallest = max(float(extent) * (1e-9 if points.shape[1] == 2 else 1e-6), 1e-300)
    like = np.ceil(np.log2(np.maximum(reach, smallest)))
    for size in np.unique(like):
        group = np.flatnonzero(like == size)
        width = max(float(reach[group].max()), smallest)
        cells = np.floor((points - origin) / width).astype(np.int64) + 1
        across = cells.max(axis=0) + 2
        weights = np.array([int(np.prod(across[axis + 1 :])) for axis in range(len(across))])
        key = cells @ weights
        order = np.argsort(key, kind="stable")
        ordered, sorted_points = key[order], points[order]
        group = group[np.argsort(key[stops[group]], kind="stable")]
        # Cells that differ by at most one in the last axis have neighbouring keys, so a stop's
        # neighbourhood is one run of places for each combination of the other axes.
        others = np.stack(np.meshgrid(*[[-1, 0, 1]] * (len(across) - 1), indexing="ij"), axis=-1)
        shifts = others.reshape(-1, len(across) - 1) @ weights[:-1]
        centre = key[stops[group]][:, None] + shifts[None, :]
        begin = np.searchsorted(ordered, centre - 1, side="left")
        end = np.searchsorted(ordered, centre + 1, side="right")
        total = np.cumsum((end - begin).sum(axis=1))
        for batch in np.split(np.arange(len(group)), _cuts(total)):
            runs = end[batch] - begin[batch]
            each = runs.sum(axis=1)
            runs = runs.ravel()
            slot = np.repeat(begin[batch].ravel() - (np.cumsum(runs) - runs), runs)
            slot += np.arange(len(slot))
            here = np.repeat(points[stops[group[batch]]], each, axis=0)
            limit = np.repeat(reach[group[batch]] ** 2, each)
            near = _square(sorted_points[slot], here) <= limit
            yield np.repeat(group[batch], each)[near], order[slot[near]]


def _cuts(total: IntArray) -> npt.NDArray[np.intp]:
    """Where to split stops so that each batch has about PAIRS_AT_A_TIME pairs at most."""
    return np.flatnonzero(np.diff(total // PAIRS_AT_A_TIME)) + 1
