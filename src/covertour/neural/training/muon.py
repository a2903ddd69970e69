"""Muon (Jordan 2024): the step of a matrix is its momentum, made nearly orthogonal.

As torch.optim.Muon, but in float32, which processors without bfloat16 units multiply several times
as fast, and with matrices of one shape together.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor, nn

MOMENTUM = 0.95
ROUNDS = 5
A, B, C = 3.4445, -4.7750, 2.0315
"""Of X ← A X + (B X X^T + C (X X^T)²) X, by which singular values come between 0.7 and 1.2."""


class Muon(torch.optim.Optimizer):
    """Steps of matrices, with Nesterov's momentum and without weight decay.

    A matrix that is higher than wide, by a factor f, has steps longer by sqrt(f).
    """

    def __init__(self, matrices: Iterable[nn.Parameter], lr: float) -> None:
        super().__init__(matrices, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Change all matrices that have a gradient."""
        for group in self.param_groups:
            alike: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for matrix in group["params"]:
                if matrix.grad is not None:
                    alike[matrix.shape].append(matrix)
            for shape, matrices in alike.items():
                steps = orthogonal(torch.stack([self._with_momentum(one) for one in matrices]))
                factor = -group["lr"] * math.sqrt(max(1.0, shape[0] / shape[1]))
                torch._foreach_add_(matrices, list(steps), alpha=factor)

    def _with_momentum(self, matrix: Tensor) -> Tensor:
        """The gradient and the running average of those before, in the same shares as there."""
        assert matrix.grad is not None
        kept = self.state[matrix]
        if "momentum_buffer" not in kept:
            kept["momentum_buffer"] = torch.zeros_like(matrix)
        average: Tensor = kept["momentum_buffer"].lerp_(matrix.grad, 1 - MOMENTUM)
        return matrix.grad.lerp(average, MOMENTUM)


def orthogonal(matrices: Tensor) -> Tensor:
    """Matrices, float32[k, m, n], with the same singular vectors and values near 1; 0 stays 0."""
    high = matrices.shape[1] > matrices.shape[2]
    x = matrices.transpose(1, 2) if high else matrices
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(ROUNDS):
        square = x @ x.transpose(1, 2)
        x = torch.baddbmm(x, torch.baddbmm(square, square, square, beta=B, alpha=C), x, beta=A)
    return x.transpose(1, 2) if high else x
