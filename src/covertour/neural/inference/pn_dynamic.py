"""pn-dynamic without torch: ``PointerDynamic`` in :mod:`covertour.neural.models.baselines`."""

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
    add,
    apply,
    dot,
    gru_of,
    gru_shapes,
    product,
    read,
    recur,
    softmax,
    tanh,
)
from covertour.neural.inference.problem import Problem
from covertour.problem.metric import IntArray


class Attend(NamedTuple):
    """Of one of the two attentions: v · tanh(static_i + g_i · guided + beside), [d] each.

    ``always``: the share in ``beside`` that never changes; ``beside``: weights of the other share,
    of the memory, [d, d], or of the context, [d, 2 d].
    """

    point: Float32Array
    guided: Float32Array
    always: Float32Array
    beside: Float32Array


class StepWeights(NamedTuple):
    """Of a step: the GRU, what it makes of its first input, δ's weight and bias, the attentions."""

    gru: Gru
    first: Float32Array
    dynamic: Float32Array
    dynamic_bias: Float32Array
    attend: Attend
    score: Attend


class Weights(NamedTuple):
    """The places' embedding, what the two attentions make of it, [d, d], and a step's weights."""

    embed: Float32Array
    embed_bias: Float32Array
    attend: Float32Array
    point: Float32Array
    step: StepWeights
    clip: np.float32


class Code(NamedTuple):
    """s_i, and its share in the two tanh: [n, d]; what the GRU makes of it: [n, 3 d]."""

    static: Float32Array
    attend: Float32Array
    point: Float32Array
    given: Float32Array


class Room(NamedTuple):
    """Where a step keeps what it works out."""

    tours: Tours
    memory: Float32Array
    recalled: Float32Array
    beside: Float32Array
    context: Float32Array
    score: Float32Array


def shapes(config: ModelConfig) -> Shapes:
    """The tensors of the model."""
    d = config.width
    return {
        "embed.weight": (d, 2),
        "embed.bias": (d,),
        "embed_dynamic.weight": (d, 1),
        "embed_dynamic.bias": (d,),
        **gru_shapes("gru", d),
        "first_input": (d,),
        "attend_static.weight": (d, d),
        "attend_dynamic.weight": (d, d),
        "attend_memory.weight": (d, d),
        "attend.weight": (1, d),
        "point_static.weight": (d, d),
        "point_dynamic.weight": (d, d),
        "point_context.weight": (d, 2 * d),
        "point.weight": (1, d),
    }


def prepare(tensors: Mapping[str, Float32Array], config: ModelConfig) -> Weights:
    """The weights as the functions below are given them."""
    gru = gru_of(tensors, "gru")
    dynamic = np.ascontiguousarray(tensors["embed_dynamic.weight"][:, 0])
    bias = tensors["embed_dynamic.bias"]

    def attention(name: str, beside: str) -> Attend:
        # δ_i = g_i w + w_0 is linear in g_i, so W δ_i = g_i (W w) + W w_0: no product per place.
        guided, always = product(np.stack([dynamic, bias]), tensors[f"{name}_dynamic.weight"])
        point = tensors[f"{name}.weight"][0]
        return Attend(point, guided, always, tensors[f"{name}_{beside}.weight"])

    return Weights(
        embed=tensors["embed.weight"],
        embed_bias=tensors["embed.bias"],
        attend=tensors["attend_static.weight"],
        point=tensors["point_static.weight"],
        step=StepWeights(
            gru=gru,
            first=read(gru, tensors["first_input"][None])[0],
            dynamic=dynamic,
            dynamic_bias=bias,
            attend=attention("attend", "memory"),
            score=attention("point", "context"),
        ),
        clip=np.float32(config.clip),
    )


def encode(weights: Weights, problem: Problem) -> Code:
    """The embeddings of the positions and what the two attentions make of them."""
    s = product(problem.places, weights.embed) + weights.embed_bias
    attend, point = product(s, weights.attend), product(s, weights.point)
    return Code(s, attend, point, read(weights.step.gru, s))


def decode(
    weights: Weights,
    code: Code,
    problem: Problem,
    useful: bool,
    noise: Float32Array,
    tours: IntArray,
) -> int:
    """Write tours; see :mod:`covertour.neural.inference.decoders`."""
    n, d = code.static.shape
    sizes = (d, 3 * d, d, 2 * d, n)
    room = Room(make_tours(1, n), *(np.empty(size, dtype=np.float32) for size in sizes))
    return _decode(problem.rules, code, weights.step, room, noise, tours, weights.clip, useful)


@entry
def _decode(rules, code, weights, room, noise, tours, clip, useful):
    d = len(room.memory)
    most = 0
    for j in range(len(tours)):
        tour = tours[j]
        begin(rules, 0, room.tours, 0)
        for k in range(d):
            room.memory[k] = NONE
        guidance = room.tours.guidance[0]
        size, over = 0, False
        while not over and size < len(tour):
            given = code.given[tour[size - 1]] if size > 0 else weights.first
            recur(room.memory, given, weights.gru, room.recalled)
            # a = softmax(v_a · tanh(W_a [x_i; d_t])).
            _compare(room.score, code.attend, guidance, weights.attend, room.memory, room.beside)
            whole = softmax(room.score)
            # c = Σ a_i x_i, its static and its dynamic half; the a_i sum to 1.
            static, half = room.context[:d], room.context[d:]
            for k in range(d):
                static[k] = NONE
            for p in range(len(room.score)):
                add(static, room.score[p] * whole, code.static[p])
            mean = dot(room.score, guidance) * whole
            for k in range(d):
                half[k] = mean * weights.dynamic[k] + weights.dynamic_bias[k]
            # u_i = v_c · tanh(W_c [x_i; c]).
            _compare(room.score, code.point, guidance, weights.score, room.context, room.beside)
            for p in range(len(room.score)):
                room.score[p] = clip * tanh(room.score[p])
            drawn = noise[j, size] if len(noise) > 0 else -ONE
            over = extend(rules, 0, room.tours, 0, room.score, tour, size, useful, drawn)
            size += 1
        repeat_last(tour, size)
        most = max(most, size)
    return most


@inner(reassociates=True)
def _compare(score, static, guidance, weights, x, beside):
    """v · tanh(W [x_i; x]) of each place; ``beside``: room for what x contributes, [d]."""
    apply(weights.beside, x, beside)
    add(beside, ONE, weights.always)
    for p in range(len(score)):
        row, g = static[p], guidance[p]
        total = NONE
        for k in range(len(beside)):
            total += weights.point[k] * tanh(row[k] + g * weights.guided[k] + beside[k])
        score[p] = total
