"""TSPLIB: problems (.tsp) and tours (.tour).

TSPLIB has no word for coverage. What it cannot hold is written as JSON into one comment line,
``COMMENT : covertour {"coverage": {"nearest": 7}}``, that other programs pass over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from covertour.formats import table
from covertour.formats.json import (
    check_fields,
    parse,
    rule_from_value,
    rule_to_value,
    wishes_to_value,
)
from covertour.formats.source import UNNAMED, FoundTour, Given, Source, build
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray
from covertour.problem.tour import Tour, check_places
from covertour.solving.result import Result, tour_of

METRIC_OF = {
    "EUC_2D": "euc_2d",
    "CEIL_2D": "ceil_2d",
    "ATT": "att",
    "GEO": "geo",
    "EXPLICIT": "matrix",
}

SHAPES = {
    "FULL_MATRIX": "full",
    "UPPER_ROW": "upper",
    "LOWER_ROW": "lower",
    "UPPER_DIAG_ROW": "upper diagonal",
    "LOWER_DIAG_ROW": "lower diagonal",
    "UPPER_COL": "lower",
    "LOWER_COL": "upper",
    "UPPER_DIAG_COL": "lower diagonal",
    "LOWER_DIAG_COL": "upper diagonal",
}
"""EDGE_WEIGHT_FORMAT: the part of the matrix listed by rows; by columns is the other half."""

KEYWORD = re.compile(r"^[ \t]*(?!nan\b|inf)([A-Za-z_]\w*)[ \t]*:?[ \t]*(.*)$", re.MULTILINE | re.I)
NODES, DISPLAY = "NODE_COORD_SECTION", "DISPLAY_DATA_SECTION"
WEIGHTS, TOUR = "EDGE_WEIGHT_SECTION", "TOUR_SECTION"
COMMENT = "covertour "


@dataclass(frozen=True)
class Entry:
    """A keyword, the rest of its line, the line's number, and the lines of data below it."""

    keyword: str
    value: str
    line: int
    data: str


def _entries(source: Source) -> list[Entry]:
    """What the file says, in order, up to EOF."""
    text = source.text(other_encoding="latin-1").replace("\r\n", "\n").replace("\r", "\n")
    found = list(KEYWORD.finditer(text))
    start = found[0].start() if found else len(text)
    if text[:start].strip():
        raise InputError(f"{source}, line 1: not a TSPLIB file, expected a keyword such as NAME")
    entries = []
    line, counted = 1, 0
    for index, match in enumerate(found):
        line, counted = line + text.count("\n", counted, match.start(1)), match.start(1)
        if match[1].upper() == "EOF":
            break
        end = found[index + 1].start() if index + 1 < len(found) else len(text)
        entries.append(Entry(match[1].upper(), match[2].strip(), line, text[match.end() + 1 : end]))
    return entries


def read(source: Source, given: Given) -> Instance:
    """An instance from a TSPLIB problem; the caller's metric replaces the file's."""
    entries = _entries(source)
    said: dict[str, Entry] = {}
    more: dict[str, Any] = {}
    for entry in entries:
        if entry.keyword == "COMMENT":
            if entry.value.startswith(COMMENT + "{"):
                more = _from_comment(source, entry)
        elif entry.keyword in said:
            raise InputError(f"{source}, line {entry.line}: {entry.keyword} is given twice")
        else:
            said[entry.keyword] = entry
        if entry.data.strip() and entry.keyword not in (NODES, DISPLAY, WEIGHTS):
            raise InputError(
                f"{source}, line {entry.line}: {shown(entry.keyword)} with data below it is not "
                f"supported"
            )
    kind = said["TYPE"].value.upper() if "TYPE" in said else "TSP"
    if kind.split()[:1] not in (["TSP"], ["ATSP"]):
        raise InputError(
            f"{source}, line {said['TYPE'].line}: TYPE {shown(kind)} is not supported, "
            "expected TSP or ATSP"
        )
    n = _dimension(source, said.get("DIMENSION"))
    metric = given.metric or _metric(source, said)
    fields: dict[str, Any] = {
        "metric": metric,
        "name": said["NAME"].value if "NAME" in said and said["NAME"].value else source.stem,
        **more,
    }
    if metric == "matrix":
        fields["matrix"] = _weights(source, n, said)
    section = said.get(NODES, said.get(DISPLAY))
    if section is not None:
        fields["coordinates"] = _coordinates(source, n, section, metric)
    elif metric != "matrix":
        raise InputError(f"{source}: {NODES} is missing")
    in_file = fields.pop("rule", None)
    return build(source, rule=given.rule(source, in_file), **fields)


def _from_comment(source: Source, entry: Entry) -> dict[str, Any]:
    where = f"{source}, line {entry.line}"
    value = parse(entry.value.removeprefix(COMMENT), str(source), entry.line)
    fields = check_fields(where, value)
    known = ("name", "depot", "required", "forbidden", "labels")
    unknown = [field for field in fields if field not in known]
    if unknown:
        raise InputError(f"{where}: unknown field {shown(unknown[0])}")
    rule = rule_from_value(where, value.get("coverage"))
    return fields if rule is None else fields | {"rule": rule}


def _dimension(source: Source, entry: Entry | None) -> int:
    if entry is None:
        raise InputError(f"{source}: DIMENSION is missing")
    if not re.fullmatch(r"[0-9]{1,18}", entry.value) or int(entry.value) < 1:
        raise InputError(
            f"{source}, line {entry.line}: DIMENSION {shown(entry.value)}, "
            "expected a whole number of at least 1"
        )
    return int(entry.value)


def _metric(source: Source, said: dict[str, Entry]) -> str:
    entry = said.get("EDGE_WEIGHT_TYPE")
    if entry is None:
        raise InputError(f"{source}: EDGE_WEIGHT_TYPE is missing")
    kind = entry.value.upper()
    if kind not in METRIC_OF:
        raise InputError(
            f"{source}, line {entry.line}: EDGE_WEIGHT_TYPE {shown(entry.value)} is not supported, "
            f"expected one of {', '.join(METRIC_OF)}"
        )
    return METRIC_OF[kind]


def _coordinates(source: Source, n: int, section: Entry, metric: str) -> FloatArray:
    """float64[n, 2] from lines of node number and two coordinates, in the order of the numbers."""

    def lines() -> list[tuple[int, list[str]]]:
        split = (line.split() for line in section.data.split("\n"))
        return [(section.line + 1 + at, cells) for at, cells in enumerate(split) if cells]

    def where(row: int) -> str:
        return f"{source}, line {lines()[row][0]}"

    tokens = section.data.split()
    if len(tokens) != 3 * n:
        rows = lines()
        bad = next((row for row, (_, cells) in enumerate(rows) if len(cells) != 3), None)
        if bad is None or bad == len(rows) - 1 < n:
            found = len(rows) if bad is None else len(rows) - 1
            raise InputError(
                f"{source}: {section.keyword}: expected {n} nodes as DIMENSION says, found {found}"
                + ("; the file is cut short" if found < n else "")
            )
        raise InputError(
            f"{where(bad)}: expected a node number and two coordinates, "
            f"found {len(rows[bad][1])} values"
        )
    number = table.numbers(tokens[0::3], "node number", where)
    points = np.stack(
        [table.numbers(tokens[axis::3], "coordinate", where) for axis in (1, 2)], axis=1
    )
    order = np.argsort(number, kind="stable")
    if not np.array_equal(number[order] - number.min(), np.arange(n)) or number.min() not in (0, 1):
        seen: set[float] = set()
        for row, value in enumerate(number.tolist()):
            if value in seen or not 1 <= value <= n or value != int(value):
                problem = "comes twice" if value in seen else "does not exist"
                raise InputError(
                    f"{where(row)}: node {value:g} {problem}, expected the numbers 1 to {n}"
                )
            seen.add(value)
    points = points[order]
    if section.keyword == NODES:
        table.check_coordinates(points, metric, lambda place: where(int(order[place])))
    return points


def _weights(source: Source, n: int, said: dict[str, Entry]) -> FloatArray:
    """The matrix, float64[n, n], of an EDGE_WEIGHT_SECTION."""
    section = said.get(WEIGHTS)
    if section is None:
        raise InputError(f"{source}: {WEIGHTS} is missing")
    layout = said.get("EDGE_WEIGHT_FORMAT")
    if layout is None:
        raise InputError(f"{source}: EDGE_WEIGHT_FORMAT is missing")
    shape = SHAPES.get(layout.value.upper())
    if shape is None:
        raise InputError(
            f"{source}, line {layout.line}: EDGE_WEIGHT_FORMAT {shown(layout.value)} is not "
            f"supported, expected one of {', '.join(SHAPES)}"
        )

    def where(token: int) -> str:
        passed = 0
        for at, line in enumerate(section.data.split("\n")):
            passed += len(line.split())
            if passed > token:
                return f"{source}, line {section.line + 1 + at}"
        return f"{source}, line {section.line}"

    tokens = section.data.split()
    expected = n * n if shape == "full" else n * (n + 1) // 2
    if shape in ("upper", "lower"):
        expected -= n
    if len(tokens) != expected:
        raise InputError(
            f"{source}: {WEIGHTS}: expected {expected} numbers for {layout.value} of {n} nodes, "
            f"found {len(tokens)}" + ("; the file is cut short" if len(tokens) < expected else "")
        )
    values = table.numbers(tokens, "distance", where)
    if shape == "full":
        square = values.reshape(n, n).copy()
        np.fill_diagonal(square, 0.0)  # many files have a large number there
        table.not_negative(square.ravel(), "distance", where)
        return square
    table.not_negative(values, "distance", where)
    half = np.zeros((n, n))
    off = 0 if "diagonal" in shape else 1
    corner = np.triu_indices(n, off) if shape.startswith("upper") else np.tril_indices(n, -off)
    half[corner] = values
    np.fill_diagonal(half, 0.0)
    return half + half.T


def encode(instance: Instance) -> str:
    """The text of an instance in a metric that TSPLIB knows; reading it gives the same one."""
    kinds = {metric: kind for kind, metric in METRIC_OF.items()}
    if instance.metric not in kinds:
        raise InputError(
            f"TSPLIB has no metric {instance.metric!r}, only {', '.join(kinds)}; "
            "write a .json or .csv file instead"
        )
    more: dict[str, Any] = {"coverage": rule_to_value(instance.rule), **wishes_to_value(instance)}
    name = _name(instance)
    if name != instance.name:
        more["name"] = instance.name
    lines = [
        f"NAME : {name}",
        f"TYPE : {'TSP' if instance.symmetric else 'ATSP'}",
        f"COMMENT : {COMMENT}{json.dumps(more)}",
        f"DIMENSION : {instance.n}",
        f"EDGE_WEIGHT_TYPE : {kinds[instance.metric]}",
    ]
    if instance.matrix is not None:
        lines.append("EDGE_WEIGHT_FORMAT : FULL_MATRIX")
        if instance.coordinates is not None:
            lines.append("DISPLAY_DATA_TYPE : TWOD_DISPLAY")
        lines.append(WEIGHTS)
        lines.extend(" ".join(_texts(row)) for row in instance.matrix.tolist())
    if instance.coordinates is not None:
        lines.append(NODES if instance.matrix is None else DISPLAY)
        columns = (_texts(column) for column in instance.coordinates.T.tolist())
        lines.extend(
            f"{node} {x} {y}" for node, (x, y) in enumerate(zip(*columns, strict=True), start=1)
        )
    return "\n".join([*lines, "EOF", ""])


def _name(instance: Instance) -> str:
    """The name on one line, which must have something on it."""
    return " ".join(instance.name.split()) or UNNAMED


def _texts(values: Iterable[float]) -> Iterable[str]:
    """Numbers as short as they read back exactly, whole ones without a point."""
    return (repr(value).removesuffix(".0") for value in values)


def encode_outcome(instance: Instance, outcome: Result | Tour) -> str:
    """A tour with node numbers from 1, its length in the comment as LKH does."""
    tour = tour_of(outcome)
    check_places(instance, tour.places)
    lines = [
        f"NAME : {_name(instance)}",
        f"COMMENT : Length = {next(iter(_texts([float(tour.length)])))}",
        "TYPE : TOUR",
        f"DIMENSION : {len(tour)}",
        TOUR,
        *map(str, (tour.places + 1).tolist()),
    ]
    return "\n".join([*lines, "-1", "EOF", ""])


def read_tour(source: Source) -> FoundTour:
    """A TSPLIB tour, and the length that its comment claims."""
    entries = {entry.keyword: entry for entry in _entries(source)}
    if TOUR not in entries:
        raise InputError(f"{source}: {TOUR} is missing")
    length = None
    said = re.search(
        r"\blength\s*[:=]?\s*([0-9][0-9.eE+-]*)", _comment(entries), flags=re.IGNORECASE
    )
    if said:
        try:
            length = float(said[1])
        except ValueError:
            length = None
    places: list[int] = []
    section = entries[TOUR]
    for at, line in enumerate([section.value, *section.data.split("\n")]):
        for token in line.split():
            if not re.fullmatch(r"[+-]?[0-9]{1,18}", token):
                raise InputError(
                    f"{source}, line {section.line + at}: {shown(token)} is not a node number"
                )
            if int(token) == -1:
                return FoundTour(places, length)
            places.append(int(token) - 1)
    if "DIMENSION" in entries:
        expected = _dimension(source, entries["DIMENSION"])
        if len(places) < expected:
            raise InputError(
                f"{source}: {TOUR}: expected {expected} stops as DIMENSION says, "
                f"found {len(places)}; the file is cut short"
            )
    return FoundTour(places, length)


def _comment(entries: dict[str, Entry]) -> str:
    return entries["COMMENT"].value if "COMMENT" in entries else ""
