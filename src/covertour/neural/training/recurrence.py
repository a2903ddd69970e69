"""The GRU of a decoder over whole tours at once, with its gradient written out.

As :class:`torch.nn.GRUCell` called step after step, but tours are sorted by their length, so that
finished ones cost nothing; what the network makes of its inputs is given, so that it is made once
per place and looked up; and the gradient of the weights is one product over all steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def gru_step(given: Tensor, memory: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """d_t of d_{t-1}, float32[k, d], and ``given``, W_ih I_t + b_ih, float32[k, 3 d]."""
    d = memory.shape[1]
    recalled = torch.addmm(bias, memory, weight.t())
    gates = torch.sigmoid_(given[:, : 2 * d] + recalled[:, : 2 * d])
    new = torch.tanh_(torch.addcmul(given[:, 2 * d :], gates[:, :d], recalled[:, 2 * d :]))
    return new.lerp_(memory, gates[:, d:])  # (1 - z) n + z d_{t-1}


class Recurrence(torch.autograd.Function):
    """All memories of tours sorted by length, the longest first.

    ``given``: float32[p, 3 d], W_ih I_t + b_ih of all steps, step after step; ``sizes``: how many
    tours have each step; ``memory``: float32[k, d], d_0 of the tours. Gives float32[p, d], d_t of
    all steps in the same order.
    """

    @staticmethod
    def forward(
        ctx: Any, given: Tensor, memory: Tensor, weight: Tensor, bias: Tensor, sizes: Sequence[int]
    ) -> Tensor:
        """d_t, step after step; keeps the gates."""
        p, d = len(given), memory.shape[1]
        before, after, new, recalled = (given.new_empty(p, d) for _ in range(4))
        gates = given.new_empty(p, 2 * d)
        first = 0
        for size in sizes:
            rows = slice(first, first + size)
            memory = memory[:size]
            before[rows] = memory
            told = torch.addmm(bias, memory, weight.t())
            recalled[rows] = told[:, 2 * d :]
            gate = torch.add(given[rows, : 2 * d], told[:, : 2 * d], out=gates[rows]).sigmoid_()
            fresh = torch.addcmul(
                given[rows, 2 * d :], gate[:, :d], recalled[rows], out=new[rows]
            ).tanh_()
            memory = torch.lerp(fresh, memory, gate[:, d:], out=after[rows])
            first += size
        ctx.save_for_backward(before, new, recalled, gates, weight)
        ctx.sizes = sizes
        return after

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Back through the steps, the last first."""
        (late,) = gradients
        before, new, recalled, gates, weight = ctx.saved_tensors
        p, d = before.shape
        reset, update = gates[:, :d], gates[:, d:]
        # Factors of the gradients that do not depend on later steps, for all steps at once.
        by_new = (1 - update) * (1 - new.square())
        by_update = (before - new) * update * (1 - update)
        by_reset = recalled * reset * (1 - reset)
        told = before.new_empty(p, 3 * d)  # the gradient of W_hh d_{t-1} + b_hh
        of_new = before.new_empty(p, d)
        carried = before.new_zeros(0, d)
        first = p
        for size in reversed(ctx.sizes):
            first -= size
            rows = slice(first, first + size)
            grad = late[rows].clone()
            grad[: len(carried)] += carried
            fresh = torch.mul(grad, by_new[rows], out=of_new[rows])
            torch.mul(fresh, by_reset[rows], out=told[rows, :d])
            torch.mul(grad, by_update[rows], out=told[rows, d : 2 * d])
            torch.mul(fresh, reset[rows], out=told[rows, 2 * d :])
            carried = torch.addmm(grad * update[rows], told[rows], weight)
        of_weight, of_bias = told.t() @ before, told.sum(0)
        of_given = told
        of_given[:, 2 * d :] = of_new
        return of_given, carried, of_weight, of_bias, None


def memories(given: Tensor, memory: Tensor, gru: torch.nn.GRUCell, sizes: Sequence[int]) -> Tensor:
    """:class:`Recurrence` with the weights of a GRU."""
    result: Tensor = Recurrence.apply(given, memory, gru.weight_hh, gru.bias_hh, sizes)  # type: ignore[no-untyped-call]
    return result
