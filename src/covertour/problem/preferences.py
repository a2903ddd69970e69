"""What planners wish besides: hamlets that need no cover, stops of an old plan preferred."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from covertour.problem.errors import InputError
from covertour.problem.instance import Instance


def drop_under(instance: Instance, least: float) -> Instance:
    """The instance in which places that weigh less than this need no cover; they stay in it.

    They weigh nothing then, so that nobody is told that their people are served.

    >>> towns = Instance.from_coordinates([[0, 0], [9, 9]], radius=1, weight=[500, 20])
    >>> left = drop_under(towns, 50)
    >>> left.demands.tolist(), left.weights.tolist()
    ([1, 0], [500.0, 0.0])
    """
    if instance.weight is None:
        raise InputError(
            "drop_under: the places have no weights; give a column population (or weight)"
        )
    small = instance.weight < least
    if small.all():
        raise InputError(f"drop_under: all places weigh less than {least:g}")
    return instance.with_changes(
        demand=np.where(small, 0, instance.demands), weight=np.where(small, 0.0, instance.weight)
    )


def prefer(instance: Instance, stops: Sequence[int], cost: float) -> Instance:
    """The instance in which each stop other than these costs so much more.

    >>> towns = Instance.from_coordinates([[0, 0], [9, 9]], radius=1)
    >>> prefer(towns, [1], 2.5).visit_costs.tolist()
    [2.5, 0.0]
    """
    if instance.budget is not None or (
        instance.fleet is not None and instance.fleet.max_length is not None
    ):
        raise InputError("near: the cost of new stops would count against the budget or limit")
    new = np.ones(instance.n, dtype=bool)
    new[list(stops)] = False
    return instance.with_changes(visit_cost=instance.visit_costs + cost * new)


def usual_leg(instance: Instance, stops: Sequence[int]) -> float:
    """The mean way between neighbours of a tour through these places."""
    return instance.length(list(stops)) / max(len(stops), 1)
