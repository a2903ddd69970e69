"""The covering salesman as an integer program: what every tour must hit, and the shortest tours.

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

from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

MOST_PLACES = 6_000
"""Above this the list of all pairs, which every proof has to price, would not fit in memory."""


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance as the proof sees it.

    ``distance``: float64[n, n]. ``allowed``: bool[n], places that may be stops. ``forced``:
    bool[n], places that must be. ``hit``: int64[h], ``hit_start``: int64[m + 1]; every tour stops
    at one of ``hit[hit_start[k]:hit_start[k + 1]]`` (ascending), for each k. No set holds another
    one, for then it would say nothing new.
    """

    distance: FloatArray
    allowed: np.ndarray
    forced: np.ndarray
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
    def hit_by(self) -> tuple[IntArray, IntArray]:
        """For each place the sets that hold it, compressed: int64[h] and int64[n + 1]."""
        owner = np.repeat(np.arange(self.sets), np.diff(self.hit_start))
        order = np.argsort(self.hit, kind="stable")
        start = np.zeros(self.n + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.hit, minlength=self.n), out=start[1:])
        return owner[order], start


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
    for first in range(0, n, 500):
        rows = everyone[first : first + 500]
        distance[rows] = instance.distances(rows[:, None], everyone[None, :])
    return Problem(distance, allowed, forced, hit, hit_start, instance.integral)


def _sets_to_hit(instance: Instance) -> tuple[IntArray, IntArray]:
    """The coverers of each place and each must-visit place alone, without sets that hold others."""
    from scipy.sparse import csr_matrix

    coverage, n = instance.coverage, instance.n
    alone = instance.must_visit
    member = np.concatenate([alone, coverage.covered_by.astype(np.int64)])
    size = np.concatenate([np.ones(len(alone), dtype=np.int64), np.diff(coverage.covered_by_start)])
    start = np.zeros(len(size) + 1, dtype=np.int64)
    np.cumsum(size, out=start[1:])
    table = csr_matrix((np.ones(len(member), dtype=np.int32), member, start), shape=(len(size), n))
    common = (table @ table.T).tocoo()
    inside = (common.data == size[common.row]) & (common.row != common.col)
    smaller, larger = common.row[inside], common.col[inside]
    # Of two equal sets the first stays.
    drops = (size[smaller] < size[larger]) | (smaller < larger)
    keep = np.ones(len(size), dtype=bool)
    keep[larger[drops]] = False
    kept = table[np.flatnonzero(keep)]
    kept.sort_indices()
    return kept.indices.astype(np.int64), kept.indptr.astype(np.int64)


def shortest_of_one_or_two(instance: Instance, problem: Problem) -> IntArray | None:
    """The shortest covering tour of one or two stops, int64[1] or int64[2], None if there is none.

    Such a tour hits the smallest set, so its first stop is one of that set's; the second stop, if
    one is needed, is one of any set that the first stop misses.
    """
    must = instance.must_visit
    best: IntArray | None = None
    best_length = np.inf
    sizes = np.diff(problem.hit_start)
    owner = np.repeat(np.arange(problem.sets), sizes)
    smallest = problem.hit_sets[int(np.argmin(sizes))]
    for first in smallest.tolist():
        missed = np.ones(problem.sets, dtype=bool)
        missed[owner[problem.hit == first]] = False
        if not missed.any():
            return np.array([first], dtype=np.int64)
        seconds = problem.hit_sets[int(np.flatnonzero(missed)[0])]
        for second in seconds.tolist():
            still = missed.copy()
            still[owner[problem.hit == second]] = False
            length = 2.0 * problem.distance[first, second]
            if not still.any() and length < best_length:
                best, best_length = np.array([first, second], dtype=np.int64), length
    assert best is None or np.isin(must, best).all()
    return best


def starting_edges(problem: Problem, tour: IntArray, neighbours: int) -> tuple[IntArray, IntArray]:
    """The pairs u < v that the first relaxation has: each place's nearest, and the tour's.

    A tour that covers skips many places, so its pairs are not the very shortest ones; pricing
    finds those.
    """
    places = np.flatnonzero(problem.allowed)
    near = problem.distance[np.ix_(places, places)].copy()
    np.fill_diagonal(near, np.inf)
    count = min(neighbours, len(places) - 1)
    nearest = places[np.argpartition(near, count - 1, axis=1)[:, :count]]
    a = np.concatenate([np.repeat(places, count), tour])
    b = np.concatenate([nearest.ravel(), np.roll(tour, -1)])
    pairs = np.unique(np.minimum(a, b) * problem.n + np.maximum(a, b))
    u, v = pairs // problem.n, pairs % problem.n
    return u[u < v], v[u < v]
