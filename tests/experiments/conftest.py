"""Studies on the smallest instances, with tiny weights of the models."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.shared.protocol import Settings
from experiments.shared.rows import RowFile
from experiments.shared.study import Study
from experiments.shared.weights import as_called


@pytest.fixture
def study(tmp_path: Path, weights: Callable[[str], Path]) -> Callable[..., Study]:
    """Makes a study of few instances; ``names``: of the weights, which are tiny and untrained."""

    def make(*names: str, **settings: object) -> Study:
        home = tmp_path / "weights"
        for name in names:
            network, _, size = name.rpartition("-")
            model = as_called(network if size.isdigit() else name)
            shutil.copytree(weights(model), home / name)
        chosen = {"count": 2, "exact_seconds": 20.0, "patience": 5.0, **settings}
        rows = RowFile(tmp_path / "rows.csv")
        return Study(Settings(**chosen), rows, (home,))  # type: ignore[arg-type]

    return make


@pytest.fixture
def learn() -> Callable[[Path, int], None]:
    """Notes beside weights that they learned from so many tours, one per instance."""

    def note(directory: Path, tours: int) -> None:
        train = '[train]\nbatch = 10\nbaseline = "greedy"\nrollouts = 16\n'
        (directory / "config.toml").write_text(f"{train}[[stage]]\nsteps = {tours // 10}\n")

    return note
