"""Nodes of the tree, the queue of those that are open, and which of them comes next."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import count

from covertour.exact.basis import Basis
from covertour.exact.branching import Branch


@dataclass(order=True)
class Node:
    """A subproblem: what branching has fixed, and the bound it inherits. Ordered by bound."""

    bound: float
    number: int
    depth: int = field(compare=False)
    stops: dict[int, int] = field(compare=False)
    """place -> 1 if it must be a stop here, 0 if it must not; other switches likewise"""
    pairs: dict[tuple[int, int], int] = field(compare=False)
    """pair u < v -> 1 if the tour must use it here, 0 if it must not"""
    basis: Basis | None = field(compare=False)
    """the last basis of its parent"""
    branch: Branch | None = field(compare=False)
    """what made this node from its parent, to learn from"""

    @property
    def is_root(self) -> bool:
        """Whether nothing has been decided by branching."""
        return self.depth == 0


class NodeQueue:
    """The nodes that are not closed: the ``active`` ones, and the open ones, lowest bound first.

    Somebody works on each active node; at first that is the root.
    """

    def __init__(self, used: tuple[tuple[int, int], ...] = ()) -> None:
        """``used``: pairs that every tour uses."""
        self._numbers = count()
        # All that is known of the root is that values are not negative.
        pairs = dict.fromkeys(used, 1)
        self.active = [Node(0.0, next(self._numbers), 0, {}, pairs, None, None)]
        self._open: list[Node] = []
        self._unresolved = float("inf")

    def lowest_bound(self) -> float:
        """The lowest bound of all nodes that are not closed, infinite where none is left."""
        nodes = [*self._open[:1], *self.active]
        return min([self._unresolved, *(node.bound for node in nodes)])

    def child(self, parent: Node, branch: Branch, basis: Basis) -> Node:
        """The node on one side of a decision."""
        stops, pairs = dict(parent.stops), dict(parent.pairs)
        if branch.pair is None:
            stops[branch.place] = branch.value
        else:
            pairs[branch.pair] = branch.value
            if branch.value == 1:
                stops |= dict.fromkeys(branch.pair, 1)
        return Node(
            parent.bound, next(self._numbers), parent.depth + 1, stops, pairs, basis, branch
        )

    def give_up(self, node: Node) -> None:
        """Remember the bound of a node that is not closed but has nothing to branch on."""
        self._unresolved = min(self._unresolved, node.bound)

    def replace(self, node: Node, children: list[Node]) -> None:
        """Open the children of an active node, which is done."""
        for child in children:
            heapq.heappush(self._open, child)
        self.active.remove(node)

    def activate_next(self, cutoff: float) -> Node | None:
        """The open node of the lowest bound, the older one of equals, now active; None without one.

        So every node raises what is proven, and an unfinished proof comes as far as it can. Where
        all nodes have the cutoff or more they have nothing to offer and are dropped.
        """
        if not self._open:
            return None
        if self._open[0].bound >= cutoff:
            self._open.clear()
            return None
        chosen = heapq.heappop(self._open)
        self.active.append(chosen)
        return chosen
