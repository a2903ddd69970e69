"""The best tour that a proof knows, what is minimised, and what the open nodes leave to be found.

What is minimised, the *value* of a tour, is its cost or, where a budget limits the cost, the weight
that it leaves out.
"""

from __future__ import annotations

import numpy as np

from covertour.exact.formulation import BUDGET_SLACK
from covertour.exact.nodes import NodeQueue
from covertour.exact.serving import QUOTA_SLACK, ROUNDING
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.solving.clock import Clock

SAME_VALUE = 2e-7
"""Where values are not whole, tours within this share of the best one are not told apart."""

WHOLE_ROUNDING, WHOLE_ROUNDING_SHARE = 1e-6, 1e-9
"""Where values are whole, a bound this little above a whole number is that number: so much, or
this share of the value if that is more."""


def is_covering_tour(
    instance: Instance, places: IntArray, least_weight: float | None = None
) -> bool:
    """Whether a tour through these places, int64[m], serves what it must and keeps the rules.

    ``least_weight``: it must serve so much instead of what the instance says.
    """
    if len(places) == 0 or len(np.unique(places)) != len(places):
        return False
    if np.isin(instance.forbidden, places).any() or not np.isin(instance.must_visit, places).all():
        return False
    if instance.open:
        if instance.depot is not None and places[0] != instance.depot:
            return False
        if instance.end is not None and places[-1] != instance.end:
            return False
    budget = np.inf if instance.budget is None else instance.budget
    if instance.cost(places) > budget * (1.0 + BUDGET_SLACK):
        return False
    if least_weight is None and not instance.partial:
        return bool(instance.covered(places).all())
    least = instance.quota_weight if least_weight is None else least_weight
    return instance.covered_weight(places) >= least * (1.0 - QUOTA_SLACK)


class Incumbent:
    """The best tour so far, ``places`` int64[m], its ``cost``, ``weight`` and ``value``.

    ``least_weight``: the cost of serving so much is minimised, whatever the instance says.
    ``integral``: whether the values of all tours are whole numbers.
    """

    def __init__(
        self, instance: Instance, clock: Clock, places: IntArray, least_weight: float | None = None
    ) -> None:
        if not is_covering_tour(instance, places, least_weight):
            raise InputError("start: expected a covering tour that keeps the instance's rules")
        self.instance = instance
        self.clock = clock
        self.least_weight = least_weight
        self.by_weight = instance.budget is not None and least_weight is None
        self.integral = instance.integral
        if self.by_weight:
            self.integral = bool(np.all(instance.weights == np.floor(instance.weights)))
        self.cost = self.value = self.weight = np.inf
        self._take(places)

    def _take(self, places: IntArray) -> None:
        self.places = places
        self.cost, self.weight, self.value = self._measured(places)
        if self.instance.budget is None:
            self.clock.improved(self.cost, places)
        else:
            self.clock.improved(self.cost, places, weight=self.weight)

    def _measured(self, places: IntArray) -> tuple[float, float, float]:
        cost = self.instance.cost(places)
        if self.instance.budget is None:
            return cost, 0.0, cost
        weight = self.instance.covered_weight(places)
        return cost, weight, self.instance.total_weight - weight if self.by_weight else cost

    def offer(self, places: IntArray) -> bool:
        """Take a tour if it is a covering one and better; whether it was taken."""
        if not is_covering_tour(self.instance, places, self.least_weight):
            return False
        cost, _, value = self._measured(places)
        if self.by_weight:
            near = ROUNDING * self.instance.total_weight
            if value > self.value + near or (value >= self.value - near and cost >= self.cost):
                return False
        elif value >= self.value:
            return False
        self._take(places)
        return True

    @property
    def cutoff(self) -> float:
        """A node whose tours all have at least this value has nothing better to offer."""
        if self.integral:
            return self.value - 1.0 + self._rounding
        if self.by_weight:
            return self.value - SAME_VALUE * self.weight
        return self.value * (1.0 - SAME_VALUE)

    def least_value(self, queue: NodeQueue) -> float:
        """No tour has less: the lowest bound of a node, or the best tour where none is left."""
        lowest = queue.lowest_bound()
        if not self.integral:
            return max(0.0, min(lowest, self.cutoff))
        if lowest >= self.cutoff:
            return self.value
        return float(np.clip(np.ceil(lowest - self._rounding), 0.0, self.value))

    def proven_bound(self, queue: NodeQueue) -> float:
        """No tour costs less or, where weights count, serves more."""
        least = self.least_value(queue)
        return self.instance.total_weight - least if self.by_weight else least

    @property
    def _rounding(self) -> float:
        return max(WHOLE_ROUNDING, WHOLE_ROUNDING_SHARE * self.value)
