"""Goal: what the search needs beside a State where the problem is not the plain one.

Demands, weights with a quota or a budget, visit costs and open ends become one problem: serve at
least so much weight as cheaply as possible, on a ring.

*Weights* are whole numbers, so that sums are exact in whatever order they are made. Where every
place must be served each weighs 1.

*Visit costs* are part of the distances, half of them on either side of a stop (where distances are
asymmetric, all of them on the way there), which keeps the triangle inequality. A place is so far
from itself as its visit costs, which is what a tour of one stop costs.

*An open tour* is closed by a blank: a place at no distance from all others that is always on the
ring. Where one end is given, a leg between it and the blank is so short, far below 0, that no
change takes it away. A ring needs three places for that, hence the second blank where only one end
is given.

*A fleet* makes one ring of its routes: so many starts, which are copies of the depot, as there may
be routes, and behind each start its stops. Starts are at no distance from each other, so that empty
routes cost nothing; a stop between two of them opens a route. Routes that are too long, or have too
many stops, cost more while the search goes on; see ``Routes``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from covertour.problem import metric as metrics
from covertour.problem.coverage import Int32Array
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

EXACT = 2.0**52
"""Weights are scaled so that their total is below: sums of whole numbers are exact up to 2^53."""

TOLERANCE = 0.9e-9
"""What a quota may be missed by and a budget exceeded, a little less than the referee allows."""

DEAR = 100.0
"""What exceeding a limit costs while the first routes are made, in units of length and in the
largest distances: they keep to the limits if they can."""

SERVED_ANYWAY = 1 << 20
"""The count of places that need no stop, or that no stop can serve: never 0 or 1."""

TALLY = np.dtype(
    [
        ("served", "f8"),  # the weight served now, and how much must be
        ("need", "f8"),
        ("total", "f8"),  # what can be served at all
        ("limit", "f8"),  # the most that a tour may cost; infinite without a budget
        ("best", "f8"),  # with a budget: the weight of the best tour; -1 while none keeps to it
        ("price", "f8"),  # of weight that is missing, as long as the search goes on
        ("most_price", "f8"),
        ("tries", "i8"),  # iterations since the price was set, and those that ended with enough
        ("enough", "i8"),
        ("partial", "i8"),  # whether some places may be left out
        ("blank", "i8"),  # the number of the first blank
        ("forced", "f8"),  # the length of a leg that must stay, as a positive number
        ("base", "f8"),  # the visit costs that such legs hide
        ("tiny", "f8"),  # a length of no importance, to tell gains apart where nothing costs
        ("stamp", "i8"),  # the latest of ``Goal.stamped``
        ("offers", "i8"),  # places of this attempt that were not worth a stop
        ("fresh", "i8"),  # where in the list of places not served those of this attempt begin
    ]
)


LIMITS = np.dtype(
    [
        ("longest", "f8"),  # what a route is to cost at most, and how many stops it may have
        ("most_stops", "i8"),
        ("price_length", "f8"),  # of a unit of length, and of a stop, above the limits
        ("price_stops", "f8"),
        ("most_price_stops", "f8"),
        ("over_length", "f8"),  # by how much all routes exceed them
        ("over_stops", "i8"),
        ("tries", "i8"),  # iterations since the prices were set, and those that kept each limit
        ("kept_length", "i8"),
        ("kept_stops", "i8"),
        ("stamp", "i8"),  # the latest of ``Routes.seen``
        ("empty", "i8"),  # the index of a start whose route was empty when one was looked for
        ("aim", "f8"),  # the share by which the longest route is to become shorter
        ("hard", "f8"),  # what a route may cost at most, wherever the search aims at less
        ("balance", "i8"),  # whether the longest route is to be short
        ("best", "f8"),  # the longest route of the best tour; infinite while there is none
        ("violation", "f8"),  # by how much the tour exceeds the limits that is kept meanwhile
    ]
)


class Routes(NamedTuple):
    """The routes of a fleet, by the state's numbers; what is known of a route is at its start.

    ============  ============================================================================
    ``starts``    uint64[k], the depot and its copies
    ``is_start``  uint8[N]
    ``route``     uint64[N], the start of the route of each stop
    ``rank``      int64[N], which stop of its route it is, from 1 on; 0 for a start
    ``so_far``    float64[N], the length from the start to the stop
    ``total``     float64[N], the length of the whole route
    ``load``      int64[N], how many stops it has
    ``too_long``  float64[N], what it exceeds the limits by
    ``too_many``  int64[N]
    ``seen``      int64[N], when a stop was looked at last, see LIMITS
    ``limits``    a LIMITS
    ============  ============================================================================
    """

    starts: Any
    is_start: Any
    route: Any
    rank: Any
    so_far: Any
    total: Any
    load: Any
    too_long: Any
    too_many: Any
    seen: Any
    limits: Any


class Goal(NamedTuple):
    """Beside a State, by its own numbers of places.

    ===========  ==============================================================================
    ``weight``   float64[N], whole numbers
    ``unique``   float64[N], of a stop: the weight that would be lost without it
    ``shared``   uint8[N], whether a place needs two stops or more
    ``visit``    float64[N], visit costs
    ``stamped``  int64[N], when a place was marked last, see TALLY
    ``blanks``   uint64[b], the numbers of the blanks
    ``beside``   uint64[b, 2], the places that must stay beside each blank
    ``tally``    a TALLY
    ``ends``     (depot, end) of an open tour, -1 where not given
    ``routes``   Routes of a fleet, else None; kernels are compiled for each of the two
    ===========  ==============================================================================
    """

    weight: Any
    unique: Any
    shared: Any
    visit: Any
    stamped: Any
    blanks: Any
    beside: Any
    tally: Any
    ends: tuple[int, int]
    routes: Any


def make_goal(
    instance: Instance, number: IntArray, starts: int = 1
) -> tuple[Goal | None, Int32Array]:
    """The goal of an instance, None for a plain one, and the counts that places begin with.

    number: int64[n], the state's number of each place. starts: how many routes a fleet may have.
    The counts, int32[n], are by the instance's
    numbers: a place is served while its count is above 0, and needs each of its stops at 1.
    """
    n = instance.n
    if not instance.features:
        return None, np.zeros(n, dtype=np.int32)
    demands = instance.demands
    able = np.diff(instance.coverage.covered_by_start) >= demands
    weight, need, total = _whole_weights(instance, able)
    anyway = (demands == 0) | ~able | (weight == 0.0)
    counts = np.where(anyway, SERVED_ANYWAY, 1 - demands).astype(np.int32)

    blanks = _blanks(instance)
    many = n + len(blanks) + (0 if instance.fleet is None else starts - 1)
    order = np.argsort(number)
    tally = np.zeros(1, dtype=TALLY)[0]
    tally["served"] = weight[anyway & able].sum()
    tally["need"], tally["total"] = need, total
    tally["limit"] = np.inf if instance.budget is None else instance.budget * (1.0 + TOLERANCE)
    tally["best"] = -1.0
    tally["price"] = np.inf
    tally["partial"] = instance.partial
    tally["blank"] = many - len(blanks)
    farthest = _farthest(instance)
    tally["forced"] = 8.0 * farthest
    tally["tiny"] = 1e-9 * farthest
    tally["base"] = _hidden(instance)
    beside = np.full((len(blanks), 2), 2**64 - 1, dtype=np.uint64)
    for row, neighbours in enumerate(blanks):
        for column, place in enumerate(neighbours):
            beside[row, column] = number[place] if place < n else place
    ends = (-1, -1)
    if instance.open and instance.fleet is None:
        depot, end = instance.depot, instance.end
        ends = (
            -1 if depot is None else int(number[depot]),
            -1 if end is None else int(number[end]),
        )
    visit = _with_blanks(instance.visit_costs[order], many)
    routes = None
    if instance.fleet is not None:
        routes = _make_routes(instance, number, many)
        visit[routes.starts.astype(np.int64)] = instance.visit_costs[instance.depot]
    goal = Goal(
        weight=_with_blanks(weight[order], many),
        unique=np.zeros(many),
        shared=_with_blanks((demands[order] > 1).astype(np.uint8), many),
        visit=visit,
        stamped=np.zeros(many, dtype=np.int64),
        blanks=np.arange(many - len(blanks), many).astype(np.uint64),
        beside=beside,
        tally=tally,
        ends=ends,
        routes=routes,
    )
    return goal, counts


def _make_routes(instance: Instance, number: IntArray, many: int) -> Routes:
    """The routes of a fleet, all empty."""
    fleet, n = instance.fleet, instance.n
    assert fleet is not None
    starts = np.concatenate([[number[instance.depot]], np.arange(n, many)]).astype(np.uint64)
    is_start = np.zeros(many, dtype=np.uint8)
    is_start[starts.astype(np.int64)] = 1
    limits = np.zeros(1, dtype=LIMITS)[0]
    limits["longest"] = np.inf
    if fleet.max_length is not None:
        limits["longest"] = fleet.max_length * (1.0 + TOLERANCE)
    limits["hard"] = limits["longest"]
    limits["most_stops"] = n if fleet.max_stops is None else fleet.max_stops
    limits["price_length"], limits["price_stops"] = DEAR, DEAR * _farthest(instance)
    limits["most_price_stops"] = limits["price_stops"]
    limits["balance"] = fleet.objective == "balance"
    limits["best"] = limits["violation"] = np.inf
    whole, real = np.zeros((4, many), dtype=np.int64), np.zeros((3, many))
    return Routes(
        starts=starts,
        is_start=is_start,
        route=np.zeros(many, dtype=np.uint64),
        rank=whole[0],
        so_far=real[0],
        total=real[1],
        load=whole[1],
        too_long=real[2],
        too_many=whole[2],
        seen=whole[3],
        limits=limits,
    )


def fold(table: FloatArray, goal: Goal, directed: bool, free_return: bool) -> FloatArray:
    """The distances with visit costs, starts and blanks.

    Both tables are square, rows from, columns to. ``free_return``: the ways back to the starts of
    routes cost nothing.
    """
    if goal.routes is not None:
        return _fold_routes(table, goal, directed, free_return)
    n, many = len(table), len(goal.weight)
    visit = goal.visit
    halves = visit / 2.0
    folded = halves[:, None] + halves if not directed else np.tile(visit, (many, 1))
    folded[:n, :n] += table
    for blank, neighbours in zip(goal.blanks.tolist(), goal.beside.tolist(), strict=True):
        folded[blank, blank] = 0.0
        for place in neighbours:
            if place < many:
                folded[blank, place] = folded[place, blank] = -goal.tally["forced"]
    if directed and len(goal.blanks):
        depot, end = goal.ends  # the way leads from the end over the blank to the depot
        folded[n, :], folded[:, n] = visit, 0.0
        if depot >= 0:
            folded[n, depot] = -goal.tally["forced"]
        if end >= 0:
            folded[end, n] = -goal.tally["forced"]
    return folded


def _fold_routes(table: FloatArray, goal: Goal, directed: bool, free_return: bool) -> FloatArray:
    starts = goal.routes.starts.astype(np.int64)
    of = np.concatenate([np.arange(len(table)), np.full(len(starts) - 1, starts[0])])
    folded = table[np.ix_(of, of)]
    visit = goal.visit.copy()
    if directed:
        folded[starts] += visit[starts[0]]  # of the depot, at the beginning of a route
        visit[starts] = 0.0
        folded += visit
        if free_return:
            folded[:, starts] = 0.0
    else:
        folded += visit[:, None] / 2.0 + visit / 2.0
    folded[np.ix_(starts, starts)] = 0.0
    return folded


def as_ring(goal: Goal, stops: IntArray) -> IntArray:
    """A tour in driving order as a ring: its ends in place, then the blanks.

    The routes of a fleet get a start each, as long as there are any.
    """
    if goal.routes is not None:
        starts = goal.routes.starts.astype(np.int64)
        begins = len(stops) > 0 and stops[0] == starts[0]
        ring = np.concatenate([starts[:1], stops[1:] if begins else stops])
        more = np.flatnonzero(ring == starts[0])[1:]
        ring[more[: len(starts) - 1]] = starts[1 : 1 + len(more)]
        used = np.concatenate([[True], np.isin(starts[1:], ring)])
        ring = ring[(ring != starts[0]) | (np.arange(len(ring)) == 0)]
        return np.concatenate([ring, starts[~used]])
    if len(goal.blanks) == 0:
        return stops
    depot, end = goal.ends
    between = stops[(stops != depot) & (stops != end)]
    first = [depot] if depot >= 0 else []
    last = [end] if end >= 0 else []
    # Blanks follow in the order in which they must stay: the first is beside the depot.
    blanks = goal.blanks.astype(np.int64)
    if depot >= 0:
        blanks = blanks[::-1]
    return np.concatenate([first, between, last, blanks]).astype(np.int64)


def as_driven(goal: Goal, ring: IntArray) -> IntArray:
    """The stops of a ring in driving order, without blanks and empty routes."""
    if goal.routes is not None:
        start = goal.routes.is_start[ring] > 0
        stops = np.roll(ring, -int(start.argmax()))
        start = np.roll(start, -int(start.argmax()))
        empty = start & np.roll(start, -1)
        return stops[~empty] if not empty.all() else goal.routes.starts[:1].astype(np.int64)
    if len(goal.blanks) == 0:
        return ring
    blank = ring >= goal.tally["blank"]
    last = int(np.flatnonzero(blank & ~np.roll(blank, -1))[0]) if not blank.all() else -1
    stops = np.roll(ring, -1 - last)
    stops = stops[stops < goal.tally["blank"]]
    depot, end = goal.ends
    backwards = (depot >= 0 and stops[0] != depot) or (end >= 0 and stops[-1] != end)
    return stops[::-1] if backwards else stops


def weight_unit(instance: Instance) -> float:
    """What weights are multiplied by before they are cut to whole numbers."""
    weights = instance.weights
    total = float(weights.sum())
    whole = bool(np.all(weights == np.floor(weights)))
    return 1.0 if (whole and total < EXACT) or total <= 0.0 else EXACT / (total * (1.0 + 1e-9))


def _whole_weights(instance: Instance, able: Any) -> tuple[FloatArray, float, float]:
    """The weights as whole numbers, what must be served of them, and what can be."""
    if not instance.partial:
        return np.ones(instance.n), float(instance.n), float(instance.n)
    unit = weight_unit(instance)
    weight = np.floor(instance.weights * unit)
    total = float(weight[able].sum())
    # Weights are cut, never raised: whoever reaches the need reaches the quota.
    need = np.ceil(instance.quota_weight * unit * (1.0 - TOLERANCE))
    return weight, min(float(need), total), total


def _blanks(instance: Instance) -> list[list[int]]:
    """For each blank the places that must stay beside it, n + b for blank b."""
    if not instance.open or instance.fleet is not None:
        return []
    ends = [place for place in (instance.depot, instance.end) if place is not None]
    if len(ends) == 1 and instance.symmetric:
        return [[ends[0], instance.n + 1], [instance.n]]
    return [ends] if instance.symmetric else [[]]


def _farthest(instance: Instance) -> float:
    """At least the largest distance with its visit costs, above 0."""
    costs = float(instance.visit_costs.max())
    if instance.matrix is not None:
        farthest = float(instance.matrix.max())
    elif instance.metric in metrics.SPHERE_KM:
        farthest = 4.0 * metrics.SPHERE_KM[instance.metric]
    else:
        assert instance.coordinates is not None
        farthest = float(np.ptp(instance.coordinates, axis=0).sum()) + 1.0
        if instance.metric == "euclidean":
            farthest -= 1.0
    return farthest + costs or 1.0


def _hidden(instance: Instance) -> float:
    """The visit costs on the legs between blanks and given ends."""
    if not instance.open or instance.fleet is not None:
        return 0.0
    costs = instance.visit_costs
    depot = 0.0 if instance.depot is None else float(costs[instance.depot])
    end = 0.0 if instance.end is None else float(costs[instance.end])
    return (depot + end) / 2.0 if instance.symmetric else depot


def _with_blanks(values: Any, many: int) -> Any:
    """An array made longer by zeros."""
    return np.concatenate([values, np.zeros(many - len(values), dtype=values.dtype)])
