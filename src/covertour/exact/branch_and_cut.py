"""The proof: branch-and-cut, from a covering tour to a bound that no tour is below.

With a budget there are two of them: how much weight can be served, and then, once that is proven,
at what cost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np

from covertour.exact.bounds import Bounds
from covertour.exact.branching import PseudoCosts, choose_branch
from covertour.exact.formulation import Problem, check_provable, make_problem, starting_edges
from covertour.exact.incumbent import Incumbent
from covertour.exact.nested import starting_cuts
from covertour.exact.nodes import Node, NodeQueue
from covertour.exact.point import is_whole
from covertour.exact.pricing import Costs, price
from covertour.exact.relaxation import Relaxation
from covertour.exact.separation import separate
from covertour.exact.short import best_of_one_or_two, shortest_of_one_or_two
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.solving.clock import Clock
from covertour.solving.stop import PROVEN, relative_gap, weight_gap

Improve = Callable[[IntArray], IntArray]
"""Turns a list of places, often not a covering tour, into a good covering tour."""

SHORTEST_TOUR = 3
"""Stops of the shortest tours that the program knows."""

NEIGHBOURS = 10
"""Pairs per place that the relaxation starts with; the others are priced."""

PER_ROUND = 100
"""A round adds at most this many cuts and pairs, or as many as there are places if that is more."""

IDLE_SOLVES = 1
"""A cut that was idle for more solves than this leaves the program."""

ROUNDS_PER_LOOK = 5
"""In the tree the clock is looked at every so many rounds of a node; at the root in every one."""

ROUNDS_PER_ROUNDING, NODES_PER_ROUNDING = 10, 10
"""The relaxation is rounded to a tour every so many rounds at the root, and nodes in the tree."""

WHOLE = 1e-6
"""A point this near to whole numbers must be cut off or be a tour."""

ELASTIC = 1e-6
"""A program that uses less than this of its elastic columns uses none."""

MOST_ELASTIC_COST = 1e9
"""The cost of elastic columns is not raised above this, in scaled lengths."""

LEAST_GAP = 1e-9
"""A gap counts as at least this much, in scaled lengths."""

UNRESOLVED = "a node could not be closed by its bound"
TROUBLE = "the solver of linear programs had trouble; the bound may be weaker"


@dataclass(frozen=True, eq=False)
class Proof:
    """The best tour known and how good a tour can possibly be.

    ``places``: int64[m], the stops in order; ``cost``: of that tour. ``bound``: no tour costs less;
    where costs are whole numbers it is rounded up. With a budget ``weight`` is what the tour
    serves, and no tour within the budget serves more than ``bound``; none that serves as much as
    this one costs less than ``cost_bound``, None where that was not looked at. ``nodes``:
    subproblems looked at; ``cuts``: inequalities found. ``warnings``: one line each; numerical
    trouble makes the bound weaker, never wrong.
    """

    places: IntArray
    cost: float
    bound: float
    nodes: int
    cuts: int
    warnings: tuple[str, ...] = ()
    weight: float | None = None
    cost_bound: float | None = None

    @property
    def gap(self) -> float | None:
        """(cost - bound) / bound: 0 where optimal, None where nothing is proven.

        With a budget it is (bound - weight) / weight.
        """
        if self.weight is not None:
            return weight_gap(self.weight, self.bound)
        return relative_gap(self.cost, self.bound)

    @property
    def optimal(self) -> bool:
        """Whether no tour is better; to a relative 1e-6 where values are not whole numbers.

        With a budget: whether none serves more, nor as much at less cost.
        """
        return self.serves_most if self.weight is None else self.serves_most and self.cheapest

    @property
    def serves_most(self) -> bool:
        """Whether the gap is closed: that of the cost, or with a budget that of the weight."""
        return self.gap is not None and self.gap <= PROVEN

    @property
    def cheapest(self) -> bool:
        """With a budget: whether no tour serves as much at less cost."""
        gap = relative_gap(self.cost, self.cost_bound)
        return gap is not None and gap <= PROVEN


def prove(
    instance: Instance,
    start: IntArray,
    clock: Clock,
    *,
    seed: int = 0,
    improve: Improve | None = None,
) -> Proof:
    """Prove how good a tour can be, starting from the covering tour ``start``, int64[m].

    The clock counts nodes as iterations, and hears of every better tour and of the bound.
    ``improve`` is asked for tours of places that the relaxation favours. When the clock is over,
    what is proven so far is returned.
    """
    check_provable(instance)
    proof = _prove(instance, np.array(start, dtype=np.int64), clock, None, seed, improve)
    if instance.budget is None or not proof.serves_most or clock.over:
        return proof
    second = _prove(instance, proof.places, clock, proof.weight, seed, improve)
    return replace(
        proof,
        places=second.places,
        cost=second.cost,
        nodes=proof.nodes + second.nodes,
        cuts=proof.cuts + second.cuts,
        warnings=tuple(dict.fromkeys((*proof.warnings, *second.warnings))),
        cost_bound=second.bound,
    )


def _prove(
    instance: Instance,
    start: IntArray,
    clock: Clock,
    least_weight: float | None,
    seed: int,
    improve: Improve | None,
) -> Proof:
    """One proof; with ``least_weight`` that of the least cost at which so much is served."""
    incumbent = Incumbent(instance, clock, start, least_weight)
    queue = NodeQueue()
    tree: _Tree | None = None
    try:
        problem = make_problem(instance, least_weight, incumbent.weight)
        queue = NodeQueue(problem.used)
        short = _short_tour(instance, problem, incumbent)
        if short is not None:
            incumbent.offer(short)
        if incumbent.value > 0.0 and problem.allowed.sum() >= SHORTEST_TOUR:
            _look_at(clock, incumbent, queue)
            tree = _Tree(problem, incumbent, queue, clock, np.random.default_rng(seed), improve)
            tree.search()
        else:
            queue.active = None
    except _Over:
        pass
    return Proof(
        places=incumbent.places,
        cost=incumbent.cost,
        bound=incumbent.proven_bound(queue),
        nodes=tree.nodes if tree is not None else 0,
        cuts=len(tree.relaxation.pool) if tree is not None else 0,
        warnings=tuple(tree.warnings) if tree is not None else (),
        weight=incumbent.weight if incumbent.by_weight else None,
    )


def _short_tour(instance: Instance, problem: Problem, incumbent: Incumbent) -> IntArray | None:
    """The best tour of one or two stops that might be better than the best one known."""
    if not instance.features:
        return shortest_of_one_or_two(problem)
    least = incumbent.least_weight
    if least is None and instance.partial:
        least = instance.quota_weight
    return best_of_one_or_two(instance, problem, least, incumbent.cost, incumbent.weight)


class _Over(Exception):
    """The caller's clock is over."""


def _look_at(clock: Clock, incumbent: Incumbent, queue: NodeQueue) -> None:
    """Tell the clock where the proof stands, and stop where it is over."""
    if incumbent.by_weight or incumbent.instance.budget is None:
        clock.bound = incumbent.proven_bound(queue)
    clock.report()
    if clock.over:
        raise _Over


@dataclass
class _TailingOff:
    """Tells when cuts hardly raise the bound of a node any more.

    It happens when the last ``window`` rounds together closed less than this ``share`` of the gap:
    then a node is branched on; at the root cuts are first looked for more deeply.
    """

    window: int
    share: float
    objectives: list[float] = field(default_factory=list)
    happens: bool = False

    def add(self, objective: float, gap: float) -> None:
        """Note the objective after a round, and the gap that is left."""
        self.objectives.append(objective)
        known = len(self.objectives) > self.window
        self.happens = known and objective - self.objectives[-1 - self.window] < self.share * gap

    @classmethod
    def at(cls, node: Node) -> _TailingOff:
        """For a node: at the root, whose cuts serve the whole tree, slower rounds are borne."""
        return cls(window=4, share=0.05) if node.is_root else cls(window=3, share=0.1)


class _Tree:
    """The search tree of one proof."""

    def __init__(
        self,
        problem: Problem,
        incumbent: Incumbent,
        queue: NodeQueue,
        clock: Clock,
        rng: np.random.Generator,
        improve: Improve | None,
    ) -> None:
        edges = starting_edges(problem, problem.closed(incumbent.places), NEIGHBOURS)
        self.relaxation = Relaxation(problem, edges, incumbent.value)
        self.relaxation.add_cuts(starting_cuts(problem))
        self.bounds = Bounds(self.relaxation)
        self.pseudo_costs = PseudoCosts(problem.switches)
        self.incumbent = incumbent
        self.queue = queue
        self.clock = clock
        self.rng = rng
        self.improve = improve
        self.per_round = max(PER_ROUND, problem.n)
        self.nodes = 0
        self.nodes_before = clock.iterations
        self.warnings: list[str] = []
        self.rounded: set[bytes] = set()

    def search(self) -> None:
        """Close all nodes, or stop when the clock is over."""
        while True:
            node = self.queue.active
            assert node is not None
            self.nodes += 1
            children = self.process(node)
            self.clock.iterations = self.nodes_before + self.nodes
            if not self.queue.replace_active(children, self.incumbent.cutoff):
                return
            self.look_at_clock()
            self.queue.activate_next(children, self.incumbent.value, self.incumbent.cutoff)

    def process(self, node: Node) -> list[Node]:
        """Bound a node with cuts and prices; the nodes it branches into, none if it is closed."""
        relaxation = self.relaxation
        before = node.bound
        self.bounds.enter(node)
        costs = self.cut(node)
        if costs is None:
            return []
        if node.branch is not None:
            self.pseudo_costs.learn(node.branch, (node.bound - before) * relaxation.scale)
        if node.is_root:
            room = self.incumbent.cutoff * relaxation.scale - costs.value
            root_costs = price(relaxation, exact_below=room)
            self.try_rounding()
            self.bounds.fix_at_root(root_costs, self.incumbent.cutoff)
        elif self.nodes % NODES_PER_ROUNDING == 0:
            self.try_rounding()
        if node.bound >= self.incumbent.cutoff:
            return []
        if node.is_root:
            relaxation.solve(self.clock.seconds_left)
        else:
            self.bounds.fix_below(node, costs, self.incumbent.cutoff)
        return self.divide(node)

    def cut(self, node: Node) -> Costs | None:
        """Cut and price until neither helps any more; None where the bound closes the node."""
        relaxation, incumbent = self.relaxation, self.incumbent
        tailing_off = _TailingOff.at(node)
        deep = False
        last_rounding = 0
        for turn in count():
            relaxation.solve(self.clock.seconds_left)
            costs = price(relaxation)
            node.bound = max(node.bound, costs.bound)
            if node.is_root or turn % ROUNDS_PER_LOOK == ROUNDS_PER_LOOK - 1:
                self.look_at_clock()
            if node.bound >= incumbent.cutoff:
                return None
            if not relaxation.optimal:
                if self.clock.seconds_left <= 0.0:
                    raise _Over
                self.warn(TROUBLE)
            attractive = relaxation.add_attractive(costs.pairs, self.per_round)
            point = relaxation.point
            tour = point.as_tour()
            if tour is not None and relaxation.elastic < ELASTIC:
                self.offer(tour)
                if node.bound >= incumbent.cutoff:
                    return None
            gap = incumbent.cutoff * relaxation.scale - costs.value
            tailing_off.add(relaxation.objective, max(gap, LEAST_GAP))
            if node.is_root and tailing_off.happens and not deep:
                deep, tailing_off = True, _TailingOff.at(node)
            if node.is_root and turn >= last_rounding + ROUNDS_PER_ROUNDING:
                last_rounding = turn
                self.try_rounding()
            new = 0
            # Even if cuts have tailed off, a point that looks like a tour must be cut off.
            whole = is_whole(relaxation.y, WHOLE) and is_whole(relaxation.x, WHOLE)
            if whole or not tailing_off.happens:
                cuts = separate(point, self.rng, self.per_round, deep)
                relaxation.drop_idle_cuts(IDLE_SOLVES)
                new = relaxation.add_cuts(cuts)
            if new == 0 and attractive == 0:
                if relaxation.elastic <= ELASTIC:
                    break
                if relaxation.elastic_cost > MOST_ELASTIC_COST:
                    self.warn(UNRESOLVED)
                    break
                relaxation.raise_elastic_cost()
        return costs

    def divide(self, node: Node) -> list[Node]:
        """Two nodes that share the tours of this one; the likelier one first."""
        basis = self.relaxation.basis()
        cutoff = self.incumbent.cutoff * self.relaxation.scale
        branches = choose_branch(self.relaxation, self.pseudo_costs, basis, cutoff)
        if branches is None:
            self.warn(UNRESOLVED)
            self.queue.give_up(node)
            return []
        children = [self.queue.child(node, branch, basis) for branch in branches]
        return [child for child in children if self.bounds.is_consistent(child)]

    def offer(self, places: IntArray) -> None:
        """Take a tour if it is better, and fix what it excludes."""
        if self.incumbent.offer(places):
            self.bounds.tighten(self.incumbent.cutoff)

    def try_rounding(self) -> None:
        """Let the caller's search make a tour of the places that the relaxation favours."""
        y = self.relaxation.y[: self.incumbent.instance.n]
        favoured = np.flatnonzero(y >= min(0.5, float(y.max())))
        if self.improve is not None and favoured.tobytes() not in self.rounded:
            self.rounded.add(favoured.tobytes())
            self.offer(self.improve(favoured))

    def look_at_clock(self) -> None:
        """Tell the clock where the proof stands, and stop where it is over."""
        _look_at(self.clock, self.incumbent, self.queue)

    def warn(self, text: str) -> None:
        """Keep a warning, once."""
        if text not in self.warnings:
            self.warnings.append(text)
