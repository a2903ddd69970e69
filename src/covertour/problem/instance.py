"""Instance: the places, how far apart they are, who covers whom, and what the tour must respect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.problem import metric as metrics
from covertour.problem.coverage import (
    Coverage,
    Nearest,
    Radius,
    Rule,
    Sets,
    only_rule,
)
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.neighbours import build_coverage

LARGEST_COORDINATE = 1e100

LARGEST_NEAREST = 10**15
"""Whole numbers up to here are told apart, as integers and as floating-point numbers."""

LEAST_APART = 1e-130
"""Distances other than 0 that are less than this are refused: their squares would vanish, and a
tour among such places would have length 0."""


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
        labels: Sequence[str] | None = None,
    ) -> Instance:
        """An instance from points and exactly one of ``nearest``, ``radius`` and ``sets``."""
        return cls(
            metric=metric,
            rule=make_rule(nearest, radius, sets),
            coordinates=coordinates,  # type: ignore[arg-type]  # checked and converted on creation
            name=name,
            depot=depot,
            required=required,  # type: ignore[arg-type]
            forbidden=forbidden,  # type: ignore[arg-type]
            labels=labels,  # type: ignore[arg-type]
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
        labels: Sequence[str] | None = None,
    ) -> Instance:
        """An instance from distances and exactly one of ``nearest``, ``radius`` and ``sets``.

        ``coordinates`` may be given to be drawn by.
        """
        return cls(
            metric="matrix",
            rule=make_rule(nearest, radius, sets),
            matrix=matrix,  # type: ignore[arg-type]  # checked and converted on creation
            coordinates=coordinates,  # type: ignore[arg-type]
            name=name,
            depot=depot,
            required=required,  # type: ignore[arg-type]
            forbidden=forbidden,  # type: ignore[arg-type]
            labels=labels,  # type: ignore[arg-type]
        )

    def __post_init__(self) -> None:
        if self.metric not in metrics.METRICS:
            hint = did_you_mean(str(self.metric), metrics.METRICS)
            raise InputError(f"metric: no {shown(self.metric)}{hint}")
        coordinates = matrix = None
        if self.metric == "matrix":
            if self.matrix is None:
                raise InputError("matrix: the metric 'matrix' needs a distance matrix")
            matrix = _checked_matrix(self.matrix)
        elif self.matrix is not None:
            raise InputError(f"matrix: the metric {self.metric!r} takes coordinates, not a matrix")
        elif self.coordinates is None:
            raise InputError(f"coordinates: the metric {self.metric!r} needs them")
        if self.coordinates is not None:
            coordinates = _checked_coordinates(self.coordinates, self.metric)
        n = len(matrix) if matrix is not None else len(coordinates)  # type: ignore[arg-type]
        if coordinates is not None and len(coordinates) != n:
            raise InputError(f"coordinates: {len(coordinates)} of them for {n} places")
        if n == 0:
            raise InputError("an instance needs at least one place")
        checked: dict[str, Any] = {
            "coordinates": coordinates,
            "matrix": matrix,
            "rule": _checked_rule(self.rule, n),
            "required": _checked_places("required", self.required, n),
            "forbidden": _checked_places("forbidden", self.forbidden, n),
        }
        if self.depot is not None:
            checked["depot"] = _checked_places("depot", [self.depot], n)[0]
        if self.labels is not None:
            if len(self.labels) != n:
                raise InputError(f"labels: {len(self.labels)} of them for {n} places")
            checked["labels"] = tuple(str(label) for label in self.labels)
        for field, value in checked.items():
            object.__setattr__(self, field, value)
        banned = set(self.forbidden)
        if self.depot is not None and self.depot in banned:
            raise InputError(f"depot: place {self.label(self.depot)} is forbidden too")
        for place in self.required:
            if place in banned:
                raise InputError(f"required: place {self.label(place)} is forbidden too")

    @property
    def n(self) -> int:
        """Number of places."""
        return len(self.matrix) if self.matrix is not None else len(self.coordinates)  # type: ignore[arg-type]

    @cached_property
    def symmetric(self) -> bool:
        """Whether the way back is always as long as the way there."""
        return self.matrix is None or bool(np.array_equal(self.matrix, self.matrix.T))

    @cached_property
    def integral(self) -> bool:
        """Whether all distances are whole numbers, so that lengths are too."""
        if self.matrix is not None:
            return bool(np.all(self.matrix == np.floor(self.matrix)))
        return self.metric in metrics.INTEGER_METRICS

    @cached_property
    def must_visit(self) -> IntArray:
        """The depot, if any, and the required places, int64[m], ascending, each once."""
        depot = [] if self.depot is None else [self.depot]
        return np.unique(np.array([*depot, *self.required], dtype=np.int64))

    @cached_property
    def coverage(self) -> Coverage:
        """Who covers whom, built on first use; an error where some place has no coverer."""
        coverage = build_coverage(
            self.metric, self.coordinates, self.matrix, self.rule, self.forbidden
        )
        alone = np.flatnonzero(np.diff(coverage.covered_by_start) == 0)
        if len(alone):
            raise InputError(
                f"{self.name}: no allowed place covers {self.describe(alone)}, so no tour can"
            )
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

    def length(self, places: npt.ArrayLike) -> float:
        """Length of the closed tour through the places in this order."""
        stops = np.asarray(places, dtype=np.int64)
        if len(stops) < 2:
            return 0.0
        return float(self.distances(stops, np.roll(stops, -1)).sum())

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


def _numbers(field: str, values: Any) -> FloatArray:
    try:
        found = np.asarray(values)
        if found.dtype.kind not in "biufO" or (found.dtype.kind == "b" and found.size):
            raise InputError(f"{field}: expected numbers, got {shown(values)}")
        return np.array(found, dtype=np.float64)
    except OverflowError:
        raise InputError(f"{field}: a number is too large") from None
    except InputError:
        raise
    except (TypeError, ValueError):
        raise InputError(f"{field}: expected numbers in rows of one length") from None


def _checked_coordinates(values: Any, metric: str) -> FloatArray:
    points = _numbers("coordinates", values)
    if points.size == 0:
        return np.empty((0, 2))
    if points.ndim != 2 or points.shape[1] != 2:
        raise InputError(f"coordinates: expected n rows of two numbers, got shape {points.shape}")
    bad = np.flatnonzero(~(np.abs(points) <= LARGEST_COORDINATE).all(axis=1))
    if len(bad):
        place = int(bad[0])
        raise InputError(f"coordinates: place {place} has {points[place].tolist()}, not finite")
    _refuse_all_but_equal(points)
    if metric in metrics.SPHERE_KM:
        longitude, latitude = points[:, 0], points[:, 1]
        if metric == "geo":
            longitude, latitude = latitude, longitude
        for what, column, limit in (("latitude", latitude, 90), ("longitude", longitude, 360)):
            bad = np.flatnonzero(np.abs(column) > limit)
            if len(bad):
                place = int(bad[0])
                raise InputError(
                    f"coordinates: place {place} has {what} {column[place]:g}, outside ±{limit}"
                )
    points.flags.writeable = False
    return points


def _refuse_all_but_equal(points: FloatArray) -> None:
    """An error where two places are in different spots and yet less than LEAST_APART apart."""
    tiny = (points != 0.0) & (np.abs(points) < LEAST_APART)
    if not tiny.any():  # larger numbers that differ, differ by more
        return
    spot, merged = (
        np.unique(rows + 0.0, axis=0, return_inverse=True)[1]  # -0.0 becomes 0.0
        for rows in (points, points * ~tiny)
    )
    order = np.lexsort((spot, merged))
    same, differ = np.diff(merged[order]) == 0, np.diff(spot[order]) != 0
    clash = np.flatnonzero(same & differ)
    if len(clash):
        one, other = sorted(order[clash[0] : clash[0] + 2].tolist())
        raise InputError(
            f"coordinates: places {one} and {other} are less than {LEAST_APART:g} apart, "
            "too near to tell from one spot; use a smaller unit"
        )


def _checked_matrix(values: Any) -> FloatArray:
    matrix = _numbers("matrix", values)
    if matrix.size == 0:
        return np.empty((0, 0))
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"matrix: expected a square, got shape {matrix.shape}")
    bad = np.argwhere(~((matrix >= 0) & (matrix <= LARGEST_COORDINATE)))
    if len(bad):
        i, j = (int(index) for index in bad[0])
        raise InputError(
            f"matrix: row {i}, column {j} is {matrix[i, j]:g}; distances are finite and >= 0"
        )
    np.fill_diagonal(matrix, 0.0)
    tiny = np.argwhere((matrix > 0) & (matrix < LEAST_APART))
    if len(tiny):
        i, j = (int(index) for index in tiny[0])
        raise InputError(
            f"matrix: row {i}, column {j} is {matrix[i, j]:g}; distances are 0 or at least "
            f"{LEAST_APART:g}; use a smaller unit"
        )
    matrix.flags.writeable = False
    return matrix


def _checked_rule(rule: Rule, n: int) -> Rule:
    match rule:
        case Nearest(k):
            counts = _one_or_each("nearest", k, n)
            if np.any(counts != np.floor(counts)):
                raise InputError("nearest: expected whole numbers")
            if np.any(counts > LARGEST_NEAREST):
                raise InputError(
                    f"nearest: {np.max(counts):g} is too large, "
                    f"expected at most {LARGEST_NEAREST:g}"
                )
            whole = counts.astype(np.int64)
            return Nearest(int(whole) if whole.ndim == 0 else whole)
        case Radius(r):
            radius = _one_or_each("radius", r, n)
            return Radius(float(radius) if radius.ndim == 0 else radius)
        case Sets(sets):
            if len(sets) != n:
                raise InputError(f"sets: {len(sets)} of them for {n} places")
            return Sets(_checked_sets(sets, n))
    raise InputError(f"coverage: expected Nearest, Radius or Sets, got {rule!r}")


def _one_or_each(field: str, values: Any, n: int) -> FloatArray:
    """One number for all places or one each, finite and not negative."""
    numbers = _numbers(field, values)
    if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) != n):
        raise InputError(f"{field}: expected one number or {n}, one per place")
    flat = np.atleast_1d(numbers)
    bad = np.flatnonzero(~((flat >= 0) & (flat <= LARGEST_COORDINATE)))
    if len(bad):
        whose = f" of place {bad[0]}" if numbers.ndim else ""
        raise InputError(f"{field}: {flat[bad[0]]:g}{whose} is not a finite number >= 0")
    numbers.flags.writeable = False
    return numbers


def _checked_sets(sets: Sequence[Any], n: int) -> tuple[IntArray, ...]:
    """The members of each set, ascending and each once; all sets at a time, as they may be many."""
    if all(isinstance(members, list | tuple | np.ndarray) for members in sets):
        try:
            count = np.array([len(members) for members in sets])
            flat = np.array(list(chain.from_iterable(sets)), dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            flat = np.array([np.nan])
        if flat.ndim == 1 and np.all((flat >= 0) & (flat < n) & (flat == np.floor(flat))):
            owner = np.repeat(np.arange(n), count)
            pairs = np.unique(owner * n + flat.astype(np.int64))
            members = pairs % n
            members.flags.writeable = False
            ends = np.searchsorted(pairs, np.arange(1, n + 1) * n).tolist()
            return tuple(members[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True))
    # Something is wrong somewhere: go through them one by one to say where.
    return tuple(_place_array(f"sets[{i}]", members, n) for i, members in enumerate(sets))


def _place_array(field: str, values: Any, n: int) -> IntArray:
    numbers = _numbers(field, values)
    if numbers.ndim != 1 or np.any(numbers != np.floor(numbers)):
        raise InputError(f"{field}: expected a list of place numbers")
    bad = numbers[(numbers < 0) | (numbers >= n)]
    if len(bad):
        raise InputError(f"{field}: place {bad[0]:g} does not exist, there are 0 to {n - 1}")
    places = np.unique(numbers.astype(np.int64))
    places.flags.writeable = False
    return places


def _checked_places(field: str, values: Any, n: int) -> tuple[int, ...]:
    return tuple(_place_array(field, list(values), n).tolist())
