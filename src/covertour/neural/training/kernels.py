"""Compiled parts of a training step: draw stops, replay whole tours, credit each choice."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from covertour.kernel import entry
from covertour.neural.inference.environment import (
    BoolArray,
    Float32Array,
    begin,
    choose,
    is_free,
    is_over,
    visit,
)
from covertour.problem.metric import IntArray


class Pairs(NamedTuple):
    """All steps of all tours of b instances, q per instance: what a model is told at each.

    An instance's pairs of tour and step lie in the order of its tours, then of the steps. ``tour``:
    int64[b, q], whose step it is, counted over all instances; -1 for padding at the end.
    ``chosen``, ``first``, ``last``: int64[b, q], stops. ``begun``: bool[b, q]. ``free``: bool[b, q,
    n], where the tour may go. The rest as in a state of the specification; ``gain`` is float32[b,
    q, 0], like the guidance, where no one looks at it.
    """

    tour: IntArray
    chosen: IntArray
    first: IntArray
    last: IntArray
    begun: BoolArray
    free: BoolArray
    visited: BoolArray
    uncovered: BoolArray
    guidance: Float32Array
    gain: Float32Array


def make_pairs(b: int, q: int, n: int, *, guided: bool, gains: bool) -> Pairs:
    """Room for q pairs of each of b instances of n places."""
    stops = [np.zeros((b, q), dtype=np.int64) for _ in range(4)]
    begun = np.zeros((b, q), dtype=np.bool_)
    flags = [np.zeros((b, q, n), dtype=np.bool_) for _ in range(3)]
    numbers = [np.zeros((b, q, n if used else 0), dtype=np.float32) for used in (guided, gains)]
    return Pairs._make([*stops, begun, *flags, *numbers])


@entry
def begin_all(rules, instance, tours):
    """Rows of ``tours`` before their first stop; ``instance``: int64[k], whose each is."""
    for k in range(len(instance)):
        begin(rules, instance[k], tours, k)


@entry
def advance(rules, instance, tours, scores, noise, step, useful, done, last, stops):
    """Choose the next stop of each unfinished tour and go there; how many are unfinished then.

    ``instance``: int64[k], whose tour each is; ``scores``: float32[k, n], overwritten; ``noise``:
    float32[k, m], [k, 0] for the best stop; ``done``: bool[k]; ``last``: int64[k] and ``stops``:
    int64[k, m] are given the stop.
    """
    unfinished = 0
    for k in range(len(instance)):
        if done[k]:
            continue
        i = instance[k]
        drawn = noise[k, step] if noise.shape[1] > 0 else np.float32(-1)
        stop = choose(rules, i, tours, k, scores[k], step > 0, useful, drawn)
        last[k] = stop
        stops[k, step] = stop
        visit(rules, i, tours, k, stop)
        done[k] = is_over(tours, k)
        if not done[k]:
            unfinished += 1
    return unfinished


@entry
def replay(rules, stops, counts, useful, tours, pairs):
    """Fill in the pairs of tours, int64[b, r, t], with ``counts`` stops, int64[b, r].

    ``tours``: room for one.
    """
    b, r, _ = stops.shape
    n = rules.allowed.shape[1]
    q = pairs.tour.shape[1]
    for i in range(b):
        at = 0
        for j in range(r):
            begin(rules, i, tours, 0)
            for t in range(counts[i, j]):
                pairs.tour[i, at] = i * r + j
                pairs.chosen[i, at] = stops[i, j, t]
                if t > 0:
                    pairs.first[i, at] = stops[i, j, 0]
                    pairs.last[i, at] = stops[i, j, t - 1]
                    pairs.begun[i, at] = True
                for p in range(n):
                    pairs.free[i, at, p] = is_free(rules, i, tours, 0, p, t > 0, useful)
                    pairs.visited[i, at, p] = tours.visited[0, p]
                    pairs.uncovered[i, at, p] = tours.uncovered[0, p]
                if pairs.guidance.shape[2] > 0:
                    for p in range(n):
                        pairs.guidance[i, at, p] = tours.guidance[0, p]
                if pairs.gain.shape[2] > 0:
                    for p in range(n):
                        pairs.gain[i, at, p] = tours.gain[0, p]
                visit(rules, i, tours, 0, stops[i, j, t])
                at += 1
        for rest in range(at, q):
            pairs.tour[i, rest] = -1
            pairs.free[i, rest, 0] = True


@entry
def pay(pairs, distances, costs, spent, paid):
    """What tours cost before each choice and by it, float64[b, q] both.

    ``distances``: float64[b, n, n]; ``costs``: float64[b * r] of the tours. A choice costs the leg
    to the stop; the last one all that is left, which is the way back too.
    """
    b, q = pairs.tour.shape
    for i in range(b):
        so_far = 0.0
        for at in range(q):
            tour = pairs.tour[i, at]
            if tour < 0:
                break
            if pairs.begun[i, at]:
                leg = distances[i, pairs.last[i, at], pairs.chosen[i, at]]
            else:
                so_far = leg = 0.0
            spent[i, at] = so_far
            if at + 1 == q or pairs.tour[i, at + 1] != tour:
                leg = costs[tour] - so_far
            paid[i, at] = leg
            so_far += leg


@entry
def credit(pairs, paid, values, trace, advantages, to_come):
    """The advantage of each choice and what came from it on, float64[b, q] both; lower is better.

    ``values``: float64[b, q], what was expected to come before each choice.
    """
    b, q = pairs.tour.shape
    for i in range(b):
        advantage = after = rest = 0.0
        for at in range(q - 1, -1, -1):
            tour = pairs.tour[i, at]
            if tour < 0:
                continue
            if at + 1 == q or pairs.tour[i, at + 1] != tour:
                advantage = after = rest = 0.0
            advantage = paid[i, at] + after - values[i, at] + trace * advantage
            rest += paid[i, at]
            after = values[i, at]
            advantages[i, at] = advantage
            to_come[i, at] = rest


OUTLOOK = 12
"""How many numbers about the state before a choice :func:`look_ahead` gives."""


@entry(allocates=True)
def look_ahead(pairs, distances, points, spent, mean, seen):
    """Numbers about the state before each choice but the first ones, into float32[b, q, 12].

    ``distances``: float64[b, n, n]; ``points``: float32[b, n, 2]; ``mean``: float64[b], of the
    costs of an instance's tours. Told are what is spent and what is left of the mean, the way back
    from the last stop, how many places are uncovered, how far they are from the last and the first
    stop (nearest, mean, farthest), and how scattered they are.
    """
    b, q, n = pairs.uncovered.shape
    near, far, total, place, square = np.empty((5, 2))
    for i in range(b):
        for at in range(q):
            if not pairs.begun[i, at]:
                continue
            count = 0
            near[:] = np.inf
            far[:] = total[:] = place[:] = square[:] = 0.0
            for p in range(n):
                if not pairs.uncovered[i, at, p]:
                    continue
                count += 1
                for k in range(2):
                    stop = pairs.first[i, at] if k else pairs.last[i, at]
                    way = distances[i, stop, p]
                    near[k] = min(near[k], way)
                    far[k] = max(far[k], way)
                    total[k] += way
                    place[k] += points[i, p, k]
                    square[k] += points[i, p, k] ** 2
            row = seen[i, at]
            row[0] = spent[i, at]
            row[1] = mean[i] - spent[i, at]
            row[2] = distances[i, pairs.last[i, at], pairs.first[i, at]]
            row[3] = count / n
            if count > 0:
                for k in range(2):
                    row[4 + k] = near[k]
                    row[6 + k] = total[k] / count
                    row[8 + k] = far[k]
                    variance = square[k] / count - (place[k] / count) ** 2
                    row[10 + k] = math.sqrt(max(variance, 0.0))
