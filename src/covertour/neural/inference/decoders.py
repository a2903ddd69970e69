"""The decoders: one module per model, of the same name, with these functions.

- ``shapes(config)``: the tensors of the model, by their names in torch;
- ``prepare(tensors, config)``: its weights, as the other functions are given them;
- ``encode(weights, problem)``: what stays the same during decoding, once per instance;
- ``decode(weights, code, problem, useful, noise, tours)``: write tours, int64[r, n], that repeat
  their last stop; the most stops of any. ``noise``: float32[r, n], uniform in [0, 1), by which
  stops are drawn; [0, n] for the best stops. ``useful``: places that cover nothing new are masked.

They do what the models of :mod:`covertour.neural.models` do, whole tours in one compiled loop, one
rollout of one instance at a time: what a step has to work out is so little that it stays in a
processor's cache. A test holds the two together.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def decoder_of(model: str) -> ModuleType:
    """The module of a model, loaded when it is asked for, as its kernels take their time."""
    return import_module(f"covertour.neural.inference.{model.replace('-', '_')}")
