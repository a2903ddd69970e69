"""The parts of the networks are what their names say, to the last bits of float32."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numba import njit
from numpy.testing import assert_allclose

from covertour import random_instance
from covertour.neural.config import ModelConfig
from covertour.neural.inference import layers
from covertour.neural.inference.encoder import embeddings, encoder_weights
from covertour.neural.inference.layers import product
from covertour.neural.models import make_model
from covertour.neural.training.batch import batch_from


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("exp", np.exp),
        ("tanh", np.tanh),
        ("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
        ("softplus", lambda x: np.logaddexp(0, x)),
    ],
)
def test_functions_of_a_number(name: str, expected: Callable[..., np.ndarray]) -> None:
    function = getattr(layers, name)

    @njit
    def fill(given, made):
        for index in range(len(given)):
            made[index] = function(given[index])

    given = np.concatenate([np.linspace(-87, 88, 40_001), np.linspace(-1, 1, 40_001), [0.0]])
    given = given.astype(np.float32)
    made = np.empty_like(given)
    fill(given, made)
    # Relative to the number, or to 1 where a sum with 1 is behind it.
    least = 1e-6 if name in ("tanh", "softplus") else 1e-44
    assert_allclose(made, expected(given.astype(np.float64)), rtol=5e-7, atol=least)


def test_beyond_what_float32_holds_exp_stays_a_number() -> None:
    function = layers.exp

    @njit
    def one(x):
        return function(x)

    ends = [one(np.float32(x)) for x in (-np.inf, -1e30, 1e30, np.inf)]
    assert 0 < ends[0] == ends[1] < 1e-37
    assert 1e38 < ends[2] == ends[3] < np.inf


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("m", [1, 3, 4, 5, 9])
@pytest.mark.parametrize("k", [1, 2, 33])
def test_products(n: int, m: int, k: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(n, k)).astype(np.float32), rng.normal(size=(m, k)).astype(np.float32)
    assert_allclose(product(a, b), a.astype(np.float64) @ b.T, atol=1e-5)


@pytest.mark.parametrize("normalisation", ["instance", "layer"])
@pytest.mark.parametrize(("attention", "heads"), [("all", 3), ("coverage", 6)])
def test_embeddings_are_those_of_torch(normalisation: str, attention: str, heads: int) -> None:
    sizes = {"width": 24, "heads": heads, "layers": 2, "feed_forward": 40}
    config = ModelConfig("am", attention=attention, normalisation=normalisation, **sizes)
    model = make_model(config, seed=1)
    tensors = {name: value.numpy() for name, value in model.state_dict().items()}
    for n in (1, 2, 19):
        one = random_instance(n, radius=(0.05, 0.4), seed=n)
        batch = batch_from([one.with_changes(forbidden=(n - 1,) if n > 2 else ())], config.guidance)
        with torch.no_grad():
            expected = model.encoder(batch)[0].numpy()
        places, covers = batch.places[0].numpy(), batch.covers[0].numpy()
        made = embeddings(encoder_weights(tensors, config), places, covers)
        assert_allclose(made, expected, atol=2e-5)
