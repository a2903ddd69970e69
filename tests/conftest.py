"""Settings for all tests: property tests that find the same examples on every run; tiny weights.

``COVERTOUR_EXAMPLES=5000 pytest tests/property`` looks longer, and elsewhere on every run.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

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
    """A directory with exported weights of a model, tiny and untrained."""

    @cache
    def exported(name: str) -> Path:
        from covertour.neural.config import ModelConfig
        from covertour.neural.models import make_model
        from covertour.neural.training.export import export

        directory = tmp_path_factory.mktemp(name)
        config = ModelConfig(name, width=16, heads=2, layers=1, feed_forward=16)
        export(make_model(config, seed=2), config, directory)
        return directory

    return exported
