"""ls2: the second local search of Golden, Naji-Azimi, Raghavan, Salari and Toth (2012).

The tour always covers everything. An inner iteration goes round it from a random stop, dropping
stops and replacing them by one or two places nearby until nothing changes, improves the order of
the stops, goes back to the best tour unless this is a new best, and inserts ten random places. The
setting of the Attention-dynamic paper has half the inner iterations and replaces by single places
only. Our order improvement is 2-opt with Or-opt.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray, positions
from covertour.search.changes import (
    clear_queue,
    clear_spare,
    copy_tour,
    insert,
    load_tour,
    remove,
    saving,
    touch,
)
from covertour.search.construct import cheapest_position, complete, gather_legs, is_redundant
from covertour.search.improve import FINAL, improve
from covertour.search.state import FIXED, NOWHERE, STOPS, Place, distance, draw_below, make_state
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


@inner
def _replace(s, stop, nearby, reached, pairs):
    """Replace a stop by the cheapest one or two places nearby that cover its own, if shorter."""
    before = s.at[stop].prev
    after = s.at[stop].next
    # Bit c of reached[place] says whether candidate c covers a place that only the stop covers.
    for c in range(nearby.shape[1]):
        other = Place(nearby[stop, c])  # -1 becomes NOWHERE
        if other == NOWHERE or s.at[other].stop_at >= 0:
            continue
        for k in range(s.at[other].covers_from, s.at[other].covers_to):
            place = Place(s.who[k])
            if s.served[place].count == 1 and s.served[place].owner == stop:
                reached[place] |= 1 << c
    best = s.at[before].leg + s.at[stop].leg
    best -= 1e-9 * best
    first = NOWHERE
    second = NOWHERE
    for c in range(nearby.shape[1]):
        for d in range(c, nearby.shape[1] if pairs else c + 1):
            both = (1 << c) | (1 << d)
            covered = True
            for k in range(s.at[stop].covers_from, s.at[stop].covers_to):
                place = Place(s.who[k])
                if s.served[place].count == 1 and reached[place] & both == 0:
                    covered = False
                    break
            i = Place(nearby[stop, c])
            j = Place(nearby[stop, d])
            if not covered or i == NOWHERE or j == NOWHERE:
                continue
            if s.at[i].stop_at >= 0 or s.at[j].stop_at >= 0:
                continue
            for _ in range(2):
                cost = distance(s, before, i) + distance(s, j, after)
                if i != j:
                    cost += distance(s, i, j)
                if cost < best:
                    best = cost
                    first = i
                    second = j
                i, j = j, i
    for k in range(s.at[stop].covers_from, s.at[stop].covers_to):
        reached[s.who[k]] = 0
    if first == NOWHERE:
        return False
    insert(s, first, stop)
    if second != first:
        insert(s, second, first)
    remove(s, stop)
    return True


@inner
def _settle(s, nearby, reached, pairs, order):
    """Go round the tour, dropping and replacing stops, until nothing changes."""
    changed = True
    while changed:
        changed = False
        size = copy_tour(s, order)
        first = draw_below(s, size)
        for index in range(size):
            stop = Place(order[(first + index) % size])
            s.tour.log = 0
            if s.at[stop].stop_at < 0 or s.at[stop].role == FIXED or s.tour.size < 2:
                continue
            if is_redundant(s, stop) and saving(s, stop) >= 0.0:
                remove(s, stop)
                changed = True
            elif s.at[stop].unique > 0 and _replace(s, stop, nearby, reached, pairs):
                changed = True
    clear_spare(s)


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
        _settle(s, nearby, reached, a.pairs > 0, order)
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


def nearest_allowed(instance: Instance, k: int) -> IntArray:
    """The k nearest others that may be stops for each place, int64[n, k], -1 where fewer exist."""
    from scipy.spatial import cKDTree

    n = instance.n
    allowed = np.setdiff1d(np.arange(n), instance.forbidden)
    near = np.full((n, k + 1), -1, dtype=np.int64)
    width = min(k + 1, len(allowed))
    if instance.matrix is not None:
        order = np.argsort(instance.matrix[:, allowed], axis=1, kind="stable")[:, :width]
    else:
        assert instance.coordinates is not None
        points = positions(instance.metric, instance.coordinates)
        _, order = cKDTree(points[allowed]).query(points, k=np.arange(1, width + 1))
    near[:, :width] = allowed[order]
    near[near == np.arange(n)[:, None]] = -1
    return near
