"""Tours inside a proof: whether places make one, and whether a point of the relaxation is one."""

from __future__ import annotations

import numpy as np

from covertour.exact.formulation import Problem
from covertour.problem.metric import FloatArray, IntArray


def covers(problem: Problem, places: IntArray) -> bool:
    """Whether a tour through these places covers everything and keeps the rules."""
    if len(places) == 0 or len(np.unique(places)) != len(places):
        return False
    on = np.zeros(problem.n, dtype=bool)
    on[places] = True
    if (on & ~problem.allowed).any() or (problem.forced & ~on).any():
        return False
    return bool((np.add.reduceat(on[problem.hit].astype(int), problem.hit_start[:-1]) > 0).all())


def fraction(values: FloatArray) -> float:
    """How far the values are from whole ones at most."""
    return float(np.abs(values - np.round(values)).max(initial=0.0))


def as_tour(y: FloatArray, u: IntArray, v: IntArray, x: FloatArray) -> IntArray | None:
    """The stops in order if the point is a tour, int64[m], else None."""
    if fraction(y) > 1e-5 or fraction(x) > 1e-5:
        return None
    stops = np.flatnonzero(y > 0.5)
    used = x > 0.5
    if len(stops) < 3 or used.sum() != len(stops):
        return None
    next_to: dict[int, list[int]] = {int(stop): [] for stop in stops}
    for a, b in zip(u[used].tolist(), v[used].tolist(), strict=True):
        if a not in next_to or b not in next_to:
            return None
        next_to[a].append(b)
        next_to[b].append(a)
    if any(len(ends) != 2 for ends in next_to.values()):
        return None
    tour = [int(stops[0]), next_to[int(stops[0])][0]]
    while len(tour) <= len(stops):
        one, other = next_to[tour[-1]]
        following = other if one == tour[-2] else one
        if following == tour[0]:
            break
        tour.append(following)
    return np.array(tour, dtype=np.int64) if len(tour) == len(stops) else None
