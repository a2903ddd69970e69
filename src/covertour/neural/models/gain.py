"""am-gain, our model: it sees what is uncovered, what a stop would gain, and how far it is.

Shapes as in :mod:`covertour.neural.models.attention_dynamic`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as f

from covertour.neural.config import ModelConfig
from covertour.neural.inference.am_gain import FEATURES
from covertour.neural.models.attention_dynamic import (
    Encoder,
    clipped,
    join,
    mean_of,
    of_stop,
    split,
)
from covertour.neural.training.batch import Batch
from covertour.neural.training.environment import State


class GainCode(NamedTuple):
    """What linear maps make of the embeddings of all places, so that no step has to.

    from_last, from_first, left: shares in the context, [b, n, d]; key: W^K h, [b, n, d]; key_1,
    value_1: [b, m, n, d/m]; mean: [b, 1, d]; exists: [b, n] where some are padding, else None.
    apart: distances in units of 1/sqrt(n), [b, n, n]; covered: how many each covers, [b, 1, n].
    """

    from_last: Tensor
    from_first: Tensor
    left: Tensor
    key: Tensor
    key_1: Tensor
    value_1: Tensor
    mean: Tensor
    exists: Tensor | None
    apart: Tensor
    covered: Tensor


class AttentionGain(nn.Module):
    """am-gain, ours: it sees what is uncovered, what a stop would gain, and how far it is.

    The context is the mean embedding, those of the last and the first stop, and the mean of the
    places that are still uncovered. The features φ_i of a place enter the glimpse by addition, as
    key W_1 φ_i and value W_2 φ_i, and the scores by addition and by multiplication as in the
    paper: k_i = (W^K h_i) ∘ (1 + W_G φ_i) + W_A φ_i. The way from the last stop costs λ(q)
    per unit.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.width
        self.heads, self.clip = config.heads, config.clip
        self.encoder = Encoder(config)
        self.key_value_logit = nn.Linear(d, 3 * d, bias=False)
        self.context_mean = nn.Linear(d, d, bias=False)
        self.context_stops = nn.Linear(2 * d, d, bias=False)
        self.context_uncovered = nn.Linear(d, d, bias=False)
        self.no_stops = nn.Parameter(torch.empty(2 * d).uniform_(-1.0, 1.0))
        self.feature_key, self.feature_value, self.feature_times, self.feature_plus = (
            nn.Parameter(torch.empty(FEATURES, d).uniform_(-0.5, 0.5)) for _ in range(4)
        )
        self.project = nn.Linear(d, d, bias=False)
        self.penalty = nn.Linear(d, 1)
        nn.init.constant_(self.penalty.bias, 0.54)  # λ starts near 1

    def encode(self, batch: Batch) -> GainCode:
        """The encoder, keys and values, and distances as multiples of 1/sqrt(n)."""
        h = self.encoder(batch)
        key_1, value_1, key = self.key_value_logit(h).chunk(3, dim=-1)
        last, first = self.context_stops.weight.chunk(2, dim=1)
        places = batch.exists.sum(1)[:, None, None]
        return GainCode(
            from_last=f.linear(h, last),
            from_first=f.linear(h, first),
            left=self.context_uncovered(h),
            key=key,
            key_1=split(key_1, self.heads),
            value_1=split(value_1, self.heads),
            mean=self.context_mean(mean_of(h, batch.exists[:, None])),
            exists=batch.exists if batch.padded else None,
            apart=batch.distances * places.float().sqrt(),
            covered=batch.covers.sum(2).clamp(min=1)[:, None].float(),
        )

    def start(self, code: GainCode, rollouts: int) -> Tensor:
        """No memory: the mean embedding for each rollout, [b, r, d]."""
        return code.mean.expand(-1, rollouts, -1)

    def read(self, code: GainCode) -> None:
        """Nothing is remembered."""

    def scores(self, code: GainCode, memory: Tensor, state: State) -> Tensor:
        """Glimpse and scores with the features, less the penalty on the way."""
        begun = state.begun[:, :, None]
        stops = of_stop(code.from_last, state.last) + of_stop(code.from_first, state.first)
        stops = torch.where(begun, stops, self.context_stops(self.no_stops))
        from_last = of_stop(code.apart, state.last) * begun
        from_first = of_stop(code.apart, state.first) * begun
        context = memory + stops + mean_of(code.left, state.uncovered)
        gain = state.gain / state.gain.amax(-1, keepdim=True).clamp(min=1.0)
        features = torch.stack(  # φ
            [
                state.guidance,
                state.uncovered.float(),
                state.gain / code.covered,
                gain,
                from_last / 4,
                from_first / 4,
                torch.exp(-from_last / 2),
                gain / (1 + from_last),
            ],
            dim=2,
        )

        # The glimpse: softmax((K_1 + W_1 φ) · context / sqrt(d/m)) (V_1 + W_2 φ), in each head.
        parts = split(context, self.heads)  # [b, m, q, d/m]
        by_feature = self._by_head(context, self.feature_key) @ features  # [b, q, m, n]
        u = parts @ code.key_1.transpose(2, 3) + by_feature.transpose(1, 2)
        u = u / math.sqrt(parts.shape[-1])
        if code.exists is not None:
            u = u.masked_fill(~code.exists[:, None, None], -torch.inf)
        a = u.softmax(-1)
        attended = a.transpose(1, 2) @ features.transpose(2, 3)  # Σ a_i φ_i, [b, q, m, c]
        by_feature = self._from_head(attended, self.feature_value)
        query = self.project(join(a @ code.value_1) + by_feature)

        # The scores: q · k_i, where (q ∘ w_c) · (W^K h_i) stands in for making keys at every step.
        times = torch.cat([torch.ones_like(self.feature_times[:1]), self.feature_times])
        products = (query[:, :, None] * times).flatten(1, 2) @ code.key.transpose(1, 2)
        products = products.view(*query.shape[:2], 1 + FEATURES, -1)  # [b, q, 1 + c, n]
        factors = products[:, :, 1:] + (query @ self.feature_plus.T)[..., None]
        u = products[:, :, 0] + (factors * features).sum(2)
        u = clipped(u / math.sqrt(query.shape[-1]), self.clip)
        return u - f.softplus(self.penalty(query)) * from_last

    def _by_head(self, x: Tensor, weight: Tensor) -> Tensor:
        """[b, q, d] times [c, d] in each head, as [b, q, m, c]."""
        parts = weight.view(FEATURES, self.heads, -1)
        return torch.einsum("bqmk,cmk->bqmc", x.view(*x.shape[:2], self.heads, -1), parts)

    def _from_head(self, x: Tensor, weight: Tensor) -> Tensor:
        """[b, q, m, c] times [c, d] in each head, as [b, q, d]."""
        parts = weight.view(FEATURES, self.heads, -1)
        return torch.einsum("bqmc,cmk->bqmk", x, parts).flatten(2)
