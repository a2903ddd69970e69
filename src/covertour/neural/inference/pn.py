"""pn without torch: ``Pointer`` in :mod:`covertour.neural.models.baselines`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from covertour.kernel import entry, inner
from covertour.neural.config import ModelConfig
from covertour.neural.inference.encoder import Shapes
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
    Gru,
    apply,
    gru_of,
    gru_shapes,
    product,
    read,
    recur,
    tanh,
)
from covertour.neural.inference.problem import Problem
from covertour.problem.metric import IntArray


class Weights(NamedTuple):
    """The places' embedding; both GRUs; W_1, W_2, [d, d], and v, [d]."""

    embed: Float32Array
    embed_bias: Float32Array
    encoder: Gru
    gru: Gru
    reference: Float32Array
    query: Float32Array
    point: Float32Array
    clip: np.float32


class Code(NamedTuple):
    """'Vector', d_0: [d]; what the GRU makes of the places: [n, 3 d]; W_1 e: [n, d]."""

    memory: Float32Array
    given: Float32Array
    reference: Float32Array


class Room(NamedTuple):
    """Where a step keeps what it works out."""

    tours: Tours
    memory: Float32Array
    recalled: Float32Array
    query: Float32Array
    score: Float32Array


def shapes(config: ModelConfig) -> Shapes:
    """The tensors of the model."""
    d = config.width
    return {
        "embed.weight": (d, 2),
        "embed.bias": (d,),
        **gru_shapes("encoder", d, "_l0"),
        **gru_shapes("gru", d),
        "reference.weight": (d, d),
        "query.weight": (d, d),
        "point.weight": (1, d),
    }


def prepare(tensors: Mapping[str, Float32Array], config: ModelConfig) -> Weights:
    """The weights as the functions below are given them."""
    return Weights(
        embed=tensors["embed.weight"],
        embed_bias=tensors["embed.bias"],
        encoder=gru_of(tensors, "encoder", "_l0"),
        gru=gru_of(tensors, "gru"),
        reference=tensors["reference.weight"],
        query=tensors["query.weight"],
        point=tensors["point.weight"][0],
        clip=np.float32(config.clip),
    )


def encode(weights: Weights, problem: Problem) -> Code:
    """Hidden states e_i of the places, read one after the other, and the last of them."""
    embedded = product(problem.places, weights.embed) + weights.embed_bias
    e = np.empty_like(embedded)
    d = embedded.shape[1]
    memory, recalled = np.zeros(d, dtype=np.float32), np.empty(3 * d, dtype=np.float32)
    _read_all(read(weights.encoder, embedded), weights.encoder, memory, recalled, e)
    return Code(memory, read(weights.gru, embedded), product(e, weights.reference))


def decode(
    weights: Weights,
    code: Code,
    problem: Problem,
    useful: bool,
    noise: Float32Array,
    tours: IntArray,
) -> int:
    """Write tours; see :mod:`covertour.neural.inference.decoders`."""
    n, d = len(problem.places), len(code.memory)
    room = Room(make_tours(1, n), *(np.empty(size, dtype=np.float32) for size in (d, 3 * d, d, n)))
    return _decode(
        problem.rules,
        code,
        weights.gru,
        weights.query,
        weights.point,
        room,
        noise,
        tours,
        weights.clip,
        useful,
    )


@entry
def _read_all(given, gru, memory, recalled, e):
    """The memory after each place, float32[n, d]."""
    for i in range(len(e)):
        recur(memory, given[i], gru, recalled)
        for k in range(len(memory)):
            e[i, k] = memory[k]


@entry
def _decode(rules, code, gru, query, point, room, noise, tours, clip, useful):
    most = 0
    for j in range(len(tours)):
        tour = tours[j]
        begin(rules, 0, room.tours, 0)
        for k in range(len(room.memory)):
            room.memory[k] = code.memory[k]
        size, over = 0, False
        while not over and size < len(tour):
            if size > 0:  # before the first stop there is nothing to read
                recur(room.memory, code.given[tour[size - 1]], gru, room.recalled)
            apply(query, room.memory, room.query)
            for p in range(len(room.score)):
                room.score[p] = clip * tanh(_point(point, code.reference[p], room.query))
            drawn = noise[j, size] if len(noise) > 0 else -ONE
            over = extend(rules, 0, room.tours, 0, room.score, tour, size, useful, drawn)
            size += 1
        repeat_last(tour, size)
        most = max(most, size)
    return most


@inner(reassociates=True)
def _point(point, reference, query):
    """u_i = v^T tanh(W_1 e_i + W_2 d_t)."""
    total = NONE
    for k in range(len(query)):
        total += point[k] * tanh(reference[k] + query[k])
    return total
