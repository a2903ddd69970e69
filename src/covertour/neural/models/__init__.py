"""The models by name, and the three functions that each of them has.

- ``encode(batch)``: what stays the same during decoding, once an instance, as a named tuple;
- ``start(code, rollouts)``: the memory before the first stop;
- ``scores(code, memory, state)``: the scores u_i of the next stop, float32[b, r, n], not yet
  masked, and the memory after it.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn

from covertour.neural.config import ModelConfig
from covertour.neural.models.attention import AttentionDynamic
from covertour.neural.models.baselines import Attention, Pointer, PointerDynamic
from covertour.neural.models.gain import AttentionGain
from covertour.neural.training.batch import Batch
from covertour.neural.training.environment import State


class Model(Protocol):
    """What decoding and training need to know of a model."""

    def encode(self, batch: Batch) -> Any:
        """What stays the same during decoding."""

    def start(self, code: Any, rollouts: int) -> Tensor:
        """The memory before the first stop."""

    def scores(self, code: Any, memory: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """Scores of the next stop, float32[b, r, n], and the memory after it."""


KINDS: dict[str, type[nn.Module]] = {
    "am-dynamic": AttentionDynamic,
    "am": Attention,
    "pn-dynamic": PointerDynamic,
    "pn": Pointer,
    "am-gain": AttentionGain,
}
"""The models by name."""


def make_model(config: ModelConfig, seed: int = 0) -> Any:
    """A new model with random weights; the same seed gives the same weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return KINDS[config.name](config)
