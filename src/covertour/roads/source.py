"""What every source of roads offers, an extract or a server: ways, and who covers whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from covertour.problem.coverage import Rule
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.roads import Lines


@dataclass(frozen=True, eq=False)
class Table:
    """The ways between n places by car.

    ``matrix``: float64[n, n], row i holding those from i, in kilometres or minutes. ``lines``:
    where they run. ``off``: float64[n], kilometres from each place to the road, where known.
    """

    matrix: FloatArray
    lines: Lines
    off: FloatArray | None = None


class Source(Protocol):
    """Knows the roads between some places."""

    @property
    def credit(self) -> str:
        """Whose roads these are."""

    def words(self, by: str) -> str:
        """How the tour is driven, such as "by car, the shortest way"."""

    def tour(self, by: str) -> Table:
        """The ways of the tour, by "distance" or by "time"."""

    def cover(self, how: str, rule: Rule) -> tuple[IntArray, FloatArray]:
        """Who covers whom; see :func:`covertour.roads.cover.covered_pairs`."""
