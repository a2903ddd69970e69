"""The itinerary of a tour: stop by stop, how far it is and which places are served there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.tour import Tour, service

START = "start"
"""What a fleet's depot is called at the beginning of each route, where others have a number."""


@dataclass(frozen=True, eq=False)
class Route:
    """One route of an itinerary, from where it starts; k stops, a fleet's depot the first of them.

    ``number``: from 1 on. ``day``: from 1 on; routes are driven on one day by the vehicles there
    are, and day after day where it is not said how many. ``begin``, ``end``: its stops in the
    itinerary. ``places``, ``legs``, ``running``: int64[k], float64[k + 1] and float64[k + 1], as
    there, but for this route alone. ``names``: what each stop is called on this route: its number
    from 1 on, and "start" at the depot of a fleet. ``cost``: its length and the visit costs.
    ``weight``: what is served at its stops.
    """

    number: int
    day: int
    begin: int
    end: int
    places: IntArray
    legs: FloatArray
    running: FloatArray
    names: tuple[str, ...]
    length: float
    cost: float
    weight: float

    @property
    def stops(self) -> int:
        """How many stops it has, the depot of a fleet not counted."""
        return len(self.names) - self.names.count(START)


@dataclass(frozen=True, eq=False)
class Itinerary:
    """A tour as one drives it; m stops, n places.

    ``places``: int64[m], the stops in order. ``legs``: float64[m + 1], the way to each stop from
    the one before, 0 to the first, and last the way back, 0 where there is none (``returns``). The
    way to the depot at the start of a fleet's next route is the way back of the one before.
    ``running``: float64[m + 1], the way so far. ``route``: int64[m], each stop's route, from 0.
    ``weight``: float64[m], what is served at each stop, itself included. ``served``: for each stop
    the other places whose nearest covering stop it is, the nearest first.
    ``stop_of``: int64[n], each place's stop, counted from 0, -1 where no stop covers it.
    ``distance``: float64[n], how far away that stop is. ``met``: bool[n], whether each place's
    demand is met. ``length``: what the tour claims to be. ``routes``: the same cut into routes, one
    but for a fleet.
    """

    places: IntArray
    legs: FloatArray
    running: FloatArray
    route: IntArray
    weight: FloatArray
    returns: bool
    served: tuple[IntArray, ...]
    stop_of: IntArray
    distance: FloatArray
    met: npt.NDArray[np.bool_]
    length: float
    routes: tuple[Route, ...]

    @property
    def lacking(self) -> IntArray:
        """The places that are not served as often as they demand, int64[l], ascending."""
        return np.flatnonzero(~self.met)

    def to_list(self, instance: Instance) -> list[dict[str, Any]]:
        """The stops as plain values: names, the way to each, and whom it serves how far away.

        Routes are counted from 1, ``weight`` is what is served there in all.
        """
        return [
            {
                "stop": number,
                "place": place,
                "name": instance.label(place),
                "route": route,
                "leg": leg,
                "distance": running,
                "weight": weight,
                "visit_cost": visit_cost,
                "serves": [
                    {
                        "place": other,
                        "name": instance.label(other),
                        "distance": float(self.distance[other]),
                    }
                    for other in served.tolist()
                ],
            }
            for number, (place, route, leg, running, weight, visit_cost, served) in enumerate(
                zip(
                    self.places.tolist(),
                    (self.route + 1).tolist(),
                    self.legs.tolist()[:-1],
                    self.running.tolist()[:-1],
                    self.weight.tolist(),
                    instance.visit_costs[self.places].tolist(),
                    self.served,
                    strict=True,
                ),
                start=1,
            )
        ]


def itinerary(instance: Instance, tour: Tour) -> Itinerary:
    """What happens at each stop of a tour, whose places must exist.

    >>> line = Instance.from_coordinates([[0, 0], [1, 0], [4, 0], [5, 0]], radius=1)
    >>> plan = itinerary(line, Tour(np.array([0, 2]), 8.0))
    >>> plan.legs.tolist(), [places.tolist() for places in plan.served]
    ([0.0, 4.0, 4.0], [[1], [3]])
    """
    who = service(instance, tour)
    stops = np.asarray(tour.places, dtype=np.int64)
    legs = np.zeros(len(stops) + 1)
    legs[1:] = instance.distances(stops, np.roll(stops, -1))
    starts = np.zeros(len(stops), dtype=bool)
    if instance.fleet is not None:
        starts = stops == instance.depot
    if instance.open:
        legs[-1] = 0.0
        legs[:-1][starts] = 0.0
    others = np.setdiff1d(np.flatnonzero(who.stop >= 0), stops)
    order = others[np.lexsort((who.distance[others], who.stop[others]))]
    ends = np.searchsorted(who.stop[order], np.arange(1, len(stops)))
    met = instance.covered(stops)
    there = met & (who.stop >= 0)
    weight = np.zeros(len(stops))
    np.add.at(weight, who.stop[there], instance.weights[there])
    return Itinerary(
        places=stops,
        legs=legs,
        running=np.cumsum(legs),
        route=np.maximum(np.cumsum(starts) - 1, 0),
        weight=weight,
        returns=not instance.open,
        served=tuple(np.split(order, ends)),
        stop_of=who.stop,
        distance=who.distance,
        met=met,
        length=tour.length,
        routes=tuple(_routes(instance, stops, starts, legs, weight)),
    )


def _routes(
    instance: Instance,
    stops: IntArray,
    starts: npt.NDArray[np.bool_],
    legs: FloatArray,
    weight: FloatArray,
) -> Iterator[Route]:
    begins = [0, *np.flatnonzero(starts)[np.flatnonzero(starts) > 0].tolist()]
    one_day = instance.fleet is None or instance.fleet.vehicles is not None
    for number, (begin, end) in enumerate(
        zip(begins, [*begins[1:], len(stops)], strict=True), start=1
    ):
        places = stops[begin:end]
        own = np.concatenate([[0.0], legs[begin + 1 : end + 1]])
        from_depot = instance.fleet is not None and places[0] == instance.depot
        numbers = map(str, range(1, len(places) + (0 if from_depot else 1)))
        length = float(own.sum())
        yield Route(
            number=number,
            day=1 if one_day else number,
            begin=begin,
            end=end,
            places=places,
            legs=own,
            running=np.cumsum(own),
            names=(START, *numbers) if from_depot else tuple(numbers),
            length=length,
            cost=length + float(instance.visit_costs[places].sum()),
            weight=float(weight[begin:end].sum()),
        )
