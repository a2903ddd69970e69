"""Columns of text, their values checked row by row, and the rows in which something is wrong.

All formats of places share these rules; what one row has wrong does not keep the others from being
looked at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from covertour.formats import quantities
from covertour.formats.source import Source
from covertour.formats.table import Where
from covertour.formats.titles import plain
from covertour.problem import metric as metrics
from covertour.problem.checks import LARGEST_COORDINATE
from covertour.problem.coverage import Nearest, Radius, Rule, Sets
from covertour.problem.errors import InputError, shown
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.units import KILOMETRES, in_kilometres

YES = {
    *("1", "1.0", "true", "yes", "y", "x", "oui", "o", "vrai", "sí", "si", "s", "verdadero"),
    *("sim", "verdadeiro", "ja", "j", "wahr", "✓", "✔", "☑"),
}
NO = {
    *("0", "0.0", "false", "no", "n", "", "-", "non", "faux", "falso", "não", "nao", "nein"),
    *("falsch", "✗", "✘", "☐"),
}

MOST_BAD_ROWS = 20
"""How many bad rows a message lists."""


class BadRows:
    """The rows that cannot be used, and what is wrong with them; the first thing found counts."""

    def __init__(self, source: Source, where: Where, reasons: Mapping[int, str] = {}) -> None:
        self.source = source
        self.where = where
        self.reasons = dict(reasons)

    def add(self, row: int, reason: str) -> None:
        """Note that a row cannot be used."""
        self.reasons.setdefault(row, reason)

    def in_words(self) -> str:
        """The rows with their reasons, on one line."""
        rows = sorted(self.reasons)
        if len(rows) == 1:
            return f"{self.where(rows[0])}: {self.reasons[rows[0]]}"
        listed = "; ".join(
            f"{self.where(row).removeprefix(f'{self.source}, ')}: {self.reasons[row]}"
            for row in rows[:MOST_BAD_ROWS]
        )
        more = f"; and {len(rows) - MOST_BAD_ROWS:,} more" if len(rows) > MOST_BAD_ROWS else ""
        return f"{self.source}: {len(rows):,} bad rows: {listed}{more}"

    def refuse(self, advice: str = "") -> None:
        """An error that lists the bad rows, where there are any."""
        if self.reasons:
            raise InputError(f"{self.in_words()}{advice}")


def numbers(
    values: Sequence[str], what: str, bad: BadRows, decimal_comma: bool = False
) -> FloatArray:
    """A column as float64[n]; rows that hold no finite number are bad, and 0 here."""
    try:
        if decimal_comma or "_" in "".join(values):  # Python would read 1_000 as a number
            raise ValueError
        found = np.fromiter(map(float, values), dtype=np.float64, count=len(values))
    except ValueError:
        found = np.zeros(len(values))
        for row, value in enumerate(values):
            number = quantities.number(value, decimal_comma)
            if number is None:
                number = _odd_float(value)
            if number is None:
                bad.add(row, f"{what} {_why_no_number(value)}")
            else:
                found[row] = number
    return _finite(found, values, what, bad)


def _odd_float(text: str) -> float | None:
    """What Python reads as a number and people do not write: nan, inf, 1e5 in other digits."""
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _why_no_number(value: str) -> str:
    return f"{shown(value)} is not a number" if value.strip() else "is missing"


def _finite(found: FloatArray, values: Sequence[str], what: str, bad: BadRows) -> FloatArray:
    for row in np.flatnonzero(~(np.abs(found) <= LARGEST_COORDINATE)).tolist():
        bad.add(row, f"{what} {shown(values[row])} is not a finite number")
        found[row] = 0.0
    return found


def degrees(values: Sequence[str], axis: str, bad: BadRows, o_is: float | None) -> FloatArray:
    """A column of latitudes or longitudes as float64[n], in whatever way they are written.

    ``o_is``: the sign of a longitude with the letter O in the language of the table, if known.
    """
    try:
        if "_" in "".join(values):
            raise ValueError
        found = np.fromiter(map(float, values), dtype=np.float64, count=len(values))
    except ValueError:
        letters = {letter for value in values for letter in value.upper() if letter in "WE"}
        if len(letters) == 1:
            o_is = 1.0 if letters == {"W"} else -1.0
        found = np.zeros(len(values))
        for row, value in enumerate(values):
            number = _odd_float(value)
            angle = quantities.angle(value, o_is) if number is None else number
            if isinstance(angle, str):
                bad.add(row, f"{axis} {angle}" if value.strip() else f"{axis} is missing")
            elif isinstance(angle, float):
                found[row] = angle
            elif angle.axis not in (None, axis):
                bad.add(row, f"{axis} {shown(value)} is a {angle.axis}")
            else:
                found[row] = angle.degrees
    return _finite(found, values, axis, bad)


def pairs(values: Sequence[str], longitude_first: bool, bad: BadRows) -> FloatArray:
    """Longitudes and latitudes, float64[n, 2], from a column that has both in one cell."""
    found = np.zeros((len(values), 2))
    for row, value in enumerate(values):
        both = quantities.pair(value, longitude_first)
        if isinstance(both, str):
            bad.add(row, f"the position {both}")
        else:
            found[row] = both[::-1]
    return found


def not_negative(values: FloatArray, what: str, bad: BadRows) -> FloatArray:
    """The values; rows below 0 are bad."""
    for row in np.flatnonzero(values < 0).tolist():
        bad.add(row, f"{what} {values[row]:g} is negative")
    return values


def check_coordinates(points: FloatArray, metric: str, bad: BadRows) -> None:
    """Rows are bad whose point, of float64[n, 2], is not finite or off the globe."""
    for row in np.flatnonzero(~(np.abs(points) <= LARGEST_COORDINATE).all(axis=1)).tolist():
        bad.add(row, f"coordinates {points[row].tolist()} are not finite")
    if metric not in metrics.SPHERE_KM:
        return
    latitude, longitude = points.T if metric == "geo" else points.T[::-1]
    for what, column, limit in (("latitude", latitude, 90), ("longitude", longitude, 360)):
        for row in np.flatnonzero(np.abs(column) > limit).tolist():
            swapped = what == "latitude" and abs(longitude[row]) <= 90 and abs(column[row]) <= 180
            hint = "; are latitude and longitude swapped?" if swapped else ""
            bad.add(row, f"{what} {column[row]:.10g} is outside ±{limit}{hint}")


def flagged(values: Sequence[str], what: str, bad: BadRows) -> list[int]:
    """The rows where a yes-or-no column says yes."""
    meaning = {value: value.strip().lower() for value in set(values)}
    if not set(meaning.values()) <= YES | NO:
        for row, value in enumerate(values):
            if meaning[value] not in YES | NO:
                bad.add(row, f"{what} {shown(value)} is neither yes nor no")
    yes = {value for value, word in meaning.items() if word in YES}
    return [row for row, value in enumerate(values) if value in yes] if yes else []


def wishes(
    columns: Mapping[str, Sequence[str]], bad: BadRows, decimal_comma: bool = False
) -> dict[str, Any]:
    """The fields of an instance that the columns give beside its places and its coverage rule."""
    fields: dict[str, Any] = {}
    if "name" in columns:
        fields["labels"] = tuple(columns["name"])
    for what in ("required", "forbidden"):
        if what in columns:
            fields[what] = flagged(columns[what], what, bad)
    for what, does in (("depot", "starts"), ("end", "ends")):
        if what in columns:
            marked = flagged(columns[what], what, bad)
            if len(marked) > 1:
                place = bad.where(marked[1])
                raise InputError(f"{place}: a second {what}; a tour {does} at one place")
            fields[what] = marked[0] if marked else None
    if "stop" in columns:
        if "forbidden" in columns:
            raise InputError(f"{bad.where(0)}: both stop and forbidden are given; leave one out")
        stops = flagged(columns["stop"], "stop", bad)
        fields["forbidden"] = sorted(set(range(len(columns["stop"]))) - set(stops))
    for what, usual in USUAL.items():
        if what in columns:
            filled = [value if value.strip() else usual for value in columns[what]]
            fields[what] = not_negative(numbers(filled, what, bad, decimal_comma), what, bad)
    if "demand" in fields:
        for row in np.flatnonzero(fields["demand"] != np.floor(fields["demand"])).tolist():
            bad.add(row, f"demand {fields['demand'][row]:g} is not whole")
    return fields


USUAL = {"weight": "0", "visit_cost": "0", "demand": "1"}
"""What an empty cell of a column means."""


def rule(
    columns: Mapping[str, Sequence[str]],
    bad: BadRows,
    decimal_comma: bool = False,
    radius_title: str = "",
    metric: str = "",
) -> Rule | None:
    """The coverage rule that the columns give; one number for all where they agree.

    On the globe radii are in kilometres, unless their title or they themselves have another unit.
    """
    given = [role for role in ("nearest", "radius", "covers") if role in columns]
    if not given:
        return None
    if len(given) > 1:
        raise InputError(
            f"{bad.where(0)}: both {given[0]} and {given[1]} are given; "
            "choose with nearest or radius (--nearest, --radius)"
        )
    values = columns[given[0]]
    if given == ["covers"]:
        n = len(values)
        return Sets(tuple(_members(row, value, n, bad) for row, value in enumerate(values)))
    if given == ["radius"] and metric in metrics.SPHERE_KM:
        values, scale = _without_units(values, bad), _unit_of(radius_title)
    else:
        scale = 1.0
    each = not_negative(numbers(values, given[0], bad, decimal_comma), given[0], bad)
    each = each * scale if scale != 1.0 else each
    same = bool(np.all(each == each[0]))
    if given == ["radius"]:
        return Radius(float(each[0]) if same else each)
    for row in np.flatnonzero(each != np.floor(each)).tolist():
        bad.add(row, f"nearest {each[row]:g} is not a whole number")
    # Whether they are too large is for the instance to say, which makes integers of them.
    return Nearest(int(each[0]) if same else each)  # type: ignore[arg-type]


def _unit_of(title: str) -> float:
    """How many kilometres the unit has that ends a title, such as radius_m; else 1."""
    return KILOMETRES.get(plain(title).rpartition("_")[2], 1.0) if "_" in plain(title) else 1.0


def _without_units(values: Sequence[str], bad: BadRows) -> Sequence[str]:
    """Radii such as 500 m in kilometres; others as they are."""
    if not any(value.strip()[-1:].isalpha() for value in values):
        return values
    plain_values = list(values)
    for row, value in enumerate(values):
        try:
            distance = in_kilometres(value)
        except InputError as error:
            bad.add(row, f"radius {error}")
            continue
        if distance is not None:
            plain_values[row] = repr(distance)
    return plain_values


def _members(row: int, value: str, n: int, bad: BadRows) -> IntArray:
    """The places in a list of numbers with spaces between them."""
    try:
        places = [int(text) for text in value.split()]
    except ValueError:
        bad.add(row, f"covers {shown(value)}, expected place numbers with spaces between")
        places = []
    for place in places:
        if not 0 <= place < n:
            bad.add(
                row,
                f"covers place {shown(place)}, which does not exist; there are 0 to {n - 1}",
            )
            return np.empty(0, dtype=np.int64)
    return np.array(places, dtype=np.int64)
