"""Tours of one and two stops, which the program does not have: looked up directly."""

from __future__ import annotations

import numpy as np

from covertour.exact.formulation import BUDGET_SLACK, Problem
from covertour.exact.serving import QUOTA_SLACK, ROUNDING, as_bits
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray


def shortest_of_one_or_two(problem: Problem) -> IntArray | None:
    """The shortest plain covering tour of one or two stops, int64[1] or int64[2], None if none is.

    Such a tour hits the smallest set, so its first stop is one of that set's; the second, if one is
    needed, is in every set that the first one misses.
    """
    hits = as_bits(problem.hit, problem.set_of_hit, (problem.n, problem.sets))
    everything = np.bitwise_or.reduce(hits, axis=0)
    best: IntArray | None = None
    best_length = np.inf
    smallest = problem.hit_sets[int(np.argmin(np.diff(problem.hit_start)))]
    for first in smallest.tolist():
        missed = everything & ~hits[first]
        if not missed.any():
            return np.array([first], dtype=np.int64)
        seconds = np.flatnonzero(((hits & missed) == missed).all(axis=1))
        if len(seconds):
            nearest = int(seconds[np.argmin(problem.distance[first, seconds])])
            length = 2.0 * problem.distance[first, nearest]
            if length < best_length:
                best, best_length = np.array([first, nearest], dtype=np.int64), length
    return best


def best_of_one_or_two(
    instance: Instance, problem: Problem, least_weight: float | None, cost: float, weight: float
) -> IntArray | None:
    """The best tour of one or two stops that is better than one of this ``cost``; None if none is.

    With a budget it is one that serves more ``weight``, or as much at less cost. For all other
    instances it costs less, and serves at least ``least_weight``, None for everything. A tour of
    two stops that need not return is left to the program.

    Stops a and b serve at most what a and b touch, each alone: pairs for which that is not
    enough, or which cost too much, are passed over, and mostly these are all of them.
    """
    must = instance.must_visit
    if len(must) > (1 if instance.open else 2):
        return None
    allowed = np.flatnonzero(problem.allowed[: instance.n])
    demand, coverage = instance.demands, instance.coverage
    counts = instance.weights if least_weight is not None else np.ones(instance.n)
    enough = weight if problem.budget is not None else least_weight
    if enough is None:
        enough = float(instance.n)
    enough *= 1.0 - QUOTA_SLACK
    limit = cost if problem.budget is None else problem.budget * (1.0 + BUDGET_SLACK)
    free = float(counts[demand == 0].sum())
    within_two = np.where((demand > 0) & (demand <= 2), counts, 0.0)
    touched = np.array([within_two[coverage.covers_of(int(i))].sum() for i in allowed])
    visit = problem.visit[allowed]
    best: tuple[float, float, IntArray] | None = None
    for k, first in enumerate(allowed.tolist()):
        if len(must) and first != must[0]:
            continue
        # The stop itself stands for a tour of it alone.
        prices = visit[k] + visit + 2.0 * problem.distance[first, allowed]
        prices[k] = visit[k]
        reach = touched[k] + touched + free
        reach[k] = touched[k] + free
        hopeful = (prices <= limit) & (reach >= enough - ROUNDING * abs(enough))
        hopeful &= (allowed >= first) | (len(must) > 0)
        if instance.open:
            hopeful &= allowed == first
        if len(must) == 2:
            hopeful &= allowed == must[1]
        for other in np.flatnonzero(hopeful).tolist():
            tour = np.array([first] if other == k else [first, allowed[other]], dtype=np.int64)
            found = _compared(instance, problem, counts, enough, tour)
            if found is not None and (best is None or found[:2] < best[:2]):
                best = found
                if problem.budget is None:
                    limit = found[1]
    return best[2] if best is not None else None


def _compared(
    instance: Instance, problem: Problem, counts: FloatArray, enough: float, tour: IntArray
) -> tuple[float, float, IntArray] | None:
    """How good a tour is, the less the better, or None where it serves too little."""
    serves = float(counts[instance.covered(tour)].sum())
    if serves < enough:
        return None
    return (-serves if problem.budget is not None else 0.0), instance.cost(tour), tour
