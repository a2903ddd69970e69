"""Muon: steps are torch's, up to the digits that it leaves out."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from covertour.neural.training.muon import Muon, orthogonal

SHAPES = [(24, 8), (8, 24), (8, 24), (8, 8)]


def test_steps_are_torchs() -> None:
    generator = torch.Generator().manual_seed(2)
    ours = [nn.Parameter(torch.randn(shape, generator=generator)) for shape in SHAPES]
    theirs = [nn.Parameter(weight.detach().clone()) for weight in ours]
    optimisers = [Muon(ours, lr=0.02), torch.optim.Muon(theirs, lr=0.02, weight_decay=0.0)]
    begin = [weight.detach().clone() for weight in ours]
    for _ in range(3):
        for mine, other in zip(ours, theirs, strict=True):
            mine.grad = torch.randn(mine.shape, generator=generator)
            other.grad = mine.grad.clone()
        for optimiser in optimisers:
            optimiser.step()
    for mine, other, before in zip(ours, theirs, begin, strict=True):
        # torch makes the steps in bfloat16, with three digits.
        torch.testing.assert_close(mine - before, other - before, atol=2e-3, rtol=2e-2)


@pytest.mark.parametrize("shape", [(3, 6, 20), (1, 20, 6), (2, 5, 5)])
def test_singular_vectors_stay_and_values_come_near_one(shape: tuple[int, ...]) -> None:
    given = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    made = orthogonal(given)
    u, _, v = torch.linalg.svd(given, full_matrices=False)
    values = u.transpose(1, 2) @ made @ v.transpose(1, 2)
    diagonal = torch.diag_embed(torch.diagonal(values, dim1=1, dim2=2))
    torch.testing.assert_close(values, diagonal, atol=1e-3, rtol=0)
    assert float(torch.diagonal(values, dim1=1, dim2=2).min()) > 0.6
    assert float(values.max()) < 1.3


def test_no_gradient_no_step() -> None:
    weight, still = (nn.Parameter(torch.ones(3, 4)) for _ in range(2))
    weight.grad = torch.zeros(3, 4)
    Muon([weight, still], lr=1.0).step()
    assert bool((weight == 1).all())
    assert bool((still == 1).all())
