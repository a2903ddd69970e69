"""Files: reading instances and tours, writing instances and outcomes, each by the file's ending."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from covertour.formats.source import Given, Source, from_path, from_stream, likely_ending
from covertour.problem.coverage import only_rule
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.tour import Tour
from covertour.solving.result import Result
from covertour.storage import check_writable, encoded, write_bytes

if TYPE_CHECKING:
    from covertour.formats.frame import Frame

INSTANCE_ENDINGS = (".json", ".csv", ".tsp", ".geojson", ".npy")
"""What :func:`read` reads and, like pictures, :func:`write` writes of an instance."""

OUTCOME_ENDINGS = (".json", ".geojson", ".gpx", ".csv", ".tour", ".html", ".png", ".svg")
"""What :func:`write` writes of a result or a tour."""

TOUR_ENDINGS = (".json", ".geojson", ".gpx", ".csv", ".tour")
"""What :func:`read_tour` reads."""

PICTURE_ENDINGS = (".png", ".svg")

FileLike = str | os.PathLike[str] | IO[Any]
"""A path, or a stream of text or bytes."""


def read(
    source: FileLike | Mapping[str, Any] | Frame,
    *,
    nearest: int | Sequence[int] | None = None,
    radius: float | Sequence[float] | None = None,
    metric: str | None = None,
    on_note: Callable[[str], None] | None = None,
) -> Instance:
    """An instance: covertour JSON, TSPLIB, CSV, GeoJSON points or a distance matrix.

    ``source``: a path, whose ending tells the format; a stream of text or bytes, whose name or
    content does; a dict with the fields of covertour's JSON or of GeoJSON; or a frame of pandas or
    GeoPandas. ``nearest`` or ``radius``, one number or one per place, replaces the coverage rule of
    the source and has to be given where that has none. ``metric`` replaces the metric that it
    implies. ``on_note`` is called with a line about columns that are not used; without it, those
    that look misspelt are warned of.

    >>> read({"coordinates": [[0, 0], [0, 1], [3, 0]], "coverage": {"radius": 1}}).n
    3
    """
    only_rule(nearest=nearest, radius=radius)
    mistakes: list[str] = []

    def note(message: str, mistake: bool) -> None:
        if on_note is not None:
            on_note(message)
        elif mistake:
            mistakes.append(message)

    instance = _read(source, Given(nearest, radius, metric, note))
    for mistake in mistakes:
        warnings.warn(mistake, stacklevel=2)
    return instance


def _read(source: Any, given: Given) -> Instance:
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
    opened, ending = _opened(source, INSTANCE_ENDINGS, "read an instance from")
    match ending:
        case ".json":
            from covertour.formats.json import read as reader
        case ".csv":
            from covertour.formats.csv import read as reader
        case ".geojson":
            from covertour.formats.geojson import read as reader
        case ".npy":
            from covertour.formats.matrix import read_npy as reader
        case ".tsp" | ".tour":
            from covertour.formats.tsplib import read as reader
        case _:
            raise InputError(f"{opened}: expected an instance, got something like {ending}")
    return reader(opened, given)


def read_tour(source: FileLike, instance: Instance) -> Tour:
    """A tour from a path or a stream, with the length that it claims, or else its true one.

    Where both the tour and the instance have names, stops are found by name. A stop that is not in
    the instance is an error; whatever else may be wrong is for :func:`covertour.verify` to find.
    """
    from covertour.formats.tours import matched

    if not _is_file(source):
        raise InputError(f"read_tour: expected a path or a stream, got {shown(source)}")
    opened, ending = _opened(source, TOUR_ENDINGS, "read a tour from")
    match ending:
        case ".json":
            from covertour.formats.json import read_tour as reader
        case ".geojson":
            from covertour.formats.geojson import read_tour as reader
        case ".gpx":
            from covertour.formats.gpx import read_tour as reader
        case ".csv":
            from covertour.formats.csv import read_tour as reader
        case ".tour" | ".tsp":
            from covertour.formats.tsplib import read_tour as reader
        case _:
            raise InputError(f"{opened}: expected a tour, got something like {ending}")
    return matched(opened, reader(opened), instance)


def _is_file(source: object) -> bool:
    return isinstance(source, str | os.PathLike) or hasattr(source, "read")


def _opened(source: Any, known: tuple[str, ...], purpose: str) -> tuple[Source, str]:
    """The content of a file or a stream, and the ending by which it is read."""
    if not hasattr(source, "read") or isinstance(source, os.PathLike):
        file = Path(source)
        ending = _ending(file, known, purpose)
        return from_path(file), ending
    opened = from_stream(source)
    ending = Path(opened.where).suffix.lower()
    return opened, ending if ending in known else likely_ending(opened)


def write(
    target: FileLike,
    instance: Instance,
    outcome: Result | Tour | None = None,
    *,
    format: str | None = None,
) -> None:
    """Write an instance, or with an ``outcome`` its result or tour.

    ``target``: a path or a stream. ``format``: such as "csv"; by default that of the path's ending,
    and JSON to a stream. A file appears whole or not at all.
    """
    if hasattr(target, "write") and not isinstance(target, os.PathLike):
        _send(target, encode(instance, outcome, format or "json"))
        return
    if not isinstance(target, str | os.PathLike):
        raise InputError(f"write: expected a path or a stream, got {shown(target)}")
    file = Path(target)
    ending = f".{format}" if format else _check_ending(file, outcome is not None)
    try:
        data = encode(instance, outcome, ending.removeprefix("."))
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


def encode(instance: Instance, outcome: Result | Tour | None, format: str) -> bytes:
    """The content of a file in a format, such as "csv", of an instance or of an outcome of it."""
    ending = check_format(format, outcome is not None)
    if ending in PICTURE_ENDINGS:
        from covertour.formats.picture import encode as draw

        return draw(ending.removeprefix("."), instance, outcome)
    return encoded(
        _encode_instance(instance, ending)
        if outcome is None
        else _encode_outcome(instance, outcome, ending)
    )


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
        case _:
            from covertour.formats.matrix import encode_npy as encoder
    return encoder(instance)


def _encode_outcome(instance: Instance, outcome: Result | Tour, ending: str) -> str:
    match ending:
        case ".json":
            from covertour.formats.json import encode_outcome as encoder
        case ".geojson":
            from covertour.formats.geojson import encode_outcome as encoder
        case ".gpx":
            from covertour.formats.gpx import encode_outcome as encoder
        case ".csv":
            from covertour.formats.csv import encode_outcome as encoder
        case ".tour":
            from covertour.formats.tsplib import encode_outcome as encoder
        case _:
            from covertour.formats.html import html_map as encoder
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
