"""covertour's JSON: instances and results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from covertour.formats.source import build, choose_rule, read_text
from covertour.problem.coverage import Nearest, Radius, Rule, Sets
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance, make_rule
from covertour.problem.tour import Tour
from covertour.solving.result import Result
from covertour.storage import write_text
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
)


def load(path: Path) -> Any:
    """The value in a JSON file."""
    return parse(read_text(path), lambda line: f"{path}, line {line}")


def parse(text: str, where: Callable[[int], str]) -> Any:
    """The value of a JSON text; an error tells where, given the line in the text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where(error.lineno)}: not JSON: {error.msg}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits; lists in lists in lists
        raise InputError(f"{where(1)}: JSON with numbers too long or lists too deep") from None


def read(
    path: Path,
    *,
    nearest: int | Sequence[int] | None,
    radius: float | Sequence[float] | None,
    metric: str | None,
) -> Instance:
    """An instance from covertour JSON, or from GeoJSON where the file holds that."""
    value = load(path)
    if not isinstance(value, dict):
        raise InputError(f"{path}: expected an object {{...}}, got {shown(value)}")
    if value.get("type") in ("FeatureCollection", "Feature"):
        from covertour.formats import geojson

        return geojson.from_value(path, value, nearest=nearest, radius=radius, metric=metric)
    if "tour" in value:
        raise InputError(f"{path}: this is a result, expected an instance")
    for field in value:
        if field not in FIELDS:
            raise InputError(f"{path}: unknown field {shown(field)}; known: {', '.join(FIELDS)}")
    fields = check_fields(str(path), value)
    overridden = nearest is not None or radius is not None
    in_file = None if overridden else rule_from_value(str(path), value.get("coverage"))
    fields["rule"] = choose_rule(path, in_file, nearest, radius)
    fields.setdefault("name", path.stem)
    fields["metric"] = metric or fields.get("metric") or _likely_metric(path, fields)
    if metric not in (None, "matrix"):
        fields.pop("matrix", None)
    return build(path, **fields)


def _likely_metric(path: Path, fields: dict[str, Any]) -> str:
    if "matrix" in fields:
        return "matrix"
    if "coordinates" in fields:
        return "euclidean"
    raise InputError(f"{path}: expected the field 'coordinates' or 'matrix'")


def check_fields(where: str, value: dict[str, Any]) -> dict[str, Any]:
    """The fields of an instance other than its coverage, each of the type it must have."""
    fields = {key: item for key, item in value.items() if key != "coverage" and item is not None}
    for field in ("name", "metric"):
        if field in fields and not isinstance(fields[field], str):
            raise InputError(f"{where}: {field}: expected text, got {shown(fields[field])}")
    for field in ("coordinates", "matrix", "required", "forbidden", "labels"):
        if field in fields and not isinstance(fields[field], list):
            raise InputError(f"{where}: {field}: expected a list, got {shown(fields[field])}")
    for field in ("required", "forbidden"):
        for place in fields.get(field, ()):
            _check_place(where, field, place)
    if "depot" in fields:
        _check_place(where, "depot", fields["depot"])
    for label in fields.get("labels", ()):
        if not isinstance(label, str):
            raise InputError(f"{where}: labels: expected texts, got {shown(label)}")
    return fields


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
        return make_rule(**{kind: amount})
    if kind != "sets":
        raise InputError(f"{where}: coverage: expected {kinds}, got {shown(value)}")
    if not isinstance(amount, list) or not all(isinstance(members, list) for members in amount):
        raise InputError(f"{where}: sets: expected a list of lists of place numbers")
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


def write(path: Path, instance: Instance) -> None:
    """Write an instance; reading it gives the same one."""
    value: dict[str, Any] = {"name": instance.name, "metric": instance.metric}
    if instance.coordinates is not None:
        value["coordinates"] = instance.coordinates.tolist()
    if instance.matrix is not None:
        value["matrix"] = instance.matrix.tolist()
    value["coverage"] = rule_to_value(instance.rule)
    value |= wishes_to_value(instance)
    write_text(path, json.dumps(value, ensure_ascii=False) + "\n")


def wishes_to_value(instance: Instance) -> dict[str, Any]:
    """What is set of depot, required, forbidden and labels, as a JSON value."""
    value: dict[str, Any] = {}
    if instance.depot is not None:
        value["depot"] = instance.depot
    if instance.required:
        value["required"] = list(instance.required)
    if instance.forbidden:
        value["forbidden"] = list(instance.forbidden)
    if instance.labels is not None:
        value["labels"] = list(instance.labels)
    return value


def read_tour(path: Path) -> tuple[Sequence[int], float | None]:
    """The places and the claimed length of a result file, or of a plain list of places."""
    value = load(path)
    length = None
    if isinstance(value, dict):
        if "tour" not in value:
            raise InputError(f"{path}: expected a result with the field 'tour'")
        length = value.get("length")
        value = value["tour"]
    if not isinstance(value, list):
        raise InputError(f"{path}: tour: expected a list of place numbers, got {shown(value)}")
    for place in value:
        _check_place(str(path), "tour", place)
    if length is not None and type(length) not in (int, float):
        raise InputError(f"{path}: length: expected a number, got {shown(length)}")
    return value, length


def write_outcome(path: Path, instance: Instance, outcome: Result | Tour) -> None:
    """Write a result; of a bare tour, what is not known is null."""
    if isinstance(outcome, Result):
        text = outcome.to_json()
    else:
        unknown = dict.fromkeys(("bound", "gap", "seconds", "seed", "iterations", "stopped"))
        text = json.dumps(
            {
                "instance": instance.name,
                "method": None,
                "tour": outcome.places.tolist(),
                "length": outcome.length if np.isfinite(outcome.length) else None,
                **unknown,
                "version": __version__,
            }
        )
    write_text(path, text + "\n")
