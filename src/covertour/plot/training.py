"""How models learned: the cost of the validation set against what the training made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from covertour.plot import fonts, style
from covertour.problem.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class TrainingCurve:
    """A training: the mean length of the greedy tours after so many batches, or tours.

    ``reference``: the mean length of the search's tours of the same instances, where known.
    """

    name: str
    made: tuple[float, ...]
    costs: tuple[float, ...]
    reference: float | None = None


def plot_training(
    curves: Sequence[TrainingCurve], ax: Axes | None = None, of: str = "batches"
) -> Axes:
    """Draw the costs against the batches, a line for each training; its end is in the legend.

    ``of``: what the curves count, where that is something else, such as "tours".

    The costs are drawn on a logarithmic axis, as models that learn little lie far from the others.
    A dashed line is the search's mean, where all trainings have the same.
    """
    if not curves or not all(curve.made for curve in curves):
        raise InputError("training: expected at least one curve, each with a point")
    if ax is None:
        ax = style.new_axes(8.0, 5.0)
    for index, curve in enumerate(curves):
        ax.plot(
            curve.made,
            curve.costs,
            color=style.SERIES[index % len(style.SERIES)],
            linestyle=style.DASHES[index // len(style.SERIES) % len(style.DASHES)],
            linewidth=1.8,
            marker="o",
            markersize=3 if len(curve.made) <= 60 else 0,
            label=fonts.printable(f"{curve.name}: {curve.costs[-1]:.3f} at the end"),
        )
    references = {curve.reference for curve in curves}
    (reference,) = references if len(references) == 1 else (None,)
    if reference is not None:
        ax.axhline(
            reference,
            color=style.SERVICE,
            linewidth=1.2,
            linestyle=(0, (4, 3)),
            label=f"the search: {reference:.3f}",
        )
    ax.set_yscale("log")
    ax.set_xlim(left=0)
    ax.set_xlabel(of)
    ax.set_ylabel("mean length of the validation tours")
    _plain_ticks(ax)
    ax.grid(color="#dddddd", linewidth=0.6, which="both")
    ax.set_axisbelow(True)
    legend = ax.legend(  # below: the curves may be anywhere
        frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2
    )
    fonts.in_plain_words(legend)
    return ax


def _plain_ticks(ax: Axes) -> None:
    """Numbers like 1.8, 2 and 5 on the cost axis, as many as there is room for."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = ax.get_ylim()
    if high / low < 4:
        ax.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
    else:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
