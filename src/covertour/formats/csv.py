"""CSV: tables of places with a header, distance matrices, and the itinerary of a tour."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from covertour.formats import matrix, table, titles
from covertour.formats.encoding import any_text
from covertour.formats.manner import Manner
from covertour.formats.places import (
    DEEPEST_HEADER,
    Rows,
    header_row,
    instance_of,
    no_coordinates,
)
from covertour.formats.rows import RETURN, UNCOVERED, itinerary_rows
from covertour.formats.source import FoundTour, Given, Source, build
from covertour.formats.titles import Note
from covertour.formats.written import place_columns
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray
from covertour.problem.tour import Tour
from covertour.solving.result import Result

FORMULA = re.compile("'*[=+\\-@\t\r]")
"""How cells begin that a spreadsheet runs, or that would read back as one with an apostrophe."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""Texts that begin like a formula but are numbers, which stay as they are."""

SEPARATOR = re.compile(r'"?sep=([,;\t])"?[ ,;\t]*(?=[\r\n])', re.IGNORECASE)
"""The first line by which Excel is told what stands between the columns."""


def read(source: Source, given: Given) -> Instance:
    """An instance from a table with coordinates in columns, or from a distance matrix."""
    rows, where = _rows(source, given.note)
    return from_rows(source, rows, where, given)


def from_rows(source: Source, rows: list[list[str]], where: table.Where, given: Given) -> Instance:
    """An instance from the cells of a table; ``where`` tells where a row stands.

    They are a matrix where they have the same labels along the top and down the side; a table
    where one of the first rows names coordinates; else a matrix where their numbers form a square.
    """
    top = None if matrix.is_labelled(rows) else header_row(rows, where, given.metric)
    if {"stop", "place", "leg"} <= {title.strip().lower() for title in rows[0]}:
        raise InputError(f"{source}: this is an itinerary, expected an instance")
    if top is None:
        _check_width(rows, where)
        fields = matrix.from_rows(rows, where)
        if fields is None:
            raise InputError(_no_coordinates(rows, where))
        matrix.must_be_matrix(source, given)
        rule = given.rule(source, None)
        return build(source, metric="matrix", name=source.stem, rule=rule, **fields)
    if top:
        given.note(f"{where(top)}: the header; what stands above it is not used", False)
    first = top + 1
    header, cells, reasons = _of_one_width(rows[top], rows[first:])
    table_of_places = Rows(source, header, cells, lambda row: where(first + row), reasons=reasons)
    return instance_of(table_of_places, given)


def _of_one_width(
    header: list[str], rows: list[list[str]]
) -> tuple[list[str], list[list[str]], dict[int, str]]:
    """The header and the rows, all as wide as it, and what is wrong with those that are not.

    Empty cells at the end of a row do not count.
    """
    width = len(header)
    while width > 1 and not header[width - 1].strip():
        width -= 1
    if width == len(header) and set(map(len, rows)) <= {width}:
        return header, rows, {}
    reasons = {}
    cells = []
    wide: set[int] = set()
    for at, row in enumerate(rows):
        found = len(row)
        while found > width and not row[found - 1].strip():
            found -= 1
        if found != width:
            reasons[at] = f"expected {width} columns, found {found}"
            wide.add(found)
        cells.append((row + [""] * width)[:width])
    if len(reasons) == len(rows) and wide == {width + 2}:
        # Each of the two coordinates was taken for two numbers.
        reasons[0] += " (decimal commas need quotes, or semicolons between the columns)"
    return header[:width], cells, reasons


def _no_coordinates(rows: list[list[str]], where: table.Where) -> str:
    if all(table.is_number(cell) for cell in rows[0]):
        found = f"found {len(rows)} rows of {len(rows[0])} numbers without a header"
    else:
        found = no_coordinates(rows[0])
    if found.startswith("found the columns") or "numbers" in found:
        found = "expected the columns x,y or lat,lon, or a square distance matrix; " + found
    return f"{where(0)}: {found}"


def _rows(source: Source, note: Note) -> tuple[list[list[str]], table.Where]:
    """The rows that are not empty, and a function that tells a row's line."""
    text = any_text(source, note)
    delimiter = _delimiter(text)

    def where(row: int) -> str:
        # Lines are counted only for a message: a second reading costs less than counting always.
        line = next((line for at, (line, _) in enumerate(_parsed(text, delimiter)) if at == row), 1)
        return f"{source}, line {line}"

    try:
        rows = [row for _, row in _parsed(text, delimiter)]
    except csv.Error as error:
        raise InputError(f"{source}: not a CSV file: {error}") from None
    if not rows:
        raise InputError(f"{source}: the file is empty")
    return rows, where


def _check_width(rows: list[list[str]], where: table.Where) -> None:
    """An error at the first row that has not as many cells as the first."""
    width = len(rows[0])
    if set(map(len, rows)) != {width}:
        row = next(row for row, cells in enumerate(rows) if len(cells) != width)
        raise InputError(f"{where(row)}: expected {width} columns, found {len(rows[row])}")


def _delimiter(text: str) -> str:
    """Comma, semicolon or tab: what stands between the titles of coordinates.

    Where no line has such titles, what the first line has most of, outside quotes.
    """
    said = SEPARATOR.match(text)
    if said:
        return said[1]
    lines = re.split(r"[\r\n]+", text[:100_000].strip("\r\n"))[:DEEPEST_HEADER]
    for line in lines:
        for mark in sorted(",;\t", key=line.count, reverse=True):
            if mark in line:
                words = next(csv.reader([line], delimiter=mark, skipinitialspace=True), [])
                if titles.names_coordinates(words):
                    return mark
    first = re.sub(r'"[^"]*"', "", text[:100_000].lstrip())
    return max(",;\t", key=re.split(r"[\r\n]", first)[0].count)


def _parsed(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The line a row begins at, and its cells, for each row that is not empty."""
    limit = csv.field_size_limit(sys.maxsize)  # a stop may serve very many places
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True
        )
        line = 1
        guarded = "'" in text
        if SEPARATOR.match(text):
            next(reader)
            line = 2
        for row in reader:
            if any(row) and not "".join(row).isspace():
                yield line, [*map(_unguarded, row)] if guarded else row
            line = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)


def encode(instance: Instance) -> str:
    """The text of an instance: a table of places, or its distance matrix with labels.

    A matrix has no room for the coverage rule, and neither has room for a quota, a budget or a
    fleet; give them again when reading.
    """
    if instance.matrix is not None:
        matrix.must_fit(instance)
        rows: Iterable[Sequence[str]] = (list(map(repr, row)) for row in instance.matrix.tolist())
        if instance.labels is not None:
            labels = [_quoted(label) for label in instance.labels]
            rows = [
                ["place", *labels],
                *([label, *row] for label, row in zip(labels, rows, strict=True)),
            ]
        return _lines(rows)
    columns = place_columns(instance)
    cells = [map(_cell, values) for values in columns.values()]
    return _lines([[*map(_quoted, columns)], *zip(*cells, strict=True)])


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _coordinate_cells(instance: Instance, points: FloatArray) -> dict[str, Iterable[str]]:
    first, second = (map(repr, column.tolist()) for column in points.T)
    if instance.drawn_metric == "haversine":
        return {"latitude": second, "longitude": first}
    return {"x": first, "y": second}


def _quoted(text: str) -> str:
    """A cell that reads back as the same text; always in quotes where a reader might trim it.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    if FORMULA.match(text) and not NUMBER.fullmatch(text):
        text = f"'{text}"
    if text and not re.search(r'[,;"\s]', text):
        return text
    return '"' + text.replace('"', '""') + '"'


def _unguarded(cell: str) -> str:
    """A cell without the apostrophe that :func:`_quoted` put in front."""
    return cell[1:] if cell[:1] == "'" and FORMULA.match(cell) else cell


def _lines(rows: Iterable[Sequence[str]]) -> str:
    return "".join(",".join(row) + "\n" for row in rows)


def encode_outcome(instance: Instance, outcome: Result | Tour, manner: Manner = Manner()) -> str:
    """The itinerary: one row per stop, one for each way back, and one per place left out."""
    rows = itinerary_rows(instance, outcome, manner)
    return _lines([list(map(_quoted, rows[0])), *map(_itinerary_cells, rows)])


def _itinerary_cells(row: dict[str, Any]) -> list[str]:
    # Lengths of whole routes are written to the last digit, to be read back.
    exact = {"latitude", "longitude", "x", "y", *(["distance"] if row["stop"] == RETURN else [])}
    cells = []
    for title, value in row.items():
        if isinstance(value, float):
            cells.append(repr(value) if title in exact else f"{value:.10g}")
        elif isinstance(value, str) and title not in ("stop", "arrives", "leaves"):
            cells.append(_quoted(value))
        else:
            cells.append("" if value is None else str(value))
    return cells


def read_tour(source: Source) -> FoundTour:
    """The tour of an itinerary with the columns stop and place."""
    return tour_from_rows(*_rows(source, lambda message, mistake: None))


def read_plan(source: Source) -> FoundTour:
    """The stops of an itinerary, or of a table in which each row is a stop with its name."""
    return plan_from_rows(*_rows(source, lambda message, mistake: None))


def plan_from_rows(rows: list[list[str]], where: table.Where) -> FoundTour:
    """The stops in the cells of an itinerary, or of a table with names."""
    header = {title.strip().lower() for title in rows[0]}
    at = titles.find_columns(rows[0], where(0))
    if {"stop", "place"} <= header or "name" not in at:
        return tour_from_rows(rows, where)
    names = [row[at["name"]] for row in rows[1:] if at["name"] < len(row)]
    return FoundTour([-1] * len(names), None, names)


def tour_from_rows(rows: list[list[str]], where: table.Where) -> FoundTour:
    """The tour in the cells of an itinerary."""
    _check_width(rows, where)
    at = {title.strip().lower(): position for position, title in enumerate(rows[0])}
    if "stop" not in at or "place" not in at:
        raise InputError(f"{where(0)}: expected an itinerary with the columns stop and place")
    places: list[int] = []
    names: list[str | None] = []
    ways_back = []
    for number, row in enumerate(rows[1:], start=1):
        mark = row[at["stop"]].strip().lower()
        if mark == RETURN:
            ways_back.append(number)
        if mark in (RETURN, UNCOVERED):
            continue
        try:
            places.append(int(row[at["place"]]))
            names.append(row[at["name"]] if "name" in at else None)
        except ValueError:
            raise InputError(
                f"{where(number)}: place {shown(row[at['place']])} is not a place number"
            ) from None
    if not ways_back or "distance" not in at:
        return FoundTour(places, None, names)
    lengths = table.numbers(
        [rows[number][at["distance"]] for number in ways_back],
        "distance",
        lambda way: where(ways_back[way]),
    )
    return FoundTour(places, float(lengths.sum()), names)
