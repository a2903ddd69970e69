"""Whether a tour can do what is asked of it, as far as that shows without a search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from covertour.problem.coverage import SAME, Coverage
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray

SHORT_CUTS_UP_TO = 3_000
"""Up to so many places detours are looked for that are shorter than the direct way."""


def check_coverable(instance: Instance, coverage: Coverage) -> None:
    """An error that names the places which no tour can serve though it must."""
    coverers = np.diff(coverage.covered_by_start)
    within = ""
    if instance.fleet is not None and instance.fleet.max_length is not None:
        near = visitable(instance)
        within = f" within a route of {instance.fleet.max_length:g}"
        beyond = [place for place in instance.must_visit.tolist() if not near[place]]
        if beyond:
            far = instance.describe(beyond)
            raise InputError(f"{instance.name}: no route can visit {far}{within}")
        place = np.repeat(np.arange(instance.n), coverers)
        coverers = np.bincount(place[near[coverage.covered_by]], minlength=instance.n)
    lacking = coverers < instance.demands
    if instance.quota is not None:
        reachable = float(instance.weights[~lacking].sum())
        if reachable * SAME < instance.quota_weight:
            raise InputError(
                f"{instance.name}: no tour can serve a weight of {instance.quota_weight:g}"
                f"{within}, at most {reachable:g}"
            )
    elif instance.budget is None and lacking.any():
        alone = np.flatnonzero(lacking & (coverers == 0))
        if len(alone):
            who = "route can cover" if within else "allowed place covers"
            so = within or ", so no tour can"
            raise InputError(f"{instance.name}: no {who} {instance.describe(alone)}{so}")
        first = int(np.flatnonzero(lacking)[0])
        raise InputError(
            f"{instance.name}: demand: {instance.demands[first]} stops shall cover place "
            f"{instance.label(first)}, but only {coverers[first]} can{within}"
        )


def visitable(instance: Instance) -> npt.NDArray[np.bool_]:
    """Which places a route of the fleet can visit at all, bool[n]; all without such a limit.

    A rounded metric or a matrix may have detours that are shorter than the direct way, so there a
    place is left out only if no way, over any places, gets there and back within the limit.
    """
    n, fleet, depot = instance.n, instance.fleet, instance.depot
    if fleet is None or fleet.max_length is None or depot is None:
        return np.ones(n, dtype=bool)
    everyone = np.arange(n)
    there = instance.distances(np.full(n, depot), everyone)
    back = np.zeros(n) if instance.open else instance.distances(everyone, np.full(n, depot))
    if instance.metric not in ("euclidean", "haversine"):
        if n > SHORT_CUTS_UP_TO:
            return np.ones(n, dtype=bool)
        there = _shortest(instance, depot, away=True)
        back = np.zeros(n) if instance.open else _shortest(instance, depot, away=False)
    visits = instance.visit_costs
    price = there + back + np.where(everyone == depot, 0.0, visits) + visits[depot]
    return price <= fleet.max_length * SAME


def _shortest(instance: Instance, depot: int, away: bool) -> FloatArray:
    """Lengths of the shortest ways from the depot, or to it, over any places, float64[n]."""
    n = instance.n
    everyone = np.arange(n)
    best = np.full(n, np.inf)
    best[depot] = 0.0
    left = np.ones(n, dtype=bool)
    for _ in range(n):
        here = int(np.argmin(np.where(left, best, np.inf)))
        left[here] = False
        legs = (
            instance.distances(np.full(n, here), everyone)
            if away
            else instance.distances(everyone, np.full(n, here))
        )
        best = np.minimum(best, best[here] + legs)
    return best
