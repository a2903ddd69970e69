"""Distances by road from a Valhalla server, https://valhalla.github.io/valhalla/api/matrix/."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from covertour.problem.coverage import Rule
from covertour.problem.errors import InputError, shown
from covertour.problem.metric import FloatArray, IntArray
from covertour.roads.extract import CREDIT
from covertour.roads.osrm import check_reached, pairs_of
from covertour.roads.server import Server, TooBig, in_tiles, numbers
from covertour.roads.source import Table

LARGEST = 50
"""Places on each side of a tile: Valhalla's own limit is 2,500 pairs, unless it is configured."""

COSTINGS = {"car": "auto", "foot": "pedestrian"}
"""What Valhalla calls the ways of travelling."""

TOO_MANY = 150
"""The number of Valhalla's error about too many places."""

SHAPE_DIGITS = 6


@dataclass(frozen=True, eq=False)
class Valhalla:
    """A Valhalla server and the places whose roads are asked for, float64[n, 2]."""

    server: Server
    places: FloatArray
    describe: Callable[[IntArray], str]
    credit: str = CREDIT

    def words(self, by: str) -> str:
        """How the tour is driven."""
        return f"by car, as {self.server.address} says"

    def tour(self, by: str) -> Table:
        """The ways of the tour, by car."""
        matrix = self._table("car", by)
        check_reached(self.server, matrix, self.describe)
        return Table(matrix, ValhallaLines(self.server, self.places, by))

    def cover(self, how: str, rule: Rule) -> tuple[IntArray, FloatArray]:
        """Who covers whom, by car or on foot."""
        if how not in COSTINGS:
            raise InputError(f"cover: a Valhalla server goes with car, foot or air, not {how}")
        return pairs_of(rule, self._table(how, "distance"))

    def _table(self, how: str, by: str) -> FloatArray:
        """The whole table in kilometres or minutes, NaN for no way."""

        def ask(sources: IntArray, targets: IntArray) -> FloatArray:
            question = costing(how, by) | {
                "sources": [_point(self.places[place]) for place in sources.tolist()],
                "targets": [_point(self.places[place]) for place in targets.tolist()],
                "units": "kilometers",
            }
            answer = checked(self.server, *self.server.ask("/sources_to_targets", question))
            return self._read(answer.get("sources_to_targets"), by, len(sources), len(targets))

        found = in_tiles(self.server, len(self.places), LARGEST, ask)
        np.fill_diagonal(found, 0.0)
        return found

    def _read(self, table: Any, by: str, rows: int, columns: int) -> FloatArray:
        """A tile from an answer, which may be verbose, an object for each pair, or not."""
        key = "distance" if by == "distance" else "time"
        if isinstance(table, dict):
            table = table.get("distances" if by == "distance" else "durations")
        elif isinstance(table, list) and all(isinstance(row, list) for row in table):
            table = [
                [entry.get(key) if isinstance(entry, dict) else entry for entry in row]
                for row in table
            ]
        found = numbers(self.server, "sources_to_targets", table, rows, columns)
        return found if by == "distance" else found / 60.0


@dataclass(frozen=True, eq=False)
class ValhallaLines:
    """Where the ways of a tour run, asked of the server one by one, each once."""

    server: Server
    places: FloatArray
    by: str
    known: dict[tuple[int, int], FloatArray] = field(default_factory=dict, repr=False)

    def line(self, start: int, end: int) -> FloatArray:
        """Longitude and latitude along the way, float64[m, 2]."""
        if (start, end) not in self.known:
            ends = self.places[[start, end]]
            question = costing("car", self.by) | {"locations": [_point(end) for end in ends]}
            status, value = self.server.ask("/route", question)
            self.server.close()
            answer = checked(self.server, status, value)
            try:
                line = decoded(answer["trip"]["legs"][0]["shape"])
            except (LookupError, TypeError, ValueError):
                raise self.server.nonsense("expected a route with a shape") from None
            self.known[start, end] = np.concatenate([ends[:1], line, ends[1:]])
        return self.known[start, end]


def costing(how: str, by: str) -> dict[str, Any]:
    """How one travels, in Valhalla's words."""
    name = COSTINGS[how]
    return {"costing": name, "costing_options": {name: {"shortest": by == "distance"}}}


def checked(server: Server, status: int, value: Any) -> dict[str, Any]:
    """An answer that is none of an error."""
    if not isinstance(value, dict):
        raise server.nonsense(f"expected an object, got {shown(value)}")
    if status != 200 or "error" in value:
        if value.get("error_code") == TOO_MANY:
            raise TooBig(value.get("error", ""))
        why = shown(value.get("error", status), 120)
        raise InputError(f"{server.address}: the routing server refuses: {why}")
    return value


def decoded(shape: str) -> FloatArray:
    """Longitude and latitude of an encoded line, float64[m, 2], with six digits.

    >>> decoded("_izlhA~rlgdF_{geC~ywl@").tolist()
    [[-120.2, 38.5], [-120.95, 40.7]]
    """
    steps: list[int] = []
    value = shift = 0
    for letter in shape:
        bits = ord(letter) - 63
        if not 0 <= bits < 64:
            raise ValueError(letter)
        value |= (bits & 31) << shift
        shift += 5
        if bits < 32:
            steps.append(~(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    if not steps or len(steps) % 2 or shift:
        raise ValueError(shape)
    points = np.cumsum(np.array(steps, dtype=np.int64).reshape(-1, 2), axis=0)
    return points[:, ::-1] / 10.0**SHAPE_DIGITS


def _point(place: FloatArray) -> dict[str, float]:
    return {"lon": round(float(place[0]), 6), "lat": round(float(place[1]), 6)}
