"""sn: integer programming in a local search, after Salari and Naji-Azimi (2012); a reconstruction.

The text of the paper was not at hand. From its descriptions elsewhere: stops are destroyed and
repaired as in LS1, then an integer program puts the tour right. So an iteration makes some
iterations of ls1.py, improves the tour by the local search of trials.py, and gives a part of it to
the integer program of gapfill.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.gapfill import BoolArray, fill_gaps
from covertour.search.ls1 import LS1, NO_END, ls1_for
from covertour.search.trials import (
    Made,
    Trials,
    first_tour,
    follow,
    settled,
)
from covertour.solving.clock import Clock

LS1_STEPS = 20
"""Iterations of LS1 before an integer program."""

WINDOW = 40
"""The program is about this many stops that lie together."""

REMOVED_SHARE = 0.5
"""Each of these stops is removed with this probability."""


def sn(instance: Instance, clock: Clock, seed: int, start: IntArray) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order."""
    return follow(partial(_tours, clock=clock), instance, clock, seed, start)


def _tours(
    trials: Trials, instance: Instance, seed: int, start: IntArray, clock: Clock
) -> Iterator[Made]:
    """One tour after the other, the first one before all."""
    rng = np.random.default_rng(seed)
    s = trials.s
    first = first_tour(trials, instance, seed, start)
    yield first
    search = np.zeros(1, dtype=LS1)
    search["improve_after"] = LS1_STEPS
    weight = np.empty(instance.n)
    best = np.empty(instance.n, dtype=np.int64)
    asked = set()  # tours and removed stops for which there is nothing shorter
    while True:
        ls1_for(s, search, weight, best, LS1_STEPS, NO_END)
        tour = settled(trials)
        places = s.order[tour.places]
        removed, window = _window(instance, places, rng)
        question = (tour.length, *(np.sort(part).tobytes() for part in (places, places[removed])))
        better = None
        if question not in asked:
            better = fill_gaps(instance, clock, places, removed, window)
        if better is not None:
            tour = first_tour(trials, instance, seed, better)
        else:
            asked.add(question)
        yield tour
        if tour.length < search["best"][0] * (1.0 - 1e-12):
            search["best"] = tour.length
            search["best_size"] = len(tour.places)
            best[: len(tour.places)] = tour.places
            search["null"] = 0


def _window(
    instance: Instance, places: IntArray, rng: np.random.Generator
) -> tuple[BoolArray, BoolArray]:
    """Which stops of a tour to remove, and which are around them: bool[m] each.

    At least one stop stays.
    """
    centre = places[rng.integers(len(places))]
    nearest = np.argsort(instance.distances(centre, places), kind="stable")[:WINDOW]
    window = np.zeros(len(places), dtype=np.bool_)
    window[nearest] = True
    removed = window & (rng.random(len(places)) < REMOVED_SHARE)
    removed &= ~np.isin(places, instance.must_visit)
    if removed.all():
        removed[rng.integers(len(places))] = False
    return removed, window
