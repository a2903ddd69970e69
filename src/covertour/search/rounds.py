"""rounds: annealing a long tour region by region, on threads or by whoever takes tasks.

A cycle of annealing is made in rounds. In each the tour is divided anew, all regions are annealed
from one temperature to the next, and put back. Small regions stay in the processor's cache, so this
is quicker than annealing the whole even where they are taken one after the other.

With a limit of iterations all that happens follows from the seed, the number of regions and that
limit; with a limit of time the regions share what is left of it.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from time import perf_counter
from typing import NamedTuple

import numpy as np

from covertour.executors import Lost, forget, is_there, result_of, slots_of
from covertour.problem.metric import FloatArray, IntArray
from covertour.search.params import LnsParams
from covertour.search.pool import members_for
from covertour.search.regions import (
    Division,
    Improved,
    Region,
    Task,
    cut_out,
    divide,
    improve_region,
    lay_out,
    workable,
)
from covertour.search.rejoin import put_back, tour_length
from covertour.search.state import State
from covertour.solving.clock import Clock
from covertour.solving.stop import NEVER

STOPS_PER_REGION = 400
"""About how many stops a region has: few enough for the cache, and most of them far from others."""

FEWEST_PER_REGION = 200
"""At least so many where there are more workers than that would give regions."""

STOPS_PER_POOL = 190
"""About how many stops a region has of which there is a pool: recombining many takes longer."""

POOLS_FROM = 300
"""Iterations per stop that a search must be allowed to make for pools of regions to pay."""

ANNEALED_SHARE, FRESH_SHARE = 0.1, 0.45
"""The shares of the iterations in which the tour is annealed before there are pools, and of the
first round of pools."""

PER_POOL = 130
"""A later round of pools makes at least about so many iterations per stop."""

FEWEST_LATER, MOST_LATER = 2, 12
"""How many later rounds of pools there are."""

MOST_REGIONS = np.iinfo(np.int16).max
"""Places hold the number of their region in two bytes."""

PER_PLACE_AND_ROUND = 1.5
"""A round makes at least so many iterations per place, but for very short searches."""

FEWEST_ROUNDS, MOST_ROUNDS = 4, 24

USUAL_SPEED = 80_000.0
"""Iterations per second of a core, to tell how many rounds are worth while in a given time."""

LATE_SHARE = 0.05
"""Tasks that are sent away get so much less time, as they take time on the way."""

LOOK_SECONDS = 0.05
"""How long nobody looks at the clock at most."""

SHOW_SECONDS, SHOW_SHARE = 0.5, 0.02
"""Better tours are told of at most so often, and for at most this share of the time."""


def regions_for(stops: int, workers: int, each: int = STOPS_PER_REGION) -> int:
    """How many regions of about ``each`` stops a tour of so many stops is divided into.

    It is a multiple of the workers, if the regions do not become too small.
    """
    wanted = max(1, round(stops / each))
    most = max(1, stops // min(FEWEST_PER_REGION, each))
    return max(1, min(-(-wanted // workers) * workers, most, MOST_REGIONS))


def has_pools(clock: Clock, stops: int, workers: int, params: LnsParams) -> bool:
    """Whether there is time for a pool of each region of a tour."""
    return params.members > 0 and _ahead(clock, workers) >= POOLS_FROM * stops


def _ahead(clock: Clock, workers: int) -> float:
    """About how many iterations may be made until the limit; 0 where there is none."""
    if clock.counted:
        return clock.iterations_left
    seconds = clock.limits.seconds - clock.seconds
    return seconds * USUAL_SPEED * workers if seconds < float("inf") else 0.0


class Round(NamedTuple):
    """A round: until which ``share`` of a cycle it goes, and what is done to its regions.

    They are annealed from one temperature to another, in shares of the hottest; or ``members`` of
    a pool are, for each region, from ``fresh`` tours or from the present one.
    """

    until: float
    hot: float
    cold: float
    members: int = 0
    fresh: bool = False


@dataclass
class Search:
    """A search by regions: what it works on, who works, and the present tour.

    ``tour``: int64[t], by the numbers of the state; ``many``: how many regions, ``pools``: how many
    where there is a pool of each; ``hot``: the temperature at the start of a cycle; ``executor``:
    who takes tasks, None for threads; ``good``: whether the tour to begin with is one to keep.
    """

    state: State
    points: FloatArray
    tour: IntArray
    hot: float
    many: int
    pools: int
    clock: Clock
    seed: int
    workers: int
    params: LnsParams
    executor: Executor | None
    best: IntArray
    best_length: float
    good: bool
    rounds: int = 0
    overhead: float = 0.0
    """Seconds that putting back took the last time."""


def search_regions(
    state: State,
    tour: IntArray,
    length: float,
    clock: Clock,
    seed: int,
    many: int,
    workers: int,
    params: LnsParams,
    executor: Executor | None = None,
    good: bool = False,
) -> IntArray:
    """Search from a tour, int64[t], until the clock is over; the best tour.

    Tours are by the numbers of the state, which holds nothing of use afterwards. A ``good`` tour
    is gone on from, any other is annealed first.
    """
    at = state.at
    depth = 3 if np.any(at["z"]) else 2
    search = Search(
        state=state,
        points=np.stack([at[axis] for axis in "xyz"[:depth]], axis=1),
        tour=tour,
        hot=params.hot_long * length / len(tour),
        many=many,
        pools=regions_for(len(tour), workers, STOPS_PER_POOL),
        clock=clock,
        seed=seed,
        workers=workers,
        params=params,
        executor=executor,
        best=tour,
        best_length=length,
        good=good,
    )
    planned = float(params.first_cycle * len(tour))
    with ThreadPoolExecutor(workers) as threads:
        made = -1
        while not clock.over and clock.iterations > made:
            made = clock.iterations
            _cycle(search, int(planned), threads)
            planned *= params.growth
            search.tour = search.best
    return search.best


def _cycle(search: Search, planned: int, threads: Executor) -> None:
    """Anneal once from hot to cold: in all that is left, or in so many iterations."""
    clock = search.clock
    timed = not clock.counted and clock.limits.seconds < float("inf")
    total = clock.iterations_left if clock.counted else planned
    ahead = _ahead(clock, search.workers) or total
    before = 0.0
    for plan in _rounds(search, ahead):
        if clock.over:
            return
        end = float("inf")
        if timed:  # shares of the time, with what is lost between rounds taken off
            left = clock.limits.seconds - clock.seconds
            share = (plan.until - before) / (1.0 - before)
            end = clock.seconds + left * share - search.overhead
        iterations = int(total * plan.until) - int(total * before)
        before = plan.until
        _round(search, plan, NEVER if timed else iterations, end, threads)


def _rounds(search: Search, ahead: float) -> list[Round]:
    """The rounds of a cycle of so many iterations."""
    stops, params = len(search.tour), search.params
    each = ahead / stops
    if not has_pools(search.clock, stops, search.workers, params):
        if search.good and params.members > 0:
            return _mended(search, each, 0.0)
        return _annealed(search, ahead, 1.0)
    before = 0.0 if search.good else ANNEALED_SHARE
    annealed = [] if search.good else _annealed(search, before * ahead, before)
    fresh = members_for(FRESH_SHARE * each, params)
    first = before + FRESH_SHARE
    later = _mended(search, each, first, FEWEST_LATER)
    return [*annealed, Round(first, 1.0, 0.0, fresh, True), *later]


def _mended(search: Search, each: float, begun: float, fewest: int = 1) -> list[Round]:
    """Rounds of pools that begin with the present tour, in what is left of a cycle."""
    rest = 1.0 - begun
    many = int(min(max(rest * each / PER_POOL, fewest), MOST_LATER))
    members = members_for(rest / many * each, search.params)
    return [Round(1.0 - rest * index / many, 1.0, 0.0, members) for index in range(many)[::-1]]


def _annealed(search: Search, ahead: float, share: float) -> list[Round]:
    """Rounds of annealing that make so many iterations, a share of the cycle's."""
    worth = ahead / (PER_PLACE_AND_ROUND * len(search.points))
    many = int(min(max(worth, FEWEST_ROUNDS), MOST_ROUNDS))
    return [Round(share * (i + 1) / many, 1 - i / many, 1 - (i + 1) / many) for i in range(many)]


def _round(
    search: Search,
    plan: Round,
    iterations: int,
    end: float,
    threads: Executor,
) -> None:
    """Divide, anneal every region in its share of the iterations or of the time, put back."""
    s, clock = search.state, search.clock
    seed = (search.seed, search.rounds)
    many = search.pools if plan.members else search.many
    region = divide(search.points, search.tour, many, seed)
    division = lay_out(s, search.tour, region, many)
    sizes = workable(division)
    shares = np.concatenate([[0], np.cumsum(sizes)]) / max(1, sizes.sum())
    quota = np.diff((iterations * shares).astype(np.int64)) if iterations < NEVER else None
    improved: list[Improved | None] = [None] * many
    shown = perf_counter()

    def task(which: int, seconds: float) -> Task:
        count = NEVER if quota is None else int(quota[which])
        hot, cold = search.hot * plan.hot, search.hot * plan.cold
        own = (*seed, which)
        return Task(own, hot, cold, count, seconds, search.params, plan.members, plan.fresh)

    def finish(which: int, done: Improved, seconds: float) -> None:
        nonlocal shown
        improved[which] = done
        clock.ran(done.iterations, seconds)
        pause = max(SHOW_SECONDS, search.overhead / SHOW_SHARE)
        if not clock.counted and perf_counter() - shown > pause:
            _put_back(search, division, improved)
            shown = perf_counter()

    if search.workers == 1 and search.executor is None:
        _one_by_one(search, division, sizes, task, finish, end)
    else:
        try:
            _together(search, division, sizes, task, finish, end, threads)
        except Lost as error:
            warnings.warn(
                f"whoever improved the regions is gone ({error}); this is the best tour so far",
                RuntimeWarning,
                stacklevel=2,
            )
            clock.interruption.happened = True
    search.tour = _put_back(search, division, improved)
    search.rounds += 1


def _put_back(search: Search, division: Division, improved: Sequence[Improved | None]) -> IntArray:
    """The tour with what was improved; the clock and the search hear of it if it is the best."""
    begin = perf_counter()
    tour = put_back(search.state, search.tour, division, improved)
    length = float(tour_length(search.state, tour))
    search.overhead = perf_counter() - begin
    if length < search.best_length:
        search.best, search.best_length = tour, length
        search.clock.improved(length, search.state.order[tour])
    search.clock.report()
    return tour


MakeTask = Callable[[int, float], Task]
Finish = Callable[[int, Improved, float], None]


def _one_by_one(
    search: Search,
    division: Division,
    sizes: IntArray,
    task: MakeTask,
    finish: Finish,
    end: float,
) -> None:
    """Improve all regions here."""
    clock = search.clock

    def go_on() -> bool:
        clock.report()
        return not clock.over

    rest = int(sizes.sum())
    for which in range(len(sizes)):
        if not go_on():
            return
        begin = perf_counter()
        seconds = (end - clock.seconds) * float(sizes[which]) / max(1, rest)
        rest -= int(sizes[which])
        region = cut_out(search.state, division, which)
        done = improve_region(region, task(which, max(seconds, 0.0)), go_on)
        finish(which, done, perf_counter() - begin)


def _together(
    search: Search,
    division: Division,
    sizes: IntArray,
    task: MakeTask,
    finish: Finish,
    end: float,
    threads: Executor,
) -> None:
    """Improve several regions at a time; while they are, the next ones are cut out and sent."""
    clock, executor = search.clock, search.executor
    halt = Event()
    slots, ahead = search.workers, 1
    if executor is not None:
        slots = ahead = slots_of(executor)
        if end < float("inf"):
            end -= LATE_SHARE * max(0.0, end - clock.seconds)

    def submit(region: Region, task: Task) -> Future[Improved]:
        if executor is not None:
            return executor.submit(improve_region, region, task)
        return threads.submit(improve_region, region, task, lambda: not halt.is_set())

    waiting, rest = deque(range(len(sizes))), int(sizes.sum())
    pending: dict[Future[Improved], tuple[int, float]] = {}
    before = perf_counter()
    try:
        while (waiting or pending) and not clock.over:
            while waiting and len(pending) < slots + ahead:
                which = waiting.popleft()
                region = cut_out(search.state, division, which)
                seconds = end
                if end < float("inf"):
                    # What is left of everybody's time, less what is promised, by shares.
                    free = slots * (end - clock.seconds) - sum(p for _, p in pending.values())
                    seconds = max(0.0, free * float(sizes[which]) / max(1, rest))
                rest -= int(sizes[which])
                pending[submit(region, task(which, seconds))] = which, seconds
            ready, _ = wait(pending, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
            now = perf_counter()
            for future in ready:
                which, _ = pending.pop(future)
                finish(which, result_of(future), now - before)
                before = now
            clock.report()
            if executor is not None and not ready and not is_there(executor):
                raise Lost("nobody answers")
    finally:
        halt.set()
        forget(pending, executor)
    if executor is None:
        for future, (which, _) in pending.items():
            if not future.cancelled():
                finish(which, future.result(), 0.0)
