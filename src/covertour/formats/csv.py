"""CSV: tables of places with a header, distance matrices, and the itinerary of a tour."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from covertour.formats import matrix, table
from covertour.formats.source import FoundTour, Given, Source, build
from covertour.problem.coverage import Nearest, Radius, Sets
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.instance import Instance
from covertour.problem.itinerary import itinerary
from covertour.problem.metric import METRICS, SPHERE_KM, FloatArray
from covertour.problem.tour import Tour
from covertour.solving.result import Result, tour_of

FORMULA = re.compile("'*[=+\\-@\t\r]")
"""How cells begin that a spreadsheet runs, or that would read back as one with an apostrophe."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""Texts that begin like a formula but are numbers, which stay as they are."""

RETURN = "return"
"""What stands in an itinerary in place of a stop number in the last row, the way back."""


def read(source: Source, given: Given) -> Instance:
    """An instance from a table with coordinates in columns, or from a distance matrix."""
    rows, where = _rows(source)
    return from_rows(source, rows, where, given)


def from_rows(source: Source, rows: list[list[str]], where: table.Where, given: Given) -> Instance:
    """An instance from the cells of a table, all rows of one width; ``where`` tells a row's place.

    They are a matrix where they have the same labels along the top and down the side; a table
    where the first row names coordinates; else a matrix where their numbers form a square.
    """
    is_matrix = matrix.is_labelled(rows)
    at = {} if is_matrix else table.find_columns(rows[0], where(0))
    if {"stop", "place", "leg"} <= {title.strip().lower() for title in rows[0]}:
        raise InputError(f"{source}: this is an itinerary, expected an instance")
    pair = None if is_matrix else _coordinate_columns(at, given.metric)
    if pair is None:
        fields = matrix.from_rows(rows, where)
        if fields is None:
            raise InputError(_no_coordinates(rows, at, where))
        matrix.must_be_matrix(source, given)
        rule = given.rule(source, None)
        return build(source, metric="matrix", name=source.stem, rule=rule, **fields)
    if len(rows) == 1:
        raise InputError(f"{source}: the file has a header but no places")
    table.tell_of_unused(rows[0], str(source), given.note)

    def place_where(place: int) -> str:
        return where(place + 1)

    columns = {role: [row[position] for row in rows[1:]] for role, position in at.items()}
    metric = given.metric or _metric_column(columns, place_where) or _usual_metric(pair)
    if "latitude" in pair:  # longitude first, as everywhere; only TSPLIB's GEO has latitude first
        pair = ("latitude", "longitude") if metric == "geo" else ("longitude", "latitude")
    points = np.stack([table.numbers(columns[role], role, place_where) for role in pair], axis=1)
    table.check_coordinates(points, metric, place_where)
    in_file = None if given.has_rule else table.rule(columns, place_where)
    return build(
        source,
        metric=metric,
        coordinates=points,
        name=source.stem,
        rule=given.rule(source, in_file),
        **table.wishes(columns, place_where),
    )


def _coordinate_columns(at: dict[str, int], metric: str | None) -> tuple[str, str] | None:
    """The pair of columns to take: geographic ones first, unless the caller's metric is planar."""
    pairs = [("longitude", "latitude"), ("x", "y")]
    if metric is not None and metric not in SPHERE_KM:
        pairs.reverse()
    return next((pair for pair in pairs if pair[0] in at and pair[1] in at), None)


def _usual_metric(pair: tuple[str, str]) -> str:
    return "haversine" if "latitude" in pair else "euclidean"


def _metric_column(columns: dict[str, list[str]], where: table.Where) -> str | None:
    values = columns.get("metric")
    if values is None:
        return None
    for row, value in enumerate(values):
        if value != values[0]:
            raise InputError(f"{where(row)}: metric {shown(value)}, but {shown(values[0])} before")
    name = values[0].strip().lower()
    if name not in METRICS or name == "matrix":
        raise InputError(
            f"{where(0)}: metric: no {shown(values[0])}{did_you_mean(name, METRICS[:-1])}"
        )
    return name


def _no_coordinates(rows: list[list[str]], at: dict[str, int], where: table.Where) -> str:
    for role, other in (("x", "y"), ("latitude", "longitude")):
        for have, lack in ((role, other), (other, role)):
            if have in at and lack not in at:
                return f"{where(0)}: found the {have} but no column for the {lack}"
    if not at and all(table.is_number(cell) for cell in rows[0]):
        found = f"{len(rows)} rows of {len(rows[0])} numbers without a header"
    else:
        found = "the columns " + ", ".join(shown(title, 20) for title in rows[0][:8])
    return (
        f"{where(0)}: expected the columns x,y or lat,lon, or a square distance matrix; "
        f"found {found}"
    )


def _rows(source: Source) -> tuple[list[list[str]], table.Where]:
    """The rows that are not empty, all of one width, and a function that tells a row's line."""
    text = source.text()
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
    width = len(rows[0])
    if set(map(len, rows)) != {width}:
        row = next(row for row, cells in enumerate(rows) if len(cells) != width)
        raise InputError(f"{where(row)}: expected {width} columns, found {len(rows[row])}")
    return rows, where


def _delimiter(text: str) -> str:
    """The one of comma, semicolon and tab that the first line has most of, outside quotes."""
    first = re.split(r"[\r\n]", re.sub(r'"[^"]*"', "", text[:100_000].lstrip()))[0]
    return max(",;\t", key=first.count)


def _parsed(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The line a row begins at, and its cells, for each row that is not empty."""
    limit = csv.field_size_limit(sys.maxsize)  # a stop may serve very many places
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True
        )
        line = 1
        guarded = "'" in text
        for row in reader:
            if any(row):
                yield line, [*map(_unguarded, row)] if guarded else row
            line = reader.line_num + 1
    finally:
        csv.field_size_limit(limit)


def encode(instance: Instance) -> str:
    """The text of an instance: a table of places, or its distance matrix with labels.

    A matrix has no room for the coverage rule; give it again when reading.
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
    assert instance.coordinates is not None
    columns: dict[str, Iterable[str]] = {}
    if instance.labels is not None:
        columns["name"] = map(_quoted, instance.labels)
    columns |= _coordinate_cells(instance, instance.coordinates)
    if instance.metric not in ("euclidean", "haversine"):
        columns["metric"] = [instance.metric] * instance.n
    match instance.rule:
        case Nearest(k):
            columns["nearest"] = map(repr, np.broadcast_to(k, instance.n).tolist())
        case Radius(r):
            columns["radius"] = map(repr, np.broadcast_to(r, instance.n).tolist())
        case Sets(sets):
            columns["covers"] = (" ".join(map(str, members.tolist())) for members in sets)
    depot = () if instance.depot is None else (instance.depot,)
    for what, places in (
        ("required", instance.required),
        ("forbidden", instance.forbidden),
        ("depot", depot),
    ):
        if places:
            marks = np.zeros(instance.n, dtype=np.int64)
            marks[list(places)] = 1
            columns[what] = map(str, marks.tolist())
    return _lines([list(columns), *zip(*columns.values(), strict=True)])


def _coordinate_cells(instance: Instance, points: FloatArray) -> dict[str, Iterable[str]]:
    first, second = (map(repr, column.tolist()) for column in points.T)
    if instance.metric == "haversine":
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


def encode_outcome(instance: Instance, outcome: Result | Tour) -> str:
    """The itinerary: one row per stop, and a last one for the way back to the first."""
    plan = itinerary(instance, tour_of(outcome))
    stops = [*plan.places.tolist(), int(plan.places[0])]
    names = [
        "; ".join(instance.label(place) for place in served.tolist()) for served in plan.served
    ]
    columns: dict[str, Iterable[str]] = {
        "stop": [*map(str, range(1, len(stops))), RETURN],
        "place": map(str, stops),
        "name": [_quoted(instance.label(place)) for place in stops],
        "leg": (f"{leg:.10g}" for leg in plan.legs),
        "distance": [*(f"{way:.10g}" for way in plan.running[:-1]), repr(float(plan.length))],
        "covers": [*(str(len(served)) for served in plan.served), "0"],
        "covered": map(_quoted, [*names, ""]),
    }
    if instance.coordinates is not None:
        columns |= _coordinate_cells(instance, instance.coordinates[stops])
    return _lines([list(columns), *zip(*columns.values(), strict=True)])


def read_tour(source: Source) -> FoundTour:
    """The tour of an itinerary with the columns stop and place."""
    rows, where = _rows(source)
    at = {title.strip().lower(): position for position, title in enumerate(rows[0])}
    if "stop" not in at or "place" not in at:
        raise InputError(f"{where(0)}: expected an itinerary with the columns stop and place")
    places: list[int] = []
    names: list[str | None] = []
    way_back = None
    for number, row in enumerate(rows[1:], start=1):
        if row[at["stop"]].strip().lower() == RETURN:
            way_back = number
            continue
        try:
            places.append(int(row[at["place"]]))
            names.append(row[at["name"]] if "name" in at else None)
        except ValueError:
            raise InputError(
                f"{where(number)}: place {shown(row[at['place']])} is not a place number"
            ) from None
    if way_back is None or "distance" not in at:
        return FoundTour(places, None, names)
    line = where(way_back)
    length = table.numbers([rows[way_back][at["distance"]]], "distance", lambda _: line).item()
    return FoundTour(places, length, names)
