"""Numbers that must be right, as in TSPLIB and matrices: the first one that is not is an error.

A :data:`Where` says where a row stands in its file, for messages such as ``villages.csv, line 7:
latitude 97 is outside ±90``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from covertour.problem import metric as metrics
from covertour.problem.checks import LARGEST_COORDINATE
from covertour.problem.errors import InputError, shown
from covertour.problem.metric import FloatArray

Where = Callable[[int], str]


def numbers(values: Sequence[str], what: str, where: Where) -> FloatArray:
    """A column as float64[n]; an error names the first row that is not a finite number."""
    try:
        if "_" in "".join(values):  # Python would read 1_000 as a number
            raise ValueError
        found = np.fromiter(map(float, values), dtype=np.float64, count=len(values))
    except ValueError:
        row, reason = next(
            (row, reason)
            for row, value in enumerate(values)
            if (reason := _why_no_number(value)) is not None
        )
        raise InputError(f"{where(row)}: {what} {reason}") from None
    bad = np.flatnonzero(~(np.abs(found) <= LARGEST_COORDINATE))
    if len(bad):
        row = int(bad[0])
        raise InputError(f"{where(row)}: {what} {shown(values[row])} is not a finite number")
    return found


def _why_no_number(value: str) -> str | None:
    if not value.strip():
        return "is missing"
    if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", value):
        return f"{shown(value)} has a decimal comma, expected a decimal point"
    try:
        float(value)
    except ValueError:
        return f"{shown(value)} is not a number"
    return f"{shown(value)} is not a number" if "_" in value else None


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number."""
    return _why_no_number(cell) is None


def not_negative(values: FloatArray, what: str, where: Where) -> FloatArray:
    """The values, where none is below 0."""
    bad = np.flatnonzero(values < 0)
    if len(bad):
        row = int(bad[0])
        raise InputError(f"{where(row)}: {what} {values[row]:g} is negative")
    return values


def check_coordinates(points: FloatArray, metric: str, where: Where) -> None:
    """An error that names the row of a point, float64[n, 2], not finite or off the globe."""
    bad = np.flatnonzero(~(np.abs(points) <= LARGEST_COORDINATE).all(axis=1))
    if len(bad):
        row = int(bad[0])
        raise InputError(f"{where(row)}: coordinates {points[row].tolist()} are not finite")
    if metric not in metrics.SPHERE_KM:
        return
    latitude, longitude = points.T if metric == "geo" else points.T[::-1]
    for what, column, limit in (("latitude", latitude, 90), ("longitude", longitude, 360)):
        bad = np.flatnonzero(np.abs(column) > limit)
        if len(bad):
            row = int(bad[0])
            raise InputError(f"{where(row)}: {what} {column[row]:.10g} is outside ±{limit}")
