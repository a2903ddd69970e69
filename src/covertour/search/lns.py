"""lns: the large-neighbourhood search, covertour's default engine.

An iteration removes a few stops, consecutive or clustered, and covers what became uncovered again;
or, on longer tours, it swaps two neighbouring paths, which folds the tour in another way. It drops
what became redundant, improves the surroundings with 2-opt, Or-opt and exchanges of single stops,
and keeps the result by simulated annealing; otherwise it is undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.changes import (
    clear_queue,
    clear_spare,
    copy_tour,
    insert,
    load_tour,
    move,
    remove,
    saving,
    touch,
    touch_neighbours,
    undo,
)
from covertour.search.construct import complete, cover_place, drop_spare
from covertour.search.improve import LOG_RESERVE, UNDOABLE, improve
from covertour.search.params import DEFAULT, LnsParams
from covertour.search.state import (
    FIXED,
    LOG_SIZE,
    NEAR,
    NOWHERE,
    QUEUE,
    STOPS,
    UNCOVERED,
    Place,
    State,
    distance,
    draw_below,
    draw_unit,
    make_state,
    stops_near,
)
from covertour.solving.clock import Clock


@inner
def destroy(s, most):
    """Remove a few stops around a random one: consecutive on the tour, or the nearest to it."""
    first = s.lists[STOPS, draw_below(s, s.tour.size)]
    wanted = min(1 + draw_below(s, most), s.tour.size)
    clustered = draw_unit(s) < 0.5
    many = stops_near(s, first) if clustered else 0
    stop = first
    for _ in range(wanted):
        if clustered:
            # The nearest stop that is left of those nearby.
            best = np.inf
            stop = NOWHERE
            for index in range(many):
                near = s.lists[NEAR, index]
                if s.at[near].stop_at >= 0 and s.at[near].role != FIXED:
                    far = distance(s, first, near)
                    if far < best:
                        best = far
                        stop = near
            if stop == NOWHERE:
                return
        follower = s.at[stop].next
        if s.at[stop].role != FIXED:
            touch_neighbours(s, stop)
            remove(s, stop)
        stop = follower


@inner
def swap_paths(s, longest):
    """Swap two neighbouring paths of up to so many stops somewhere; no direction changes."""
    at = s.at
    most = min(longest, s.tour.size // 3)
    before = s.lists[STOPS, draw_below(s, s.tour.size)]
    stops = 1 + draw_below(s, most)
    first = at[before].next
    first_end = before
    for _ in range(stops):
        first_end = at[first_end].next
    second = at[first_end].next
    second_end = first_end
    for _ in range(1 + draw_below(s, most)):
        second_end = at[second_end].next
    after = at[second_end].next
    s.tour.length += (
        distance(s, before, second) + distance(s, second_end, first) + distance(s, first_end, after)
    )
    s.tour.length -= at[before].leg + at[first_end].leg + at[second_end].leg
    stop = first
    anchor = second_end
    for _ in range(stops):
        following = at[stop].next
        move(s, stop, anchor)
        anchor = stop
        stop = following
    for end in (before, first, first_end, second, second_end, after):
        touch(s, end)


@inner
def exchange(s, stop):
    """Replace a stop by a place off the tour that covers all that only it covers, if shorter."""
    if s.at[stop].role == FIXED or s.tour.size < 2:
        return False
    needed = s.at[stop].unique
    witness = NOWHERE
    for k in range(s.at[stop].covers_from, s.at[stop].covers_to):
        place = Place(s.who[k])
        if s.served[place].count == 1:
            witness = place
            break
    if witness == NOWHERE:
        return False
    before = s.at[stop].prev
    after = s.at[stop].next
    saved = saving(s, stop)
    direct = distance(s, before, after)
    best = saved * (1.0 - 1e-9)
    best_stop = NOWHERE
    for k in range(s.at[witness].covered_from, s.at[witness].covered_to):
        other = Place(s.who[k])
        if s.at[other].stop_at >= 0:
            continue
        cost = distance(s, before, other) + distance(s, other, after) - direct
        if cost >= best:
            continue
        covered = 0
        for c in range(s.at[other].covers_from, s.at[other].covers_to):
            place = s.who[c]
            if s.served[place].count == 1 and s.served[place].owner == stop:
                covered += 1
        if covered == needed:
            best = cost
            best_stop = other
    if best_stop == NOWHERE:
        return False
    remove(s, stop)
    insert(s, best_stop, before)
    touch(s, best_stop)
    touch_neighbours(s, best_stop)
    return True


TUNED = (
    ("most_removed", "i8"),
    ("swaps", "f8"),
    ("swaps_from", "i8"),
    ("longest_swapped", "i8"),
    ("noise", "f8"),
    ("hopeless", "f8"),
    ("abandoned", "f8"),
)
"""The fields of LnsParams that kernels use."""

ANNEAL = np.dtype(
    [
        ("iterations", "i8"),  # made so far
        ("position", "i8"),  # where in the cycle, of how many iterations
        ("span", "i8"),
        ("hot", "f8"),  # temperature at the start of a cycle
        ("target", "f8"),  # stop at a tour of this length
        ("idle_limit", "i8"),  # stop after so many iterations without improvement
        ("improved", "i8"),  # iteration of the last improvement
        ("best", "f8"),  # length of the best tour and how many stops it has
        ("best_size", "i8"),
        ("look_every", "i8"),  # iterations between two looks whether the tour is the best so far
        *TUNED,
    ]
)


@inner
def _keep_best(s, anneal, best):
    """Copy the tour to ``best`` if it is shorter; its length is summed anew, without drift."""
    if s.tour.length < anneal[0].best * (1.0 - 1e-12):
        size = copy_tour(s, best)
        length = 0.0
        for index in range(size):
            length += s.at[best[index]].leg
        s.tour.length = length
        anneal[0].best = length
        anneal[0].best_size = size
        anneal[0].improved = anneal[0].iterations


@inner(inlined=True)
def _attempt(s, a, touched, temperature):
    """One iteration; a: an ANNEAL."""
    saved = s.tour.length
    s.tour.log = 0
    if s.tour.size >= a.swaps_from and draw_unit(s) < a.swaps:
        swap_paths(s, a.longest_swapped)
        improve(s, UNDOABLE)
    else:
        destroy(s, a.most_removed)
    # Metropolis: accept a longer tour with probability exp(-difference / temperature).
    limit = saved - temperature * np.log(draw_unit(s) + 1e-300)
    leg = saved / s.tour.size
    last = s.lists[STOPS, 0] if s.tour.size > 0 else NOWHERE
    while s.tour.uncovered > 0:
        if s.tour.length > limit + a.abandoned * leg and s.tour.log <= LOG_SIZE:
            undo(s, saved)
            return
        place = s.lists[UNCOVERED, draw_below(s, s.tour.uncovered)]
        last = cover_place(s, place, a.noise, last)
    drop_spare(s)
    if abs(s.tour.length - saved) <= 1e-12 * saved:  # most likely the same tour
        s.tour.length = saved
        clear_spare(s)
        clear_queue(s)
        return
    if s.tour.length < limit + a.hopeless * leg:
        many = s.tour.queue
        for index in range(many):
            touched[index] = s.lists[QUEUE, index]
        improve(s, UNDOABLE)
        for index in range(many):
            stop = touched[index]
            if (
                s.at[stop].stop_at >= 0
                and s.tour.log < LOG_SIZE - LOG_RESERVE
                and exchange(s, stop)
            ):
                drop_spare(s)
        improve(s, UNDOABLE)
        if s.tour.length <= limit:
            clear_spare(s)
            return
    if s.tour.log <= LOG_SIZE:
        undo(s, saved)
    else:
        clear_spare(s)
        clear_queue(s)


@entry
def anneal_for(s, anneal, touched, best, iterations):
    """Make some iterations; returns early at the end of a cycle, at the target or when idle.

    s: State with a covering tour; anneal: ANNEAL[1]; touched: uint64[n], room for the queue;
    best: int64[n], receives the best tour.
    """
    a = anneal[0]
    if a.best_size == 0:
        _keep_best(s, anneal, best)
    for _ in range(iterations):
        if a.position >= a.span or a.best <= a.target or a.iterations - a.improved >= a.idle_limit:
            break
        temperature = a.hot * (1.0 - a.position / a.span)
        a.position += 1
        a.iterations += 1
        _attempt(s, a, touched, temperature)
        if a.iterations % a.look_every == 0 or a.position == a.span:
            _keep_best(s, anneal, best)


@entry
def restart(s, anneal, best):
    """Go back to the best tour."""
    load_tour(s, best, anneal[0].best_size)


class Worker(NamedTuple):
    """One annealing search: its state, ANNEAL[1], room for the queue, and its best tour.

    The tour is held by the state's numbers.
    """

    state: State
    anneal: Any
    touched: IntArray
    best: IntArray

    @property
    def tour(self) -> IntArray:
        """The stops of the best tour in order, by the instance's numbers."""
        return self.state.order[self.best[: self.anneal["best_size"][0]]]

    @property
    def length(self) -> float:
        """The length of the best tour."""
        return float(self.anneal["best"][0])


def lns(
    instance: Instance,
    clock: Clock,
    seed: int,
    start: Sequence[int] | IntArray,
    workers: int = 1,
    params: LnsParams = DEFAULT,
) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order.

    ``start``: a tour to begin with, completed where it does not cover everything; may be empty.
    The search goes in cycles of annealing, each from the best tour so far. Several workers search
    on threads of their own and go on from the best of them after each cycle.
    """
    seeds = [seed + 1_000_003 * index for index in range(workers)]
    team = [_hire(instance, clock, own, start, params) for own in seeds]
    best = _best(team)
    planned = float(params.first_cycle * len(best.tour))
    clock.improved(best.length, best.tour)
    with ThreadPoolExecutor(workers) as threads:
        while not clock.over and _cycle(team, clock, threads, int(planned), params):
            planned *= params.growth
            best = _best(team)
            for worker in team:
                worker.best[:] = best.best
                worker.anneal["best"] = best.length
                worker.anneal["best_size"] = len(best.tour)
                restart(worker.state, worker.anneal, worker.best)
    return _best(team).tour


def _hire(
    instance: Instance,
    clock: Clock,
    seed: int,
    start: Sequence[int] | IntArray,
    params: LnsParams,
) -> Worker:
    """A worker with a first covering tour."""
    s = make_state(instance, seed)
    serving = s.order  # along the curve, or at random where all stops are looked at anyway
    if len(s.blocks) == 1:
        serving = np.random.default_rng(seed).permutation(instance.n)
    complete(s, np.array(start, dtype=np.int64), instance.must_visit, serving)
    size, length = int(s.tour["size"]), float(s.tour["length"])
    anneal = np.zeros(1, dtype=ANNEAL)
    for name, _ in TUNED:
        anneal[name] = getattr(params, name)
    hot = params.hot if size <= params.short_tour else params.hot_long
    anneal["hot"] = hot * length / size
    anneal["target"] = clock.target
    anneal["idle_limit"] = clock.limits.idle_iterations
    anneal["best"] = np.inf
    anneal["look_every"] = max(1, size // 64)
    worker = Worker(s, anneal, np.empty(instance.n, Place), np.empty(instance.n, np.int64))
    _anneal(worker, 0)
    return worker


def _cycle(
    team: list[Worker],
    clock: Clock,
    threads: ThreadPoolExecutor,
    planned: int,
    params: LnsParams,
) -> bool:
    """Anneal every worker once from hot to cold, in the planned number of iterations.

    A cycle on a long tour, or after which little would be left, takes all that is left: to the
    iteration where those are limited, else as far as the speed so far tells. Returns whether any
    iteration was made.
    """
    position = 0
    before = clock.iterations
    limited = clock.counted or clock.limits.seconds < float("inf")
    patient = limited and len(team[0].tour) > params.short_tour
    for worker in team:
        worker.anneal["position"] = 0
    while not clock.over:
        span = planned
        if clock.counted or clock.iterations > 0:
            left = clock.iterations_left if clock.counted else clock.expected(clock.seconds_left)
            whole = position + left // len(team)
            if patient or whole < params.last_cycle * planned:
                span = whole
        if position >= span:
            break
        for worker in team:
            worker.anneal["span"] = span
        stretch = max(1, min(clock.stretch() // len(team), span - position))
        begin = perf_counter()
        if len(team) == 1:
            _anneal(team[0], stretch)
        else:
            list(threads.map(_anneal, team, [stretch] * len(team)))
        made = sum(int(worker.anneal["iterations"][0]) for worker in team) - clock.iterations
        clock.ran(made, perf_counter() - begin)
        position += stretch
        best = _best(team)
        if best.length < clock.best:
            found = int(best.anneal["improved"][0]) * len(team)
            clock.improved(best.length, best.tour, found)
        clock.report()
        if made == 0:
            break
    return clock.iterations > before


def _anneal(worker: Worker, iterations: int) -> None:
    anneal_for(*worker, iterations)


def _best(team: list[Worker]) -> Worker:
    return min(team, key=lambda worker: worker.length)
