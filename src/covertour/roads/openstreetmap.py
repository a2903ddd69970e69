"""Distances by road from an OpenStreetMap extract; what was computed once is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from covertour.problem.coverage import Rule
from covertour.problem.errors import InputError
from covertour.problem.metric import FloatArray, IntArray
from covertour.roads.cover import covered_pairs, farthest
from covertour.roads.extract import CREDIT, Ways, read_ways, surroundings
from covertour.roads.kept import Arrays, fingerprint, kept, name_of
from covertour.roads.network import make_network
from covertour.roads.paths import Routing
from covertour.roads.profiles import CAR, PROFILES, Profile
from covertour.roads.snapping import Snapped, snap
from covertour.roads.source import Table

ENDINGS = (".pbf", ".osm", ".osm.gz", ".osm.bz2")
"""How the names of extracts end."""


@dataclass(frozen=True, eq=False)
class Extract:
    """An extract of OpenStreetMap, and the places whose roads are looked for in it.

    ``places``: float64[n, 2], longitude and latitude. ``describe`` names some places in a message.
    """

    path: Path
    places: FloatArray
    describe: Callable[[IntArray], str]

    @property
    def credit(self) -> str:
        """Whose roads these are."""
        return CREDIT

    def words(self, by: str) -> str:
        """How the tour is driven."""
        return f"by car, the {'shortest' if by == 'distance' else 'fastest'} way"

    @cached_property
    def content(self) -> bytes:
        """A hash of the file."""
        try:
            return fingerprint(self.path)
        except FileNotFoundError:
            raise InputError(f"{self.path}: no such file") from None
        except IsADirectoryError:
            raise InputError(f"{self.path}: is a directory, expected a file") from None
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror or error}") from None

    @cached_property
    def ways(self) -> Ways:
        """The roads around the places."""
        box = surroundings(self.places)

        def make() -> Arrays:
            return vars(read_ways(self.path, box))

        return Ways(**kept(self.path, name_of("ways", self.content, repr(box)), make))

    def routing(self, profile: Profile, by: str) -> Routing:
        """The places on the roads of a profile; for cars all on roads that hang together."""
        network = make_network(self.ways, profile)

        def make() -> Arrays:
            together = profile is CAR
            where = str(self.path)
            return vars(snap(network, self.places, self.describe, where, together=together))

        name = name_of("snapped", self.content, profile.name, self.places)
        return Routing(network, Snapped(**kept(self.path, name, make)), self.places, by)

    def tour(self, by: str) -> Table:
        """The ways of the tour, by car."""

        def make() -> Arrays:
            routing = self.routing(CAR, by)
            return {"matrix": routing.matrix(), "off": routing.snapped.off}

        found = kept(self.path, name_of("matrix", self.content, by, self.places), make)
        return Table(found["matrix"], RoadLines(self, by), found["off"])

    def cover(self, how: str, rule: Rule) -> tuple[IntArray, FloatArray]:
        """Who covers whom on the roads of a profile; see :func:`covered_pairs`."""
        profile = PROFILES[how]
        (amount,) = vars(rule).values()
        parts = amount if isinstance(amount, tuple) else (np.atleast_1d(amount),)
        kind = type(rule).__name__
        name = name_of("cover", self.content, profile.name, self.places, kind, *parts)

        def make() -> Arrays:
            rows = self.routing(profile, "distance").rows(farthest(rule))
            pair, distance = covered_pairs(rule, len(self.places), rows)
            return {"pair": pair, "distance": distance}

        found = kept(self.path, name, make)
        return found["pair"], found["distance"]


@dataclass(frozen=True, eq=False)
class RoadLines:
    """Where the ways of a tour run; the roads are loaded when the first is asked for."""

    extract: Extract
    by: str
    known: dict[tuple[int, int], FloatArray] = field(default_factory=dict, repr=False)

    @cached_property
    def routing(self) -> Routing:
        """The places on the roads for cars."""
        return self.extract.routing(CAR, self.by)

    def line(self, start: int, end: int) -> FloatArray:
        """Longitude and latitude along the way, float64[m, 2]."""
        if (start, end) not in self.known:
            self.known[start, end] = self.routing.line(start, end)
        return self.known[start, end]
