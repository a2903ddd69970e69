"""The loops of decoding give the same whether they are compiled or not, and are compiled once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covertour import random_instance
from covertour.neural.config import MODELS
from covertour.neural.inference import compiled
from covertour.neural.inference.network import load_network
from covertour.neural.inference.runtime import best_tours

LOOPS = ("set_factors", "block", "visit", "polish_tours", "decode_gain")


@pytest.mark.parametrize("model", MODELS)
def test_compiled_and_interpreted_loops_make_the_same_tours(
    model: str, weights: Callable[[str], Path]
) -> None:
    network = load_network(weights(model))
    places = [random_instance(30, radius=(0.1, 0.3), seed=seed) for seed in range(4)]
    instances = [*places[:2], *(replace(one, depot=3, required=(7,)) for one in places[2:])]
    with compiled.interpreted():
        assert compiled.loops() is compiled.AS_THEY_STAND
        plain = best_tours(network, instances, samples=3)
    for one, other in zip(plain, best_tours(network, instances, samples=3), strict=True):
        np.testing.assert_array_equal(one, other)
    loops: list[Any] = [getattr(compiled.loops(), name) for name in LOOPS]
    assert [len(loop.signatures) for loop in loops] == [1] * len(LOOPS)
