"""The itinerary as a table: what each row and column of it holds, for every format with cells."""

from __future__ import annotations

from typing import Any

from covertour.formats.manner import Manner
from covertour.formats.written import carried
from covertour.problem.instance import Instance
from covertour.problem.itinerary import Route, itinerary
from covertour.problem.tour import Tour
from covertour.problem.words import weight_word
from covertour.solving.result import Result, tour_of

RETURN = "return"
"""What stands in place of a stop number in the last row of a route, the way back."""

UNCOVERED = "uncovered"
"""What stands there in the rows after the routes: the places that are not served."""


def itinerary_rows(
    instance: Instance, outcome: Result | Tour, manner: Manner = Manner()
) -> list[dict[str, Any]]:
    """A dict for each row, all with the same titles; None where a cell has nothing to say.

    A row for each stop, one for the way back of each route that returns, and one for each place
    that is left out. ``route`` and ``day`` are there for a fleet; ``arrives`` and ``leaves`` where
    times are told; people (or ``weight``) and ``visit_cost`` where the instance has them; and last
    the columns of the file that mean nothing to us.
    """
    plan = itinerary(instance, tour_of(outcome))
    titles = _titles(instance, manner)
    other = carried(instance, titles)
    rows = []
    for route in plan.routes:
        hours = None if manner.times is None else manner.times.hours(instance, route)
        for at, place in enumerate(route.places.tolist()):
            served = plan.served[route.begin + at].tolist()
            cells = {
                "stop": route.names[at],
                "leg": float(route.legs[at]),
                "distance": float(route.running[at]),
                "covers": len(served),
                "covered": "; ".join(instance.label(other) for other in served),
                _weight(instance): float(plan.weight[route.begin + at]),
                "visit_cost": float(instance.visit_costs[place]),
            }
            if hours is not None:
                cells |= _stay(instance, manner, route, at, float(hours[at]))
            rows.append(_row(instance, titles, other, route, place, cells))
        if plan.returns:
            # The length of a whole tour as it is claimed, so that it reads back the same.
            whole = plan.length if len(plan.routes) == 1 else route.length
            cells = {"stop": RETURN, "leg": float(route.legs[-1]), "distance": float(whole)}
            cells |= {"covers": 0, "covered": ""}
            if hours is not None and manner.times is not None:
                cells["arrives"] = manner.times.clock(float(hours[-1]))
            rows.append(_row(instance, titles, other, route, int(route.places[0]), cells))
    for place in plan.lacking.tolist() if instance.partial else ():
        cells = {"stop": UNCOVERED, _weight(instance): float(instance.weights[place])}
        rows.append(_row(instance, titles, other, None, place, cells))
    return rows


def _titles(instance: Instance, manner: Manner) -> list[str]:
    titles = ["route", "day"] if instance.fleet is not None else []
    titles += ["stop", "place", "name", "leg", "distance"]
    if manner.times is not None:
        titles += ["arrives", "leaves"]
    titles += ["covers", "covered"]
    if instance.weight is not None:
        titles.append(_weight(instance))
    if instance.visit_cost is not None:
        titles.append("visit_cost")
    if instance.coordinates is not None:
        titles += ["latitude", "longitude"] if instance.drawn_metric == "haversine" else ["x", "y"]
    return titles


def _weight(instance: Instance) -> str:
    return weight_word(instance) if instance.weight is not None else "weight"


def _stay(
    instance: Instance, manner: Manner, route: Route, at: int, reached: float
) -> dict[str, str]:
    """When a stop is reached and left."""
    assert manner.times is not None
    stays = 0.0 if route.places[at] == instance.depot else manner.times.service_minutes / 60.0
    arrives = {"arrives": manner.times.clock(reached)} if at else {}
    return arrives | {"leaves": manner.times.clock(reached + stays)}


def _row(
    instance: Instance,
    titles: list[str],
    other: dict[str, tuple[str, ...]],
    route: Route | None,
    place: int,
    cells: dict[str, Any],
) -> dict[str, Any]:
    cells |= {"place": place, "name": instance.label(place)}
    if route is not None:
        cells |= {"route": route.number, "day": route.day}
    if instance.coordinates is not None:
        first, second = instance.coordinates[place].tolist()
        cells |= {"longitude": first, "latitude": second, "x": first, "y": second}
    row = {title: cells.get(title) for title in titles}
    return row | {title: texts[place] for title, texts in other.items()}
