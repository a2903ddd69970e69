"""Files: reading instances and tours, writing instances and outcomes, each by the file's ending."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from covertour.problem.coverage import only_rule
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.tour import Tour
from covertour.solving.result import Result

INSTANCE_ENDINGS = (".json", ".csv", ".tsp", ".geojson", ".npy")
"""What :func:`read` reads and, like pictures, :func:`write` writes of an instance."""

OUTCOME_ENDINGS = (".json", ".geojson", ".gpx", ".csv", ".tour", ".html", ".png", ".svg")
"""What :func:`write` writes of a result or a tour."""

TOUR_ENDINGS = (".json", ".geojson", ".gpx", ".csv", ".tour")
"""What :func:`read_tour` reads."""

PICTURE_ENDINGS = (".png", ".svg")


def read(
    path: str | os.PathLike[str],
    *,
    nearest: int | Sequence[int] | None = None,
    radius: float | Sequence[float] | None = None,
    metric: str | None = None,
) -> Instance:
    """An instance from a file: covertour JSON, TSPLIB, CSV, GeoJSON points or a distance matrix.

    ``nearest`` or ``radius``, one number or one a place, replaces the coverage rule of the file and
    has to be given where the file has none. ``metric`` replaces the metric that the file implies.
    """
    file = Path(path)
    only_rule(nearest=nearest, radius=radius)
    match _ending(file, INSTANCE_ENDINGS, "read an instance from"):
        case ".json":
            from covertour.formats.json import read as reader
        case ".csv":
            from covertour.formats.csv import read as reader
        case ".tsp":
            from covertour.formats.tsplib import read as reader
        case ".geojson":
            from covertour.formats.geojson import read as reader
        case _:
            from covertour.formats.matrix import read_npy as reader
    return reader(file, nearest=nearest, radius=radius, metric=metric)


def read_tour(path: str | os.PathLike[str], instance: Instance) -> Tour:
    """A tour from a file, with the length that the file claims, or else its true one.

    The tour may be wrong in any way, that is for :func:`covertour.verify` to find. Its length is
    NaN where the file claims none and some of its places do not exist.
    """
    file = Path(path)
    match _ending(file, TOUR_ENDINGS, "read a tour from"):
        case ".json":
            from covertour.formats.json import read_tour as reader
        case ".geojson":
            from covertour.formats.geojson import read_tour as reader
        case ".gpx":
            from covertour.formats.gpx import read_tour as reader
        case ".csv":
            from covertour.formats.csv import read_tour as reader
        case _:
            from covertour.formats.tsplib import read_tour as reader
    found, claim = reader(file)
    try:
        places = np.array(found, dtype=np.int64)
        length = None if claim is None else float(claim)
    except OverflowError:
        raise InputError(f"{file}: a place number or the length of the tour is too large") from None
    places.flags.writeable = False
    if length is None:
        known = len(places) == 0 or (places.min() >= 0 and places.max() < instance.n)
        length = instance.length(places) if known else float("nan")
    return Tour(places, length)


def write(
    path: str | os.PathLike[str], instance: Instance, outcome: Result | Tour | None = None
) -> None:
    """Write an instance, or with an ``outcome`` its result or tour, in the format of the ending.

    The file appears whole or not at all.
    """
    file = Path(path)
    _check_ending(file, outcome is not None)
    if file.suffix.lower() in PICTURE_ENDINGS:
        from covertour.formats.picture import write as draw

        draw(file, instance, outcome)
    elif outcome is None:
        _write_instance(file, instance)
    else:
        _write_outcome(file, instance, outcome)


def _write_instance(file: Path, instance: Instance) -> None:
    match file.suffix.lower():
        case ".json":
            from covertour.formats.json import write as writer
        case ".csv":
            from covertour.formats.csv import write as writer
        case ".tsp":
            from covertour.formats.tsplib import write as writer
        case ".geojson":
            from covertour.formats.geojson import write as writer
        case _:
            from covertour.formats.matrix import write_npy as writer
    writer(file, instance)


def _write_outcome(file: Path, instance: Instance, outcome: Result | Tour) -> None:
    match file.suffix.lower():
        case ".json":
            from covertour.formats.json import write_outcome as writer
        case ".geojson":
            from covertour.formats.geojson import write_outcome as writer
        case ".gpx":
            from covertour.formats.gpx import write_outcome as writer
        case ".csv":
            from covertour.formats.csv import write_outcome as writer
        case ".tour":
            from covertour.formats.tsplib import write_outcome as writer
        case _:
            from covertour.formats.html import html_map
            from covertour.storage import write_text

            write_text(file, html_map(instance, outcome))
            return
    writer(file, instance, outcome)


def check_output(path: str | os.PathLike[str], outcome: bool = True) -> None:
    """An error where :func:`write` could not write there: for callers with long work before it."""
    from covertour.storage import check_writable

    _check_ending(Path(path), outcome)
    check_writable(Path(path))


def _check_ending(file: Path, outcome: bool) -> None:
    if outcome:
        _ending(file, OUTCOME_ENDINGS, "write a tour to")
    else:
        _ending(file, INSTANCE_ENDINGS + PICTURE_ENDINGS, "write an instance to")


def _ending(file: Path, known: tuple[str, ...], purpose: str) -> str:
    ending = file.suffix.lower()
    if ending not in known:
        what = f"the ending {ending!r}" if ending else "a name without ending"
        raise InputError(f"{file}: cannot {purpose} {what}; known: {' '.join(known)}")
    return ending
