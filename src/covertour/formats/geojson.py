"""GeoJSON: places as points; tours as a route line, stops in order and the places they serve."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from covertour.formats import table
from covertour.formats.json import load, rule_from_value, rule_to_value
from covertour.formats.source import FoundTour, Given, Source, build
from covertour.problem import metric as metrics
from covertour.problem.coverage import Nearest, Radius, Sets
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.itinerary import itinerary
from covertour.problem.metric import FloatArray
from covertour.problem.tour import Tour
from covertour.solving.result import Result, tour_of


def read(source: Source, given: Given) -> Instance:
    """An instance from point features; properties go by the same names as columns in CSV."""
    return from_value(source, load(source), given)


def from_value(source: Source, value: Any, given: Given) -> Instance:
    """An instance from the value of a GeoJSON file."""
    metric = given.metric or "haversine"
    if metric in ("geo", "matrix"):
        raise InputError(f"{source}: GeoJSON has longitude and latitude, not the metric {metric!r}")
    features = _features(source, value)
    if not features:
        raise InputError(f"{source}: expected point features, found none")

    def where(feature: int) -> str:
        return f"{source}, feature {feature + 1}"

    points = np.array([_point(feature, at, where) for at, feature in enumerate(features)])
    table.check_coordinates(points, metric, where)
    columns = _columns(source, features, given, where)
    in_file = None
    if not given.has_rule:
        in_file = rule_from_value(str(source), value.get("coverage")) or table.rule(columns, where)
    name = value.get("name")
    return build(
        source,
        metric=metric,
        coordinates=points,
        name=name if isinstance(name, str) else source.stem,
        rule=given.rule(source, in_file),
        **table.wishes(columns, where),
    )


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


def _point(feature: dict[str, Any], at: int, where: table.Where) -> tuple[float, float]:
    geometry = feature.get("geometry")
    if not isinstance(geometry, dict) or geometry.get("type") != "Point":
        kind = geometry.get("type") if isinstance(geometry, dict) else geometry
        raise InputError(f"{where(at)}: expected the geometry Point, got {shown(kind)}")
    place = geometry.get("coordinates")
    if (
        not isinstance(place, list)
        or len(place) < 2
        or type(place[0]) not in (int, float)
        or type(place[1]) not in (int, float)
    ):
        raise InputError(f"{where(at)}: coordinates: expected two numbers, got {shown(place)}")
    try:
        return float(place[0]), float(place[1])
    except OverflowError:
        raise InputError(f"{where(at)}: coordinates: a number is too large") from None


def _columns(
    source: Source, features: list[dict[str, Any]], given: Given, where: table.Where
) -> dict[str, list[str]]:
    """The properties as columns of text, by what they hold; empty text where one is missing."""
    properties = [feature.get("properties") or {} for feature in features]
    titles = list(dict.fromkeys(title for each in properties for title in each))
    at = table.find_columns(titles, str(source))
    table.tell_of_unused(titles, str(source), given.note, "property", "properties")
    return {
        role: [
            _text(each.get(titles[position]), role, row, where)
            for row, each in enumerate(properties)
        ]
        for role, position in at.items()
        if role not in ("x", "y", "latitude", "longitude", "metric")
    }


def _text(value: Any, role: str, row: int, where: table.Where) -> str:
    """A property as a cell of a table: a list becomes its members with spaces between."""
    parts = value if isinstance(value, list) else [value]
    if any(isinstance(part, list | dict) for part in parts):
        raise InputError(f"{where(row)}: {role}: expected a text or numbers, got {shown(value)}")
    return " ".join("" if part is None else str(part) for part in parts)


def encode(instance: Instance) -> str:
    """The text of an instance in longitude and latitude; reading it gives the same one."""
    if instance.metric != "haversine":
        raise InputError(_no_globe(instance))
    assert instance.coordinates is not None
    collection: dict[str, Any] = {"type": "FeatureCollection", "name": instance.name}
    columns: dict[str, Sequence[Any]] = {}
    if instance.labels is not None:
        columns["name"] = instance.labels
    match instance.rule:
        case Nearest(k) if not isinstance(k, int):
            columns["nearest"] = k.tolist()
        case Radius(r) if not isinstance(r, float):
            columns["radius"] = r.tolist()
        case Nearest() | Radius() | Sets():
            collection["coverage"] = rule_to_value(instance.rule)
    depot = () if instance.depot is None else (instance.depot,)
    for what, places in (
        ("required", instance.required),
        ("forbidden", instance.forbidden),
        ("depot", depot),
    ):
        if places:
            chosen = set(places)
            columns[what] = [place in chosen for place in range(instance.n)]
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
    if instance.metric not in metrics.SPHERE_KM or instance.coordinates is None:
        raise InputError(_no_globe(instance))
    if instance.metric == "haversine":
        return instance.coordinates
    latitude, longitude = metrics.radians(instance.metric, instance.coordinates)
    return np.rad2deg(np.stack([longitude, latitude], axis=1))


def _no_globe(instance: Instance) -> str:
    return (
        "the format needs longitude and latitude (metric haversine), "
        f"but the places have the metric {instance.metric!r}"
    )


def encode_outcome(instance: Instance, outcome: Result | Tour) -> str:
    """The route as a line, the stops in order, and each other place with its stop."""
    points = globe(instance).tolist()
    plan = itinerary(instance, tour_of(outcome))
    stops = plan.places.tolist()
    route: dict[str, Any] = {"kind": "route", "instance": instance.name, "stops": len(stops)}
    if np.isfinite(plan.length):
        route["length"] = float(plan.length)
    if isinstance(outcome, Result):
        route |= {"method": outcome.method, "bound": outcome.bound, "gap": outcome.gap}
    line = [points[place] for place in [*stops, stops[0]]]
    features = [_feature(line, route, "LineString")]
    for at, place in enumerate(stops):
        properties = {
            "kind": "stop",
            "stop": at + 1,
            "place": place,
            "name": instance.label(place),
            "leg": float(plan.legs[at]),
            "distance": float(plan.running[at]),
            "covers": plan.served[at].tolist(),
        }
        features.append(_feature(points[place], properties))
    visited = set(stops)
    for place, (at, distance) in enumerate(
        zip(plan.stop_of.tolist(), plan.distance.tolist(), strict=True)
    ):
        if place in visited:
            continue
        properties = {"kind": "place", "place": place, "name": instance.label(place)}
        covered = at >= 0
        properties |= {
            "stop": at + 1 if covered else None,
            "stop_place": stops[at] if covered else None,
            "stop_name": instance.label(stops[at]) if covered else None,
            "distance": distance if covered else None,
        }
        features.append(_feature(points[place], properties))
    collection = {"type": "FeatureCollection", "name": instance.name, "features": features}
    return json.dumps(collection, ensure_ascii=False) + "\n"


def read_tour(source: Source) -> FoundTour:
    """A route that covertour wrote."""
    return tour_from_value(source, load(source))


def tour_from_value(source: Source, value: Any) -> FoundTour:
    """The tour in the value of a GeoJSON file."""
    stops: list[tuple[int, int, str | None]] = []
    length = None
    routes = 0
    for at, feature in enumerate(_features(source, value), start=1):
        properties = feature.get("properties") or {}
        kind = properties.get("kind")
        if kind == "route":
            routes += 1
            length = properties.get("length")
            if length is not None and type(length) not in (int, float):
                raise InputError(f"{source}, feature {at}: length: expected a number")
        elif kind == "stop":
            number, place = properties.get("stop"), properties.get("place")
            if type(number) is not int or type(place) is not int:
                raise InputError(
                    f"{source}, feature {at}: expected whole numbers for the stop and its place"
                )
            name = properties.get("name")
            stops.append((number, place, name if isinstance(name, str) else None))
    if routes != 1 and not stops:
        raise InputError(f"{source}: expected a tour with features of the kinds route and stop")
    stops.sort(key=lambda stop: stop[0])
    return FoundTour([place for _, place, _ in stops], length, [name for _, _, name in stops])
