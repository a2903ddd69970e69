"""The encoder of the attention models, without torch: static embeddings of the places.

To be read beside ``Encoder`` in :mod:`covertour.neural.models.attention_dynamic`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from covertour.kernel import entry
from covertour.neural.config import ModelConfig
from covertour.neural.inference.environment import Float32Array
from covertour.neural.inference.layers import attend, product

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
    """h^(0) = W^x x + b^x, then the layers; ``heads`` each, and whether Norm is over the places."""

    embed: Float32Array
    embed_bias: Float32Array
    layers: tuple[LayerWeights, ...]
    heads: int
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
        config.normalisation == "instance",
    )


def embeddings(weights: EncoderWeights, places: Float32Array) -> Float32Array:
    """Static embeddings h^(N), float32[n, d], of the places, float32[n, 2]."""
    h = product(places, weights.embed) + weights.embed_bias
    for layer in weights.layers:
        _attention_layer(h, layer, weights)
    return h


def _attention_layer(h: Float32Array, layer: LayerWeights, weights: EncoderWeights) -> None:
    """h_tmp = Norm(h + MHA(h)); h' = Norm(h_tmp + FF(h_tmp)), float32[n, d], in place."""
    query, key, value = product(h, layer.query), product(layer.key, h), product(layer.value, h)
    attended, score = np.empty_like(h), np.empty(len(h), dtype=np.float32)
    _attend(attended, score, query, key, value, np.empty(0, dtype=np.bool_), weights.heads)
    h += product(attended, layer.project)
    _normalise(h, layer.scale_1, layer.shift_1, weights.over_places)
    hidden = product(h, layer.widen)
    hidden += layer.widen_bias
    np.maximum(hidden, 0, out=hidden)
    h += product(hidden, layer.narrow)
    h += layer.narrow_bias
    _normalise(h, layer.scale_2, layer.shift_2, weights.over_places)


@entry
def _attend(attended, score, query, key, value, nobody, heads):
    """softmax(Q K^T / sqrt(d/m)) V of every place, float32[n, d]."""
    for i in range(len(attended)):
        attend(attended[i], score, query[i], key, value, nobody, heads)


def _normalise(
    h: Float32Array, scale: Float32Array, shift: Float32Array, over_places: bool
) -> None:
    """Norm over the places, or over the features of each place; in place."""
    axis = 0 if over_places else 1
    h -= h.mean(axis=axis, keepdims=True)
    variance = np.square(h).mean(axis=axis, keepdims=True)
    h *= scale / np.sqrt(variance + SMALL)
    h += shift
