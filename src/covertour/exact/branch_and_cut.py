"""The proof: cutting planes and branching around the relaxation, from a tour to its bound."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from time import perf_counter

import numpy as np

from covertour.exact.branching import PseudoCosts, choose_branch
from covertour.exact.decisions import Decisions, Node
from covertour.exact.duality import costs_of
from covertour.exact.formulation import (
    Problem,
    make_problem,
    shortest_of_one_or_two,
    starting_edges,
)
from covertour.exact.proof import SAME_LENGTH, Proof, relative_gap
from covertour.exact.relaxation import Relaxation
from covertour.exact.rounds import separate
from covertour.exact.separation import make_point
from covertour.exact.tours import as_tour, covers, fraction
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.solving.clock import Clock

NEIGHBOURS = 10
"""Pairs a place starts with; the rest is priced."""

IDLE_SOLVES = 1
"""A cut that was idle for more solves than this leaves the program."""


class _Limit(Exception):
    """The caller's clock is over."""


def prove(
    instance: Instance,
    start: IntArray,
    clock: Clock,
    *,
    seed: int = 0,
    improve: Callable[[IntArray], IntArray] | None = None,
) -> Proof:
    """Prove how short a covering tour can be, starting from the covering tour ``start``, int64[m].

    The clock counts nodes as iterations, and hears of every better tour and of the bound.
    ``improve`` turns a list of places, often not a covering tour, into a good covering tour.
    Whatever ends the proof, also Ctrl-C, what is proven so far is returned.
    """
    search = _Search(instance, start, clock, seed, improve)
    try:
        search.run()
    except (_Limit, KeyboardInterrupt):
        search.stopped = True
    return search.proof()


class _Search:
    """The state of one proof."""

    def __init__(
        self,
        instance: Instance,
        start: IntArray,
        clock: Clock,
        seed: int,
        improve: Callable[[IntArray], IntArray] | None,
    ) -> None:
        self.begun = perf_counter()
        self.instance = instance
        self.clock = clock
        self.improve = improve
        self.rng = np.random.default_rng(seed)
        self.problem: Problem = make_problem(instance)
        self.places = np.array(start, dtype=np.int64)
        self.length = instance.length(self.places)
        if not covers(self.problem, self.places):
            raise InputError("start: expected a covering tour that keeps the instance's rules")
        clock.improved(self.length, self.places)
        self.open: list[Node] = []
        self.active: Node | None = None
        self.numbers = count()
        self.nodes = 0
        self.left_over = np.inf  # the lowest bound of nodes that nothing can be decided in
        self.stopped = False
        self.warnings: list[str] = []
        self.relaxation: Relaxation | None = None
        self.decisions: Decisions | None = None
        self.tried: set[bytes] = set()

    # --- bounds ------------------------------------------------------------------------------

    @property
    def cutoff(self) -> float:
        """A node whose tours are all at least this long has nothing better to offer."""
        if self.problem.integral:
            return self.length - 1.0 + 1e-6 * max(1.0, 1e-3 * self.length)
        return self.length * (1.0 - SAME_LENGTH)

    @property
    def bound(self) -> float:
        """No tour is shorter: the lowest open node, or the best tour where none is left."""
        # All of them, not the first: Ctrl-C may come while the heap is being mended.
        lowest = min([self.left_over, *(node.bound for node in self.open)])
        if self.active is not None:
            lowest = min(lowest, self.active.bound)
        if self.problem.integral:
            if lowest >= self.cutoff:
                return self.length
            return float(max(0.0, np.ceil(lowest - 1e-6 * max(1.0, 1e-3 * self.length))))
        return float(max(0.0, min(lowest, self.cutoff)))

    def proof(self) -> Proof:
        """What is proven now."""
        length = self.instance.length(self.places)
        bound = min(self.bound, length)
        return Proof(
            places=self.places,
            length=length,
            bound=bound,
            optimal=relative_gap(length, bound) <= 1e-6,
            nodes=self.nodes,
            cuts=len(self.relaxation.pool) if self.relaxation is not None else 0,
            seconds=perf_counter() - self.begun,
            warnings=tuple(self.warnings),
        )

    def check_limits(self) -> None:
        """Tell the clock where the proof stands, and stop where it is over."""
        self.clock.bound = min(self.bound, self.length)
        self.clock.report()
        if self.clock.over:
            raise _Limit

    # --- tours -------------------------------------------------------------------------------

    def offer(self, places: IntArray) -> None:
        """Take a tour if it is a covering one and shorter than the best."""
        places = np.asarray(places, dtype=np.int64)
        if covers(self.problem, places):
            length = self.instance.length(places)
            if length < self.length:
                self.places, self.length = places, length
                self.clock.improved(length, places)
                if self.decisions is not None:
                    self.decisions.fix_by_cost(self.cutoff)

    def try_rounding(self) -> None:
        """Let the caller's search make a tour of the places that the relaxation favours."""
        assert self.relaxation is not None
        if self.improve is None:
            return
        y = self.relaxation.y
        rounded = np.flatnonzero(y >= min(0.5, float(y.max())))
        if rounded.tobytes() not in self.tried:
            self.tried.add(rounded.tobytes())
            self.offer(self.improve(rounded))

    # --- the tree ----------------------------------------------------------------------------

    def run(self) -> None:
        """Close all nodes, or run into a limit."""
        # Until something is proven all that is known is that lengths are not negative.
        self.active = Node(0.0, next(self.numbers), 0, {}, {}, None)
        short = shortest_of_one_or_two(self.instance, self.problem)
        if short is not None:
            self.offer(short)
        if self.length <= 0.0 or self.problem.allowed.sum() < 3:
            self.active = None
            return
        self.check_limits()
        problem = self.problem
        self.relaxation = Relaxation(
            problem, *starting_edges(problem, self.places, NEIGHBOURS), self.length
        )
        self.pseudo = PseudoCosts(problem.n)
        self.decisions = Decisions(problem, self.relaxation)
        while True:
            node = self.active
            assert node is not None
            children = self.process(node)
            # At no moment, whenever Ctrl-C comes, may a node be neither active nor open.
            for child in children:
                heapq.heappush(self.open, child)
            self.active = None
            self.clock.iterations = self.nodes
            while self.open and self.open[0].bound >= self.cutoff:
                heapq.heappop(self.open)
            if not self.open:
                return
            self.check_limits()
            self.activate(children)

    def activate(self, children: list[Node]) -> None:
        """Go on with a child, whose program is still warm, unless it is much worse than another."""
        lowest = self.open[0].bound
        patience = lowest + 0.25 * max(self.length - lowest, 0.0)
        near = [child for child in children if child.bound < min(patience, self.cutoff)]
        if near and near[0] in self.open:
            self.active = near[0]
            self.open.remove(near[0])
            heapq.heapify(self.open)
        else:
            self.active = self.open[0]
            heapq.heappop(self.open)

    def process(self, node: Node) -> list[Node]:
        """Bound a node with cuts and prices; the nodes it branches into, none if it is closed."""
        relaxation, decisions = self.relaxation, self.decisions
        assert relaxation is not None
        assert decisions is not None
        self.nodes += 1
        at_root = node.depth == 0
        decisions.enter(node)
        history: list[float] = []
        stalled = 0
        deep = False
        before = node.bound
        rounding_due = 0
        for turn in count():
            relaxation.solve(seconds=self.clock.seconds_left)
            costs = costs_of(relaxation)
            node.bound = max(node.bound, costs.bound)
            if at_root or turn % 5 == 4:
                self.check_limits()
            if node.bound >= self.cutoff:
                return []
            if not relaxation.optimal:
                if self.clock.seconds_left <= 0.0:
                    raise _Limit
                self.warn("the solver of linear programs had trouble; the bound may be weaker")
            attractive = relaxation.price(costs.pairs, max(100, self.problem.n))
            point = make_point(
                self.problem,
                relaxation.y,
                relaxation.edge_u[: len(relaxation.x)],
                relaxation.edge_v[: len(relaxation.x)],
                relaxation.x,
            )
            tour = as_tour(relaxation.y, point.u, point.v, point.x)
            if tour is not None and relaxation.elastic < 1e-6:
                self.offer(tour)
                if node.bound >= self.cutoff:
                    return []
            history.append(relaxation.objective)
            recent = 6 if at_root else 3
            gap = max(self.cutoff * relaxation.scale - costs.value, 1e-9)
            slow = (
                len(history) > recent
                and history[-1] - history[-1 - recent] < (0.02 if at_root else 0.1) * gap
            )
            stalled = stalled + 1 if slow else 0
            if at_root and stalled == 2 and not deep:
                deep, stalled, history = True, 0, []
            if at_root and turn >= rounding_due + 10:
                rounding_due = turn
                self.try_rounding()
            new = 0
            # Whatever the stalling says, a point that looks like a tour must be cut off.
            whole = fraction(relaxation.y) < 1e-6 and fraction(relaxation.x) < 1e-6
            if stalled < 2 or whole:
                cuts = separate(point, self.rng, max(100, self.problem.n), deep)
                relaxation.drop_idle_cuts(IDLE_SOLVES)
                new = relaxation.add_cuts(cuts)
            if new == 0 and attractive == 0:
                if relaxation.elastic > 1e-6:
                    if relaxation.elastic_cost > 1e9:
                        self.warn("a node could not be closed by its bound")
                        break
                    relaxation.raise_elastic_cost()
                    continue
                break
        if node.branch is not None:
            self.pseudo.learn(node.branch, (node.bound - before) * relaxation.scale)
        if at_root:
            room = self.cutoff * relaxation.scale - costs.value
            decisions.root_costs = costs_of(relaxation, exact_below=room)
            self.try_rounding()
            decisions.fix_by_cost(self.cutoff, delete=True)
            if node.bound >= self.cutoff:
                return []
            relaxation.solve(seconds=self.clock.seconds_left)
        elif self.nodes % 10 == 0:
            self.try_rounding()
        if node.bound >= self.cutoff:
            return []
        decisions.fix_here(node, costs, self.cutoff)
        return self.divide(node)

    def warn(self, text: str) -> None:
        """Keep a warning, once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def divide(self, node: Node) -> list[Node]:
        """Two nodes that share the tours of this one; the likelier one first."""
        relaxation, decisions = self.relaxation, self.decisions
        assert relaxation is not None
        assert decisions is not None
        basis = relaxation.basis()
        pair = choose_branch(relaxation, self.pseudo, basis, self.cutoff * relaxation.scale)
        if pair is None:
            self.warn("a node could not be closed by its bound")
            self.left_over = min(self.left_over, node.bound)
            return []
        children = []
        for branch in pair:
            stops, pairs = dict(node.stops), dict(node.pairs)
            if branch.pair is None:
                stops[branch.place] = branch.value
            else:
                pairs[branch.pair] = branch.value
                if branch.value == 1:
                    for place in branch.pair:
                        stops[place] = 1
            if decisions.consistent(stops, pairs):
                children.append(
                    Node(
                        node.bound, next(self.numbers), node.depth + 1, stops, pairs, basis, branch
                    )
                )
        return children
