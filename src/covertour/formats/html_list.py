"""The words of the HTML map: the facts above it, and beside it the stops of each route."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

import numpy as np

from covertour.formats.manner import Manner
from covertour.plot import layout
from covertour.plot.style import ROUTES
from covertour.problem.instance import Instance
from covertour.problem.itinerary import START, Itinerary, Route
from covertour.problem.metric import FloatArray
from covertour.problem.tour import Tour
from covertour.problem.words import (
    count,
    duration,
    meaning_of_lengths,
    measure,
    measure_cover,
    rule_in_words,
    sentence,
    share_in_words,
    weighed,
    weight_word,
)
from covertour.solving.result import Result


def facts(instance: Instance, plan: Itinerary, outcome: Tour | Result, manner: Manner) -> str:
    """What the tour is in numbers: its length, stops, whom it reaches, and what is proven."""
    found = [("length", measure(instance, plan.length))]
    if instance.budget is not None:
        found.append(("budget", measure(instance, instance.budget)))
    if instance.visit_cost is not None and manner.times is None:
        found.append(("cost", measure(instance, sum(route.cost for route in plan.routes))))
    if manner.times is not None:
        times = manner.times
        hours = [float(times.hours(instance, route)[-1]) for route in plan.routes]
        found.append(("time", duration(sum(hours))))
        if len(hours) > 1:
            found.append(("longest route", duration(max(hours))))
    if instance.fleet is not None:
        found.append(("routes", f"{len(plan.routes):,}"))
    found.append(("stops", f"{sum(route.stops for route in plan.routes):,}"))
    if len(plan.lacking):
        reached = float(instance.weights[plan.met].sum())
        found.append(("covered", share_in_words(instance, reached)))
    elif instance.weight is not None:
        found.append((weight_word(instance), weighed(instance.total_weight)))
    if instance.weight is not None or len(plan.lacking) == 0:
        found.append(("places", f"{instance.n:,}"))
    if isinstance(outcome, Result):
        found.append(("method", outcome.method))
        found += _proof(instance, outcome)
    return "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in found
    )


def _proof(instance: Instance, result: Result) -> list[tuple[str, str]]:
    if instance.budget is not None:
        best, above = "no tour of this budget covers more", "at most {:.2%} more could be covered"
    elif instance.visit_cost is not None:
        best, above = "no tour costs less", "at most {:.2%} above the cheapest"
    else:
        best, above = "no tour is shorter", "at most {:.2%} above the shortest"
    if result.optimal:
        return [("proof", f"{best}, nor as much at less cost" if result.serves_most else best)]
    if result.serves_most:
        return [("proof", f"{best}; whether a cheaper one covers as much is open")]
    return [] if result.gap is None else [("gap", above.format(result.gap))]


def meaning(instance: Instance, manner: Manner) -> str:
    """What the reader has to know to understand the numbers."""
    texts = [f"{sentence(rule_in_words(instance))}. {meaning_of_lengths(instance)}"]
    if manner.times is not None:
        times = manner.times
        by_road = instance.roads is not None and instance.roads.unit == "min"
        speed = f"at {times.speed:g} {layout.speed_unit(instance)}"
        texts.append(f"Times are {'those of the roads' if by_road else speed}")
        if times.service_minutes:
            texts[-1] += f", with {times.service_minutes:g} minutes at each stop"
        texts[-1] += "."
    elif instance.visit_cost is not None:
        texts.append("The cost is the length and what each stop costs.")
    if np.any(instance.demands > 1):
        texts.append("Some places have to be covered by several stops.")
    if np.any(instance.demands == 0):
        texts.append("Some places need no cover.")
    return " ".join(texts)


def listing(instance: Instance, plan: Itinerary, at: FloatArray, manner: Manner) -> str:
    """What stands beside the map: the stops of each route, and what is left uncovered."""
    parts = [_route(instance, plan, route, at, manner) for route in plan.routes]
    return "\n".join(parts) + _left_out(instance, plan)


def _route(
    instance: Instance, plan: Itinerary, route: Route, at: FloatArray, manner: Manner
) -> str:
    colour = f"route-{(route.number - 1) % len(ROUTES)}" if len(plan.routes) > 1 else "tour"
    heading, name = "", "Stops in order"
    if len(plan.routes) > 1:
        name = f"Stops of route {route.number} in order"
        told = [measure(instance, route.length, plan.length), count(route.stops, "stop")]
        if manner.times is not None:
            told.insert(1, duration(float(manner.times.hours(instance, route)[-1])))
        if instance.weight is not None:
            told.append(f"{weighed(route.weight)} {weight_word(instance)}")
        day = f" <small>day {route.day}</small>" if plan.routes[-1].day > 1 else ""
        heading = (
            f'<h2><label><input type="checkbox" checked data-switch="{route.number - 1}">'
            f"<i></i><span>Route {route.number}{day}</span></label>"
            f'<button type="button" data-only="{route.number - 1}">only this</button>'
            f'<span class="sum">{escape(", ".join(told))}</span></h2>\n'
        )
    rows = "\n".join(
        _row(instance, plan, route, index, at, manner) for index in range(len(route.places))
    )
    return (
        f'<section class="route of-{colour}">{heading}<ol class="stops" aria-label="{name}">\n'
        f"{rows}\n</ol>\n{_closing(instance, plan, route, manner)}</section>"
    )


def _row(
    instance: Instance,
    plan: Itinerary,
    route: Route,
    index: int,
    at: FloatArray,
    manner: Manner,
) -> str:
    """A stop with the way to it from the stop before, and what it covers."""
    place = int(route.places[index])
    kind = _kind(instance, place)
    leg, total = (
        measure(instance, float(way[index]), plan.length) for way in (route.legs, route.running)
    )
    way = f"{total}<small>+ {leg}</small>" if index else START
    if manner.times is not None:
        hours = manner.times.hours(instance, route)
        way += f"<small>{manner.times.clock(float(hours[index]))}</small>"
    notes = [kind] if kind else []
    if instance.visit_cost is not None and manner.times is None and instance.visit_costs[place]:
        notes.append(f"costs {measure(instance, float(instance.visit_costs[place]), plan.length)}")
    note = f' <span class="kind">{", ".join(notes)}</span>' if notes else ""
    number = "" if route.names[index] == START else route.names[index]
    again = route.names[index] == START and route.number > 1  # its places are with the first
    covers = "" if again else _covered(instance, plan, route.begin + index)
    return (
        f'<li class="stop" tabindex="0" data-stop="{route.begin + index}">'
        f'<span class="badge {kind}">{number}</span>'
        f'<span class="name">{escape(name_of(instance, place))}{note}</span>'
        f'<span class="way">{way}</span>{covers}'
        f"{_navigation(instance, place, at)}</li>"
    )


def _navigation(instance: Instance, place: int, at: FloatArray) -> str:
    """A link that phones open in their map; nothing is asked for until it is pressed."""
    if not layout.is_geographic(instance):
        return ""
    east, north = ((at[place, 0] + 180.0) % 360.0 - 180.0, at[place, 1])
    here = f"{north:.6f},{east:.6f}"
    name = escape(quote(name_of(instance, place), safe=""))
    return (
        f'<a class="go" href="geo:{here}?q={here}({name})" data-lat="{north:.6f}" '
        f'data-lon="{east:.6f}" rel="noreferrer" title="Navigate there">'
        "<span>navigate</span></a>"
    )


def _covered(instance: Instance, plan: Itinerary, index: int) -> str:
    places = plan.served[index].tolist()
    people = ""
    if instance.weight is not None:
        people = f"{weighed(float(plan.weight[index]))} {weight_word(instance)}, "
    if not places:
        what = f"{people}no other place" if people else "covers no other place"
        return f'<span class="alone">{escape(what)}</span>'
    items = "".join(
        f'<li data-place="{place}">{escape(_with_people(instance, place))}, '
        f"{measure_cover(instance, float(plan.distance[place]), plan.length)}</li>"
        for place in places
    )
    what = f"{people or 'covers '}{count(len(places), 'other place')}"
    return f"<details><summary>{escape(what)}</summary><ul>{items}</ul></details>"


def _with_people(instance: Instance, place: int) -> str:
    name = name_of(instance, place)
    if instance.weight is None:
        return name
    return f"{name} ({weighed(float(instance.weights[place]))})"


def _closing(instance: Instance, plan: Itinerary, route: Route, manner: Manner) -> str:
    """What follows a route: the way back, if there is one, and its length."""
    if len(route.places) < 2:
        return ""
    back = "ends here"
    if plan.returns:
        back = (
            f"back to {name_of(instance, int(route.places[0]))}, "
            f"+ {measure(instance, float(route.legs[-1]), plan.length)}"
        )
    if manner.times is not None:
        hours = float(manner.times.hours(instance, route)[-1])
        back += f", {manner.times.clock(hours)}"
    whole = plan.length if len(plan.routes) == 1 else route.length
    return (
        f'<p class="closing"><span>{escape(back)}</span>'
        f"<b>{measure(instance, whole, plan.length)}</b></p>"
    )


def _left_out(instance: Instance, plan: Itinerary) -> str:
    """The places that are not served, the largest first: a warning, unless that is allowed."""
    lacking = plan.lacking
    if len(lacking) == 0:
        return ""
    if not instance.partial:
        return f'\n<p class="warning">Not covered: {escape(instance.describe(lacking))}</p>'
    weights = instance.weights[lacking]
    items = "\n".join(
        f'<li class="lost" tabindex="0" data-place="{place}">'
        f'<span class="name">{escape(name_of(instance, place))}</span>'
        f"<span>{_why(instance, plan, place)}</span></li>"
        for place in lacking[np.argsort(-weights, kind="stable")].tolist()
    )
    told = count(len(lacking), "place")
    if instance.weight is not None:
        told += f", {weighed(float(weights.sum()))} {weight_word(instance)}"
    return (
        '\n<section class="left-out"><details open><summary>Not covered: '
        f'{escape(told)}</summary>\n<ul class="lost-list">\n{items}\n</ul></details></section>'
    )


def _why(instance: Instance, plan: Itinerary, place: int) -> str:
    """What is to be said of a place that is left out: its people, and what it lacks."""
    told = [] if instance.weight is None else [weighed(float(instance.weights[place]))]
    if plan.stop_of[place] >= 0:
        told.append(f"needs {instance.demands[place]} stops")
    return ", ".join(told)


def name_of(instance: Instance, place: int) -> str:
    """What a place is called on the map."""
    return instance.label(place) if instance.labels is not None else f"place {place}"


def _kind(instance: Instance, place: int) -> str:
    if place == instance.depot:
        return "depot"
    if place == instance.end:
        return "end"
    return "required" if place in instance.required else ""
