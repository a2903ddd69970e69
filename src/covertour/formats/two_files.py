"""Candidate stops in one file and the places that need service in another, as one instance."""

from __future__ import annotations

import numpy as np

from covertour.problem.coverage import Radius
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance


def with_stops(people: Instance, stops: Instance) -> Instance:
    """The places of ``people``, to be served only from the ``stops``, which follow them.

    Stops need no service themselves and weigh nothing. Radii are those of the stops.
    """
    for what, one in ((people.name, people), (stops.name, stops)):
        if one.coordinates is None or one.matrix is not None:
            raise InputError(f"stops: {what} holds a distance matrix, expected coordinates")
    if people.metric != stops.metric:
        raise InputError(
            f"stops: {stops.name} has the metric {stops.metric!r}, {people.name} {people.metric!r}"
        )
    if not isinstance(stops.rule, Radius):
        raise InputError("stops: candidate stops serve within a radius; give radius (--radius)")
    if people.required or people.depot is not None or people.end is not None:
        raise InputError(
            f"stops: {people.name} has required places, a depot or an end; these belong to the "
            "file of the stops"
        )
    assert people.coordinates is not None
    assert stops.coordinates is not None
    first, many = people.n, stops.n
    radius = np.concatenate([np.zeros(first), np.broadcast_to(stops.rule.r, many)])
    labels = None
    if people.labels is not None or stops.labels is not None:
        labels = [one.label(place) for one in (people, stops) for place in range(one.n)]
    return Instance(
        metric=people.metric,
        rule=Radius(radius),
        coordinates=np.concatenate([people.coordinates, stops.coordinates]),
        name=people.name,
        depot=None if stops.depot is None else first + stops.depot,
        end=None if stops.end is None else first + stops.end,
        open=stops.open,
        required=tuple(first + place for place in stops.required),
        forbidden=(*range(first), *(first + place for place in stops.forbidden)),
        labels=labels,  # type: ignore[arg-type]  # checked on creation
        demand=np.concatenate([people.demands, np.zeros(many, dtype=np.int64)]),
        weight=np.concatenate([people.weights, np.zeros(many)]),
        visit_cost=np.concatenate([np.zeros(first), stops.visit_costs]),
        extra=_extra(people, stops),
    )


def _extra(people: Instance, stops: Instance) -> dict[str, tuple[str, ...]]:
    """The other columns of both files, empty where a file has no such column."""
    both = (people, stops)
    titles = dict.fromkeys(title for one in both for title in one.extra or {})
    return {
        title: tuple(text for one in both for text in (one.extra or {}).get(title, ("",) * one.n))
        for title in titles
    }
