"""The models by name, and the functions that each of them has.

- ``encode(batch)``: what stays the same during decoding, once per instance, as a named tuple;
- ``start(code, rollouts)``: the memory before the first stop, float32[b, r, d];
- ``read(code)``: what its recurrent network ``gru`` reads before it chooses a stop: the last stop's
  row of float32[b, n, d], and before the first stop a vector float32[d], or None for nothing; None
  for a model without memory;
- ``scores(code, memory, state)``: the scores u_i of the next stop, float32[b, q, n], not yet
  masked. Each of the q queries of an instance is one rollout at one step, so that all steps of
  finished tours can be scored at once.
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import Tensor, nn

from covertour.neural.config import ModelConfig
from covertour.neural.models.attention_dynamic import AttentionDynamic
from covertour.neural.models.baselines import Attention, Pointer, PointerDynamic
from covertour.neural.models.gain import AttentionGain
from covertour.neural.training.batch import Batch
from covertour.neural.training.environment import State


class Model(Protocol):
    """What decoding and training need to know of a model."""

    gru: nn.GRUCell

    def encode(self, batch: Batch) -> Any:
        """What stays the same during decoding."""

    def start(self, code: Any, rollouts: int) -> Tensor:
        """The memory before the first stop."""

    def read(self, code: Any) -> tuple[Tensor, Tensor | None] | None:
        """What the memory reads: of the last stop, and before the first."""

    def scores(self, code: Any, memory: Tensor, state: State) -> Tensor:
        """Scores of the next stop, float32[b, q, n]."""


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
