"""Attention-dynamic, the model of the paper, to be held beside it: Section 'Attention Model'.

Li et al., "Deep Reinforcement Learning for Combinatorial Optimization: Covering Salesman Problems".
Sections and equations cited are that paper's. Where it leaves a choice open: the glimpse attention
has as many heads as the encoder, and its result is projected as the encoder's is; scores are
clipped to 10·tanh(u) as by Bello et al. (2016) and Kool et al. (2019). Norm is over the places of
an instance by default, see :class:`covertour.neural.config.ModelConfig`.

The authors' released code differs from their text; ``form`` chooses between the two:

=================  ==========================  =================================
point              ``text``                    ``released``
=================  ==========================  =================================
key of place i     (W^K h_i) ∘ (g_i W_G)       (W^K h_i) ∘ (1 + g_i W_G)
glimpse            over all places             over the places not yet visited
scale of scores    sqrt(d / m)                 sqrt(d)
d_0                mean embedding              a linear map of it
=================  ==========================  =================================

One point is ours: with the ``attention`` ``coverage`` some heads of the encoder look along coverage
only (:func:`along_coverage`), and half of those of the glimpse at what is still uncovered. The
paper's network is told positions: it has to work out from them which are the seven nearest of each
place, and from its memory of the stops what these have left open, before it can learn anything
about covering; this one sees both. No weights are added. Those that ship are trained so, those of
the paper's own form are in the repository.

Shapes: b instances, q queries per instance (one per rollout and step), n places, d the width, m
heads of d/m. What the functions of a model do is told in :mod:`covertour.neural.models`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as f

from covertour.neural.config import ModelConfig
from covertour.neural.training.batch import Batch
from covertour.neural.training.environment import State
from covertour.neural.training.processor import attention

# --- Section 'Encoder': static embeddings ---------------------------------------------------------


def split(x: Tensor, heads: int) -> Tensor:
    """[b, n, d] as [b, m, n, d/m], one slice per head."""
    return x.view(*x.shape[:-1], heads, -1).transpose(1, 2)


def join(x: Tensor) -> Tensor:
    """[b, m, n, d/m] as [b, n, d] again."""
    return x.transpose(1, 2).flatten(2)


def mean_of(h: Tensor, weight: Tensor) -> Tensor:
    """Mean embedding over the places with weight 1 in [b, q, n], as [b, q, d]; 0 over none."""
    weight = weight.to(h.dtype)
    return weight @ h / weight.sum(-1, keepdim=True).clamp(min=1.0)


class Normalise(nn.Module):
    """Norm of Section 'Encoder': over the features of a place (layer), or the places (instance)."""

    def __init__(self, kind: str, width: int) -> None:
        super().__init__()
        self.kind = kind
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, h: Tensor, exists: Tensor | None) -> Tensor:
        """[b, n, d] to the same; ``exists``: where some places are padding."""
        if self.kind == "layer":
            return f.layer_norm(h, h.shape[-1:], self.scale, self.shift)
        if exists is None:
            normal: Tensor = OverPlaces.apply(h, self.scale, self.shift)  # type: ignore[no-untyped-call]
            return normal
        real = exists[:, :, None]
        count = real.sum(1, keepdim=True)
        centred = (h - (h * real).sum(1, keepdim=True) / count) * real
        variance = centred.square().sum(1, keepdim=True) / count
        return centred * (torch.rsqrt(variance + 1e-5) * self.scale) + self.shift


class OverPlaces(torch.autograd.Function):
    """Instance normalisation without padding, in a third of the time of torch's own operations."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        """(h - mean) / deviation · scale + shift, over the places."""
        x = h - h.mean(1, keepdim=True)
        inverse = torch.rsqrt_(x.square().mean(1, keepdim=True).add_(1e-5))
        x *= inverse
        ctx.save_for_backward(x, inverse, scale)
        return torch.addcmul(shift, x, scale)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, ...]:
        """Of h, the scale and the shift."""
        (late,) = gradients
        x, inverse, scale = ctx.saved_tensors
        n = x.shape[1]
        along, total = (late * x).sum(1, keepdim=True), late.sum(1, keepdim=True)
        of_h = torch.addcmul(late - total / n, x, along, value=-1 / n)
        of_h *= inverse * scale
        return of_h, along.sum((0, 1)), total.sum((0, 1))


class AttentionLayer(nn.Module):
    """An attention layer: h_tmp = Norm(h + MHA(h)); h' = Norm(h_tmp + FF(h_tmp))."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.width
        self.heads = config.heads
        # Section 'Attention Theory', eq. (qkv): Q = W^Q X, K = W^K X, V = W^V X, all in one.
        self.query_key_value = nn.Linear(d, 3 * d, bias=False)
        self.project = nn.Linear(d, d, bias=False)
        self.norm_1 = Normalise(config.normalisation, d)
        self.norm_2 = Normalise(config.normalisation, d)
        self.feed_forward = nn.Sequential(
            nn.Linear(d, config.feed_forward), nn.ReLU(), nn.Linear(config.feed_forward, d)
        )

    def forward(self, h: Tensor, exists: Tensor | None, mask: Tensor | None) -> Tensor:
        """[b, n, d] to the same; ``mask``: numbers to add to scores, [b, m, n, n], None for 0."""
        query, key, value = (
            split(part, self.heads) for part in self.query_key_value(h).chunk(3, dim=-1)
        )
        # softmax(Q K^T / sqrt(d_k)) V with d_k = d / m, in every head.
        attended = attention(query, key, value, mask)
        h = self.norm_1(h + self.project(join(attended)), exists)
        return self.norm_2(h + self.feed_forward(h), exists)


class Encoder(nn.Module):
    """h^(0) = W^x x + b^x, then N attention layers; gives the static embeddings h^(N).

    With the ``attention`` ours some heads attend along coverage only; all others are the paper's.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.heads, self.covering = config.heads, config.covering_heads
        self.embed = nn.Linear(2, config.width)
        self.layers = nn.ModuleList(AttentionLayer(config) for _ in range(config.layers))

    def forward(self, batch: Batch) -> Tensor:
        """Static embeddings [b, n, d]."""
        h = self.embed(batch.places)
        exists = batch.exists if batch.padded else None
        mask = None if exists is None else hiding(exists[:, None], self.heads, batch.n)
        if self.covering > 0:
            mask = along_coverage(batch, self.heads, self.covering)
        for layer in self.layers:
            h = layer(h, exists, mask)
        return h


def along_coverage(batch: Batch, heads: int, covering: int) -> Tensor:
    """What to add to scores, float32[b, m, n, n], for heads that attend along coverage.

    So many heads attend to those that a place covers, as many to those that cover it, the rest to
    all that exist; every place attends to itself.
    """
    covers = batch.covers | torch.eye(batch.n, dtype=torch.bool)
    forth = hiding(covers, covering, batch.n)
    back = hiding(covers.transpose(1, 2), covering, batch.n)
    rest = hiding(batch.exists[:, None], heads - 2 * covering, batch.n)
    return torch.cat([forth, back, rest], dim=1)


def hiding(seen: Tensor, heads: int, queries: int) -> Tensor:
    """What to add to scores so that only ``seen`` places, bool[b, 1 or q, n], are attended to."""
    # Numbers: torch would make them of a bool mask for every head anew.
    mask = torch.zeros(()).masked_fill(~seen, -torch.inf)[:, None]
    return mask.expand(-1, heads, queries, -1)


def glimpse(
    query: Tensor, key: Tensor, value: Tensor, seen: Tensor | None, left: Tensor | None = None
) -> Tensor:
    """Attention of [b, q, d] to split keys and values [b, m, n, d/m], as [b, q, d].

    ``seen``: bool, [b, 1, n] or [b, q, n], the places that may be attended to; None for all.
    ``left``: those that the first half of the heads attends to, where there are any.
    """
    heads, queries = key.shape[1], query.shape[1]
    if left is None:
        mask = None if seen is None else hiding(seen, heads, queries)
    else:
        seen = torch.ones_like(left) if seen is None else seen
        left = torch.where(left.any(-1, keepdim=True), left, seen)
        half = heads // 2
        mask = torch.cat([hiding(left, half, queries), hiding(seen, heads - half, queries)], 1)
    return join(attention(split(query, heads), key, value, mask))


def clipped(u: Tensor, clip: float) -> Tensor:
    """Scores between -clip and clip (Bello et al. 2016)."""
    return clip * torch.tanh(u)


def of_stop(h: Tensor, place: Tensor) -> Tensor:
    """Embeddings [b, q, d] of the stops [b, q]."""
    # As a look-up in one table: the gradient of a gather over an expanded index is far slower.
    b, n, d = h.shape
    first = torch.arange(0, b * n, n)[:, None]
    return f.embedding(place + first, h.reshape(b * n, d))


# --- Attention-dynamic ----------------------------------------------------------------------------


class DynamicCode(NamedTuple):
    """h, static_key: [b, n, d]; key_1, value_1: [b, m, n, d/m]; d_0: [b, 1, d].

    ``exists``: bool[b, n] where some places are padding, else None.
    """

    h: Tensor
    static_key: Tensor
    key_1: Tensor
    value_1: Tensor
    d_0: Tensor
    exists: Tensor | None


class AttentionDynamic(nn.Module):
    """am-dynamic, Section 'Attention Model': keys that are static × dynamic, and a GRU decoder."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.width
        self.heads, self.clip, self.released = config.heads, config.clip, config.form == "released"
        self.looks_at_open = config.open_heads > 0
        self.encoder = Encoder(config)
        self.key = nn.Linear(d, d, bias=False)  # W^K
        self.dynamic = nn.Parameter(torch.empty(d).uniform_(-1.0, 1.0))  # W_G
        self.gru = nn.GRUCell(d, d)
        self.first_input = nn.Parameter(torch.empty(d).uniform_(-1.0, 1.0))  # v_1
        self.glimpse_key = nn.Linear(d, d, bias=False)
        self.glimpse_value = nn.Linear(d, d, bias=False)
        self.project = nn.Linear(d, d, bias=False)
        if self.released:
            self.first_memory = nn.Linear(d, d)

    def encode(self, batch: Batch) -> DynamicCode:
        """Section 'Encoder', and d_0, K_1, V_1 of Section 'Decoder'."""
        h = self.encoder(batch)
        mean = mean_of(h, batch.exists[:, None])
        return DynamicCode(
            h=h,
            static_key=self.key(h),
            key_1=split(self.glimpse_key(h), self.heads),
            value_1=split(self.glimpse_value(h), self.heads),
            d_0=self.first_memory(mean) if self.released else mean,
            exists=batch.exists if batch.padded else None,
        )

    def start(self, code: DynamicCode, rollouts: int) -> Tensor:
        """d_0, [b, r, d]."""
        return code.d_0.expand(-1, rollouts, -1)

    def read(self, code: DynamicCode) -> tuple[Tensor, Tensor]:
        """I_t = v_1 at t = 1, then the embedding of the last stop: [b, n, d] and [d].

        o_t, d_t = f_GRU(I_t, d_{t-1}); of a GRU with one layer o_t and d_t are the same.
        """
        return code.h, self.first_input

    def scores(self, code: DynamicCode, memory: Tensor, state: State) -> Tensor:
        """Sections 'Decoder' and 'Compute Probability by Attention'; ``memory`` is d_t."""
        # q_t = Attention(d_t, K_1, V_1).
        seen = None if code.exists is None else code.exists[:, None]
        if self.released:
            seen = unvisited(code.exists, state)
        left = state.uncovered if self.looks_at_open else None
        query = self.project(glimpse(memory, code.key_1, code.value_1, seen, left))
        # u_i = q_t · k_i / sqrt(d_k), d_k = d / m, with k_i = (W^K h_i) ∘ G_i and G_i = g_i W_G.
        # As g_i is a number, q · k_i = g_i · (q ∘ W_G) · (W^K h_i): no keys to make at every step.
        keys = code.static_key.transpose(1, 2)
        u = state.guidance * ((query * self.dynamic) @ keys)
        if self.released:
            return clipped((u + query @ keys) / math.sqrt(query.shape[-1]), self.clip)
        return clipped(u / math.sqrt(query.shape[-1] / self.heads), self.clip)


def unvisited(exists: Tensor | None, state: State) -> Tensor:
    """Places that may be looked at, bool[b, q, n]: those not visited; all once the tour is done."""
    seen = ~state.visited if exists is None else exists[:, None] & ~state.visited
    return seen | state.done[:, :, None]
