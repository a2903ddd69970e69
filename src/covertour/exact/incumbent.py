"""The best tour that a proof knows, what is minimised, and what the open nodes leave to be found.

What is minimised, the *value* of a tour, is its cost or, where a budget limits the cost, the weight
that it leaves out. A tour is proven to be the best one when every open node has a bound at its
value or so little below that no better tour fits between:

- Where all values are multiples of a unit, a better one is lower by a unit at least. Whole costs
  have the unit 1; the weights of an instance have 1, 0.1, 0.01 and so on, whichever they are
  multiples of.
- A tour that serves nothing is only beaten by one that serves the least weight above 0.
- Otherwise tours within a share of SAME_VALUE of the best one are not told apart; nor, with a
  budget, those that serve SAME_WEIGHT of the total more, which is as exactly as sums of weights are
  bounded. The bound says so: it is not the value of the tour but that much beyond.

The first two steps are taken only where they are far above the rounding of a bound.
"""

from __future__ import annotations

import numpy as np

from covertour.exact.formulation import BUDGET_SLACK
from covertour.exact.serving import QUOTA_SLACK, ROUNDING, unit_of
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.solving.clock import Clock

SAME_VALUE = 2e-7
"""Where values have no unit, tours within this share of the best one are not told apart."""

SAME_WEIGHT = 1e-9
"""Nor are those whose weights differ by less than this share of the total weight."""

LEAST_STEP = 1e-8
"""A step of less than this share of the value, or of the total weight, is none."""

STEP_ROUNDING, ROUNDING_SHARE = 1e-6, 1e-9
"""A bound this little above a multiple of the unit is that multiple: so much of a step, or this
share of the value (of the total weight) if that is more."""


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
    ``unit``: the values of all tours are multiples of it; None where nothing is known.
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
        self.unit = 1.0 if instance.integral else None
        if self.by_weight:
            self.unit = unit_of(instance.weights)
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
        if self.step is not None:
            return self.value - self.step + self._rounding
        if self.by_weight:
            same = max(SAME_VALUE * self.weight, SAME_WEIGHT * self.instance.total_weight)
            return self.value - same
        return self.value * (1.0 - SAME_VALUE)

    @property
    def step(self) -> float | None:
        """By how much a better tour is better at least; None where nothing is known."""
        step = self.unit
        if step is None and self.by_weight and self.weight == 0.0:
            weights = self.instance.weights
            step = float(weights.min(where=weights > 0.0, initial=np.inf))
        return step if step is not None and step > LEAST_STEP * self._size else None

    def least_value(self, lowest: float) -> float:
        """No tour has less, where ``lowest`` is the lowest bound of a node that is not closed."""
        if lowest >= self.cutoff:
            return self.value if self.step is not None else max(0.0, self.cutoff)
        if self.unit is None or self.step is None:
            return max(0.0, lowest)
        units = np.ceil((lowest - self._rounding) / self.unit)
        return float(np.clip(units * self.unit, 0.0, self.value))

    def proven_bound(self, lowest: float) -> float:
        """No tour costs less or, where weights count, serves more; ``lowest`` as above."""
        least = self.least_value(lowest)
        if not self.by_weight:
            return least
        return self.weight if least == self.value else self.instance.total_weight - least

    @property
    def _size(self) -> float:
        """What the rounding of a bound is a share of."""
        return self.instance.total_weight if self.by_weight else self.value

    @property
    def _rounding(self) -> float:
        return max(STEP_ROUNDING * (self.step or 0.0), ROUNDING_SHARE * self._size)
