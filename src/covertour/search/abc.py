"""abc: artificial bee colony, in the manner of Pandiri and Singh (2019).

Theirs is known to us by a line only: a bee colony with a variable degree of perturbation. The rest
is ours. Each of SOURCES tours has an employed bee, which looks for a shorter tour beside it: some
stops are removed, fewer in every round of the colony, and the tour is mended and improved by the
local search of trials.py. Then as many onlookers do the same at the better of two random tours. A
tour beside which nothing shorter was found PATIENCE times is left, but not the best, and a scout
brings one made of nothing by the same means. An iteration is what one bee does.
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
    rebuilt,
)
from covertour.solving.clock import Clock

SOURCES = 20
PATIENCE = 40

LARGEST, SMALLEST = 0.4, 0.1
"""The share of the stops that is removed, in the first round of the colony and from the last on."""

ROUNDS = 50
"""Over so many rounds the share shrinks; then it begins anew."""


def abc(instance: Instance, clock: Clock, seed: int, start: IntArray) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order."""
    return follow(_tours, instance, clock, seed, start)


def _tours(trials: Trials, instance: Instance, seed: int, start: IntArray) -> Iterator[Made]:
    """What one bee after the other finds, the first tour before all."""
    rng = np.random.default_rng(seed)
    first = first_tour(trials, instance, seed, start)
    yield first
    sources = [first]
    while len(sources) < SOURCES:
        sources.append(fresh(trials))
        yield sources[-1]
    failures = [0] * SOURCES
    turn = 0
    while True:
        share = LARGEST - (LARGEST - SMALLEST) * (turn % ROUNDS) / (ROUNDS - 1)
        turn += 1
        onlookers = rng.integers(SOURCES, size=(SOURCES, 2))
        for bee in range(2 * SOURCES):
            at = bee
            if bee >= SOURCES:
                one, other = onlookers[bee - SOURCES]
                at = one if sources[one].length <= sources[other].length else other
            source = sources[at]
            removed = max(1, round(share * len(source.places)))
            found = rebuilt(trials, source.places, removed, CHEAPEST)
            yield found
            if found.length < source.length * (1.0 - 1e-12):
                sources[at], failures[at] = found, 0
            else:
                failures[at] += 1
        best = min(range(SOURCES), key=lambda at: sources[at].length)
        for at in range(SOURCES):
            if failures[at] >= PATIENCE and at != best:
                sources[at], failures[at] = fresh(trials), 0
                yield sources[at]
