"""Distances by road from an OSRM server, http://project-osrm.org/docs/v5.24.0/api/."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covertour.problem.coverage import Rule
from covertour.problem.errors import InputError, shown
from covertour.problem.metric import FloatArray, IntArray
from covertour.roads.cover import covered_pairs
from covertour.roads.extract import CREDIT
from covertour.roads.server import Server, TooBig, in_tiles, numbers
from covertour.roads.snapping import FARTHEST
from covertour.roads.source import Table

LARGEST = 50
"""Places on each side of a tile: OSRM's own limit is 100 in all, unless it is started with more."""

KINDS = {"distance": ("distances", 1000.0), "time": ("durations", 60.0)}
"""By what is asked, the name of the table, and how many of its units make a kilometre or a minute.
"""


@dataclass(frozen=True, eq=False)
class Osrm:
    """An OSRM server and the places whose roads are asked for, float64[n, 2]."""

    server: Server
    places: FloatArray
    describe: Callable[[IntArray], str]
    credit: str = CREDIT

    def words(self, by: str) -> str:
        """How the tour is driven."""
        return f"by car, as {self.server.address} says"

    def tour(self, by: str) -> Table:
        """The ways of the tour, by car."""
        matrix, off = self._table(by)
        check_reached(self.server, matrix, self.describe)
        return Table(matrix, OsrmLines(self.server, self.places), off)

    def cover(self, how: str, rule: Rule) -> tuple[IntArray, FloatArray]:
        """Who covers whom; on foot by another server, as each knows one way of travelling."""
        if how == "foot":
            raise InputError(
                f"{self.server.address}: an OSRM server knows one way of travelling; give the "
                "address of one for walking, such as --cover http://localhost:5001"
            )
        other = self if how == "car" else Osrm(Server(how), self.places, self.describe)
        return pairs_of(rule, other._table("distance")[0])

    def _table(self, by: str) -> tuple[FloatArray, FloatArray]:
        """The whole table in kilometres or minutes, NaN for no way; and how far off the road."""
        name, unit = KINDS[by]
        off = np.zeros(len(self.places))

        def ask(sources: IntArray, targets: IntArray) -> FloatArray:
            both = np.concatenate([sources, targets])
            where = ";".join(f"{x:.6f},{y:.6f}" for x, y in self.places[both].tolist())
            first = ";".join(map(str, range(len(sources))))
            second = ";".join(map(str, range(len(sources), len(both))))
            status, value = self.server.ask(
                f"/table/v1/driving/{where}?annotations={name.removesuffix('s')}"
                f"&sources={first}&destinations={second}"
            )
            if isinstance(value, dict) and value.get("code") == "NoSegment":
                which = re.search(r"[0-9]+", str(value.get("message")))
                known = which is not None and int(which[0]) < len(both)
                where = self.describe(both[[int(which[0])]] if known and which else both)
                raise InputError(f"{self.server.address}: the server has no road near {where}")
            answer = checked(self.server, status, value)
            off[sources] = _how_far(self.server, answer.get("sources"), len(sources))
            return numbers(self.server, name, answer.get(name), len(sources), len(targets)) / unit

        found = in_tiles(self.server, len(self.places), LARGEST, ask)
        np.fill_diagonal(found, 0.0)
        astray = np.flatnonzero(off > FARTHEST)
        if len(astray):
            raise InputError(
                f"{self.server.address}: more than {FARTHEST:g} km from any road: "
                f"{self.describe(astray)}; does the server have the roads of this country?"
            )
        return found, off


@dataclass(frozen=True, eq=False)
class OsrmLines:
    """Where the ways of a tour run, asked of the server one by one, each once."""

    server: Server
    places: FloatArray
    known: dict[tuple[int, int], FloatArray] = field(default_factory=dict, repr=False)

    def line(self, start: int, end: int) -> FloatArray:
        """Longitude and latitude along the way, float64[m, 2]."""
        if (start, end) not in self.known:
            where = ";".join(f"{x:.6f},{y:.6f}" for x, y in self.places[[start, end]].tolist())
            path = f"/route/v1/driving/{where}?overview=full&geometries=geojson"
            status, value = self.server.ask(path)
            self.server.close()
            answer = checked(self.server, status, value)
            try:
                line = np.array(answer["routes"][0]["geometry"]["coordinates"], dtype=np.float64)
                sound = line.ndim == 2 and line.shape[1] == 2 and bool(np.isfinite(line).all())
            except (LookupError, TypeError, ValueError):
                sound = False
            if not sound:
                raise self.server.nonsense("expected a route with a line")
            ends = self.places[[start, end]]
            self.known[start, end] = np.concatenate([ends[:1], line, ends[1:]])
        return self.known[start, end]


def checked(server: Server, status: int, value: Any) -> dict[str, Any]:
    """An answer that says Ok."""
    if not isinstance(value, dict) or not isinstance(value.get("code"), str):
        raise server.nonsense(f"expected an object with a code, got {shown(value)}")
    if value["code"] == "TooBig":
        raise TooBig(value.get("message", ""))
    if status != 200 or value["code"] != "Ok":
        raise InputError(
            f"{server.address}: the routing server refuses: {value['code']}: "
            f"{shown(value.get('message', ''), 120)}"
        )
    return value


def _how_far(server: Server, sources: Any, count: int) -> FloatArray:
    """Kilometres from the places to the road, as the server says; 0 where it does not."""
    if not isinstance(sources, list) or len(sources) != count:
        raise server.nonsense(f"sources: expected {count} of them")
    far = [each.get("distance", 0.0) if isinstance(each, dict) else None for each in sources]
    return np.nan_to_num(numbers(server, "sources", [far], 1, count)[0]) / 1000.0


def check_reached(server: Server, matrix: FloatArray, describe: Callable[[IntArray], str]) -> None:
    """An error that names the places without a way to or from most others."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    if not np.isnan(matrix).any():
        return
    pieces, piece = connected_components(csr_matrix(~np.isnan(matrix)), connection="strong")
    lonely = np.flatnonzero(piece != np.argmax(np.bincount(piece)))
    if pieces == 1:  # each is reached from each, but not without going through others
        lonely = np.unique(np.argwhere(np.isnan(matrix))[:, 1])
    raise InputError(
        f"{server.address}: the roads are in separate pieces; {describe(lonely)} cannot be reached "
        "by car from the others; plan each piece by itself, or leave these out"
    )


def pairs_of(rule: Rule, matrix: FloatArray) -> tuple[IntArray, FloatArray]:
    """Who covers whom by a table of distances, NaN for no way."""
    far = np.where(np.isnan(matrix), np.inf, matrix)
    return covered_pairs(rule, len(matrix), [(np.arange(len(matrix)), far)])
