"""Tour: the stops in order; and which stop serves each place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Tour:
    """A tour. ``places``: int64[m], the stops in order; ``length``: what it claims to be.

    The routes of a fleet follow each other, the depot at the start of each; see :func:`routes_of`.

    :func:`covertour.verify` says whether it is a covering tour of an instance.
    """

    places: IntArray
    length: float

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Come back from a pickle, read-only again."""
        self.__dict__.update(state)
        self.places.flags.writeable = False

    def __len__(self) -> int:
        return len(self.places)


def make_tour(instance: Instance, places: npt.ArrayLike) -> Tour:
    """A tour of an instance with its length, turned so that it starts at the depot if there is one.

    Without a depot the tour starts at its lowest place number and, where distances are symmetric,
    runs in the direction of its lower neighbour, so that equal tours look equal. An open tour keeps
    its ends. The routes of a fleet follow each other, each from the depot on.

    >>> square = Instance.from_coordinates([[0, 0], [0, 1], [1, 1], [1, 0]], nearest=0, depot=2)
    >>> tour = make_tour(square, [0, 1, 2, 3])
    >>> tour.places.tolist(), tour.length
    ([2, 1, 0, 3], 4.0)
    """
    try:
        stops = np.array(places, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"tour: expected a list of place numbers, got {shown(places)}") from None
    check_places(instance, stops)
    if instance.fleet is not None:
        stops = _ordered_routes(instance, stops)
    elif instance.open:
        fixed_ends = instance.depot is not None or instance.end is not None
        if not fixed_ends and instance.symmetric and stops[0] > stops[-1]:
            stops = stops[::-1].copy()
    else:
        at_depot = np.flatnonzero(stops == (-1 if instance.depot is None else instance.depot))
        first = int(at_depot[0]) if len(at_depot) else int(np.argmin(stops))
        stops = _towards_lower(instance, np.roll(stops, -first))
    stops.flags.writeable = False
    return Tour(stops, instance.length(stops))


def _towards_lower(instance: Instance, stops: IntArray) -> IntArray:
    """A closed tour from its first stop on, towards the lower of its neighbours if it may turn."""
    if instance.symmetric and len(stops) > 2 and stops[1] > stops[-1]:
        stops[1:] = stops[:0:-1].copy()
    return stops


def routes_of(instance: Instance, places: npt.ArrayLike) -> list[IntArray]:
    """The routes of a tour, int64 arrays of stops; one, but for a fleet, whose begin at the depot.

    >>> places = [[0, 0], [0, 1], [1, 0]]
    >>> two = Instance.from_coordinates(places, nearest=0, depot=0, fleet={"vehicles": 2})
    >>> [route.tolist() for route in routes_of(two, [0, 1, 0, 2])]
    [[0, 1], [0, 2]]
    """
    stops = np.asarray(places, dtype=np.int64)
    if instance.fleet is None:
        return [stops]
    starts = np.flatnonzero(stops == instance.depot)
    return [route for route in np.split(stops, starts) if len(route)]


def before_cost(instance: Instance, places: npt.ArrayLike) -> float | None:
    """What a fleet's plan is judged by before its cost, less is better; None where nothing is.

    The number of routes or, where they are to be balanced, the cost of the longest one.
    """
    objective = "cost" if instance.fleet is None else instance.fleet.objective
    if objective == "cost":
        return None
    routes = routes_of(instance, places)
    if objective == "fewest":
        return float(len(routes))
    return max(instance.cost(route) for route in routes)


def _ordered_routes(instance: Instance, stops: IntArray) -> IntArray:
    """The routes of a fleet in an order of their own, so that equal ones look equal."""
    starts = np.flatnonzero(stops == instance.depot)
    if len(starts) == 0 or starts[0] != 0:  # not what a fleet does; for the referee to tell
        return stops
    routes = routes_of(instance, stops)
    if not instance.open:
        routes = [_towards_lower(instance, route.copy()) for route in routes]
    return np.concatenate(sorted(routes, key=lambda route: route[1:].tolist()))


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
    """The nearest covering stop of every place; ties go to the earlier stop.

    >>> line = Instance.from_coordinates([[0, 0], [1, 0], [4, 0], [5, 0]], radius=1)
    >>> served = service(line, make_tour(line, [0, 2]))
    >>> served.stop.tolist(), served.distance.tolist()
    ([0, 0, 1, 1], [0.0, 1.0, 0.0, 1.0])
    """
    stops = np.asarray(tour.places, dtype=np.int64)
    check_places(instance, stops)
    coverage = instance.coverage
    begin, end = coverage.covers_start[stops], coverage.covers_start[stops + 1]
    count = end - begin
    index = np.repeat(np.arange(len(stops)), count)
    offset = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    place = coverage.covers[begin[index] + offset]
    far = instance.cover_distances(stops[index], place)
    stop = np.full(instance.n, -1, dtype=np.int64)
    distance = np.full(instance.n, np.inf)
    # The last write wins, so write from the farthest (and, among equals, latest) to the nearest.
    order = np.lexsort((-index, -far))
    stop[place[order]] = index[order]
    distance[place[order]] = far[order]
    stop[stops[::-1]] = np.arange(len(stops))[::-1]  # of a depot's many visits the first
    distance[stops] = 0.0
    return Service(stop, distance)
