"""Tours of the same instances by several methods, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from covertour.errors import InputError
from covertour.instance import Instance
from covertour.plot import layout, style
from covertour.plot.panels import panels
from covertour.plot.places import plot_tour
from covertour.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_solutions(
    solutions: Sequence[tuple[Instance, Sequence[Result]]], axes: Sequence[Axes] | None = None
) -> Axes:
    """Draw a row of tours for each instance; method and length are in the titles.

    ``axes``: one for each tour, row by row; by default on a new figure. Returns the first.
    """
    columns = {len(results) for _, results in solutions}
    if not solutions or len(columns) != 1 or columns == {0}:
        raise InputError("solutions: expected the same number of tours, at least 1, of each")
    (wide,) = columns
    drawn = panels(len(solutions), wide, width=5.2, height=5.6) if axes is None else list(axes)
    if len(drawn) != len(solutions) * wide:
        raise InputError(f"axes: expected {len(solutions) * wide}, got {len(drawn)}")
    for row, (instance, results) in enumerate(solutions):
        for column, result in enumerate(results):
            ax = plot_tour(instance, result, drawn[row * wide + column])
            length = layout.measure(instance, result.length)
            ax.set_title(
                style.printable(
                    f"{result.method}: length {length}, {layout.count(len(result.tour), 'stop')}\n"
                ).strip()
                + "\n"
                + style.printable(f"{instance.n} places, {layout.rule_in_words(instance)}"),
                fontsize=10,
                parse_math=False,
            )
    return drawn[0]
