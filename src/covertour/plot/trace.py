"""How solves went: the best length against time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from covertour.plot import fonts, style
from covertour.problem.errors import InputError
from covertour.solving.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EARLIEST = 1e-4
"""Seconds; earlier moments, such as 0, cannot stand on a logarithmic axis and move here."""


def plot_trace(
    results: Result | Sequence[Result] | Mapping[str, Result], ax: Axes | None = None
) -> Axes:
    """Draw the length of the best tour against the seconds it took, a step line for each result.

    A mapping names its lines; otherwise they are named by method and, where methods repeat, seed. A
    proven bound is a thin dotted line.
    """
    lines = _named(results)
    if not lines:
        raise InputError("trace: expected at least one result")
    if ax is None:
        ax = style.new_axes(8.0, 5.0)
    for index, (name, result) in enumerate(lines.items()):
        trace = result.trace or ((result.seconds, result.length),)
        seconds = [max(moment, EARLIEST) for moment, _ in trace]
        lengths = [length for _, length in trace]
        seconds.append(max(result.seconds, seconds[-1]))
        lengths.append(lengths[-1])
        colour = style.SERIES[index % len(style.SERIES)]
        ax.step(
            seconds,
            lengths,
            where="post",
            color=colour,
            linestyle=style.DASHES[index // len(style.SERIES) % len(style.DASHES)],
            linewidth=1.8,
            marker="o",
            markersize=4 if len(trace) <= 60 else 0,
            markevery=slice(0, len(trace)),
            label=fonts.printable(name),
        )
        if result.bound is not None:
            ax.axhline(result.bound, color=colour, linewidth=1.0, linestyle=":")
    ax.set_xscale("log")
    ax.set_xlabel("seconds")
    ax.set_ylabel("length of the best tour")
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    names = {result.instance.name for result in lines.values()}
    if len(names) == 1:
        title = fonts.printable(names.pop())
        ax.set_title(title, fontsize=10, parse_math=False, fontfamily=fonts.family(title))
    legend = ax.legend(frameon=False, fontsize=9)
    fonts.in_plain_words(legend)
    return ax


def _named(results: Result | Sequence[Result] | Mapping[str, Result]) -> dict[str, Result]:
    if isinstance(results, Mapping):
        return dict(results)
    several = [results] if isinstance(results, Result) else list(results)
    methods = [result.method for result in several]
    lines: dict[str, Result] = {}
    for result in several:
        name = result.method
        if methods.count(name) > 1:
            name = f"{name}, seed {result.seed}"
        again = sum(known == name or known.startswith(f"{name} (") for known in lines)
        lines[f"{name} ({again + 1})" if again else name] = result
    return lines
