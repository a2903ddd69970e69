"""am-gain's decoder as one loop: whole tours, rollout by rollout, written for numba as the others.

What :class:`covertour.neural.models.gain.AttentionGain` does in a step, for one rollout of one
instance, is so little that in ONNX Runtime most of the time goes into calling its fifty operations.
Compiled by :mod:`covertour.neural.inference.compiled` they are loops over arrays that stay in a
processor's cache; as they stand they would be slow. A test holds the two together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from covertour.neural.inference.kernels import BoolArray, Float32Array
from covertour.problem.metric import IntArray

FEATURES = 8
"""c, the dynamic features of a place in am-gain: the paper's guidance g; whether it is still
uncovered; the share of its coverage that is; that coverage as a share of the most that any place
has; the ways to it from the last and from the first stop, 0 before there are any; how near the last
stop it is; and what it covers anew for the way."""

NONE, ONE, TWO, FOUR = np.float32(0), np.float32(1), np.float32(2), np.float32(4)
NEVER = np.float32(-np.inf)


class GainWeights(NamedTuple):
    """The decoder's weights: ``no_stops``, [d], what stands for the stops before there are any;
    four of the features, [d, c]; the query's, [d, d]; and the penalty's, [d] and [1].
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
    """What the encoder says of b instances, as in :class:`covertour.neural.models.gain.GainCode`.

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


class GainTask(NamedTuple):
    """What the instances ask for, as in :class:`covertour.neural.inference.problem.Problem`.

    ``covered_by``: float32[b, n, n], who covers row i.
    """

    covers: BoolArray
    covered_by: Float32Array
    factors: Float32Array
    allowed: BoolArray
    required: BoolArray
    depot: IntArray


def decode_gain(tours, noise, code, weights, task, heads, clip, useful):
    """Write tours, int64[b, r, n], that repeat their last stop; the most stops of any.

    ``noise``: float32[1 or b, r, n], by which stops are drawn; [1, 0, n] for greedy ones. ``heads``
    and ``clip`` are the model's; ``useful``: places that cover nothing new are masked.
    """
    b, r, n = tours.shape
    d = code.mean.shape[2]
    guidance, gain = np.empty(n, np.float32), np.empty(n, np.float32)
    uncovered, visited = np.empty(n, np.bool_), np.empty(n, np.bool_)
    features = np.empty((FEATURES, n), np.float32)
    context, glimpse = np.empty(d, np.float32), np.empty(d, np.float32)
    query, weight = np.empty(d, np.float32), np.empty(n, np.float32)
    score, nowhere = np.empty(n, np.float32), np.zeros(n, np.float32)
    most = 0
    for i in range(b):
        key, times, plus = code.key[i], weights.times, weights.plus
        for j in range(r):
            tour = tours[i, j]
            _begin(guidance, gain, uncovered, visited, task.covered_by[i])
            size, over = 0, False
            while not over and size < n:
                last = tour[size - 1] if size > 0 else 0
                from_last = code.apart[i, last] if size > 0 else nowhere
                from_first = code.apart[i, tour[0]] if size > 0 else nowhere
                _set_features(
                    features, guidance, uncovered, gain, code.covered[i, 0], from_last, from_first
                )
                _set_mean(context, code.left[i], uncovered)
                _add(context, ONE, code.mean[i, 0])
                if size > 0:
                    _add(context, ONE, code.from_last[i, last])
                    _add(context, ONE, code.from_first[i, tour[0]])
                else:
                    _add(context, ONE, weights.no_stops)
                for m in range(heads):
                    low, high = m * d // heads, (m + 1) * d // heads
                    _attend(
                        glimpse[low:high],
                        weight,
                        context[low:high],
                        code.key_1[i, low:high],
                        code.value_1[i, low:high],
                        weights.key[low:high],
                        weights.value[low:high],
                        features,
                    )
                for k in range(d):
                    query[k] = _dot(weights.project[k], glimpse)
                _compare(score, query, key, times, plus, features, clip)
                if size > 0:
                    penalty = _softplus(weights.penalty_bias[0] + _dot(weights.penalty, query))
                    _add(score, -penalty, from_last)
                stop = _best(
                    score, task.allowed[i], task.required[i], gain, uncovered, visited, useful
                )
                if noise.shape[1] > 0:
                    stop = _drawn(score, stop, noise[i % len(noise), j, size])
                if size == 0 and task.depot[i] >= 0:
                    stop = task.depot[i]
                tour[size] = stop
                size += 1
                visited[stop] = True
                _cover(
                    guidance,
                    gain,
                    uncovered,
                    task.factors[i, stop],
                    task.covers[i, stop],
                    task.covered_by[i],
                )
                over = _is_over(uncovered, visited, task.required[i])
            for position in range(size, n):
                tour[position] = tour[size - 1]
            most = max(most, size)
    return most


def _add(total, factor, values):
    for index in range(len(total)):
        total[index] += factor * values[index]


def _dot(a, b):
    total = NONE
    for index in range(len(a)):
        total += a[index] * b[index]
    return total


def _begin(guidance, gain, uncovered, visited, covered_by):
    for p in range(len(gain)):
        guidance[p], gain[p], uncovered[p], visited[p] = ONE, NONE, True, False
    for p in range(len(gain)):
        _add(gain, ONE, covered_by[p])


def _set_features(features, guidance, uncovered, gain, covered, from_last, from_first):
    """φ."""
    most = ONE
    for p in range(len(gain)):
        most = max(most, gain[p])
    for p in range(len(gain)):
        share = gain[p] / most
        features[0, p] = guidance[p]
        features[1, p] = ONE if uncovered[p] else NONE
        features[2, p] = gain[p] / covered[p]
        features[3, p] = share
        features[4, p] = from_last[p] / FOUR
        features[5, p] = from_first[p] / FOUR
        features[6, p] = math.exp(-from_last[p] / TWO)
        features[7, p] = share / (ONE + from_last[p])


def _set_mean(mean, embedding, uncovered):
    """The mean of what is uncovered; 0 where nothing is."""
    many = NONE
    for k in range(len(mean)):
        mean[k] = NONE
    for p in range(len(uncovered)):
        if uncovered[p]:
            many += ONE
            _add(mean, ONE, embedding[p])
    for k in range(len(mean)):
        mean[k] /= max(many, ONE)


def _attend(glimpse, weight, context, key, value, by_key, by_value, features):
    """softmax((K_1 + W_1 φ) · context / sqrt(d/m)) (V_1 + W_2 φ), in one head.

    ``weight``: room for those of the places, [n].
    """
    scale = ONE / np.float32(math.sqrt(len(context)))
    for p in range(len(weight)):
        weight[p] = NONE
    for k in range(len(context)):
        _add(weight, context[k] * scale, key[k])
    for c in range(FEATURES):
        part = NONE
        for k in range(len(context)):
            part += context[k] * by_key[k, c]
        _add(weight, part * scale, features[c])
    most = weight[0]
    for p in range(len(weight)):
        most = max(most, weight[p])
    total = NONE
    for p in range(len(weight)):
        weight[p] = math.exp(weight[p] - most)
        total += weight[p]
    for k in range(len(glimpse)):
        glimpse[k] = _dot(weight, value[k]) / total
    for c in range(FEATURES):
        felt = _dot(weight, features[c]) / total
        for k in range(len(glimpse)):
            glimpse[k] += felt * by_value[k, c]


def _compare(score, query, key, times, plus, features, clip):
    """q · k_i / sqrt(d) with k_i = (W^K h_i) ∘ (1 + W_G φ_i) + W_A φ_i, clipped."""
    for p in range(len(score)):
        score[p] = NONE
    for c in range(FEATURES):
        part = NONE
        for k in range(len(query)):
            part += query[k] * plus[k, c]
        _add(score, part, features[c])
    for k in range(len(query)):
        for p in range(len(score)):
            factor = ONE
            for c in range(FEATURES):
                factor += times[k, c] * features[c, p]
            score[p] += query[k] * key[k, p] * factor
    scale = ONE / np.float32(math.sqrt(len(query)))
    for p in range(len(score)):
        score[p] = clip * math.tanh(score[p] * scale)


def _softplus(x):
    return max(x, NONE) + math.log(ONE + math.exp(-abs(x)))


def _best(score, allowed, required, gain, uncovered, visited, useful):
    """Give places that may not be next the score -inf; the best of the others."""
    over = True
    for p in range(len(score)):
        if uncovered[p]:
            over = False
    best = 0
    for p in range(len(score)):
        free = allowed[p] and not over and not (useful and gain[p] <= NONE)
        if visited[p] or not (free or required[p]):
            score[p] = NEVER
        if score[p] > score[best]:
            best = p
    return best


def _drawn(score, best, noise):
    """A place by its share of exp(u)."""
    most = score[best]
    total = NONE
    for p in range(len(score)):
        score[p] = math.exp(score[p] - most)
        total += score[p]
    below = NONE
    for p in range(len(score)):
        below += score[p]
        if below > noise * total:
            return p
    return best


def _cover(guidance, gain, uncovered, factors, covers, covered_by):
    """What a stop changes, by its rows of the tables."""
    for p in range(len(gain)):
        guidance[p] *= factors[p]
        if uncovered[p] and covers[p]:
            uncovered[p] = False
            _add(gain, -ONE, covered_by[p])  # one less for all who cover it


def _is_over(uncovered, visited, required):
    over = True
    for p in range(len(uncovered)):
        if uncovered[p] or (required[p] and not visited[p]):
            over = False
    return over
