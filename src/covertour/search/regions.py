"""regions: a long tour cut into regions that are improved apart from each other, and put back.

A division gives every place to one of several regions, compact ones with about as many stops each.
The stops of a region, in the order of the tour, make a ring of their own: a leg of it either is one
of the tour, or stands for the way of the tour outside until it comes back. Such a leg must stay,
and so must its two ends. It may be driven backwards, so this is for symmetric distances.

A place that stops of several regions cover is left to one of them, its own if that has one: so each
region keeps covered what is left to it, whatever the others do, and all of them may change at once.

What they became is put back by rejoin.py. The next division has its borders elsewhere.

All of it is a function of arrays: whoever improves a region, a thread or another machine, gets a
:class:`Region` and a :class:`Task` and returns the stops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from time import perf_counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covertour.kernel import entry
from covertour.problem.coverage import Int32Array
from covertour.problem.metric import FloatArray, IntArray
from covertour.search.annealing import ANNEAL, TUNED, anneal_for
from covertour.search.params import LnsParams
from covertour.search.regionpool import search_in_pool
from covertour.search.state import (
    FIRST_NEAR,
    FIRST_STOP,
    FIXED,
    FORBIDDEN,
    LEG,
    LOG_SIZE,
    NOWHERE,
    PLACE,
    SERVED,
    TOUR,
    UNCOVERED,
    Place,
    State,
)
from covertour.search.ties import copy_tied, load_tied

FEWEST_STOPS = 24
"""Regions with fewer stops are left as they are."""

STRETCH_SECONDS = 0.02
"""A region is annealed for about so long between two looks at the time."""

FIRST_STRETCH = 64
"""Iterations of the first stretch of a region, which tells how fast it goes."""

UNLIMITED = 2**62
"""Iterations of a limit that nobody set."""

NOBODY = -1


class Region(NamedTuple):
    """A part of an instance and of its tour, by numbers of its own: the places inside, then others.

    ==============  ============================================================================
    ``points``      float64[m, 3], positions
    ``roles``       uint8[m]; places outside, which are covered from inside, cannot be stops
    ``block``       int32[m], the block of each place
    ``around``      int32[b, w], for each block the blocks around it; b for none
    ``needs``       bool[m], whether the place must be covered from inside
    ``starts``      int64[2, m + 1]: place i covers who[starts[0, i]:starts[0, i + 1]], and is
                    covered by who[starts[1, i]:starts[1, i + 1]]; only pairs that matter inside
    ``who``         int32[k]
    ``stops``       int64[t], the stops in the order of the tour
    ``stays``       bool[t], whether the leg behind each of them stands for the way outside
    ``metric``      index in metric.METRICS
    ==============  ============================================================================
    """

    points: FloatArray
    roles: npt.NDArray[np.uint8]
    block: Int32Array
    around: Int32Array
    needs: npt.NDArray[np.bool_]
    starts: IntArray
    who: Int32Array
    stops: IntArray
    stays: npt.NDArray[np.bool_]
    metric: int


class Task(NamedTuple):
    """How a region is to be annealed: from one temperature to another, linearly.

    It ends after so many ``iterations``, or after so many ``seconds``, whatever comes first; where
    the seconds are limited the temperature follows them. With ``members`` it is searched in a pool
    of so many tours, see regionpool.py; ``fresh`` ones or such that begin with the present tour.
    """

    seed: tuple[int, ...]
    hot: float
    cold: float
    iterations: int
    seconds: float
    params: LnsParams
    members: int = 0
    fresh: bool = False


class Improved(NamedTuple):
    """The stops of a region in their new order, int64[t], and how many iterations were made."""

    stops: IntArray
    iterations: int


# --- Dividing -------------------------------------------------------------------------------------


def divide(
    points: FloatArray, stops: IntArray, many: int, seed: Sequence[int]
) -> npt.NDArray[np.int16]:
    """The region of each place, int16[n]: ``many`` of them with about as many stops each.

    points: float64[n, d]; stops: int64[t]. The places are cut in two along a line, and the parts
    again; the lines are those of a grid that is turned at random, and cut off random shares.
    """
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.standard_normal((points.shape[1], points.shape[1])))
    turned = points @ turn
    region = np.zeros(len(points), dtype=np.int16)
    parts = [(np.arange(len(points)), stops, 0, many)]
    while parts:
        places, inside, first, share = parts.pop()
        if share == 1 or len(inside) < 2:
            region[places] = first
            continue
        low = int(rng.integers((share + 2) // 3, share - (share + 2) // 3 + 1))
        low = min(max(low, 1), share - 1)
        axis = int(np.argmax(np.ptp(turned[inside], axis=0)))
        where = turned[inside, axis]
        cut = max(1, len(inside) * low // share)
        border = np.partition(where, cut)[cut]
        below, below_stops = turned[places, axis] < border, where < border
        parts.append((places[~below], inside[~below_stops], first + low, share - low))
        parts.append((places[below], inside[below_stops], first, low))
    return region


class Division(NamedTuple):
    """A tour divided: what is needed to cut out any of its regions.

    ``places``: int64[n], by region and then by number, those of region r from ``begin[r]`` on;
    ``others`` and ``others_begin`` the same of the places outside that are left to it; ``local``:
    int32[2, n], the number of each place in its own region, and in the one it is left to.
    ``stops``: int64[t], by region and then along the tour, from ``stops_begin[r]`` on; ``stays``:
    bool[t], whether the leg behind each of them, in its region's ring, leads outside.
    """

    region: npt.NDArray[np.int16]
    keeper: npt.NDArray[np.int16]
    places: IntArray
    begin: IntArray
    others: IntArray
    others_begin: IntArray
    local: npt.NDArray[np.int32]
    stops: IntArray
    stops_begin: IntArray
    stays: npt.NDArray[np.bool_]


def lay_out(s: State, tour: IntArray, region: npt.NDArray[np.int16], many: int) -> Division:
    """Divide a tour, int64[t], by the region of each place; all by the numbers of the state."""
    n = len(region)
    keeper = np.full(n, NOBODY, dtype=np.int16)
    leave_places(s, tour, region, keeper)
    local = np.zeros((2, n), dtype=np.int32)
    places = np.argsort(region, kind="stable")
    begin = _begins(region, many)
    local[0, places] = np.arange(n) - begin[region[places]]
    others = np.flatnonzero((keeper != region) & (keeper != NOBODY))
    others = others[np.argsort(keeper[others], kind="stable")]
    others_begin = _begins(keeper[others], many)
    inside = np.diff(begin)
    local[1] = local[0]
    of = keeper[others]
    local[1, others] = inside[of] + np.arange(len(others)) - others_begin[of]
    home = region[tour]
    along = np.argsort(home, kind="stable")
    stops_begin = _begins(home, many)
    following = np.concatenate([along[1:], along[:1]])
    for first, end in pairwise(stops_begin):
        if end > first:
            following[end - 1] = along[first]
    return Division(
        region=region,
        keeper=keeper,
        places=places,
        begin=begin,
        others=others,
        others_begin=others_begin,
        local=local,
        stops=tour[along],
        stops_begin=stops_begin,
        stays=following != (along + 1) % len(tour),
    )


def workable(division: Division) -> IntArray:
    """How many stops each region has; 0 where too few, or no leg, may be changed."""
    begin = division.stops_begin
    sizes = np.diff(begin)
    free = np.diff(np.concatenate([[0], np.cumsum(~division.stays)])[begin])
    return np.where((sizes >= FEWEST_STOPS) & (free > 0), sizes, 0)


def _begins(group: npt.NDArray[np.int16], many: int) -> IntArray:
    """Where each of ``many`` groups begins when sorted, int64[many + 1]."""
    return np.concatenate([[0], np.cumsum(np.bincount(group, minlength=many))]).astype(np.int64)


@entry
def leave_places(s, tour, region, keeper):
    """Leave each place to one of the regions that cover it: its own, or else the first of them."""
    for index in range(len(tour)):
        stop = tour[index]
        home = region[stop]
        for k in range(s.at[stop].covers_from, s.at[stop].covers_to):
            place = s.who[k]
            now = keeper[place]
            if home == region[place] or now == NOBODY or (now != region[place] and home < now):
                keeper[place] = home


def cut_out(s: State, division: Division, which: int) -> Region:
    """One of the regions of a division."""
    d = division
    inside = d.places[d.begin[which] : d.begin[which + 1]]
    outside = d.others[d.others_begin[which] : d.others_begin[which + 1]]
    own = np.concatenate([inside, outside])
    at = s.at[own]
    room = int((at["covers_to"] - at["covers_from"]).sum())
    room += int((at["covered_to"] - at["covered_from"]).sum())
    starts = np.zeros((2, len(own) + 1), dtype=np.int64)
    who = np.empty(room, dtype=np.int32)
    used = cut_rows(s, own, len(inside), which, d.region, d.keeper, d.local, starts, who)
    roles = at["role"].copy()
    roles[len(inside) :] = FORBIDDEN
    stops = d.local[0, d.stops[d.stops_begin[which] : d.stops_begin[which + 1]]].astype(np.int64)
    stays = d.stays[d.stops_begin[which] : d.stops_begin[which + 1]]
    roles[stops[stays]] = FIXED
    roles[np.roll(stops, -1)[stays]] = FIXED
    blocks, block = np.unique(at["block"].astype(np.int64), return_inverse=True)
    near = s.blocks[blocks, FIRST_NEAR:].astype(np.int64)
    index = np.searchsorted(blocks, near)
    known = blocks[np.minimum(index, len(blocks) - 1)] == near
    return Region(
        points=np.stack([at["x"], at["y"], at["z"]], axis=1),
        roles=roles,
        block=block.astype(np.int32),
        around=np.where(known, index, len(blocks)).astype(np.int32),
        needs=d.keeper[own] == which,
        starts=starts,
        who=who[:used].copy(),
        stops=stops,
        stays=stays.copy(),
        metric=int(s.tour["metric"]),
    )


@entry
def cut_rows(s, own, inside, which, region, keeper, local, starts, who):
    """Write the pairs that matter in a region to ``starts`` and ``who``; how many there are.

    own: int64[m], its places, of which the first ``inside`` lie inside.
    """
    used = 0
    for index in range(len(own)):
        starts[0, index] = used
        if index < inside:
            place = own[index]
            for k in range(s.at[place].covers_from, s.at[place].covers_to):
                other = s.who[k]
                if keeper[other] == which:
                    who[used] = local[1, other]
                    used += 1
    starts[0, len(own)] = used
    for index in range(len(own)):
        starts[1, index] = used
        place = own[index]
        if keeper[place] == which:
            for k in range(s.at[place].covered_from, s.at[place].covered_to):
                other = s.who[k]
                if region[other] == which:
                    who[used] = local[0, other]
                    used += 1
    starts[1, len(own)] = used
    return used


# --- Improving one region -------------------------------------------------------------------------


def improve_region(
    region: Region, task: Task, go_on: Callable[[], bool] = lambda: True
) -> Improved:
    """Anneal a region; a function of its arguments, but for ``seconds`` and ``go_on``.

    ``go_on`` is asked between stretches of a fraction of a second.
    """
    begin = perf_counter()
    if len(region.stops) < FEWEST_STOPS or region.stays.all():
        return Improved(region.stops, 0)
    # Copies, as arrays that came from elsewhere may be read-only: kernels are compiled for others.
    stops, stays = np.array(region.stops), np.array(region.stays)
    ties = np.stack([stops, np.roll(stops, -1)], axis=1)[stays]
    s = _state(region, task.seed)
    load_tied(s, stops, len(stops), ties)
    anneal = np.zeros(1, dtype=ANNEAL)
    for name, _ in TUNED:
        anneal[name] = getattr(task.params, name)
    # Nobody keeps the best tour: the present one goes back into the whole.
    anneal["best"], anneal["best_size"], anneal["target"] = -np.inf, 1, np.nan
    anneal["idle_limit"], anneal["look_every"] = UNLIMITED, UNLIMITED
    if task.members > 0:
        needy = np.flatnonzero(region.needs)
        return Improved(*search_in_pool(s, anneal, stops, ties, needy, task, go_on))
    room = np.empty(len(region.roles), dtype=np.uint64), np.empty(1, dtype=np.int64)
    timed = task.seconds < float("inf")
    anneal["hot"], anneal["span"] = task.hot, UNLIMITED
    if not timed and task.hot > task.cold:
        span = round(task.iterations * task.hot / (task.hot - task.cold))
        anneal["span"] = max(span, task.iterations)
    made, stretch, passed = 0, FIRST_STRETCH, 0.0
    while made < task.iterations and passed < task.seconds and go_on():
        stretch = min(stretch, task.iterations - made)
        if timed:
            anneal["hot"] = task.hot + (task.cold - task.hot) * passed / task.seconds
            anneal["position"] = 0
        anneal_for(s, anneal, *room, stretch)
        made += stretch
        before, passed = passed, perf_counter() - begin
        wanted = min(STRETCH_SECONDS, task.seconds - passed)
        stretch = max(1, int(stretch * min(wanted / max(passed - before, 1e-9), 4.0)))
    found = np.empty(int(s.tour["size"]), dtype=np.int64)
    kept = copy_tied(s, ties, found)
    return Improved(found if kept else stops, made)


def _state(region: Region, seed: tuple[int, ...]) -> State:
    """The state of a region with an empty tour."""
    m = len(region.roles)
    at = np.zeros(m, dtype=PLACE)
    at["stop_at"] = -1
    at["role"], at["block"] = region.roles, region.block
    at["x"], at["y"], at["z"] = region.points.T
    at["covers_from"], at["covers_to"] = region.starts[0, :-1], region.starts[0, 1:]
    at["covered_from"], at["covered_to"] = region.starts[1, :-1], region.starts[1, 1:]
    needed = np.flatnonzero(region.needs)
    at["uncovered_at"] = -1
    at["uncovered_at"][needed] = np.arange(len(needed))
    lists = np.zeros((5, m + 1), dtype=Place)
    lists[UNCOVERED, : len(needed)] = needed
    tour = np.zeros(1, dtype=TOUR)[0]  # a view, not a copy
    tour["uncovered"] = len(needed)
    tour["random"] = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0] | np.uint64(1)
    tour["metric"], tour["symmetric"], tour["labelled"] = region.metric, 1, 1
    blocks = np.zeros((len(region.around) + 1, FIRST_NEAR + region.around.shape[1]), dtype=Place)
    blocks[:, FIRST_STOP] = NOWHERE
    blocks[:-1, FIRST_NEAR:] = region.around
    blocks[-1, FIRST_NEAR:] = len(region.around)  # the one that is always empty
    return State(
        at=at,
        served=np.zeros(m, dtype=SERVED),
        tour=tour,
        lists=lists,
        who=np.array(region.who),
        table=np.empty(0),
        blocks=blocks,
        legs=np.zeros(2 * m, dtype=LEG),
        log=np.zeros((LOG_SIZE, 3), dtype=Place),
        order=np.arange(m),
        number=np.arange(m),
        goal=None,
    )
