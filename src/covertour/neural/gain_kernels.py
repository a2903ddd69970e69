"""am-gain's decoder as one loop: whole tours, rollout by rollout, written for numba as the others.

What :class:`covertour.neural.gain.AttentionGain` does in a step, for one rollout of one instance,
is so little that in ONNX Runtime most of the time goes into calling its fifty operations. Compiled
by :mod:`covertour.neural.compiled` they are loops over arrays that stay in a processor's cache; as
they stand they would be slow. A test holds the two together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from covertour.metric import IntArray
from covertour.neural.kernels import BoolArray, Float32Array

FEATURES = 8
"""c, the dynamic features of a place in am-gain: the paper's guidance g; whether it is still
uncovered; the share of its coverage that is; that coverage as a share of the most that any place
has; the ways to it from the last and from the first stop, 0 before there are any; how near the last
stop it is; and what it covers anew for the way."""

NONE, ONE, TWO, FOUR = np.float32(0), np.float32(1), np.float32(2), np.float32(4)
NEVER = np.float32(-np.inf)


class GainWeights(NamedTuple):
    """The decoder's weights: ``no_stops``, [d], what stands for the stops before there are any;
    those of the features, [c, d], but ``times`` as [d, c]; those of the query, [d, d]; and of the
    penalty, [d] and [1].
    """

    no_stops: Float32Array
    key: Float32Array
    value: Float32Array
    times: Float32Array
    plus: Float32Array
    project: Float32Array
    penalty: Float32Array
    penalty_bias: Float32Array


class GainCode(NamedTuple):
    """What the encoder says of b instances, as in :class:`covertour.neural.gain.GainCode`.

    ``key``, ``key_1`` and ``value_1`` with the places last, float32[b, d, n].
    """

    mean: Float32Array
    from_last: Float32Array
    from_first: Float32Array
    left: Float32Array
    key: Float32Array
    key_1: Float32Array
    value_1: Float32Array
    apart: Float32Array
    covered: Float32Array


class Task(NamedTuple):
    """What the instances ask for, as in :class:`covertour.neural.problem.Problem`.

    ``covered_by``: float32[b, n, n], who covers row i.
    """

    covers: BoolArray
    covered_by: Float32Array
    factors: Float32Array
    allowed: BoolArray
    required: BoolArray
    depot: IntArray


class State(NamedTuple):
    """A tour so far, and room for what a step works out.

    guidance, gain: [n]; uncovered, visited: bool[n]; features: [c, n]; context, glimpse, query:
    [d]; weight: [m, n], of a place in the glimpse; felt: [m, c], the features so weighed; score:
    [n].
    """

    guidance: Float32Array
    gain: Float32Array
    uncovered: BoolArray
    visited: BoolArray
    features: Float32Array
    context: Float32Array
    glimpse: Float32Array
    query: Float32Array
    weight: Float32Array
    felt: Float32Array
    score: Float32Array


def decode_gain(tours, noise, code, weights, task, heads, clip, useful):
    """Write tours, int64[b, r, n], that repeat their last stop; the most stops of any.

    ``noise``: float32[1 or b, r, n], by which stops are drawn; [1, 0, n] for greedy ones. ``heads``
    and ``clip`` are the model's; ``useful``: places that cover nothing new are masked.
    """
    b, r, n = tours.shape
    d = code.mean.shape[2]
    s = State(
        np.empty(n, np.float32),
        np.empty(n, np.float32),
        np.empty(n, np.bool_),
        np.empty(n, np.bool_),
        np.empty((FEATURES, n), np.float32),
        np.empty(d, np.float32),
        np.empty(d, np.float32),
        np.empty(d, np.float32),
        np.empty((heads, n), np.float32),
        np.empty((heads, FEATURES), np.float32),
        np.empty(n, np.float32),
    )
    most = 0
    for i in range(b):
        for j in range(r):
            _begin(s, task, i)
            size, over = 0, False
            while not over and size < n:
                first, last = tours[i, j, 0], tours[i, j, size - 1]
                if size == 0:
                    first = last = -1
                if size == 0 and task.depot[i] >= 0:
                    stop = task.depot[i]
                else:
                    _score(s, code, weights, i, first, last, clip)
                    stop = _best(s, task, i, useful)
                    if noise.shape[1] > 0:
                        stop = _drawn(s, stop, noise[i % len(noise), j, size])
                tours[i, j, size] = stop
                size += 1
                over = _visit(s, task, i, stop)
            tours[i, j, size:] = tours[i, j, size - 1]
            most = max(most, size)
    return most


def _begin(s, task, i):
    n = len(s.gain)
    for p in range(n):
        s.guidance[p] = ONE
        s.uncovered[p] = True
        s.visited[p] = False
        s.gain[p] = NONE
    for p in range(n):
        for c in range(n):
            s.gain[c] += task.covered_by[i, p, c]


def _score(s, code, weights, i, first, last, clip):
    """The scores of all places as the next stop; ``first``, ``last``: -1 before there are any."""
    _set_features(s, code, i, first, last)
    _set_context(s, code, weights, i, first, last)
    _glimpse(s, code, weights, i)
    _compare(s, code, weights, i, clip)
    if last >= 0:
        x = weights.penalty_bias[0] + _dot(weights.penalty, s.query)
        penalty = max(x, NONE) + math.log(ONE + math.exp(-abs(x)))  # softplus
        for p in range(len(s.score)):
            s.score[p] -= penalty * code.apart[i, last, p]


def _dot(a, b):
    total = NONE
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


def _set_features(s, code, i, first, last):
    """The features."""
    most = ONE
    for p in range(len(s.gain)):
        most = max(most, s.gain[p])
    for p in range(len(s.gain)):
        from_last = code.apart[i, last, p] if last >= 0 else NONE
        from_first = code.apart[i, first, p] if last >= 0 else NONE
        gain = s.gain[p] / most
        s.features[0, p] = s.guidance[p]
        s.features[1, p] = ONE if s.uncovered[p] else NONE
        s.features[2, p] = s.gain[p] / code.covered[i, 0, p]
        s.features[3, p] = gain
        s.features[4, p] = from_last / FOUR
        s.features[5, p] = from_first / FOUR
        s.features[6, p] = math.exp(-from_last / TWO)
        s.features[7, p] = gain / (ONE + from_last)


def _set_context(s, code, weights, i, first, last):
    """The context: the mean, the last and the first stop, and the mean of what is uncovered."""
    d = len(s.context)
    for k in range(d):
        s.context[k] = NONE
    left = NONE
    for p in range(len(s.uncovered)):
        if s.uncovered[p]:
            left += ONE
            for k in range(d):
                s.context[k] += code.left[i, p, k]
    share = ONE / max(left, ONE)
    for k in range(d):
        stops = weights.no_stops[k]
        if last >= 0:
            stops = code.from_last[i, last, k] + code.from_first[i, first, k]
        s.context[k] = code.mean[i, 0, k] + stops + s.context[k] * share


def _glimpse(s, code, weights, i):
    """softmax((K_1 + W_1 φ) · context / sqrt(d/m)) (V_1 + W_2 φ) in each head, projected."""
    heads, n = s.weight.shape
    d = len(s.context)
    width = d // heads
    scale = ONE / np.float32(math.sqrt(width))
    for m in range(heads):
        u = s.weight[m]
        for p in range(n):
            u[p] = NONE
        for k in range(m * width, (m + 1) * width):
            part = s.context[k] * scale
            for p in range(n):
                u[p] += part * code.key_1[i, k, p]
        for c in range(FEATURES):
            part = NONE
            for k in range(m * width, (m + 1) * width):
                part += s.context[k] * weights.key[c, k]
            part *= scale
            for p in range(n):
                u[p] += part * s.features[c, p]
        most = u[0]
        for p in range(n):
            most = max(most, u[p])
        total = NONE
        for p in range(n):
            u[p] = math.exp(u[p] - most)
            total += u[p]
        for p in range(n):
            u[p] /= total
        for c in range(FEATURES):
            s.felt[m, c] = _dot(u, s.features[c])
        for k in range(m * width, (m + 1) * width):
            s.glimpse[k] = _dot(u, code.value_1[i, k])
            for c in range(FEATURES):
                s.glimpse[k] += s.felt[m, c] * weights.value[c, k]
    for k in range(d):
        s.query[k] = _dot(weights.project[k], s.glimpse)


def _compare(s, code, weights, i, clip):
    """q · k_i / sqrt(d) with k_i = (W^K h_i) ∘ (1 + W_G φ_i) + W_A φ_i, clipped."""
    d, n = code.key[i].shape
    score, f = s.score, s.features
    for p in range(n):
        score[p] = NONE
    for c in range(FEATURES):
        part = _dot(s.query, weights.plus[c])
        for p in range(n):
            score[p] += part * f[c, p]
    for k in range(d):
        q, w, key = s.query[k], weights.times[k], code.key[i, k]
        for p in range(n):
            times = ONE
            for c in range(FEATURES):
                times += w[c] * f[c, p]
            score[p] += q * key[p] * times
    scale = ONE / np.float32(math.sqrt(d))
    for p in range(n):
        score[p] = clip * math.tanh(score[p] * scale)


def _best(s, task, i, useful):
    """Give places that may not be next the score -inf; the best of the others."""
    over = True
    for p in range(len(s.score)):
        if s.uncovered[p]:
            over = False
    best = 0
    for p in range(len(s.score)):
        free = task.allowed[i, p] and not over and not (useful and s.gain[p] <= NONE)
        if s.visited[p] or not (free or task.required[i, p]):
            s.score[p] = NEVER
        if s.score[p] > s.score[best]:
            best = p
    return best


def _drawn(s, best, noise):
    """A place by its share of exp(u)."""
    most = s.score[best]
    total = NONE
    for p in range(len(s.score)):
        s.score[p] = math.exp(s.score[p] - most)
        total += s.score[p]
    below = NONE
    for p in range(len(s.score)):
        below += s.score[p]
        if below > noise * total:
            return p
    return best


def _visit(s, task, i, stop):
    """The tour after a stop; whether it is done."""
    n = len(s.gain)
    s.visited[stop] = True
    over = True
    for p in range(n):
        s.guidance[p] *= task.factors[i, stop, p]
        if s.uncovered[p] and task.covers[i, stop, p]:
            s.uncovered[p] = False
            for c in range(n):  # one less for all who cover it
                s.gain[c] -= task.covered_by[i, p, c]
    for p in range(n):
        if s.uncovered[p] or (task.required[i, p] and not s.visited[p]):
            over = False
    return over
