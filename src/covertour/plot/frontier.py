"""The frontier between what a tour costs and how many people it reaches, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from covertour.plot import fonts, style
from covertour.problem.instance import Instance
from covertour.problem.words import (
    count,
    meaning_of_lengths,
    measure,
    rule_in_words,
    sentence,
    unit,
    weighed,
    weight_word,
)
from covertour.solving.tradeoff import Frontier, Point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

ROUND = (0.9, 0.95, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
"""Shares to look up in the picture, the most asked for first."""

PROVEN, SOFT, GRID = "#E69F00", "#5A6268", "#E3E6E8"


def plot_frontier(frontier: Frontier, ax: Axes | None = None) -> Axes:
    """Draw how many people are reached against what the tour costs; a dot is a tour.

    Below the line tours are known. Above the band, where there is one, no tour can be.
    """
    instance, points = frontier.instance, frontier.points
    ax = style.new_axes(8.6, 5.8) if ax is None else ax
    cost = np.array([point.cost for point in points])
    share = np.array([100.0 * point.share for point in points])
    far = max(float(cost.max()), 1e-12)
    ax.set_xlim(-0.02 * far, 1.12 * far)
    bottom = max(0.0, float(share.min()) - 0.12 * (100.0 - float(share.min())) - 1.0)
    ax.set_ylim(bottom, 100.0 + 0.09 * (100.0 - bottom))
    ax.step(cost, share, where="post", color=style.TOUR, linewidth=1.2, alpha=0.55, zorder=3)
    ax.scatter(cost, share, s=34, color=style.TOUR, edgecolors="white", linewidths=0.8, zorder=5)
    if any(point.bound is not None for point in points):
        _band(ax, points, max(instance.total_weight, 1e-300))
    _look_ups(ax, instance, points, far)
    _last_step(ax, instance, points, far)
    _frame(ax, instance, points)
    return ax


def _band(ax: Axes, points: Sequence[Point], total: float) -> None:
    """What may be possible: above the tours that are known and below what is proven not to be.

    A tour that costs less than a point's bound serves less than was asked for that point.
    """
    cost = np.array([point.cost for point in points])
    bound = np.array([min(point.bound or 0.0, point.cost) for point in points])
    known, asked = (
        100.0 * np.array(values) / total
        for values in ([point.weight for point in points], [point.asked for point in points])
    )
    at = np.unique(np.concatenate([cost, bound]))
    reached = known[np.searchsorted(cost, at, side="right") - 1]
    possible = [np.min(asked[bound > cheap], initial=known[-1]) for cheap in at]
    ax.fill_between(
        at,
        reached,
        np.maximum(possible, reached),
        step="post",
        color=PROVEN,
        alpha=0.3,
        linewidth=0,
        zorder=2,
        label="not known; above it, no tour can be",
    )
    gaps = [point.gap for point in points if point.gap is not None]
    worst = max(gaps, default=0.0)
    told = "every tour is proven best"
    if worst > 1e-6:
        told = f"tours are proven to within {100 * worst:.1f} %"
    ax.legend(loc="lower right", frameon=False, fontsize=8, title=told, title_fontsize=8)


def _look_ups(ax: Axes, instance: Instance, points: Sequence[Point], far: float) -> None:
    """Thin lines at round shares to the first tour that reaches them, and its cost."""
    low = ax.get_ylim()[0]
    told: list[float] = []
    for share in (points[0].share, *ROUND):
        first = next((point for point in points if point.share >= share - 1e-6), None)
        if first is None or 100.0 * share <= low:
            continue
        y = 100.0 * first.share
        if any(abs(y - other) < 0.05 * (100.0 - low) for other in told) or first is points[-1]:
            continue
        told.append(y)
        ax.plot([ax.get_xlim()[0], first.cost], [y, y], color=GRID, linewidth=0.8, zorder=1)
        ax.plot([first.cost, first.cost], [low, y], color=GRID, linewidth=0.8, zorder=1)
        stops = count(_stops(first), "stop")
        ax.annotate(
            f"{_percent(first.share)} in {measure(instance, first.cost)}, {stops}",
            (first.cost, y),
            xytext=(7, -3),
            textcoords="offset points",
            fontsize=8,
            va="top",
            zorder=6,
        )


def _stops(point: Point) -> int:
    result = point.result
    return len(result.tour) - (len(result.routes) if result.instance.fleet is not None else 0)


def _percent(share: float) -> str:
    """A share to whole percents; 100 only where it is all."""
    return f"{100 if share >= 1 - 1e-12 else min(round(100 * share), 99)} %"


def _saving(instance: Instance, share: float) -> str:
    if instance.visit_cost is None:
        return f"the tour is {100 * share:.0f} % shorter"
    return f"the tour costs {100 * share:.0f} % less"


def _last_step(ax: Axes, instance: Instance, points: Sequence[Point], far: float) -> None:
    """What the last people cost: the sentence that planners look for."""
    last = points[-1]
    ax.annotate(
        f"{_percent(last.share)} in {measure(instance, last.cost)}, {count(_stops(last), 'stop')}",
        (last.cost, 100.0 * last.share),
        xytext=(0, 7),
        textcoords="offset points",
        fontsize=8,
        ha="right",
        zorder=6,
    )
    near = next((point for point in points if point.share >= 0.95 - 1e-9), last)
    if near is last or last.cost <= 0 or near.cost / last.cost > 0.93:
        return
    saved = 1.0 - near.cost / last.cost
    without = weighed(last.weight - near.weight)
    ax.text(
        0.985,
        0.62,
        f"Without the last {100 * (last.share - near.share):.1f} %\n"
        f"({without} {weight_word(instance)})\n{_saving(instance, saved)}",
        transform=ax.transAxes,
        ha="right",
        va="top",
        fontsize=9,
        color=style.TOUR,
    )


def _frame(ax: Axes, instance: Instance, points: Sequence[Point]) -> None:
    from matplotlib.ticker import FuncFormatter

    what = weight_word(instance)
    total = f"{weighed(instance.total_weight)} {what}"
    title = (
        f"{fonts.printable(instance.name)}: how far to travel to reach how many {what}\n"
        f"{rule_in_words(instance)}; {total}; each dot is a tour"
    )
    ax.set_title(title, fontsize=10, parse_math=False, fontfamily=fonts.family(title))
    where = f" in {unit(instance)}" if unit(instance) else ""
    cost = (
        "length of the tour"
        if instance.visit_cost is None
        else "cost of the tour, visits included,"
    )
    ax.set_xlabel(
        f"{cost}{where}\n{sentence(meaning_of_lengths(instance))}", fontsize=9, color=SOFT
    )
    ax.set_ylabel(f"{what} covered", fontsize=9, color=SOFT)
    ax.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:.0f} %" if value <= 100 else "")
    )
    ax.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.10g}" if value >= 0 else "")
    )
    ax.tick_params(labelsize=8, color="#999999", labelcolor="#555555")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color("#bbbbbb")
