"""Tour: the stops in order; and which stop serves each place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Tour:
    """A closed tour. ``places``: int64[m], the stops in order; ``length``: what it claims to be.

    :func:`covertour.verify` says whether it is a covering tour of an instance.
    """

    places: IntArray
    length: float

    def __len__(self) -> int:
        return len(self.places)


def make_tour(instance: Instance, places: npt.ArrayLike) -> Tour:
    """A tour of an instance with its length, turned so that it starts at the depot if there is one.

    Without a depot the tour starts at its lowest place number and, where distances are symmetric,
    runs in the direction of its lower neighbour, so that equal tours look equal.
    """
    try:
        stops = np.array(places, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"tour: expected a list of place numbers, got {shown(places)}") from None
    check_places(instance, stops)
    at_depot = np.flatnonzero(stops == (-1 if instance.depot is None else instance.depot))
    first = int(at_depot[0]) if len(at_depot) else int(np.argmin(stops))
    stops = np.roll(stops, -first)
    if instance.symmetric and len(stops) > 2 and stops[1] > stops[-1]:
        stops[1:] = stops[:0:-1].copy()
    stops.flags.writeable = False
    return Tour(stops, instance.length(stops))


def check_places(instance: Instance, stops: IntArray) -> None:
    """An error where the stops are none, or one of them is no place of the instance."""
    if stops.ndim != 1 or len(stops) == 0:
        raise InputError("tour: expected a list of at least one place")
    unknown = stops[(stops < 0) | (stops >= instance.n)]
    if len(unknown):
        raise InputError(
            f"tour: expected places 0 to {instance.n - 1}, there is no place {unknown[0]}"
        )


def same_length(claimed: float, true: float) -> bool:
    """Whether a tour that claims this length has it, to a relative 1e-6."""
    return bool(np.isclose(claimed, true, rtol=1e-6, atol=1e-9))


@dataclass(frozen=True, eq=False)
class Service:
    """Who serves whom on a tour.

    ``stop``: int64[n], for each place the index on the tour of the nearest stop that covers it (a
    stop serves itself), -1 where none does. ``distance``: float64[n], how far that stop is from the
    place, inf where there is none.
    """

    stop: IntArray
    distance: FloatArray


def service(instance: Instance, tour: Tour) -> Service:
    """The nearest covering stop of every place; ties go to the earlier stop."""
    stops = np.asarray(tour.places, dtype=np.int64)
    check_places(instance, stops)
    coverage = instance.coverage
    begin, end = coverage.covers_start[stops], coverage.covers_start[stops + 1]
    count = end - begin
    index = np.repeat(np.arange(len(stops)), count)
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    place = coverage.covers[begin[index] + offset]
    far = instance.distances(stops[index], place)
    stop = np.full(instance.n, -1, dtype=np.int64)
    distance = np.full(instance.n, np.inf)
    # The last write wins, so write from the farthest (and, among equals, latest) to the nearest.
    order = np.lexsort((-index, -far))
    stop[place[order]] = index[order]
    distance[place[order]] = far[order]
    stop[stops] = np.arange(len(stops))
    distance[stops] = 0.0
    return Service(stop, distance)
