"""Attention-dynamic, the model of the paper, to be held beside it: Section 'Attention Model'.

Li et al., "Deep Reinforcement Learning for Combinatorial Optimization: Covering Salesman Problems".
Sections and equations cited are that paper's. Where it leaves a choice open: the glimpse attention
has as many heads as the encoder, and its result is projected as the encoder's is; scores are
clipped to 10·tanh(u) as by Bello et al. (2016) and Kool et al. (2019). One departure: Norm is over
the places of an instance by default; see :class:`covertour.neural.config.ModelConfig`.

Shapes: b instances, r rollouts, n places, d the width, m heads of d/m. What the functions of a
model do is told in :mod:`covertour.neural.models`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as f

from covertour.neural.config import ModelConfig
from covertour.neural.training.batch import Batch
from covertour.neural.training.environment import State

# --- Section 'Encoder': static embeddings ---------------------------------------------------------


def fold(x: Tensor, parts: int) -> Tensor:
    """[b, n, d] as [b, n, p, d/p]."""
    return x.view(*x.shape[:-1], parts, -1)


def unfold(x: Tensor) -> Tensor:
    """[b, n, p, d/p] as [b, n, d] again."""
    return x.flatten(2)


def split(x: Tensor, heads: int) -> Tensor:
    """[b, n, d] as [b, m, n, d/m], one slice a head."""
    return fold(x, heads).transpose(1, 2)


def join(x: Tensor) -> Tensor:
    """[b, m, n, d/m] as [b, n, d] again."""
    return unfold(x.transpose(1, 2))


def mean_of(h: Tensor, weight: Tensor) -> Tensor:
    """Mean embedding over the places with weight 1 in [b, r, n], as [b, r, d]; 0 over none."""
    weight = weight.to(h.dtype)
    return weight @ h / weight.sum(-1, keepdim=True).clamp(min=1.0)


def products_of(query: Tensor, key: Tensor) -> Tensor:
    """The products of queries [b, r, c, d] with keys [b, n, d], as [b, r, c, n]."""
    products = query.flatten(1, 2) @ key.transpose(1, 2)
    return products.view(*query.shape[:3], -1)


def among(u: Tensor, seen: Tensor) -> Tensor:
    """The scores with -inf for what is not seen, so that a softmax leaves it out."""
    return u.masked_fill(~seen, -torch.inf)


def centred_over(h: Tensor, exists: Tensor) -> tuple[Tensor, Tensor]:
    """[b, n, d] less its mean over the places that exist, 0 at the others; and its variance."""
    real = exists[:, :, None]
    count = real.sum(1, keepdim=True)
    centred = (h - (h * real).sum(1, keepdim=True) / count) * real
    return centred, centred.square().sum(1, keepdim=True) / count


class Normalise(nn.Module):
    """Norm of Section 'Encoder': over the features of a place (layer), or the places (instance)."""

    def __init__(self, kind: str, width: int) -> None:
        super().__init__()
        self.kind = kind
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width))

    def forward(self, h: Tensor, exists: Tensor) -> Tensor:
        """[b, n, d] to the same."""
        if self.kind == "layer":
            return f.layer_norm(h, h.shape[-1:], self.scale, self.shift)
        centred, variance = centred_over(h, exists)
        return centred * torch.rsqrt(variance + 1e-5) * self.scale + self.shift


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

    def forward(self, h: Tensor, exists: Tensor) -> Tensor:
        """[b, n, d] to the same; padding is not attended to."""
        query, key, value = (
            split(part, self.heads) for part in self.query_key_value(h).chunk(3, dim=-1)
        )
        # softmax(Q K^T / sqrt(d_k)) V with d_k = d / m, in every head.
        seen = exists[:, None, None, :].expand(-1, -1, h.shape[1], -1)
        attended = f.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        h = self.norm_1(h + self.project(join(attended)), exists)
        return self.norm_2(h + self.feed_forward(h), exists)


class Encoder(nn.Module):
    """h^(0) = W^x x + b^x, then N attention layers; gives the static embeddings h^(N)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embed = nn.Linear(2, config.width)
        self.layers = nn.ModuleList(AttentionLayer(config) for _ in range(config.layers))

    def forward(self, batch: Batch) -> Tensor:
        """Static embeddings [b, n, d]."""
        h = self.embed(batch.places)
        for layer in self.layers:
            h = layer(h, batch.exists)
        return h


def glimpse(query: Tensor, key: Tensor, value: Tensor, seen: Tensor) -> Tensor:
    """Attention of [b, r, d] to split keys and values [b, m, n, d/m], as [b, r, d].

    ``seen``: bool, [b, 1, n] or [b, r, n], the places that may be attended to.
    """
    mask = seen[:, None].expand(-1, -1, query.shape[1], -1)
    parts = split(query, key.shape[1])
    return join(f.scaled_dot_product_attention(parts, key, value, attn_mask=mask))


def clipped(u: Tensor, clip: float) -> Tensor:
    """Scores between -clip and clip (Bello et al. 2016)."""
    return clip * torch.tanh(u)


def of_stop(h: Tensor, place: Tensor) -> Tensor:
    """Embeddings [b, r, d] of the stops [b, r]."""
    return h.gather(1, place[:, :, None].expand(-1, -1, h.shape[-1]))


# --- Attention-dynamic ----------------------------------------------------------------------------


class DynamicCode(NamedTuple):
    """h, static_key: [b, n, d]; key_1, value_1: [b, m, n, d/m]; mean: [b, 1, d]; exists: [b, n]."""

    h: Tensor
    static_key: Tensor
    key_1: Tensor
    value_1: Tensor
    mean: Tensor
    exists: Tensor


class AttentionDynamic(nn.Module):
    """am-dynamic, Section 'Attention Model': keys that are static × dynamic, and a GRU decoder."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.width
        self.heads, self.clip = config.heads, config.clip
        self.encoder = Encoder(config)
        self.key = nn.Linear(d, d, bias=False)  # W^K
        self.dynamic = nn.Parameter(torch.empty(d).uniform_(-1.0, 1.0))  # W_G
        self.gru = nn.GRUCell(d, d)
        self.first_input = nn.Parameter(torch.empty(d).uniform_(-1.0, 1.0))  # v_1
        self.glimpse_key = nn.Linear(d, d, bias=False)
        self.glimpse_value = nn.Linear(d, d, bias=False)
        self.project = nn.Linear(d, d, bias=False)

    def encode(self, batch: Batch) -> DynamicCode:
        """Section 'Encoder', and K_1, V_1 of Section 'Decoder'."""
        h = self.encoder(batch)
        return DynamicCode(
            h=h,
            static_key=self.key(h),
            key_1=split(self.glimpse_key(h), self.heads),
            value_1=split(self.glimpse_value(h), self.heads),
            mean=mean_of(h, batch.exists[:, None]),
            exists=batch.exists,
        )

    def start(self, code: DynamicCode, rollouts: int) -> Tensor:
        """d_0 = mean of the embeddings, [b, r, d]."""
        return code.mean.expand(-1, rollouts, -1)

    def scores(self, code: DynamicCode, memory: Tensor, state: State) -> tuple[Tensor, Tensor]:
        """Sections 'Decoder' and 'Compute Probability by Attention'."""
        # I_t = v_1 at t = 1, then the embedding of the last stop.
        if state.step == 0:
            given = self.first_input.expand_as(memory)
        else:
            given = of_stop(code.h, state.last)
        # o_t, d_t = f_GRU(I_t, d_{t-1}); of a GRU with one layer o_t and d_t are the same.
        memory = self.gru(given.flatten(0, 1), memory.flatten(0, 1)).view_as(memory)
        # q_t = Attention(d_t, K_1, V_1).
        query = self.project(glimpse(memory, code.key_1, code.value_1, code.exists[:, None]))
        # u_i = q_t · k_i / sqrt(d_k), d_k = d / m, with k_i = (W^K h_i) ∘ G_i and G_i = g_i W_G.
        # As g_i is a number, q · k_i = g_i · (q ∘ W_G) · (W^K h_i): no keys to make at every step.
        static = (query * self.dynamic) @ code.static_key.transpose(1, 2)
        u = state.guidance * static / math.sqrt(query.shape[-1] / self.heads)
        return clipped(u, self.clip), memory
