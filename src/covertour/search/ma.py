"""ma: the memetic algorithm of Shaelaie, Salari and Naji-Azimi (2014).

A population of 140 tours, grown by four rules. In a generation 28 of them are drawn, the best of
these is crossed with each other one, and every child is mended, mutated and improved by the local
search of trials.py. An iteration is a child. The paper prints the length as the weight of the
roulette wheel, which would prefer long tours; ours is its inverse. The caller's tour, or the
greedy one, takes the place of one member of the first population.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from covertour.kernel import entry
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.changes import copy_tour, insert, remove, undo
from covertour.search.construct import cheapest_position, gather_legs
from covertour.search.state import FIXED, NOWHERE, STOPS, Place, draw_below, draw_unit
from covertour.search.trials import (
    ANY,
    IN_TURN,
    MOST,
    NEAREST,
    WIDEST,
    Made,
    Trials,
    first_tour,
    follow,
    grown,
    load_with,
    mend,
    settled,
)
from covertour.solving.clock import Clock

POPULATION = 140
GROWN_BY = ((NEAREST, 0.5), (WIDEST, 0.3), (IN_TURN, 0.15), (ANY, 0.05))
"""The rules by which the first tours grow, and the share of each."""

CHOICES = 3
"""A growing tour goes to a random one of this many best places."""

DRAWN = 28
"""Parents of a generation."""

MUTATED = 0.05
"""The probability that a stop of a child is replaced."""

MUTATED_NEARBY = 6
"""By this many nearest places off the tour."""

PARTS = (0.5, 0.8, 1.0)
"""Where the sorted tours are split; in each part children replace the worst parents."""

IDLE_GENERATIONS = 100


@entry
def breed(s, child, size, must, nearby, order):
    """Make a tour of child[:size] (int64): mend it, and mutate it; for the rest see ``Trials``."""
    load_with(s, child, size, must)
    mend(s, MOST)
    many = copy_tour(s, order)
    for index in range(many):
        stop = Place(order[index])
        if s.at[stop].stop_at < 0 or s.at[stop].role == FIXED or draw_unit(s) >= MUTATED:
            continue
        length = s.tour.length
        s.tour.log = 0
        remove(s, stop)
        for _ in range(MUTATED_NEARBY):
            if s.tour.uncovered == 0:
                break
            # One of the nearest places off the tour, which are fewer each time.
            seen = 0
            chosen = NOWHERE
            for c in range(nearby.shape[1]):
                other = Place(nearby[stop, c])
                if other == NOWHERE or s.at[other].stop_at >= 0:
                    continue
                seen += 1
                if seen > MUTATED_NEARBY:
                    break
                if draw_below(s, seen) == 0:
                    chosen = other
            if chosen == NOWHERE:
                break
            after, _ = cheapest_position(s, chosen, gather_legs(s, chosen))
            if after == NOWHERE and s.tour.size > 0:
                after = s.lists[STOPS, 0]
            insert(s, chosen, after)
        if s.tour.uncovered > 0:
            undo(s, length)
    s.tour.log = 0


def ma(instance: Instance, clock: Clock, seed: int, start: IntArray) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order."""
    return follow(_generations, instance, clock, seed, start)


def _generations(trials: Trials, instance: Instance, seed: int, start: IntArray) -> Iterator[Made]:
    """The tours of one generation after the other, the first tour before all."""
    rng = np.random.default_rng(seed)
    first = first_tour(trials, instance, seed, start)
    yield first
    population = sorted([first, *_first_population(trials)], key=lambda tour: tour.length)
    while True:
        chances = 1.0 / np.maximum([tour.length for tour in population], 1e-300)
        drawn = np.sort(rng.choice(len(population), DRAWN, p=chances / chances.sum()))
        children = []
        for mate in drawn[1:]:
            for crossed in cross(population[drawn[0]].places, population[mate].places, rng):
                child = _bred(trials, crossed)
                children.append(child)
                yield child
        population = survivors(population, children)


def _first_population(trials: Trials) -> Iterator[Made]:
    """All members but one."""
    for rule, share in GROWN_BY:
        for _ in range(round(share * POPULATION) - (rule == ANY)):
            yield grown(trials, rule, CHOICES)


def cross(one: IntArray, other: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Cut two tours, int64, and swap the tails; of repeated places the first one stays."""
    cut = rng.integers(len(one) + 1)
    other_cut = rng.integers(len(other) + 1)
    return (
        _distinct(one[:cut], other[other_cut:]),
        _distinct(other[:other_cut], one[cut:]),
    )


def _distinct(head: IntArray, tail: IntArray) -> IntArray:
    return np.concatenate([head, tail[~np.isin(tail, head)]])


def _bred(trials: Trials, child: IntArray) -> Made:
    breed(trials.s, child, len(child), trials.must, trials.nearby, trials.order)
    return settled(trials)


def survivors(parents: Sequence[Made], children: Sequence[Made]) -> list[Made]:
    """The next population, shortest first: a child replaces a parent in each part of the order.

    Children that equal another tour are left out.
    """
    known = {_key(tour) for tour in parents}
    new = []
    for child in sorted(children, key=lambda tour: tour.length):
        if _key(child) not in known:
            known.add(_key(child))
            new.append(child)
    kept: list[Made] = []
    begin = new_begin = 0
    for part in PARTS:
        end, new_end = round(part * len(parents)), round(part * len(new))
        kept += parents[begin : end - (new_end - new_begin)]
        kept += new[new_begin:new_end]
        begin, new_begin = end, new_end
    return sorted(kept, key=lambda tour: tour.length)


def _key(tour: Made) -> tuple[float, bytes]:
    return round(tour.length, 9), np.sort(tour.places).tobytes()
