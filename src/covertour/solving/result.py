"""Result: what a solve found, what is proven about it, how it came about and why it ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from covertour.problem.drawing import sketch
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.itinerary import itinerary
from covertour.problem.metric import IntArray
from covertour.problem.tour import Tour, routes_of
from covertour.problem.words import count, measure
from covertour.solving.stop import PROVEN, relative_gap, weight_gap
from covertour.version import __version__

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of a solve of ``instance``; a notebook shows it with a sketch of the tour.

    ``bound``: no tour costs less than this; None where nothing was proven. The cost is the length,
    and the visit costs if there are any. With a budget the bound is one on the weight: no tour
    within it serves more; ``cost_bound`` is then what no tour that serves as much as this one costs
    less than, None where that is not proven. Where a fleet is to have few routes, or a short
    longest one, there is a bound only if that is proven: no plan that is as good in that respect
    costs less. ``trace``: (seconds, cost) of each improvement, in order, or with a budget (seconds,
    weight). ``iterations``: how many the method made, in its own unit; 0 where it does not count.
    ``stopped``: why it ended, by the "limit", as the tour was "proven" to be best, by an
    "interrupt", or as the method was "done".

    >>> from covertour import solve
    >>> line = Instance.from_coordinates([[0, 0], [1, 0], [4, 0], [5, 0]], radius=1)
    >>> result = solve(line, "exact")
    >>> result.tour.places.tolist(), result.length, result.optimal, result.stopped
    ([1, 2], 6.0, True, 'proven')
    """

    instance: Instance = field(repr=False)
    method: str
    tour: Tour
    seconds: float
    seed: int = 0
    iterations: int = 0
    bound: float | None = None
    trace: tuple[tuple[float, float], ...] = ()
    stopped: str = "done"
    cost_bound: float | None = None

    @property
    def length(self) -> float:
        """Length of the tour."""
        return self.tour.length

    @cached_property
    def cost(self) -> float:
        """What the tour costs: its length and the visit costs of its stops."""
        return self.length + self.visit_cost

    @property
    def visit_cost(self) -> float:
        """The visit costs of the stops."""
        return float(self.instance.visit_costs[self.tour.places].sum())

    @cached_property
    def uncovered(self) -> tuple[int, ...]:
        """The places whose demand is not met, which a quota or a budget allows, ascending."""
        met = self.instance.covered(self.tour.places)
        return tuple(np.flatnonzero(~met).tolist())

    @property
    def total_weight(self) -> float:
        """The weight of all places."""
        return self.instance.total_weight

    @property
    def covered_weight(self) -> float:
        """The weight of the places that are served."""
        return self.total_weight - float(self.instance.weights[list(self.uncovered)].sum())

    @property
    def routes(self) -> list[IntArray]:
        """The routes, int64 arrays of stops: one, but for a fleet, whose begin at the depot."""
        return routes_of(self.instance, self.tour.places)

    @property
    def gap(self) -> float | None:
        """How much more than the least the tour may cost, as a share of the bound.

        With a budget: how much more might be served, as a share of what is.
        """
        if self.instance.budget is not None:
            return weight_gap(self.covered_weight, self.bound)
        return relative_gap(self.cost, self.bound)

    @property
    def cost_gap(self) -> float | None:
        """With a budget: how much more than needed the tour may cost to serve as much as it does.

        A share of ``cost_bound``; None where nothing is proven, and without a budget.
        """
        return relative_gap(self.cost, self.cost_bound)

    @property
    def optimal(self) -> bool:
        """Whether no tour costs less, to a relative 1e-6.

        With a budget: whether no tour within it serves more, nor as much at less cost.
        """
        gaps = [self.gap] if self.instance.budget is None else [self.gap, self.cost_gap]
        return all(gap is not None and gap <= PROVEN for gap in gaps)

    @property
    def serves_most(self) -> bool:
        """With a budget: whether no tour within it serves more, at whatever cost."""
        return self.instance.budget is not None and self.gap is not None and self.gap <= PROVEN

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, in the order of the file format."""
        return {
            "instance": self.instance.name,
            "method": self.method,
            **tour_to_dict(self.instance, self.tour),
            "bound": self.bound,
            "gap": self.gap,
            "cost_bound": self.cost_bound,
            "seconds": round(self.seconds, 6),
            "seed": self.seed,
            "iterations": self.iterations,
            "stopped": self.stopped,
            "stops": itinerary(self.instance, self.tour).to_list(self.instance),
            "version": __version__,
        }

    def to_json(self) -> str:
        """The result as the text of a result file."""
        return json.dumps(self.to_dict())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tour; see :func:`covertour.plot.plot_tour`."""
        from covertour.plot import plot_tour

        return plot_tour(self.instance, self, ax)

    def to_dataframe(self) -> pandas.DataFrame:
        """The stops as a pandas DataFrame, one per row; pandas must be installed.

        Columns: ``stop`` from 1 on, ``place``, ``name``, ``leg`` from the stop before, ``distance``
        so far, the ``weight`` that is served there, its ``visit_cost``, its ``route`` from 1 on,
        and the names of the places that it ``serves``.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            raise InputError("to_dataframe: needs pandas; install it: pip install pandas") from None
        stops = itinerary(self.instance, self.tour).to_list(self.instance)
        for stop in stops:
            stop["serves"] = [other["name"] for other in stop["serves"]]
        return DataFrame(stops)

    def _repr_html_(self) -> str:
        facts = "".join(f"<br>{escape(line)}" for line in str(self).splitlines()[1:])
        first = escape(f"{count(len(self.tour), 'stop')}, {measure(self.instance, self.length)}")
        return (
            f"<div><strong>{escape(self.instance.name)}</strong>: {first}{facts}<br>"
            f"{sketch(self.instance, self.tour.places)}</div>"
        )

    def _besides(self) -> str:
        """What a tour is said to do beside its length, where it does not do it all."""
        said = ""
        if self.instance.fleet is not None:
            said += f" in {count(len(self.routes), 'route')}"
        if self.instance.visit_cost is not None:
            said += f", cost {self.cost:,.6g}"
        if self.instance.partial:
            said += f", serves {self.covered_weight:,.6g} of {self.total_weight:,.6g}"
        return said

    def __str__(self) -> str:
        lines = [
            f"{self.instance.name}: {len(self.tour)} stops, length {self.length:,.6g}"
            f"{self._besides()}",
            f"method {self.method}, seed {self.seed}, {self.iterations:,} iterations, "
            f"{self.seconds:.3g} s, stopped: {self.stopped}",
        ]
        if self.bound is not None:
            gap = "unknown" if self.gap is None else f"{self.gap:.4%}"
            proof = "proven optimal" if self.optimal else f"gap {gap}"
            if self.serves_most and not self.optimal:
                proof = "proven, but not that none serves as much at less cost"
            what = "is shorter than"
            if self.instance.budget is not None:
                what = "within the budget serves more than"
            elif self.instance.visit_cost is not None:
                what = "costs less than"
            lines.append(f"no tour {what} {self.bound:,.6g}: {proof}")
        return "\n".join(lines)


def tour_to_dict(instance: Instance, tour: Tour) -> dict[str, Any]:
    """What a result file tells of the tour itself: ``tour`` only where there is one route."""
    costs = float(instance.visit_costs[tour.places].sum())
    length = tour.length if np.isfinite(tour.length) else None
    met = instance.covered(tour.places)
    value: dict[str, Any] = {}
    routes = routes_of(instance, tour.places)
    if len(routes) == 1:
        value["tour"] = tour.places.tolist()
    if instance.fleet is not None:
        value["routes"] = [
            {
                "tour": route.tolist(),
                "length": instance.length(route),
                "cost": instance.cost(route),
            }
            for route in routes
        ]
    return value | {
        "length": length,
        "visit_cost": costs,
        "cost": None if length is None else length + costs,
        "covered_weight": float(instance.weights[met].sum()),
        "total_weight": instance.total_weight,
        "uncovered": np.flatnonzero(~met).tolist(),
    }


def tour_of(outcome: Result | Tour) -> Tour:
    """The tour of an outcome: a result's, or the tour itself."""
    return outcome.tour if isinstance(outcome, Result) else outcome
