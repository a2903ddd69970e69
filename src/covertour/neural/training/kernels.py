"""Compiled parts of a training step: draw the next stops, and replay whole tours."""

from __future__ import annotations

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
