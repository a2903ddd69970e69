"""Additive attention, v · tanh(a_i + b_j + g_ij w), with its gradient written out.

The pointer networks compare every query with every place by it. torch would keep the tanh of all
triples of a query, a place and a feature, and go through memory for each operation on them; here
they are made in the processor's registers, and once more on the way back.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from covertour.kernel import entry, inner
from covertour.neural.inference.layers import NONE, ONE, tanh


def additive(
    static: Tensor,
    query: Tensor,
    point: Tensor,
    guidance: Tensor | None = None,
    guided: Tensor | None = None,
) -> Tensor:
    """u_ji = v · tanh(a_i + b_j + g_ji w), float32[b, q, n].

    ``static``: a, [b, n, d]; ``query``: b, [b, q, d]; ``point``: v, [d]; ``guidance``: g, [b, q,
    n], which has no gradient; ``guided``: w, [d]. Without the last two, g is 0.
    """
    if guidance is None or guided is None:
        guidance, guided = query.new_empty(*query.shape[:2], 0), torch.zeros_like(point)
    u: Tensor = Additive.apply(static, query, point, guidance, guided)
    return u


class Additive(torch.autograd.Function):
    """:func:`additive` for the engine of torch."""

    @staticmethod
    def forward(
        ctx: Any, static: Tensor, query: Tensor, point: Tensor, guidance: Tensor, guided: Tensor
    ) -> Tensor:
        """The scores; nothing but the arguments is kept."""
        given = [x.detach().contiguous() for x in (static, query, point, guidance, guided)]
        ctx.save_for_backward(*given)
        u = query.new_empty(*query.shape[:2], static.shape[1])
        _compare(*(x.numpy() for x in given), u.numpy())
        return u

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Of all but the guidance."""
        given = ctx.saved_tensors
        static, query, point, _, _ = given
        of_static, of_query = torch.zeros_like(static), torch.zeros_like(query)
        # A row for each instance, so that long sums keep their digits.
        of_point, of_guided = (point.new_zeros(len(static), len(point)) for _ in range(2))
        made = (of_static, of_query, of_point, of_guided, torch.empty_like(point))
        late = gradients[0].contiguous()
        _return(*(x.numpy() for x in given), late.numpy(), *(x.numpy() for x in made))
        return of_static, of_query, of_point.sum(0), None, of_guided.sum(0)


@entry
def _compare(static, query, point, guidance, guided, u):
    """u of all pairs of a query and a place."""
    b, q, n = u.shape
    told = guidance.shape[2] > 0
    for i in range(b):
        for j in range(q):
            for p in range(n):
                g = guidance[i, j, p] if told else NONE
                u[i, j, p] = _score(static, query, point, guided, i, j, p, g)


@inner(reassociates=True)
def _score(static, query, point, guided, i, j, p, g):
    total = NONE
    for k in range(len(point)):
        total += point[k] * tanh(static[i, p, k] + query[i, j, k] + g * guided[k])
    return total


@entry
def _return(
    static, query, point, guidance, guided, late, of_static, of_query, of_point, of_guided, made
):
    """The gradients, added to what is there; ``made``: room for the tanh of a pair, [d]."""
    b, n, d = static.shape
    told = guidance.shape[2] > 0
    for i in range(b):
        for j in range(query.shape[1]):
            for p in range(n):
                u = late[i, j, p]
                if u == NONE:  # a place that could not be chosen
                    continue
                g = guidance[i, j, p] if told else NONE
                for k in range(d):
                    made[k] = tanh(static[i, p, k] + query[i, j, k] + g * guided[k])
                for k in range(d):
                    of_point[i, k] += u * made[k]
                for k in range(d):
                    made[k] = u * point[k] * (ONE - made[k] * made[k])
                for k in range(d):
                    of_static[i, p, k] += made[k]
                for k in range(d):
                    of_query[i, j, k] += made[k]
                if told:
                    for k in range(d):
                        of_guided[i, k] += g * made[k]
