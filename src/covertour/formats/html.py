"""The HTML map: one file that opens offline, with the tour on a map and as a list beside it."""

from __future__ import annotations

import json
import re
from functools import cache
from html import escape
from importlib.resources import files

import numpy as np

from covertour.plot import layout
from covertour.problem.drawing import drawn_at
from covertour.problem.instance import Instance
from covertour.problem.itinerary import Itinerary, itinerary
from covertour.problem.metric import SPHERE_KM, FloatArray
from covertour.problem.tour import Tour
from covertour.problem.words import count, measure
from covertour.solving.result import Result, tour_of
from covertour.version import __version__

SCREEN = 1000.0
"""Width in map units to which places in the plane are scaled, whatever their coordinates are."""

EARTH_METRES = 6_371_000.0
"""The radius of the Earth by which Leaflet draws circles."""


def html_map(instance: Instance, outcome: Result | Tour) -> str:
    """The text of an HTML page that shows a tour on a map and lists its stops.

    Places on the globe lie on a map that shows OpenStreetMap tiles where the network and the tile
    server allow it, and a plain background otherwise. Nothing else is loaded.
    """
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
        "facts": _facts(instance, plan, outcome),
        "rows": _rows(instance, plan),
        "closing": _closing(instance, plan),
        "data": _data(instance, plan, at),
    }
    # One pass, so that text that looks like a slot is never taken for one.
    return re.sub(r"\{\{(\w+)\}\}", lambda slot: parts[slot[1]], _resource("map", "page.html"))


@cache
def _resource(folder: str, name: str) -> str:
    return (files("covertour.formats") / folder / name).read_text(encoding="utf-8").strip()


def _facts(instance: Instance, plan: Itinerary, outcome: Tour | Result) -> str:
    facts = [
        ("length", measure(instance, plan.length)),
        ("stops", f"{len(plan.places):,}"),
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


def _rows(instance: Instance, plan: Itinerary) -> str:
    """The list: a row for each stop with its leg from the stop before and what it covers."""
    rows = []
    for index, stop in enumerate(plan.places.tolist()):
        kind = _kind(instance, stop)
        leg, total = (
            measure(instance, float(way[index]), plan.length) for way in (plan.legs, plan.running)
        )
        way = f"{total}<small>+ {leg}</small>" if index else "start"
        note = f' <span class="kind">{kind}</span>' if kind else ""
        rows.append(
            f'<li class="stop" tabindex="0" data-stop="{index}">'
            f'<span class="badge {kind}">{index + 1}</span>'
            f'<span class="name">{escape(_name(instance, stop))}{note}</span>'
            f'<span class="way">{way}</span>{_covered(instance, plan, index)}</li>'
        )
    return "\n".join(rows)


def _covered(instance: Instance, plan: Itinerary, index: int) -> str:
    places = plan.served[index].tolist()
    if not places:
        return '<span class="alone">covers no other place</span>'
    items = "".join(
        f"<li>{escape(_name(instance, place))}, "
        f"{measure(instance, float(plan.distance[place]), plan.length)}</li>"
        for place in places
    )
    what = count(len(places), "other place")
    return f"<details><summary>covers {what}</summary><ul>{items}</ul></details>"


def _closing(instance: Instance, plan: Itinerary) -> str:
    """What follows the list: the way back, and a warning where places are left uncovered."""
    text = ""
    if len(plan.places) > 1:
        text = (
            f'<p class="closing"><span>back to {escape(_name(instance, int(plan.places[0])))}, '
            f"+ {measure(instance, float(plan.legs[-1]), plan.length)}</span>"
            f"<b>{measure(instance, plan.length)}</b></p>"
        )
    alone = np.flatnonzero(plan.stop_of < 0)
    if len(alone):
        text += f'<p class="warning">Not covered: {escape(instance.describe(alone))}</p>'
    return text


def _name(instance: Instance, place: int) -> str:
    return instance.label(place) if instance.labels is not None else f"place {place}"


def _kind(instance: Instance, place: int) -> str:
    if place == instance.depot:
        return "depot"
    return "required" if place in instance.required else ""


def _data(instance: Instance, plan: Itinerary, at: FloatArray) -> str:
    """What the page's script draws, as JSON that cannot end the script element it stands in."""
    far = layout.reach(instance, plan.places)
    low, high = layout.view(instance, at, layout.rims(instance, at, plan.places))
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
        "stops": plan.places.tolist(),
        "served": plan.stop_of.tolist(),
        "reach": None if far is None else np.round(far * scale, 4).tolist(),
        "depot": instance.depot,
        "required": instance.required,
        "forbidden": instance.forbidden,
    }
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
