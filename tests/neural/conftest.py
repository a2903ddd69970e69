"""One thread for torch, so that tests leave the machine to others; a five-place instance."""

from __future__ import annotations

import pytest
import torch

from covertour import Instance


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _precise() -> None:
    """A training before this test may have asked for fast products."""
    torch.set_float32_matmul_precision("highest")


@pytest.fixture
def five() -> Instance:
    """Places on a line at 0, 1, 3, 6 and 10 tenths; each covers its two nearest others."""
    points = [[0.0, 0.0], [0.1, 0.0], [0.3, 0.0], [0.6, 0.0], [1.0, 0.0]]
    return Instance.from_coordinates(points, nearest=2)
