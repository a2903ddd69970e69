"""What a client orders: the JSON body of a request, checked, as an instance and how to solve it."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from covertour import METHODS, Instance, read
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.solving.stop import (
    GapBelow,
    MaxIterations,
    MaxSeconds,
    NoImprovement,
    Stop,
    TargetLength,
)
from covertour.web.problems import Problem, of_input, wrong

STOPS = {
    "seconds": "a number of seconds",
    "iterations": "a whole number >= 0",
    "gap": "a share >= 0, such as 0.01",
    "length": "a number >= 0",
    "idle_seconds": "a number of seconds",
}
"""When to stop: the fields of ``stop`` and what each of them takes."""

ORDER = ("instance", "method", "stop", "seed", "start")

LARGEST_SEED = 2**63 - 1
MOST_ITERATIONS = 2**62

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
"""Half of a character that needs two; half a character is no text that can be written."""


@dataclass(frozen=True)
class Bounds:
    """The limits that an order is held against."""

    places: int
    seconds: float
    what: str


@dataclass(frozen=True)
class Order:
    """An instance to be solved, and how: by which method, until when, from which tour."""

    instance: Instance
    method: str
    stop: Mapping[str, float]
    seed: int
    start: tuple[int, ...] | None

    def rule(self, bounds: Bounds) -> Stop:
        """When to stop: as the client says, or else as the method does; never beyond bounds."""
        rule: Stop = MaxSeconds(min(self.stop.get("seconds", math.inf), bounds.seconds))
        for name, value in self.stop.items():
            match name:
                case "iterations":
                    rule |= MaxIterations(int(value))
                case "gap":
                    rule |= GapBelow(value)
                case "length":
                    rule |= TargetLength(value)
                case "idle_seconds":
                    rule |= NoImprovement(seconds=value)
        if not self.stop.keys() & {"seconds", "iterations", "idle_seconds"}:
            rule |= METHODS[self.method].limit(self.instance)
        return rule

    def to_dict(self) -> dict[str, Any]:
        """How to solve it, as plain values."""
        return {
            "method": self.method,
            "stop": dict(self.stop),
            "seed": self.seed,
            "start": None if self.start is None else list(self.start),
        }


def parse(body: bytes) -> dict[str, Any]:
    """The object in a JSON body."""
    try:
        text = body.decode("utf-8")
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise Problem(400, "body: not UTF-8 text", "body") from None
    except json.JSONDecodeError as error:
        raise Problem(
            400, f"body: not JSON, line {error.lineno}, column {error.colno}: {error.msg}", "body"
        ) from None
    except InputError as error:
        raise Problem(400, f"body: not JSON: {error}", "body") from None
    except (ValueError, RecursionError):
        raise Problem(400, "body: numbers too long or lists too deep", "body") from None
    if SURROGATE.search(body):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError):
            raise Problem(400, "body: text with half a character in it", "body") from None
    if not isinstance(value, dict):
        raise wrong("body", "an object {...}", value)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise InputError(f"the key {shown(double)} is given twice in one object")
    return value


def _no_number(text: str) -> float:
    raise InputError(f"{text} is not a number in JSON")


def check_fields(value: dict[str, Any], known: tuple[str, ...], inside: str = "") -> None:
    """Refuse fields that nobody asked for."""
    for field in value:
        if field not in known:
            name = f"{inside}{shown(field)[1:-1]}"
            raise Problem(
                422,
                f"{name}: no such field{did_you_mean(field, known)}",
                name,
                shown(field),
                f"one of {', '.join(known)}",
            )


def instance_in(value: dict[str, Any], bounds: Bounds, coverable: bool = True) -> Instance:
    """The instance of a request, not too large and, where asked, possible to cover."""
    if "instance" not in value:
        raise Problem(422, "instance: is missing", "instance", None, "an instance or GeoJSON")
    given = value["instance"]
    if not isinstance(given, dict):
        raise wrong("instance", "an object {...}", given)
    for field in ("coordinates", "matrix", "features"):
        if isinstance(given.get(field), list):
            check_size(len(given[field]), bounds, f"instance.{field}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            instance = read(given)
        if coverable:
            _ = instance.coverage
    except InputError as error:
        raise of_input(error, "instance") from None
    check_size(instance.n, bounds, "instance")
    return instance


def check_size(places: int, bounds: Bounds, field: str) -> None:
    """Refuse more places than this server takes."""
    if places > bounds.places:
        raise Problem(
            413,
            f"{field}: {places:,} places; {bounds.what} takes {bounds.places:,} at most",
            field,
            places,
            f"at most {bounds.places} places",
        )


def order_in(body: bytes, bounds: Bounds) -> Order:
    """What the body of a request orders."""
    value = parse(body)
    check_fields(value, ORDER)
    method = value.get("method", "lns")
    if not isinstance(method, str) or method not in METHODS:
        known = ", ".join(METHODS)
        hint = did_you_mean(method, METHODS) if isinstance(method, str) else ""
        raise Problem(
            422, f"method: no {shown(method)}{hint}", "method", shown(method), f"one of {known}"
        )
    stop = _stop_in(value.get("stop"), bounds, METHODS[method].proves)
    seed = value.get("seed", 0)
    if type(seed) is not int or not 0 <= seed <= LARGEST_SEED:
        raise wrong("seed", f"a whole number from 0 to {LARGEST_SEED}", seed)
    instance = instance_in(value, bounds)
    start = places_in(value.get("start"), "start", instance)
    if start is not None and METHODS[method].model is not None:
        raise Problem(422, f"start: {method} makes its own tour and takes none", "start")
    check_features(instance, method)
    return Order(instance, method, stop, seed, start)


def check_features(instance: Instance, method: str) -> None:
    """Refuse a method that cannot do what the instance asks for."""
    beyond = instance.features - METHODS[method].handles
    if beyond:
        what = ", ".join(sorted(beyond))
        able = [name for name, other in METHODS.items() if instance.features <= other.handles]
        raise Problem(
            422,
            f"method: {method} cannot do {what}",
            "method",
            method,
            f"one of {', '.join(able)}" if able else "no method yet",
        )


def _stop_in(value: Any, bounds: Bounds, proves: bool) -> dict[str, float]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise wrong("stop", "an object such as {'seconds': 1}", value)
    check_fields(value, tuple(STOPS), "stop.")
    found: dict[str, float] = {}
    for name, amount in value.items():
        if amount is None:
            continue
        whole = name == "iterations"
        fits = type(amount) is int or (type(amount) is float and not whole)
        if not fits or not 0 <= amount < (MOST_ITERATIONS if whole else math.inf):
            raise wrong(f"stop.{name}", STOPS[name], amount)
        found[name] = amount
    if found.get("seconds", 0) > bounds.seconds:
        raise wrong("stop.seconds", f"at most {bounds.seconds:g} seconds", found["seconds"])
    if "gap" in found and not proves:
        raise Problem(422, "stop.gap: goes with the method exact; others prove nothing", "stop.gap")
    return found


def places_in(value: Any, field: str, instance: Instance) -> tuple[int, ...] | None:
    """A list of place numbers, None where there is none."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise wrong(field, "a list of place numbers", value)
    for place in value:
        if type(place) is not int or not 0 <= place < instance.n:
            raise wrong(field, f"place numbers from 0 to {instance.n - 1}", place)
    return tuple(value)
