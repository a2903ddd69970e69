"""The itinerary of a tour: stop by stop, how far it is and which places are served there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.tour import Tour, service


@dataclass(frozen=True, eq=False)
class Itinerary:
    """A tour as one drives it; m stops, n places.

    ``places``: int64[m], the stops in order. ``legs``: float64[m + 1], the way to each stop from
    the one before, 0 to the first, and last the way back. ``running``: float64[m + 1], the way so
    far. ``served``: for each stop the other places whose nearest covering stop it is, the nearest
    first. ``stop_of``: int64[n], each place's stop, counted from 0, -1 where no stop covers it.
    ``distance``: float64[n], how far away that stop is. ``length``: what the tour claims to be.
    """

    places: IntArray
    legs: FloatArray
    running: FloatArray
    served: tuple[IntArray, ...]
    stop_of: IntArray
    distance: FloatArray
    length: float

    def to_list(self, instance: Instance) -> list[dict[str, Any]]:
        """The stops as plain values: names, the way to each, and whom it serves how far away."""
        return [
            {
                "stop": number,
                "place": place,
                "name": instance.label(place),
                "leg": leg,
                "distance": running,
                "serves": [
                    {
                        "place": other,
                        "name": instance.label(other),
                        "distance": float(self.distance[other]),
                    }
                    for other in served.tolist()
                ],
            }
            for number, (place, leg, running, served) in enumerate(
                zip(
                    self.places.tolist(),
                    self.legs.tolist()[:-1],
                    self.running.tolist()[:-1],
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
    others = np.setdiff1d(np.flatnonzero(who.stop >= 0), stops)
    order = others[np.lexsort((who.distance[others], who.stop[others]))]
    ends = np.searchsorted(who.stop[order], np.arange(1, len(stops)))
    return Itinerary(
        places=stops,
        legs=legs,
        running=np.cumsum(legs),
        served=tuple(np.split(order, ends)),
        stop_of=who.stop,
        distance=who.distance,
        length=tour.length,
    )
