"""GeoJSON: places as points; tours as a route line, stops in order and the places they serve."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from covertour.formats.json import load, rule_from_value, rule_to_value
from covertour.formats.places import Rows, instance_of, not_longitude_latitude
from covertour.formats.source import FoundTour, Given, Source
from covertour.formats.titles import find_columns
from covertour.formats.written import carried, place_columns
from covertour.problem import metric as metrics
from covertour.problem.coverage import Nearest, Radius, Sets
from covertour.problem.drawing import route_line
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.itinerary import START, Itinerary, Route, itinerary
from covertour.problem.metric import FloatArray
from covertour.problem.tour import Tour
from covertour.solving.result import Result, tour_of


def read(source: Source, given: Given) -> Instance:
    """An instance from point features; properties go by the same names as columns in CSV."""
    return from_value(source, load(source), given)


def from_value(source: Source, value: Any, given: Given) -> Instance:
    """An instance from the value of a GeoJSON file."""
    if given.metric in ("geo", "matrix"):
        raise InputError(
            f"{source}: GeoJSON has longitude and latitude, not the metric {given.metric!r}"
        )
    features = _features(source, value)
    if not features:
        raise InputError(f"{source}: expected point features, found none")
    _check_projection(source, value)

    def where(feature: int) -> str:
        return f"{source}, feature {feature + 1}"

    points = np.zeros((len(features), 2))
    reasons = {}
    for at, feature in enumerate(features):
        point = _point(feature)
        if isinstance(point, str):
            reasons[at] = point
        else:
            points[at] = point
    titles, cells = _cells(features)
    for role, position in find_columns(titles, str(source), without_coordinates=True).items():
        for at, feature in enumerate(features):
            held = (feature.get("properties") or {}).get(titles[position])
            if _is_nested(held):
                reasons[at] = f"{role}: expected a text or numbers, got {shown(held)}"
    words = ("property", "properties")
    rows = Rows(source, titles, cells, where, points, reasons, words)
    called = value.get("name")
    return instance_of(
        rows,
        given,
        name=called if isinstance(called, str) else None,
        rule=None if given.has_rule else rule_from_value(str(source), value.get("coverage")),
    )


def _check_projection(source: Source, value: dict[str, Any]) -> None:
    """An error where a file says, as older ones may, that it is not in longitude and latitude."""
    crs = value.get("crs")
    properties = crs.get("properties") if isinstance(crs, dict) else None
    name = properties.get("name") if isinstance(properties, dict) else None
    if isinstance(name, str) and not re.search(r"(CRS:?84|EPSG:+(\d[\d.]*:)?4326)$", name.strip()):
        code = re.search(r"EPSG:+(?:[\d.]*:)?(\d+)$", name.strip())
        known = f"EPSG:{code[1]}" if code else shown(name)
        raise InputError(f"{source}: {not_longitude_latitude(known)}")


def _features(source: Source, value: Any) -> list[dict[str, Any]]:
    """The features of a collection, or the one feature, each an object with properties."""
    if isinstance(value, dict) and value.get("type") == "Feature":
        value = {"type": "FeatureCollection", "features": [value]}
    if not isinstance(value, dict) or value.get("type") != "FeatureCollection":
        raise InputError(f"{source}: expected a GeoJSON FeatureCollection, got {shown(value)}")
    features = value.get("features")
    if not isinstance(features, list):
        raise InputError(f"{source}: features: expected a list, got {shown(features)}")
    for at, feature in enumerate(features, start=1):
        if not isinstance(feature, dict) or feature.get("type") != "Feature":
            raise InputError(f"{source}, feature {at}: expected a feature, got {shown(feature)}")
        if not isinstance(feature.get("properties") or {}, dict):
            raise InputError(f"{source}, feature {at}: properties: expected an object")
    return features


def _point(feature: dict[str, Any]) -> tuple[float, float] | str:
    """Longitude and latitude of a feature, or why it has none."""
    geometry = feature.get("geometry")
    kind = geometry.get("type") if isinstance(geometry, dict) else geometry
    place = geometry.get("coordinates") if isinstance(geometry, dict) else None
    if kind == "MultiPoint" and isinstance(place, list) and len(place) == 1:
        kind, place = "Point", place[0]
    if kind != "Point":
        return f"expected the geometry Point, got {shown(kind)}"
    if (
        not isinstance(place, list)
        or len(place) < 2
        or type(place[0]) not in (int, float)
        or type(place[1]) not in (int, float)
    ):
        return f"coordinates: expected two numbers, got {shown(place)}"
    try:
        return float(place[0]), float(place[1])
    except OverflowError:
        return "coordinates: a number is too large"


def _cells(features: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """The properties as the titles and cells of a table; empty text where one is missing."""
    properties = [feature.get("properties") or {} for feature in features]
    titles = list(dict.fromkeys(title for each in properties for title in each))
    return titles, [[_text(each.get(title)) for title in titles] for each in properties]


def _is_nested(value: Any) -> bool:
    """Whether a property has more in it than a cell of a table can hold."""
    parts = value if isinstance(value, list) else [value]
    return any(isinstance(part, list | dict) for part in parts)


def _text(value: Any) -> str:
    """A property as a cell of a table: a list becomes its members with spaces between."""
    if _is_nested(value):
        return shown(value, 1000)
    parts = value if isinstance(value, list) else [value]
    return " ".join("" if part is None else str(part) for part in parts)


def encode(instance: Instance) -> str:
    """The text of an instance in longitude and latitude; reading it gives the same one."""
    if instance.metric != "haversine":
        raise InputError(_no_globe(instance))
    assert instance.coordinates is not None
    collection: dict[str, Any] = {"type": "FeatureCollection", "name": instance.name}
    match instance.rule:
        case Nearest(int()) | Radius(float()) | Sets():
            collection["coverage"] = rule_to_value(instance.rule)
    columns = place_columns(instance, coordinates=False, one_for_all=False)
    rows = zip(*columns.values(), strict=True) if columns else ((),) * instance.n
    collection["features"] = [
        _feature(point, dict(zip(columns, row, strict=True)))
        for point, row in zip(instance.coordinates.tolist(), rows, strict=True)
    ]
    return json.dumps(collection, ensure_ascii=False) + "\n"


def _feature(place: Any, properties: dict[str, Any], kind: str = "Point") -> dict[str, Any]:
    return {
        "type": "Feature",
        "geometry": {"type": kind, "coordinates": place},
        "properties": properties,
    }


def globe(instance: Instance) -> FloatArray:
    """Longitude and latitude of the places in degrees, float64[n, 2]; an error in the plane."""
    if instance.drawn_metric not in metrics.SPHERE_KM or instance.coordinates is None:
        raise InputError(_no_globe(instance))
    if instance.drawn_metric == "haversine":
        return instance.coordinates
    latitude, longitude = metrics.radians(instance.metric, instance.coordinates)
    return np.rad2deg(np.stack([longitude, latitude], axis=1))


def _no_globe(instance: Instance) -> str:
    return (
        "the format needs longitude and latitude (metric haversine), "
        f"but the places have the metric {instance.metric!r}"
    )


def encode_outcome(instance: Instance, outcome: Result | Tour) -> str:
    """Each route as a line, the stops in order, and each other place with its stop."""
    features = outcome_features(instance, outcome)
    collection: dict[str, Any] = {"type": "FeatureCollection", "name": instance.name}
    if instance.roads is not None:
        collection |= {"attribution": instance.roads.credit, "unit": instance.roads.unit}
    return json.dumps(collection | {"features": features}, ensure_ascii=False) + "\n"


TAKEN = ("kind", "route", "day", "stop", "place", "leg", "covered", "stop_place", "distance")
"""Properties of stops and places that other columns of the file must not hide."""


def outcome_features(instance: Instance, outcome: Result | Tour) -> list[dict[str, Any]]:
    """The features of an outcome: of the kind route, lines; of the kinds stop and place, points."""
    points = globe(instance).tolist()
    plan = itinerary(instance, tour_of(outcome))
    columns = carried(instance, TAKEN)

    def other(place: int) -> dict[str, Any]:
        return {title: texts[place] for title, texts in columns.items()}

    features = []
    for route in plan.routes:
        about = _about(instance, plan, route, outcome)
        features.append(_feature(_line(instance, points, plan, route), about, "LineString"))
        features += [
            _feature(points[place], _stop(instance, plan, route, at) | other(place))
            for at, place in enumerate(route.places.tolist())
        ]
    visited = set(plan.places.tolist())
    return features + [
        _feature(points[place], _place(instance, plan, place) | other(place))
        for place in range(instance.n)
        if place not in visited
    ]


def _line(
    instance: Instance, points: list[list[float]], plan: Itinerary, route: Route
) -> list[list[float]]:
    """The line of a route, back to its start unless it is open; along the roads if there are."""
    stops = route.places.tolist()
    if instance.roads is not None and len(stops) > 1:
        return np.round(route_line(instance, route.places, plan.returns), 7).tolist()
    return [points[place] for place in (stops + stops[:1] if plan.returns else stops)]


def _about(
    instance: Instance, plan: Itinerary, route: Route, outcome: Result | Tour
) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": "route", "instance": instance.name, "stops": route.stops}
    if instance.fleet is not None:
        about |= {"route": route.number, "day": route.day}
    length = plan.length if len(plan.routes) == 1 else route.length
    if np.isfinite(length):
        about["length"] = float(length)
    if instance.visit_cost is not None:
        about["cost"] = route.cost
    if instance.weight is not None:
        about["weight"] = route.weight
    if isinstance(outcome, Result):
        about |= {"method": outcome.method, "bound": outcome.bound, "gap": outcome.gap}
    return about


def _stop(instance: Instance, plan: Itinerary, route: Route, at: int) -> dict[str, Any]:
    place = int(route.places[at])
    about: dict[str, Any] = {"kind": "stop"}
    if instance.fleet is not None:
        about |= {"route": route.number, "day": route.day}
    about |= {
        "stop": 0 if route.names[at] == START else int(route.names[at]),
        "place": place,
        "name": instance.label(place),
        "leg": float(route.legs[at]),
        "distance": float(route.running[at]),
        "covers": plan.served[route.begin + at].tolist(),
    }
    if instance.weight is not None:
        about["weight"] = float(plan.weight[route.begin + at])
    if instance.visit_cost is not None:
        about["visit_cost"] = float(instance.visit_costs[place])
    return about


def _place(instance: Instance, plan: Itinerary, place: int) -> dict[str, Any]:
    about: dict[str, Any] = {"kind": "place", "place": place, "name": instance.label(place)}
    at = int(plan.stop_of[place])
    route = plan.routes[plan.route[at]]
    stop = route.names[at - route.begin]
    covered = at >= 0
    if instance.fleet is not None:
        about["route"] = route.number if covered else None
    about |= {
        "covered": bool(plan.met[place]),
        "stop": (0 if stop == START else int(stop)) if covered else None,
        "stop_place": int(plan.places[at]) if covered else None,
        "stop_name": instance.label(int(plan.places[at])) if covered else None,
        "distance": float(plan.distance[place]) if covered else None,
    }
    if instance.weight is not None:
        about["weight"] = float(instance.weights[place])
    return about


def read_tour(source: Source) -> FoundTour:
    """A route that covertour wrote."""
    return tour_from_value(source, load(source))


def tour_from_value(source: Source, value: Any) -> FoundTour:
    """The tour in the value of a GeoJSON file; its routes follow each other."""
    stops: list[tuple[int, int, int, str | None]] = []
    lengths: list[float | None] = []
    for at, feature in enumerate(_features(source, value), start=1):
        properties = feature.get("properties") or {}
        kind = properties.get("kind")
        if kind == "route":
            length = properties.get("length")
            if length is not None and type(length) not in (int, float):
                raise InputError(f"{source}, feature {at}: length: expected a number")
            lengths.append(length)
        elif kind == "stop":
            route, number, place = (properties.get(key) for key in ("route", "stop", "place"))
            route = 1 if route is None else route
            if type(number) is not int or type(place) is not int or type(route) is not int:
                raise InputError(
                    f"{source}, feature {at}: expected whole numbers for the stop and its place"
                )
            name = properties.get("name")
            stops.append((route, number, place, name if isinstance(name, str) else None))
    if not lengths and not stops:
        raise InputError(f"{source}: expected a tour with features of the kinds route and stop")
    stops.sort(key=lambda stop: stop[:2])
    told = [length for length in lengths if length is not None]
    whole = sum(told) if told and len(told) == len(lengths) else None
    return FoundTour([stop[2] for stop in stops], whole, [stop[3] for stop in stops])
