"""Files: reading instances and tours, writing instances and outcomes, each by the file's ending."""

from __future__ import annotations

import io
import os
import warnings
from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from covertour.formats.manner import Manner
from covertour.formats.source import (
    FoundTour,
    Given,
    Source,
    begins_with_titles,
    from_path,
    from_stream,
    likely_ending,
)
from covertour.problem.coverage import only_rule
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import SPHERE_KM
from covertour.problem.times import Times
from covertour.problem.tour import Tour
from covertour.problem.units import in_kilometres
from covertour.solving.result import Result
from covertour.storage import check_writable, encoded, write_bytes

if TYPE_CHECKING:
    from covertour.formats.frame import Frame

INSTANCE_ENDINGS = (".json", ".csv", ".xlsx", ".kml", ".gpkg", ".tsp", ".geojson", ".npy")
"""What :func:`read` reads and, like pictures, :func:`write` writes of an instance."""

ONLY_READ_ENDINGS = (".tsv", ".xls", ".xlsm", ".shp", ".zip", ".kmz", ".txt", ".ctp")
"""What :func:`read` reads besides: tables with tabs, old workbooks, shapefiles, benchmark files."""

READ_ENDINGS = INSTANCE_ENDINGS + ONLY_READ_ENDINGS
"""All that :func:`read` reads."""

OUTCOME_ENDINGS = (
    *(".json", ".geojson", ".gpx", ".csv", ".xlsx", ".kml", ".gpkg", ".tour"),
    *(".html", ".pdf", ".png", ".svg"),
)
"""What :func:`write` writes of a result or a tour."""

TOUR_ENDINGS = (".json", ".geojson", ".gpx", ".csv", ".xlsx", ".tour")
"""What :func:`read_tour` reads."""

PICTURE_ENDINGS = (".png", ".svg")

FileLike = str | os.PathLike[str] | IO[Any]
"""A path, or a stream of text or bytes."""


def read(
    source: FileLike | Mapping[str, Any] | Frame,
    *,
    nearest: int | Sequence[int] | None = None,
    radius: float | str | Sequence[float] | None = None,
    metric: str | None = None,
    stops: FileLike | Mapping[str, Any] | Frame | None = None,
    sheet: str | None = None,
    skip_bad_rows: bool = False,
    merge_duplicates: bool = False,
    format: str | None = None,
    on_note: Callable[[str], None] | None = None,
) -> Instance:
    """An instance: covertour JSON, TSPLIB, CSV, GeoJSON points, a distance matrix or a benchmark.

    ``source``: a path, whose ending tells the format; a stream of text or bytes, whose name or
    content does; a dict with the fields of covertour's JSON or of GeoJSON; or a frame of pandas or
    GeoPandas. ``nearest`` or ``radius``, one number or one per place, replaces the coverage rule of
    the source and has to be given where that has none. A radius such as "12mi" or "500m" has its
    unit. ``metric`` replaces the metric that the source implies. ``stops``: where the places that
    may be stops are in a file of their own; those of the ``source`` are served from there.

    ``sheet``: the sheet of a workbook or the layer of a file with several; by default the first
    that has coordinates. ``skip_bad_rows``: go on without the rows of a table in which something is
    wrong. ``merge_duplicates``: make one place of rows that are the same. ``format``: such as
    "csv", in place of the ending. ``on_note`` is called with a line about what is not used or was
    guessed; without it, columns that look misspelt are warned of.

    >>> read({"coordinates": [[0, 0], [0, 1], [3, 0]], "coverage": {"radius": 1}}).n
    3
    """
    only_rule(nearest=nearest, radius=radius)
    distance = _plain_radius(radius) if isinstance(radius, str) else radius
    notes: list[tuple[str, bool]] = []  # told when all went well; else the error is enough

    def note(message: str, mistake: bool) -> None:
        notes.append((message, mistake))

    given = Given(nearest, distance, metric, sheet, skip_bad_rows, merge_duplicates, note)
    if stops is None:
        instance = _read(source, given, format)
    else:
        from covertour.formats.two_files import with_stops

        served = replace(given, nearest=None, radius=0.0)  # the rule is that of the stops
        instance = with_stops(
            _read(source, served, format), _read(stops, replace(given, sheet=None), None)
        )
    if isinstance(radius, str) and instance.metric not in SPHERE_KM and in_kilometres(radius):
        raise InputError(
            f"radius: {radius} has a unit, but distances of the metric {instance.metric!r} have "
            "none; give a plain number"
        )
    for message, mistake in notes:
        if on_note is not None:
            on_note(message)
        elif mistake:
            warnings.warn(message, stacklevel=2)
    return instance


def _plain_radius(text: str) -> float:
    """A radius as a number, in kilometres where it has a unit."""
    try:
        distance = in_kilometres(text)
        return float(text) if distance is None else distance
    except (ValueError, InputError) as error:
        why = error if isinstance(error, InputError) else f"{shown(text)} is not a distance"
        raise InputError(f"radius: {why}") from None


def _read(source: Any, given: Given, format: str | None) -> Instance:
    if isinstance(source, Mapping):
        from covertour.formats.json import from_value, plain

        return from_value(Source("the dict"), plain(source), given)
    if not _is_file(source):
        from covertour.formats.frame import is_frame
        from covertour.formats.frame import read as read_frame

        if not is_frame(source):
            raise InputError(
                f"read: expected a path, a stream, a dict or a frame, got {shown(source)}"
            )
        return read_frame(source, given)
    opened, ending = _opened(source, READ_ENDINGS, "read an instance from", format)
    match ending:
        case ".json":
            from covertour.formats.json import read as reader
        case ".csv" | ".tsv":
            from covertour.formats.csv import read as reader
        case ".geojson":
            from covertour.formats.geojson import read as reader
        case ".npy":
            from covertour.formats.matrix import read_npy as reader
        case ".tsp" | ".tour":
            from covertour.formats.tsplib import read as reader
        case ".txt":
            from covertour.formats.gctsp import read as reader
        case ".ctp":
            from covertour.formats.ctp import read as reader
        case ".xlsx" | ".xls" | ".xlsm":
            from covertour.formats.workbook import read as reader
        case ".shp" | ".zip":
            from covertour.formats.shapefile import read as reader
        case ".kml" | ".kmz":
            from covertour.formats.kml import read as reader
        case ".gpkg":
            from covertour.formats.geopackage import read as reader
        case _:
            raise InputError(f"{opened}: expected an instance, got something like {ending}")
    return reader(opened, given)


def read_tour(source: FileLike, instance: Instance) -> Tour:
    """A tour from a path or a stream, with the length that it claims, or else its true one.

    Where both the tour and the instance have names, stops are found by name. A stop that is not in
    the instance is an error; whatever else may be wrong is for :func:`covertour.verify` to find.

    >>> from io import StringIO
    >>> places = read({"coordinates": [[0, 0], [0, 1], [3, 0]], "coverage": {"radius": 1}})
    >>> read_tour(StringIO("stop,place\\n1,0\\n2,2\\n"), places).length
    6.0
    """
    from covertour.formats.tours import matched

    if not _is_file(source):
        raise InputError(f"read_tour: expected a path or a stream, got {shown(source)}")
    opened, ending = _opened(source, TOUR_ENDINGS, "read a tour from")
    return matched(opened, _tour_reader(opened, ending)(opened), instance)


def _tour_reader(opened: Source, ending: str) -> Callable[[Source], FoundTour]:
    """The function that reads a tour from a file with this ending."""
    match ending:
        case ".json":
            from covertour.formats.json import read_tour as reader
        case ".geojson":
            from covertour.formats.geojson import read_tour as reader
        case ".gpx":
            from covertour.formats.gpx import read_tour as reader
        case ".csv":
            from covertour.formats.csv import read_tour as reader
        case ".xlsx":
            from covertour.formats.workbook import read_tour as reader
        case ".tour" | ".tsp":
            from covertour.formats.tsplib import read_tour as reader
        case _:
            raise InputError(f"{opened}: expected a tour, got something like {ending}")
    return reader


def read_stops(source: FileLike, instance: Instance) -> tuple[list[int], list[str]]:
    """The stops of an old plan as places of an instance, and the names of those it does not have.

    The plan is a tour that covertour wrote, or a table in which each row is a stop with its name.
    """
    from covertour.formats.tours import known_stops

    if not _is_file(source):
        raise InputError(f"read_stops: expected a path or a stream, got {shown(source)}")
    opened, ending = _opened(source, TOUR_ENDINGS, "read a plan from")
    reader = _tour_reader(opened, ending)
    if ending == ".csv":
        from covertour.formats.csv import read_plan as reader
    elif ending == ".xlsx":
        from covertour.formats.workbook import read_plan as reader
    stops, missing = known_stops(reader(opened), instance)
    if not stops:
        raise InputError(f"{opened}: no stop of it is a place of {instance.name}")
    return stops, missing


def _is_file(source: object) -> bool:
    return isinstance(source, str | os.PathLike) or hasattr(source, "read")


def _opened(
    source: Any, known: tuple[str, ...], purpose: str, format: str | None = None
) -> tuple[Source, str]:
    """The content of a file or a stream, and the ending by which it is read."""
    said = None if format is None else f".{format.lower().removeprefix('.')}"
    if said is not None and said not in known:
        raise InputError(f"format: cannot {purpose} {shown(format)}; known: {' '.join(known)}")
    if not hasattr(source, "read") or isinstance(source, os.PathLike):
        file = Path(source)
        ending = said or _ending(file, known, purpose)
        opened = from_path(file)
    else:
        opened = from_stream(source)
        ending = said or Path(opened.where).suffix.lower()
        ending = ending if ending in known else likely_ending(opened)
    # Excel calls a table with tabs a text; benchmark files begin with numbers.
    return opened, ".csv" if ending == ".txt" and begins_with_titles(opened) else ending


def write(
    target: FileLike,
    instance: Instance,
    outcome: Result | Tour | None = None,
    *,
    format: str | None = None,
    tiles: str | None = None,
    times: Times | None = None,
    excel: bool = False,
) -> None:
    """Write an instance, or with an ``outcome`` its result or tour.

    ``target``: a path or a stream. ``format``: such as "csv"; by default that of the path's ending,
    and JSON to a stream. ``tiles``: the address of a tile server that an HTML map shall ask, such
    as ``https://tile.openstreetmap.org/{z}/{x}/{y}.png``. ``times``: how long things take, for
    itineraries, maps and sheets to tell when each stop is reached. ``excel``: begin CSV with a
    byte order mark, by which Excel knows its encoding. A file appears whole or not at all.

    >>> import sys
    >>> from covertour import Instance, make_tour
    >>> line = Instance.from_coordinates([[0, 0], [3, 4]], nearest=0, name="line")
    >>> write(sys.stdout, line, make_tour(line, [0, 1]), format="tour")
    NAME : line
    COMMENT : Length = 10
    TYPE : TOUR
    DIMENSION : 2
    TOUR_SECTION
    1
    2
    -1
    EOF
    """
    manner = Manner(tiles, times, excel)
    if hasattr(target, "write") and not isinstance(target, os.PathLike):
        _send(target, encode(instance, outcome, format or "json", manner))
        return
    if not isinstance(target, str | os.PathLike):
        raise InputError(f"write: expected a path or a stream, got {shown(target)}")
    file = Path(target)
    ending = f".{format}" if format else _check_ending(file, outcome is not None)
    try:
        data = encode(instance, outcome, ending.removeprefix("."), manner)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    write_bytes(file, data)


def check_format(format: str, outcome: bool = True) -> str:
    """The ending of a format such as "csv"; an error where nothing is written in it."""
    ending = f".{format.lower().removeprefix('.')}"
    known = OUTCOME_ENDINGS if outcome else INSTANCE_ENDINGS + PICTURE_ENDINGS
    if ending not in known:
        names = ", ".join(known).replace(".", "")
        what = "a tour" if outcome else "an instance"
        raise InputError(f"format: {what} is not written as {shown(format)}; there are {names}")
    return ending


def encode(
    instance: Instance, outcome: Result | Tour | None, format: str, manner: Manner = Manner()
) -> bytes:
    """The content of a file in a format, such as "csv", of an instance or of an outcome of it."""
    ending = check_format(format, outcome is not None)
    if ending in PICTURE_ENDINGS:
        from covertour.formats.picture import encode as draw

        return draw(ending.removeprefix("."), instance, outcome)
    content = encoded(
        _encode_instance(instance, ending)
        if outcome is None
        else _encode_outcome(instance, outcome, ending, manner)
    )
    return BOM_UTF8 + content if manner.excel and ending == ".csv" else content


def _encode_instance(instance: Instance, ending: str) -> str | bytes:
    encoder: Callable[[Instance], str | bytes]
    match ending:
        case ".json":
            from covertour.formats.json import encode as encoder
        case ".csv":
            from covertour.formats.csv import encode as encoder
        case ".tsp":
            from covertour.formats.tsplib import encode as encoder
        case ".geojson":
            from covertour.formats.geojson import encode as encoder
        case ".xlsx":
            from covertour.formats.sheet import encode as encoder
        case ".kml":
            from covertour.formats.kml import encode as encoder
        case ".gpkg":
            from covertour.formats.geopackage import encode as encoder
        case _:
            from covertour.formats.matrix import encode_npy as encoder
    return encoder(instance)


def _encode_outcome(
    instance: Instance, outcome: Result | Tour, ending: str, manner: Manner
) -> str | bytes:
    encoder: Callable[[Instance, Result | Tour], str | bytes]
    match ending:
        case ".csv":
            from covertour.formats.csv import encode_outcome as encode_csv

            return encode_csv(instance, outcome, manner)
        case ".xlsx":
            from covertour.formats.sheet import encode_outcome as encode_sheet

            return encode_sheet(instance, outcome, manner)
        case ".html":
            from covertour.formats.html import html_map

            return html_map(instance, outcome, manner)
        case ".pdf":
            from covertour.formats.pdf import encode_outcome as encode_pdf

            return encode_pdf(instance, outcome, manner)
        case ".json":
            from covertour.formats.json import encode_outcome as encoder
        case ".geojson":
            from covertour.formats.geojson import encode_outcome as encoder
        case ".gpx":
            from covertour.formats.gpx import encode_outcome as encoder
        case ".kml":
            from covertour.formats.kml import encode_outcome as encoder
        case ".gpkg":
            from covertour.formats.geopackage import encode_outcome as encoder
        case _:
            from covertour.formats.tsplib import encode_outcome as encoder
    return encoder(instance, outcome)


def _send(stream: Any, data: bytes) -> None:
    """Write to a stream of bytes or text; pictures cannot be text."""
    if isinstance(stream, io.TextIOBase):
        if hasattr(stream, "buffer"):
            stream.flush()
            stream = stream.buffer
        else:
            try:
                stream.write(data.decode("utf-8"))
            except UnicodeDecodeError:
                raise InputError("write: this format needs a stream of bytes") from None
            return
    stream.write(data)
    stream.flush()


def check_output(path: str | os.PathLike[str], outcome: bool = True) -> None:
    """An error where :func:`write` could not write there: for callers with long work before it."""
    _check_ending(Path(path), outcome)
    check_writable(Path(path))


def _check_ending(file: Path, outcome: bool) -> str:
    if outcome:
        return _ending(file, OUTCOME_ENDINGS, "write a tour to")
    return _ending(file, INSTANCE_ENDINGS + PICTURE_ENDINGS, "write an instance to")


def _ending(file: Path, known: tuple[str, ...], purpose: str) -> str:
    ending = file.suffix.lower()
    if ending not in known:
        what = f"the ending {ending!r}" if ending else "a name without ending"
        raise InputError(f"{file}: cannot {purpose} {what}; known: {' '.join(known)}")
    return ending
