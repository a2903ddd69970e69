"""Settings for all tests: property tests that find the same examples on every run; tiny weights.

``COVERTOUR_EXAMPLES=5000 pytest tests/property`` looks longer, and elsewhere on every run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

examples = os.environ.get("COVERTOUR_EXAMPLES")
settings.register_profile(
    "covertour",
    deadline=None,
    database=None,
    derandomize=examples is None,
    max_examples=int(examples or 50),
)
settings.load_profile("covertour")


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A directory with weights of a model, tiny and untrained."""

    @cache
    def written(name: str) -> Path:
        from covertour.neural.config import ModelConfig
        from covertour.neural.inference.decoders import decoder_of
        from covertour.neural.inference.weightfile import write_weights

        config = ModelConfig(name, width=16, heads=2, layers=1, feed_forward=16)
        rng = np.random.default_rng(2)
        shapes = decoder_of(name).shapes(config)
        tensors = {
            key: rng.uniform(-0.5, 0.5, shape).astype(np.float32) for key, shape in shapes.items()
        }
        directory = tmp_path_factory.mktemp(name)
        write_weights(directory / "weights.safetensors", tensors, config, {})
        return directory

    return written
