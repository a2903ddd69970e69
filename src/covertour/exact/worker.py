"""A worker of a proof: how a node is bounded by cuts and prices, and divided.

One worker bounds the root, where threads look for cuts and for tours. Then all of them work on the
tree: the others begin with copies of its linear program.
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from threading import Event, Thread

import numpy as np

from covertour.exact.bounds import Bounds
from covertour.exact.branching import PseudoCosts, choose_branch
from covertour.exact.formulation import Problem, starting_edges
from covertour.exact.nested import starting_cuts
from covertour.exact.nodes import Node
from covertour.exact.point import is_whole
from covertour.exact.pricing import Costs, price
from covertour.exact.relaxation import Relaxation
from covertour.exact.separation import separate
from covertour.exact.tree import Over, Tree
from covertour.problem.metric import IntArray

NEIGHBOURS = 14
"""Pairs per place that the relaxation starts with; the others are priced."""

PER_ROUND = 100
"""A round adds at most this many cuts and pairs, or as many as there are places if that is more."""

IDLE_SOLVES = 2
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


def search(tree: Tree, problem: Problem, seed: int, workers: int) -> None:
    """Close all nodes with so many workers, or raise :class:`Over` when the clock is over."""
    tree.look_at_clock()
    incumbent = tree.incumbent
    edges = starting_edges(problem, problem.closed(incumbent.places), NEIGHBOURS)
    relaxation = Relaxation(problem, edges, incumbent.value)
    relaxation.add_cuts(starting_cuts(problem))
    tree.pseudo_costs = PseudoCosts(problem.switches)
    first = Worker(tree, relaxation, Bounds(relaxation), np.random.default_rng(seed))
    try:
        (root,) = tree.queue.active
        children = first.process(root) if workers == 1 else _root(tree, first, root, workers)
        node = tree.next(root, children)
        if node is not None:
            _share(tree, first, node, seed, workers)
    finally:
        tree.cuts = len(relaxation.pool)


def _root(tree: Tree, first: Worker, root: Node, workers: int) -> list[Node]:
    """Bound the root, with threads that look for cuts and for better tours."""
    enough = Event()
    with ThreadPoolExecutor(workers) as first.threads:
        looking = first.threads.submit(_look_for_tours, tree, enough)
        try:
            children = first.process(root)
        finally:
            enough.set()
    first.threads = None
    looking.result()
    return children


def _look_for_tours(tree: Tree, enough: Event) -> None:
    """Let the caller's search make tours until there are enough."""
    if tree.another is None:
        return
    for number in count(1):
        places = tree.another(number, enough.is_set)
        if places is None:
            return
        tree.offer(places)
        if enough.is_set():
            return


def _share(tree: Tree, first: Worker, node: Node, seed: int, workers: int) -> None:
    """Let the first worker, which has a node, and others close all nodes."""
    others = [first.copy(np.random.default_rng([seed, k])) for k in range(1, workers)]
    threads = [Thread(target=_work, args=(tree, other, None)) for other in others]
    for thread in threads:
        thread.start()
    _work(tree, first, node)
    for thread in threads:
        thread.join()
    if tree.failure is not None:
        raise tree.failure


def _work(tree: Tree, worker: Worker, node: Node | None) -> None:
    """Work on a node, then on others, until there are no more; a failure ends all work."""
    try:
        if node is None:
            node = tree.next(None, [])
        while node is not None:
            node = tree.next(node, worker.process(node))
    except BaseException as failure:
        tree.stop(failure)


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


class Worker:
    """Who bounds nodes, by a linear program of its own and its bounds."""

    def __init__(
        self, tree: Tree, relaxation: Relaxation, bounds: Bounds, rng: np.random.Generator
    ) -> None:
        self.tree = tree
        self.relaxation = relaxation
        self.bounds = bounds
        self.rng = rng
        self.cutoff = tree.incumbent.cutoff
        self.per_round = max(PER_ROUND, relaxation.n)
        self.threads: Executor | None = None

    def copy(self, rng: np.random.Generator) -> Worker:
        """Another worker, with a copy of the program, who goes on from here."""
        relaxation = self.relaxation.copy()
        return Worker(self.tree, relaxation, self.bounds.copy(relaxation), rng)

    def process(self, node: Node) -> list[Node]:
        """Bound a node with cuts and prices; the nodes it branches into, none if it is closed."""
        relaxation, tree = self.relaxation, self.tree
        before, number = node.bound, tree.nodes
        self.tighten()
        self.bounds.enter(node)
        costs = self.cut(node)
        if costs is None:
            return []
        if node.branch is not None:
            tree.pseudo_costs.learn(node.branch, (node.bound - before) * relaxation.scale)
        if node.is_root:
            room = tree.incumbent.cutoff * relaxation.scale - costs.value
            root_costs = price(relaxation, exact_below=room)
            self.try_rounding()
            self.bounds.fix_at_root(root_costs, tree.incumbent.cutoff)
        elif number % NODES_PER_ROUNDING == 0:
            self.try_rounding()
        if node.bound >= tree.incumbent.cutoff:
            return []
        if node.is_root:
            relaxation.solve(tree.clock.seconds_left)
        else:
            self.bounds.fix_below(node, costs, tree.incumbent.cutoff)
        return self.divide(node)

    def cut(self, node: Node) -> Costs | None:
        """Cut and price until neither helps any more; None where the bound closes the node."""
        relaxation, tree, incumbent = self.relaxation, self.tree, self.tree.incumbent
        tailing_off = _TailingOff.at(node)
        deep = False
        last_rounding = 0
        for turn in count():
            relaxation.solve(tree.clock.seconds_left)
            costs = price(relaxation)
            node.bound = max(node.bound, costs.bound)
            if node.is_root or turn % ROUNDS_PER_LOOK == ROUNDS_PER_LOOK - 1:
                tree.look_at_clock()
            if node.bound >= incumbent.cutoff:
                return None
            if not relaxation.optimal:
                if tree.clock.seconds_left <= 0.0:
                    raise Over
                tree.warn(TROUBLE)
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
                cuts = separate(point, self.rng, self.per_round, deep, self.threads)
                relaxation.drop_idle_cuts(IDLE_SOLVES)
                new = relaxation.add_cuts(cuts)
            if new == 0 and attractive == 0:
                if relaxation.elastic <= ELASTIC:
                    break
                if relaxation.elastic_cost > MOST_ELASTIC_COST:
                    tree.warn(UNRESOLVED)
                    break
                relaxation.raise_elastic_cost()
        return costs

    def divide(self, node: Node) -> list[Node]:
        """Two nodes that share the tours of this one; the likelier one first."""
        tree, basis = self.tree, self.relaxation.basis()
        cutoff = tree.incumbent.cutoff * self.relaxation.scale
        branches = choose_branch(self.relaxation, tree.pseudo_costs, cutoff)
        if branches is None:
            tree.give_up(node, UNRESOLVED)
            return []
        children = [tree.queue.child(node, branch, basis) for branch in branches]
        return [child for child in children if self.bounds.is_consistent(child)]

    def offer(self, places: IntArray) -> None:
        """Take a tour if it is better, and fix what it excludes."""
        self.tree.offer(places)
        self.tighten()

    def try_rounding(self) -> None:
        """Let the caller's search make a tour of the places that the relaxation favours."""
        y = self.relaxation.y[: self.tree.incumbent.instance.n]
        self.tree.round(np.flatnonzero(y >= min(0.5, float(y.max()))))
        self.tighten()

    def tighten(self) -> None:
        """Fix what a better tour excludes, whoever found it."""
        cutoff = self.tree.incumbent.cutoff
        if cutoff < self.cutoff:
            self.cutoff = cutoff
            self.bounds.tighten(cutoff)
