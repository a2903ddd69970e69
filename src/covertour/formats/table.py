"""Places as columns of text: which column means what, and its values checked row by row.

CSV files and GeoJSON properties share these rules. A :data:`Where` says where a row stands in its
file, for messages such as ``villages.csv, line 7: latitude 97 is outside ±90``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from covertour.problem import metric as metrics
from covertour.problem.coverage import Nearest, Radius, Rule, Sets
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.instance import LARGEST_COORDINATE
from covertour.problem.metric import FloatArray, IntArray

Where = Callable[[int], str]

Note = Callable[[str, bool], None]
"""Is told about something in a file that is not used, and whether that looks like a mistake."""

COLUMNS = {
    "x": ("x", "easting", "x_coord", "xcoord", "coord_x"),
    "y": ("y", "northing", "y_coord", "ycoord", "coord_y"),
    "latitude": ("latitude", "lat", "lat_dd", "latitude_dd", "lat_deg", "stop_lat"),
    "longitude": (
        *("longitude", "lon", "lng", "long", "lon_dd", "long_dd", "longitude_dd"),
        *("lon_deg", "long_deg", "stop_lon"),
    ),
    "name": ("name", "label", "place", "village", "city", "town", "stop_name", "id"),
    "radius": ("radius", "radius_km", "r"),
    "nearest": ("nearest", "k"),
    "covers": ("covers",),
    "required": ("required", "must_visit"),
    "forbidden": ("forbidden", "avoid"),
    "depot": ("depot", "start"),
    "metric": ("metric",),
}
"""What a column holds, and the headers it may stand under, in lower case, best first."""

YES = {"1", "true", "yes", "y", "x"}
NO = {"0", "false", "no", "n", ""}


MOST_UNUSED = 6
"""How many unused columns a note names."""


def find_columns(header: Sequence[str], where: str) -> dict[str, int]:
    """Which columns hold what: from the keys of :data:`COLUMNS` to positions in the header."""
    plain = _plain(header)
    found = {}
    for role, titles in COLUMNS.items():
        matches = sorted(
            (titles.index(title), position)
            for position, title in enumerate(plain)
            if title in titles
        )
        if not matches:
            continue
        if len(matches) > 1 and (role != "name" or matches[0][0] == matches[1][0]):
            both = " and ".join(shown(header[position]) for _, position in matches[:2])
            raise InputError(f"{where}: the columns {both} both give the {role}")
        found[role] = matches[0][1]
    return found


def _plain(header: Sequence[str]) -> list[str]:
    """The titles as :data:`COLUMNS` has them: in lower case, words joined by underscores."""
    return [re.sub(r"[\s-]+", "_", title.strip().lower()) for title in header]


def tell_of_unused(
    header: Sequence[str], where: str, note: Note, one: str = "column", many: str = "columns"
) -> None:
    """Tell which columns hold nothing that is known, and what they may be meant to be."""
    plain = _plain(header)
    # A title whose meaning is there already, under its right name, is hardly that name misspelt.
    missing = [titles for titles in COLUMNS.values() if set(plain).isdisjoint(titles)]
    likely = [title for titles in missing for title in titles if len(title) > 3]
    known = {title for titles in COLUMNS.values() for title in titles}
    unused = []
    for title, word in zip(header, plain, strict=True):
        if word in known:
            continue
        hint = did_you_mean(word, likely, list_all=False)
        if hint:
            note(f"{where}: the {one} {shown(title)} is not used{hint}", True)
        else:
            unused.append(shown(title))
    if unused:
        more = f" and {len(unused) - MOST_UNUSED} more" if len(unused) > MOST_UNUSED else ""
        names = f"{', '.join(unused[:MOST_UNUSED])}{more}"
        note(f"{where}: {many} that are not used: {names}", False)


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


def flagged(values: Sequence[str], what: str, where: Where) -> list[int]:
    """The rows where a yes-or-no column says yes."""
    meaning = {value: value.strip().lower() for value in set(values)}
    if not set(meaning.values()) <= YES | NO:
        row = next(row for row, value in enumerate(values) if meaning[value] not in YES | NO)
        raise InputError(f"{where(row)}: {what} {shown(values[row])} is neither yes nor no")
    yes = {value for value, plain in meaning.items() if plain in YES}
    return [row for row, value in enumerate(values) if value in yes] if yes else []


def wishes(columns: Mapping[str, Sequence[str]], where: Where) -> dict[str, Any]:
    """The fields of an instance that the columns give: labels, depot, required, forbidden."""
    fields: dict[str, Any] = {}
    if "name" in columns:
        fields["labels"] = tuple(columns["name"])
    for what in ("required", "forbidden"):
        if what in columns:
            fields[what] = flagged(columns[what], what, where)
    if "depot" in columns:
        depots = flagged(columns["depot"], "depot", where)
        if len(depots) > 1:
            raise InputError(f"{where(depots[1])}: a second depot; a tour starts at one place")
        fields["depot"] = depots[0] if depots else None
    return fields


def rule(columns: Mapping[str, Sequence[str]], where: Where) -> Rule | None:
    """The coverage rule that the columns give; one number for all where they agree."""
    given = [role for role in ("nearest", "radius", "covers") if role in columns]
    if not given:
        return None
    if len(given) > 1:
        raise InputError(
            f"{where(0)}: both {given[0]} and {given[1]} are given; "
            "choose with nearest or radius (--nearest, --radius)"
        )
    values = columns[given[0]]
    if given == ["covers"]:
        return Sets(
            tuple(_members(row, value, len(values), where) for row, value in enumerate(values))
        )
    each = not_negative(numbers(values, given[0], where), given[0], where)
    same = bool(np.all(each == each[0]))
    if given == ["radius"]:
        return Radius(float(each[0]) if same else each)
    bad = np.flatnonzero(each != np.floor(each))
    if len(bad):
        row = int(bad[0])
        raise InputError(f"{where(row)}: nearest {each[row]:g} is not a whole number")
    # Whether they are too large is for the instance to say, which makes integers of them.
    return Nearest(int(each[0]) if same else each)  # type: ignore[arg-type]


def _members(row: int, value: str, n: int, where: Where) -> IntArray:
    """The places in a list of numbers with spaces between them."""
    try:
        places = [int(text) for text in value.split()]
    except ValueError:
        raise InputError(
            f"{where(row)}: covers {shown(value)}, expected place numbers with spaces between"
        ) from None
    for place in places:
        if not 0 <= place < n:
            raise InputError(
                f"{where(row)}: covers place {shown(place)}, which does not exist; "
                f"there are 0 to {n - 1}"
            )
    return np.array(places, dtype=np.int64)
