"""A best tour of very few places, by dynamic programming over all sets of stops.

The recursion of Held and Karp (1962): the shortest path through a set of stops that ends at one of
them extends the shortest path through the others. Every path begins at the first stop of its set;
that of an open tour at the depot, or anywhere.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from covertour.exact.few_routes import best_routes
from covertour.problem.coverage import SAME
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

MOST_STOPS = 9
"""With more places that may be stops there are too many sets to be answered in a millisecond."""

ROUNDING = 1e-12
"""Sums of weights in different orders differ by less than this share."""


def can_enumerate(instance: Instance) -> bool:
    """Whether so few places may be stops that all sets of them are looked at in no time."""
    return instance.n - len(instance.forbidden) <= MOST_STOPS


def shortest_tour(instance: Instance) -> IntArray:
    """The stops of a best tour in order, int64[m], of an instance with few possible ones.

    It costs least or, with a budget, serves most and of those costs least. A set of stops is a
    whole number whose bit i says whether the i-th allowed place is in it.
    """
    if instance.fleet is not None:
        return best_routes(instance)
    allowed = np.setdiff1d(np.arange(instance.n), instance.forbidden)
    m = len(allowed)
    sets = np.arange(1 << m)
    bit = 1 << np.arange(m)
    member = (sets[:, None] & bit) > 0
    first = member.argmax(axis=1)
    distance = instance.distances(allowed[:, None], allowed)

    # length[set, i]: of the shortest path through the set to the i-th place, from where paths
    # begin; before[set, i]: the stop before the last one on it, itself where it is the only one.
    length = np.full((1 << m, m), np.inf)
    begins = bit if instance.depot is None else bit[allowed == instance.depot]
    at = np.log2(begins if instance.open else bit).astype(np.int64)
    length[1 << at, at] = 0.0
    before = np.tile(np.arange(m), (1 << m, 1))
    size = member.sum(axis=1)
    for stops in range(2, m + 1):
        for last in range(0 if instance.open else 1, m):
            may = member[:, last] if instance.open else member[:, last] & (first < last)
            grown = sets[(size == stops) & may]
            paths = length[grown ^ bit[last]] + distance[:, last]
            before[grown, last] = paths.argmin(axis=1)
            length[grown, last] = paths.min(axis=1)

    tours = length if instance.open else length + distance[:, first].T
    if instance.end is not None:
        tours = np.where(allowed == instance.end, tours, np.inf)
    visits = member @ instance.visit_costs[allowed]
    stops = _best_set(instance, allowed, sets, tours.min(axis=1) + visits)
    last = int(tours[stops].argmin())
    order = [last]
    while stops != bit[last]:
        stops, last = int(stops ^ bit[last]), int(before[stops, last])
        order.append(last)
    return allowed[order[::-1]]


def _best_set(instance: Instance, allowed: IntArray, sets: IntArray, cost: FloatArray) -> int:
    """The best of the sets of stops, whose tours cost so much, float64[sets]."""
    required = int((1 << np.flatnonzero(np.isin(allowed, instance.must_visit))).sum())
    good = ((sets & required) == required) & np.isfinite(cost) & (sets > 0)
    served, weight = _served(instance, allowed, sets)
    if not instance.partial:
        good &= served
    elif instance.budget is None:
        good &= weight * SAME >= instance.quota_weight
    else:
        good &= cost <= instance.budget * SAME
        if good.any():
            most = weight[good].max()
            good &= weight >= most - ROUNDING * instance.total_weight
    if not good.any():
        raise InputError(f"{instance.name}: no tour keeps the budget of {instance.budget:g}")
    return int(np.where(good, cost, np.inf).argmin())


def _served(
    instance: Instance, allowed: IntArray, sets: IntArray
) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Of each set of allowed places whether it serves everything, and how much weight."""
    coverers = np.zeros(instance.n, dtype=np.int64)
    for i, place in enumerate(allowed):
        coverers[instance.coverage.covers_of(int(place))] |= 1 << i
    many = MOST_STOPS + 1  # more than there can be stops
    kinds, kind = np.unique(
        coverers * (many + 1) + np.minimum(instance.demands, many), return_inverse=True
    )
    weights = np.bincount(kind, instance.weights)
    everything = np.ones(len(sets), dtype=bool)
    weight = np.zeros(len(sets))
    for mask, demand, its in zip(kinds // (many + 1), kinds % (many + 1), weights, strict=True):
        enough = np.bitwise_count(sets & mask) >= demand
        everything &= enough
        weight += np.where(enough, its, 0.0)
    return everything, weight
