"""The proof where the way back may be longer than the way there: cuts, prices, branches.

The relaxation of :mod:`covertour.exact.directed_program` is tightened by cuts. Arcs whose reduced
cost is more than what the best tour is above the bound are in no better tour and leave for good.
What is left is branched on, place by place, with more cuts at every node.

Without its direction a tour of at least three stops is one of the undirected program: with x_e the
sum of both arcs between the ends of e it satisfies every inequality of
:mod:`covertour.exact.separation`, those for quotas and budgets included, for these speak of stops,
of what is served, and of how often borders are crossed, not of lengths. So they serve here too,
where there are many places or some may be left out; with few places the cuts of
:func:`covertour.exact.directed_program.cut_around` do.
"""

from __future__ import annotations

from contextlib import suppress
from heapq import heappop, heappush
from itertools import count

import numpy as np

from covertour.exact.directed_program import Program, Side, cut_around, violated
from covertour.exact.formulation import Problem
from covertour.exact.incumbent import Incumbent
from covertour.exact.point import Point, make_point
from covertour.exact.separation import separate
from covertour.problem.instance import Instance
from covertour.solving.clock import Clock

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

UNRESOLVED = "a node could not be closed by its bound"

Fixed = dict[int, float]
"""The columns that a node of the tree has decided, and how."""


def uses_compiled_cuts(instance: Instance) -> bool:
    """Whether an instance with one-way streets is proven with the cuts of undirected tours."""
    return instance.n >= COMPILED_FROM or instance.partial


class _Over(Exception):
    """The caller's clock is over."""


class DirectedSearch:
    """The search for a better tour of at least three stops.

    ``lowest``: no such tour has a lower value; infinite in the end, where none is left to be found.
    ``programs``: how many linear programs were solved, ``cuts``: how many inequalities were found.
    ``gains``: what it was seen to bring to fix a column at 0 or at 1, scaled.
    """

    def __init__(self, problem: Problem, incumbent: Incumbent, clock: Clock) -> None:
        self.problem = problem
        self.incumbent = incumbent
        self.clock = clock
        self.lowest = 0.0
        self.programs = 0
        self.cuts = 0
        self.warnings: tuple[str, ...] = ()
        self.gains: dict[tuple[int, float], list[float]] = {}
        self.compiled = uses_compiled_cuts(incumbent.instance)
        self.rng = np.random.default_rng(0)

    def run(self) -> None:
        """Raise the lowest value until nothing better is left, or the clock is over."""
        with suppress(_Over):
            self.look_at_clock()
            program = Program(self.incumbent.instance, self.problem, self.incumbent)
            self._cut(program)
            if self.lowest < self.incumbent.cutoff:
                self._solve(program)
                self._search(program)

    def rise(self, lowest: float) -> None:
        """No better tour is below this."""
        self.lowest = max(self.lowest, lowest)

    def look_at_clock(self) -> None:
        """Tell the clock where the proof stands, and stop where it is over."""
        self.programs += 1
        self.clock.iterations += 1
        if self.incumbent.by_weight or self.incumbent.instance.budget is None:
            self.clock.bound = self.incumbent.proven_bound(self.lowest)
        self.clock.report()
        if self.clock.over:
            raise _Over

    def _solve(self, program: Program) -> None:
        """Solve the relaxation over all arcs, and take its bound."""
        while True:
            if not program.solve(self.clock.seconds_left):
                raise _Over
            if not program.price(5 * program.nodes):
                self.rise(program.value / program.scale)
                closed = self.lowest >= self.incumbent.cutoff
                if closed or not program.raise_elastic_cost():
                    break
            self.look_at_clock()
        self.look_at_clock()

    def _cut(self, program: Program) -> None:
        """Cut the root until that hardly helps any more."""
        slow, before = 0, -np.inf
        while slow < SLOW_ROUNDS:
            self._solve(program)
            if self.lowest >= self.incumbent.cutoff:
                return
            gap = self.incumbent.value * program.scale - program.value
            slow = slow + 1 if program.value - before < SLOW * gap else 0
            before = program.value
            if not self._separate(program, deep=slow > 0):
                return

    def _search(self, program: Program) -> None:
        """Branch on what is left, always at the node with the least bound."""
        room = self.incumbent.cutoff * program.scale - program.value
        program.keep_only(program.reduced_costs() <= room)
        numbers = count()
        unresolved = np.inf
        open_nodes: list[tuple[float, int, Fixed]] = [(program.value, next(numbers), {})]
        while open_nodes:
            self.rise(min(open_nodes[0][0] / program.scale, unresolved))
            if open_nodes[0][0] / program.scale >= self.incumbent.cutoff:
                break
            self.look_at_clock()
            bound, _, fixed = heappop(open_nodes)
            program.fix(fixed)
            value = self._look_into(program)
            if value is None:
                continue
            bound = max(bound, value)
            branches = self._branches(program, fixed)
            if not branches:
                unresolved = min(unresolved, bound / program.scale)
                self.warnings = (UNRESOLVED,)
            if len(program.cuts) > MOST_CUTS * program.nodes:
                program.fix(fixed)
                if program.solve(self.clock.seconds_left):
                    program.drop_idle_cuts()
            for column, decided in branches:
                heappush(open_nodes, (bound, next(numbers), fixed | {column: decided}))
        self.rise(unresolved)

    def _look_into(self, program: Program) -> float | None:
        """Bound a node by cuts: the value to branch at, None where it holds no better tour."""
        before = -np.inf
        while True:
            if not program.solve(self.clock.seconds_left):
                if program.feasible:
                    raise _Over
                return None
            if program.value >= self.incumbent.cutoff * program.scale:
                return None
            if program.raise_elastic_cost():
                continue
            whole = program.is_whole
            if whole:
                rings = _rings(program)
                if len(rings) == 1:
                    self.incumbent.offer(self.problem.cut_open_one_way(np.array(rings[0])))
                    limit = self.incumbent.cutoff * program.scale
                    return program.value if program.value < limit else None
            else:
                room = self.incumbent.cutoff * program.scale - program.value
                if program.value - before < SLOW_IN_TREE * room:
                    return program.value
            before = program.value
            if not self._separate(program):
                if whole:  # rings that no cut tells apart: rounding went wrong
                    raise _Over
                return program.value

    def _separate(self, program: Program, deep: bool = False) -> int:
        """Add cuts that the point breaks; how many."""
        found = 0
        if self.compiled:
            cuts = separate(self._as_pairs(program), self.rng, program.nodes, deep)
            for cut in cuts:
                program.add_cut(cut)
            found = len(cuts)
        found = found or add_own_cuts(program)
        self.cuts += found
        return found

    def _as_pairs(self, program: Program) -> Point:
        """The point as one of tours without direction: whatever holds for these holds for it."""
        nodes, arcs = program.nodes, len(program.x)
        tail, head = program.tail[:arcs], program.head[:arcs]
        pair = np.minimum(tail, head) * nodes + np.maximum(tail, head)
        both, which = np.unique(pair, return_inverse=True)
        x = np.zeros(len(both))
        np.add.at(x, which, program.x)
        return make_point(self.problem, program.y, both // nodes, both % nodes, x, program.z)

    def _branches(self, program: Program, fixed: Fixed) -> list[tuple[int, float]]:
        """The column to decide, with both values: the one whose sides gain most; [] if none is."""
        columns = program.fractional(CANDIDATES)
        if not columns:
            columns = program.undecided(fixed)
            return [(column, decided) for column in columns for decided in (1.0, 0.0)]
        value, basis = program.value, program.highs.getBasis()
        best, most = -1, -1.0
        for column in columns:
            gains = []
            for decided in (0.0, 1.0):
                seen = self.gains.setdefault((column, decided), [])
                if len(seen) < RELIABLE:
                    program.fix(fixed | {column: decided})
                    program.highs.setBasis(basis)
                    solved = program.solve(self.clock.seconds_left)
                    worst = self.incumbent.value * program.scale
                    seen.append(program.value - value if solved else worst)
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
