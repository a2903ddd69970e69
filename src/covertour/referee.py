"""verify(): the independent referee.

It recomputes coverage and length from the raw input in plain numpy and shares no code with the
solvers, the coverage table or the metrics they use: a mistake there cannot hide here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from covertour.coverage import SAME, Nearest, Radius, Sets
from covertour.instance import Instance
from covertour.metric import FloatArray, IntArray
from covertour.tour import Tour

PAIRS_AT_A_TIME = 4_000_000


@dataclass(frozen=True, eq=False)
class Verdict:
    """Everything that is wrong with a tour; ``ok`` where nothing is.

    Place numbers, ascending: ``uncovered`` by the tour, ``repeated`` on it, ``forbidden`` but on
    it, ``missing`` though required (or the depot), ``unknown`` numbers that are no place.
    ``length`` is the true length of the tour, NaN where it has unknown places; ``claimed`` the
    length it came with, None if none (a NaN is no claim).
    """

    stops: int
    length: float
    claimed: float | None
    uncovered: tuple[int, ...]
    repeated: tuple[int, ...]
    forbidden: tuple[int, ...]
    missing: tuple[int, ...]
    unknown: tuple[int, ...]
    starts_elsewhere: bool

    @property
    def length_is_right(self) -> bool:
        """Whether the claimed length is the true one, to a relative 1e-6."""
        if self.claimed is None:
            return True
        return bool(np.isclose(self.claimed, self.length, rtol=1e-6, atol=1e-9))

    @property
    def ok(self) -> bool:
        """Whether this is a covering tour of the instance that keeps all its rules."""
        return self.length_is_right and not (
            self.stops == 0
            or self.uncovered
            or self.repeated
            or self.forbidden
            or self.missing
            or self.unknown
            or self.starts_elsewhere
        )

    def problems(self, instance: Instance) -> list[str]:
        """One sentence a kind of mistake, with the places by name; empty where all is well."""
        found = []
        if self.stops == 0:
            found.append("the tour has no stop")
        if self.unknown:
            found.append(f"no such place: {', '.join(map(str, self.unknown[:8]))}")
        for places, what in (
            (self.uncovered, "not covered"),
            (self.repeated, "visited more than once"),
            (self.forbidden, "forbidden but visited"),
            (self.missing, "required but not visited"),
        ):
            if places:
                found.append(f"{what} ({len(places)}): {instance.describe(places)}")
        if self.starts_elsewhere:
            assert instance.depot is not None
            found.append(f"does not start at the depot, place {instance.label(instance.depot)}")
        if not self.length_is_right:
            found.append(f"claims length {self.claimed:.10g} but has {self.length:.10g}")
        return found


def verify(instance: Instance, tour: Tour | Sequence[int] | IntArray) -> Verdict:
    """Check a tour against the raw input of an instance; see :class:`Verdict`.

    >>> square = Instance.from_coordinates([[0, 0], [0, 1], [1, 1], [1, 0]], radius=1)
    >>> verify(square, [0, 2]).ok, verify(square, [0]).uncovered
    (True, (2,))
    """
    claimed = tour.length if isinstance(tour, Tour) and tour.length == tour.length else None
    stops = np.asarray(tour.places if isinstance(tour, Tour) else tour, dtype=np.int64)
    n = instance.n
    known = stops[(stops >= 0) & (stops < n)]
    unknown = np.setdiff1d(stops, known)
    visited, times = np.unique(known, return_counts=True)
    allowed = np.setdiff1d(visited, instance.forbidden)
    needed = [*instance.required, *([] if instance.depot is None else [instance.depot])]
    missing = np.setdiff1d(needed, visited)
    covered = np.zeros(n, dtype=bool)
    covered[allowed] = True
    for places in _covered_by(instance, allowed):
        covered[places] = True
    return Verdict(
        stops=len(stops),
        length=_length(instance, stops) if len(unknown) == 0 else float("nan"),
        claimed=claimed,
        uncovered=tuple(np.flatnonzero(~covered).tolist()),
        repeated=tuple(visited[times > 1].tolist()),
        forbidden=tuple(np.intersect1d(visited, instance.forbidden).astype(int).tolist()),
        missing=tuple(missing.astype(int).tolist()),
        unknown=tuple(unknown.tolist()),
        starts_elsewhere=instance.depot is not None
        and instance.depot in visited
        and int(stops[0]) != instance.depot,
    )


def _length(instance: Instance, stops: IntArray) -> float:
    if len(stops) < 2:
        return 0.0
    return float(_distance(instance, stops, np.concatenate([stops[1:], stops[:1]])).sum())


def _distance(instance: Instance, i: IntArray, j: IntArray, rounded: bool = True) -> FloatArray:
    """Distances from places i to places j, written out once more from the definitions."""
    if instance.matrix is not None:
        return instance.matrix[i, j]
    assert instance.coordinates is not None
    (xi, yi), (xj, yj) = instance.coordinates[i].T, instance.coordinates[j].T
    match instance.metric:
        case "haversine":
            a, b = np.deg2rad(yi), np.deg2rad(yj)
            half = np.deg2rad(xj - xi) / 2
            h = np.sin((b - a) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(half) ** 2
            return 2 * 6371.0088 * np.arcsin(np.sqrt(np.minimum(h, 1)))
        case "geo":
            lat_i, lat_j, lon_i, lon_j = (
                3.141592 * (np.trunc(v) + 5 * (v - np.trunc(v)) / 3) / 180 for v in (xi, xj, yi, yj)
            )
            if not rounded:
                h = np.sin((lat_j - lat_i) / 2) ** 2
                h = h + np.cos(lat_i) * np.cos(lat_j) * np.sin((lon_j - lon_i) / 2) ** 2
                return 2 * 6378.388 * np.arcsin(np.sqrt(np.minimum(h, 1)))
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


def _covered_by(instance: Instance, stops: IntArray) -> Iterator[IntArray]:
    """Arrays that together hold every place covered by one of the stops."""
    match instance.rule:
        case Sets(sets):
            for stop in stops:
                yield sets[stop]
        case Radius(r):
            radius = np.broadcast_to(np.asarray(r, dtype=np.float64), instance.n)
            for index, place in _pairs_in_reach(instance, stops, _reach(instance, radius[stops])):
                stop = stops[index]
                yield place[_distance(instance, stop, place) <= radius[stop] * SAME]
        case Nearest(k):
            wanted = np.broadcast_to(np.minimum(k, instance.n - 1), instance.n)
            yield from _nearest(instance, stops, wanted[stops])


def _nearest(instance: Instance, stops: IntArray, wanted: IntArray) -> Iterator[IntArray]:
    """For each stop its wanted number of nearest others and what is tied with the last of them.

    Looks around all stops at a small reach, settles those that found enough within it, and doubles
    the reach for the rest.
    """
    span, dimensions = _span(instance)
    reach = span * (2.0 / instance.n) ** (1.0 / dimensions) / 4.0
    while len(stops):
        done = np.zeros(len(stops), dtype=bool)
        for index, place in _pairs_in_reach(instance, stops, np.full(len(stops), reach)):
            far = _distance(instance, stops[index], place, rounded=False)
            far[stops[index] == place] = -1.0  # a stop comes first in its own order
            order = np.lexsort((far, index))
            index, place, far = index[order], place[order], far[order]
            mine, first, count = np.unique(index, return_index=True, return_counts=True)
            # Enough are found where one more than wanted (or everything) lies within reach: all
            # that is beyond the reach is farther than what is within.
            enough = count > wanted[mine] + 1
            enough |= count == instance.n
            last = far[first + np.minimum(wanted[mine], count - 1)]
            limit = np.repeat(np.where(enough, np.maximum(last, 0.0) * SAME, -1.0), count)
            inner = np.repeat(np.where(count == instance.n, np.inf, far[first + count - 1]), count)
            settled = np.repeat(enough, count) & (limit < inner)
            yield place[settled & (far <= limit)]
            done[index[settled]] = True
        stops, wanted = stops[~done], wanted[~done]
        reach *= 2.0


def _span(instance: Instance) -> tuple[float, int]:
    """The extent of the places (at least a little above 0) and the dimension they spread in."""
    if instance.matrix is not None:
        return 1.0, 1
    points = _embedding(instance)
    return max(float(np.ptp(points, axis=0).max()), 1e-9), 2


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

    A stop's pairs come together in one batch; a matrix knows no reach and gives all. Places are sorted into square cells as wide as the
    reach, so only the cells around a stop's own are looked at; stops of like reach go together.
    """
    if instance.matrix is not None:
        everyone = np.arange(instance.n)
        step = max(1, PAIRS_AT_A_TIME // instance.n)
        for first in range(0, len(stops), step):
            index = np.arange(first, min(first + step, len(stops)))
            yield np.repeat(index, instance.n), np.tile(everyone, len(index))
        return
    points = _embedding(instance)
    origin = points.min(axis=0)
    extent = np.ptp(points, axis=0).max()
    smallest = max(float(extent) * 1e-6, 1e-300)  # keeps the cell numbers within int64
    like = np.ceil(np.log2(np.maximum(reach, smallest)))
    for size in np.unique(like):
        cells = np.floor((points - origin) / 2.0**size).astype(np.int64) + 1
        across = cells.max(axis=0) + 2
        weights = np.array([int(np.prod(across[axis + 1 :])) for axis in range(len(across))])
        key = cells @ weights
        order = np.argsort(key, kind="stable")
        ordered = key[order]
        # Cells that differ by at most one in the last axis have neighbouring keys, so a stop's
        # neighbourhood is one run of places for each combination of the other axes.
        others = np.stack(np.meshgrid(*[[-1, 0, 1]] * (len(across) - 1), indexing="ij"), axis=-1)
        shifts = others.reshape(-1, len(across) - 1) @ weights[:-1]
        group = np.flatnonzero(like == size)
        centre = key[stops[group]][:, None] + shifts[None, :]
        begin = np.searchsorted(ordered, centre - 1, side="left")
        end = np.searchsorted(ordered, centre + 1, side="right")
        total = np.cumsum((end - begin).sum(axis=1))
        for batch in np.split(np.arange(len(group)), _cuts(total)):
            runs = (end[batch] - begin[batch]).ravel()
            start = np.repeat(begin[batch].ravel() - (np.cumsum(runs) - runs), runs)
            place = order[start + np.arange(runs.sum())]
            index = np.repeat(np.repeat(group[batch], len(shifts)), runs)
            square = ((points[place] - points[stops[index]]) ** 2).sum(axis=1)
            near = square <= reach[index] ** 2
            yield index[near], place[near]


def _cuts(total: IntArray) -> npt.NDArray[np.intp]:
    """Where to split stops so that each batch has about PAIRS_AT_A_TIME pairs at most."""
    return np.flatnonzero(np.diff(total // PAIRS_AT_A_TIME)) + 1
