"""Additive attention against torch's own operations: values and all gradients."""

import pytest
import torch

from covertour.neural.training.additive import additive


def plain(static, query, point, guidance=None, guided=None):
    mixed = static[:, None] + query[:, :, None]
    if guidance is not None:
        mixed = mixed + guidance[..., None] * guided
    return torch.tanh(mixed) @ point


@pytest.mark.parametrize("told", [True, False], ids=["guided", "plain"])
def test_scores_and_gradients_are_those_of_torch(told):
    generator = torch.Generator().manual_seed(1)
    b, q, n, d = 3, 5, 7, 16
    shapes = [(b, n, d), (b, q, d), (d,), (b, q, n), (d,)]
    given = [torch.randn(*shape, generator=generator) for shape in shapes]
    if not told:
        given = given[:3]
    late = torch.randn(b, q, n, generator=generator)
    late[:, :, 0] = 0.0  # as of a place that could not be chosen
    made = []
    for function in (plain, additive):
        inputs = [x.clone().requires_grad_(index != 3) for index, x in enumerate(given)]
        u = function(*inputs)
        u.backward(late)
        made.append([u.detach(), *(x.grad for x in inputs if x.requires_grad)])
    assert len(made[0]) == (5 if told else 4)
    for wanted, found in zip(*made, strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)


def test_inputs_may_be_expanded_or_transposed():
    static = torch.randn(2, 4, 3).transpose(1, 2)
    query = torch.randn(1, 1, 4).expand(2, 5, 4)
    point = torch.randn(4)
    torch.testing.assert_close(additive(static, query, point), plain(static, query, point))
