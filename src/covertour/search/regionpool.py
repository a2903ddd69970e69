"""regionpool: a region of a long tour searched in a pool, as tours of middle length are.

The members are annealed from tours that are made anew around the stops that must stay, or from the
present tour, and recombined with it; then the best is annealed in warm cycles, and gets the parts
that became shorter. See pool.py.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from covertour.problem.metric import IntArray
from covertour.search.annealing import anneal_for
from covertour.search.construct import construct
from covertour.search.pool import ANNEALED, WARM_CYCLE, WARM_HEAT, absorb, make_pool, recombine
from covertour.search.state import FIXED, Place, State
from covertour.search.ties import copy_tied, load_tied
from covertour.solving.clock import Clock
from covertour.solving.stop import MaxIterations, MaxSeconds, Stop

if TYPE_CHECKING:
    from covertour.search.regions import Task

FIRST_SPEED = 80_000.0
"""Iterations per second, before any is made."""


def search_in_pool(
    s: State,
    anneal: Any,
    stops: IntArray,
    ties: IntArray,
    needy: IntArray,
    task: Task,
    go_on: Callable[[], bool],
) -> tuple[IntArray, int]:
    """Search with the state of a region; the stops of the best tour, and the iterations made.

    anneal: ANNEAL[1]; stops: int64[t], the ring of the region; ties: int64[k, 2], stops of it whose
    leg must stay; needy: int64[m], the places to be covered. The task has no ``cold``: members are
    annealed until they are.
    """
    timed = task.seconds < float("inf")
    if min(task.seconds, task.iterations) <= 0:
        return stops, 0
    limit: Stop = MaxSeconds(task.seconds) if timed else MaxIterations(task.iterations)
    clock = Clock(limit | (lambda _: not go_on()))
    pool = make_pool(s, task.seed, task.members + 1, ties)
    pool.add(s)
    leg = float(s.tour["length"]) / max(1, len(stops) - len(ties))
    fixed = stops[s.at["role"][stops] == FIXED]
    nobody = np.empty(0, dtype=np.int64)
    found = np.empty(len(s.at), dtype=np.int64)
    room = np.empty(len(s.at), dtype=Place), np.empty(1, dtype=np.int64)

    def cycle(hot: float, iterations: int) -> bool:
        """Anneal the tour of the state until it is cold; whether it may be put back."""
        anneal["hot"], anneal["span"], anneal["position"] = hot, max(1, iterations), 0
        made = 0
        while made < iterations and not clock.over:
            stretch = min(clock.stretch(), iterations - made)
            begin = perf_counter()
            anneal_for(s, anneal, *room, stretch)
            clock.ran(stretch, perf_counter() - begin)
            made += stretch
        size = int(s.tour["size"])
        if not copy_tied(s, ties, found):
            return False
        load_tied(s, found, size, ties)
        return True

    for member in range(task.members):
        if clock.over:
            break
        if timed:
            left = ANNEALED * task.seconds - clock.seconds
            begun = clock.iterations > 0
            ahead = clock.expected(left) if begun else int(left * FIRST_SPEED)
        else:
            ahead = int(ANNEALED * task.iterations) - clock.iterations
        if task.fresh:
            construct(s, fixed, nobody, pool.random.permutation(needy), ties, False)
        else:
            load_tied(s, stops, len(stops), ties)
        if cycle(task.hot, max(1, ahead // (task.members - member))):
            pool.add(s)
    recombine(pool, clock, task.params.noise, clock.ran)
    while not clock.over:
        best = pool.stops(pool.shortest).copy()
        load_tied(s, best, len(best), ties)
        if cycle(WARM_HEAT * leg, WARM_CYCLE * len(stops)):
            absorb(pool, s, clock, task.params.noise, clock.ran)
    return pool.stops(pool.shortest).copy(), clock.iterations
