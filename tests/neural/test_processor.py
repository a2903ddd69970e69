"""The attention of the trainings is torch's, there and back, whatever products are set to."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as f

from covertour.neural.training.processor import attention


@pytest.mark.parametrize("precision", ["highest", "medium"])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_and_its_gradient_are_torchs(precision, masked):
    generator = torch.Generator().manual_seed(1)
    parts = [torch.randn(3, 4, n, 8, generator=generator) for n in (6, 9, 9)]
    weight = torch.randn(3, 4, 6, 8, generator=generator)
    mask = None
    if masked:
        hidden = torch.rand(3, 1, 6, 9, generator=generator) < 0.5
        hidden[..., 0] = False
        mask = torch.zeros(3, 1, 6, 9).masked_fill(hidden, -torch.inf).expand(-1, 4, -1, -1)
    expected = with_gradients(f.scaled_dot_product_attention, parts, mask, weight)
    torch.set_float32_matmul_precision(precision)
    try:
        made = with_gradients(attention, parts, mask, weight)
        assert torch.get_float32_matmul_precision() == precision
    finally:
        torch.set_float32_matmul_precision("highest")
    for ours, torchs in zip(made, expected, strict=True):
        torch.testing.assert_close(ours, torchs, atol=1e-5, rtol=1e-5)


def with_gradients(function, parts, mask, weight):
    """What the function makes of queries, keys and values, and the gradients of these."""
    given = [part.clone().requires_grad_() for part in parts]
    out = function(*given, mask)
    (out * weight).sum().backward()
    return [out.detach(), *(part.grad for part in given)]
