"""Where places are drawn, and a small drawing of them, as notebooks show it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np

from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import SPHERE_KM, FloatArray, IntArray, radians, unrolled
from covertour.problem.tour import routes_of
from covertour.problem.words import count, rule_in_words

WIDTH, HEIGHT, MARGIN = 360.0, 270.0, 8.0
"""Most of a sketch, in pixels, and the room around the places."""

MOST_DOTS = 2_000
"""Of more places a sketch shows so many, evenly chosen."""

PLACE, STOP, DEPOT = "#9a9a9a", "#0072b2", "#d55e00"


def drawn_at(instance: Instance) -> FloatArray:
    """Where the places are drawn, float64[n, 2]: x and y, or longitude and latitude in degrees.

    Longitudes of places on both sides of the 180th meridian are shifted to lie together.
    """
    if instance.coordinates is None:
        raise InputError(
            f"{instance.name}: cannot be drawn, it has a distance matrix and no coordinates"
        )
    if instance.drawn_metric not in SPHERE_KM:
        return instance.coordinates
    latitude, longitude = (
        np.rad2deg(angle) for angle in radians(instance.drawn_metric, instance.coordinates)
    )
    return np.column_stack([unrolled(longitude), latitude])


def leg_lines(instance: Instance, stops: IntArray, returns: bool) -> list[FloatArray]:
    """Where each leg of a route runs, float64[m, 2] each: along the roads if these are known.

    ``stops``: int64[k], in order; with ``returns`` the way back to the first is the last leg.
    """
    at = drawn_at(instance)
    ends = np.roll(stops, -1) if returns else stops[1:]
    legs = [] if len(stops) < 2 else list(zip(stops.tolist(), ends.tolist(), strict=False))
    if instance.roads is None or instance.roads.lines is None:
        return [at[[start, end]] for start, end in legs]
    found = []
    for start, end in legs:
        line = np.array(instance.roads.lines.line(start, end))
        line[:, 0] += np.round((at[start, 0] - line[0, 0]) / 360.0) * 360.0
        found.append(line)
    return found


def route_line(instance: Instance, stops: IntArray, returns: bool) -> FloatArray:
    """The line of a whole route, float64[m, 2], one point for one stop; see :func:`leg_lines`."""
    legs = leg_lines(instance, stops, returns)
    if not legs:
        return drawn_at(instance)[stops]
    return np.concatenate([legs[0][:1], *(leg[1:] for leg in legs)])


def stretch_of(instance: Instance, at: FloatArray) -> float:
    """How much taller a unit of y is drawn than one of x, as degrees of longitude shrink."""
    if instance.drawn_metric not in SPHERE_KM:
        return 1.0
    middle = (at[:, 1].min() + at[:, 1].max()) / 2.0
    return 1.0 / max(float(np.cos(np.deg2rad(middle))), 0.05)


def as_html(instance: Instance) -> str:
    """What a notebook shows of an instance: its name, what is asked, and a sketch."""
    facts = [count(instance.n, "place"), f"metric {instance.metric}", rule_in_words(instance)]
    if instance.depot is not None:
        facts.append(f"depot {instance.label(instance.depot)}")
    for what, places in (("required", instance.required), ("forbidden", instance.forbidden)):
        if places:
            facts.append(f"{len(places):,} {what}")
    return (
        f"<div><strong>{escape(instance.name)}</strong><br>{escape('; '.join(facts))}<br>"
        f"{sketch(instance)}</div>"
    )


def sketch(instance: Instance, stops: IntArray | None = None) -> str:
    """A small SVG of the places and, with ``stops``, int64[m], of the tour through them.

    Empty where there is nothing to draw by, a distance matrix alone.
    """
    if instance.coordinates is None:
        return ""
    at = drawn_at(instance) * [1.0, stretch_of(instance, drawn_at(instance))]
    low, span = at.min(axis=0), np.ptp(at, axis=0)
    scale = min(
        (room / size for room, size in zip((WIDTH, HEIGHT), span, strict=True) if size > 0),
        default=1.0,
    )
    wide, high = (span * scale + 2 * MARGIN).tolist()
    where = (at - low) * scale + MARGIN
    where[:, 1] = high - where[:, 1]
    lines = "".join(_marks(instance, where, stops))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.0f}" height="{high:.0f}" '
        f'role="img"><title>{escape(instance.name)}</title>{lines}</svg>'
    )


def _marks(instance: Instance, at: FloatArray, stops: IntArray | None) -> Iterator[str]:
    shown = np.unique(np.linspace(0, instance.n - 1, min(instance.n, MOST_DOTS)).astype(np.int64))
    yield f'<g fill="{PLACE}">{_dots(at[shown], 2.0)}</g>'
    if stops is not None:
        line = "polyline" if instance.open else "polygon"
        for route in routes_of(instance, stops):
            corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in at[route].tolist())
            yield f'<{line} points="{corners}" fill="none" stroke="{STOP}" stroke-width="1.5"/>'
        if len(stops) <= MOST_DOTS:
            yield f'<g fill="{STOP}">{_dots(at[stops], 3.0)}</g>'
    if instance.depot is not None:
        yield f'<g fill="{DEPOT}">{_dots(at[[instance.depot]], 4.5)}</g>'


def _dots(at: FloatArray, radius: float) -> str:
    return "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>' for x, y in at.tolist())
