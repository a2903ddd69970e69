"""Verdict: everything that is wrong with a tour, as the referee found it."""

from __future__ import annotations

from dataclasses import dataclass

from covertour.problem.instance import Instance
from covertour.problem.tour import same_length


@dataclass(frozen=True, eq=False)
class Verdict:
    """Everything that is wrong with a tour; ``ok`` where nothing is.

    Place numbers, ascending: ``uncovered``, whose demand the tour does not meet, ``repeated`` on
    it, ``forbidden`` but on it, ``missing`` though required (or the depot, or the end), ``unknown``
    numbers that are no place. ``length`` is the true length of the tour, NaN where it has unknown
    places, ``cost`` that with the visit costs; ``claimed`` the length it came with, None if none (a
    NaN is no claim). ``covered_weight`` is the weight of the places that are served and ``quota``
    what it must be, None where no place may be left out. ``over_budget``: by how much the cost is
    above the budget. ``routes``: how many there are, of which ``spare_routes`` are too many;
    numbers from 1 of ``long_routes`` and ``full_routes``, which break the limits of a fleet, and of
    ``empty_routes``.
    """

    stops: int
    length: float
    cost: float
    claimed: float | None
    uncovered: tuple[int, ...]
    repeated: tuple[int, ...]
    forbidden: tuple[int, ...]
    missing: tuple[int, ...]
    unknown: tuple[int, ...]
    starts_elsewhere: bool
    ends_elsewhere: bool = False
    covered_weight: float = 0.0
    quota: float | None = None
    over_budget: float = 0.0
    routes: int = 1
    spare_routes: int = 0
    long_routes: tuple[int, ...] = ()
    full_routes: tuple[int, ...] = ()
    empty_routes: tuple[int, ...] = ()

    @property
    def length_is_right(self) -> bool:
        """Whether the claimed length is the true one, to a relative 1e-6."""
        return self.claimed is None or same_length(self.claimed, self.length)

    @property
    def covers_enough(self) -> bool:
        """Whether every place is served, or the quota is reached to a relative 1e-9."""
        if self.quota is None:
            return not self.uncovered
        return self.covered_weight >= self.quota * (1 - 1e-9)

    @property
    def ok(self) -> bool:
        """Whether this is a covering tour of the instance that keeps all its rules."""
        return (
            self.length_is_right
            and self.covers_enough
            and not (
                self.stops == 0
                or self.repeated
                or self.forbidden
                or self.missing
                or self.unknown
                or self.starts_elsewhere
                or self.ends_elsewhere
                or self.over_budget > 0
                or self.spare_routes
                or self.long_routes
                or self.full_routes
                or self.empty_routes
            )
        )

    def problems(self, instance: Instance) -> list[str]:
        """One sentence per kind of mistake, with the places by name; empty where all is well."""
        found = []
        if self.stops == 0:
            found.append("the tour has no stop")
        if self.unknown:
            found.append(f"no such place: {', '.join(map(str, self.unknown[:8]))}")
        if self.quota is not None and not self.covers_enough:
            found.append(
                f"covers a weight of {self.covered_weight:.10g}, less than the quota "
                f"{self.quota:.10g}"
            )
        for places, what in (
            (() if self.covers_enough else self.uncovered, "not covered"),
            (self.repeated, "visited more than once"),
            (self.forbidden, "forbidden but visited"),
            (self.missing, "required but not visited"),
        ):
            if places:
                found.append(f"{what} ({len(places)}): {instance.describe(places)}")
        if self.starts_elsewhere:
            assert instance.depot is not None
            found.append(f"does not start at the depot, place {instance.label(instance.depot)}")
        if self.ends_elsewhere:
            assert instance.end is not None
            found.append(f"does not end at place {instance.label(instance.end)}")
        if self.over_budget > 0:
            assert instance.budget is not None
            found.append(f"costs {self.cost:.10g}, above the budget {instance.budget:.10g}")
        if self.spare_routes:
            found.append(f"has {self.routes} routes, {self.spare_routes} more than vehicles")
        for routes, what in (
            (self.long_routes, "longer than max_length"),
            (self.full_routes, "with more stops than max_stops"),
            (self.empty_routes, "without a stop"),
        ):
            if routes:
                found.append(f"routes {what}: {', '.join(map(str, routes[:8]))}")
        if not self.length_is_right:
            found.append(f"claims length {self.claimed:.10g} but has {self.length:.10g}")
        return found
