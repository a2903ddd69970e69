"""Sheets for the drivers: a page for each route with its stops, legs, times, and a small map."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from covertour.plot import fonts, layout, style
from covertour.plot.backdrop import draw_ground
from covertour.problem.drawing import drawn_at, route_line, stretch_of
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.itinerary import START, Itinerary, Route, itinerary
from covertour.problem.metric import FloatArray
from covertour.problem.times import Times
from covertour.problem.tour import Tour
from covertour.problem.words import (
    count,
    duration,
    meaning_of_lengths,
    measure,
    rule_in_words,
    sentence,
    weighed,
    weight_word,
)
from covertour.solving.result import Result, tour_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE, TALL, MARGIN = 8.27, 11.69, 0.6
"""A page in inches, A4, and its margin, which leaves room for other papers too."""

MOST_STOPS = 3_000
"""Of more stops no sheets are made."""

MAP_SMALL, MAP_TALL = 1.9, 3.7
"""The least and the most height that the map takes."""

BOTTOM = MARGIN + 0.05
"""Where the table ends at the latest."""

LINE, GAP = 0.148, 0.075
"""Height of a line of the table, and the room below a row."""

LETTER = 0.0625
"""About how wide a letter of the table is."""

INK, SOFT, RULE = "#1D2429", "#5A6268", "#C9CED2"


@dataclass(frozen=True)
class _Column:
    """A column of the table: its title, where its text begins or ends, and how much fits."""

    title: str
    at: float
    align: str = "right"
    letters: int = 40


def sheets(instance: Instance, outcome: Tour | Result, times: Times | None = None) -> list[Figure]:
    """A page, or as many as its stops need, for each route of a tour."""
    plan = itinerary(instance, tour_of(outcome))
    if len(plan.places) > MOST_STOPS:
        raise InputError(
            f"sheets: {len(plan.places):,} stops would fill hundreds of pages, at most "
            f"{MOST_STOPS:,} are written; as a table (.csv) all of them are"
        )
    at = drawn_at(instance) if instance.coordinates is not None else None
    pages: list[Figure] = []
    for route in plan.routes:
        pages += _route_pages(instance, plan, route, at, times)
    names = [instance.name] if instance.labels is None else [instance.name, *instance.labels]
    fonts.warn_of_missing(names)
    for number, page in enumerate(pages, start=1):
        _write(page, WIDE - MARGIN, 0.38, f"{number} of {len(pages)}", 7.5, SOFT, "right")
    return pages


def _route_pages(
    instance: Instance,
    plan: Itinerary,
    route: Route,
    at: FloatArray | None,
    times: Times | None,
) -> Iterator[Figure]:
    columns = _columns(instance, times)
    rows = [
        [
            textwrap.wrap(text, column.letters) or [""]
            for text, column in zip(row, columns, strict=True)
        ]
        for row in _rows(instance, plan, route, times)
    ]
    first = True
    while rows:
        page = _new_page()
        top = _heading(page, instance, plan, route, times, first)
        if first and at is not None:
            # A smaller map, if that keeps the table on one page.
            room = top - BOTTOM - 0.55 - sum(map(_height, rows))
            most = room if MAP_SMALL <= room < MAP_TALL else MAP_TALL
            top = _map(page, instance, plan, route, at, top, most)
        top = _titles(page, columns, top - 0.22)
        while rows and top - _height(rows[0]) >= BOTTOM:
            row = rows.pop(0)
            _row(page, columns, row, top, box=row[0][0] not in ("", START))
            top -= _height(row)
        first = False
        yield page


def _height(row: list[list[str]]) -> float:
    """How tall a row is in inches; one that fits on no page is cut."""
    return min(max(map(len, row)) * LINE + GAP, TALL / 2)


def _new_page() -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    page = Figure(figsize=(WIDE, TALL), dpi=150)
    FigureCanvasAgg(page)
    return page


def _write(
    page: Figure, x: float, y: float, text: str, size: float, colour: str, align: str, **more: Any
) -> None:
    """Write a text at a place in inches from the lower left corner."""
    shown = fonts.printable(text)
    look: dict[str, Any] = {"fontsize": size, "color": colour, "ha": align, "parse_math": False}
    page.text(x / WIDE, y / TALL, shown, **look, fontfamily=fonts.family(shown), **more)


def _rule(page: Figure, y: float, colour: str = RULE, width: float = 0.6) -> None:
    from matplotlib.lines import Line2D

    ends = [MARGIN / WIDE, 1 - MARGIN / WIDE]
    page.add_artist(Line2D(ends, [y / TALL, y / TALL], color=colour, linewidth=width))


def _heading(
    page: Figure,
    instance: Instance,
    plan: Itinerary,
    route: Route,
    times: Times | None,
    first: bool,
) -> float:
    """The head and the foot of a page; returns where the head ends."""
    name = instance.name
    if len(plan.routes) > 1:
        name = f"Route {route.number}"
        if plan.routes[-1].day > 1:
            name += f", day {route.day}"
        _write(page, WIDE - MARGIN, TALL - 0.86, instance.name, 10, SOFT, "right")
    if not first:
        name += ", continued"
    _write(page, MARGIN, TALL - 0.86, name, 17, INK, "left", fontweight="bold")
    _rule(page, TALL - 0.97, style.route_colour(route.number, len(plan.routes)), 2.5)
    told = [measure(instance, route.length, plan.length), count(route.stops, "stop")]
    if times is not None:
        hours = float(times.hours(instance, route)[-1])
        told.append(f"{duration(hours)}, {times.clock(0.0)} to {times.clock(hours)}")
    if instance.weight is not None:
        told.append(f"{weighed(route.weight)} {weight_word(instance)}")
    _write(page, MARGIN, TALL - 1.2, "  ·  ".join(told), 10, INK, "left")
    meaning = f"{sentence(rule_in_words(instance))}. {meaning_of_lengths(instance)}"
    if instance.roads is not None and instance.roads.credit:
        meaning += f" Roads: {instance.roads.credit}."
    _write(page, MARGIN, 0.38, meaning, 7.5, SOFT, "left")
    return TALL - 1.32


def _columns(instance: Instance, times: Times | None) -> list[_Column]:
    """The columns from the right end of the page to the left, in the order they are read."""
    right = WIDE - MARGIN - 0.32  # before the boxes to tick
    numbers = ["way", "total"]
    if times is not None:
        numbers += ["arrive", "leave"]
    if instance.weight is not None:
        numbers.append(weight_word(instance))
    serves = 1.5 if len(numbers) > 3 else 2.2
    at = right - serves - 0.2
    found = [_Column("also serves", right - serves, "left", int(serves / (LETTER * 0.9)))]
    for title in reversed(numbers):
        found.insert(0, _Column(title, at))
        at -= 0.6 if title in ("arrive", "leave") else 0.72
    names = at - MARGIN - 0.35
    found.insert(0, _Column("stop", MARGIN + 0.42, "left", max(int(names / LETTER), 10)))
    found.insert(0, _Column("", MARGIN + 0.28))
    return found


def _rows(
    instance: Instance, plan: Itinerary, route: Route, times: Times | None
) -> Iterator[list[str]]:
    """The texts of the table: the stops, and the way back."""
    hours = None if times is None else times.hours(instance, route)

    def cells(at: int, number: str, name: str, needs: float, people: str, also: str) -> list[str]:
        ways = [float(route.legs[at]), float(route.running[at])]
        texts = [number, name, *(measure(instance, way, plan.length) if at else "" for way in ways)]
        if times is not None and hours is not None:
            reached = float(hours[at])
            leaves = "" if at == len(route.places) else times.clock(reached + needs)
            texts += [times.clock(reached) if at else "", leaves]
        if instance.weight is not None:
            texts.append(people)
        return [*texts, also]

    for at, place in enumerate(route.places.tolist()):
        needs = 0.0 if times is None or place == instance.depot else times.service_minutes / 60.0
        also = ", ".join(instance.label(other) for other in plan.served[route.begin + at].tolist())
        weight = float(plan.weight[route.begin + at])
        people = "" if route.names[at] == START and weight == 0 else weighed(weight)
        yield cells(at, route.names[at], instance.label(place), needs, people, also)
    if plan.returns and len(route.places) > 1:
        home = f"back to {instance.label(int(route.places[0]))}"
        yield cells(len(route.places), "", home, 0.0, "", "")


def _titles(page: Figure, columns: list[_Column], top: float) -> float:
    for column in columns:
        _write(page, column.at, top, column.title, 7.5, SOFT, column.align)
    _rule(page, top - 0.07)
    return top - 0.09


def _row(
    page: Figure, columns: list[_Column], cells: list[list[str]], top: float, box: bool
) -> None:
    from matplotlib.patches import Rectangle

    base = top - LINE
    for column, lines in zip(columns, cells, strict=True):
        bold: dict[str, Any] = {"fontweight": "bold"} if column.title == "stop" and box else {}
        number = column.title == "" and lines[0] == START
        for index, line in enumerate(lines):
            size = 6.5 if number else 8.0 if column.title != "also serves" else 7.5
            colour = SOFT if column.title == "also serves" or number else INK
            _write(page, column.at, base - index * LINE, line, size, colour, column.align, **bold)
    if box:
        corner = ((WIDE - MARGIN - 0.14) / WIDE, (base - 0.02) / TALL)
        square = Rectangle(corner, 0.13 / WIDE, 0.13 / TALL)
        square.set(facecolor="none", edgecolor=SOFT, linewidth=0.7)
        page.add_artist(square)
    _rule(page, top - max(map(len, cells)) * LINE - GAP * 0.75)


def _map(
    page: Figure,
    instance: Instance,
    plan: Itinerary,
    route: Route,
    at: FloatArray,
    top: float,
    most: float,
) -> float:
    """A map of the route, what it covers, and the other routes faintly; returns where it ends."""
    from matplotlib.collections import LineCollection

    stops = route.places
    mine = np.isin(plan.stop_of, np.arange(route.begin, route.end))
    shown = at[np.union1d(stops, np.flatnonzero(mine))]
    own = route_line(instance, stops, plan.returns)
    low, high = layout.view(
        instance, shown, own if instance.roads else layout.rims(instance, at, stops)
    )
    stretch = stretch_of(instance, at)
    # The box of the map keeps its size on paper; the view is widened to fill it.
    wide = WIDE - 2 * MARGIN
    tall = float(np.clip(wide * (high[1] - low[1]) * stretch / (high[0] - low[0]), MAP_SMALL, most))
    ratio = wide / tall * stretch
    size = np.maximum(high - low, [(high[1] - low[1]) * ratio, (high[0] - low[0]) / ratio])
    low, high = (low + high - size) / 2.0, (low + high + size) / 2.0
    ax = page.add_axes((MARGIN / WIDE, (top - 0.1 - tall) / TALL, wide / WIDE, tall / TALL))
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color(RULE)
    if layout.is_geographic(instance):
        draw_ground(ax, low, high)
    colour = style.route_colour(route.number, len(plan.routes))
    for other in plan.routes:
        line = route_line(instance, other.places, plan.returns)
        look: dict[str, Any] = {"color": colour, "linewidth": 1.8, "zorder": 4}
        if other is not route:
            look = {"color": "#C3CACE", "linewidth": 0.6, "zorder": 1.5}
        ax.plot(*line.T, **look)
    served = np.setdiff1d(np.flatnonzero(mine), stops)
    ends = np.stack([at[served], at[plan.places[plan.stop_of[served]]]], axis=1)
    ax.add_collection(
        LineCollection(list(ends), colors=style.SERVICE, linewidths=0.6, linestyles=(0, (3, 2)))
    )
    ax.scatter(at[served, 0], at[served, 1], s=7, color=style.COVERED, linewidths=0, zorder=3)
    for name, place in zip(route.names, stops.tolist(), strict=True):
        depot = place == instance.depot
        ax.scatter(
            at[place, 0],
            at[place, 1],
            s=95,
            marker="s" if depot else "o",
            color=style.DEPOT if depot else colour,
            edgecolors="white",
            linewidths=0.7,
            zorder=6 if depot else 5,
        )
        number = "" if name == START else name
        ax.text(
            at[place, 0],
            at[place, 1],
            number,
            ha="center",
            va="center_baseline",
            fontsize=6,
            fontweight="bold",
            color="white",
            zorder=7,
            clip_on=True,
        )
    return top - 0.1 - tall - 0.12
