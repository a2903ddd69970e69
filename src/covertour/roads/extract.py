"""Reading the roads of an OpenStreetMap extract, cut to the surroundings of some places."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covertour.problem.errors import InputError
from covertour.problem.metric import FloatArray, IntArray
from covertour.roads.profiles import CAR, FOOT, Profile, speeds, stops_cars

CREDIT = "© OpenStreetMap contributors (ODbL)"
"""What the licence of OpenStreetMap asks to be said wherever its roads are used."""

LEAST_MARGIN, MARGIN_SHARE = 15.0, 0.25
"""Roads are kept so many kilometres around the places, or this share of how far these lie apart if
that is more: the shortest way may leave the box that the places lie in."""

KM_PER_DEGREE = 6371.0088 * np.pi / 180.0

GRID = 0.05
"""Boxes are widened to whole multiples of so many degrees, so that a place more or less seldom
needs the extract to be read again."""


@dataclass(frozen=True)
class Box:
    """A part of the globe, in degrees."""

    west: float
    south: float
    east: float
    north: float


@dataclass(frozen=True, eq=False)
class Ways:
    """The roads of an extract: w ways with r points in all.

    ``node``: int64[r], OpenStreetMap's number of each point; ways meet where they share one.
    ``point``: float64[r, 2], longitude and latitude. ``start``: int64[w + 1]; way k has the points
    ``start[k]`` to ``start[k + 1]``. ``car``, ``foot``: float64[w, 2], kilometres per hour along
    the way and against it, 0 where closed. ``barrier``: int64[b], nodes that stop cars.
    """

    node: IntArray
    point: FloatArray
    start: IntArray
    car: FloatArray
    foot: FloatArray
    barrier: IntArray

    def speeds(self, profile: Profile) -> FloatArray:
        """float64[w, 2]: the speeds of a profile."""
        return self.car if profile is CAR else self.foot


def surroundings(places: FloatArray) -> Box:
    """The box around places, float64[n, 2], whose roads are looked at."""
    low, high = places.min(axis=0), places.max(axis=0)
    shrink = max(float(np.cos(np.deg2rad(np.abs(places[:, 1]).max()))), 0.05)
    extent = np.array([(high[0] - low[0]) * shrink, high[1] - low[1]]) * KM_PER_DEGREE
    margin = max(LEAST_MARGIN, MARGIN_SHARE * float(np.hypot(*extent))) / KM_PER_DEGREE
    around = np.array([margin / shrink, margin])
    west, south = (np.floor((low - around) / GRID) * GRID).tolist()
    east, north = (np.ceil((high + around) / GRID) * GRID).tolist()
    return Box(west, south, east, north)


def read_ways(path: Path, box: Box) -> Ways:
    """The ways of an extract (.osm.pbf) that have a point in the box."""
    osmium = _osmium()
    nodes: list[int] = []
    points: list[tuple[float, float]] = []
    size: list[int] = []
    car: list[tuple[float, float]] = []
    foot: list[tuple[float, float]] = []
    barrier: list[int] = []
    roads = 0
    try:
        found = (
            osmium.FileProcessor(str(path), osmium.osm.NODE | osmium.osm.WAY)
            .with_locations()
            .with_filter(osmium.filter.KeyFilter("highway", "route", "barrier"))
        )
        for thing in found:
            tags = dict(thing.tags)
            if thing.is_node():
                if "barrier" in tags and stops_cars(tags):
                    barrier.append(thing.id)
                continue
            by_car, on_foot = speeds(CAR, tags), speeds(FOOT, tags)
            if not any(by_car + on_foot):
                continue
            roads += 1
            where = [
                (node.ref, node.lon, node.lat) for node in thing.nodes if node.location.valid()
            ]
            if len(where) < 2 or not any(
                box.west <= east <= box.east and box.south <= north <= box.north
                for _, east, north in where
            ):
                continue
            nodes += [number for number, _, _ in where]
            points += [(east, north) for _, east, north in where]
            size.append(len(where))
            car.append(by_car)
            foot.append(on_foot)
    except (RuntimeError, ValueError, OSError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path}: cannot be read as an OpenStreetMap extract: {why}") from None
    if not roads:
        raise InputError(f"{path}: has no roads (no ways with the tag highway)")
    if not size:
        raise InputError(
            f"{path}: has no road near the places, which lie about "
            f"{(box.south + box.north) / 2:.2f}, {(box.west + box.east) / 2:.2f} "
            "(latitude, longitude); is it the extract of another country?"
        )
    return Ways(
        node=np.array(nodes, dtype=np.int64),
        point=np.array(points, dtype=np.float64),
        start=np.concatenate([[0], np.cumsum(size)]).astype(np.int64),
        car=np.array(car, dtype=np.float64),
        foot=np.array(foot, dtype=np.float64),
        barrier=np.array(barrier, dtype=np.int64),
    )


def _osmium() -> Any:
    try:
        import osmium
        import osmium.filter
    except ImportError:
        raise InputError(
            "--roads: extracts of OpenStreetMap need the package osmium: "
            "pip install 'covertour[roads]'"
        ) from None
    return osmium
