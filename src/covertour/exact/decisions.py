"""Decisions: what the tree has decided about places and pairs, and what follows from the best tour.

The tree decides for one node and its children; what only tours beyond the cutoff would do is
decided for all.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from covertour.exact.branching import Branch
from covertour.exact.duality import Costs
from covertour.exact.formulation import Problem
from covertour.exact.relaxation import Basis, Relaxation


@dataclass(order=True)
class Node:
    """A subproblem: what branching has fixed, and the bound it inherits. Ordered by bound."""

    bound: float
    number: int
    depth: int = field(compare=False)
    stops: dict[int, int] = field(compare=False)
    """place -> 1 if it must be a stop here, 0 if it must not"""
    pairs: dict[tuple[int, int], int] = field(compare=False)
    """pair u < v -> 1 if the tour must use it here, 0 if it must not"""
    basis: Basis | None = field(compare=False)
    branch: Branch | None = field(compare=False, default=None)
    """what made this node from its parent, to learn from"""


class Decisions:
    """What is decided for all nodes, and how the relaxation is told.

    ``y_lower``, ``y_upper``: float64[n], bounds of places in every node. ``root_costs``: the
    reduced costs at the root, once it is done.
    """

    def __init__(self, problem: Problem, relaxation: Relaxation) -> None:
        self.problem = problem
        self.relaxation = relaxation
        self.y_lower = relaxation.y_lower.copy()
        self.y_upper = relaxation.y_upper.copy()
        self.dead_pairs: set[tuple[int, int]] = set()
        self.root_costs: Costs | None = None

    def enter(self, node: Node) -> None:
        """Give the relaxation the node's bounds and basis."""
        relaxation = self.relaxation
        lower, upper = self.y_lower.copy(), self.y_upper.copy()
        for place, value in node.stops.items():
            lower[place] = max(lower[place], value)
            upper[place] = min(upper[place], value)
        # A place that the tree forces but the cutoff excludes (or the other way round) leaves a
        # node without better tours; the forced value keeps the program feasible.
        upper = np.maximum(lower, upper)
        columns: dict[int, tuple[float, float]] = {}
        if self.dead_pairs or node.pairs:
            number = {
                (int(u), int(v)): column
                for column, (u, v) in enumerate(
                    zip(relaxation.edge_u, relaxation.edge_v, strict=True)
                )
            }
            for pair in self.dead_pairs:
                if pair in number:
                    columns[number[pair]] = (0.0, 0.0)
            for pair, value in node.pairs.items():
                if pair in number:
                    columns[number[pair]] = (float(value), float(value))
        relaxation.set_bounds(lower, upper, columns)
        if node.basis is not None:
            relaxation.restore(node.basis)

    def fix_by_cost(self, cutoff: float, delete: bool = False) -> None:
        """Exclude what only tours beyond the cutoff use, by the reduced costs of the root.

        A tour that uses a pair (or stops at a place) whose value at the root is 0 is at least as
        long as the root's bound plus its reduced cost; likewise for one that leaves out what is 1.
        """
        relaxation, costs = self.relaxation, self.root_costs
        if costs is None:
            return
        room = cutoff * relaxation.scale - costs.value
        if room <= 0:
            return
        self.y_upper[(costs.places > room) & (self.y_lower < 0.5)] = 0.0
        self.y_lower[(costs.places < -room) & (self.y_upper > 0.5)] = 1.0
        hopeless = costs.pairs > room
        unused = (self.y_upper[relaxation.pair_u] < 0.5) | (self.y_upper[relaxation.pair_v] < 0.5)
        hopeless |= unused
        if not delete:
            # Bases of open nodes name columns by position: in the tree they stay, closed.
            inside = hopeless & (relaxation.pair_column >= 0)
            self.dead_pairs.update(
                zip(
                    relaxation.pair_u[inside].tolist(),
                    relaxation.pair_v[inside].tolist(),
                    strict=True,
                )
            )
            hopeless &= ~inside
        relaxation.forget_pairs(hopeless)
        self.root_costs = replace(costs, pairs=costs.pairs[~hopeless])
        if delete:
            relaxation.set_bounds(self.y_lower, self.y_upper, {})

    def fix_here(self, node: Node, costs: Costs, cutoff: float) -> None:
        """The same with the reduced costs of a node, for its children."""
        relaxation = self.relaxation
        if node.depth == 0:
            return
        room = cutoff * relaxation.scale - costs.value
        free = relaxation.y_lower < relaxation.y_upper
        for place in np.flatnonzero(free & (costs.places > room)):
            node.stops[int(place)] = 0
        for place in np.flatnonzero(free & (costs.places < -room)):
            node.stops[int(place)] = 1

    def consistent(self, stops: dict[int, int], pairs: dict[tuple[int, int], int]) -> bool:
        """Whether a tour could obey these; adds to ``stops`` what follows from the sets to hit."""
        problem = self.problem
        degree: dict[int, int] = {}
        for pair, value in pairs.items():
            for place in pair:
                degree[place] = degree.get(place, 0) + value
                if degree[place] > 2 or (value == 1 and stops.get(place) == 0):
                    return False
        closed = self.y_upper < 0.5
        for place, value in stops.items():
            if value == 0 and self.y_lower[place] > 0.5:
                return False
            if value == 1 and self.y_upper[place] < 0.5:
                return False
            closed[place] |= value == 0
        possible = np.add.reduceat(~closed[problem.hit], problem.hit_start[:-1])
        if (possible == 0).any():
            return False
        for row in np.flatnonzero(possible == 1):
            members = problem.hit_sets[row]
            stops[int(members[~closed[members]][0])] = 1
        return True
