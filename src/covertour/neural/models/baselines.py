"""The learned methods that the paper compares with: am, pn and pn-dynamic.

All attention models have the same encoder, and all models clip their scores alike, so that what
differs is what the comparison is about. Shapes as in
:mod:`covertour.neural.models.attention_dynamic`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as f

from covertour.neural.config import ModelConfig
from covertour.neural.models.attention_dynamic import (
    Encoder,
    clipped,
    glimpse,
    mean_of,
    of_stop,
    split,
    unvisited,
)
from covertour.neural.training.additive import additive
from covertour.neural.training.batch import Batch
from covertour.neural.training.environment import State


class AttentionCode(NamedTuple):
    """last, first: shares in the context, [b, n, d]; key: [b, n, d]; mean: [b, 1, d].

    key_1, value_1: [b, m, n, d/m]. ``exists``: bool[b, n] where some places are padding, else None.
    """

    last: Tensor
    first: Tensor
    key: Tensor
    key_1: Tensor
    value_1: Tensor
    mean: Tensor
    exists: Tensor | None


class Attention(nn.Module):
    """am, the attention model of Kool et al. (2019) with its context for the salesman problem.

    The context is the mean embedding and those of the last and the first stop; the glimpse sees
    only places that are not yet visited. Nothing here knows what is covered.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.width
        self.heads, self.clip = config.heads, config.clip
        self.encoder = Encoder(config)
        self.key_value_logit = nn.Linear(d, 3 * d, bias=False)
        self.context_mean = nn.Linear(d, d, bias=False)
        self.context_stops = nn.Linear(2 * d, d, bias=False)
        self.no_stops = nn.Parameter(torch.empty(2 * d).uniform_(-1.0, 1.0))
        self.project = nn.Linear(d, d, bias=False)

    def encode(self, batch: Batch) -> AttentionCode:
        """The encoder, the glimpse's keys and values, and the keys of the scores."""
        h = self.encoder(batch)
        key_1, value_1, key = self.key_value_logit(h).chunk(3, dim=-1)
        last, first = self.context_stops.weight.chunk(2, dim=1)
        return AttentionCode(
            last=f.linear(h, last),
            first=f.linear(h, first),
            key=key,
            key_1=split(key_1, self.heads),
            value_1=split(value_1, self.heads),
            mean=self.context_mean(mean_of(h, batch.exists[:, None])),
            exists=batch.exists if batch.padded else None,
        )

    def start(self, code: AttentionCode, rollouts: int) -> Tensor:
        """No memory: the mean embedding for each rollout, [b, r, d]."""
        return code.mean.expand(-1, rollouts, -1)

    def read(self, code: AttentionCode) -> None:
        """Nothing is remembered."""

    def scores(self, code: AttentionCode, memory: Tensor, state: State) -> Tensor:
        """Glimpse from the context, then single-head scores q · k_i / sqrt(d)."""
        stops = of_stop(code.last, state.last) + of_stop(code.first, state.first)
        none = self.context_stops(self.no_stops)
        context = memory + torch.where(state.begun[:, :, None], stops, none)
        # With the paper's mask a rollout can run out of unvisited places only when it is done.
        seen = unvisited(code.exists, state)
        query = self.project(glimpse(context, code.key_1, code.value_1, seen))
        u = query @ code.key.transpose(1, 2) / math.sqrt(query.shape[-1])
        return clipped(u, self.clip)


class PointerCode(NamedTuple):
    """embedded: x W, [b, n, d]; reference: W_1 e, [b, n, d]; vector: [b, 1, d]."""

    embedded: Tensor
    reference: Tensor
    vector: Tensor


class Pointer(nn.Module):
    """pn, the pointer network (Vinyals et al. 2015), Section 'Attention Theory', eq. (pointer).

    Its encoder reads the places in the order in which they come, so unlike the other models it
    depends on that order. Both recurrent networks are GRUs, as in the paper's own decoder.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.width
        self.clip = config.clip
        self.embed = nn.Linear(2, d)
        self.encoder = nn.GRU(d, d, batch_first=True)
        self.gru = nn.GRUCell(d, d)
        self.reference = nn.Linear(d, d, bias=False)  # W_1
        self.query = nn.Linear(d, d, bias=False)  # W_2
        self.point = nn.Linear(d, 1, bias=False)  # v

    def encode(self, batch: Batch) -> PointerCode:
        """Hidden states e_i of the places, and the last of them, the 'Vector'."""
        embedded = self.embed(batch.places)
        e, _ = self.encoder(embedded)
        last = batch.exists.sum(1, keepdim=True) - 1  # padding comes after, so it was not read yet
        return PointerCode(embedded, self.reference(e), of_stop(e, last))

    def start(self, code: PointerCode, rollouts: int) -> Tensor:
        """d_0 = Vector, [b, r, d]."""
        return code.vector.expand(-1, rollouts, -1)

    def read(self, code: PointerCode) -> tuple[Tensor, None]:
        """d_t reads the embedding of the last stop; before the first there is nothing to read."""
        return code.embedded, None

    def scores(self, code: PointerCode, memory: Tensor, state: State) -> Tensor:
        """u_i = v^T tanh(W_1 e_i + W_2 d_t)."""
        u = additive(code.reference, self.query(memory), self.point.weight[0])
        return clipped(u, self.clip)


class PointerDynamicCode(NamedTuple):
    """static: [b, n, d]; attend_static, point_static: its share in the two tanh, [b, n, d].

    ``exists``: bool[b, n] where some places are padding, else None.
    """

    static: Tensor
    attend_static: Tensor
    point_static: Tensor
    exists: Tensor | None


class PointerDynamic(nn.Module):
    """pn-dynamic, after Nazari et al. (2018): an embedding in place of the encoder's network.

    A place is x_i = (s_i, δ_i), the embeddings of its position and of its guidance g_i. The
    attention a = softmax(v_a · tanh(W_a [x_i; d_t])) makes the context c = Σ a_i x_i, and the
    scores are v_c · tanh(W_c [x_i; c]).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        d = config.width
        self.clip = config.clip
        self.embed = nn.Linear(2, d)
        self.embed_dynamic = nn.Linear(1, d)
        self.gru = nn.GRUCell(d, d)
        self.first_input = nn.Parameter(torch.empty(d).uniform_(-1.0, 1.0))
        self.attend_static = nn.Linear(d, d, bias=False)
        self.attend_dynamic = nn.Linear(d, d, bias=False)
        self.attend_memory = nn.Linear(d, d, bias=False)
        self.attend = nn.Linear(d, 1, bias=False)
        self.point_static = nn.Linear(d, d, bias=False)
        self.point_dynamic = nn.Linear(d, d, bias=False)
        self.point_context = nn.Linear(2 * d, d, bias=False)
        self.point = nn.Linear(d, 1, bias=False)

    def encode(self, batch: Batch) -> PointerDynamicCode:
        """The embeddings of the positions and what the two attentions make of them."""
        s = self.embed(batch.places)
        exists = batch.exists if batch.padded else None
        return PointerDynamicCode(s, self.attend_static(s), self.point_static(s), exists)

    def start(self, code: PointerDynamicCode, rollouts: int) -> Tensor:
        """d_0 = 0, [b, r, d]."""
        b, _, d = code.static.shape
        return code.static.new_zeros(b, rollouts, d)

    def read(self, code: PointerDynamicCode) -> tuple[Tensor, Tensor]:
        """A learned vector first, then the static embedding of the last stop."""
        return code.static, self.first_input

    def scores(self, code: PointerDynamicCode, memory: Tensor, state: State) -> Tensor:
        """Attention, context, scores."""
        # δ_i = g_i w + w_0 is linear in g_i: W δ_i = g_i (W w) + W w_0 needs no product per place.
        attend, attend_0 = self._dynamic_share(self.attend_dynamic)
        point, point_0 = self._dynamic_share(self.point_dynamic)
        # a = softmax(v_a · tanh(W_a [x_i; d_t])).
        beside = self.attend_memory(memory) + attend_0
        u = additive(code.attend_static, beside, self.attend.weight[0], state.guidance, attend)
        if code.exists is not None:
            u = u.masked_fill(~code.exists[:, None], -torch.inf)
        a = u.softmax(-1)
        # c = Σ a_i x_i, its static and its dynamic half; the a_i sum to 1.
        half = self.embed_dynamic((a * state.guidance).sum(-1, keepdim=True))
        context = torch.cat([a @ code.static, half], dim=-1)
        # u_i = v_c · tanh(W_c [x_i; c]).
        beside = self.point_context(context) + point_0
        u = additive(code.point_static, beside, self.point.weight[0], state.guidance, point)
        return clipped(u, self.clip)

    def _dynamic_share(self, layer: nn.Linear) -> tuple[Tensor, Tensor]:
        """W w and W w_0, where δ_i = g_i w + w_0."""
        return layer(self.embed_dynamic.weight[:, 0]), layer(self.embed_dynamic.bias)
