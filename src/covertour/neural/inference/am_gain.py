"""am-gain without torch: :mod:`covertour.neural.models.gain`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from covertour.kernel import entry, inner
from covertour.neural.config import ModelConfig
from covertour.neural.inference.encoder import (
    EncoderWeights,
    Shapes,
    embeddings,
    encoder_shapes,
    encoder_weights,
)
from covertour.neural.inference.environment import (
    Float32Array,
    Tours,
    begin,
    extend,
    make_tours,
    repeat_last,
)
from covertour.neural.inference.layers import (
    NONE,
    ONE,
    TWO,
    add,
    apply,
    collect,
    compare,
    dot,
    exp,
    product,
    softmax,
    softplus,
    tanh,
)
from covertour.neural.inference.problem import Problem
from covertour.problem.metric import IntArray

FEATURES = 8
"""c, the dynamic features of a place: the paper's guidance g; whether it is still uncovered; the
share of its coverage that is; that coverage as a share of the most that any place has; the ways to
it from the last and from the first stop, 0 before there are any; how near the last stop it is; and
what it covers anew for the way."""

FOUR = np.float32(4)


class StepWeights(NamedTuple):
    """Of a step: what stands for the stops before there are any, [d]; four of the features, [c, d];
    the query's, [d, d]; and the penalty's, [d] and [1].
    """

    no_stops: Float32Array
    key: Float32Array
    value: Float32Array
    times: Float32Array
    plus: Float32Array
    project: Float32Array
    penalty: Float32Array
    penalty_bias: Float32Array


class Weights(NamedTuple):
    """The encoder, linear maps of the embeddings, [d, d], and a step's weights."""

    encoder: EncoderWeights
    key_1: Float32Array
    value_1: Float32Array
    key: Float32Array
    mean: Float32Array
    last: Float32Array
    first: Float32Array
    left: Float32Array
    step: StepWeights
    heads: int
    clip: np.float32


class Code(NamedTuple):
    """As in torch: ``mean``: [d]; ``last``, ``first``, ``left``: shares in the context, [n, d].

    ``key``, ``key_1``, ``value_1``: [d, n]. ``apart``: distances in units of 1/sqrt(n), [n, n];
    ``covered``: how many each place covers, [n].
    """

    mean: Float32Array
    last: Float32Array
    first: Float32Array
    left: Float32Array
    key: Float32Array
    key_1: Float32Array
    value_1: Float32Array
    apart: Float32Array
    covered: Float32Array


class Room(NamedTuple):
    """Where a step keeps what it works out. ``nowhere``: the ways before the first stop, 0."""

    tours: Tours
    features: Float32Array
    nowhere: Float32Array
    context: Float32Array
    glimpse: Float32Array
    query: Float32Array
    score: Float32Array


def shapes(config: ModelConfig) -> Shapes:
    """The tensors of the model."""
    d = config.width
    return {
        **encoder_shapes(config),
        "key_value_logit.weight": (3 * d, d),
        "context_mean.weight": (d, d),
        "context_stops.weight": (d, 2 * d),
        "context_uncovered.weight": (d, d),
        "no_stops": (2 * d,),
        **{f"feature_{name}": (FEATURES, d) for name in ("key", "value", "times", "plus")},
        "project.weight": (d, d),
        "penalty.weight": (1, d),
        "penalty.bias": (1,),
    }


def prepare(tensors: Mapping[str, Float32Array], config: ModelConfig) -> Weights:
    """The weights as the functions below are given them."""
    key_1, value_1, key = np.split(tensors["key_value_logit.weight"], 3)
    stops = tensors["context_stops.weight"]
    last, first = map(np.ascontiguousarray, np.split(stops, 2, axis=1))
    return Weights(
        encoder=encoder_weights(tensors, config),
        key_1=key_1,
        value_1=value_1,
        key=key,
        mean=tensors["context_mean.weight"],
        last=last,
        first=first,
        left=tensors["context_uncovered.weight"],
        step=StepWeights(
            no_stops=product(tensors["no_stops"][None], stops)[0],
            key=tensors["feature_key"],
            value=tensors["feature_value"],
            times=tensors["feature_times"],
            plus=tensors["feature_plus"],
            project=tensors["project.weight"],
            penalty=tensors["penalty.weight"][0],
            penalty_bias=tensors["penalty.bias"],
        ),
        heads=config.heads,
        clip=np.float32(config.clip),
    )


def encode(weights: Weights, problem: Problem) -> Code:
    """The encoder, keys and values, and distances as multiples of 1/sqrt(n)."""
    h = embeddings(weights.encoder, problem.places, problem.rules.covers[0])
    covered = problem.rules.covers[0].sum(axis=1, dtype=np.float32)
    return Code(
        mean=product(h.mean(axis=0)[None], weights.mean)[0],
        last=product(h, weights.last),
        first=product(h, weights.first),
        left=product(h, weights.left),
        key=product(weights.key, h),
        key_1=product(weights.key_1, h),
        value_1=product(weights.value_1, h),
        apart=problem.distances * np.sqrt(np.float32(len(h))),
        covered=np.maximum(covered, ONE),
    )


def decode(
    weights: Weights,
    code: Code,
    problem: Problem,
    useful: bool,
    noise: Float32Array,
    tours: IntArray,
) -> int:
    """Write tours; see :mod:`covertour.neural.inference.decoders`."""
    n, d = code.last.shape
    room = Room(
        make_tours(1, n),
        np.empty((FEATURES, n), dtype=np.float32),
        np.zeros(n, dtype=np.float32),
        *(np.empty(size, dtype=np.float32) for size in (d, d, d, n)),
    )
    return _decode(
        problem.rules,
        code,
        weights.step,
        room,
        noise,
        tours,
        weights.heads,
        weights.clip,
        useful,
    )


@entry
def _decode(rules, code, weights, room, noise, tours, heads, clip, useful):
    scale = ONE / math.sqrt(np.float32(len(room.query)))
    score = room.score
    most = 0
    for j in range(len(tours)):
        tour = tours[j]
        begin(rules, 0, room.tours, 0)
        size, over = 0, False
        while not over and size < len(tour):
            last = tour[size - 1] if size > 0 else 0
            from_last = code.apart[last] if size > 0 else room.nowhere
            from_first = code.apart[tour[0]] if size > 0 else room.nowhere
            _set_features(room.features, room.tours, code.covered, from_last, from_first)
            _set_mean(room.context, code.left, room.tours.uncovered[0])
            add(room.context, ONE, code.mean)
            if size > 0:
                add(room.context, ONE, code.last[last])
                add(room.context, ONE, code.first[tour[0]])
            else:
                add(room.context, ONE, weights.no_stops)
            _attend(room, code.key_1, code.value_1, weights.key, weights.value, heads)
            apply(weights.project, room.glimpse, room.query)
            _compare(score, room.query, code.key, weights.times, weights.plus, room.features)
            penalty = softplus(weights.penalty_bias[0] + dot(weights.penalty, room.query))
            for p in range(len(score)):
                score[p] = clip * tanh(score[p] * scale) - penalty * from_last[p]
            drawn = noise[j, size] if len(noise) > 0 else -ONE
            over = extend(rules, 0, room.tours, 0, score, tour, size, useful, drawn)
            size += 1
        repeat_last(tour, size)
        most = max(most, size)
    return most


@inner
def _set_features(features, tours, covered, from_last, from_first):
    """φ, float32[c, n]."""
    gain, guidance, uncovered = tours.gain[0], tours.guidance[0], tours.uncovered[0]
    largest = ONE
    for p in range(len(gain)):
        largest = max(largest, gain[p])
    for p in range(len(gain)):
        share = gain[p] / largest
        features[0, p] = guidance[p]
        features[1, p] = ONE if uncovered[p] else NONE
        features[2, p] = gain[p] / covered[p]
        features[3, p] = share
        features[4, p] = from_last[p] / FOUR
        features[5, p] = from_first[p] / FOUR
        features[6, p] = exp(-from_last[p] / TWO)
        features[7, p] = share / (ONE + from_last[p])


@inner(reassociates=True)
def _set_mean(mean, embedding, uncovered):
    """The mean of what is uncovered; 0 where nothing is."""
    count = NONE
    for k in range(len(mean)):
        mean[k] = NONE
    for p in range(len(uncovered)):
        if uncovered[p]:
            count += ONE
            add(mean, ONE, embedding[p])
    for k in range(len(mean)):
        mean[k] /= max(count, ONE)


@inner
def _attend(room, key_1, value_1, by_key, by_value, heads):
    """softmax((K_1 + W_1 φ) · context / sqrt(d/m)) (V_1 + W_2 φ), in each head."""
    context, glimpse, score, features = room.context, room.glimpse, room.score, room.features
    width = len(context) // heads
    scale = ONE / math.sqrt(np.float32(width))
    for head in range(heads):
        low, high = head * width, (head + 1) * width
        compare(score, context[low:high], key_1[low:high], scale)
        for c in range(FEATURES):
            add(score, scale * dot(context[low:high], by_key[c, low:high]), features[c])
        whole = softmax(score)
        collect(glimpse[low:high], score, value_1[low:high], whole)
        for c in range(FEATURES):
            attended = dot(score, features[c]) * whole
            add(glimpse[low:high], attended, by_value[c, low:high])


@inner(reassociates=True)
def _compare(score, query, key, times, plus, features):
    """q · k_i with k_i = (W^K h_i) ∘ (1 + W_G φ_i) + W_A φ_i."""
    for p in range(len(score)):
        score[p] = NONE
    for c in range(FEATURES):
        add(score, dot(query, plus[c]), features[c])
    for k in range(len(query)):
        for p in range(len(score)):
            factor = ONE
            for c in range(FEATURES):
                factor += times[c, k] * features[c, p]
            score[p] += query[k] * key[k, p] * factor
