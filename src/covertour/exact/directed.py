"""The proof where the way back may be longer than the way there: cuts, prices, branches.

The relaxation of :mod:`covertour.exact.directed_program` is tightened by cuts. Arcs whose reduced
cost is more than what the best tour is above the bound are in no better tour and leave for good.
What is left is branched on, place by place, with more cuts at every node.

Without its direction a tour of at least three stops is one of the undirected program, so with many
places its cuts serve here too; tours of two stops are looked up then.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import count

import numpy as np

from covertour.exact.directed_program import Program, Side, cut_around, violated
from covertour.exact.formulation import Problem, make_problem
from covertour.exact.point import Point, make_point
from covertour.exact.separation import separate
from covertour.problem.coverage import Sets
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.solving.clock import Clock

MOST_PLACES = 2_000
"""Above this the table of all arcs, which every proof prices, takes too long."""

HANDLES = frozenset(("demand", "quota", "visit cost", "open"))
"""What an instance may ask for beyond the plain problem."""

SAME_COST = 2e-7
"""Tours within this share of the best one are not told apart."""

VIOLATED = 1e-4
"""A cut that is broken by less than this is not worth adding."""

SLOW, SLOW_ROUNDS = 1e-3, 5
"""At the root cuts end when so many rounds in a row each closed less than this share of the gap."""

SLOW_IN_TREE = 0.03
"""In the tree a node is branched on when a round of cuts closed less than this share of its gap."""

MOST_CUTS = 4
"""With more cuts per node of the graph than this, idle ones leave the program."""

CANDIDATES, RELIABLE = 8, 2
"""So many columns are looked at before one is branched on; what each gains is found out this many
times, later it is the mean of those."""

COMPILED_FROM = 80
"""From so many places on the compiled cuts of undirected tours are worth their loading."""

CAPACITY = 1_000_000
"""Flows are computed in whole numbers: so many make 1."""

Fixed = dict[int, float]
"""The columns that a node of the tree has decided, and how."""


@dataclass(frozen=True, eq=False)
class DirectedProof:
    """The best tour, ``places`` int64[m], and the ``bound``: no tour costs less."""

    places: IntArray
    bound: float


def check_directed(instance: Instance) -> None:
    """An error where an instance with one-way streets cannot be proven."""
    if beyond := instance.features - HANDLES:
        raise InputError(
            f"{instance.name}: the exact method takes no {', '.join(sorted(beyond))} where the way "
            "back can be longer than the way there (distances are not symmetric)"
        )
    if instance.n > MOST_PLACES:
        raise InputError(
            f"{instance.name}: the exact method takes at most {MOST_PLACES:,} places where the way "
            f"back can be longer than the way there, not {instance.n:,}"
        )


def prove_directed(instance: Instance, start: IntArray, clock: Clock) -> DirectedProof:
    """Prove how cheap a tour can be, from the covering tour ``start``, int64[m].

    The clock counts linear programs as iterations and hears of every better tour and of the bound.
    When it is over, what is proven so far is returned.
    """
    check_directed(instance)
    proof = _Proof(instance, np.asarray(start, dtype=np.int64), clock)
    with suppress(_Over):
        proof.run()
    return DirectedProof(proof.places, min(proof.bound, proof.cost))


class _Over(Exception):
    """The caller's clock is over."""


class _Proof:
    """The state of one proof: the best tour and its cost, and the bound.

    ``gains``: what it was seen to bring to fix a column at 0 or at 1, scaled.
    """

    def __init__(self, instance: Instance, start: IntArray, clock: Clock) -> None:
        self.instance = instance
        self.clock = clock
        self.places = start
        self.cost = instance.cost(start)
        self.bound = 0.0
        self.gains: dict[tuple[int, float], list[float]] = {}
        self.knows_pairs = instance.n >= COMPILED_FROM and not instance.partial
        self.rng = np.random.default_rng(0)
        clock.improved(self.cost, start)

    def run(self) -> None:
        """Raise the bound to the cost of the best tour."""
        for places in (*self._single_stops(), *self._two_stops()):
            self.offer(np.array(places))
        if self.cost == 0.0 or self.instance.n - len(self.instance.forbidden) == 1:
            self.prove(self.cost)
            return
        program = Program(self.instance, self.places)
        self._cut(program)
        if self.bound < self.cutoff:
            self._solve(program)
            self._search(program)

    @cached_property
    def twin(self) -> Problem:
        """The same places with one distance for both directions; only cuts are asked of it."""
        instance, coverage = self.instance, self.instance.coverage
        sets = tuple(coverage.covers_of(i).astype(np.int64) for i in range(instance.n))
        assert instance.matrix is not None
        mean = (instance.matrix + instance.matrix.T) / 2.0
        return make_problem(instance.with_changes(matrix=mean, rule=Sets(sets), roads=None))

    @property
    def cutoff(self) -> float:
        """Tours that cost this much or more are no better than the best one."""
        if self.instance.integral:
            return self.cost - 1.0 + 1e-6
        return self.cost * (1.0 - SAME_COST)

    def offer(self, places: IntArray) -> None:
        """Take a tour if it is cheaper; its places cover what they must."""
        cost = self.instance.cost(places)
        if cost < self.cost:
            self.places, self.cost = places, cost
            self.clock.improved(cost, places)

    def prove(self, bound: float) -> None:
        """Raise the bound; one above all better tours proves the best one."""
        if self.instance.integral:
            bound = float(np.ceil(bound - 1e-6))
        self.bound = max(self.bound, self.cost if bound >= self.cutoff else bound)
        self.clock.bound = self.bound

    def look_at_clock(self) -> None:
        """Tell the clock where the proof stands, and stop where it is over."""
        self.clock.iterations += 1
        self.clock.report()
        if self.clock.over:
            raise _Over

    def _single_stops(self) -> list[list[int]]:
        """Places that make a tour by themselves."""
        instance = self.instance
        some = np.setdiff1d(np.arange(instance.n), instance.forbidden)
        if len(instance.must_visit):
            some = instance.must_visit if len(instance.must_visit) == 1 else some[:0]
        if instance.partial:
            least = instance.quota_weight * (1.0 - 1e-9)
            return [[place] for place in some.tolist() if instance.covered_weight([place]) >= least]
        return [[place] for place in some.tolist() if instance.covered([place]).all()]

    def _two_stops(self) -> Iterator[list[int]]:
        """Tours of two stops, which the cuts of undirected tours know nothing of."""
        if not self.knows_pairs or self.instance.open:
            return
        instance, coverage = self.instance, self.instance.coverage
        covers = np.zeros((instance.n, instance.n), dtype=bool)
        stop = np.repeat(np.arange(instance.n), np.diff(coverage.covers_start))
        covers[stop, coverage.covers] = True
        for first in np.setdiff1d(np.arange(instance.n), instance.forbidden).tolist():
            missing = instance.demands - covers[first]
            few = np.flatnonzero(missing > 0)
            if missing.max() > 1 or len(few) == 0:
                continue
            rarest = few[np.argmin(covers[:, few].sum(axis=0))]
            for second in np.flatnonzero(covers[:, rarest] & (np.arange(instance.n) != first)):
                both = [first, int(second)]
                if covers[second, few].all() and np.isin(instance.must_visit, both).all():
                    yield both

    def _solve(self, program: Program) -> None:
        """Solve the relaxation over all arcs, and take its bound."""
        while True:
            if not program.solve(self.clock.seconds_left):
                raise _Over
            if not program.price(5 * program.nodes):
                break
            self.look_at_clock()
        self.prove(program.value / program.scale)
        self.look_at_clock()

    def _cut(self, program: Program) -> None:
        """Cut the root until that hardly helps any more."""
        slow, before = 0, -np.inf
        while slow < SLOW_ROUNDS:
            self._solve(program)
            if self.bound >= self.cutoff:
                return
            gap = self.cost * program.scale - program.value
            slow = slow + 1 if program.value - before < SLOW * gap else 0
            before = program.value
            if not self._separate(program, deep=slow > 0):
                return

    def _search(self, program: Program) -> None:
        """Branch on what is left, always at the node with the least bound."""
        room = self.cutoff * program.scale - program.value
        program.keep_only(program.reduced_costs() <= room)
        numbers = count()
        open_nodes: list[tuple[float, int, Fixed]] = [(program.value, next(numbers), {})]
        while open_nodes:
            self.prove(open_nodes[0][0] / program.scale)
            if self.bound >= self.cutoff:
                return
            self.look_at_clock()
            bound, _, fixed = heappop(open_nodes)
            program.fix(fixed)
            value = self._look_into(program)
            if value is None:
                continue
            branches = self._branches(program, fixed)
            if len(program.cuts) > MOST_CUTS * program.nodes:
                program.fix(fixed)
                if program.solve(self.clock.seconds_left):
                    program.drop_idle_cuts()
            for column, decided in branches:
                node = (max(bound, value), next(numbers), fixed | {column: decided})
                heappush(open_nodes, node)
        self.prove(self.cost)

    def _look_into(self, program: Program) -> float | None:
        """Bound a node by cuts: the value to branch at, None where it holds no better tour."""
        before = -np.inf
        while True:
            if not program.solve(self.clock.seconds_left):
                if program.feasible:
                    raise _Over
                return None
            limit = self.cutoff * program.scale
            if program.value >= limit:
                return None
            whole = program.is_whole
            if whole:
                rings = _rings(program)
                if len(rings) == 1:
                    self.offer(_as_tour(program, rings[0]))
                    return None
            elif program.value - before < SLOW_IN_TREE * (limit - program.value):
                return program.value
            before = program.value
            if not self._separate(program):
                if whole:  # rings that no cut tells apart: rounding went wrong
                    raise _Over
                return program.value

    def _separate(self, program: Program, deep: bool = False) -> int:
        """Add cuts that the point breaks; how many."""
        if self.knows_pairs:
            cuts = separate(self._as_pairs(program), self.rng, program.nodes, deep)
            for cut in cuts:
                program.add_cut(cut)
            if cuts:
                return len(cuts)
        return add_own_cuts(program)

    def _as_pairs(self, program: Program) -> Point:
        """The point as one of tours without direction: whatever holds for these holds for it."""
        nodes, arcs = program.nodes, len(program.x)
        tail, head = program.tail[:arcs], program.head[:arcs]
        pair = np.minimum(tail, head) * nodes + np.maximum(tail, head)
        both, which = np.unique(pair, return_inverse=True)
        x = np.zeros(len(both))
        np.add.at(x, which, program.x)
        return make_point(self.twin, program.y, both // nodes, both % nodes, x)

    def _branches(self, program: Program, fixed: Fixed) -> list[tuple[int, float]]:
        """The column to decide, with both values: the one whose sides gain most."""
        value, basis = program.value, program.highs.getBasis()
        best, most = -1, -1.0
        for column in program.fractional(CANDIDATES):
            gains = []
            for decided in (0.0, 1.0):
                seen = self.gains.setdefault((column, decided), [])
                if len(seen) < RELIABLE:
                    program.fix(fixed | {column: decided})
                    program.highs.setBasis(basis)
                    solved = program.solve(self.clock.seconds_left)
                    seen.append(program.value - value if solved else self.cost * program.scale)
                gains.append(sum(seen) / len(seen))
            score = max(min(gains), 1e-6) * max(max(gains), 1e-6)
            if score > most:
                best, most = column, score
        return [(best, 1.0), (best, 0.0)]


def add_own_cuts(program: Program) -> int:
    """Add cuts by components and minimum cuts that the fractional point breaks; how many."""
    sides = _components(program) or _minimum_cuts(program)
    seen: set[bytes] = set()
    for side in sides:
        cut = cut_around(program, side, program.y)
        if side.tobytes() not in seen and violated(program, cut, VIOLATED):
            seen.add(side.tobytes())
            program.add_cut(cut)
    return len(seen)


def _components(program: Program) -> list[Side]:
    """The parts that the point falls into, if there are several."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    on = program.x > 1e-9
    shape = (program.nodes, program.nodes)
    graph = coo_matrix((np.ones(on.sum()), (program.tail[on], program.head[on])), shape)
    _, label = connected_components(graph, directed=False)
    parts = np.unique(label[program.y > 1e-6])
    return [label == part for part in parts] if len(parts) > 1 else []


def _minimum_cuts(program: Program) -> list[Side]:
    """Sides of the least flow from each stop of the point to the one that is most surely one."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    capacity = np.round(program.x * CAPACITY).astype(np.int32)
    on = capacity > 0
    shape = (program.nodes, program.nodes)
    graph = csr_matrix((capacity[on], (program.tail[on], program.head[on])), shape, dtype=np.int32)
    root = int(np.argmax(program.y + program.forced))
    sides = []
    for node in np.flatnonzero(program.y > 0.01).tolist():
        if node == root:
            continue
        found = maximum_flow(graph, node, root)
        if found.flow_value >= CAPACITY * (1.0 - VIOLATED):
            continue
        left = graph - found.flow
        left.data[left.data < 0] = 0
        left.eliminate_zeros()
        side = np.zeros(program.nodes, dtype=bool)
        side[breadth_first_order(left, node, return_predecessors=False)] = True
        sides.append(side)
    return sides


def _rings(program: Program) -> list[list[int]]:
    """The rings that a whole-number point consists of."""
    on = program.x > 0.5
    after = dict(zip(program.tail[on].tolist(), program.head[on].tolist(), strict=True))
    rings = []
    while after:
        ring = [next(iter(after))]
        while (following := after.pop(ring[-1])) != ring[0]:
            ring.append(following)
        rings.append(ring)
    return rings


def _as_tour(program: Program, ring: list[int]) -> IntArray:
    """The stops of the one ring in order; of an open tour from the first one outside on."""
    stops = np.array(ring, dtype=np.int64)
    if program.outside is None:
        return stops
    first = int(np.flatnonzero(stops == program.outside)[0])
    return np.roll(stops, -first)[1:]
