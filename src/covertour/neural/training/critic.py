"""The critic: what the rest of a tour is expected to cost, the baseline of each single choice.

The shared baseline blames every choice of a tour for all of its cost. But a choice can only change
what comes after it, and the state that it leads to already tells much of that. So the advantage of
choice t is, by generalised advantage estimation (Schulman et al. 2016),

    A_t = Σ_k λ^k (c_{t+k} + V_{t+k+1} - V_{t+k}),

where c_t is what the choice costs, its leg, V_t what is expected to come before choice t, and V = 0
after the last one. With λ = 1 it is REINFORCE with the cost still to come and a baseline V_t; less
trusts the critic more and varies less from tour to tour.

V_t is the mean cost over the rollouts of the instance less what is already spent, plus a correction
by a small network that is told a few numbers about the state. It has a part in training only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from covertour.neural.training.batch import Batch
from covertour.neural.training.kernels import OUTLOOK, Pairs, credit, look_ahead, pay
from covertour.problem.metric import FloatArray

WIDTH = 128


class Critic(nn.Module):
    """The correction of V_t, float32[b, q], by numbers about the state, float32[b, q, 12]."""

    def __init__(self) -> None:
        super().__init__()
        last = nn.Linear(WIDTH, 1)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.layers = nn.Sequential(
            nn.Linear(OUTLOOK, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), last
        )

    def forward(self, seen: Tensor) -> Tensor:
        """What is to be added to the mean cost less what is spent."""
        correction: Tensor = self.layers(seen).squeeze(-1)
        return correction


def make_critic(seed: int) -> Critic:
    """A new critic that corrects nothing yet."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return Critic()


@dataclass(frozen=True, eq=False)
class Credit:
    """``advantages``: float64[b, q], of each choice; ``loss``: the critic's, summed over them."""

    advantages: FloatArray
    loss: Tensor


def credit_of(
    critic: Critic, batch: Batch, pairs: Pairs, costs: FloatArray, trace: float
) -> Credit:
    """The advantages of all choices of tours that cost float64[b, r]; ``trace`` is λ."""
    b, q = pairs.tour.shape
    scale = batch.scale.double().numpy()
    distances = batch.distances.double().numpy() * scale[:, None, None]
    spent, paid, advantages, to_come = (np.zeros((b, q)) for _ in range(4))
    pay(pairs, distances, costs.ravel(), spent, paid)
    mean = costs.mean(axis=1)
    seen = np.zeros((b, q, OUTLOOK), dtype=np.float32)
    look_ahead(pairs, distances, batch.places.contiguous().numpy(), spent, mean, seen)
    corrections = critic(torch.from_numpy(seen)) * torch.from_numpy(pairs.begun)
    expected = mean[:, None] - spent
    values = expected + corrections.detach().double().numpy()
    credit(pairs, paid, values, trace, advantages, to_come)
    wanted = torch.from_numpy(np.where(pairs.begun, to_come - expected, 0.0).astype(np.float32))
    return Credit(advantages, (corrections - wanted).square().sum())
