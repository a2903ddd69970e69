"""Points of the program: fractional solutions, their support, and the tours among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from covertour.exact.formulation import Problem
from covertour.exact.maxflow import Graph, make_graph
from covertour.problem.metric import FloatArray, IntArray

SUPPORT = 1e-6
"""Places and pairs with at most this much are not part of the support."""

WHOLE = 1e-5
"""A point whose values are all this near to whole ones is read as a tour."""


@dataclass(frozen=True, eq=False)
class Point:
    """A fractional solution: y float64[n]; pairs u, v int64[m] with x float64[m], all > 0.

    ``z``: float64[k], as the program numbers them.
    """

    problem: Problem
    y: FloatArray
    u: IntArray
    v: IntArray
    x: FloatArray
    z: FloatArray

    @cached_property
    def active(self) -> IntArray:
        """The places of the support, ascending."""
        on = self.y > SUPPORT
        on[self.u] = True
        on[self.v] = True
        return np.flatnonzero(on)

    @cached_property
    def local(self) -> IntArray:
        """int64[n]: the index of a place among the active ones, -1 where it is not."""
        index = np.full(len(self.y), -1, dtype=np.int64)
        index[self.active] = np.arange(len(self.active))
        return index

    @cached_property
    def nearest_active(self) -> IntArray:
        """int64[n]: for each place the index of the nearest active one, itself if it is active."""
        distance = self.problem.distance[:, self.active]
        if self.problem.joint is not None:
            distance[:, self.local[self.problem.joint]] = np.inf  # it is nowhere, so near nobody
        nearest = np.argmin(distance, axis=1)
        nearest[self.active] = np.arange(len(self.active))  # not another one at the same point
        return nearest

    @cached_property
    def graph(self) -> Graph:
        """The support graph; its nodes are the active places by index."""
        return make_graph(len(self.active), self.local[self.u], self.local[self.v], self.x)

    @cached_property
    def crossing_of_sets(self) -> FloatArray:
        """float64[sets]: x(δ(T)) of the sets T of the program."""
        table = self.problem.in_set
        return (table[:, self.u] != table[:, self.v]) @ self.x

    @cached_property
    def served(self) -> FloatArray:
        """float64[sets]: the value of each set's z, 1 where its place must be served."""
        if len(self.z) == 0:
            return np.ones(self.problem.sets)
        return np.where(self.problem.optional, self.z[self.problem.z], 1.0)

    def with_single_needs(self) -> Point:
        r"""The same point of a program in which sets that need several stops need one.

        Such a set T is without the D members of largest y, one less than it needs. Valid: where T
        is served at most |D| of its stops are in D, so T \ D has one. Of all such D these leave the
        least of y, and so the strongest cuts around T \ D.
        """
        problem = self.problem
        keep = np.ones(len(problem.hit), dtype=bool)
        for k in np.flatnonzero(problem.need > 1):
            first, end = problem.hit_start[k], problem.hit_start[k + 1]
            members = problem.hit[first:end]
            keep[first + np.argsort(-self.y[members], kind="stable")[: problem.need[k] - 1]] = False
        start = np.zeros(problem.sets + 1, dtype=np.int64)
        np.cumsum(np.add.reduceat(keep, problem.hit_start[:-1], dtype=np.int64), out=start[1:])
        changed = replace(
            problem, hit=problem.hit[keep], hit_start=start, need=np.ones_like(problem.need)
        )
        return Point(changed, self.y, self.u, self.v, self.x, self.z)

    def as_tour(self) -> IntArray | None:
        """The stops in order if the point is a tour, int64[m], else None."""
        if not is_whole(self.y, WHOLE) or not is_whole(self.x, WHOLE):
            return None
        stops = np.flatnonzero(self.y > 0.5)
        used = self.x > 0.5
        if len(stops) < 3 or used.sum() != len(stops):
            return None
        next_to: dict[int, list[int]] = {int(stop): [] for stop in stops}
        for a, b in zip(self.u[used].tolist(), self.v[used].tolist(), strict=True):
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
        if len(tour) != len(stops):
            return None
        return self.problem.cut_open(np.array(tour, dtype=np.int64))


def make_point(
    problem: Problem,
    y: FloatArray,
    u: IntArray,
    v: IntArray,
    x: FloatArray,
    z: FloatArray | None = None,
) -> Point:
    """A point without the pairs that are zero; without ``z`` everything counts as served."""
    on = x > SUPPORT
    return Point(problem, y, u[on], v[on], x[on], np.ones(len(problem.weight)) if z is None else z)


def is_whole(values: FloatArray, tolerance: float) -> bool:
    """Whether all values are as near to whole ones as this."""
    return bool(np.abs(values - np.round(values)).max(initial=0.0) <= tolerance)
