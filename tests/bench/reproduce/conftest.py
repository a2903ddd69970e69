"""Studies on the smallest instances, with tiny weights of the models."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from covertour.bench.reproduce import RowFile, Settings, Study
from covertour.neural.inference import shipped


@pytest.fixture
def ship(
    tmp_path: Path, weights: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """Lets the package ship the weights of these names; tiny and untrained, without a log."""
    home = tmp_path / "weights"
    home.mkdir()
    monkeypatch.setattr(shipped, "WEIGHTS", home)

    def put(*names: str) -> Path:
        for name in names:
            model, _, size = name.rpartition("-")
            shutil.copytree(weights(model if size.isdigit() else name), home / name)
        return home

    return put


@pytest.fixture
def study(tmp_path: Path, ship: Callable[..., Path]) -> Callable[..., Study]:
    """Makes a study of few instances; ``ships``: the names of the weights that there are."""

    def make(*ships: str, **settings: object) -> Study:
        home = ship(*ships)
        chosen = {"count": 2, "exact_seconds": 20.0, "patience": 5.0, **settings}
        return Study(
            Settings(**chosen),  # type: ignore[arg-type]
            RowFile(tmp_path / "rows.csv"),
            shipped.weights_for,
            tuple(home / name for name in ships),
        )

    return make
