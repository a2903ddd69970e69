"""covertour's JSON: instances and results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from covertour.formats.json_roads import roads_from_value, roads_to_value
from covertour.formats.source import FoundTour, Given, Source, build
from covertour.problem.coverage import Nearest, Radius, Rule, Sets
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.goals import make_fleet, make_quota
from covertour.problem.instance import Instance, make_rule
from covertour.problem.itinerary import itinerary
from covertour.problem.tour import Tour
from covertour.solving.result import Result, tour_to_dict
from covertour.version import __version__

FIELDS = (
    "name",
    "metric",
    "coordinates",
    "matrix",
    "coverage",
    "depot",
    "required",
    "forbidden",
    "labels",
    "demand",
    "weight",
    "quota",
    "budget",
    "visit_cost",
    "open",
    "end",
    "fleet",
    "roads",
    "extra",
)


def load(source: Source) -> Any:
    """The value in a JSON file."""
    return parse(source.text(), str(source))


def parse(text: str, where: str, line: int | None = None) -> Any:
    """The value of a JSON text, which stands in one ``line`` of a file or is all of it."""
    at = where if line is None else f"{where}, line {line}"
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}, line {line or error.lineno}: not JSON: {error.msg}") from None
    except InputError as error:
        raise InputError(f"{at}: not JSON: {error}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits; lists in lists in lists
        raise InputError(f"{at}: JSON with numbers too long or lists too deep") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all different; of doubles nobody could tell which is meant."""
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise InputError(f"the key {shown(double)} is given twice in one object")
    return value


def _no_number(text: str) -> NoReturn:
    raise InputError(f"{text} is not a number in JSON")


def plain(value: Any) -> Any:
    """A Python value as JSON has it: lists for tuples and arrays, plain numbers for numpy's."""
    try:
        return _plain(value)
    except RecursionError:
        raise InputError("the dict: is nested too deeply") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def read(source: Source, given: Given) -> Instance:
    """An instance from covertour JSON, or from GeoJSON where the file holds that."""
    return from_value(source, load(source), given)


def from_value(source: Source, value: Any, given: Given) -> Instance:
    """An instance from the value of a JSON file."""
    if not isinstance(value, dict):
        raise InputError(f"{source}: expected an object {{...}}, got {shown(value)}")
    if is_geojson(value):
        from covertour.formats import geojson

        return geojson.from_value(source, value, given)
    if "tour" in value:
        raise InputError(f"{source}: this is a result, expected an instance")
    for field in value:
        if field not in FIELDS:
            raise InputError(f"{source}: unknown field {shown(field)}{did_you_mean(field, FIELDS)}")
    fields = check_fields(str(source), value)
    in_file = None if given.has_rule else rule_from_value(str(source), value.get("coverage"))
    fields["rule"] = given.rule(source, in_file)
    fields.setdefault("name", source.stem)
    fields["metric"] = given.metric or fields.get("metric") or _likely_metric(source, fields)
    if given.metric not in (None, "matrix"):
        fields.pop("matrix", None)
        fields.pop("roads", None)
    if "roads" in fields:
        fields["roads"] = roads_from_value(str(source), fields["roads"], fields["rule"])
    return build(source, **fields)


def is_geojson(value: Any) -> bool:
    """Whether the value of a JSON file is GeoJSON."""
    return isinstance(value, dict) and value.get("type") in ("FeatureCollection", "Feature")


def _likely_metric(source: Source, fields: dict[str, Any]) -> str:
    if "matrix" in fields:
        return "matrix"
    if "coordinates" in fields:
        return "euclidean"
    raise InputError(f"{source}: expected the field 'coordinates' or 'matrix'")


def check_fields(where: str, value: dict[str, Any]) -> dict[str, Any]:
    """The fields of an instance other than its coverage, each of the type it must have."""
    fields = {key: item for key, item in value.items() if key != "coverage" and item is not None}
    for field in ("name", "metric"):
        if field in fields and not isinstance(fields[field], str):
            raise InputError(f"{where}: {field}: expected text, got {shown(fields[field])}")
    for field in ("coordinates", "matrix", "required", "forbidden", "labels", "weight"):
        if field in fields and not isinstance(fields[field], list):
            raise InputError(f"{where}: {field}: expected a list, got {shown(fields[field])}")
    for field in ("coordinates", "matrix"):
        for row in fields.get(field, ()):
            if not isinstance(row, list):
                raise InputError(f"{where}: {field}: expected rows [...], got {shown(row)}")
        _check_numbers(where, field, list(chain.from_iterable(fields.get(field, ()))))
    for field in ("required", "forbidden"):
        for place in fields.get(field, ()):
            _check_place(where, field, place)
    for field in ("depot", "end"):
        if field in fields:
            _check_place(where, field, fields[field])
    for field in ("demand", "weight", "visit_cost", "budget"):
        if field in fields:
            values = fields[field]
            each = isinstance(values, list) and field != "budget"
            _check_numbers(where, field, values if each else [values])
    if not isinstance(fields.get("open", False), bool):
        raise InputError(f"{where}: open: expected true or false, got {shown(fields['open'])}")
    for field, make in (("quota", make_quota), ("fleet", make_fleet)):
        if field in fields:
            if not isinstance(fields[field], dict):
                raise InputError(
                    f"{where}: {field}: expected an object, got {shown(fields[field])}"
                )
            try:
                fields[field] = make(fields[field])
            except InputError as error:
                raise InputError(f"{where}: {error}") from None
    for label in fields.get("labels", ()):
        if not isinstance(label, str):
            raise InputError(f"{where}: labels: expected texts, got {shown(label)}")
    columns = fields.get("extra", {})
    if not isinstance(columns, dict):
        raise InputError(f"{where}: extra: expected an object of columns, got {shown(columns)}")
    for title, texts in columns.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise InputError(f"{where}: extra: {shown(title)}: expected a list of texts")
    return fields


def _check_numbers(where: str, field: str, values: list[Any]) -> None:
    """An error where one of the values is not a number: numpy would take true and "1" for one."""
    if not set(map(type, values)) <= {int, float}:
        wrong = next(value for value in values if type(value) not in (int, float))
        raise InputError(f"{where}: {field}: expected numbers, got {shown(wrong)}")


def _check_place(where: str, field: str, place: Any) -> None:
    if type(place) is not int:
        raise InputError(f"{where}: {field}: expected a place number, got {shown(place)}")


def rule_from_value(where: str, value: Any) -> Rule | None:
    """The coverage rule that a JSON value describes, None for none."""
    if value is None:
        return None
    kinds = "{'nearest': ...}, {'radius': ...} or {'sets': ...}"
    if not isinstance(value, dict) or len(value) != 1:
        raise InputError(f"{where}: coverage: expected {kinds}, got {shown(value)}")
    ((kind, amount),) = value.items()
    if kind in ("nearest", "radius"):
        if not (isinstance(amount, list) or type(amount) in (int, float)):
            raise InputError(
                f"{where}: {kind}: expected a number or a list of numbers, got {shown(amount)}"
            )
        if isinstance(amount, list):
            _check_numbers(where, kind, amount)
        return make_rule(**{kind: amount})
    if kind != "sets":
        raise InputError(f"{where}: coverage: expected {kinds}, got {shown(value)}")
    if not isinstance(amount, list) or not all(isinstance(members, list) for members in amount):
        raise InputError(f"{where}: sets: expected a list of lists of place numbers")
    _check_numbers(where, "sets", list(chain.from_iterable(amount)))
    return Sets(tuple(amount))


def rule_to_value(rule: Rule) -> dict[str, Any]:
    """A coverage rule as a JSON value."""
    match rule:
        case Nearest(k):
            return {"nearest": k if isinstance(k, int) else k.tolist()}
        case Radius(r):
            return {"radius": r if isinstance(r, float) else np.asarray(r).tolist()}
        case Sets(sets):
            return {"sets": [members.tolist() for members in sets]}


def encode(instance: Instance) -> str:
    """The text of an instance; reading it gives the same one."""
    value: dict[str, Any] = {"name": instance.name, "metric": instance.metric}
    if instance.coordinates is not None:
        value["coordinates"] = instance.coordinates.tolist()
    if instance.matrix is not None:
        value["matrix"] = instance.matrix.tolist()
    value["coverage"] = rule_to_value(instance.rule)
    if instance.roads is not None:
        value["roads"] = roads_to_value(instance.roads, instance.rule, instance.n)
    value |= wishes_to_value(instance)
    return json.dumps(value, ensure_ascii=False) + "\n"


def wishes_to_value(instance: Instance) -> dict[str, Any]:
    """What is set of an instance beside its places and its coverage rule, as a JSON value."""
    value: dict[str, Any] = {}
    if instance.depot is not None:
        value["depot"] = instance.depot
    if instance.required:
        value["required"] = list(instance.required)
    if instance.forbidden:
        value["forbidden"] = list(instance.forbidden)
    if instance.labels is not None:
        value["labels"] = list(instance.labels)
    for field in ("demand", "weight", "visit_cost"):
        if getattr(instance, field) is not None:
            value[field] = getattr(instance, field).tolist()
    for field in ("quota", "fleet"):
        goal = getattr(instance, field)
        if goal is not None:
            value[field] = {key: item for key, item in asdict(goal).items() if item is not None}
    if instance.budget is not None:
        value["budget"] = instance.budget
    if instance.open:
        value["open"] = True
    if instance.end is not None:
        value["end"] = instance.end
    if instance.extra is not None:
        value["extra"] = {title: list(texts) for title, texts in instance.extra.items()}
    return value


def read_tour(source: Source) -> FoundTour:
    """The tour of a result file, of a plain list of places, or of GeoJSON."""
    value = load(source)
    if is_geojson(value):
        from covertour.formats import geojson

        return geojson.tour_from_value(source, value)
    length = stops = None
    if isinstance(value, dict):
        if "tour" not in value and "routes" not in value:
            raise InputError(f"{source}: expected a result with the field 'tour' or 'routes'")
        length, stops = value.get("length"), value.get("stops")
        value = value["tour"] if "tour" in value else _one_after_another(source, value["routes"])
    if not isinstance(value, list):
        raise InputError(f"{source}: tour: expected a list of place numbers, got {shown(value)}")
    for place in value:
        _check_place(str(source), "tour", place)
    if length is not None and type(length) not in (int, float):
        raise InputError(f"{source}: length: expected a number, got {shown(length)}")
    return FoundTour(value, length, _names(source, value, stops))


def _one_after_another(source: Source, routes: Any) -> list[Any]:
    """The tour of several routes, each from the depot on."""
    found = routes if isinstance(routes, list) else []
    tours: list[Any] = [route.get("tour") if isinstance(route, dict) else None for route in found]
    if not tours or not all(isinstance(tour, list) for tour in tours):
        raise InputError(f"{source}: routes: expected objects with the field 'tour'")
    return list(chain.from_iterable(tours))


def _names(source: Source, tour: list[int], stops: Any) -> list[str | None] | None:
    """The names of a tour's stops, where the file has them."""
    if stops is None:
        return None
    if (
        not isinstance(stops, list)
        or not all(isinstance(stop, dict) for stop in stops)
        or [stop.get("place") for stop in stops] != tour
    ):
        raise InputError(f"{source}: stops: expected one object per place of the tour, in order")
    names = [stop.get("name") for stop in stops]
    for name in names:
        if name is not None and not isinstance(name, str):
            raise InputError(f"{source}: stops: expected text for the name, got {shown(name)}")
    return names


def encode_outcome(instance: Instance, outcome: Result | Tour) -> str:
    """The text of a result; of a bare tour, what is not known is null."""
    if isinstance(outcome, Result):
        return outcome.to_json() + "\n"
    unknown = dict.fromkeys(
        ("bound", "gap", "cost_bound", "seconds", "seed", "iterations", "stopped")
    )
    value = {
        "instance": instance.name,
        "method": None,
        **tour_to_dict(instance, outcome),
        **unknown,
        "stops": itinerary(instance, outcome).to_list(instance),
        "version": __version__,
    }
    return json.dumps(value) + "\n"
