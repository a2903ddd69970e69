"""lns: the large-neighbourhood search, covertour's default engine.

An iteration removes a few stops, consecutive or clustered, and covers what became uncovered again;
or, on longer tours, it swaps two neighbouring paths, which folds the tour in another way. It drops
what became redundant, improves the surroundings with 2-opt, Or-opt and exchanges of single stops,
and keeps the result by simulated annealing; otherwise it is undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from time import perf_counter

import numpy as np

from covertour.problem.errors import SolveError
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.problem.tour import before_cost
from covertour.search.annealing import (
    BALANCE_PRICE,
    SLIGHT,
    restart,
)
from covertour.search.construct import (
    complete,
)
from covertour.search.fleet import fewest, within_reach
from covertour.search.params import LnsParams, default_params
from covertour.search.pool import (
    ANNEALED,
    POOL_FROM,
    USUAL_SPEED,
    WARM_CYCLE,
    WARM_HEAT,
    WORTH,
    absorb,
    make_pool,
    may_have_pools,
    members_for,
    recombine,
)
from covertour.search.rounds import has_pools, regions_for, search_regions
from covertour.search.starts import Elsewhere
from covertour.search.worker import AIMS, Worker, anneal_worker, best_of, first_length, hire
from covertour.solving.clock import Clock
from covertour.solving.stop import NEVER

REGIONS_FROM, REGIONS_FROM_TOGETHER = 7_000, 900
"""Tours of at least so many stops are improved region by region: by one worker; by several, or
where there is time for pools of each region."""

GOOD = 0.9
"""A long tour to begin with that is shorter than this share of a first tour is gone on from."""

WIDEST = 8
"""A region has at least so many times the places that a stop may cover."""

FIRST_POOL, POOL_GROWTH = 300, 4
"""The iterations per stop of the first pool; each next one has so many times as many."""

LAST_POOL = 5.0
"""A pool that could be made so many times in what is left takes it all."""

CHEAPER_EVERY = 3
"""With a budget: in every so many cycles as much is to be served for less, in the others more."""


def lns(
    instance: Instance,
    clock: Clock,
    seed: int,
    start: Sequence[int] | IntArray,
    workers: int = 1,
    params: LnsParams | None = None,
    executor: Executor | None = None,
) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order.

    ``start``: a tour to begin with, completed where it does not cover everything; may be empty.
    The search goes in cycles of annealing, each from the best tour so far; tours of middle length
    are searched for in pools, see pool.py, where there is time for one. Long tours are divided
    into regions, which workers share, or whoever takes the tasks of an executor; else several
    workers search on threads of their own and go on from the best of them after each cycle.
    """
    params = params or default_params(instance)
    begin = np.array(start, dtype=np.int64)
    if instance.fleet is None:
        return _search(instance, clock, seed, begin, workers, params, executor)
    instance = within_reach(instance)
    if instance.fleet is not None and instance.fleet.objective == "fewest":

        def search(part: Clock, begin: IntArray, most: int | None) -> IntArray:
            return _search(instance, part, seed, begin, workers, params, executor, most)

        return fewest(instance, clock, seed, begin, params, search)
    return _search(instance, clock, seed, begin, workers, params, executor)


def _search(
    instance: Instance,
    clock: Clock,
    seed: int,
    start: IntArray,
    workers: int,
    params: LnsParams,
    executor: Executor | None,
    most: int | None = None,
) -> IntArray:
    """Search for a cheap tour; with a fleet, of at most so many routes if ``most`` is not None."""
    leader = hire(instance, clock, seed, start, params, most)
    many = _by_regions(leader, clock, workers, params)
    if many > 1:
        good = len(start) > 0 and leader.length < GOOD * first_length(leader, instance, seed)
        return _search_regions(leader, clock, seed, many, workers, params, executor, good)
    others = [seed + 1_000_003 * index for index in range(1, workers)]
    team = [leader, *(hire(instance, clock, own, start, params, most) for own in others)]
    best = best_of(team)
    planned = float(params.first_cycle * len(best.tour))
    _tell(instance, clock, best)
    with ThreadPoolExecutor(workers) as threads:
        if _by_pools(instance, leader, clock, workers, params):
            _search_pools(instance, team, clock, threads, seed, params)
            for worker in team:
                restart(worker.state, worker.anneal, worker.best)
        cycles = 0
        patient = len(best.tour) > params.short_tour

        def cycle(iterations: int) -> bool:
            return _cycle(instance, team, clock, threads, iterations, params.last_cycle, patient)

        elsewhere = _elsewhere(instance, leader, seed, params)
        while not clock.over and cycle(int(planned)):
            planned *= params.growth
            cycles += 1
            best = best_of(team)
            _share(team)
            for worker in team:
                if instance.budget is not None:
                    _aim(worker, best.weight, cycles)
                if instance.fleet is not None:
                    _aim_routes(worker, best, cycles)
                restart(worker.state, worker.anneal, worker.best)
            if elsewhere is not None:
                elsewhere.look(clock, team, cycle)
    best = best_of(team)
    if instance.fleet is not None and not np.isfinite(best.length):
        raise SolveError("fleet: no routes were found that keep to the limits")
    if instance.budget is not None and best.weight < 0.0:
        raise SolveError(
            f"budget: no tour for {instance.budget:g} was found that visits all places that it "
            f"must; the cheapest that was found costs {best.length:g}"
        )
    return best.tour


def _aim(worker: Worker, weight: float, cycles: int) -> None:
    """Let the next cycle serve more than the best tour within the budget, or as much for less."""
    tally = worker.state.goal.tally
    tally["best"] = weight
    more = 0.0 if cycles % CHEAPER_EVERY == 0 else 1.0
    tally["need"] = min(weight + more, tally["total"]) if weight >= 0.0 else 0.0


def _aim_routes(worker: Worker, best: Worker, cycles: int) -> None:
    """Let the next cycle find a shorter longest route, or one as long for less."""
    limits, found = worker.state.goal.routes.limits, best.state.goal.routes.limits
    limits["best"], limits["violation"] = float(found["best"]), float(found["violation"])
    if limits["balance"] and np.isfinite(limits["best"]):
        limits["aim"] = AIMS[cycles % len(AIMS)]
        limits["longest"] = limits["best"] * (1.0 - limits["aim"])
        limits["price_length"] = min(float(limits["price_length"]), BALANCE_PRICE)
        if 0.0 < limits["aim"] < SLIGHT:  # what is as long as the best counts twice
            limits["price_length"] = best.length / max(limits["best"] - limits["longest"], 1e-300)


def _elsewhere(
    instance: Instance, leader: Worker, seed: int, params: LnsParams
) -> Elsewhere | None:
    """A search among other tours to begin with, where places may be left out of short tours."""
    stops = int(leader.anneal["best_size"][0])
    if not instance.partial or instance.fleet is not None or stops > params.short_tour:
        return None
    need = float(leader.state.goal.tally["need"]) if instance.budget is None else 0.0
    rng = np.random.default_rng([seed, 1])
    return Elsewhere(instance, rng, need, params.first_cycle * stops)


def _tell(instance: Instance, clock: Clock, best: Worker, iteration: int | None = None) -> None:
    """Tell the clock of the best tour if it does not know it."""
    if instance.fleet is not None:
        if np.isfinite(best.length):
            places = best.tour
            first = before_cost(instance, places)
            clock.improved(instance.cost(places), places, iteration, first=first)
    elif instance.budget is None:
        if best.length < clock.best:
            clock.improved(best.length, best.tour, iteration)
    elif best.weight >= 0.0:
        places = best.tour
        if clock.places is None or not np.array_equal(places, clock.places):
            served = instance.covered_weight(places)
            clock.improved(best.length, places, iteration, weight=served)


def _by_regions(leader: Worker, clock: Clock, workers: int, params: LnsParams) -> int:
    """How many regions a tour is divided into to be improved; 0 where it is better left whole."""
    s, stops = leader.state, int(leader.anneal["best_size"][0])
    least = REGIONS_FROM
    if workers > 1 or has_pools(clock, stops, workers, params):
        least = REGIONS_FROM_TOGETHER
    # Idle iterations are counted one by one, which regions cannot.
    if s.goal is not None or s.table.ndim > 1 or clock.limits.idle_iterations < NEVER:
        return 0
    if stops < least:
        return 0
    many = regions_for(stops, workers)
    widest = int((s.at["covers_to"] - s.at["covers_from"]).max())
    return many if widest * many * WIDEST <= len(s.at) else 0


def _search_regions(
    leader: Worker,
    clock: Clock,
    seed: int,
    many: int,
    workers: int,
    params: LnsParams,
    executor: Executor | None,
    good: bool,
) -> IntArray:
    clock.improved(leader.length, leader.tour)
    s, stops = leader.state, leader.best[: leader.anneal["best_size"][0]].copy()
    length = leader.length
    found = search_regions(s, stops, length, clock, seed, many, workers, params, executor, good)
    return s.order[found]


def _cycle(
    instance: Instance,
    team: list[Worker],
    clock: Clock,
    threads: ThreadPoolExecutor,
    planned: int,
    last: float,
    patient: bool = False,
) -> bool:
    """Anneal every worker once from hot to cold, in the planned number of iterations.

    A ``patient`` cycle, or one after which less than ``last`` times its iterations would be left,
    takes all that is left: to the iteration where those are limited, else as far as the speed so
    far tells. Returns whether any iteration was made.
    """
    position = 0
    before = clock.iterations
    patient = patient and _limited(clock)
    for worker in team:
        worker.anneal["position"] = 0
    while not clock.over:
        span = planned
        if clock.counted or clock.iterations > 0:
            whole = position + -(-_left(clock) // len(team))
            if patient or whole < last * planned:
                span = whole
        if position >= span:
            break
        for worker in team:
            worker.anneal["span"] = span
        stretch = max(1, min(clock.stretch() // len(team), span - position))
        begin = perf_counter()
        crew = team[: max(1, clock.iterations_left)]  # when fewer iterations are left than workers
        if len(crew) == 1:
            anneal_worker(crew[0], stretch)
        else:
            list(threads.map(anneal_worker, crew, [stretch] * len(crew)))
        made = sum(int(worker.anneal["iterations"][0]) for worker in team) - clock.iterations
        clock.ran(made, perf_counter() - begin)
        position += stretch
        best = best_of(team)
        _tell(instance, clock, best, int(best.anneal["improved"][0]) * len(team))
        clock.report()
        if made == 0:
            break
    return clock.iterations > before


def _limited(clock: Clock) -> bool:
    """Whether it is known when the search will have to end."""
    return clock.counted or clock.limits.seconds < float("inf")


def _left(clock: Clock) -> int:
    """How many iterations are left, as far as is known."""
    return clock.iterations_left if clock.counted else clock.expected(clock.seconds_left)


def _by_pools(
    instance: Instance, leader: Worker, clock: Clock, workers: int, params: LnsParams
) -> bool:
    """Whether to search in pools: for plain problems, where there is time for it."""
    stops = int(leader.anneal["best_size"][0])
    # Idle iterations would end a search while it is busy with the members of a pool.
    if not may_have_pools(instance) or clock.limits.idle_iterations < NEVER:
        return False
    if params.members == 0 or not POOL_FROM <= stops <= params.short_tour:
        return False
    return _allowed(clock, workers) >= WORTH * stops


def _allowed(clock: Clock, workers: int) -> float:
    """About how many iterations each worker may make, before any is made."""
    return clock.iterations_left / workers if clock.counted else clock.seconds_left * USUAL_SPEED


def _search_pools(
    instance: Instance,
    team: list[Worker],
    clock: Clock,
    threads: ThreadPoolExecutor,
    seed: int,
    params: LnsParams,
) -> None:
    """Search until too little is left for a pool; the best tour is the leader's.

    The members of a pool are annealed from first tours of their own, and recombined with the best
    of the pools before. The best one is then annealed again and again, not very hot, and gets the
    parts that became shorter. Each pool takes longer than the one before, and has more members; the
    last one takes all that is left.
    """
    leader, stops = team[0], len(team[0].tour)
    leg = leader.length / stops
    pool = make_pool(leader.state, seed, params.members + len(team))
    nobody = np.empty(0, dtype=np.int64)
    planned, last = FIRST_POOL * stops, False

    def ran(made: int, seconds: float) -> None:
        clock.ran(made, seconds)
        leader.anneal["iterations"] += made
        if pool.lengths.min() < leader.length:
            ring = pool.stops(pool.shortest)
            leader.best[: len(ring)] = ring
            leader.anneal["best"], leader.anneal["best_size"] = pool.lengths.min(), len(ring)
            leader.anneal["improved"] = leader.anneal["iterations"]
            _tell(instance, clock, leader)
        clock.report()

    while not clock.over and not last:
        began = clock.iterations
        left = _left(clock) if began > 0 else len(team) * _allowed(clock, len(team))
        last = _limited(clock) and left < LAST_POOL * planned
        members = members_for((left if last else planned) / stops, params)
        rounds = -(-members // len(team))
        for worker in team:
            worker.anneal["hot"] = params.hot_long * leg
        for done in range(rounds):
            made, whole = clock.iterations - began, planned
            if last:
                whole = made + (_left(clock) if clock.iterations > 0 else int(left))
            iterations = int((ANNEALED * whole - made) / (rounds - done) / len(team))
            if done > 0 or pool.many > 0:
                for worker in team:
                    anywhere = pool.random.permutation(instance.n)
                    complete(worker.state, nobody, instance.must_visit, anywhere)
            if not _cycle(instance, team, clock, threads, max(1, iterations), 1.0):
                return
            _share(team)
            for worker in team:
                pool.add(worker.state)
        recombine(pool, clock, params.noise, ran)
        for worker in team:
            worker.anneal["hot"] = WARM_HEAT * leg
        while not clock.over and (last or clock.iterations < began + planned):
            _share(team)
            for worker in team:
                restart(worker.state, worker.anneal, worker.best)
            if not _cycle(instance, team, clock, threads, WARM_CYCLE * stops, 1.0):
                return
            best = best_of(team)
            pool.put(pool.shortest, best.length, best.ring)
            for worker in team:
                absorb(pool, worker.state, clock, params.noise, ran)
        pool.forget()
        planned *= POOL_GROWTH
    _share(team)


def _share(team: list[Worker]) -> None:
    """Let all workers have the best tour of all."""
    best = best_of(team)
    for worker in team:
        worker.best[:] = best.best
        worker.anneal["best"] = best.length
        worker.anneal["best_size"] = best.anneal["best_size"]
