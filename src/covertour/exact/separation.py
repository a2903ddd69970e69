"""Separation: inequalities that every tour of at least three stops satisfies and a point does not.

Notation: y_i and x_e as in :mod:`covertour.exact.formulation`; T is a set that every tour must hit;
δ(S) the pairs with one end in S, E(S) those with both.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from covertour.exact.cuts import Cut, make_cut
from covertour.exact.formulation import Problem
from covertour.exact.maxflow import Arcs, arcs, small_cuts
from covertour.problem.metric import FloatArray, IntArray

MOST_SIDES = 1_500
"""No more cuts than this from one family and round."""

ACTIVE = 1e-6
"""Places and pairs with less than this are not part of the support."""


@dataclass(frozen=True, eq=False)
class Point:
    """A fractional solution: y float64[n]; pairs u, v int64[m] with x float64[m], all > 0."""

    problem: Problem
    y: FloatArray
    u: IntArray
    v: IntArray
    x: FloatArray

    @cached_property
    def active(self) -> IntArray:
        """The places of the support, ascending."""
        on = self.y > ACTIVE
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
        nearest = np.argmin(self.problem.distance[:, self.active], axis=1)
        nearest[self.active] = np.arange(len(self.active))  # not another one at the same point
        return nearest

    @cached_property
    def graph(self) -> Arcs:
        """The support as arcs; see :func:`covertour.exact.maxflow.arcs`."""
        return arcs(len(self.active), self.local[self.u], self.local[self.v], self.x)

    @cached_property
    def table(self) -> FloatArray:
        """float64[sets, n]: 1 where the set holds the place."""
        table = np.zeros((self.problem.sets, len(self.y)))
        owner = np.repeat(np.arange(self.problem.sets), np.diff(self.problem.hit_start))
        table[owner, self.problem.hit] = 1.0
        return table


def make_point(problem: Problem, y: FloatArray, u: IntArray, v: IntArray, x: FloatArray) -> Point:
    """A point without the pairs that are zero."""
    on = x > ACTIVE
    return Point(problem, y, u[on], v[on], x[on])


def links(point: Point, least: float = 1e-4) -> list[Cut]:
    """x_e <= y_i for an end i of e.

    Valid: a pair is used only between stops, and a tour of at least three stops uses no pair
    twice, so x_e is 0 or 1 and y_i is 1 where it is 1.
    """
    cuts = []
    for end, other in ((point.u, point.v), (point.v, point.u)):
        for e in np.flatnonzero(point.x > point.y[end] + least):
            pair = np.sort(np.array([end[e], other[e]]))
            cuts.append(make_cut(len(point.y), [pair], [1.0], [(end[e : e + 1], 1.0)], 0.0, "link"))
    return cuts


def connectivity(point: Point, sides: np.ndarray, least: float) -> list[tuple[float, Cut]]:
    """For each side S, bool[k, n], the best violated cut x(δ(S)) >= 2 (in(S) + in(V \\ S) - 1).

    Here in(S) is any expression that is at most 1 on every tour and at most 0 on a tour without a
    stop in S: y_i for a place i of S, or 1 - y(T \\ S), for T is hit outside S if not in S. Valid:
    if a tour has stops in S and outside it crosses δ(S) at least twice, and the right side is at
    most 2; otherwise one of the two expressions is <= 0 and the other <= 1, and the right side
    is <= 0.

    With T inside S and T' outside, this is x(δ(S)) >= 2; with T' outside only, x(δ(S)) >= 2 y_i;
    without either, x(δ(S)) >= 2 (y_i + y_j - 1); and sets T, T' with common places, of which every
    S separates only a part, give x(δ(S)) + 2 y(T ∩ T') >= 2.

    Moving a place of T \\ T' into S, or of T' \\ T out of it, changes x(δ(S)) by at most its
    degree 2 y and the right side by 2 y in favour, so S is completed like that before use. Of
    equal choices the set is taken that misses the fewest places, also of those that are not
    in the support.
    """
    if len(sides) == 0:
        return []
    problem, y, n = point.problem, point.y, len(point.y)
    table = point.table
    side = sides.astype(np.float64)
    weighted = table * (y + 1e-6)
    inner = np.argmin((1.0 - side) @ weighted.T, axis=1)
    outer = np.argmin(side @ weighted.T, axis=1)
    holds_inner, holds_outer = table[inner] > 0, table[outer] > 0
    complete = (sides.astype(bool) | (holds_inner & ~holds_outer)) & ~(holds_outer & ~holds_inner)
    crossing = (complete[:, point.u] != complete[:, point.v]) @ point.x
    found: list[tuple[float, Cut]] = []
    seen: set[bytes] = set()
    for k, inside in enumerate(complete):
        if inside.all() or not inside.any():
            continue
        mask = inside.tobytes()
        if mask in seen:
            continue
        seen.add(mask)
        right = -2.0
        terms: list[tuple[IntArray, float]] = []
        constant = -2.0
        for part, chosen in ((inside, inner[k]), (~inside, outer[k])):
            members = problem.hit_sets[chosen]
            missing = members[~part[members]]
            place = int(np.argmax(np.where(part, y, -1.0)))
            by_set = 1.0 - float(y[missing].sum())
            if by_set >= y[place] - 1e-6:
                right += 2.0 * by_set
                constant += 2.0
                terms.append((missing, 2.0))
            else:
                right += 2.0 * y[place]
                terms.append((np.array([place]), -2.0))
        violation = right - crossing[k]
        if violation < least:
            continue
        smaller = inside if 2 * inside.sum() <= n else ~inside
        members = np.flatnonzero(smaller)
        cut = make_cut(n, [members], [2.0], [(members, 2.0), *terms], constant, "connectivity")
        found.append((violation, cut))
    return found


def components(point: Point) -> np.ndarray:
    """The connected components of the support, each as a side: bool[k, n]; none if there is one.

    Places outside the support go with their nearest place of it.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size = len(point.active)
    graph = coo_matrix(
        (np.ones(len(point.u)), (point.local[point.u], point.local[point.v])), shape=(size, size)
    )
    count, label = connected_components(graph, directed=False)
    if count == 1:
        return np.zeros((0, len(point.y)), dtype=bool)
    # A place with no pair at all (y just above 0) is no component worth a cut.
    return np.arange(count)[:, None] == label[point.nearest_active][None, :]


def _groups(point: Point) -> tuple[IntArray, IntArray]:
    """Groups for the flows: the sets to hit, within the support, then each active place alone."""
    local = point.local[point.problem.hit]
    on = local >= 0
    owner = np.repeat(np.arange(point.problem.sets), np.diff(point.problem.hit_start))[on]
    size = np.concatenate(
        [np.bincount(owner, minlength=point.problem.sets), np.ones(len(point.active), dtype=int)]
    )
    start = np.zeros(len(size) + 1, dtype=np.int64)
    np.cumsum(size, out=start[1:])
    return start, np.concatenate([local[on], np.arange(len(point.active))])


def flow_sides(
    point: Point, source: IntArray, sink: IntArray, limit: FloatArray, each: int
) -> np.ndarray:
    """Sides of minimum cuts between groups (see :func:`_groups`), bool[k, n], ``each`` a source."""
    start, group = _groups(point)
    order = np.argsort(source, kind="stable")
    first, head, back, capacity = point.graph
    strength = 2.0 * point.y[point.active]
    sides, _, _ = small_cuts(
        first, head, back, capacity, start, group, strength,
        source[order], sink[order], limit[order], each, MOST_SIDES,
    )  # fmt: skip
    return sides.astype(bool)[:, point.nearest_active]


def from_root(point: Point, least: float) -> tuple[IntArray, IntArray, FloatArray]:
    """Flows to the place of largest y from every set and every place: the quick way.

    Where that place is a stop for certain these find every violated connectivity cut, because it
    is on one of the two sides.
    """
    problem, y = point.problem, point.y
    root = int(np.argmax(y))
    sets = np.flatnonzero(point.table[:, root] == 0)
    places = point.active[(y[point.active] + y[root] - 1.0 > least / 2) & (point.active != root)]
    source = np.concatenate([sets, problem.sets + point.local[places]])
    limit = np.concatenate([np.full(len(sets), 2.0 * y[root]), 2.0 * (y[places] + y[root] - 1.0)])
    sink = np.full(len(source), problem.sets + point.local[root])
    return source, sink, limit - least


def between_sets(
    point: Point, least: float, rng: np.random.Generator, each: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Flows from every set to hit to some others, or to all if they are few: x(δ(S)) >= 2."""
    sets = point.problem.sets
    if sets - 1 <= 2 * each:
        a, b = np.triu_indices(sets, 1)
    else:
        a = np.repeat(np.arange(sets), each)
        b = (a + rng.integers(1, sets, size=len(a))) % sets
    return a, b, np.full(len(a), 2.0 - least)


def place_to_sets(
    point: Point, least: float, rng: np.random.Generator, each: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Flows from every active place to some sets that do not hold it: x(δ(S)) >= 2 y_i."""
    problem = point.problem
    place = np.repeat(point.active, each)
    chosen = rng.integers(problem.sets, size=len(place))
    ok = (point.table[chosen, place] == 0) & (2.0 * point.y[place] > least)
    place, chosen = place[ok], chosen[ok]
    return problem.sets + point.local[place], chosen, 2.0 * point.y[place] - least
