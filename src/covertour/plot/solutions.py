"""Tours of the same instances by several methods, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from covertour.plot import fonts
from covertour.plot.panels import panels
from covertour.plot.places import plot_tour
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.words import count, measure, rule_in_words
from covertour.solving.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_solutions(
    solutions: Sequence[tuple[Instance, Sequence[Result]]],
    names: Sequence[str] | None = None,
    axes: Sequence[Axes] | None = None,
) -> Axes:
    """Draw a row of tours for each instance; method and length are in the titles.

    ``names``: of the instances, by default their size and rule. ``axes``: one for each tour, row by
    row; by default on a new figure. Returns the first.
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
            length = measure(instance, result.length)
            stops = count(len(result.tour), "stop")
            places = count(instance.n, "place")
            name = f"{places}, {rule_in_words(instance)}" if names is None else names[row]
            lines = (f"{result.method}: length {length}, {stops}", name)
            title = "\n".join(map(fonts.printable, lines))
            ax.set_title(title, fontsize=10, parse_math=False, fontfamily=fonts.family(title))
    return drawn[0]
