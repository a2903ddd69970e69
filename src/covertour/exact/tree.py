"""What all workers of a proof share: the open nodes, the best tour, and what was learned.

Workers are threads (see :mod:`covertour.exact.worker`). Each has a linear program of its own; while
its solver runs and while kernels look for cuts, Python's lock is free for the others. What they
share is changed by one of them at a time. A node is active as long as a worker has it, and its
bound counts until its children are open: so the lowest bound is valid at any moment.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, get_ident

from covertour.exact.branching import PseudoCosts
from covertour.exact.incumbent import Incumbent
from covertour.exact.nodes import Node, NodeQueue
from covertour.problem.metric import IntArray
from covertour.solving.clock import Clock

Improve = Callable[[IntArray], IntArray]
"""Turns a list of places, often not a covering tour, into a good covering tour."""

Another = Callable[[int, Callable[[], bool]], IntArray | None]
"""Makes a covering tour, another one for every number from 1 on, and stops early when it is told
that there are enough; None where it has no more to offer."""


class Over(Exception):
    """The caller's clock is over, or another worker failed."""


class Tree:
    """The search tree of one proof: ``nodes`` counts those that were begun, ``cuts`` the pool."""

    def __init__(
        self,
        incumbent: Incumbent,
        queue: NodeQueue,
        clock: Clock,
        improve: Improve | None,
        another: Another | None,
    ) -> None:
        self.incumbent = incumbent
        self.queue = queue
        self.clock = clock
        self.improve = improve
        self.another = another
        self.pseudo_costs = PseudoCosts(0)
        self.nodes = 1
        self.cuts = 0
        self.warnings: list[str] = []
        self.failure: BaseException | None = None
        self._nodes_before = clock.iterations
        self._rounded: set[bytes] = set()
        self._turn = Condition()
        self._owner = get_ident()
        self._stopped = False

    def next(self, done: Node | None, children: list[Node]) -> Node | None:
        """The next node, after one was ``done`` and its children were made; None at the end.

        Waits where all nodes are active, for the children of those.
        """
        with self._turn:
            if done is not None:
                self.clock.iterations = self._nodes_before + self.nodes
                self.queue.replace(done, children)
                self._turn.notify_all()
            while True:
                if self._stopped:
                    raise Over
                node = self.queue.activate_next(self.incumbent.cutoff)
                if node is not None:
                    self.look_at_clock()
                    self.nodes += 1
                    return node
                if not self.queue.active:
                    return None
                self._turn.wait()

    def stop(self, failure: BaseException) -> None:
        """Let all workers end as soon as they ask for something."""
        with self._turn:
            self._stopped = True
            if self.failure is None or isinstance(self.failure, Over):
                self.failure = failure
            self._turn.notify_all()

    def offer(self, places: IntArray) -> bool:
        """Take a tour if it is better; whether it was taken."""
        with self._turn:
            return self.incumbent.offer(places)

    def round(self, favoured: IntArray) -> bool:
        """Let the caller's search make a tour of some places; whether it is the best one now."""
        with self._turn:
            if self.improve is None or favoured.tobytes() in self._rounded:
                return False
            self._rounded.add(favoured.tobytes())
        return self.offer(self.improve(favoured))

    def look_at_clock(self) -> None:
        """Tell the clock where the proof stands, and stop where it is over.

        Reports come from the caller's thread only.
        """
        with self._turn:
            incumbent, clock = self.incumbent, self.clock
            if incumbent.by_weight or incumbent.instance.budget is None:
                clock.bound = incumbent.proven_bound(self.queue.lowest_bound())
            if get_ident() == self._owner:
                clock.report()
            if self._stopped or clock.over:
                raise Over

    def give_up(self, node: Node, text: str) -> None:
        """Remember the bound of a node that is not closed but has nothing to branch on."""
        with self._turn:
            self.queue.give_up(node)
        self.warn(text)

    def warn(self, text: str) -> None:
        """Keep a warning, once."""
        with self._turn:
            if text not in self.warnings:
                self.warnings.append(text)
