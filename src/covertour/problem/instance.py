"""Instance: the places, how far apart they are, who covers whom, and what the tour must respect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.problem import metric as metrics
from covertour.problem.checks import (
    checked_coordinates,
    checked_extra,
    checked_labels,
    checked_matrix,
    checked_places,
    checked_rule,
    numbers_of_each,
    one_number,
    whole_of_each,
)
from covertour.problem.coverage import (
    SAME,
    Coverage,
    Nearest,
    Radius,
    Rule,
    Sets,
    only_rule,
)
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.goals import Fleet, Quota, make_fleet, make_quota
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.neighbours import build_coverage
from covertour.problem.roads import Roads

FEATURES = ("demand", "quota", "budget", "visit cost", "open", "fleet")
"""What an instance may ask for beyond the plain covering salesman problem."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A covering salesman problem. Places are numbered from 0; arrays are checked and read-only.

    ``metric``: one of :data:`covertour.problem.metric.METRICS`.
    ``rule``: :class:`Nearest`, :class:`Radius` or :class:`Sets`.
    ``coordinates``: float64[n, 2]; for ``haversine`` (longitude, latitude) in degrees. A ``matrix``
    instance may have them too, to be drawn by.
    ``matrix``: float64[n, n], row i holding the distances from i; only for the metric ``matrix``.
    ``depot``: where the tour starts. ``required``: places that must be stops. ``forbidden``:
    places that must not be, but have to be covered all the same.
    ``demand``: int64[n], how many stops must cover each place; None for 1 each.
    ``weight``: float64[n], what each place counts, such as people; None for 1 each.
    ``quota``: how much of the weight must be served, where not every place must be. ``budget``:
    what the tour may cost at most; it is to serve as much weight as it can, then to cost least.
    ``visit_cost``: float64[n], added to the cost for each stop; None for nothing.
    ``open``: the tour need not return; with ``end`` it ends there.
    ``fleet``: several routes from the depot, with limits.
    ``roads``: what stands behind a matrix of distances by road; coordinates are then longitude and
    latitude. See :func:`covertour.with_roads`.
    ``extra``: other columns of the file, a text per place, which are carried to the outputs.

    Most callers build one with :meth:`from_coordinates`, :meth:`from_matrix` or
    :func:`covertour.read`:

    >>> square = Instance.from_coordinates([[0, 0], [0, 1], [1, 1], [1, 0]], radius=1)
    >>> square.n, square.length([0, 2])
    (4, 2.8284271247461903)
    """

    metric: str
    rule: Rule
    coordinates: FloatArray | None = None
    matrix: FloatArray | None = None
    name: str = "places"
    depot: int | None = None
    required: tuple[int, ...] = ()
    forbidden: tuple[int, ...] = ()
    labels: tuple[str, ...] | None = None
    demand: IntArray | None = None
    weight: FloatArray | None = None
    quota: Quota | None = None
    budget: float | None = None
    visit_cost: FloatArray | None = None
    open: bool = False
    end: int | None = None
    fleet: Fleet | None = None
    roads: Roads | None = None
    extra: dict[str, tuple[str, ...]] | None = None

    @classmethod
    def from_coordinates(
        cls,
        coordinates: npt.ArrayLike,
        *,
        metric: str = "euclidean",
        nearest: int | Sequence[int] | None = None,
        radius: float | Sequence[float] | None = None,
        sets: Sequence[Sequence[int]] | None = None,
        name: str = "places",
        depot: int | None = None,
        required: Sequence[int] = (),
        forbidden: Sequence[int] = (),
        stops: Sequence[int] | None = None,
        labels: Sequence[str] | None = None,
        demand: int | Sequence[int] | None = None,
        weight: Sequence[float] | None = None,
        quota: Quota | float | None = None,
        budget: float | None = None,
        visit_cost: float | Sequence[float] | None = None,
        open: bool = False,
        end: int | None = None,
        fleet: Fleet | None = None,
        extra: Mapping[str, Sequence[str]] | None = None,
    ) -> Instance:
        """An instance from points and exactly one of ``nearest``, ``radius`` and ``sets``.

        ``stops``: the places that may be stops, instead of those that are ``forbidden``. ``quota``:
        a share of the weight, or a :class:`Quota`. The others as in :class:`Instance`.
        """
        return cls(
            metric=metric,
            rule=make_rule(nearest, radius, sets),
            coordinates=coordinates,  # type: ignore[arg-type]  # checked and converted on creation
            name=name,
            depot=depot,
            required=required,  # type: ignore[arg-type]
            forbidden=all_but(stops, forbidden, coordinates),
            labels=labels,  # type: ignore[arg-type]
            demand=demand,  # type: ignore[arg-type]
            weight=weight,  # type: ignore[arg-type]
            quota=quota,  # type: ignore[arg-type]
            budget=budget,
            visit_cost=visit_cost,  # type: ignore[arg-type]
            open=open,
            end=end,
            fleet=fleet,
            extra=extra,  # type: ignore[arg-type]
        )

    @classmethod
    def from_matrix(
        cls,
        matrix: npt.ArrayLike,
        *,
        nearest: int | Sequence[int] | None = None,
        radius: float | Sequence[float] | None = None,
        sets: Sequence[Sequence[int]] | None = None,
        coordinates: npt.ArrayLike | None = None,
        name: str = "places",
        depot: int | None = None,
        required: Sequence[int] = (),
        forbidden: Sequence[int] = (),
        stops: Sequence[int] | None = None,
        labels: Sequence[str] | None = None,
        demand: int | Sequence[int] | None = None,
        weight: Sequence[float] | None = None,
        quota: Quota | float | None = None,
        budget: float | None = None,
        visit_cost: float | Sequence[float] | None = None,
        open: bool = False,
        end: int | None = None,
        fleet: Fleet | None = None,
        extra: Mapping[str, Sequence[str]] | None = None,
    ) -> Instance:
        """An instance from distances and exactly one of ``nearest``, ``radius`` and ``sets``.

        ``coordinates`` may be given to be drawn by; the others as in :meth:`from_coordinates`.

        >>> one_way = Instance.from_matrix([[0, 1, 9], [2, 0, 1], [1, 9, 0]], nearest=0)
        >>> one_way.length([0, 1, 2]), one_way.length([2, 1, 0])
        (3.0, 20.0)
        """
        return cls(
            metric="matrix",
            rule=make_rule(nearest, radius, sets),
            matrix=matrix,  # type: ignore[arg-type]  # checked and converted on creation
            coordinates=coordinates,  # type: ignore[arg-type]
            name=name,
            depot=depot,
            required=required,  # type: ignore[arg-type]
            forbidden=all_but(stops, forbidden, matrix),
            labels=labels,  # type: ignore[arg-type]
            demand=demand,  # type: ignore[arg-type]
            weight=weight,  # type: ignore[arg-type]
            quota=quota,  # type: ignore[arg-type]
            budget=budget,
            visit_cost=visit_cost,  # type: ignore[arg-type]
            open=open,
            end=end,
            fleet=fleet,
            extra=extra,  # type: ignore[arg-type]
        )

    def __post_init__(self) -> None:
        if self.metric not in metrics.METRICS:
            hint = did_you_mean(str(self.metric), metrics.METRICS)
            raise InputError(f"metric: no {shown(self.metric)}{hint}")
        coordinates = matrix = None
        if self.metric == "matrix":
            if self.matrix is None:
                raise InputError("matrix: the metric 'matrix' needs a distance matrix")
            matrix = checked_matrix(self.matrix)
        elif self.matrix is not None:
            raise InputError(f"matrix: the metric {self.metric!r} takes coordinates, not a matrix")
        elif self.coordinates is None:
            raise InputError(f"coordinates: the metric {self.metric!r} needs them")
        if self.roads is not None and (matrix is None or self.coordinates is None):
            raise InputError("roads: need a distance matrix, and coordinates")
        if self.coordinates is not None:
            coordinates = checked_coordinates(self.coordinates, self.drawn_metric)
        n = len(matrix) if matrix is not None else len(coordinates)  # type: ignore[arg-type]
        if coordinates is not None and len(coordinates) != n:
            raise InputError(f"coordinates: {len(coordinates)} of them for {n} places")
        if n == 0:
            raise InputError("an instance needs at least one place")
        checked: dict[str, Any] = {
            "coordinates": coordinates,
            "matrix": matrix,
            "rule": checked_rule(self.rule, n),
            "required": checked_places("required", self.required, n),
            "forbidden": checked_places("forbidden", self.forbidden, n),
            "labels": checked_labels(self.labels, n),
            "extra": checked_extra(self.extra, n),
            "demand": whole_of_each("demand", self.demand, n, usual=1),
            "weight": numbers_of_each("weight", self.weight, n),
            "quota": make_quota(self.quota),
            "budget": one_number("budget", self.budget),
            "visit_cost": numbers_of_each("visit_cost", self.visit_cost, n, usual=0.0),
            "fleet": make_fleet(self.fleet),
        }
        for field in ("depot", "end"):
            if getattr(self, field) is not None:
                checked[field] = checked_places(field, [getattr(self, field)], n)[0]
        if not isinstance(self.open, bool | np.bool_):
            raise InputError(f"open: expected true or false, got {shown(self.open)}")
        checked["open"] = bool(self.open) or self.end is not None
        for field, value in checked.items():
            object.__setattr__(self, field, value)
        self._check_together()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Come back from a pickle, with what was computed already; arrays are read-only again."""
        self.__dict__.update(state)
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def _check_together(self) -> None:
        """Refuse fields that exclude each other."""
        banned = set(self.forbidden)
        for field in ("depot", "end"):
            place = getattr(self, field)
            if place is not None and place in banned:
                raise InputError(f"{field}: place {self.label(place)} is forbidden too")
        for place in self.required:
            if place in banned:
                raise InputError(f"required: place {self.label(place)} is forbidden too")
        if self.end is not None and self.end == self.depot:
            raise InputError("end: is the depot; a tour returns there by itself, leave out end")
        if self.quota is not None and self.budget is not None:
            raise InputError("quota and budget: give only one of them")
        if self.quota is not None:
            wanted, total = self.quota_weight, self.total_weight
            if wanted > total * SAME:
                raise InputError(f"quota: {wanted:g} is more than the total weight {total:g}")
        if self.fleet is not None:
            if self.depot is None:
                raise InputError("fleet: routes start at a depot; give one")
            for field in ("end", "budget"):
                if getattr(self, field) is not None:
                    raise InputError(f"fleet and {field}: give only one of them")

    @property
    def n(self) -> int:
        """Number of places."""
        return len(self.matrix) if self.matrix is not None else len(self.coordinates)  # type: ignore[arg-type]

    @property
    def drawn_metric(self) -> str:
        """The metric that the coordinates belong to: the globe's where distances are by road."""
        return self.metric if self.roads is None else "haversine"

    @cached_property
    def symmetric(self) -> bool:
        """Whether the way back is always as long as the way there."""
        return self.matrix is None or bool(np.array_equal(self.matrix, self.matrix.T))

    @cached_property
    def integral(self) -> bool:
        """Whether all distances and visit costs are whole numbers, so that costs are too."""
        costs = self.visit_cost
        if costs is not None and not np.all(costs == np.floor(costs)):
            return False
        if self.matrix is not None:
            return bool(np.all(self.matrix == np.floor(self.matrix)))
        return self.metric in metrics.INTEGER_METRICS

    @cached_property
    def must_visit(self) -> IntArray:
        """Depot and end, if any, and the required places, int64[m], ascending, each once."""
        ends = [place for place in (self.depot, self.end) if place is not None]
        return np.unique(np.array([*ends, *self.required], dtype=np.int64))

    @cached_property
    def demands(self) -> IntArray:
        """How many stops must cover each place, int64[n]."""
        return np.ones(self.n, dtype=np.int64) if self.demand is None else self.demand

    @cached_property
    def weights(self) -> FloatArray:
        """What each place counts, float64[n]."""
        return np.ones(self.n) if self.weight is None else self.weight

    @cached_property
    def visit_costs(self) -> FloatArray:
        """What each place costs as a stop, float64[n]."""
        return np.zeros(self.n) if self.visit_cost is None else self.visit_cost

    @cached_property
    def total_weight(self) -> float:
        """The weight of all places."""
        return float(self.weights.sum())

    @property
    def quota_weight(self) -> float:
        """The weight that must be served: all of it, that of the quota, or 0 with a budget."""
        if self.budget is not None:
            return 0.0
        return self.total_weight if self.quota is None else self.quota.of(self.total_weight)

    @property
    def partial(self) -> bool:
        """Whether some places may be left out, as there is a quota or a budget."""
        return self.quota is not None or self.budget is not None

    @cached_property
    def features(self) -> frozenset[str]:
        """What it asks for beyond the plain problem; see FEATURES."""
        uses = {
            "demand": self.demand is not None,
            "quota": self.quota is not None,
            "budget": self.budget is not None,
            "visit cost": self.visit_cost is not None,
            "open": self.open,
            "fleet": self.fleet is not None,
        }
        return frozenset(feature for feature in FEATURES if uses[feature])

    @cached_property
    def coverage(self) -> Coverage:
        """Who covers whom, built on first use; an error where no tour can serve who must be."""
        from covertour.problem.feasibility import check_coverable

        coverage = build_coverage(
            self.metric, self.coordinates, self.matrix, self.rule, self.forbidden
        )
        check_coverable(self, coverage)
        return coverage

    def label(self, place: int) -> str:
        """The name of a place, or its number where the input gave none."""
        return self.labels[place] if self.labels is not None else str(place)

    def describe(self, places: Sequence[int] | IntArray, most: int = 8) -> str:
        """A short list of places for a message: the first few by name, and how many more."""
        shown = ", ".join(self.label(int(place)) for place in places[:most])
        noun = "place" if len(places) == 1 else "places"
        more = f" and {len(places) - most} more" if len(places) > most else ""
        return f"{noun} {shown}{more}"

    def distances(self, start: npt.ArrayLike, end: npt.ArrayLike) -> FloatArray:
        """Distances between places by number, element by element; 0 from a place to itself."""
        a, b = np.asarray(start), np.asarray(end)
        if self.matrix is not None:
            return self.matrix[a, b]
        assert self.coordinates is not None
        found = metrics.distances(self.metric, self.coordinates[a], self.coordinates[b])
        return np.where(a == b, 0.0, found)

    def cover_distances(self, stops: npt.ArrayLike, places: npt.ArrayLike) -> FloatArray:
        """How far places are from stops that cover them, element by element.

        By road that is measured as the coverage rule does, on foot for instance, in kilometres.
        """
        if self.roads is None or self.roads.pair is None:
            return self.distances(stops, places)
        return self.roads.cover_distances(self.n, stops, places)

    def length(self, places: npt.ArrayLike) -> float:
        """Length of the tour through the places in this order, with the way back unless open.

        The routes of a fleet follow each other, each from the depot on.
        """
        stops = np.asarray(places, dtype=np.int64)
        if len(stops) < 2:
            return 0.0
        legs = self.distances(stops, np.roll(stops, -1))
        if self.open:
            legs = legs[:-1]
            if self.fleet is not None:  # no way back from any route
                legs = legs[stops[1:] != self.depot]
        return float(legs.sum())

    def cost(self, places: npt.ArrayLike) -> float:
        """What a tour costs: its length and the visit costs of its stops."""
        length = self.length(places)
        if self.visit_cost is None:
            return length
        return length + float(self.visit_cost[np.asarray(places, dtype=np.int64)].sum())

    def covered(self, places: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Which places have their demand met by these stops, bool[n]."""
        stops = np.unique(np.asarray(places, dtype=np.int64))
        table = self.coverage
        begin, end = table.covers_start[stops], table.covers_start[stops + 1]
        count = end - begin
        offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        who = table.covers[np.repeat(begin, count) + offset]
        return np.bincount(who, minlength=self.n) >= self.demands

    def covered_weight(self, places: npt.ArrayLike) -> float:
        """The weight of the places whose demand is met by these stops."""
        return float(self.weights[self.covered(places)].sum())

    def _repr_html_(self) -> str:
        from covertour.problem.drawing import as_html

        return as_html(self)

    def with_changes(self, **changes: Any) -> Instance:
        """A copy with some fields replaced, checked anew."""
        return replace(self, **changes)


def make_rule(
    nearest: int | Sequence[int] | None = None,
    radius: float | Sequence[float] | None = None,
    sets: Sequence[Sequence[int]] | None = None,
) -> Rule:
    """The coverage rule from exactly one of the three."""
    if only_rule(nearest=nearest, radius=radius, sets=sets) is None:
        raise InputError("coverage: give one of nearest, radius and sets")
    if nearest is not None:
        return Nearest(nearest)  # type: ignore[arg-type]  # checked by Instance
    if radius is not None:
        return Radius(radius)  # type: ignore[arg-type]  # checked by Instance
    assert sets is not None
    return Sets(tuple(sets))  # type: ignore[arg-type]  # checked by Instance


def all_but(stops: Sequence[int] | None, forbidden: Sequence[int], places: Any) -> tuple[int, ...]:
    """The places that are forbidden where only ``stops`` may be stops; None for no such wish."""
    if stops is None:
        return tuple(forbidden)
    if len(forbidden):
        raise InputError("stops and forbidden: give only one of them")
    n = len(places)
    return tuple(sorted(set(range(n)) - set(checked_places("stops", stops, n))))
