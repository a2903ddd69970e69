"""ls2: the second local search of Golden, Naji-Azimi, Raghavan, Salari and Toth (2012).

The tour always covers everything. An inner iteration goes round it from a random stop, dropping
stops and replacing them by one or two places nearby until nothing changes, improves the order of
the stops, goes back to the best tour unless this is a new best, and inserts ten random places. The
setting of the Attention-dynamic paper has half the inner iterations and replaces by single places
only. Our order improvement is 2-opt with Or-opt.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.changes import (
    clear_queue,
    clear_spare,
    copy_tour,
    insert,
    load_tour,
    touch,
)
from covertour.search.construct import cheapest_position, complete, gather_legs
from covertour.search.dropadd import drop_and_add, nearest_allowed
from covertour.search.improve import FINAL, improve
from covertour.search.state import NOWHERE, STOPS, Place, draw_below, make_state
from covertour.solving.clock import Clock, Stretch

NEARBY = 10
"""Replacements are sought among this many nearest places."""

INSERTED = 10
"""Random places that go in at the end of an inner iteration."""

LS2 = np.dtype(
    [
        ("best", "f8"),
        ("best_size", "i8"),
        ("iterations", "i8"),  # made so far, and the one that found the best tour
        ("improved", "i8"),
        ("pairs", "i8"),  # whether to replace by two places as well
    ]
)


@entry
def ls2_for(s, search, nearby, reached, order, best, iterations):
    """Make some inner iterations.

    search: LS2[1]; nearby: int64[n, NEARBY], the nearest allowed places, -1 where there are fewer;
    reached, order: int64[n], room, reached all 0; best: int64[n], receives the best tour.
    """
    a = search[0]
    n = len(s.at)
    if a.best_size == 0:
        a.best = s.tour.length
        a.best_size = copy_tour(s, best)
    for _ in range(iterations):
        a.iterations += 1
        drop_and_add(s, nearby, reached, a.pairs > 0, order)
        for index in range(s.tour.size):
            touch(s, s.lists[STOPS, index])
        improve(s, FINAL)
        if s.tour.length < a.best * (1.0 - 1e-12):
            a.best = s.tour.length
            a.best_size = copy_tour(s, best)
            a.improved = a.iterations
        else:
            load_tour(s, best, a.best_size)
        for _ in range(INSERTED):
            place = Place(draw_below(s, n))
            if s.at[place].stop_at < 0 and s.at[place].covers_from < s.at[place].covers_to:
                after, _ = cheapest_position(s, place, gather_legs(s, place))
                insert(s, place, after if after != NOWHERE else s.lists[STOPS, 0])
        clear_spare(s)
        clear_queue(s)
        s.tour.log = 0


def ls2(
    instance: Instance, clock: Clock, seed: int, start: IntArray, as_in_paper: bool = False
) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order."""
    rng = np.random.default_rng(seed)
    s = make_state(instance, seed)
    complete(s, start, instance.must_visit, rng.permutation(instance.n))
    search = np.zeros(1, dtype=LS2)
    search["pairs"] = not as_in_paper
    nearby = nearest_allowed(instance, NEARBY)[s.order]
    nearby = np.where(nearby < 0, nearby, s.number[nearby])
    room = np.zeros((2, instance.n), dtype=np.int64)
    best = np.empty(instance.n, dtype=np.int64)

    def advance(iterations: int) -> Stretch:
        ls2_for(s, search, nearby, room[0], room[1], best, iterations)
        a = search[0]
        return Stretch(a["iterations"], a["improved"], a["best"], s.order[best[: a["best_size"]]])

    clock.drive(advance)
    return s.order[best[: search["best_size"][0]]]
