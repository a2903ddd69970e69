"""Cuts to begin with: around the sets of coverers, and around clusters of places within clusters.

Without them the first relaxations are far below any tour, and it takes many rounds of cuts until
their supports hang together.
"""

from __future__ import annotations

import numpy as np

from covertour.exact.cuts import Cut
from covertour.exact.formulation import Problem
from covertour.exact.point import make_point
from covertour.exact.separation import MOST_SIDES, Sides, connectivity

LEAST_VIOLATION = 0.5
"""A cut is worth a row that is violated by so much where y is spread evenly and no pair is used."""


def starting_cuts(problem: Problem) -> list[Cut]:
    """Cuts around the sets of coverers and nested clusters; :func:`connectivity` has the proof."""
    size = np.diff(problem.hit_start) / problem.need
    spread = np.full(problem.n, 1.0 / max(float(np.median(size)), 1.0))
    nobody = np.empty(0, dtype=np.int64)
    point = make_point(problem, spread, nobody, nobody, np.empty(0))
    sides = np.concatenate([nested_clusters(problem), problem.in_set])
    sides = sides[sides.sum(axis=1) > 1]
    return [
        cut
        for first in range(0, len(sides), MOST_SIDES)
        for _, cut in connectivity(point, sides[first : first + MOST_SIDES], LEAST_VIOLATION)
    ]


def nested_clusters(problem: Problem) -> Sides:
    """Clusters, each made of two others or single places that lie nearest on average, as sides."""
    from scipy.cluster.hierarchy import linkage

    n = problem.n
    possible = np.isfinite(problem.distance)
    far = problem.distance[possible].max()
    distance = np.where(possible, problem.distance, far)
    if problem.joint is not None:  # it is nowhere, so far from all
        distance[problem.joint] = distance[:, problem.joint] = far
    tree = linkage(distance[np.triu_indices(n, 1)], "average")
    sides = np.zeros((n - 1, n), dtype=bool)
    for row, (one, other) in enumerate(tree[:, :2].astype(np.int64)):
        for part in (one, other):
            if part < n:
                sides[row, part] = True
            else:
                sides[row] |= sides[part - n]
    return sides[:-1]
