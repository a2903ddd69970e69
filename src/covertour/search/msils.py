"""msils: multi-start iterated local search, in the manner of Venkatesh et al. (2019).

Theirs is known to us by a line only: iterated local search from several starts, with a degree of
perturbation that varies. The rest is ours. An iteration removes a share of the stops of the tour,
mends it by the places that cost least for what they cover, and improves it by the local search of
trials.py. The share begins small, grows with every failure up to LARGEST, and is small again after
a success. After IDLE_ITERATIONS failures comes the next start: a tour made of nothing by the same
means.
"""

from __future__ import annotations

from collections.abc import Iterator

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

SMALLEST, LARGEST = 0.1, 0.5
"""The least and the largest share of the stops that a perturbation removes."""

GROWTH = 0.01
"""How much the share grows with a failure."""

IDLE_ITERATIONS = 200
"""Failures before the next start."""


def msils(instance: Instance, clock: Clock, seed: int, start: IntArray) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order."""
    return follow(_tours, instance, clock, seed, start)


def _tours(trials: Trials, instance: Instance, seed: int, start: IntArray) -> Iterator[Made]:
    """One tour after the other, the first one before all."""
    tour = first_tour(trials, instance, seed, start)
    while True:
        yield tour
        share, idle = SMALLEST, 0
        while idle < IDLE_ITERATIONS:
            removed = max(1, round(share * len(tour.places)))
            changed = rebuilt(trials, tour.places, removed, CHEAPEST)
            yield changed
            if changed.length < tour.length * (1.0 - 1e-12):
                tour, share, idle = changed, SMALLEST, 0
            else:
                share, idle = min(LARGEST, share + GROWTH), idle + 1
        tour = fresh(trials)
