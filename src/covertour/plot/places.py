"""Pictures of places: an instance alone, and with a tour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from covertour.plot import fonts, layout, style
from covertour.plot.labels import put_names
from covertour.problem.drawing import drawn_at, stretch_of
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.tour import Tour, service
from covertour.problem.words import count, measure, rule_in_words
from covertour.solving.result import Result, tour_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 120
"""With more stops (or places, in a picture of an instance alone) no names are written."""

MOST_NUMBERS = 99
"""With more stops they are not numbered; nor where too many would overlap."""

MOST_CIRCLES = 2_000
"""With more stops no circles are drawn: one would only see their sum."""

MOST_LINES = 30_000
"""With more places no lines to their stops are drawn."""

NUMBERED = 12.0
"""Width of a numbered marker in points."""


def plot_instance(instance: Instance, ax: Axes | None = None) -> Axes:
    """Draw the places of an instance: where they are, the depot, required and forbidden ones.

    >>> from covertour import random_instance
    >>> ax = plot_instance(random_instance(50, nearest=7))
    >>> ax.figure.savefig("places.png")  # doctest: +SKIP
    """
    at = drawn_at(instance)
    special = np.union1d(instance.must_visit, instance.forbidden).astype(np.int64)
    plain = np.setdiff1d(np.arange(instance.n), special)
    words = f"{count(instance.n, 'place')}, {rule_in_words(instance)}"
    handles = [_handle("o", style.COVERED, "place", 4)] if len(plain) else []
    ax = _frame(instance, ax, at, None, words, handles + _special_handles(instance))
    _dots(ax, at[plain], style.COVERED, _dot_size(instance.n))
    _special(ax, instance, at, size=7.0)
    names = (instance.labels or ()) if instance.n <= MOST_NAMES else ()
    fonts.warn_of_missing([instance.name, *names])
    if names:
        put_names(ax, at, names)
    return ax


def plot_tour(instance: Instance, tour: Tour | Result, ax: Axes | None = None) -> Axes:
    """Draw a tour: its stops in order, and a thin line from every other place to its stop.

    Stops are numbered and named where there is room. Under a ``radius`` rule light circles show
    what the stops cover. Places that no stop covers stand out.

    >>> from covertour import make_tour, random_instance
    >>> instance = random_instance(4, nearest=3)
    >>> ax = plot_tour(instance, make_tour(instance, [0, 2]))
    >>> ax.figure.savefig("tour.png")  # doctest: +SKIP
    """
    from matplotlib.collections import LineCollection, PolyCollection

    found = tour_of(tour)
    at = drawn_at(instance)
    stops = found.places
    serving = service(instance, found).stop
    others = np.setdiff1d(np.arange(instance.n), stops)
    covered = others[serving[others] >= 0]
    uncovered = others[serving[others] < 0]
    rims = layout.rims(instance, at, stops) if len(stops) <= MOST_CIRCLES else None
    lines = 0 < len(covered) <= MOST_LINES
    length = measure(instance, found.length)
    words = f"length {length}, {count(len(found), 'stop')} for {instance.n:,} places"
    if instance.n == 1:
        words = f"length {length}, 1 stop"
    if isinstance(tour, Result) and tour.optimal:
        words += ", proven shortest"
    handles = _tour_handles(instance, stops, lines, len(covered), len(uncovered), rims is not None)
    ax = _frame(instance, ax, at, rims, words, handles)

    if rims is not None:
        ax.add_collection(
            PolyCollection(
                list(rims),
                facecolors=style.REACH,
                edgecolors=style.REACH,
                alpha=0.13,
                linewidths=0.8,
                zorder=1,
            ),
            autolim=False,
        )
    if lines:
        ends = np.stack([at[covered], at[stops[serving[covered]]]], axis=1)
        ax.add_collection(
            LineCollection(
                list(ends),
                colors=style.SERVICE,
                linewidths=0.7 if len(covered) <= 1_000 else 0.3,
                linestyles=(0, (3, 2)) if len(covered) <= 5_000 else "solid",
                zorder=2,
                rasterized=len(covered) > 5_000,
            ),
            autolim=False,
        )
    if len(stops) > 1:
        round_trip = at[np.append(stops, stops[0])]
        width = 1.8 if len(stops) <= 200 else 1.0 if len(stops) <= 2_000 else 0.6
        ax.plot(*round_trip.T, color=style.TOUR, linewidth=width, zorder=4)
    dot = _dot_size(instance.n)
    _dots(ax, at[np.setdiff1d(covered, instance.forbidden)], style.COVERED, dot)
    if len(uncovered):
        ax.scatter(
            at[uncovered][:, 0],
            at[uncovered][:, 1],
            s=42,
            facecolors="none",
            edgecolors=style.UNCOVERED,
            linewidths=2,
            zorder=6,
        )
        _dots(ax, at[np.setdiff1d(uncovered, instance.forbidden)], style.COVERED, dot)
    numbered = _room_for_numbers(ax, at[stops])
    _stops(ax, instance, at, stops, numbered)
    _special(ax, instance, at, size=7.0, only_forbidden=True)
    names = []
    if instance.labels is not None and len(stops) <= MOST_NAMES:
        names = [instance.labels[stop] for stop in stops]
    fonts.warn_of_missing([instance.name, *names])
    if names:
        put_names(
            ax,
            at[stops],
            names,
            avoid=[_along(at[stops]), at[others[:2_000]]],
            gap=NUMBERED / 2 + 2 if numbered else 5.0,
        )
    return ax


def _along(corners: FloatArray) -> FloatArray:
    """Points along a closed line, float64[p, 2], close enough together to keep names off it."""
    share = np.linspace(0.0, 1.0, 50, endpoint=False)[None, :, None]
    legs = corners[:, None, :] * (1.0 - share) + np.roll(corners, -1, axis=0)[:, None, :] * share
    return legs.reshape(-1, 2)


def _frame(
    instance: Instance,
    ax: Axes | None,
    at: FloatArray,
    outlines: FloatArray | None,
    words: str,
    handles: list[Any],
) -> Axes:
    """Axes with limits, aspect, title and legend set, so that what is drawn next can be placed."""
    low, high = layout.view(instance, at, outlines)
    stretch = stretch_of(instance, at)
    own = ax is None
    if ax is None:
        wide, tall = high[0] - low[0], (high[1] - low[1]) * stretch
        ax = style.new_axes(8.0, float(np.clip(7.2 * tall / wide, 2.0, 9.0)) + 1.3)
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_aspect(stretch)
    title = f"{fonts.printable(instance.name)}\n{words}"
    ax.set_title(title, fontsize=10, parse_math=False, fontfamily=fonts.family(title))
    ax.tick_params(labelsize=8, color="#999999", labelcolor="#555555")
    ax.ticklabel_format(useOffset=False)
    for spine in ax.spines.values():
        spine.set_color("#bbbbbb")
    if layout.is_geographic(instance):
        ax.set_xlabel("longitude", fontsize=8, color="#555555")
        ax.set_ylabel("latitude", fontsize=8, color="#555555")
    if handles:
        below = -0.1 if layout.is_geographic(instance) else -0.06
        ax.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, below),
            ncols=min(len(handles), 4),
            frameon=False,
            fontsize=8,
        )
    if own:
        figure = ax.get_figure(root=True)
        assert figure is not None
        figure.draw_without_rendering()  # settles the layout, so that names find their room
    else:
        ax.apply_aspect()
    return ax


def _dot_size(n: int) -> float:
    """Area of a covered place's dot in points squared: smaller where there are many."""
    return float(np.clip(2_000.0 / n, 0.4, 14.0))


def _dots(ax: Axes, at: FloatArray, colour: str, size: float) -> None:
    if len(at):
        ax.scatter(
            at[:, 0],
            at[:, 1],
            s=size,
            color=colour,
            linewidths=0,
            zorder=3,
            rasterized=len(at) > 5_000,
        )


def _kinds(instance: Instance, places: IntArray) -> list[tuple[IntArray, str, str, float]]:
    """The places by kind: which, marker, colour, and how much larger than a plain stop."""
    depot = np.array([] if instance.depot is None else [instance.depot], dtype=np.int64)
    depot = np.intersect1d(depot, places)
    required = np.setdiff1d(np.intersect1d(instance.required, places), depot).astype(np.int64)
    plain = np.setdiff1d(places, np.concatenate([depot, required]))
    return [
        (plain, "o", style.TOUR, 1.0),
        (required, "D", style.REQUIRED, 0.95),
        (depot, "s", style.DEPOT, 1.15),
    ]


def _stops(ax: Axes, instance: Instance, at: FloatArray, stops: IntArray, numbered: bool) -> None:
    many = len(stops) > 1_000
    width = NUMBERED if numbered else float(np.clip(90.0 / np.sqrt(len(stops)), 1.5, 6.0))
    for places, marker, colour, larger in _kinds(instance, stops):
        if len(places) == 0:
            continue
        plain = marker == "o"
        ax.scatter(
            at[places][:, 0],
            at[places][:, 1],
            s=(width * larger if plain else max(width * larger, 7.0)) ** 2,
            marker=marker,
            color=colour,
            edgecolors="white",
            linewidths=0.0 if many and plain else 0.7,
            zorder=5 if plain else 6,
            rasterized=len(places) > 5_000,
        )
    if numbered:
        for number, (x, y) in enumerate(at[stops], start=1):
            ax.text(
                x,
                y,
                str(number),
                ha="center",
                va="center_baseline",
                fontsize=6.5,
                fontweight="bold",
                color="white",
                zorder=7,
                clip_on=True,
            )


def _special(
    ax: Axes, instance: Instance, at: FloatArray, size: float, only_forbidden: bool = False
) -> None:
    """Markers of forbidden places and, unless a tour draws them, of required ones and the depot."""
    if instance.forbidden:
        ax.scatter(
            at[list(instance.forbidden)][:, 0],
            at[list(instance.forbidden)][:, 1],
            s=(size * 0.8) ** 2,
            marker="x",
            color=style.FORBIDDEN,
            linewidths=1.5,
            zorder=6,
        )
    if only_forbidden:
        return
    for places, marker, colour, larger in _kinds(instance, instance.must_visit):
        ax.scatter(
            at[places][:, 0],
            at[places][:, 1],
            s=(size * larger) ** 2,
            marker=marker,
            color=colour,
            zorder=6,
        )


def _room_for_numbers(ax: Axes, at: FloatArray) -> bool:
    """Whether nearly all stops are far enough apart on paper to carry numbers."""
    if len(at) > MOST_NUMBERS:
        return False
    points = ax.transData.transform(at) * 72.0 / ax.figure.dpi
    apart = np.linalg.norm(points[:, None] - points[None, :], axis=-1)
    np.fill_diagonal(apart, np.inf)
    return bool(np.mean(apart.min(axis=1) >= 0.75 * NUMBERED) >= 0.85)


def _handle(marker: str, colour: str, label: str, size: float = 7, **more: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], marker=marker, color=colour, label=label, markersize=size, ls="", **more)


def _special_handles(instance: Instance) -> list[Any]:
    handles = []
    if instance.depot is not None:
        handles.append(_handle("s", style.DEPOT, "depot"))
    if set(instance.required) - {instance.depot}:
        handles.append(_handle("D", style.REQUIRED, "required", 6))
    if instance.forbidden:
        handles.append(_handle("x", style.FORBIDDEN, "forbidden", 6, markeredgewidth=1.5))
    return handles


def _tour_handles(
    instance: Instance, stops: IntArray, lines: bool, covered: int, uncovered: int, circles: bool
) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    if len(np.setdiff1d(stops, instance.must_visit)):
        handles.append(Line2D([], [], color=style.TOUR, marker="o", markersize=7, label="stop"))
    handles += _special_handles(instance)
    if covered:
        dashed = {"color": style.SERVICE, "lw": 0.8, "ls": (0, (3, 2))} if lines else {"ls": ""}
        look = {"marker": "o", "markersize": 4, "markeredgewidth": 0}
        face = {"markerfacecolor": style.COVERED, "label": "covered by the stop"}
        handles.append(Line2D([], [], **dashed, **look, **face))  # type: ignore[arg-type]
    if uncovered:
        hollow = {"markerfacecolor": "none", "markeredgewidth": 2}
        handles.append(_handle("o", style.UNCOVERED, "not covered", 7, **hollow))
    if circles:
        handles.append(Patch(color=style.REACH, alpha=0.3, label="reach of a stop"))
    return handles
