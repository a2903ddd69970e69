"""trials: what the methods share that make one tour after the other and improve each by itself.

Such a method is an endless generator of tours, one for each iteration, and ``follow`` runs it by
the clock and keeps the shortest. Its kernels are few and shared, so that little is compiled: the
state's tour is made by ``grow`` from nothing or by ``rebuild`` from what is to stay, and ``settle``
is the local search of Shaelaie, Salari and Naji-Azimi (2014): drop-and-add with sequences of up to
two of the 14 nearest places, and 2-opt, in turn until neither shortens the tour. With 2-opt comes
our Or-opt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.search.changes import clear_queue, copy_tour, insert, load_tour, remove, touch
from covertour.search.construct import (
    cheapest_position,
    complete,
    cover_place,
    gain_of,
    gather_legs,
)
from covertour.search.dropadd import drop_and_add, nearest_allowed
from covertour.search.improve import FINAL, improve
from covertour.search.state import (
    FIXED,
    FORBIDDEN,
    NOWHERE,
    STOPS,
    UNCOVERED,
    Place,
    State,
    distance,
    draw_below,
    make_state,
)
from covertour.solving.clock import Clock, Stretch

NEARBY = 14
"""Replacements are sought among this many nearest places."""

MOST_CHOICES = 9
"""Room for the best candidates of a random choice."""

NOISE = 0.3
"""How far the scores of a CHEAPEST repair are blurred, so that it does not repeat itself."""

MOST, RANDOM, CHEAPEST = (np.int64(rule) for rule in range(3))
"""Which place is inserted where some are uncovered: the one that covers most of them, a random one
that covers any, or the one that costs least for each place that it newly covers."""

NEAREST, WIDEST, IN_TURN, ANY = (np.int64(rule) for rule in range(4))
"""Which useful place a growing tour goes to: one of the nearest, one of those that cover most,
these in turn, or any."""


class Made(NamedTuple):
    """A tour that covers everything: its length, and its stops by the state's numbers, int64[m]."""

    length: float
    places: IntArray


class Trials(NamedTuple):
    """The state that tours are made in, and the room that kernels need.

    ``must``: int64, the places that must be stops; ``nearby``: int64[n, NEARBY + 1], see
    ``nearest_allowed``; ``reached``, ``order``: int64[n], room for ``drop_and_add``; ``places``:
    int64[n], receives tours; ``top`` and ``score``: the best candidates of a choice.
    """

    s: State
    must: IntArray
    nearby: IntArray
    reached: IntArray
    order: IntArray
    places: IntArray
    top: IntArray
    score: FloatArray


# --- Kernels --------------------------------------------------------------------------------------


@inner
def insert_cheaply(s, place):
    """Insert a place at its cheapest position."""
    after, _ = cheapest_position(s, place, gather_legs(s, place))
    if after == NOWHERE and s.tour.size > 0:  # no stop is nearby
        after = s.lists[STOPS, 0]
    insert(s, place, after)
    s.tour.log = 0


@inner
def note_top(top, score, many, most, place, its_score):
    """Note a candidate if it is one of the ``most`` best so far; how many are noted now."""
    at = many
    if many == most:
        at = most - 1
        if its_score <= score[at]:
            return many
    while at > 0 and score[at - 1] < its_score:
        top[at] = top[at - 1]
        score[at] = score[at - 1]
        at -= 1
    top[at] = place
    score[at] = its_score
    return min(many + 1, most)


@inner
def _most_useful(s):
    """The place that covers most of the uncovered ones."""
    best = 0
    best_place = NOWHERE
    for index in range(s.tour.uncovered):
        needy = s.lists[UNCOVERED, index]
        for k in range(s.at[needy].covered_from, s.at[needy].covered_to):
            place = Place(s.who[k])
            if s.at[place].queued == 0:  # not looked at yet
                touch(s, place)
                gain = gain_of(s, place)
                if gain > best:
                    best = gain
                    best_place = place
    clear_queue(s)
    return best_place


@inner
def random_coverer(s):
    """A random place that covers a random uncovered one."""
    needy = s.lists[UNCOVERED, draw_below(s, s.tour.uncovered)]
    many = np.int64(s.at[needy].covered_to - s.at[needy].covered_from)
    return Place(s.who[s.at[needy].covered_from + Place(draw_below(s, many))])


@inner
def mend(s, rule):
    """Insert places where it costs least until everything is covered, by a rule: MOST, ..."""
    while s.tour.uncovered > 0:
        if rule == CHEAPEST:
            needy = s.lists[UNCOVERED, draw_below(s, s.tour.uncovered)]
            last = s.lists[STOPS, 0] if s.tour.size > 0 else NOWHERE
            cover_place(s, needy, NOISE, last)
            s.tour.log = 0
        elif rule == MOST:
            insert_cheaply(s, _most_useful(s))
        else:
            insert_cheaply(s, random_coverer(s))
    clear_queue(s)


@inner
def remove_random(s, many):
    """Remove so many random stops, but none that must be one."""
    for _ in range(min(many, s.tour.size)):
        stop = s.lists[STOPS, draw_below(s, s.tour.size)]
        if s.at[stop].role != FIXED:
            remove(s, stop)
    s.tour.log = 0


@inner
def load_with(s, places, size, must):
    """Load a tour, and insert the places that must be stops and are not."""
    load_tour(s, places, size)
    for number in must:
        if s.at[Place(number)].stop_at < 0:
            insert_cheaply(s, Place(number))


@inner
def next_stop(s, last, widest, choices, top, score):
    """A random one of the best ``choices`` places that cover something new."""
    many = 0
    first = draw_below(s, len(s.at))  # equal ones have equal chances
    for index in range(len(s.at)):
        place = Place((first + index) % len(s.at))
        if s.at[place].stop_at >= 0 or s.at[place].role == FORBIDDEN:
            continue
        if widest:
            value = float(gain_of(s, place))
            if value == 0.0:
                continue
        else:
            value = -distance(s, last, place)
            if (many == choices and value <= score[many - 1]) or gain_of(s, place) == 0:
                continue
        many = note_top(top, score, many, choices, place, value)
    return Place(top[draw_below(s, many)])


@entry
def grow(s, rule, choices, must, top, score, places):
    """Make a tour of nothing, appending useful stops by a rule: NEAREST, ...

    The next stop is a random one of the best ``choices``. Writes the tour to ``places``, returns
    its size; for the arrays see ``Trials``.
    """
    load_with(s, must, 0, must)
    last = s.at[s.lists[STOPS, 0]].prev if s.tour.size > 0 else NOWHERE
    turn = 0
    while s.tour.uncovered > 0:
        if rule == ANY or last == NOWHERE:
            place = random_coverer(s)
        else:
            widest = rule == WIDEST or (rule == IN_TURN and turn % 2 == 1)
            place = next_stop(s, last, widest, choices, top, score)
        insert(s, place, last)
        s.tour.log = 0
        last = place
        turn += 1
    return copy_tour(s, places)


@entry
def rebuild(s, places, size, must, removed, rule):
    """Load places[:size] (int64), remove so many random stops, and mend by a rule."""
    load_with(s, places, size, must)
    remove_random(s, removed)
    mend(s, rule)


@entry
def settle(s, nearby, reached, order, places):
    """The local search on the tour of the state; writes it to ``places``, returns its size."""
    while True:
        drop_and_add(s, nearby, reached, True, order)
        before = s.tour.length
        for index in range(s.tour.size):
            touch(s, s.lists[STOPS, index])
        improve(s, FINAL)
        if not s.tour.length < before - 1e-12 * abs(before):  # near 0 roundings may lead below it
            break
    size = copy_tour(s, places)
    length = 0.0  # summed anew, without drift
    for index in range(size):
        length += s.at[Place(places[index])].leg
    s.tour.length = length
    return size


# --- What Python does with them -------------------------------------------------------------------


def make_trials(instance: Instance, seed: int) -> Trials:
    """A state without a tour, and the room for the kernels."""
    s = make_state(instance, seed)
    nearby = nearest_allowed(instance, NEARBY)[s.order]
    return Trials(
        s,
        s.number[instance.must_visit],
        np.where(nearby < 0, nearby, s.number[nearby]),
        np.zeros(instance.n, dtype=np.int64),
        np.empty(instance.n, dtype=np.int64),
        np.empty(instance.n, dtype=np.int64),
        np.empty(MOST_CHOICES, dtype=np.int64),
        np.empty(MOST_CHOICES),
    )


def first_tour(trials: Trials, instance: Instance, seed: int, start: IntArray) -> Made:
    """The caller's tour, completed and improved; where there is none the greedy one."""
    serving = np.random.default_rng(seed).permutation(instance.n)
    complete(trials.s, start, instance.must_visit, serving)
    return settled(trials)


def settled(trials: Trials) -> Made:
    """The tour of the state after its local search."""
    s, _, nearby, reached, order, places, _, _ = trials
    size = settle(s, nearby, reached, order, places)
    return Made(float(s.tour["length"]), places[:size].copy())


def grown(trials: Trials, rule: np.int64, choices: int) -> Made:
    """A tour grown by a rule, as it is."""
    s, must, _, _, _, places, top, score = trials
    size = grow(s, rule, choices, must, top, score, places)
    return Made(float(s.tour["length"]), places[:size].copy())


def rebuilt(trials: Trials, places: IntArray, removed: int, rule: np.int64) -> Made:
    """A tour without some random stops, mended by a rule, after its local search."""
    rebuild(trials.s, places, len(places), trials.must, removed, rule)
    return settled(trials)


def fresh(trials: Trials) -> Made:
    """A tour made of nothing, after its local search.

    Places are served in random order, each by one that costs least for what it newly covers.
    """
    return rebuilt(trials, np.empty(0, dtype=np.int64), 0, CHEAPEST)


Tours = Callable[[Trials, Instance, int, IntArray], Iterator[Made]]
"""A method: of the state, an instance, a seed and a tour to begin with, one tour after the other;
the first one is there before any iteration."""


def follow(tours: Tours, instance: Instance, clock: Clock, seed: int, start: IntArray) -> IntArray:
    """Ask for tours until the clock is over; the shortest, by the instance's numbers."""
    trials = make_trials(instance, seed)
    made = tours(trials, instance, seed, start)
    best = next(made)
    many = found = 0

    def advance(iterations: int) -> Stretch:
        nonlocal best, many, found
        for tour in islice(made, iterations):
            many += 1
            if tour.length < best.length * (1.0 - 1e-12):
                best, found = tour, many
        return Stretch(many, found, best.length, trials.s.order[best.places])

    clock.drive(advance)
    return trials.s.order[best.places]
