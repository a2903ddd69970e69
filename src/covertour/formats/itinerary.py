"""The itinerary of a tour: stop by stop, how far it is and which places are served there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.tour import Tour, service
from covertour.solving.result import Result


@dataclass(frozen=True, eq=False)
class Itinerary:
    """A tour as one drives it; m stops, n places.

    ``places``: int64[m], the stops in order. ``legs``: float64[m + 1], the way to each stop from
    the one before, 0 to the first, and last the way back. ``running``: float64[m + 1], the way so
    far. ``served``: for each stop the other places whose nearest covering stop it is, ascending.
    ``stop_of``: int64[n], each place's stop, counted from 0, -1 where no stop covers it.
    ``distance``: float64[n], how far away that stop is.
    """

    places: IntArray
    legs: FloatArray
    running: FloatArray
    served: tuple[IntArray, ...]
    stop_of: IntArray
    distance: FloatArray
    length: float


def tour_of(outcome: Result | Tour) -> Tour:
    """The tour of an outcome."""
    return outcome.tour if isinstance(outcome, Result) else outcome


def itinerary(instance: Instance, outcome: Result | Tour) -> Itinerary:
    """What happens at each stop of a tour, whose places must exist."""
    tour = tour_of(outcome)
    check_places(instance, tour)
    stops = np.asarray(tour.places, dtype=np.int64)
    legs = np.zeros(len(stops) + 1)
    legs[1:] = instance.distances(stops, np.roll(stops, -1))
    who = service(instance, tour)
    others = np.setdiff1d(np.flatnonzero(who.stop >= 0), stops)
    order = others[np.argsort(who.stop[others], kind="stable")]
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


def check_places(instance: Instance, tour: Tour) -> None:
    """An error where a tour is empty or has a place that the instance has not."""
    stops = np.asarray(tour.places)
    if len(stops) == 0:
        raise InputError("tour: it has no stop, so there is nothing to write")
    unknown = stops[(stops < 0) | (stops >= instance.n)]
    if len(unknown):
        raise InputError(
            f"tour: place {unknown[0]} does not exist, there are 0 to {instance.n - 1}"
        )
