"""Bounds of the variables: reduced-cost fixing, the decisions of the tree, and what they imply.

Branching decides for one node and its children; reduced-cost fixing with the duals of the root
decides for all: whatever only tours beyond the cutoff would do is excluded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from covertour.exact.nodes import Node
from covertour.exact.pricing import Costs
from covertour.exact.relaxation import Relaxation

SAME_WEIGHT = 1e-9
"""Sums of weights that differ by less than this share are the same."""


class Bounds:
    """What is decided for all nodes, and how the relaxation is told.

    ``y_lower``, ``y_upper``: float64[switches], bounds in every node. ``root_costs``: the reduced
    costs at the root, once it is done.
    """

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation
        self.y_lower = relaxation.y_lower.copy()
        self.y_upper = relaxation.y_upper.copy()
        self.closed_pairs: set[tuple[int, int]] = set()
        self.root_costs: Costs | None = None

    def copy(self, relaxation: Relaxation) -> Bounds:
        """The same for a copy of the relaxation."""
        other = Bounds(relaxation)
        other.y_lower, other.y_upper = self.y_lower.copy(), self.y_upper.copy()
        other.closed_pairs = set(self.closed_pairs)
        other.root_costs = self.root_costs
        return other

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
        fixed = dict.fromkeys(self.closed_pairs, 0) | node.pairs
        columns = {
            column: (float(fixed[pair]), float(fixed[pair]))
            for pair, column in self._column_of(fixed).items()
        }
        relaxation.set_bounds(lower, upper, columns)
        if node.basis is not None:
            relaxation.restore(node.basis)

    def _column_of(self, pairs: Iterable[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """The columns of those pairs that the program has."""
        wanted = set(pairs)
        if not wanted:
            return {}
        relaxation = self.relaxation
        ends = zip(relaxation.edge_u.tolist(), relaxation.edge_v.tolist(), strict=True)
        return {pair: column for column, pair in enumerate(ends) if pair in wanted}

    def fix_at_root(self, costs: Costs, cutoff: float) -> None:
        """Reduced-cost fixing for all nodes, once the root is done; deletes what it excludes."""
        self.root_costs = costs
        self._fix(cutoff, delete=True)
        columns = self._column_of(self.relaxation.problem.used).values()
        used = dict.fromkeys(columns, (1.0, 1.0))
        self.relaxation.set_bounds(self.y_lower, self.y_upper, used)

    def tighten(self, cutoff: float) -> None:
        """Reduced-cost fixing for all nodes again, with the cutoff of a better tour.

        Bases of open nodes name columns by position, so in the tree columns are closed instead of
        deleted.
        """
        self._fix(cutoff, delete=False)

    def _fix(self, cutoff: float, delete: bool) -> None:
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
        excluded = costs.pairs > room
        for u, v in relaxation.problem.used:
            excluded &= (relaxation.pair_u != u) | (relaxation.pair_v != v)
        excluded |= self.y_upper[relaxation.pair_u] < 0.5
        excluded |= self.y_upper[relaxation.pair_v] < 0.5
        if not delete:
            inside = excluded & (relaxation.pair_column >= 0)
            u, v = relaxation.pair_u[inside].tolist(), relaxation.pair_v[inside].tolist()
            self.closed_pairs.update(zip(u, v, strict=True))
            excluded &= ~inside
        relaxation.forget_pairs(excluded)
        self.root_costs = replace(costs, pairs=costs.pairs[~excluded])

    def fix_below(self, node: Node, costs: Costs, cutoff: float) -> None:
        """Reduced-cost fixing of places with the duals of a node, for its children."""
        relaxation = self.relaxation
        room = cutoff * relaxation.scale - costs.value
        free = relaxation.y_lower < relaxation.y_upper
        for place in np.flatnonzero(free & (costs.places > room)):
            node.stops[int(place)] = 0
        for place in np.flatnonzero(free & (costs.places < -room)):
            node.stops[int(place)] = 1

    def is_consistent(self, node: Node) -> bool:
        """Whether a tour could obey a node's decisions; adds stops that the sets to hit imply."""
        problem, stops, pairs = self.relaxation.problem, node.stops, node.pairs
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
        if problem.switches > problem.n or (problem.need > 1).any():
            return self._serves(stops, closed)
        possible = np.add.reduceat(~closed[problem.hit], problem.hit_start[:-1])
        if (possible == 0).any():
            return False
        for row in np.flatnonzero(possible == 1):
            members = problem.hit_sets[row]
            stops[int(members[~closed[members]][0])] = 1
        return True

    def _serves(self, stops: dict[int, int], closed: npt.NDArray[np.bool_]) -> bool:
        """Whether enough can be served without the ``closed`` switches; adds what that implies.

        A z is closed where too few coverers are left, and set where the quota needs it; a set that
        must serve needs all that is left of it where that is just enough.
        """
        problem, n = self.relaxation.problem, self.relaxation.n
        optional = np.flatnonzero(problem.optional)
        z_of = n + problem.z[optional]
        opened = self.y_lower > 0.5
        opened[[switch for switch, value in stops.items() if value == 1]] = True
        possible = np.add.reduceat(~closed[problem.hit], problem.hit_start[:-1])
        for switch in z_of[(possible < problem.need)[optional] & ~closed[z_of]].tolist():
            closed[switch] = True
            stops[switch] = 0
        if problem.least > 0:
            spare = float(problem.weight[~closed[n:]].sum()) - problem.least
            rounding = SAME_WEIGHT * max(problem.least, 1.0)
            if spare < -rounding:
                return False
            for k in np.flatnonzero(~closed[n:] & (problem.weight > spare + rounding)).tolist():
                opened[n + k] = True
                stops[n + k] = 1
        must = ~problem.optional
        must[optional] = opened[z_of]
        if (must & (possible < problem.need)).any() or (opened & closed).any():
            return False
        for row in np.flatnonzero(must & (possible == problem.need)):
            members = problem.hit_sets[row]
            for member in members[~closed[members]].tolist():
                stops[member] = 1
        return True
