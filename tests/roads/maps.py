"""What tests of roads share: a real extract, and kilometres as degrees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

KM = 180.0 / (3.141592653589793 * 6371.0088)
"""Degrees of latitude, and at the equator of longitude, in a kilometre."""

Way = tuple[Sequence[int], Mapping[str, str]]
Draw = Callable[..., Path]

ORDINO = Path(__file__).parents[1] / "data" / "roads" / "ordino.osm.pbf"
"""Real roads: © OpenStreetMap contributors, ODbL 1.0."""


def at(x: float, y: float) -> tuple[float, float]:
    """Longitude and latitude of a point so many kilometres east and north of 0, 0."""
    return x * KM, y * KM
