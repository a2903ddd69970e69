"""am-dynamic without torch: :mod:`covertour.neural.models.attention_dynamic`."""

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
    BoolArray,
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
    attend,
    gru_of,
    gru_shapes,
    product,
    read,
    recur,
    tanh,
)
from covertour.neural.inference.problem import Problem
from covertour.problem.metric import IntArray


class StepWeights(NamedTuple):
    """Of a step: W_G, [d]; the GRU, and what it makes of v_1, [3 d]; the query's, [d, d]."""

    dynamic: Float32Array
    gru: Gru
    first: Float32Array
    project: Float32Array


class Weights(NamedTuple):
    """The encoder; W^K, K_1, V_1, [d, d]; those of d_0, where that is learned; a step's."""

    encoder: EncoderWeights
    key: Float32Array
    glimpse_key: Float32Array
    glimpse_value: Float32Array
    first_memory: tuple[Float32Array, Float32Array] | None
    step: StepWeights
    heads: int
    open_heads: int
    clip: np.float32


class Code(NamedTuple):
    """d_0: [d]; what the GRU makes of h: [n, 3 d]; static keys, K_1, V_1: [d, n]."""

    memory: Float32Array
    given: Float32Array
    key: Float32Array
    key_1: Float32Array
    value_1: Float32Array


class Room(NamedTuple):
    """Where a step keeps what it works out."""

    tours: Tours
    nobody: BoolArray
    covered: BoolArray
    memory: Float32Array
    recalled: Float32Array
    glimpse: Float32Array
    query: Float32Array
    score: Float32Array


def shapes(config: ModelConfig) -> Shapes:
    """The tensors of the model."""
    d = config.width
    released: Shapes = {"first_memory.weight": (d, d), "first_memory.bias": (d,)}
    return {
        **encoder_shapes(config),
        **gru_shapes("gru", d),
        "key.weight": (d, d),
        "dynamic": (d,),
        "first_input": (d,),
        "glimpse_key.weight": (d, d),
        "glimpse_value.weight": (d, d),
        "project.weight": (d, d),
        **(released if config.form == "released" else {}),
    }


def prepare(tensors: Mapping[str, Float32Array], config: ModelConfig) -> Weights:
    """The weights as the functions below are given them."""
    gru = gru_of(tensors, "gru")
    memory = None
    if config.form == "released":
        memory = tensors["first_memory.weight"], tensors["first_memory.bias"]
    return Weights(
        encoder=encoder_weights(tensors, config),
        key=tensors["key.weight"],
        glimpse_key=tensors["glimpse_key.weight"],
        glimpse_value=tensors["glimpse_value.weight"],
        first_memory=memory,
        step=StepWeights(
            dynamic=tensors["dynamic"],
            gru=gru,
            first=read(gru, tensors["first_input"][None])[0],
            project=tensors["project.weight"],
        ),
        heads=config.heads,
        open_heads=config.open_heads,
        clip=np.float32(config.clip),
    )


def encode(weights: Weights, problem: Problem) -> Code:
    """Section 'Encoder', and d_0, K_1, V_1 of Section 'Decoder'."""
    h = embeddings(weights.encoder, problem.places, problem.rules.covers[0])
    memory = h.mean(axis=0)
    if weights.first_memory is not None:
        weight, bias = weights.first_memory
        memory = product(memory[None], weight)[0] + bias
    return Code(
        memory=memory,
        given=read(weights.step.gru, h),
        key=product(weights.key, h),
        key_1=product(weights.glimpse_key, h),
        value_1=product(weights.glimpse_value, h),
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
    n, d = len(problem.places), len(code.memory)
    room = Room(
        make_tours(1, n),
        np.empty(0, dtype=np.bool_),
        np.empty(n, dtype=np.bool_),
        *(np.empty(size, dtype=np.float32) for size in (d, 3 * d, d, d, n)),
    )
    released = weights.first_memory is not None
    return _decode(
        problem.rules,
        code,
        weights.step,
        room,
        noise,
        tours,
        weights.heads,
        weights.open_heads,
        weights.clip,
        useful,
        released,
    )


@entry
def _decode(rules, code, weights, room, noise, tours, heads, open_heads, clip, useful, released):
    most = 0
    for j in range(len(tours)):
        tour = tours[j]
        begin(rules, 0, room.tours, 0)
        for k in range(len(room.memory)):
            room.memory[k] = code.memory[k]
        size, over = 0, False
        while not over and size < len(tour):
            # o_t, d_t = f_GRU(I_t, d_{t-1}), where I_t = v_1 at t = 1, then that of the last stop.
            given = code.given[tour[size - 1]] if size > 0 else weights.first
            recur(room.memory, given, weights.gru, room.recalled)
            # q_t = Attention(d_t, K_1, V_1).
            hidden = room.tours.visited[0] if released else room.nobody
            looking = open_heads if room.tours.left[0] > 0 else 0
            for p in range(len(room.covered)):
                room.covered[p] = not room.tours.uncovered[0, p]
            _glimpse(room, code, room.covered, heads, 0, looking)
            _glimpse(room, code, hidden, heads, looking, heads)
            apply(weights.project, room.glimpse, room.query)
            scale = ONE / math.sqrt(np.float32(len(room.query) // (1 if released else heads)))
            _compare(room.score, room.query, code.key, weights.dynamic, room.tours, released)
            for p in range(len(room.score)):
                room.score[p] = clip * tanh(room.score[p] * scale)
            drawn = noise[j, size] if len(noise) > 0 else -ONE
            over = extend(rules, 0, room.tours, 0, room.score, tour, size, useful, drawn)
            size += 1
        repeat_last(tour, size)
        most = max(most, size)
    return most


@inner
def _glimpse(room, code, hidden, heads, first, end):
    attend(
        room.glimpse,
        room.score,
        room.memory,
        code.key_1,
        code.value_1,
        hidden,
        heads,
        first,
        end,
    )


@inner(reassociates=True)
def _compare(score, query, key, dynamic, tours, released):
    """q · k_i with k_i = (W^K h_i) ∘ (g_i W_G), or (W^K h_i) ∘ (1 + g_i W_G) if ``released``."""
    for p in range(len(score)):
        score[p] = NONE
    guidance = tours.guidance[0]
    one = ONE if released else NONE
    for k in range(len(query)):
        row = key[k]
        plain, guided = query[k] * one, query[k] * dynamic[k]
        for p in range(len(score)):
            score[p] += (plain + guided * guidance[p]) * row[p]
