"""The proof: branch-and-cut, from a covering tour to a bound that no tour is below.

With a budget there are two of them: how much weight can be served, and then, once that is proven,
at what cost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from covertour.exact.directed import DirectedSearch
from covertour.exact.formulation import Problem, check_provable, make_problem
from covertour.exact.incumbent import Incumbent
from covertour.exact.nodes import NodeQueue
from covertour.exact.short import best_of_one_or_two, shortest_of_one_or_two
from covertour.exact.tree import Another, Improve, Over, Tree
from covertour.exact.worker import search
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.solving.clock import Clock
from covertour.solving.stop import PROVEN, relative_gap, weight_gap

SHORTEST_TOUR = 3
"""Stops of the shortest tours that the program knows."""


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
    another: Another | None = None,
    workers: int = 1,
) -> Proof:
    """Prove how good a tour can be, starting from the covering tour ``start``, int64[m].

    The clock counts nodes as iterations, and hears of every better tour and of the bound.
    ``improve`` is asked for tours of places that the relaxation favours. When the clock is over,
    what is proven so far is returned. ``workers``: threads that work on the tree, each with a
    linear program of its own; at the root they look for cuts, and for tours by ``another``. What
    several prove holds as well; but which nodes they look at, so how many there are, which of
    equally good tours is found, and how far an unfinished proof comes, depends on who is faster.
    One worker does the same whenever it is asked. Where the way back may be longer than the way
    there it is one worker, without ``improve``, and linear programs count as nodes.
    """
    check_provable(instance)
    proof = _prove(
        instance, np.array(start, dtype=np.int64), clock, None, seed, improve, another, workers
    )
    if instance.budget is None or not proof.serves_most or clock.over:
        return proof
    second = _prove(instance, proof.places, clock, proof.weight, seed, improve, another, workers)
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
    another: Another | None,
    workers: int,
) -> Proof:
    """One proof; with ``least_weight`` that of the least cost at which so much is served."""
    incumbent = Incumbent(instance, clock, start, least_weight)
    queue = NodeQueue()
    tree: Tree | None = None
    directed: DirectedSearch | None = None
    try:
        problem = make_problem(instance, least_weight, incumbent.weight)
        queue = NodeQueue(problem.used)
        short = _short_tour(instance, problem, incumbent)
        if short is not None:
            incumbent.offer(short)
        if incumbent.value <= 0.0 or problem.allowed.sum() < SHORTEST_TOUR:
            queue.active.clear()
        elif not instance.symmetric:
            directed = DirectedSearch(problem, incumbent, clock)
            directed.run()
        else:
            tree = Tree(incumbent, queue, clock, improve, another)
            search(tree, problem, seed, workers)
    except Over:
        pass
    lowest, nodes, cuts = queue.lowest_bound(), 0, 0
    warnings: tuple[str, ...] = ()
    if directed is not None:
        lowest, nodes = directed.lowest, directed.programs
        cuts, warnings = directed.cuts, directed.warnings
    elif tree is not None:
        nodes, cuts, warnings = tree.nodes, tree.cuts, tuple(tree.warnings)
    return Proof(
        places=incumbent.places,
        cost=incumbent.cost,
        bound=incumbent.proven_bound(lowest),
        nodes=nodes,
        cuts=cuts,
        warnings=warnings,
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
