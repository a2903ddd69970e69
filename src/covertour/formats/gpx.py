"""GPX: a tour as a route of its stops, and a waypoint for each place that they serve.

Place numbers and the length, which GPX has no words for, stand in extension elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from covertour.formats.geojson import globe
from covertour.formats.source import FoundTour, Source
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.itinerary import itinerary
from covertour.problem.metric import FloatArray
from covertour.problem.tour import Tour
from covertour.solving.result import Result, tour_of

GPX = "http://www.topografix.com/GPX/1/1"
OURS = "urn:covertour"
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def encode_outcome(instance: Instance, outcome: Result | Tour) -> str:
    """A tour of places on the globe; the route's last point is its first again."""
    points = globe(instance).copy()
    east = points[:, 0]
    points[:, 0] = np.where(np.abs(east) > 180.0, (east + 180.0) % 360.0 - 180.0, east)
    return "\n".join(_lines(instance, outcome, points)) + "\n"


def _lines(instance: Instance, outcome: Result | Tour, points: FloatArray) -> Iterator[str]:
    plan = itinerary(instance, tour_of(outcome))
    stops = plan.places.tolist()
    name = _escaped(instance.name)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<gpx version="1.1" creator="covertour" xmlns="{GPX}" xmlns:covertour="{OURS}">'
    yield f"<metadata><name>{name}</name></metadata>"
    visited = set(stops)
    for place in range(instance.n):
        if place in visited:
            continue
        at = int(plan.stop_of[place])
        served = "not covered"
        if at >= 0:
            stop = instance.label(stops[at])
            served = f"served by stop {at + 1}, {stop}, {plan.distance[place]:.3f} km away"
        yield _point("wpt", points[place], instance.label(place), served, place)
    yield f"<rte><name>{name}</name><desc>{len(stops)} stops, {plan.length:.3f} km</desc>"
    if np.isfinite(plan.length):
        length = repr(float(plan.length))
        yield f"<extensions><covertour:length>{length}</covertour:length></extensions>"
    for at, place in enumerate(stops):
        about = f"stop {at + 1}, {plan.running[at]:.3f} km from the start"
        if len(plan.served[at]):
            about += f"; serves {', '.join(map(instance.label, plan.served[at].tolist()))}"
        yield _point("rtept", points[place], instance.label(place), about, place)
    back = f"back at the start after {plan.running[-1]:.3f} km"
    yield _point("rtept", points[stops[0]], instance.label(stops[0]), back, None)
    yield "</rte>"
    yield "</gpx>"


def _point(tag: str, point: FloatArray, name: str, about: str, place: int | None) -> str:
    number = ""
    if place is not None:
        number = f"<extensions><covertour:place>{place}</covertour:place></extensions>"
    return (
        f'<{tag} lat="{point[1]:.7f}" lon="{point[0]:.7f}">'
        f"<name>{_escaped(name)}</name><desc>{_escaped(about)}</desc>{number}</{tag}>"
    )


def _as_read(text: str) -> str:
    """A text as it reads back: without what XML cannot hold, lines ending as XML ends them."""
    return NOT_IN_XML.sub("\ufffd", text).replace("\r\n", "\n").replace("\r", "\n")


def _escaped(text: str) -> str:
    plain = NOT_IN_XML.sub("\ufffd", text)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def read_tour(source: Source) -> FoundTour:
    """A route that covertour wrote."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(source.raw())
    except ElementTree.ParseError as error:
        raise InputError(f"{source}, line {error.position[0]}: not XML: {error}") from None
    except (ValueError, LookupError) as error:  # an encoding that is not known
        raise InputError(f"{source}: not XML: {error}") from None
    route = root.find(f"{{{GPX}}}rte")
    if route is None:
        raise InputError(f"{source}: expected a GPX file with a route (rte)")
    places: list[int] = []
    names: list[str | None] = []
    points = route.findall(f"{{{GPX}}}rtept")
    for at, point in enumerate(points, start=1):
        text = point.findtext(f"{{{GPX}}}extensions/{{{OURS}}}place")
        if text is None and at == len(points) > 1:
            break  # the way back to the start
        if text is None or not re.fullmatch(r"\s*-?[0-9]{1,18}\s*", text):
            raise InputError(
                f"{source}, route point {at}: expected covertour's place number, got {shown(text)}"
            )
        places.append(int(text))
        names.append(point.findtext(f"{{{GPX}}}name"))
    claim = route.findtext(f"{{{GPX}}}extensions/{{{OURS}}}length")
    try:
        return FoundTour(places, None if claim is None else float(claim), names, _as_read)
    except ValueError:
        raise InputError(f"{source}: length: expected a number, got {shown(claim)}") from None
