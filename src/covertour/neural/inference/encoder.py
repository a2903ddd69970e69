"""The encoder of the attention models, without torch: static embeddings of the places.

To be read beside ``Encoder`` in :mod:`covertour.neural.models.attention_dynamic`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from covertour.kernel import entry, inner
from covertour.neural.config import ModelConfig
from covertour.neural.inference.environment import BoolArray, Float32Array
from covertour.neural.inference.layers import (
    NONE,
    ONE,
    add,
    compare,
    dot,
    multiply,
    product,
    softmax,
    total,
)
from covertour.problem.metric import IntArray

Shapes = dict[str, tuple[int, ...]]
"""The tensors that a model has, by their names in torch."""

SMALL = np.float32(1e-5)


class LayerWeights(NamedTuple):
    """Of an attention layer, as in torch: ``query``, ``key``, ``value``, ``project``: [d, d]."""

    query: Float32Array
    key: Float32Array
    value: Float32Array
    project: Float32Array
    scale_1: Float32Array
    shift_1: Float32Array
    widen: Float32Array
    widen_bias: Float32Array
    narrow: Float32Array
    narrow_bias: Float32Array
    scale_2: Float32Array
    shift_2: Float32Array


class EncoderWeights(NamedTuple):
    """h^(0) = W^x x + b^x, then the layers; ``heads`` each, and whether Norm is over the places.

    ``covering``: so many heads attend to whom a place covers, as many to whom it is covered by.
    """

    embed: Float32Array
    embed_bias: Float32Array
    layers: tuple[LayerWeights, ...]
    heads: int
    covering: int
    over_places: bool


def encoder_shapes(config: ModelConfig) -> Shapes:
    """The tensors of the encoder."""
    d, wide = config.width, config.feed_forward
    shapes: Shapes = {"encoder.embed.weight": (d, 2), "encoder.embed.bias": (d,)}
    for layer in range(config.layers):
        home = f"encoder.layers.{layer}"
        shapes |= {
            f"{home}.query_key_value.weight": (3 * d, d),
            f"{home}.project.weight": (d, d),
            f"{home}.norm_1.scale": (d,),
            f"{home}.norm_1.shift": (d,),
            f"{home}.feed_forward.0.weight": (wide, d),
            f"{home}.feed_forward.0.bias": (wide,),
            f"{home}.feed_forward.2.weight": (d, wide),
            f"{home}.feed_forward.2.bias": (d,),
            f"{home}.norm_2.scale": (d,),
            f"{home}.norm_2.shift": (d,),
        }
    return shapes


def encoder_weights(tensors: Mapping[str, Float32Array], config: ModelConfig) -> EncoderWeights:
    """The encoder's weights, as its kernels are given them."""
    layers = []
    for layer in range(config.layers):
        home = f"encoder.layers.{layer}"
        query, key, value = np.split(tensors[f"{home}.query_key_value.weight"], 3)
        layers.append(
            LayerWeights(
                query=query,
                key=key,
                value=value,
                project=tensors[f"{home}.project.weight"],
                scale_1=tensors[f"{home}.norm_1.scale"],
                shift_1=tensors[f"{home}.norm_1.shift"],
                widen=tensors[f"{home}.feed_forward.0.weight"],
                widen_bias=tensors[f"{home}.feed_forward.0.bias"],
                narrow=tensors[f"{home}.feed_forward.2.weight"],
                narrow_bias=tensors[f"{home}.feed_forward.2.bias"],
                scale_2=tensors[f"{home}.norm_2.scale"],
                shift_2=tensors[f"{home}.norm_2.shift"],
            )
        )
    return EncoderWeights(
        tensors["encoder.embed.weight"],
        tensors["encoder.embed.bias"],
        tuple(layers),
        config.heads,
        config.covering_heads,
        config.normalisation == "instance",
    )


def embeddings(weights: EncoderWeights, places: Float32Array, covers: BoolArray) -> Float32Array:
    """Static embeddings h^(N), float32[n, d], of the places, float32[n, 2].

    ``covers``: bool[n, n], whether row i covers column j.
    """
    h = product(places, weights.embed) + weights.embed_bias
    along = (neighbours(covers), neighbours(covers.T)) if weights.covering > 0 else ()
    for layer in weights.layers:
        _attention_layer(h, layer, weights, along)
    return h


class Neighbours(NamedTuple):
    """Those of place i: ``others``, int64[m], from ``starts``, int64[n + 1], [i] to [i + 1]."""

    starts: IntArray
    others: IntArray


def neighbours(related: BoolArray) -> Neighbours:
    """The places in relation with each, bool[n, n], and itself."""
    rows, others = np.nonzero(related | np.eye(len(related), dtype=np.bool_))
    return Neighbours(np.searchsorted(rows, np.arange(len(related) + 1)), others)


def _attention_layer(
    h: Float32Array,
    layer: LayerWeights,
    weights: EncoderWeights,
    along: tuple[Neighbours, ...],
) -> None:
    """h_tmp = Norm(h + MHA(h)); h' = Norm(h_tmp + FF(h_tmp)), float32[n, d], in place."""
    n, d = h.shape
    width = d // weights.heads
    room = np.empty((2, d), dtype=np.float32)
    attended = product(h, layer.query)  # the queries, and in their place what comes of them
    scores, part = (np.empty(shape, dtype=np.float32) for shape in ((n, n), (n, width)))
    low = 0
    for seen in along:  # heads that attend along coverage
        high = low + weights.covering * width
        key, value = product(h, layer.key[low:high]), product(h, layer.value[low:high])
        _attend_to(attended, low, key, value, seen, scores[0], width)
        low = high
    key, value = product(layer.key[low:], h), product(layer.value[low:], h)
    _attend(attended, low, key, value, scores, part)
    _add_and_normalise(
        h, product(attended, layer.project), layer.scale_1, layer.shift_1, weights.over_places, room
    )
    hidden = product(h, layer.widen)
    hidden += layer.widen_bias
    np.maximum(hidden, 0, out=hidden)
    more = product(hidden, layer.narrow)
    more += layer.narrow_bias
    _add_and_normalise(h, more, layer.scale_2, layer.shift_2, weights.over_places, room)


@entry
def _attend(query, first, key, value, score, part):
    """softmax(Q K^T / sqrt(d/m)) V in each head, float32[n, d], in place of the queries.

    ``key``, ``value``: float32[c, n], of the heads from column ``first`` of the queries on;
    ``score``, ``part``: room, float32[n, n] and [n, d/m].
    """
    n, width = part.shape
    scale = ONE / math.sqrt(np.float32(width))
    for low in range(0, len(key), width):
        high, left = low + width, first + low
        for i in range(n):
            compare(score[i], query[i, left : left + width], key[low:high], scale)
            whole = softmax(score[i])
            for p in range(n):
                score[i, p] *= whole
        multiply(score, value[low:high], part)
        for i in range(n):
            for k in range(width):
                query[i, left + k] = part[i, k]


@entry
def _attend_to(query, first, key, value, seen, score, width):
    """The same of each to those it sees, with ``key``, ``value``: float32[n, c]; ``score``: [n]."""
    scale = ONE / math.sqrt(np.float32(width))
    for i in range(len(query)):
        others = seen.others[seen.starts[i] : seen.starts[i + 1]]
        shares = score[: len(others)]
        for low in range(0, key.shape[1], width):
            high = low + width
            attended = query[i, first + low : first + high]
            for one in range(len(others)):
                shares[one] = dot(attended, key[others[one], low:high]) * scale
            whole = softmax(shares)
            for k in range(width):
                attended[k] = NONE
            for one in range(len(others)):
                add(attended, shares[one] * whole, value[others[one], low:high])


@entry
def _add_and_normalise(h, more, scale, shift, over_places, room):
    """Norm(h + more), float32[n, d], in place of h; ``room``: float32[2, d]."""
    for i in range(len(h)):
        add(h[i], ONE, more[i])
    if over_places:
        _over_places(h, scale, shift, room[0], room[1])
    else:
        _over_features(h, scale, shift)


@inner
def _over_places(h, scale, shift, mean, spread):
    """Each feature with mean 0 and variance 1 over the places, scaled and shifted."""
    n, d = h.shape
    for k in range(d):
        mean[k] = spread[k] = NONE
    for i in range(n):
        add(mean, ONE / np.float32(n), h[i])
    for i in range(n):
        for k in range(d):
            h[i, k] -= mean[k]
            spread[k] += h[i, k] * h[i, k]
    for k in range(d):
        spread[k] = scale[k] / math.sqrt(spread[k] / np.float32(n) + SMALL)
    for i in range(n):
        for k in range(d):
            h[i, k] = h[i, k] * spread[k] + shift[k]


@inner
def _over_features(h, scale, shift):
    """Each place with mean 0 and variance 1 over its features, scaled and shifted."""
    n, d = h.shape
    for i in range(n):
        mean = total(h[i]) / np.float32(d)
        for k in range(d):
            h[i, k] -= mean
        spread = ONE / math.sqrt(dot(h[i], h[i]) / np.float32(d) + SMALL)
        for k in range(d):
            h[i, k] = h[i, k] * spread * scale[k] + shift[k]
