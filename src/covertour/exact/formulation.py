"""The covering salesman as an integer program: what every tour must hit, and points of the program.

For tours of at least three stops the program has a variable y_i for every place (1 where it is a
stop) and x_e for every pair of allowed places (1 where the tour runs along it):

    minimise    sum of c_e x_e
    subject to  x(δ(i)) = 2 y_i             for every place i,
                y(T) >= 1                   for every set T that each tour must hit,
                x_e <= y_i                  for every end i of e,
                the tour is connected       (see :mod:`covertour.exact.separation`),
                x, y in {0, 1}.

No step needs the triangle inequality: rounded distances break it. Tours of one and two stops do
not fit (the way there and back uses a pair twice) and are few, so they are looked up directly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from covertour.exact.maxflow import Graph, make_graph
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

Pairs = tuple[IntArray, IntArray]
"""Pairs of places u < v, int64[m] each."""

MOST_PLACES = 6_000
"""Above this the list of all pairs, which every proof has to price, would not fit in memory."""

ROWS_AT_A_TIME = 32
"""Rows of the table of distances that are looked at together: few enough to stay in the
processor's cache."""

SUPPORT = 1e-6
"""Places and pairs with at most this much are not part of the support."""

SPARSE_FROM = 1_000
"""From so many places on a set holds so few of them that sparse products are faster."""

WHOLE = 1e-5
"""A point whose values are all this near to whole ones is read as a tour."""


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance as the proof sees it.

    ``distance``: float64[n, n]. ``allowed``: bool[n], places that may be stops. ``forced``:
    bool[n], places that must be. ``hit``: int64[h], ``hit_start``: int64[m + 1]; every tour stops
    at one of ``hit[hit_start[k]:hit_start[k + 1]]`` (ascending), for each k. No set holds another
    one, for then it would say nothing new. ``integral``: whether all distances are whole numbers.
    """

    distance: FloatArray
    allowed: npt.NDArray[np.bool_]
    forced: npt.NDArray[np.bool_]
    hit: IntArray
    hit_start: IntArray
    integral: bool

    @property
    def n(self) -> int:
        """Number of places."""
        return len(self.allowed)

    @property
    def sets(self) -> int:
        """Number of sets that every tour must hit."""
        return len(self.hit_start) - 1

    @cached_property
    def hit_sets(self) -> list[IntArray]:
        """The sets that every tour must hit, one array each."""
        return np.split(self.hit, self.hit_start[1:-1])

    @cached_property
    def set_of_hit(self) -> IntArray:
        """int64[h]: which set each entry of ``hit`` belongs to."""
        return np.repeat(np.arange(self.sets), np.diff(self.hit_start))

    @cached_property
    def in_set(self) -> npt.NDArray[np.bool_]:
        """bool[sets, n]: whether the set holds the place."""
        table = np.zeros((self.sets, self.n), dtype=bool)
        table[self.set_of_hit, self.hit] = True
        return table

    def weight_in_sets(self, weight: FloatArray, sides: FloatArray) -> FloatArray:
        """How much weight each set has in each side, float64[k, sets].

        ``weight``: float64[n]; ``sides``: float64[k, n] of zeros and ones.
        """
        if self.n < SPARSE_FROM:
            return sides @ (self.in_set * weight).T
        from scipy.sparse import csr_matrix

        shape = (self.sets, self.n)
        return (csr_matrix((weight[self.hit], self.hit, self.hit_start), shape) @ sides.T).T


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
        nearest = np.argmin(self.problem.distance[:, self.active], axis=1)
        nearest[self.active] = np.arange(len(self.active))  # not another one at the same point
        return nearest

    @cached_property
    def graph(self) -> Graph:
        """The support graph; its nodes are the active places by index."""
        return make_graph(len(self.active), self.local[self.u], self.local[self.v], self.x)

    @cached_property
    def crossing_of_sets(self) -> FloatArray:
        """float64[sets]: x(δ(T)) of the sets T that every tour must hit."""
        table = self.problem.in_set
        return (table[:, self.u] != table[:, self.v]) @ self.x

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
        return np.array(tour, dtype=np.int64) if len(tour) == len(stops) else None


def make_point(problem: Problem, y: FloatArray, u: IntArray, v: IntArray, x: FloatArray) -> Point:
    """A point without the pairs that are zero."""
    on = x > SUPPORT
    return Point(problem, y, u[on], v[on], x[on])


def is_whole(values: FloatArray, tolerance: float) -> bool:
    """Whether all values are as near to whole ones as this."""
    return bool(np.abs(values - np.round(values)).max(initial=0.0) <= tolerance)


def check_provable(instance: Instance) -> None:
    """An error where distances are not symmetric or there are too many places."""
    if not instance.symmetric:
        raise InputError(
            f"{instance.name}: the exact method needs symmetric distances; this matrix has none"
        )
    if instance.n > MOST_PLACES:
        raise InputError(
            f"{instance.name}: the exact method takes at most {MOST_PLACES:,} places, "
            f"not {instance.n:,}"
        )


def make_problem(instance: Instance) -> Problem:
    """The program of an instance; an error where it cannot be proven."""
    check_provable(instance)
    n = instance.n
    allowed = np.ones(n, dtype=bool)
    allowed[list(instance.forbidden)] = False
    forced = np.zeros(n, dtype=bool)
    forced[instance.must_visit] = True
    hit, hit_start = _sets_to_hit(instance)
    forced[hit[hit_start[:-1][np.diff(hit_start) == 1]]] = True
    everyone = np.arange(n)
    distance = np.empty((n, n))
    for first in range(0, n, ROWS_AT_A_TIME):
        rows = everyone[first : first + ROWS_AT_A_TIME]
        distance[rows] = instance.distances(rows[:, None], everyone[None, :])
    return Problem(distance, allowed, forced, hit, hit_start, instance.integral)


def _sets_to_hit(instance: Instance) -> tuple[IntArray, IntArray]:
    """The coverers of each place and each must-visit place alone, without sets that hold others."""
    coverage = instance.coverage
    alone = instance.must_visit
    member = np.concatenate([alone, coverage.covered_by.astype(np.int64)])
    size = np.concatenate([np.ones(len(alone), dtype=np.int64), np.diff(coverage.covered_by_start)])
    owner = np.repeat(np.arange(len(size)), size)
    keep = _minimal(owner, member, instance.n)
    start = np.zeros(keep.sum() + 1, dtype=np.int64)
    np.cumsum(size[keep], out=start[1:])
    return member[keep[owner]], start


def _minimal(owner: IntArray, member: IntArray, n: int) -> npt.NDArray[np.bool_]:
    """Which sets hold no other one, bool[m]; of equal sets the first.

    ``owner``: int64[h], ascending, the set that each entry of ``member``, int64[h], belongs to.
    """
    size = np.bincount(owner)
    begin = np.cumsum(size) - size
    bits = _as_bits(owner, member, (len(size), n))
    by_member = np.argsort(member, kind="stable")
    holders = np.split(owner[by_member], np.cumsum(np.bincount(member, minlength=n))[:-1])
    held = np.array([len(sets) for sets in holders])
    keep = np.ones(len(size), dtype=bool)
    # From the smallest on: whatever holds a set that was dropped holds the one it was dropped for.
    for k in np.argsort(size, kind="stable"):
        if keep[k]:
            members = member[begin[k] : begin[k] + size[k]]
            others = holders[members[np.argmin(held[members])]]
            others = others[keep[others]]
            keep[others[((bits[others] & bits[k]) == bits[k]).all(axis=1)]] = False
            keep[k] = True
    return keep


def _as_bits(row: IntArray, column: IntArray, shape: tuple[int, int]) -> npt.NDArray[np.uint64]:
    """A table with ones at these rows and columns, one bit per entry: uint64[rows, words]."""
    rows, columns = shape
    table = np.zeros((rows, -(-columns // 64) * 64), dtype=bool)
    table[row, column] = True
    return np.packbits(table, axis=1).view(np.uint64)


def is_covering_tour(instance: Instance, places: IntArray) -> bool:
    """Whether a tour through these places, int64[m], covers everything and keeps the rules."""
    if len(places) == 0 or len(np.unique(places)) != len(places):
        return False
    if np.isin(instance.forbidden, places).any() or not np.isin(instance.must_visit, places).all():
        return False
    covered = np.zeros(instance.n, dtype=bool)
    for place in places:
        covered[instance.coverage.covers_of(int(place))] = True
    return bool(covered.all())


def shortest_of_one_or_two(problem: Problem) -> IntArray | None:
    """The shortest covering tour of one or two stops, int64[1] or int64[2], None if there is none.

    Such a tour hits the smallest set, so its first stop is one of that set's; the second, if one is
    needed, is in every set that the first one misses.
    """
    hits = _as_bits(problem.hit, problem.set_of_hit, (problem.n, problem.sets))
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


def starting_edges(problem: Problem, tour: IntArray, neighbours: int) -> Pairs:
    """The pairs that the first relaxation has: each place's nearest, and the tour's.

    A tour that covers skips many places, so its pairs are not the very shortest ones; pricing
    finds those.
    """
    places = np.flatnonzero(problem.allowed)
    count = min(neighbours, len(places) - 1)
    nearest = np.empty((len(places), count), dtype=np.int64)
    for first in range(0, len(places), ROWS_AT_A_TIME):
        rows = places[first : first + ROWS_AT_A_TIME]
        far = problem.distance[rows][:, places]
        far[rows[:, None] == places] = np.inf
        nearest[first : first + len(rows)] = np.argpartition(far, count - 1, axis=1)[:, :count]
    a = np.concatenate([np.repeat(places, count), tour])
    b = np.concatenate([places[nearest].ravel(), np.roll(tour, -1)])
    pairs = np.unique(np.minimum(a, b) * problem.n + np.maximum(a, b))
    u, v = pairs // problem.n, pairs % problem.n
    return u[u < v], v[u < v]
