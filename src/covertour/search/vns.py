"""vns: the variable neighbourhood search of Shaelaie, Salari and Naji-Azimi (2014).

From a tour that always went to the nearest useful place, improved by the local search of
trials.py. An iteration shakes the tour k times, repairs it with random useful places and improves
it. A new best sets k back to 1; otherwise k grows, up to 30 and then from 1 again, and the search
goes on from a tour within 1.5 % of the best, else from the best. The caller's tour takes the place
of the first one.
"""

from __future__ import annotations

from collections.abc import Iterator

from covertour.kernel import entry, inner
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.changes import clear_queue, remove, saving, touch
from covertour.search.construct import cheapest_position, gain_of, gather_legs
from covertour.search.state import (
    FIXED,
    FORBIDDEN,
    NOWHERE,
    QUEUE,
    STOPS,
    UNCOVERED,
    Place,
    draw_below,
)
from covertour.search.trials import (
    NEAREST,
    RANDOM,
    Made,
    Trials,
    follow,
    grown,
    insert_cheaply,
    load_with,
    mend,
    note_top,
    settled,
)
from covertour.solving.clock import Clock

MOST_SHAKES = 30
REMOVED_OF, ADDED_OF = 9, 5
"""A shake removes, or adds, a random one of this many best stops."""

KEPT = 1.015
"""A tour up to this much longer than the best is gone on from."""


@inner
def _remove_one(s, top, score):
    """Remove a random one of the stops that save most for each place that only they cover."""
    many = 0
    for index in range(s.tour.size):
        stop = s.lists[STOPS, index]
        if s.at[stop].role != FIXED:
            value = saving(s, stop) / (s.at[stop].unique + 1)
            many = note_top(top, score, many, REMOVED_OF, stop, value)
    if many > 0:
        remove(s, Place(top[draw_below(s, many)]))


@inner
def _add_one(s, top, score):
    """Add a random one of the places that newly cover most for what their insertion costs.

    Where nothing is uncovered all are equal, and any place off the tour will do.
    """
    if s.tour.uncovered == 0:
        place = Place(draw_below(s, len(s.at)))
        if s.at[place].stop_at < 0 and s.at[place].role != FORBIDDEN:
            insert_cheaply(s, place)
        return
    for index in range(s.tour.uncovered):
        needy = s.lists[UNCOVERED, index]
        for k in range(s.at[needy].covered_from, s.at[needy].covered_to):
            touch(s, Place(s.who[k]))
    many = 0
    for index in range(s.tour.queue):
        place = s.lists[QUEUE, index]
        after, cost = cheapest_position(s, place, gather_legs(s, place))
        value = gain_of(s, place) / ((cost if after != NOWHERE else 0.0) + 1.0)
        many = note_top(top, score, many, ADDED_OF, place, value)
    clear_queue(s)
    insert_cheaply(s, Place(top[draw_below(s, many)]))


@entry
def shake(s, places, size, must, times, top, score):
    """Load places[:size], remove or add a stop so many times, and repair; see ``Trials``."""
    load_with(s, places, size, must)
    for _ in range(times):
        if draw_below(s, 2) == 0:
            _remove_one(s, top, score)
        else:
            _add_one(s, top, score)
        s.tour.log = 0
    mend(s, RANDOM)


def vns(instance: Instance, clock: Clock, seed: int, start: IntArray) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order."""
    return follow(_tours, instance, clock, seed, start)


def _tours(trials: Trials, instance: Instance, seed: int, start: IntArray) -> Iterator[Made]:
    """One tour after the other, the first one before all."""
    if len(start) > 0:
        best = _shake(trials, trials.s.number[start], 0)
    else:
        grown(trials, NEAREST, 1)
        best = settled(trials)
    yield best
    tour = best
    k = 1
    while True:
        tour = _shake(trials, tour.places, k)
        yield tour
        k = k % MOST_SHAKES + 1
        if tour.length < best.length * (1.0 - 1e-12):
            best = tour
            k = 1
        elif tour.length > KEPT * best.length:
            tour = best


def _shake(trials: Trials, places: IntArray, times: int) -> Made:
    s, must, _, _, _, _, top, score = trials
    shake(s, places, len(places), must, times, top, score)
    return settled(trials)
