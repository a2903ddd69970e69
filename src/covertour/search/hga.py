"""hga: hybrid genetic algorithm, in the manner of Pandiri, Singh and Rossi (2020).

Theirs is known to us by a line only: a genetic algorithm with a local search. The rest is ours. Of
POPULATION tours two parents are chosen, each the better of two random ones. The child has the stops
that both have, and each other one of theirs with probability KEPT, in the order of one parent and
those of the other at their cheapest positions; of about every MUTATED-th child some random stops
are removed. It is mended by the places that cost least for what they cover, improved by the local
search of trials.py, and replaces the longest tour if it is shorter and new. An iteration is a
child. When RENEWED children in a row were of no use, all tours but the best are made anew.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.trials import (
    CHEAPEST,
    Made,
    Trials,
    first_tour,
    follow,
    fresh,
    rebuild,
    settled,
)
from covertour.solving.clock import Clock

POPULATION = 30
KEPT = 0.5
MUTATED = 5
REMOVED_SHARE = 0.1
"""In a mutation this share of the stops is removed."""

RENEWED = 400


def hga(instance: Instance, clock: Clock, seed: int, start: IntArray) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order."""
    return follow(_tours, instance, clock, seed, start)


def _tours(trials: Trials, instance: Instance, seed: int, start: IntArray) -> Iterator[Made]:
    """One tour after the other, the first one before all."""
    rng = np.random.default_rng(seed)
    best = first_tour(trials, instance, seed, start)
    while True:
        yield best
        population = [best]
        while len(population) < POPULATION:
            population.append(fresh(trials))
            yield population[-1]
        useless = 0
        while useless < RENEWED:
            child = _child(trials, _chosen(population, rng), _chosen(population, rng), rng)
            yield child
            longest = max(range(POPULATION), key=lambda at: population[at].length)
            known = any(_same(child, tour) for tour in population)
            useless += 1
            if child.length < population[longest].length and not known:
                population[longest] = child
                useless = 0
        best = min(population, key=lambda tour: tour.length)


def _chosen(population: list[Made], rng: np.random.Generator) -> Made:
    """The better of two random tours."""
    one, other = (population[at] for at in rng.integers(len(population), size=2))
    return one if one.length <= other.length else other


def _child(trials: Trials, one: Made, other: Made, rng: np.random.Generator) -> Made:
    own = one.places[np.isin(one.places, other.places) | (rng.random(len(one.places)) < KEPT)]
    more = other.places[~np.isin(other.places, one.places)]
    more = np.concatenate([trials.must, more[rng.random(len(more)) < KEPT]])
    removed = max(1, round(REMOVED_SHARE * len(own))) if rng.integers(MUTATED) == 0 else 0
    rebuild(trials.s, own, len(own), more, removed, CHEAPEST)
    return settled(trials)


def _same(one: Made, other: Made) -> bool:
    return len(one.places) == len(other.places) and abs(one.length - other.length) <= (
        1e-9 * other.length
    )
