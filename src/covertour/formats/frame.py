"""Tables in memory: instances from the frames of pandas and GeoPandas, which need not be there."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from covertour.formats import csv, geojson
from covertour.formats.json import plain
from covertour.formats.source import Given, Source
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance


class Frame(Protocol):
    """What is used of a frame of pandas; GeoPandas has a ``__geo_interface__`` besides."""

    @property
    def columns(self) -> Any:
        """The titles."""

    @property
    def index(self) -> Any:
        """The labels of the rows."""

    def itertuples(self, index: bool = ..., name: str | None = ...) -> Any:
        """The rows."""

    def isna(self) -> Any:
        """Which values are missing."""


LONGITUDE_LATITUDE = 4326
"""The EPSG code of the coordinates of GeoJSON."""


def is_frame(value: Any) -> bool:
    """Whether this is a frame of pandas or GeoPandas, or something that behaves like one."""
    return hasattr(value, "__geo_interface__") or (
        hasattr(value, "columns") and hasattr(value, "itertuples") and hasattr(value, "isna")
    )


def read(frame: Any, given: Given) -> Instance:
    """An instance from a frame with the columns that a CSV file would have, or from points."""
    source = Source("the frame")
    if hasattr(frame, "__geo_interface__"):
        crs = getattr(frame, "crs", None)
        if crs is not None and crs != LONGITUDE_LATITUDE:
            frame = frame.to_crs(LONGITUDE_LATITUDE)
        return geojson.from_value(source, plain(frame.__geo_interface__), given)
    header = [str(title) for title in frame.columns]
    missing = frame.isna().to_numpy()
    rows = [
        ["" if gone else _cell(value) for value, gone in zip(row, lacks, strict=True)]
        for row, lacks in zip(frame.itertuples(index=False, name=None), missing, strict=True)
    ]
    if not rows or not header:
        raise InputError(f"{source}: has no places")
    labels = [str(label) for label in frame.index]
    if labels == header:  # a distance matrix with its labels
        rows = [[label, *row] for label, row in zip(labels, rows, strict=True)]
        header = ["", *header]

    def where(row: int) -> str:
        return f"{source}, row {labels[row - 1]}" if row else str(source)

    return csv.from_rows(source, [header, *rows], where, given)


def _cell(value: Any) -> str:
    """A value as CSV would have it."""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return repr(float(value)) if isinstance(value, float | np.floating) else str(value)
