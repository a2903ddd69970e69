"""State: an instance and a tour in the making, as a few arrays that the kernels share.

Whatever belongs to one place lies side by side in memory, but for who serves it, and neighbours
follow each other: a state numbers the places along a curve. Kernels use its numbers; what Python
hands them and gets from them is translated by ``State.number`` and ``State.order``. How the tour is
changed is in changes.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from covertour.kernel import INNER, inner
from covertour.problem import metric as metrics
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.search.blocks import has_blocks, make_blocks, places_per_stop
from covertour.search.curve import along_curve, renumbered
from covertour.search.goal import SERVED_ANYWAY, as_driven, as_ring, fold, make_goal

TABLE_UP_TO = 1_000
"""Up to this many places distances come from a dense table, above from coordinates on the fly."""

DIRECTED_UP_TO = 5_000
"""Routes that need not return are planned with a table for up to this many places."""

ROWS_AT_A_TIME = 32
"""Rows of the table that are filled at once: few enough to stay in the processor's cache."""

Place = np.uint64
"""The numbers of places in kernels. Unsigned, so that numba need not ask of every index whether it
counts from the end; mixed with signed numbers in sums they would become floats."""

NOWHERE = Place(2**64 - 1)
"""No place. Constants that kernels pass on are numpy's, or numba compiles for each value anew."""

FREE, FIXED, FORBIDDEN = range(3)
"""Roles of a place: may be a stop, must be one, must not."""

STOPS, UNCOVERED, QUEUE, SPARE, NEAR = range(5)
"""Rows of ``State.lists``: the stops in no order; the places nobody covers; stops whose
surroundings changed; stops that lost their last unique place and may be redundant; the stops near a
place, see ``stops_near``."""

FIRST_STOP, SEEN, FIRST_NEAR = range(3)
"""Columns of ``State.blocks``: the first stop in a block, NOWHERE without any; at which of the
``looks`` it was seen last; and from the third on the blocks around it, itself first."""

LOG_SIZE = 1 << 14

PLACE = np.dtype(
    [
        ("next", "u8"),  # the ring
        ("prev", "u8"),
        ("label", "i8"),  # ascending along the ring but for one drop
        ("leg", "f8"),  # distance to the next stop
        ("stop_at", "i8"),  # index in the list of stops, -1 off the tour
        ("unique", "i4"),  # of a stop: how many places only it covers
        ("uncovered_at", "i8"),  # index in the list of uncovered places, -1 where covered
        ("in_next", "u8"),  # the stops of a block as a linked list
        ("in_prev", "u8"),
        ("block", "u8"),
        ("covers_from", "u8"),  # this place covers who[covers_from:covers_to]
        ("covers_to", "u8"),
        ("covered_from", "u8"),  # and is covered by who[covered_from:covered_to]
        ("covered_to", "u8"),
        ("x", "f8"),  # position, see metric.positions; the plane has z = 0
        ("y", "f8"),
        ("z", "f8"),
        ("role", "u1"),
        ("queued", "u1"),
        ("spared", "u1"),
    ],
    align=True,
)

SERVED = np.dtype(
    [
        ("count", "i4"),  # how many stops cover the place
        ("owner", "u4"),  # exclusive or of their numbers: the coverer itself where count is 1
    ]
)
"""What is asked of many places at a time lies apart, so that more of it is in the cache."""

LEG = np.dtype([("stop", "u8"), ("next", "u8"), ("length", "f8")])

TOUR = np.dtype(
    [
        ("size", "i8"),  # how many stops
        ("uncovered", "i8"),  # how many uncovered places, queued stops, spare stops, log entries
        ("queue", "i8"),
        ("spare", "i8"),
        ("log", "i8"),
        ("top", "i8"),  # about the highest order label
        ("labelled", "i8"),  # 0 where nobody asks for labels: for routes, and for the first tour
        ("length", "f8"),
        ("random", "u8"),  # state of the random numbers
        ("metric", "i8"),  # index in metric.METRICS
        ("symmetric", "i8"),
        ("looks", "i8"),  # how often the legs near a place were gathered
    ]
)

EUCLIDEAN, EUC_2D, CEIL_2D, ATT, GEO, HAVERSINE, MATRIX = range(len(metrics.METRICS))
GEO_RADIUS = metrics.SPHERE_KM["geo"]
EARTH_RADIUS = metrics.SPHERE_KM["haversine"]


class State(NamedTuple):
    """What the kernels work on; ``at`` to ``log`` by the state's own numbers of places.

    There are n of them, and behind those the blanks of a goal, N in all.

    ===========  ================================================================================
    ``at``       PLACE[N]
    ``served``   SERVED[N]
    ``tour``     a TOUR
    ``lists``    uint64[5, N + 1], see STOPS
    ``who``      int32[2m], the coverage table: first who is covered, then who covers; int32[m]
                 where these are the same
    ``table``    the distances: float64[N, N] where they are symmetric, float64[1, N, N] where they
                 are not, float64[0] where they are computed on the fly; kernels are compiled for
                 each of the three
    ``blocks``   uint64[b, 2 + w], groups of places and the groups around each, see FIRST_STOP
    ``legs``     LEG[2N], room for the legs near a place
    ``log``      uint64[LOG_SIZE, 3], kind and two places per entry
    ``order``    int64[N], the instance's number of each place
    ``number``   int64[n], the state's number of each place of the instance
    ``goal``     a Goal, None for the plain problem; kernels are compiled for each of the two
    ===========  ================================================================================
    """

    at: Any
    served: Any
    tour: Any
    lists: Any
    who: Any
    table: Any
    blocks: Any
    legs: Any
    log: Any
    order: IntArray
    number: IntArray
    goal: Any


KINDS = ("table", "points", "directed")
"""The kinds of plain instances that kernels are compiled for: see ``State.table``."""

GENERAL, ROUTED = "general ", "routed "
"""Stand before the kind of an instance that is not plain, and of one with a fleet."""


def kind_of(instance: Instance) -> str:
    """The kind of an instance, one of KINDS, after GENERAL or ROUTED where it is not plain."""
    general = GENERAL if instance.features else ""
    if instance.fleet is not None:
        general = ROUTED
    if _is_directed_problem(instance):
        return general + "directed"
    on_the_fly = instance.matrix is None and instance.n > TABLE_UP_TO
    return general + ("points" if on_the_fly else "table")


def _is_directed_problem(instance: Instance) -> bool:
    """Whether a way may be longer than the way back: always where routes do not return."""
    return not instance.symmetric or (instance.open and instance.fleet is not None)


def make_state(instance: Instance, seed: int, starts: int = 1) -> State:
    """The arrays of an instance with an empty tour: nothing is covered.

    starts: how many routes a fleet may have.
    """
    n = instance.n
    directed = _is_directed_problem(instance)
    if directed and n > DIRECTED_UP_TO and instance.matrix is None:
        raise InputError(
            f"open: routes that need not return are planned for up to {DIRECTED_UP_TO:,} places"
        )
    order = number = np.arange(n)
    in_blocks = has_blocks(instance)
    if in_blocks:
        assert instance.coordinates is not None
        order = along_curve(instance.metric, instance.coordinates)
        number = np.empty(n, dtype=np.int64)
        number[order] = np.arange(n)
    goal, counts = make_goal(instance, number, starts)
    many = n if goal is None else len(goal.weight)
    at = np.zeros(many, dtype=PLACE)
    at["stop_at"] = -1
    at["role"][n:] = FIXED
    at["role"][number[list(instance.forbidden)]] = FORBIDDEN
    at["role"][number[instance.must_visit]] = FIXED
    table: FloatArray = np.empty(0)
    around = np.zeros((1, 1), dtype=np.int64)  # one block holds all
    if instance.matrix is not None:
        table = np.array(instance.matrix)
    else:
        assert instance.coordinates is not None
        coordinates = instance.coordinates[order]
        points = metrics.positions(instance.metric, coordinates)
        for name, column in zip("xyz", points.T, strict=False):
            at[name][:n] = column
        if n <= TABLE_UP_TO or directed:
            table = _table(instance.metric, coordinates)
        if in_blocks:
            at["block"][:n], around = make_blocks(points, max(2, round(places_per_stop(instance))))
            if goal is not None and len(goal.blanks):  # near to all, in a block nobody looks at
                at["block"][n:] = len(around)
                around = np.concatenate([around, around[:1]])
    if goal is not None and len(table):
        table = fold(table, goal, directed, instance.open)
    if len(table) and directed:
        table = table[None]
    depot = -1 if instance.depot is None else instance.depot
    if goal is not None and goal.routes is not None:
        for name in ("x", "y", "z", "block"):
            at[name][n:] = at[name][number[depot]]
    who, covers, covered = renumbered(instance.coverage, order, number)
    at["covers_from"][:n], at["covers_to"][:n] = covers[:-1], covers[1:]
    at["covered_from"][:n], at["covered_to"][:n] = covered[:-1], covered[1:]
    tour = np.zeros(1, dtype=TOUR)[0]  # a view, not a copy
    served = np.zeros(many, dtype=SERVED)
    served["count"][:n] = counts[order]
    served["count"][n:] = SERVED_ANYWAY
    needy = np.flatnonzero(served["count"] <= 0)
    at["uncovered_at"] = -1
    at["uncovered_at"][needy] = np.arange(len(needy))
    tour["uncovered"] = len(needy)
    tour["random"] = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1)
    tour["metric"] = metrics.METRICS.index(instance.metric)
    tour["symmetric"] = not directed
    tour["labelled"] = instance.fleet is None
    lists = np.zeros((5, many + 1), dtype=Place)
    lists[UNCOVERED, : len(needy)] = needy
    blocks = np.empty((len(around), FIRST_NEAR + around.shape[1]), dtype=Place)
    blocks[:, FIRST_STOP], blocks[:, SEEN], blocks[:, FIRST_NEAR:] = NOWHERE, 0, around
    return State(
        at=at,
        served=served,
        tour=tour,
        lists=lists,
        who=who,
        table=table,
        blocks=blocks,
        legs=np.zeros(2 * many + 2 * (many - n), dtype=LEG),
        log=np.zeros((LOG_SIZE, 3), dtype=Place),
        order=order if many == n else np.concatenate([order, np.full(many - n, depot)]),
        number=number,
        goal=goal,
    )


def read_tour(s: State) -> IntArray:
    """The stops of the tour in order, int64[m], by the instance's numbers."""
    places = np.empty(int(s.tour["size"]), dtype=np.int64)
    following = s.at["next"]
    stop = int(s.lists[STOPS, 0])
    for index in range(len(places)):
        places[index] = stop
        stop = int(following[stop])
    return places_of(s, places)


def places_of(s: State, ring: IntArray) -> IntArray:
    """A ring of stops, int64[m], as a tour by the instance's numbers."""
    return s.order[ring if s.goal is None else as_driven(s.goal, ring)]


def ring_of(s: State, places: IntArray) -> IntArray:
    """A tour by the instance's numbers as a ring of stops; with the ends that it must have."""
    stops = s.number[places]
    return stops if s.goal is None else as_ring(s.goal, stops)


def _table(metric: str, coordinates: FloatArray) -> FloatArray:
    """The distances between all places."""
    n = len(coordinates)
    table = np.empty((n, n))
    for first in range(0, n, ROWS_AT_A_TIME):
        rows = slice(first, first + ROWS_AT_A_TIME)
        table[rows] = metrics.distances(metric, coordinates[rows, None], coordinates)
    np.fill_diagonal(table, 0.0)
    return table


def _from_points(s, i, j):
    x = s.at[i].x - s.at[j].x
    y = s.at[i].y - s.at[j].y
    z = s.at[i].z - s.at[j].z
    square = x * x + y * y + z * z
    metric = s.tour.metric
    if metric == EUCLIDEAN:
        return np.sqrt(square)
    if metric == EUC_2D:
        return np.floor(np.sqrt(square) + 0.5)
    if metric == CEIL_2D:
        return np.ceil(np.sqrt(square))
    if metric == ATT:
        return np.ceil(np.sqrt(square / 10.0))
    angle = 2.0 * np.arcsin(min(1.0, np.sqrt(square) / 2.0))
    if metric == HAVERSINE:
        return EARTH_RADIUS * angle
    return np.floor(GEO_RADIUS * angle + 1.0) if i != j else 0.0


_apart = inner(_from_points)


def _from_points_with_goal(s, i, j):
    goal = s.goal
    blank = Place(goal.tally.blank)
    if i < blank and j < blank:
        return _apart(s, i, j) + 0.5 * (goal.visit[i] + goal.visit[j])
    one, other = (i, j) if i >= blank else (j, i)
    row = one - blank
    if goal.beside[row, 0] == other or goal.beside[row, 1] == other:
        return -goal.tally.forced
    return 0.5 * goal.visit[other]


def _from_points_with_routes(s, i, j):
    goal = s.goal
    if goal.routes.is_start[i] & goal.routes.is_start[j]:
        return 0.0
    return _apart(s, i, j) + 0.5 * (goal.visit[i] + goal.visit[j])


def _from_table(s, i, j):
    return s.table[i, j]


def _from_directed_table(s, i, j):
    return s.table[0, i, j]


DISTANCES = {1: _from_points, 2: _from_table, 3: _from_directed_table}
"""How distances are found, by the number of axes of ``State.table``."""


def distance(s, i, j):
    """Distance from place i to place j; kernels are compiled for the kind of table at hand."""
    if s.goal is not None and s.table.ndim == 1:
        both = _from_points_with_goal, _from_points_with_routes
        return both[s.goal.routes is not None](s, i, j)
    return DISTANCES[s.table.ndim](s, i, j)


def is_directed(s):
    """Whether distances are asymmetric; kernels know it when they are compiled."""
    return s.table.ndim == 3


def axes(s) -> int:
    """The number of axes of the table in numba's type of a State."""
    return s.types[s.fields.index("table")].ndim


def has_goal(s) -> bool:
    """Whether numba's type of a State has a goal."""
    return not isinstance(s.types[s.fields.index("goal")], types.NoneType)


def has_routes(s) -> bool:
    """Whether numba's type of a State has a goal with routes."""
    goal = s.types[s.fields.index("goal")]
    return has_goal(s) and not isinstance(goal.types[goal.fields.index("routes")], types.NoneType)


def for_both(
    plain: Callable[..., Any],
    general: Callable[..., Any],
    routed: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """A function of a State and more that is compiled as the one or, with a goal, as the other.

    For a goal with routes there may be a third.
    """

    def either(s, *more):
        if s.goal is None:
            return plain(s, *more)
        return (general if s.goal.routes is None or routed is None else routed)(s, *more)

    @overload(either, jit_options=INNER, strict=False)
    def choose(s, *more):
        if routed is not None and has_routes(s):
            return routed
        return general if has_goal(s) else plain

    return either


@overload(distance, jit_options=INNER)
def _distance(s, i, j):
    if has_goal(s) and axes(s) == 1:
        return _from_points_with_routes if has_routes(s) else _from_points_with_goal
    return DISTANCES[axes(s)]


@overload(is_directed, inline="always")
def _is_directed(s):
    directed = axes(s) == 3
    return lambda s: directed


def _stops_near(s, place):
    """List the granular neighbourhood of a place in ``s.lists[NEAR]``; how many stops it has.

    These are the stops in the blocks around the place. There are no branches: whether a block or a
    list goes on, a processor would often guess wrong. So what is not there is written too, and not
    counted; the lists have room for one more.
    """
    block = s.at[place].block
    many = 0
    for w in range(FIRST_NEAR, s.blocks.shape[1]):
        stop = s.blocks[s.blocks[block, w], FIRST_STOP]
        s.lists[NEAR, many] = stop
        many += stop != NOWHERE
    index = 0
    while index < many:
        stop = s.at[s.lists[NEAR, index]].in_next
        s.lists[NEAR, many] = stop
        many += stop != NOWHERE
        index += 1
    return many


_stops_in_blocks = inner(_stops_near)


def _stops_near_and_blanks(s, place):
    many = _stops_in_blocks(s, place)
    if s.blocks.shape[0] > 1:
        for index in range(len(s.goal.blanks)):
            s.lists[NEAR, many] = s.goal.blanks[index]
            many += 1
    return many


stops_near = for_both(_stops_near, _stops_near_and_blanks)


@inner
def draw(s):
    """The next pseudo-random uint64 (xorshift64*)."""
    x = s.tour.random
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    s.tour.random = x
    return x * np.uint64(2685821657736338717)


@inner
def draw_below(s, limit):
    """A random whole number from 0 to limit - 1."""
    return np.int64((draw(s) >> np.uint64(33)) * np.uint64(limit) >> np.uint64(31))


@inner
def draw_unit(s):
    """A random number in [0, 1)."""
    return np.float64(draw(s) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
