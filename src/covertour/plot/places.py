"""Pictures of places: an instance alone, and with a tour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from covertour.plot import fonts, layout, style
from covertour.plot.backdrop import draw_ground
from covertour.plot.labels import put_names
from covertour.problem.coverage import Radius
from covertour.problem.drawing import drawn_at, route_line, stretch_of
from covertour.problem.instance import Instance
from covertour.problem.itinerary import START, Itinerary, Route, itinerary
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.tour import Tour
from covertour.problem.words import count, measure, rule_in_words, share_in_words, unit
from covertour.solving.result import Result, tour_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 120
"""With more stops (or places, in a picture of an instance alone) no names are written."""

MOST_NUMBERS = 99
"""With more stops they are not numbered; nor where too many would overlap."""

MOST_CIRCLES = 2_000
"""With more stops no circles are drawn: one would only see their sum."""

MOST_ROUTES = 12
"""With more routes only so many are in the legend."""

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

    at = drawn_at(instance)
    plan = itinerary(instance, tour_of(tour))
    stops, serving = plan.places, plan.stop_of
    others = np.setdiff1d(np.arange(instance.n), stops)
    covered = others[plan.met[others] & (serving[others] >= 0)]
    uncovered = others[~plan.met[others]]
    spare = others[plan.met[others] & (serving[others] < 0)]
    rims = layout.rims(instance, at, np.unique(stops)) if len(stops) <= MOST_CIRCLES else None
    lines = 0 < len(covered) <= MOST_LINES
    handles = _tour_handles(instance, plan, lines, len(covered), len(uncovered), rims is not None)
    ways = [route_line(instance, route.places, plan.returns) for route in plan.routes]
    seen = rims if instance.roads is None else np.concatenate(ways)
    ax = _frame(instance, ax, at, seen, _words(instance, plan, tour), handles)

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
    width = 1.8 if len(stops) <= 200 else 1.0 if len(stops) <= 2_000 else 0.6
    for route, way in zip(plan.routes, ways, strict=True):
        if len(way) > 1:
            ax.plot(
                *way.T,
                color=style.route_colour(route.number, len(plan.routes)),
                linewidth=width,
                zorder=4,
            )
    dot = _dot_size(instance.n)
    _dots(ax, at[np.setdiff1d(np.union1d(covered, spare), instance.forbidden)], style.COVERED, dot)
    if len(uncovered):
        ax.scatter(
            at[uncovered][:, 0],
            at[uncovered][:, 1],
            s=42 if len(uncovered) <= 200 else 12,
            facecolors="none",
            edgecolors=style.UNCOVERED,
            linewidths=2 if len(uncovered) <= 200 else 1,
            zorder=6,
        )
        _dots(ax, at[np.setdiff1d(uncovered, instance.forbidden)], style.COVERED, dot)
    numbered = _room_for_numbers(ax, at[np.unique(stops)])
    for route in plan.routes:
        _stops(ax, instance, at, plan, route, numbered)
    _special(ax, instance, at, size=7.0, only_forbidden=True)
    named = np.unique(stops) if instance.fleet is not None else stops
    names = []
    if instance.labels is not None and len(named) <= MOST_NAMES:
        names = [instance.labels[stop] for stop in named]
    fonts.warn_of_missing([instance.name, *names])
    if names:
        put_names(
            ax,
            at[named],
            names,
            avoid=[*(_along(instance, way) for way in ways), at[others[:2_000]]],
            gap=NUMBERED / 2 + 2 if numbered else 5.0,
        )
    return ax


def _words(instance: Instance, plan: Itinerary, outcome: Tour | Result) -> str:
    """The second line of the title: how long the tour is, and whom it reaches."""
    words = f"length {measure(instance, plan.length)}"
    if instance.visit_cost is not None:
        words += f", cost {measure(instance, sum(route.cost for route in plan.routes))}"
    words += f", {count(sum(route.stops for route in plan.routes), 'stop')}"
    if instance.n > 1:
        words += f" for {instance.n:,} places"
    if instance.fleet is not None:
        words += f", {count(len(plan.routes), 'route')}"
    if instance.partial:
        reached = float(instance.weights[plan.met].sum())
        words += f"\ncovers {share_in_words(instance, reached)}"
    if isinstance(outcome, Result) and outcome.optimal:
        best = "shortest" if instance.visit_cost is None else "cheapest"
        words += f", proven {'best' if instance.budget is not None else best}"
    return words


def _along(instance: Instance, corners: FloatArray) -> FloatArray:
    """Points along a line, float64[p, 2], close enough together to keep names off it."""
    if instance.roads is not None and instance.roads.lines is not None:
        return corners[:: 1 + len(corners) // 2_000]  # roads have corners enough
    share = np.linspace(0.0, 1.0, 50, endpoint=False)[None, :, None]
    legs = corners[:-1, None, :] * (1.0 - share) + corners[1:, None, :] * share
    return np.vstack([legs.reshape(-1, 2), corners[-1:]])


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
    if layout.is_geographic(instance):
        draw_ground(ax, low, high)
    title = f"{fonts.printable(instance.name)}\n{words}"
    ax.set_title(title, fontsize=10, parse_math=False, fontfamily=fonts.family(title))
    ax.tick_params(labelsize=8, color="#999999", labelcolor="#555555")
    ax.ticklabel_format(useOffset=False)
    for spine in ax.spines.values():
        spine.set_color("#bbbbbb")
    if layout.is_geographic(instance):
        ax.set_xlabel("longitude", fontsize=8, color="#555555")
        ax.set_ylabel("latitude", fontsize=8, color="#555555")
    if instance.roads is not None and instance.roads.credit:
        ax.annotate(
            f"Roads: {instance.roads.credit}",
            (1, 0),
            (-3, 3),
            "axes fraction",
            "offset points",
            ha="right",
            fontsize=6,
            color="#555555",
        )
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
    end = np.array([] if instance.end is None else [instance.end], dtype=np.int64)
    end = np.intersect1d(end, places)
    ends = np.concatenate([depot, end])
    required = np.setdiff1d(np.intersect1d(instance.required, places), ends).astype(np.int64)
    plain = np.setdiff1d(places, np.concatenate([ends, required]))
    return [
        (plain, "o", style.TOUR, 1.0),
        (required, "D", style.REQUIRED, 0.95),
        (end, "s", style.END, 1.05),
        (depot, "s", style.DEPOT, 1.15),
    ]


def _stops(
    ax: Axes, instance: Instance, at: FloatArray, plan: Itinerary, route: Route, numbered: bool
) -> None:
    many = len(plan.places) > 1_000
    width = NUMBERED if numbered else float(np.clip(90.0 / np.sqrt(len(plan.places)), 1.5, 6.0))
    for places, marker, colour, larger in _kinds(instance, route.places):
        if len(places) == 0:
            continue
        plain = marker == "o"
        ax.scatter(
            at[places][:, 0],
            at[places][:, 1],
            s=(width * larger if plain else max(width * larger, 7.0)) ** 2,
            marker=marker,
            color=style.route_colour(route.number, len(plan.routes)) if plain else colour,
            edgecolors="white",
            linewidths=0.0 if many and plain else 0.7,
            zorder=5 if plain else 6,
            rasterized=len(places) > 5_000,
        )
    if numbered:
        for number, (x, y) in zip(route.names, at[route.places], strict=True):
            ax.text(
                x,
                y,
                "" if number == START else number,
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
    if instance.end is not None:
        handles.append(_handle("s", style.END, "end"))
    if set(instance.required) - {instance.depot, instance.end}:
        handles.append(_handle("D", style.REQUIRED, "required", 6))
    if instance.forbidden:
        handles.append(_handle("x", style.FORBIDDEN, "forbidden", 6, markeredgewidth=1.5))
    return handles


def _tour_handles(
    instance: Instance, plan: Itinerary, lines: bool, covered: int, uncovered: int, circles: bool
) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    if len(plan.routes) > 1:
        for route in plan.routes[:MOST_ROUTES]:
            length = measure(instance, route.length, plan.length)
            label = f"route {route.number}, {length}"
            look: dict[str, Any] = {
                "color": style.route_colour(route.number, len(plan.routes)),
                "marker": "o",
                "markersize": 7,
            }
            handles.append(Line2D([], [], label=label, **look))
    elif len(np.setdiff1d(plan.places, instance.must_visit)):
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
        far = "reach of a stop"
        if isinstance(instance.rule, Radius) and np.ndim(instance.rule.r) == 0:
            far = f"reach of a stop, {np.min(instance.rule.r):g} {unit(instance)}".rstrip()
        handles.append(Patch(color=style.REACH, alpha=0.3, label=far))
    return handles
