"""A shortest tour of very few places, by dynamic programming over all sets of stops.

The recursion of Held and Karp (1962): the shortest path through a set of stops that ends at one of
them extends the shortest path through the others. Every path begins at the first stop of its set.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray

MOST_STOPS = 9
"""With more places that may be stops there are too many sets to be answered in a millisecond."""


def can_enumerate(instance: Instance) -> bool:
    """Whether so few places may be stops that all sets of them are looked at in no time."""
    return instance.n - len(instance.forbidden) <= MOST_STOPS


def shortest_tour(instance: Instance) -> IntArray:
    """The stops of a shortest covering tour in order, int64[m], of an instance with few of them.

    A set of stops is a whole number whose bit i says whether the i-th allowed place is in it.
    """
    allowed = np.setdiff1d(np.arange(instance.n), instance.forbidden)
    m = len(allowed)
    sets = np.arange(1 << m)
    bit = 1 << np.arange(m)
    member = (sets[:, None] & bit) > 0
    first = member.argmax(axis=1)
    distance = instance.distances(allowed[:, None], allowed)

    # length[set, i]: of the shortest path through the set from its first stop to the i-th place;
    # before[set, i]: the stop before the last one on it.
    length = np.full((1 << m, m), np.inf)
    length[bit, np.arange(m)] = 0.0
    before = np.zeros((1 << m, m), dtype=np.int64)
    size = member.sum(axis=1)
    for stops in range(2, m + 1):
        for last in range(1, m):
            grown = sets[(size == stops) & member[:, last] & (first < last)]
            paths = length[grown ^ bit[last]] + distance[:, last]
            before[grown, last] = paths.argmin(axis=1)
            length[grown, last] = paths.min(axis=1)

    tours = length + distance[:, first].T
    shortest = np.where(_covering(instance, allowed, sets), tours.min(axis=1), np.inf)
    stops = int(shortest.argmin())
    last = int(tours[stops].argmin())
    order = [last]
    while last != first[stops]:
        stops, last = int(stops ^ bit[last]), int(before[stops, last])
        order.append(last)
    return allowed[order[::-1]]


def _covering(instance: Instance, allowed: IntArray, sets: IntArray) -> npt.NDArray[np.bool_]:
    """Which of the sets of allowed places cover everything and have all required ones."""
    coverers = np.zeros(instance.n, dtype=np.int64)
    for i, place in enumerate(allowed):
        coverers[instance.coverage.covers_of(int(place))] |= 1 << i
    required = int((1 << np.flatnonzero(np.isin(allowed, instance.must_visit))).sum())
    covering = (sets[:, None] & np.unique(coverers)).all(axis=1)
    return covering & ((sets & required) == required)
