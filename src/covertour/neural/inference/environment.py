"""The tour as it grows, compiled: what is visited and covered, the guidance, where it may go next.

The same as :mod:`covertour.neural.training.environment`, which is the specification, one tour at a
time and in place. Decoding and training share these kernels; a test holds them to it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covertour.kernel import inner
from covertour.problem.metric import IntArray

BoolArray = npt.NDArray[np.bool_]
Float32Array = npt.NDArray[np.float32]

NONE, ONE = np.float32(0), np.float32(1)
NEVER = np.float32(-np.inf)


class Rules(NamedTuple):
    """What b instances of n places ask for.

    ``covers``: bool[b, n, n], row i covers column j. ``covered_by``: float32[b, n, n], 1 where
    column j covers row i; [b, 0, n] where nobody looks at gains. ``factors``: float32[b, n, n],
    what a stop at row i multiplies the guidance of column j with; [b, 0, n] for models without.
    ``allowed``, ``required``: bool[b, n]. ``depot``: int64[b], -1 for none. All in C order.
    """

    covers: BoolArray
    covered_by: Float32Array
    factors: Float32Array
    allowed: BoolArray
    required: BoolArray
    depot: IntArray


class Tours(NamedTuple):
    """k growing tours, a row each.

    ``visited``, ``uncovered``: bool[k, n]; ``guidance``: float32[k, n], the g_i of the paper;
    ``gain``: float32[k, n], how many uncovered places each place would cover; ``left``: int64[k],
    how many places are uncovered; ``waiting``: int64[k], how many required ones are not visited.
    """

    visited: BoolArray
    uncovered: BoolArray
    guidance: Float32Array
    gain: Float32Array
    left: IntArray
    waiting: IntArray


def make_tours(k: int, n: int) -> Tours:
    """Room for k tours of n places."""
    return Tours(
        visited=np.empty((k, n), dtype=np.bool_),
        uncovered=np.empty((k, n), dtype=np.bool_),
        guidance=np.empty((k, n), dtype=np.float32),
        gain=np.empty((k, n), dtype=np.float32),
        left=np.empty(k, dtype=np.int64),
        waiting=np.empty(k, dtype=np.int64),
    )


@inner
def begin(rules, i, tours, k):
    """Tour k, of instance i, before its first stop: nothing is covered, and all g_i = 1."""
    n = rules.allowed.shape[1]
    gains = rules.covered_by.shape[1] > 0
    tours.left[k] = n
    tours.waiting[k] = 0
    for p in range(n):
        tours.visited[k, p] = False
        tours.uncovered[k, p] = True
        tours.guidance[k, p] = ONE
        tours.gain[k, p] = NONE
        if rules.required[i, p]:
            tours.waiting[k] += 1
    if gains:
        for p in range(n):
            for c in range(n):
                tours.gain[k, c] += rules.covered_by[i, p, c]


@inner
def visit(rules, i, tours, k, stop):
    """Tour k after a stop. Eq. (guidance): g_i <- g_i · c_i / N_C for the places it covers."""
    n = rules.allowed.shape[1]
    gains = rules.covered_by.shape[1] > 0
    if rules.required[i, stop] and not tours.visited[k, stop]:
        tours.waiting[k] -= 1
    tours.visited[k, stop] = True
    if rules.factors.shape[1] > 0:
        for p in range(n):
            tours.guidance[k, p] *= rules.factors[i, stop, p]
    for p in range(n):
        if tours.uncovered[k, p] and rules.covers[i, stop, p]:
            tours.uncovered[k, p] = False
            tours.left[k] -= 1
            if gains:  # one less for all who cover it
                for c in range(n):
                    tours.gain[k, c] -= rules.covered_by[i, p, c]


@inner
def is_over(tours, k):
    """Whether tour k needs no more stops."""
    return tours.left[k] == 0 and tours.waiting[k] == 0


@inner
def is_free(rules, i, tours, k, p, begun, useful):
    """Whether place p may be the next stop of tour k, which is not over.

    The paper masks the visited places; ``useful`` masks all that cover nothing new.
    """
    if not begun and rules.depot[i] >= 0:
        return p == rules.depot[i]
    if tours.visited[k, p]:
        return False
    if rules.required[i, p]:
        return True
    return rules.allowed[i, p] and tours.left[k] > 0 and not (useful and tours.gain[k, p] <= NONE)


@inner
def choose(rules, i, tours, k, score, begun, useful, noise):
    """The next stop of tour k by the scores, float32[n]: the best or, with noise >= 0, a drawn one.

    ``noise`` is uniform in [0, 1). The scores are overwritten. Of scores that are not numbers, the
    first place that is free.
    """
    n = len(score)
    best = -1
    for p in range(n):
        if is_free(rules, i, tours, k, p, begun, useful):
            if best < 0 or score[p] > score[best]:
                best = p
        else:
            score[p] = NEVER
    if noise < NONE:
        return best
    most = score[best]
    total = NONE
    for p in range(n):
        score[p] = math.exp(score[p] - most)
        total += score[p]
    below = NONE
    for p in range(n):
        below += score[p]
        if below > noise * total:
            return p
    return best


@inner
def extend(rules, i, tours, k, score, tour, size, useful, noise):
    """Choose the next stop of tour k, go there and write it to ``tour``; whether it is over."""
    stop = choose(rules, i, tours, k, score, size > 0, useful, noise)
    tour[size] = stop
    visit(rules, i, tours, k, stop)
    return is_over(tours, k)


@inner
def repeat_last(tour, size):
    """Fill the tour after its last stop with that stop."""
    for position in range(size, len(tour)):
        tour[position] = tour[size - 1]
