"""The optimiser of a training, its learning rate, and the running average of the weights."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

from covertour.neural.config import Config, TrainConfig
from covertour.neural.training.muon import Muon

CRITIC_RATE = 1e-3
"""The full learning rate of a critic."""


class Optimiser:
    """Adam for all weights or, with ``muon``, Muon for the matrices and Adam for the rest.

    Muon has a learning rate of its own, ``muon_rate``. A critic always learns by Adam.
    """

    def __init__(
        self, model: nn.Module, config: TrainConfig, critic: nn.Module | None = None
    ) -> None:
        named = list(model.named_parameters())
        matrices = [
            weight
            for name, weight in named
            if config.optimiser == "muon" and weight.ndim == 2 and not name.endswith("embed.weight")
        ]
        chosen = {id(weight) for weight in matrices}
        rest = [weight for _, weight in named if id(weight) not in chosen]
        self.parts: list[tuple[torch.optim.Optimizer, float]] = [
            (torch.optim.Adam(rest, lr=config.learning_rate, fused=True), config.learning_rate)
        ]
        if matrices:
            self.parts.append((Muon(matrices, lr=config.muon_rate), config.muon_rate))
        if critic is not None:
            weights = list(critic.parameters())
            adam = torch.optim.Adam(weights, lr=CRITIC_RATE, fused=True)
            self.parts.append((adam, CRITIC_RATE))

    @property
    def weights(self) -> list[nn.Parameter]:
        """All weights that it changes."""
        return [
            weight
            for optimiser, _ in self.parts
            for group in optimiser.param_groups
            for weight in group["params"]
        ]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for optimiser, _ in self.parts:
            optimiser.zero_grad()

    def step(self, share: float) -> None:
        """Change the weights by their gradients, at this share of the full learning rate."""
        for optimiser, rate in self.parts:
            for group in optimiser.param_groups:
                group["lr"] = rate * share
            optimiser.step()

    def state_of(self, weight: nn.Parameter) -> dict[str, Any]:
        """What the optimiser keeps of a weight, to be read or filled in."""
        for optimiser, _ in self.parts:
            if any(weight is one for group in optimiser.param_groups for one in group["params"]):
                return optimiser.state[weight]
        raise KeyError("no weight of this model")


def rate_share(config: Config, step: int) -> float:
    """The learning rate of a step, counted from 0, as a share of the full one."""
    train = config.train
    if step < train.warmup_steps:
        return (step + 1) / train.warmup_steps
    if train.schedule == "cosine":
        done = (step - train.warmup_steps) / max(config.steps - train.warmup_steps, 1)
        return 0.5 * (1.0 + math.cos(math.pi * done))
    return 1.0


def clip(model: nn.Module, longest: float) -> float:
    """Shorten the gradient where it is longer than this (0: never); its norm before."""
    limit = longest if longest > 0 else math.inf
    return float(torch.nn.utils.clip_grad_norm_(model.parameters(), limit))


@torch.no_grad()
def follow(mean: nn.Module, model: nn.Module, decay: float, step: int) -> None:
    """Move the running average of the weights; early on it follows more closely."""
    decay = min(decay, (step + 1) / (step + 10))
    torch._foreach_lerp_(list(mean.parameters()), list(model.parameters()), 1.0 - decay)
