"""The work that the server's processes do: accept an order, solve it, check, convert and read."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from covertour import Instance, Progress, Tour, make_tour, read, solve, verify, write
from covertour.formats import INSTANCE_ENDINGS, OUTCOME_ENDINGS, PICTURE_ENDINGS
from covertour.formats.source import NoRule
from covertour.problem.errors import InputError, shown
from covertour.problem.metric import METRICS, IntArray
from covertour.problem.oddities import oddities
from covertour.web.orders import (
    Bounds,
    Order,
    check_fields,
    check_size,
    instance_in,
    order_in,
    parse,
    places_in,
)
from covertour.web.problems import Problem, of_input, wrong

Tell = Callable[[dict[str, Any]], None]
"""Called with news of a solve: improvements and bounds."""

Answer = tuple[dict[str, Any], bytes]

TELL_EVERY = 0.04
"""Seconds between two improvements that are told of; an eye sees no more."""

MOST_NOTES = 20
LONGEST_NAME = 200


def perform(
    header: dict[str, Any], content: bytes, tell: Tell, stopped: Callable[[], bool]
) -> Answer:
    """Do the task that a message asks for; a :class:`Problem` is raised where it cannot be done.

    ``tell`` is called with the improvements and bounds of a solve, which ends when ``stopped``.
    """
    bounds = Bounds(**header["bounds"]) if "bounds" in header else Bounds(0, 0.0, "")
    try:
        match header["task"]:
            case "accept":
                return _accept(content, bounds)
            case "solve":
                return _solve(order_in(content, bounds), bounds, tell, stopped)
            case "run":
                return _run(header, content, bounds, tell, stopped)
            case "check":
                return _check(content, bounds)
            case "convert":
                return _convert(content, bounds)
            case "convert file":
                return _convert_file(header, content, bounds)
            case "read":
                return _read_file(header, content, bounds)
    except InputError as error:
        raise of_input(error, "") from None
    except MemoryError:
        raise Problem(413, "needs more memory than this server gives to a request") from None
    except (UnicodeError, RecursionError, OverflowError) as error:
        raise Problem(422, f"cannot be read: {type(error).__name__}") from None
    raise ValueError(f"no task {header['task']!r}")


def _accept(content: bytes, bounds: Bounds) -> Answer:
    """The order in a body, and its instance as covertour's JSON writes it."""
    order = order_in(content, bounds)
    return {**order.to_dict(), **_facts(order.instance)}, encoded(order.instance)


def _facts(instance: Instance) -> dict[str, Any]:
    return {"name": instance.name, "places": instance.n}


def encoded(instance: Instance, outcome: Tour | None = None, format: str = "json") -> bytes:
    """An instance or a tour of it in a format."""
    stream = io.BytesIO()
    write(stream, instance, outcome, format=format)
    return stream.getvalue()


def _run(
    header: dict[str, Any],
    content: bytes,
    bounds: Bounds,
    tell: Tell,
    stopped: Callable[[], bool],
) -> Answer:
    """Solve an order that was accepted before."""
    order = header["order"]
    start = None if order["start"] is None else tuple(order["start"])
    instance = read(io.BytesIO(content))
    return _solve(
        Order(instance, order["method"], order["stop"], order["seed"], start),
        bounds,
        tell,
        stopped,
    )


def _solve(order: Order, bounds: Bounds, tell: Tell, stopped: Callable[[], bool]) -> Answer:
    """The result of an order, as JSON; improvements and bounds are told of on the way."""
    told_at = -math.inf
    waiting: dict[str, Any] | None = None
    trace: list[tuple[float, float]] = []
    bound: float | None = None

    def flush() -> None:
        nonlocal waiting
        if waiting is not None:
            tell(waiting | {"trace": trace.copy()})
            trace.clear()
            waiting = None

    def on_improve(seconds: float, cost: float, places: IntArray) -> None:
        nonlocal told_at, waiting
        trace.append((round(seconds, 6), cost))
        waiting = {
            "event": "improvement",
            "seconds": round(seconds, 6),
            "cost": cost,
            "stops": places.tolist(),
        }
        if seconds - told_at >= TELL_EVERY:
            told_at = seconds
            flush()
        if stopped():
            raise KeyboardInterrupt

    def on_progress(progress: Progress) -> None:
        nonlocal bound
        flush()
        if progress.bound is not None and progress.bound != bound:
            bound = progress.bound
            tell(
                {
                    "event": "bound",
                    "seconds": round(progress.seconds, 6),
                    "bound": progress.bound,
                    "gap": progress.gap,
                }
            )
        if stopped():
            raise KeyboardInterrupt

    result = solve(
        order.instance,
        order.method,
        stop=order.rule(bounds),
        seed=order.seed,
        start=order.start,
        on_improve=on_improve,
        on_progress=on_progress,
    )
    flush()
    value = result.to_dict()
    return {"trace": [[round(at, 6), cost] for at, cost in result.trace]}, _json(value)


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False).encode()


def _check(content: bytes, bounds: Bounds) -> Answer:
    """What the referee says about a tour."""
    value = parse(content)
    check_fields(value, ("instance", "tour", "length"))
    instance = instance_in(value, bounds)
    stops = _tour_in(value)
    claimed = value.get("length")
    if claimed is not None and not (type(claimed) in (int, float) and 0 <= claimed < math.inf):
        raise wrong("length", "a number >= 0", claimed)
    verdict = verify(instance, Tour(stops, math.nan if claimed is None else float(claimed)))
    found = {
        "ok": verdict.ok,
        "stops": verdict.stops,
        "length": verdict.length if math.isfinite(verdict.length) else None,
        "cost": verdict.cost if math.isfinite(verdict.cost) else None,
        "claimed": verdict.claimed,
        "routes": verdict.routes,
        "covered_weight": verdict.covered_weight,
        "problems": verdict.problems(instance),
        "uncovered": list(verdict.uncovered),
    }
    return {}, _json(found)


def _tour_in(value: dict[str, Any]) -> IntArray:
    """The tour to be checked, which may be wrong in any way that whole numbers can."""
    tour = value.get("tour")
    if not isinstance(tour, list):
        raise wrong("tour", "a list of place numbers", tour)
    for place in tour:
        if type(place) is not int or not abs(place) < 2**62:
            raise wrong("tour", "place numbers", place)
    return np.array(tour, dtype=np.int64)


def _convert(content: bytes, bounds: Bounds) -> Answer:
    """An instance, or a tour of it, in another format."""
    value = parse(content)
    check_fields(value, ("instance", "tour", "to"))
    tour = value.get("tour")
    to = format_in(value.get("to", "json"), tour is not None)
    instance = instance_in(value, bounds, coverable=tour is not None)
    stops = places_in(tour, "tour", instance)
    if stops is None:
        return {"format": to}, encoded(instance, None, to)
    return {"format": to}, encoded(instance, make_tour(instance, list(stops)), to)


def format_in(to: Any, outcome: bool) -> str:
    """The format to write, such as ``gpx``."""
    endings = OUTCOME_ENDINGS if outcome else INSTANCE_ENDINGS + PICTURE_ENDINGS
    known = [ending.removeprefix(".") for ending in endings]
    if not isinstance(to, str) or to not in known:
        raise wrong("to", f"one of {', '.join(known)}", to)
    return to


def _convert_file(header: dict[str, Any], content: bytes, bounds: Bounds) -> Answer:
    """A file in another format."""
    to = format_in(header["to"], False)
    instance, _ = _opened(header, content, bounds)
    return {"format": to}, encoded(instance, None, to)


def _read_file(header: dict[str, Any], content: bytes, bounds: Bounds) -> Answer:
    """The places of a file; its coverage rule is null where it has none."""
    notes: list[str] = []
    try:
        instance, notes = _opened(header, content, bounds)
        rule = True
    except NoRule:
        instance, notes = _opened(header | {"radius": 0.0}, content, bounds)
        rule = False
    value = json.loads(encoded(instance))
    if not rule:
        value["coverage"] = None
    notes += [f"warning: {odd.message}" for odd in oddities(instance)]
    found = {"instance": value, "notes": notes[:MOST_NOTES]}
    return {}, json.dumps(found).encode()


def _opened(header: dict[str, Any], content: bytes, bounds: Bounds) -> tuple[Instance, list[str]]:
    """The instance in a file, and what was noted about it; only the end of its name is used."""
    metric = header.get("metric")
    if metric is not None and metric not in METRICS:
        raise wrong("metric", f"one of {', '.join(METRICS)}", metric)
    stream = io.BytesIO(content)
    # Whatever stands before the last slash, of either kind, is no business of the server's.
    name = header["name"].replace("\\", "/").rsplit("/", 1)[-1][-LONGEST_NAME:]
    stream.name = "".join(letter for letter in name if letter.isprintable()) or "places"
    notes: list[str] = []
    try:
        instance = read(
            stream,
            nearest=header.get("nearest"),
            radius=header.get("radius"),
            metric=metric,
            on_note=notes.append,
        )
    except NoRule:
        raise
    except InputError as error:
        raise Problem(422, " ".join(str(error).split()), "body") from None
    except (MemoryError, UnicodeError, RecursionError):
        raise
    except Exception as error:  # a reader that met what its author did not think of
        why = type(error).__name__
        raise Problem(422, f"{shown(stream.name)}: cannot be read ({why})", "body") from None
    check_size(instance.n, bounds, "body")
    return instance, notes
