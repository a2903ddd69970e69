"""Checks of an instance's fields: what was given becomes a read-only array, or an InputError."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from covertour.problem import metric as metrics
from covertour.problem.coverage import Nearest, Radius, Rule, Sets
from covertour.problem.errors import InputError, shown
from covertour.problem.metric import FloatArray, IntArray

LARGEST_COORDINATE = 1e100

LARGEST_NEAREST = 10**15
"""Whole numbers up to here are told apart, as integers and as floating-point numbers."""

LEAST_APART = 1e-130
"""Distances other than 0 that are less than this are refused: their squares would vanish, and a
tour among such places would have length 0."""


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


def checked_coordinates(values: Any, metric: str) -> FloatArray:
    """Points that are finite and, where the metric has a globe, on it, as float64[n, 2]."""
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


def checked_matrix(values: Any) -> FloatArray:
    """Distances that are finite and >= 0, as float64[n, n] with 0 in the diagonal."""
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


def checked_rule(rule: Rule, n: int) -> Rule:
    """A coverage rule whose numbers fit n places."""
    match rule:
        case Nearest(k):
            counts = one_or_each("nearest", k, n)
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
            radius = one_or_each("radius", r, n)
            return Radius(float(radius) if radius.ndim == 0 else radius)
        case Sets(sets):
            if len(sets) != n:
                raise InputError(f"sets: {len(sets)} of them for {n} places")
            return Sets(_checked_sets(sets, n))
    raise InputError(f"coverage: expected Nearest, Radius or Sets, got {rule!r}")


def one_or_each(field: str, values: Any, n: int) -> FloatArray:
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


def checked_places(field: str, values: Any, n: int) -> tuple[int, ...]:
    """Numbers of places that exist, ascending and each once."""
    return tuple(_place_array(field, list(values), n).tolist())


def checked_labels(labels: Any, n: int) -> tuple[str, ...] | None:
    """A name per place, or none at all."""
    if labels is None:
        return None
    if len(labels) != n:
        raise InputError(f"labels: {len(labels)} of them for {n} places")
    return tuple(str(label) for label in labels)


def checked_extra(extra: Any, n: int) -> dict[str, tuple[str, ...]] | None:
    """Columns of a text per place by their titles, or none at all."""
    if not extra:
        return None
    if not isinstance(extra, Mapping):
        raise InputError(f"extra: expected columns by their titles, got {shown(extra)}")
    for title, texts in extra.items():
        if isinstance(texts, str) or len(texts) != n:
            raise InputError(f"extra: the column {shown(title)} must have {n} texts, one per place")
    return {str(title): tuple(map(str, texts)) for title, texts in extra.items()}


def one_number(field: str, value: Any) -> float | None:
    """One finite number >= 0, or None."""
    if value is None:
        return None
    number = one_or_each(field, value, 1)
    if number.ndim:
        raise InputError(f"{field}: expected one number, got {shown(value)}")
    return float(number)


def numbers_of_each(
    field: str, values: Any, n: int, usual: float | None = None
) -> FloatArray | None:
    """One number for all places or one each, as float64[n]; None where all are as ``usual``."""
    if values is None:
        return None
    each = np.array(np.broadcast_to(one_or_each(field, values, n), n))
    if usual is not None and np.all(each == usual):
        return None
    each.flags.writeable = False
    return each


def whole_of_each(field: str, values: Any, n: int, usual: int) -> IntArray | None:
    """One whole number for all places or one each, as int64[n]; None where all are as ``usual``."""
    each = numbers_of_each(field, values, n, usual)
    if each is None:
        return None
    bad = np.flatnonzero((each != np.floor(each)) | (each > LARGEST_NEAREST))
    if len(bad):
        place = int(bad[0])
        raise InputError(f"{field}: {each[place]:g} of place {place} is not a whole number")
    whole = each.astype(np.int64)
    whole.flags.writeable = False
    return whole
