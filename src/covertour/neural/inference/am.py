"""am without torch: ``Attention`` in :mod:`covertour.neural.models.baselines`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from covertour.kernel import entry
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
from covertour.neural.inference.layers import ONE, apply, attend, compare, product, tanh
from covertour.neural.inference.problem import Problem
from covertour.problem.metric import IntArray


class StepWeights(NamedTuple):
    """Of a step: what stands for the stops before there are any, [d], and the query's, [d, d]."""

    no_stops: Float32Array
    project: Float32Array


class Weights(NamedTuple):
    """The encoder, and linear maps of the embeddings, [d, d]."""

    encoder: EncoderWeights
    key_1: Float32Array
    value_1: Float32Array
    key: Float32Array
    mean: Float32Array
    last: Float32Array
    first: Float32Array
    step: StepWeights
    heads: int
    clip: np.float32


class Code(NamedTuple):
    """Shares in the context: ``mean``, [d]; ``last``, ``first``, [n, d]. The rest: [d, n]."""

    mean: Float32Array
    last: Float32Array
    first: Float32Array
    key: Float32Array
    key_1: Float32Array
    value_1: Float32Array


class Room(NamedTuple):
    """Where a step keeps what it works out."""

    tours: Tours
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
        "no_stops": (2 * d,),
        "project.weight": (d, d),
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
        step=StepWeights(product(tensors["no_stops"][None], stops)[0], tensors["project.weight"]),
        heads=config.heads,
        clip=np.float32(config.clip),
    )


def encode(weights: Weights, problem: Problem) -> Code:
    """The encoder, the glimpse's keys and values, and the keys of the scores."""
    h = embeddings(weights.encoder, problem.places, problem.rules.covers[0])
    return Code(
        mean=product(h.mean(axis=0)[None], weights.mean)[0],
        last=product(h, weights.last),
        first=product(h, weights.first),
        key=product(weights.key, h),
        key_1=product(weights.key_1, h),
        value_1=product(weights.value_1, h),
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
    n, d = len(problem.places), len(code.mean)
    room = Room(make_tours(1, n), *(np.empty(size, dtype=np.float32) for size in (d, d, d, n)))
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
    most = 0
    for j in range(len(tours)):
        tour = tours[j]
        begin(rules, 0, room.tours, 0)
        size, over = 0, False
        while not over and size < len(tour):
            for k in range(len(room.context)):
                stops = weights.no_stops[k]
                if size > 0:
                    stops = code.last[tour[size - 1], k] + code.first[tour[0], k]
                room.context[k] = code.mean[k] + stops
            # Glimpse at what is not visited, then single-head scores q · k_i / sqrt(d).
            visited = room.tours.visited[0]
            attend(
                room.glimpse,
                room.score,
                room.context,
                code.key_1,
                code.value_1,
                visited,
                heads,
                0,
                heads,
            )
            apply(weights.project, room.glimpse, room.query)
            compare(room.score, room.query, code.key, scale)
            for p in range(len(room.score)):
                room.score[p] = clip * tanh(room.score[p])
            drawn = noise[j, size] if len(noise) > 0 else -ONE
            over = extend(rules, 0, room.tours, 0, room.score, tour, size, useful, drawn)
            size += 1
        repeat_last(tour, size)
        most = max(most, size)
    return most
