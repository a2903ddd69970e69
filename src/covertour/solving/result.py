"""Result: what a solve found, what is proven about it, how it came about and why it ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from covertour.problem.drawing import sketch
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.itinerary import itinerary
from covertour.problem.tour import Tour
from covertour.problem.words import count, measure
from covertour.solving.stop import PROVEN, relative_gap
from covertour.version import __version__

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of a solve of ``instance``; a notebook shows it with a sketch of the tour.

    ``bound``: no tour is shorter than this; None where nothing was proven. ``trace``: (seconds,
    length) of each improvement, in order. ``iterations``: how many the method made, in its own
    unit; 0 where it does not count. ``stopped``: why it ended, by the "limit", as the tour was
    "proven" to be shortest, by an "interrupt", or as the method was "done".
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

    @property
    def length(self) -> float:
        """Length of the tour."""
        return self.tour.length

    @property
    def gap(self) -> float | None:
        """How much longer than the shortest the tour may be, as a share of the bound."""
        return relative_gap(self.length, self.bound)

    @property
    def optimal(self) -> bool:
        """Whether the tour is proven to be a shortest one, to a relative 1e-6."""
        return self.gap is not None and self.gap <= PROVEN

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, in the order of the file format."""
        return {
            "instance": self.instance.name,
            "method": self.method,
            "tour": self.tour.places.tolist(),
            "length": self.length,
            "bound": self.bound,
            "gap": self.gap,
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
        so far, and the names of the places that it ``serves``.
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

    def __str__(self) -> str:
        lines = [
            f"{self.instance.name}: {len(self.tour)} stops, length {self.length:,.6g}",
            f"method {self.method}, seed {self.seed}, {self.iterations:,} iterations, "
            f"{self.seconds:.3g} s, stopped: {self.stopped}",
        ]
        if self.bound is not None:
            gap = "unknown" if self.gap is None else f"{self.gap:.4%}"
            proof = "proven optimal" if self.optimal else f"gap {gap}"
            lines.append(f"no tour is shorter than {self.bound:,.6g}: {proof}")
        return "\n".join(lines)


def tour_of(outcome: Result | Tour) -> Tour:
    """The tour of an outcome: a result's, or the tour itself."""
    return outcome.tour if isinstance(outcome, Result) else outcome
