"""ls1: the first local search of Golden, Naji-Azimi, Raghavan, Salari and Toth (2012).

An iteration removes a share of the stops, drawn by how much removing them saves, and repairs the
tour by the place with the least insertion cost / (newly covered places)². In the original's setting
the search starts from a tour of all places and the tour improver, Lin-Kernighan, runs after every
20 improvements. Ours is 2-opt with Or-opt, which is weaker, so it also runs at every new best. In
the setting of the Attention-dynamic paper the search starts from a cover and improves the tour in
every iteration.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.changes import (
    clear_queue,
    copy_tour,
    insert,
    load_tour,
    remove,
    saving,
    touch,
)
from covertour.search.construct import (
    cheapest_position,
    complete,
    drop_spare,
    gain_of,
    gather_legs,
)
from covertour.search.improve import FINAL, improve
from covertour.search.state import (
    FIXED,
    NOWHERE,
    STOPS,
    UNCOVERED,
    Place,
    draw_below,
    draw_unit,
    make_state,
)
from covertour.solving.clock import Clock, Stretch

REMOVED_SHARE = 0.3
TOLERANCE = 1.1
"""A tour longer than this times the best is given up."""

MOST_NULL = 15
"""After more returns to the best than this, the tour is mutated."""

IMPROVE_AFTER = 20
"""In the original's setting: improvements between two runs of the tour improver."""

WEIGHING, REMOVING, REPAIRING = range(3)
"""What is to be done next in an iteration, which on large instances is interrupted to look at the
clock."""

WORK = 100_000
"""Places looked at between two looks at the clock: a few hundredths of a second."""

STOPS_PER_LOOK = 512
"""To compare the weights of so many stops takes as long as to look at a place."""

NO_END = np.int64(2**62)

LS1 = np.dtype(
    [
        ("best", "f8"),
        ("best_size", "i8"),
        ("iterations", "i8"),  # made so far, and the one that found the best tour
        ("improved", "i8"),
        ("improvements", "i8"),  # since the improver ran
        ("null", "i8"),  # returns to the best since the last mutation
        ("improve_after", "i8"),
        ("phase", "i8"),  # of the iteration: WEIGHING, REMOVING or REPAIRING
        ("before", "f8"),  # the length before it
        ("to_remove", "i8"),  # stops that are still to be removed in it
    ]
)


@inner
def _improve_all(s):
    for index in range(s.tour.size):
        touch(s, s.lists[STOPS, index])
    improve(s, FINAL)


@inner
def _weigh(s, weight):
    """Draw a weight for each stop: the REMOVED_SHARE of them with the largest are to be removed.

    Weighted drawing without replacement, in proportion to what removing a stop would save: the
    stops with the largest log(u) / saving, u uniform.
    """
    for index in range(s.tour.size):
        stop = s.lists[STOPS, index]
        share = max(saving(s, stop), 1e-12) if s.at[stop].role != FIXED else 0.0
        weight[stop] = np.log(draw_unit(s) + 1e-300) / share if share > 0.0 else -np.inf
    return max(1, int(REMOVED_SHARE * s.tour.size))


@inner
def _remove_some(s, a, weight, work):
    """Remove the ``a.to_remove`` stops with the largest weights; the work that is left after it."""
    while a.to_remove > 0 and work > 0:
        work -= 1 + s.tour.size // STOPS_PER_LOOK
        a.to_remove -= 1
        best = -np.inf
        best_stop = NOWHERE
        for index in range(s.tour.size):
            stop = s.lists[STOPS, index]
            if weight[stop] > best:
                best = weight[stop]
                best_stop = stop
        if best_stop == NOWHERE:
            a.to_remove = 0
        else:
            remove(s, best_stop)
    return work


@inner
def _repair(s, work):
    """Insert the place with the least cost / (newly covered)² until everything is covered.

    Ends before that where the work was too much; the work that is left after it.
    """
    while s.tour.uncovered > 0:
        if work <= 0:
            return work
        work -= s.tour.uncovered
        best = np.inf
        best_place = NOWHERE
        best_after = NOWHERE
        for index in range(s.tour.uncovered):
            needy = s.lists[UNCOVERED, index]
            legs = gather_legs(s, needy)
            for k in range(s.at[needy].covered_from, s.at[needy].covered_to):
                place = Place(s.who[k])
                if s.at[place].queued == 1:  # looked at already
                    continue
                touch(s, place)
                after, cost = cheapest_position(s, place, legs)
                if after == NOWHERE:
                    after = s.lists[STOPS, 0] if s.tour.size > 0 else NOWHERE
                    cost = 0.0
                gain = gain_of(s, place)
                score = cost / (gain * gain)
                if score < best:
                    best = score
                    best_place = place
                    best_after = after
        work -= s.tour.queue
        clear_queue(s)
        insert(s, best_place, best_after)
    drop_spare(s)
    clear_queue(s)
    s.tour.log = 0
    return work


@entry
def ls1_for(s, search, weight, best, iterations, work):
    """Make some iterations; returns within one, to go on there, after so much work.

    search: LS1[1]; weight: float64[n]; best: int64[n], the best tour. The work is counted in places
    that are looked at.
    """
    a = search[0]
    n = len(s.at)
    if a.best_size == 0:
        a.best = s.tour.length
        a.best_size = copy_tour(s, best)
    until = a.iterations + iterations
    while a.iterations < until:
        if a.phase == WEIGHING:
            a.before = s.tour.length
            s.tour.log = 0
            a.to_remove = _weigh(s, weight)
            a.phase = REMOVING
        if a.phase == REMOVING:
            work = _remove_some(s, a, weight, work)
            if a.to_remove > 0:
                return
            s.tour.log = 0
            a.phase = REPAIRING
        work = _repair(s, work)
        if s.tour.uncovered > 0:
            return
        a.phase = WEIGHING
        a.iterations += 1
        if s.tour.length < a.before:
            a.improvements += 1
        if a.improvements >= a.improve_after or s.tour.length < a.best * (1.0 - 1e-12):
            _improve_all(s)
            a.improvements = 0
        if s.tour.length < a.best * (1.0 - 1e-12):
            a.best = s.tour.length
            a.best_size = copy_tour(s, best)
            a.improved = a.iterations
        elif s.tour.length > TOLERANCE * a.best:
            load_tour(s, best, a.best_size)
            a.null += 1
        if a.null > MOST_NULL:
            a.null = 0
            place = Place(draw_below(s, n))
            s.tour.log = 0
            if s.at[place].stop_at < 0:
                after, _ = cheapest_position(s, place, gather_legs(s, place))
                if s.at[place].covers_from < s.at[place].covers_to:  # not a forbidden one
                    insert(s, place, after if after != NOWHERE else s.lists[STOPS, 0])
            elif s.at[place].role != FIXED:
                remove(s, place)
            _repair(s, NO_END)


@entry
def ls1_finish(s, search, best):
    """Run the tour improver on the best tour."""
    load_tour(s, best, search[0].best_size)
    _improve_all(s)
    search[0].best = s.tour.length
    search[0].best_size = copy_tour(s, best)


def ls1(
    instance: Instance, clock: Clock, seed: int, start: IntArray, as_in_paper: bool = False
) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order."""
    rng = np.random.default_rng(seed)
    s = make_state(instance, seed)
    allowed = np.setdiff1d(np.arange(instance.n), instance.forbidden)
    if len(start) == 0 and not as_in_paper:
        start = rng.permutation(allowed)
    complete(s, start, instance.must_visit, rng.permutation(instance.n))
    search = np.zeros(1, dtype=LS1)
    search["improve_after"] = 0 if as_in_paper else IMPROVE_AFTER
    weight = np.empty(instance.n)
    best = np.empty(instance.n, dtype=np.int64)

    def advance(iterations: int) -> Stretch:
        ls1_for(s, search, weight, best, iterations, WORK)
        a = search[0]
        return Stretch(a["iterations"], a["improved"], a["best"], s.order[best[: a["best_size"]]])

    clock.drive(advance)
    ls1_finish(s, search, best)
    places = s.order[best[: search["best_size"][0]]]
    clock.improved(float(search["best"][0]), places)
    return places
