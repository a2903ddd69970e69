"""GPX: each route as its stops in order, and a waypoint for each place that is no stop.

Place numbers and the length, which GPX has no words for, stand in extension elements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from covertour.formats.geojson import globe
from covertour.formats.source import FoundTour, Source
from covertour.problem.drawing import leg_lines
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.itinerary import START, Itinerary, Route, itinerary
from covertour.problem.metric import FloatArray
from covertour.problem.tour import Tour
from covertour.problem.words import unit, weighed, weight_word
from covertour.solving.result import Result, tour_of

GPX = "http://www.topografix.com/GPX/1/1"
OURS = "urn:covertour"
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def encode_outcome(instance: Instance, outcome: Result | Tour) -> str:
    """A tour of places on the globe; a route's last point is its first again, unless it is open."""
    points = globe(instance).copy()
    east = points[:, 0]
    points[:, 0] = np.where(np.abs(east) > 180.0, (east + 180.0) % 360.0 - 180.0, east)
    return "\n".join(_lines(instance, outcome, points)) + "\n"


def _lines(instance: Instance, outcome: Result | Tour, points: FloatArray) -> Iterator[str]:
    plan = itinerary(instance, tour_of(outcome))
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<gpx version="1.1" creator="covertour" xmlns="{GPX}" xmlns:covertour="{OURS}">'
    yield f"<metadata><name>{_escaped(instance.name)}</name>{_copyright(instance)}</metadata>"
    visited = set(plan.places.tolist())
    for place in range(instance.n):
        if place not in visited:
            about = _service(instance, plan, place)
            yield _point("wpt", points[place], instance.label(place), about, place)
    for route in plan.routes:
        yield from _route(instance, plan, route, points)
    if instance.roads is not None:
        for route in plan.routes:
            yield from _track(instance, plan, route)
    yield "</gpx>"


def _copyright(instance: Instance) -> str:
    if instance.roads is None or not instance.roads.credit:
        return ""
    return f'<copyright author="{_escaped(instance.roads.credit)}"/>'


def _track(instance: Instance, plan: Itinerary, route: Route) -> Iterator[str]:
    """A route along the roads; of its legs each is a segment."""
    yield f"<trk><name>{_escaped(_name(instance, plan, route))}</name>"
    for leg in leg_lines(instance, route.places, plan.returns):
        points = "".join(f'<trkpt lat="{y:.7f}" lon="{x:.7f}"/>' for x, y in leg.tolist())
        yield f"<trkseg>{points}</trkseg>"
    yield "</trk>"


def _name(instance: Instance, plan: Itinerary, route: Route) -> str:
    return instance.name if len(plan.routes) == 1 else f"{instance.name}, route {route.number}"


def _service(instance: Instance, plan: Itinerary, place: int) -> str:
    """Who serves a place, or that nobody does, and how many people live there."""
    at = int(plan.stop_of[place])
    if not plan.met[place]:
        about = "not covered"
    elif at < 0:
        about = "needs no cover"
    else:
        route = plan.routes[plan.route[at]]
        stop = route.names[at - route.begin]
        which = f"stop {stop}" if stop != START else "the start"
        on = f" of route {route.number}" if len(plan.routes) > 1 else ""
        name = instance.label(int(plan.places[at]))
        about = f"served by {which}{on}, {name}, {plan.distance[place]:.3f} km away"
    if instance.weight is not None:
        about += f"; {_people(instance, float(instance.weights[place]))}"
    return about


def _people(instance: Instance, weight: float) -> str:
    return f"{weighed(weight)} {weight_word(instance)}"


def _route(instance: Instance, plan: Itinerary, route: Route, points: FloatArray) -> Iterator[str]:
    name, far = _name(instance, plan, route), unit(instance)
    length = plan.length if len(plan.routes) == 1 else route.length
    about = f"{route.stops} stops, {length:.3f} {far}"
    if instance.weight is not None:
        about += f", {_people(instance, route.weight)}"
    yield f"<rte><name>{_escaped(name)}</name><desc>{_escaped(about)}</desc>"
    if np.isfinite(length):
        value = repr(float(length))
        yield f"<extensions><covertour:length>{value}</covertour:length></extensions>"
    for at, place in enumerate(route.places.tolist()):
        stop = route.names[at]
        about = f"stop {stop}, {route.running[at]:.3f} {far} from the start"
        if stop == START:
            about = START
        others = plan.served[route.begin + at].tolist()
        if others:
            about += f"; serves {', '.join(map(instance.label, others))}"
        if instance.weight is not None:
            about += f"; {_people(instance, float(plan.weight[route.begin + at]))}"
        yield _point("rtept", points[place], instance.label(place), about, place)
    if plan.returns:
        first = int(route.places[0])
        back = f"back at the start after {route.running[-1]:.3f} {far}"
        yield _point("rtept", points[first], instance.label(first), back, None)
    yield "</rte>"


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
    """The routes that covertour wrote, one after the other."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.fromstring(source.raw())
    except ElementTree.ParseError as error:
        raise InputError(f"{source}, line {error.position[0]}: not XML: {error}") from None
    except (ValueError, LookupError) as error:  # an encoding that is not known
        raise InputError(f"{source}: not XML: {error}") from None
    routes = root.findall(f"{{{GPX}}}rte")
    if not routes:
        raise InputError(f"{source}: expected a GPX file with a route (rte)")
    places: list[int] = []
    names: list[str | None] = []
    lengths: list[float | None] = []
    for number, route in enumerate(routes, start=1):
        which = f"{source}, route {number}" if len(routes) > 1 else f"{source}"
        points = route.findall(f"{{{GPX}}}rtept")
        for at, point in enumerate(points, start=1):
            text = point.findtext(f"{{{GPX}}}extensions/{{{OURS}}}place")
            if text is None and at == len(points) > 1:
                break  # the way back to the start
            if text is None or not re.fullmatch(r"\s*-?[0-9]{1,18}\s*", text):
                raise InputError(
                    f"{which}, route point {at}: expected covertour's place number, "
                    f"got {shown(text)}"
                )
            places.append(int(text))
            names.append(point.findtext(f"{{{GPX}}}name"))
        claim = route.findtext(f"{{{GPX}}}extensions/{{{OURS}}}length")
        try:
            lengths.append(None if claim is None else float(claim))
        except ValueError:
            raise InputError(f"{which}: length: expected a number, got {shown(claim)}") from None
    told = [length for length in lengths if length is not None]
    whole = sum(told) if len(told) == len(lengths) else None
    return FoundTour(places, whole, names, _as_read)
