"""starts: other tours to begin with, where places may be left out.

Which places are left out is decided early: attempts that change a few stops seldom lead from a tour
through one part of the land to one through another. So from time to time the search tries several
tours that leave out other places. Each is annealed for a while, the better half of them twice as
long, and so on; the one that is left competes with the best tour so far.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.search.annealing import restart
from covertour.search.construct import cut_back, measure, serve_all
from covertour.search.state import STOPS, State, ring_of
from covertour.search.worker import Worker
from covertour.solving.clock import Clock

STARTS, ROUNDS = 8, 3
"""How many tours are tried at a time, and how often half of them are left."""

CENTRES, FAVOUR = 8, 8.0
"""Stops around so many random places are favoured, or the opposite: some tours hardly, others by
about exp(FAVOUR)."""


class Found(NamedTuple):
    """A tour by the state's numbers, int64[m]; ``weight`` as ``Worker.weight``."""

    weight: float
    length: float
    ring: IntArray


@dataclass
class Elsewhere:
    """The search among other tours: each gets ``iterations`` at first.

    ``need``: what they must serve; ``spent``: the iterations that all of it took so far.
    """

    instance: Instance
    rng: np.random.Generator
    need: float
    iterations: int
    spent: int = 0

    def look(self, clock: Clock, team: list[Worker], cycle: Callable[[int], bool]) -> None:
        """Try other tours if that took less time so far than the rest, and go on from the best.

        ``cycle`` anneals all workers for so many iterations.
        """
        cost = STARTS * (1 + ROUNDS) * self.iterations
        left = clock.iterations_left if clock.counted else clock.expected(clock.seconds_left)
        if clock.iterations - self.spent < self.spent + cost or left < 2 * cost:
            return
        began = clock.iterations
        best, improved = found_by(team[0]), int(team[0].anneal["improved"][0])
        other = self._explore(team, cycle)
        for worker in team:
            if not _is_better(other, best):
                worker.anneal["improved"] = improved
            go_on_from(worker, other if _is_better(other, best) else best)
        self.spent += clock.iterations - began

    def _explore(self, team: list[Worker], cycle: Callable[[int], bool]) -> Found:
        found = []
        whole = self._serving_all(team[0].state)
        for _ in range(0, STARTS, len(team)):
            for worker in team:
                self._begin(worker, whole)
            cycle(self.iterations)
            found += [found_by(worker) for worker in team]
        iterations = self.iterations
        for _ in range(ROUNDS):
            found.sort(key=lambda one: (-one.weight, one.length))
            found, half = [], found[: max(1, len(found) // 2)]
            iterations *= 2
            for first in range(0, len(half), len(team)):
                batch = half[first : first + len(team)]
                for index, worker in enumerate(team):
                    go_on_from(worker, batch[index % len(batch)])
                cycle(iterations)
                found += [found_by(worker) for worker in team]
        return min(found, key=lambda one: (-one.weight, one.length))

    def _begin(self, worker: Worker, whole: IntArray) -> None:
        """Let a worker begin with another tour, a part of the one that serves all."""
        s, anneal = worker.state, worker.anneal
        tally = s.goal.tally
        worker.best[: len(whole)] = whole
        anneal["best_size"] = len(whole)
        restart(s, anneal, worker.best)
        tally["need"], tally["best"] = self.need, -1.0
        cut_back(s, self._favour(s))
        anneal["best"], anneal["best_size"] = np.inf, 0

    def _serving_all(self, s: State) -> IntArray:
        """A tour that serves all, int64[m], by the state's numbers."""
        instance = self.instance
        serving = s.number[self.rng.permutation(instance.n)]
        ring = ring_of(s, np.empty(0, dtype=np.int64))
        serve_all(s, ring, s.number[instance.must_visit], serving)
        whole = np.empty(int(s.tour["size"]), dtype=np.int64)
        stop = int(s.lists[STOPS, 0])
        for index in range(len(whole)):
            whole[index], stop = stop, int(s.at[stop]["next"])
        return whole

    def _favour(self, s: State) -> FloatArray:
        """Random factors, float64[N], alike for places that lie near each other."""
        n = self.instance.n
        places = np.arange(n)
        exponent, far = np.zeros(len(s.at)), np.empty(n)
        strength = FAVOUR * self.rng.random()
        for centre in self.rng.integers(n, size=CENTRES):
            measure(s, np.full(n, centre), places, far)
            wide = max(far.mean(), 1e-300) * self.rng.uniform(0.2, 0.8)
            exponent[:n] += self.rng.normal(scale=strength) * np.exp(-far / wide)
        return np.exp(exponent)


def _is_better(one: Found, other: Found) -> bool:
    return (-one.weight, one.length) < (-other.weight, other.length)


def found_by(worker: Worker) -> Found:
    """The best tour of a worker."""
    size = int(worker.anneal["best_size"][0])
    return Found(worker.weight, worker.length, worker.best[:size].copy())


def go_on_from(worker: Worker, found: Found) -> None:
    """Let a worker have a tour as its best one, and go on from there."""
    tally = worker.state.goal.tally
    worker.best[: len(found.ring)] = found.ring
    worker.anneal["best"], worker.anneal["best_size"] = found.length, len(found.ring)
    tally["best"] = found.weight
    if np.isfinite(tally["limit"]):
        tally["need"] = min(found.weight + 1.0, float(tally["total"]))
    restart(worker.state, worker.anneal, worker.best)
