"""Growing a tour until it reaches a quota: the start for a search from a tour that serves less."""

from __future__ import annotations

import numpy as np

from covertour.problem.coverage import SAME
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray

MOST_WORK = 20_000_000
"""Pairs of possible stops and legs beyond which a tour is not grown: the search does it faster."""


def grown(instance: Instance, places: IntArray) -> IntArray | None:
    """The tour with stops added until its quota is reached, those with most weight per cost first.

    None where that would take long, or stops in its way cannot be found.
    """
    stops = np.asarray(places, dtype=np.int64)
    may = np.setdiff1d(np.arange(instance.n), instance.forbidden)
    table = instance.coverage
    need = instance.demands - _counts(instance, stops)
    served = float(instance.weights[need <= 0].sum())
    while served * SAME < instance.quota_weight:
        candidates = np.setdiff1d(may, stops)
        if len(candidates) == 0 or len(candidates) * len(stops) > MOST_WORK:
            return None
        gain = _gains(instance, candidates, need)
        extra, where = _insertions(instance, stops, candidates)
        extra = extra + instance.visit_costs[candidates]
        if not np.any(gain > 0):
            return None
        # Weight beyond what is lacking is worth nothing.
        worth = np.minimum(gain, instance.quota_weight - served)
        best = int(np.argmax(np.where(gain > 0, worth / np.maximum(extra, 1e-9), -1.0)))
        stop = int(candidates[best])
        stops = np.insert(stops, where[best], stop)
        need[table.covers[table.covers_start[stop] : table.covers_start[stop + 1]]] -= 1
        served = float(instance.weights[need <= 0].sum())
    return stops


def _counts(instance: Instance, stops: IntArray) -> IntArray:
    """How many of the stops cover each place, int64[n]."""
    table = instance.coverage
    rows = [table.covers[table.covers_start[s] : table.covers_start[s + 1]] for s in stops.tolist()]
    return np.bincount(np.concatenate(rows), minlength=instance.n)


def _gains(instance: Instance, candidates: IntArray, need: IntArray) -> IntArray:
    """The weight that each candidate would bring, a demand of several shared out, float64[m]."""
    table = instance.coverage
    worth = np.where(need > 0, instance.weights / np.maximum(need, 1), 0.0)
    sums = np.concatenate([[0.0], np.cumsum(worth[table.covers])])
    return sums[table.covers_start[candidates + 1]] - sums[table.covers_start[candidates]]


def _insertions(
    instance: Instance, stops: IntArray, candidates: IntArray
) -> tuple[np.ndarray, IntArray]:
    """What each candidate adds to the length at its best place, and where that is in the tour."""
    after = np.roll(stops, -1)
    legs = instance.distances(stops, after)
    there = instance.distances(stops[None, :], candidates[:, None])
    back = instance.distances(candidates[:, None], after[None, :])
    extra = there + back - legs[None, :]
    if instance.open:  # after the last stop there is no way back
        extra[:, -1] = there[:, -1] if instance.end is None else np.inf
    where = np.argmin(extra, axis=1)
    return extra[np.arange(len(candidates)), where], where + 1
