"""Times: how long a plan takes, from a speed and what each stop needs, and what a day allows."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from covertour.problem.errors import InputError, shown
from covertour.problem.goals import Fleet
from covertour.problem.instance import Instance
from covertour.problem.itinerary import Route
from covertour.problem.metric import FloatArray

MIDNIGHT = 24 * 60


@dataclass(frozen=True)
class Times:
    """How long things take.

    ``speed``: in units of distance per hour. ``service_minutes``: at each stop but the depot.
    ``day_hours``: what a route may take at most. ``departure``: in minutes after midnight.

    >>> Times(speed=40, service_minutes=30, day_hours=8)
    Times(speed=40, service_minutes=30, day_hours=8, departure=480)
    """

    speed: float
    service_minutes: float = 0.0
    day_hours: float | None = None
    departure: float = 480

    def __post_init__(self) -> None:
        for name, least in (("speed", 0.0), ("day_hours", 0.0), ("service_minutes", -1.0)):
            value = getattr(self, name)
            if value is None and name == "day_hours":
                continue
            number = isinstance(value, int | float | np.number) and isfinite(value)
            if not number or value <= least or value < 0:
                raise InputError(f"{name}: expected a number above 0, got {shown(value)}")

    def hours(self, instance: Instance, route: Route) -> FloatArray:
        """When each stop is reached and, last, when the route ends, float64[k + 1], in hours.

        Counted from the departure. What a stop needs is added to all that come after it.
        """
        needs = np.full(len(route.places), self.service_minutes / 60.0)
        needs[route.places == instance.depot] = 0.0
        waited = np.concatenate([[0.0], np.cumsum(needs)])
        return route.running / self.speed + waited

    def clock(self, hours: float) -> str:
        """The time of the day so many hours after the departure.

        >>> Times(40).clock(2.5), Times(40).clock(20)
        ('10:30', '04:00 +1')
        """
        minutes = round(self.departure + hours * 60)
        later = f" +{minutes // MIDNIGHT}" if minutes >= MIDNIGHT else ""
        return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}{later}"

    def limits(self, instance: Instance) -> dict[str, object]:
        """The fields of an instance that keep its routes within a day; none where no day is given.

        Time is turned into distance at this speed: what each stop needs becomes its visit cost,
        and a day the most that a route may cost.
        """
        if self.day_hours is None:
            return {}
        changes: dict[str, object] = {}
        if self.service_minutes:
            if instance.visit_cost is not None:
                raise InputError("service minutes and visit costs: give only one of them")
            needs = np.full(instance.n, self.service_minutes / 60.0 * self.speed)
            if instance.depot is not None:
                needs[instance.depot] = 0.0
            changes["visit_cost"] = needs
        fleet = instance.fleet or Fleet()
        if fleet.max_length is not None:
            raise InputError("day hours and the length of a route: give only one of them")
        day = self.day_hours * self.speed
        changes["fleet"] = Fleet(fleet.vehicles, day, fleet.max_stops, fleet.objective)
        return changes
