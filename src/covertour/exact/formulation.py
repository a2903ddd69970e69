"""The covering salesman and its generalizations as an integer program.

For tours of at least three stops the program has a variable y_i for every place (1 where it is a
stop), x_e for every pair of allowed places (1 where the tour runs along it), and, where places may
be left out, z_k for what counts as served (see :mod:`covertour.exact.serving`):

    minimise    sum of c_e x_e + sum of v_i y_i         (length and visit costs)
    subject to  x(δ(i)) = 2 y_i             for every place i,
                y(T) >= need                for every set T of coverers that must serve,
                y(T) >= need z              for every set T of coverers that may,
                sum of w_k z_k >= least     where there is a quota,
                x_e <= y_i                  for every end i of e,
                the tour is connected       (see :mod:`covertour.exact.separation`),
                x, y, z in {0, 1}.

With a budget B the weight left out, the sum of w_k (1 - z_k), is minimised instead, subject to

                sum of c_e x_e + sum of v_i y_i <= B.

y and z together are the *switches*, numbered from 0: first those of the places, then the others.

An open tour is closed by the *joint*, one more place that must be a stop, at no distance from any.
A tour that has to begin or end somewhere uses the pair of that place and the joint.

No step needs the triangle inequality: rounded distances break it. Tours of one and two stops do
not fit (the way there and back uses a pair twice) and are few, so they are looked up directly: see
:mod:`covertour.exact.short`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from covertour.exact.serving import MUST, make_service
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

Pairs = tuple[IntArray, IntArray]
"""Pairs of places u < v, int64[m] each."""

MOST_PLACES, MOST_PLACES_ONE_WAY = 6_000, 2_000
"""Above this the list of all pairs, which every proof has to price, would not fit in memory; with
one-way streets, pricing the table of all arcs would take too long."""

ROWS_AT_A_TIME = 32
"""Rows of the table of distances that are looked at together: few enough to stay in the
processor's cache."""

SPARSE_FROM = 1_000
"""From so many places on a set holds so few of them that sparse products are faster."""

BUDGET_SLACK = 1e-9
"""A tour may cost this share more than its budget."""


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance as the proof sees it.

    ``distance``: float64[n, n], with one-way streets the mean of there and back. ``allowed``:
    bool[n], places that may be stops. ``forced``: bool[n], places that must be. ``visit``:
    float64[n], visit costs. ``hit``: int64[h], ``hit_start``: int64[sets + 1], the sets of
    coverers, each ascending; ``need``: int64[sets], how many of them must be stops; ``z``:
    int64[sets], the number of the set's z, MUST where its place must be served. ``weight``:
    float64[m], of each z; ``least``: what those that are 1 must weigh; ``spare``: what the others
    may weigh in tours worth looking for, infinite where nothing is said. ``budget``: None where the
    cost is minimised; else the weight that is left out is, of which ``lost`` is out of reach.
    ``joint``: the place that closes an open tour, which has to ``begin`` and ``end`` there, None
    for anywhere.
    """

    distance: FloatArray
    allowed: npt.NDArray[np.bool_]
    forced: npt.NDArray[np.bool_]
    visit: FloatArray
    hit: IntArray
    hit_start: IntArray
    need: IntArray
    z: IntArray
    weight: FloatArray
    least: float
    spare: float
    budget: float | None
    lost: float
    joint: int | None
    begin: int | None
    end: int | None

    @property
    def n(self) -> int:
        """Number of places, with the joint."""
        return len(self.allowed)

    @property
    def switches(self) -> int:
        """Number of places and of z's."""
        return len(self.allowed) + len(self.weight)

    @property
    def sets(self) -> int:
        """Number of sets of coverers."""
        return len(self.hit_start) - 1

    @cached_property
    def optional(self) -> npt.NDArray[np.bool_]:
        """bool[sets]: whether the set has a z."""
        return self.z != MUST

    @cached_property
    def hit_sets(self) -> list[IntArray]:
        """The sets of coverers, one array each."""
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

    @cached_property
    def in_sure_set(self) -> npt.NDArray[np.bool_]:
        """bool[k, n]: the same of the sets that every tour hits."""
        return self.in_set[~self.optional]

    def weight_in_sets(self, weight: FloatArray, sides: FloatArray) -> FloatArray:
        """How much weight each set has in each side, float64[k, sets].

        ``weight``: float64[n]; ``sides``: float64[k, n] of zeros and ones.
        """
        if self.n < SPARSE_FROM:
            return sides @ (self.in_set * weight).T
        from scipy.sparse import csr_matrix

        shape = (self.sets, self.n)
        return (csr_matrix((weight[self.hit], self.hit, self.hit_start), shape) @ sides.T).T

    def closed(self, places: IntArray) -> IntArray:
        """The stops of a tour with the joint, if there is one, int64[m]."""
        return places if self.joint is None else np.append(places, self.joint)

    def cut_open(self, tour: IntArray) -> IntArray:
        """A closed tour, int64[m], without its joint, from where it has to begin."""
        if self.joint is None:
            return tour
        path = self.cut_open_one_way(tour)
        wrong = path[0] == self.end if self.begin is None else path[0] != self.begin
        return path[::-1].copy() if wrong else path

    def cut_open_one_way(self, ring: IntArray) -> IntArray:
        """A ring of stops, int64[m], from after its joint on: only in the direction it has."""
        if self.joint is None:
            return ring
        return np.roll(ring, -int(np.flatnonzero(ring == self.joint)[0]))[1:]

    @cached_property
    def used(self) -> tuple[tuple[int, int], ...]:
        """Pairs that every tour uses."""
        if self.joint is None:
            return ()
        return tuple((place, self.joint) for place in (self.begin, self.end) if place is not None)


def check_provable(instance: Instance) -> None:
    """An error where there are too many places."""
    most, where = MOST_PLACES, ""
    if not instance.symmetric:
        most, where = MOST_PLACES_ONE_WAY, " where the way back can be longer than the way there"
    if instance.n > most:
        raise InputError(
            f"{instance.name}: the exact method takes at most {most:,} places{where}, "
            f"not {instance.n:,}"
        )


def make_problem(
    instance: Instance, least_weight: float | None = None, known_weight: float = 0.0
) -> Problem:
    """The program of an instance; an error where it cannot be proven.

    ``least_weight``: minimise the cost of serving so much, whatever quota or budget there is.
    ``known_weight``: what a known tour within the budget serves.
    """
    check_provable(instance)
    budget = instance.budget if least_weight is None else None
    if least_weight is None and instance.partial:
        least_weight = instance.quota_weight
    service = make_service(instance, least_weight)
    real, n = instance.n, instance.n + instance.open
    allowed = np.ones(n, dtype=bool)
    allowed[list(instance.forbidden)] = False
    forced = np.zeros(n, dtype=bool)
    forced[instance.must_visit] = True
    hit, hit_start, need, z = service.member, service.start, service.need, service.z
    if instance.open:
        forced[real] = True
        hit, hit_start = np.append(hit, real), np.append(hit_start, len(hit) + 1)
        need, z = np.append(need, 1), np.append(z, MUST)
    whole_sets = (z == MUST) & (np.diff(hit_start) == need)
    forced[hit[np.repeat(whole_sets, np.diff(hit_start))]] = True
    everyone = np.arange(real)
    distance = np.zeros((n, n))
    for first in range(0, real, ROWS_AT_A_TIME):
        rows = everyone[first : first + ROWS_AT_A_TIME]
        distance[rows, :real] = instance.distances(rows[:, None], everyone[None, :])
    if not instance.symmetric:
        distance = (distance + distance.T) / 2.0
    if instance.open and instance.depot is not None and instance.end is not None:
        elsewhere = np.setdiff1d(everyone, [instance.depot, instance.end])
        distance[real, elsewhere] = distance[elsewhere, real] = np.inf
    if budget is not None and instance.symmetric:
        # No tour within the budget uses such a pair, and lengths beyond it only blur the program.
        distance[distance > budget * (1.0 + BUDGET_SLACK)] = np.inf
    lost = instance.total_weight - service.sure - float(service.weight.sum())
    spare = np.inf
    if service.least > 0:
        spare = float(service.weight.sum()) - service.least
    elif budget is not None and known_weight > service.sure:
        spare = float(service.weight.sum()) - (known_weight - service.sure)
    return Problem(
        distance=distance,
        allowed=allowed,
        forced=forced,
        visit=np.append(instance.visit_costs, [0.0] * instance.open),
        hit=hit,
        hit_start=hit_start,
        need=need,
        z=z,
        weight=service.weight,
        least=service.least,
        spare=spare,
        budget=budget,
        lost=lost if budget is not None else 0.0,
        joint=real if instance.open else None,
        begin=instance.depot,
        end=instance.end,
    )


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
    possible = (u < v) & np.isfinite(problem.distance[u, v])
    return u[possible], v[possible]
