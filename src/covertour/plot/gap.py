"""How methods compare: the gap to the best tours against the time it takes, on one picture."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Protocol

from covertour.plot import fonts, style
from covertour.problem.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EARLIEST = 1e-5
"""Seconds; earlier moments cannot stand on a logarithmic axis and move here."""

LOWEST_FLOOR = 1e-3
"""Percent; the floor is here where every gap is 0."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")


class MethodAtTime(Protocol):
    """What the picture needs of a row: a method's mean gap in percent after so many seconds."""

    @property
    def method(self) -> str:
        """Name of the method; rows of one method are joined by a line."""

    @property
    def seconds(self) -> float:
        """Mean time, in seconds."""

    @property
    def gap_percent(self) -> float:
        """Mean gap, in percent; 0 where all tours were as short as the reference."""


def plot_gap_against_time(rows: Sequence[MethodAtTime], ax: Axes | None = None) -> Axes:
    """Draw the mean gap against the mean time, both logarithmic, a line for each method.

    A gap of 0, which has no place on a logarithmic axis, stands on a floor line below all others;
    a method's line ends where it arrives there for good.
    """
    if not rows:
        raise InputError("gaps: expected at least one row")
    if ax is None:
        ax = style.new_axes(8.0, 5.0)
    gaps = [row.gap_percent for row in rows if row.gap_percent > 0 and isfinite(row.gap_percent)]
    floor = min(gaps) / 3 if gaps else LOWEST_FLOOR
    for index, method in enumerate(dict.fromkeys(row.method for row in rows)):
        points = sorted(
            (max(row.seconds, EARLIEST), max(row.gap_percent, floor))
            for row in rows
            if row.method == method and isfinite(row.gap_percent)
        )
        while len(points) > 1 and points[-2][1] == points[-1][1] == floor:
            points.pop()
        again = index // len(style.SERIES)  # colours begin again: other markers, and hollow ones
        ax.plot(
            [seconds for seconds, _ in points],
            [gap for _, gap in points],
            color=style.SERIES[index % len(style.SERIES)],
            linestyle=style.DASHES[again % len(style.DASHES)],
            linewidth=1.8,
            marker=MARKERS[(index + again) % len(MARKERS)],
            markersize=6,
            markerfacecolor="white" if again % 2 else None,
            markeredgewidth=1.6 if again % 2 else 1.0,
            label=fonts.printable(method),
            clip_on=False,
            zorder=3 - index / 100,  # the first method on top
        )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("seconds")
    ax.set_ylabel("mean gap in %")
    ax.set_ylim(bottom=floor / 1.8)
    _number_ticks(ax, floor)
    ax.axhline(floor, color=style.SERVICE, linewidth=1.2, linestyle=(0, (4, 3)), zorder=1)
    ax.annotate(
        "optimal / reference",
        (1.0, floor),
        xycoords=("axes fraction", "data"),
        xytext=(-4, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8,
        color=style.SERVICE,
    )
    ax.grid(color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    legend = ax.legend(frameon=False, fontsize=9)
    fonts.in_plain_words(legend)
    return ax


def _number_ticks(ax: Axes, floor: float) -> None:
    """Write 0.01, 0.1, 1 on the axes, and 2 and 5 of each decade where the axis is short.

    Near the floor, which stands for 0, there are no numbers.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis, ends, least in (
        (ax.xaxis, ax.get_xlim(), 0.0),
        (ax.yaxis, ax.get_ylim(), floor * 1.3),
    ):
        plain = FuncFormatter(lambda value, _, least=least: f"{value:g}" if value > least else "")
        short = ends[1] / max(ends[0], 1e-300) < 300
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if short else (1.0,)))
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())
