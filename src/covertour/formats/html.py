"""The HTML map: one file that opens offline, with the tour on a map and as a list beside it."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from covertour.formats.html_list import facts, listing, meaning
from covertour.formats.manner import Manner, tile_server
from covertour.plot import layout
from covertour.plot.ground import SMALLEST_VIEW, ground
from covertour.problem.drawing import drawn_at, leg_lines, route_line, stretch_of
from covertour.problem.instance import Instance
from covertour.problem.itinerary import START, Itinerary, itinerary
from covertour.problem.metric import SPHERE_KM, FloatArray
from covertour.problem.tour import Tour
from covertour.problem.words import weighed, weight_word
from covertour.solving.result import Result, tour_of
from covertour.version import __version__

SCREEN = 1000.0
"""Width in map units to which places in the plane are scaled, whatever their coordinates are."""

WAY_STEP = 1e-5
"""Roads are drawn on a grid of so many degrees, about a metre."""

EARTH_METRES = 6_371_000.0
"""The radius of the Earth by which Leaflet draws circles."""


AROUND = 2.0
"""How far the outlines reach from the middle of a map, in widths of its first view."""

LAST_PARALLEL = 84.0
"""Where the map ends in the north and south: its projection goes to infinity at the poles."""

OPENSTREETMAP = '&copy; <a href="https://www.openstreetmap.org/copyright">OpenStreetMap</a>'


def html_map(instance: Instance, outcome: Result | Tour, manner: Manner = Manner()) -> str:
    """The text of an HTML page that shows a tour on a map and lists its stops.

    Places on the globe lie on the outlines of countries, which are in the page. It asks nobody for
    anything unless the manner has the address of a tile server.
    """
    server = "" if manner.tiles is None else f" {tile_server(manner.tiles)}"
    at = drawn_at(instance)
    plan = itinerary(instance, tour_of(outcome))
    parts = {
        "version": escape(__version__),
        "title": escape(instance.name),
        "leaflet_css": _resource("leaflet", "leaflet.css"),
        "leaflet_js": _resource("leaflet", "leaflet.js").replace(
            "//# sourceMappingURL=leaflet.js.map", ""
        ),
        "map_css": _resource("map", "map.css"),
        "map_js": _resource("map", "map.js"),
        "list_js": _resource("map", "list.js"),
        "print_js": _resource("map", "print.js"),
        "tile_server": escape(server),
        "facts": facts(instance, plan, outcome, manner),
        "meaning": escape(meaning(instance, manner)),
        "list": listing(instance, plan, at, manner),
        "data": _data(instance, plan, at, manner.tiles),
    }
    # One pass, so that text that looks like a slot is never taken for one.
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: parts[slot[1]], _resource("map", "page.html"))


@cache
def _resource(folder: str, name: str) -> str:
    return (files("covertour.formats") / folder / name).read_text(encoding="utf-8").strip()


def _data(instance: Instance, plan: Itinerary, at: FloatArray, tiles: str | None) -> str:
    """What the page's script draws, as JSON that cannot end the script element it stands in."""
    far = layout.reach(instance, plan.places)
    seen = layout.rims(instance, at, plan.places)
    if instance.roads is not None:
        seen = np.concatenate([route_line(instance, r.places, plan.returns) for r in plan.routes])
    low, high = layout.view(instance, at, seen)
    if layout.is_geographic(instance):
        drawn = np.round(at, 6)
        scale = EARTH_METRES / SPHERE_KM[instance.drawn_metric]
    else:
        scale = SCREEN / float(np.max(high - low))
        drawn = np.round((at - low) * scale, 4)
        low, high = np.zeros(2), (high - low) * scale
    people = None if instance.weight is None else [*map(weighed, instance.weight.tolist())]
    data = {
        "ground": _ground(instance, at, low, high),
        "tiles": _tiles(tiles),
        "geographic": layout.is_geographic(instance),
        "at": drawn.tolist(),
        "labels": instance.labels,
        "view": [low.tolist(), high.tolist()],
        "stops": plan.places.tolist(),
        "numbers": ["" if name == START else name for r in plan.routes for name in r.names],
        "routes": [[route.begin, route.end] for route in plan.routes],
        "closed": plan.returns,
        "ways": _ways(instance, plan),
        "credit": "" if instance.roads is None else escape(instance.roads.credit),
        "lacking": plan.lacking.tolist(),
        "people": people,
        "counted": weight_word(instance),
        "served": plan.stop_of.tolist(),
        "reach": None if far is None else np.round(far * scale, 4).tolist(),
        "depot": instance.depot,
        "end": instance.end,
        "required": instance.required,
        "forbidden": instance.forbidden,
    }
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _ways(instance: Instance, plan: Itinerary) -> dict[str, Any] | None:
    """The road that leaves each stop, in steps on a fine grid; None where lines are straight."""
    if instance.roads is None or instance.roads.lines is None:
        return None
    lines: list[list[int]] = []
    for route in plan.routes:
        legs = leg_lines(instance, route.places, plan.returns)
        grid = (np.round(leg / WAY_STEP).astype(np.int64) for leg in legs)
        steps = [np.diff(points, axis=0, prepend=[[0, 0]]).ravel().tolist() for points in grid]
        lines += steps + [[]] * (len(route.places) - len(steps))
    return {"step": WAY_STEP, "lines": lines}


def _tiles(tiles: str | None) -> dict[str, str] | None:
    if tiles is None:
        return None
    open_map = "openstreetmap" in tile_server(tiles)
    credit = OPENSTREETMAP if open_map else escape(tile_server(tiles).partition("://")[2])
    return {"url": tiles, "credit": credit}


def _ground(
    instance: Instance, at: FloatArray, low: FloatArray, high: FloatArray
) -> dict[str, Any] | None:
    """The outlines around a view, as far as the reader can move the map, in steps on a fine grid.

    None where there is nothing to show: in the plane, and in views that are too small for them.
    """
    if not layout.is_geographic(instance):
        return None
    stretch = stretch_of(instance, at)
    span = float(max(high[0] - low[0], (high[1] - low[1]) * stretch))
    if span < SMALLEST_VIEW:
        return None
    far = np.minimum(AROUND * span, [300.0, 180.0]) / [1.0, stretch]
    middle = (low + high) / 2.0
    west, south = np.maximum(np.round(middle - far, 2), [-np.inf, -LAST_PARALLEL])
    east, north = np.minimum(np.round(middle + far, 2), [np.inf, LAST_PARALLEL])
    corner, other = np.array([west, south]), np.array([east, north])
    finest = max(span / 1_500.0, 0.004)
    whole = ground(corner, other, finest)
    seen = {name: (x, y) for name, x, y in ground(low, high, finest).names}
    step = finest / 2.0

    def steps(lines: tuple[FloatArray, ...]) -> list[list[int]]:
        grid = (np.round((line - corner) / step).astype(np.int64) for line in lines)
        return [np.diff(points, axis=0, prepend=[[0, 0]]).ravel().tolist() for points in grid]

    return {
        "step": step,
        "origin": corner.tolist(),
        "box": [corner.tolist(), other.tolist()],
        "land": steps(whole.land),
        "coasts": steps(whole.coasts),
        "borders": steps(whole.borders),
        # In the part that is seen first, names stand in the middle of what is seen.
        "names": [
            [name, *(round(value, 3) for value in seen.get(name, (x, y)))]
            for name, x, y in whole.names
        ],
    }
