"""Frontier: the tours between which a planner chooses, and what is proven about each."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from covertour.problem.instance import Instance
from covertour.solving.result import Result
from covertour.solving.stop import relative_gap

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Point:
    """A tour of the frontier. ``result``: of the instance with the quota ``asked``, a weight.

    ``bound``: no tour that serves what was asked costs less; None where nothing was proven.
    """

    asked: float
    result: Result
    bound: float | None = None

    @property
    def weight(self) -> float:
        """The weight that is served."""
        return self.result.covered_weight

    @property
    def share(self) -> float:
        """The weight that is served, as a share of the total."""
        total = self.result.total_weight
        return self.weight / total if total else 1.0

    @property
    def cost(self) -> float:
        """What the tour costs."""
        return self.result.cost

    @property
    def gap(self) -> float | None:
        """How much more than the least the tour may cost, as a share of the bound."""
        return relative_gap(self.cost, self.bound)

    def to_dict(self) -> dict[str, Any]:
        """The point as plain values, a row of the table."""
        return {
            "share": self.share,
            "weight": self.weight,
            "cost": self.cost,
            "length": self.result.length,
            "visit_cost": self.result.visit_cost,
            "stops": len(self.result.tour) - len(self.result.routes) * self._has_fleet,
            "bound": self.bound,
            "gap": self.gap,
        }

    @property
    def _has_fleet(self) -> int:
        return int(self.result.instance.fleet is not None)


@dataclass(frozen=True, eq=False)
class Frontier:
    """The tours between which a planner chooses: none serves as much as another for less.

    ``points``: by ascending cost and weight. ``seconds``: how long it took.
    """

    instance: Instance = field(repr=False)
    points: tuple[Point, ...]
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The frontier as plain values, with the tour of each point."""
        return {
            "instance": self.instance.name,
            "total_weight": self.instance.total_weight,
            "seconds": round(self.seconds, 6),
            "points": [
                point.to_dict() | {"places": point.result.tour.places.tolist()}
                for point in self.points
            ],
        }

    def to_json(self) -> str:
        """The frontier as JSON."""
        return json.dumps(self.to_dict())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it; see :func:`covertour.plot.plot_frontier`."""
        from covertour.plot.frontier import plot_frontier

        return plot_frontier(self, ax)
