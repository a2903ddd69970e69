"""Kernels of pricing: reduced costs of all pairs, and a new pair's coefficients in the cuts."""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry
from covertour.problem.metric import FloatArray, IntArray


@entry(allocates=True)
def reduced_costs(
    u: IntArray,
    v: IntArray,
    cost: FloatArray,
    degree: FloatArray,
    of_place_start: IntArray,
    of_place: IntArray,
    inside: np.ndarray,
    weight: FloatArray,
    exact_below: float,
) -> FloatArray:
    """Reduced costs, float64[p], of the pairs u, v (int64[p]) with lengths ``cost`` (float64[p]).

    ``degree``: float64[n], prices of the degrees. The sets of the cuts that hold place i are
    ``of_place[of_place_start[i]:of_place_start[i + 1]]``; ``inside``: uint8[sets, n];
    ``weight``: float64[sets] >= 0, price times weight of each set. Sets only add to a reduced cost,
    so where it is not below ``exact_below`` without them, that lower bound is given instead.
    """
    result = np.empty(len(u))
    for e in range(len(u)):
        i, j = u[e], v[e]
        value = cost[e] - degree[i] - degree[j]
        if value < exact_below:
            if (
                of_place_start[i + 1] - of_place_start[i]
                > of_place_start[j + 1] - of_place_start[j]
            ):
                i, j = j, i
            for index in range(of_place_start[i], of_place_start[i + 1]):
                k = of_place[index]
                if inside[k, j]:
                    value += weight[k]
        result[e] = value
    return result


@entry(allocates=True)
def entries_of_pairs(
    u: IntArray, v: IntArray, of_place_start: IntArray, of_place: IntArray, inside: np.ndarray
) -> tuple[IntArray, IntArray]:
    """(pair, set) numbers, int64[m] each, for every set that holds both ends of a pair."""
    total = 0
    for e in range(len(u)):
        for index in range(of_place_start[u[e]], of_place_start[u[e] + 1]):
            total += inside[of_place[index], v[e]]
    pair = np.empty(total, dtype=np.int64)
    holds = np.empty(total, dtype=np.int64)
    at = 0
    for e in range(len(u)):
        for index in range(of_place_start[u[e]], of_place_start[u[e] + 1]):
            k = of_place[index]
            if inside[k, v[e]]:
                pair[at], holds[at] = e, k
                at += 1
    return pair, holds
