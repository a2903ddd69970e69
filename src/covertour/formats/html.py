"""The HTML map: one file that opens offline, with the tour on a map and as a list beside it."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from importlib.resources import files

import numpy as np

from covertour.plot import layout
from covertour.problem.instance import Instance
from covertour.problem.metric import SPHERE_KM, FloatArray
from covertour.problem.tour import Service, Tour, service
from covertour.solving.result import Result
from covertour.version import __version__

SCREEN = 1000.0
"""Width in map units to which places in the plane are scaled, whatever their coordinates are."""

EARTH_METRES = 6_371_000.0
"""The radius of the Earth by which Leaflet draws circles."""


def html_map(instance: Instance, outcome: Tour | Result) -> str:
    """The text of an HTML page that shows a tour on a map and lists its stops.

    Places on the globe lie on a map that shows OpenStreetMap tiles where the network and the tile
    server allow it, and a plain background otherwise. Nothing else is loaded.
    """
    tour = outcome.tour if isinstance(outcome, Result) else outcome
    at = layout.drawn_at(instance)
    served = service(instance, tour)
    parts = {
        "version": escape(__version__),
        "title": escape(instance.name),
        "leaflet_css": _resource("leaflet", "leaflet.css"),
        "leaflet_js": _resource("leaflet", "leaflet.js").replace(
            "//# sourceMappingURL=leaflet.js.map", ""
        ),
        "map_css": _resource("map", "map.css"),
        "map_js": _resource("map", "map.js"),
        "facts": _facts(instance, tour, outcome),
        "rows": _rows(instance, tour, served),
        "closing": _closing(instance, tour, served),
        "data": _data(instance, tour, served, at),
    }
    # One pass, so that text that looks like a slot is never taken for one.
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: parts[slot[1]], _resource("map", "page.html"))


@cache
def _resource(folder: str, name: str) -> str:
    return (files("covertour.formats") / folder / name).read_text(encoding="utf-8").strip()


def _facts(instance: Instance, tour: Tour, outcome: Tour | Result) -> str:
    facts = [
        ("length", layout.measure(instance, tour.length)),
        ("stops", f"{len(tour):,}"),
        ("places", f"{instance.n:,}"),
    ]
    if isinstance(outcome, Result):
        facts.append(("method", outcome.method))
        if outcome.optimal:
            facts.append(("proof", "no tour is shorter"))
        elif outcome.gap is not None:
            facts.append(("gap", f"at most {outcome.gap:.2%} above the shortest"))
    return "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts
    )


def _rows(instance: Instance, tour: Tour, served: Service) -> str:
    """The list: a row for each stop with its leg from the stop before and what it covers."""
    stops = tour.places
    legs = instance.distances(np.roll(stops, 1), stops)
    legs[0] = 0.0
    running = np.cumsum(legs)
    others = np.setdiff1d(np.arange(instance.n), stops)
    covered: list[list[int]] = [[] for _ in stops]
    for place in others[np.argsort(served.distance[others], kind="stable")].tolist():
        if served.stop[place] >= 0:
            covered[served.stop[place]].append(place)
    rows = []
    for index, stop in enumerate(stops.tolist()):
        kind = _kind(instance, stop)
        leg, total = (
            layout.measure(instance, float(way), tour.length)
            for way in (legs[index], running[index])
        )
        way = f"{total}<small>+ {leg}</small>" if index else "start"
        note = f' <span class="kind">{kind}</span>' if kind else ""
        rows.append(
            f'<li class="stop" tabindex="0" data-stop="{index}">'
            f'<span class="badge {kind}">{index + 1}</span>'
            f'<span class="name">{escape(_name(instance, stop))}{note}</span>'
            f'<span class="way">{way}</span>{_covered(instance, covered[index], served, tour)}</li>'
        )
    return "\n".join(rows)


def _covered(instance: Instance, places: list[int], served: Service, tour: Tour) -> str:
    if not places:
        return '<span class="alone">covers no other place</span>'
    items = "".join(
        f"<li>{escape(_name(instance, place))}, "
        f"{layout.measure(instance, float(served.distance[place]), tour.length)}</li>"
        for place in places
    )
    what = layout.count(len(places), "other place")
    return f"<details><summary>covers {what}</summary><ul>{items}</ul></details>"


def _closing(instance: Instance, tour: Tour, served: Service) -> str:
    """What follows the list: the way back, and a warning where places are left uncovered."""
    text = ""
    stops = tour.places
    if len(stops) > 1:
        back = float(instance.distances(stops[-1:], stops[:1])[0])
        text = (
            f'<p class="closing"><span>back to {escape(_name(instance, int(stops[0])))}, '
            f"+ {layout.measure(instance, back, tour.length)}</span>"
            f"<b>{layout.measure(instance, tour.length)}</b></p>"
        )
    alone = np.flatnonzero(served.stop < 0)
    if len(alone):
        text += f'<p class="warning">Not covered: {escape(instance.describe(alone))}</p>'
    return text


def _name(instance: Instance, place: int) -> str:
    return instance.label(place) if instance.labels is not None else f"place {place}"


def _kind(instance: Instance, place: int) -> str:
    if place == instance.depot:
        return "depot"
    return "required" if place in instance.required else ""


def _data(instance: Instance, tour: Tour, served: Service, at: FloatArray) -> str:
    """What the page's script draws, as JSON that cannot end the script element it stands in."""
    far = layout.reach(instance, tour.places)
    low, high = layout.view(instance, at, layout.rims(instance, at, tour.places))
    if layout.is_geographic(instance):
        drawn = np.round(at, 6)
        scale = EARTH_METRES / SPHERE_KM[instance.metric]
    else:
        scale = SCREEN / float(np.max(high - low))
        drawn = np.round((at - low) * scale, 4)
        low, high = np.zeros(2), (high - low) * scale
    data = {
        "geographic": layout.is_geographic(instance),
        "at": drawn.tolist(),
        "labels": instance.labels,
        "view": [low.tolist(), high.tolist()],
        "stops": tour.places.tolist(),
        "served": served.stop.tolist(),
        "reach": None if far is None else np.round(far * scale, 4).tolist(),
        "depot": instance.depot,
        "required": instance.required,
        "forbidden": instance.forbidden,
    }
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
