"""Places from rows of cells under a header, or from points with cells: what all tables share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from covertour.formats import columns as reading
from covertour.formats import quantities, titles
from covertour.formats.source import Given, Source, build
from covertour.formats.table import Where
from covertour.problem.coverage import Rule
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import METRICS, SPHERE_KM, FloatArray

DEEPEST_HEADER = 10
"""Among so many rows the header is looked for: people put titles above their tables."""

MOST_COMPARED = 20_000
"""Among more rows than this no doubles are looked for unless that is asked for."""

TRIED = 20
"""So many cells tell whether a column holds latitude and longitude together."""


@dataclass(frozen=True)
class Rows:
    """Places as a file has them, each a row of texts.

    ``cells``: all of the header's width. ``where``: where a row stands. ``points``: longitude and
    latitude, float64[n, 2], in files that have geometries. ``reasons``: what is wrong with rows
    before their cells are looked at. ``words``: what one column, and several, are called.
    """

    source: Source
    header: Sequence[str]
    cells: list[list[str]]
    where: Where
    points: FloatArray | None = None
    reasons: Mapping[int, str] = field(default_factory=dict)
    words: tuple[str, str] = ("column", "columns")

    def only(self, kept: Sequence[int]) -> Rows:
        """Some of the rows, which remember where they stood."""
        numbers = {old: new for new, old in enumerate(kept)}
        where = self.where
        return replace(
            self,
            cells=[self.cells[row] for row in kept],
            where=lambda row: where(kept[row]),
            points=None if self.points is None else self.points[list(kept)],
            reasons={numbers[row]: why for row, why in self.reasons.items() if row in numbers},
        )


def header_row(rows: Sequence[Sequence[str]], where: Where, metric: str | None) -> int | None:
    """Which of the first rows names coordinates; None if none does."""
    for at, row in enumerate(rows[:DEEPEST_HEADER]):
        if titles.is_hxl(row):
            found = titles.find_tagged(row)
        else:
            found = titles.find_columns(row, where(at))
        if coordinate_columns(found, metric, rows[at + 1 :]) is not None:
            return at
    return None


def coordinate_columns(
    at: Mapping[str, int], metric: str | None, cells: Sequence[Sequence[str]]
) -> tuple[str, ...] | None:
    """The columns to take: geographic ones first, unless the caller's metric is planar."""
    choices: list[tuple[str, ...]] = [("longitude", "latitude"), ("x", "y")]
    if metric is not None and metric not in SPHERE_KM:
        choices.reverse()
    found = next((pair for pair in choices if pair[0] in at and pair[1] in at), None)
    if found is not None or (metric is not None and metric not in SPHERE_KM):
        return found
    for role in ("pair", "pair, longitude first"):
        if role in at and _holds_pairs([row[at[role]] for row in cells if at[role] < len(row)]):
            return (role,)
    return None


def _holds_pairs(values: Sequence[str]) -> bool:
    """Whether the first cells of a column, as far as they are filled, have a position or two."""
    filled = [value for value in values[: 10 * TRIED] if value.strip()][:TRIED]
    read = sum(not isinstance(quantities.pair(value), str) for value in filled)
    return 2 * read >= len(filled) > 0


def instance_of(
    rows: Rows, given: Given, *, name: str | None = None, rule: Rule | None = None
) -> Instance:
    """An instance from rows; ``rule`` is what the file says elsewhere of who covers whom."""
    source = rows.source
    rows, at = _roles(rows, given)
    if not rows.cells:
        raise InputError(f"{source}: the file has a header but no places")
    pair: tuple[str, ...] = ()
    if rows.points is None:
        pair = coordinate_columns(at, given.metric, rows.cells) or ()
        assert pair, "the header was found by its coordinates"
    at = {role: position for role, position in at.items() if role in pair or "pair" not in role}
    if len(pair) == 1 and at.get("name") == at[pair[0]]:
        del at["name"]
    rows = _without_doubles(rows, at, given)
    fields = _fields(rows, at, pair, given, rule)
    if isinstance(fields, reading.BadRows):
        rows = _without_bad(rows, fields, at, given)
        fields = _fields(rows, at, pair, given, rule)
        if isinstance(fields, reading.BadRows):  # such as sets of places that are not there now
            fields.refuse()
    assert isinstance(fields, dict)
    used = set(at.values())
    titles.tell_of_unused(rows.header, used, str(source), given.note, *rows.words)
    return build(
        source, name=source.stem if name is None else name, extra=_extra(rows, used), **fields
    )


def _fields(
    rows: Rows, at: Mapping[str, int], pair: tuple[str, ...], given: Given, rule: Rule | None
) -> dict[str, Any] | reading.BadRows:
    """The fields of an instance that rows give, or the rows in which something is wrong."""
    bad = reading.BadRows(rows.source, rows.where, rows.reasons)
    columns = {role: [row[position] for row in rows.cells] for role, position in at.items()}
    comma = _has_decimal_commas([columns[role] for role in ("x", "y") if role in pair])
    comma = comma or _has_decimal_commas([columns[role] for role in pair if "tude" in role])
    metric = given.metric or _metric(columns, pair, rows)
    points = rows.points if not pair else _points(columns, pair, metric, comma, rows.header, bad)
    assert points is not None
    reading.check_coordinates(points, metric, bad)
    in_file = None
    if not given.has_rule:
        title = rows.header[at["radius"]] if "radius" in at else ""
        in_file = rule or reading.rule(columns, bad, comma, title, metric)
    wishes = reading.wishes(columns, bad, comma)
    if bad.reasons:
        return bad
    chosen = given.rule(rows.source, in_file)
    return {"metric": metric, "coordinates": points, "rule": chosen, **wishes}


def _extra(rows: Rows, used: Collection[int]) -> dict[str, tuple[str, ...]]:
    """The columns that say nothing about the problem, to be carried to the outputs."""
    extra: dict[str, tuple[str, ...]] = {}
    for position, title in enumerate(rows.header):
        if position in used or not titles.may_be_carried(title, ("name", "weight")):
            continue
        texts = tuple(row[position] for row in rows.cells)
        if any(texts):
            again = sum(title == other for other in rows.header[:position])
            extra[f"{title} {again + 1}" if again else title] = texts
    return extra


def _roles(rows: Rows, given: Given) -> tuple[Rows, dict[str, int]]:
    """Which columns hold what; a row of HXL tags helps to tell, and is no place."""
    if titles.is_hxl(rows.header):
        return rows, titles.find_tagged(rows.header)
    geometry = rows.points is not None
    at = titles.find_columns(rows.header, str(rows.source), without_coordinates=geometry)
    if rows.cells and rows.points is None and titles.is_hxl(rows.cells[0]):
        at = titles.find_tagged(rows.cells[0]) | at
        rows = rows.only(range(1, len(rows.cells)))
    return rows, at


def _without_doubles(rows: Rows, at: Mapping[str, int], given: Given) -> Rows:
    """The rows without those that are equal to one before in every cell, if that is wished."""
    if not given.merge_duplicates and len(rows.cells) > MOST_COMPARED:
        return rows
    first: dict[object, int] = {}
    for row, cells in enumerate(rows.cells):
        point = None if rows.points is None else rows.points[row].tobytes()
        first.setdefault((*cells, point), row)
    doubles = len(rows.cells) - len(first)
    if not doubles:
        return rows
    many = "row is" if doubles == 1 else "rows are"
    if not given.merge_duplicates:
        given.note(
            f"{rows.source}: {doubles:,} {many} the same as another; merge_duplicates "
            "(--merge-duplicates) makes one place of them",
            False,
        )
        return rows
    _refuse_with_covers(rows, at, "merge rows")
    given.note(f"{rows.source}: {doubles:,} {many} the same as another and merged with it", False)
    return rows.only(list(first.values()))


def _refuse_with_covers(rows: Rows, at: Mapping[str, int], what: str) -> None:
    if "covers" in at:
        raise InputError(
            f"{rows.source}: cannot {what}, as the column covers has places by their numbers"
        )


def _without_bad(rows: Rows, bad: reading.BadRows, at: Mapping[str, int], given: Given) -> Rows:
    """The rows that can be used; an error that lists the others unless they shall be skipped."""
    kept = [row for row in range(len(rows.cells)) if row not in bad.reasons]
    if not given.skip_bad_rows:
        bad.refuse("; skip_bad_rows (--skip-bad-rows) goes on without" if kept else "")
    if not kept:
        bad.refuse()
    _refuse_with_covers(rows, at, "skip rows")
    given.note(f"skipped: {bad.in_words()}", False)
    return rows.only(kept)


def _points(
    columns: Mapping[str, Sequence[str]],
    pair: tuple[str, ...],
    metric: str,
    comma: bool,
    header: Sequence[str],
    bad: reading.BadRows,
) -> FloatArray:
    """The coordinates as the metric wants them, float64[n, 2]."""
    if len(pair) == 1:
        points = reading.pairs(columns[pair[0]], "first" in pair[0], bad)
    elif "latitude" in pair:
        o_is = titles.sign_of_o(header)
        latitude, longitude = (
            reading.degrees(columns[axis], axis, bad, o_is) for axis in ("latitude", "longitude")
        )
        points = np.stack([longitude, latitude], axis=1)
    else:
        both = [reading.numbers(columns[axis], axis, bad, comma) for axis in pair]
        return np.stack(both, axis=1)
    # Longitude first, as everywhere; only TSPLIB's GEO has latitude first.
    return np.ascontiguousarray(points[:, ::-1]) if metric == "geo" else points


def _has_decimal_commas(coordinates: Sequence[Sequence[str]]) -> bool:
    """Whether a table writes commas where others write points: its coordinates tell."""
    cells = [cell for column in coordinates for cell in column]
    text = "".join(cells)
    if "," not in text or "." in text:
        return False
    return any(map(quantities.has_decimal_comma, cells))


def _metric(columns: Mapping[str, Sequence[str]], pair: tuple[str, ...], rows: Rows) -> str:
    """The metric that a column names, or the usual one for such coordinates."""
    values = columns.get("metric")
    if values is None:
        return "euclidean" if "x" in pair else "haversine"
    for row, value in enumerate(values):
        if value != values[0]:
            raise InputError(
                f"{rows.where(row)}: metric {shown(value)}, but {shown(values[0])} before"
            )
    name = values[0].strip().lower()
    if name not in METRICS or name == "matrix":
        hint = did_you_mean(name, METRICS[:-1])
        raise InputError(f"{rows.where(0)}: metric: no {shown(values[0])}{hint}")
    return name


def no_coordinates(header: Sequence[str]) -> str:
    """What to say of a table without coordinates: which one is missing, or what there is."""
    at = titles.find_columns(header, "")
    for role, other in (("x", "y"), ("latitude", "longitude")):
        for have, lack in ((role, other), (other, role)):
            if have in at and lack not in at:
                return f"found the {have} but no column for the {lack}"
    shown_titles = ", ".join(shown(title, 30) for title in header[:12] if title.strip())
    more = f" and {len(header) - 12} more" if len(header) > 12 else ""
    return f"found the columns {shown_titles}{more}"


def not_longitude_latitude(projection: str) -> str:
    """What to say of a file whose coordinates are in another projection."""
    return (
        f"the coordinates are in {projection}, expected longitude and latitude (EPSG:4326); "
        "convert them, in QGIS by Export > Save Features As, or by ogr2ogr -t_srs EPSG:4326"
    )
