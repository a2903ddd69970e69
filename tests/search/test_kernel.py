"""Compiled kernels that are older than any of their sources are dropped, and no others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from covertour.search import kernel


def test_compiled_files_older_than_any_source_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "__pycache__"
    cache.mkdir()
    dates = {
        tmp_path / "state.py": 1000,
        tmp_path / "lns.py": 2000,
        cache / "lns.old.nbi": 1500,
        cache / "lns.old.1.nbc": 1999,
        cache / "lns.new.nbi": 2001,
        cache / "lns.new.1.nbc": 2000,
        cache / "lns.cpython-311.pyc": 500,
        cache / "points.ready": 1500,
        cache / "table.ready": 2500,
    }
    for file, date in dates.items():
        file.write_bytes(b"")
        os.utime(file, (date, date))
    monkeypatch.setattr(kernel, "HERE", tmp_path)
    monkeypatch.setattr(kernel, "CACHE", cache)
    kernel._drop_stale()
    assert sorted(file.name for file in cache.iterdir()) == [
        "lns.cpython-311.pyc",
        "lns.new.1.nbc",
        "lns.new.nbi",
        "table.ready",
    ]
    assert kernel.is_ready("table")
    assert not kernel.is_ready("points")


def test_an_installation_without_compiled_kernels_is_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lns.py").write_text("")
    monkeypatch.setattr(kernel, "HERE", tmp_path)
    monkeypatch.setattr(kernel, "CACHE", tmp_path / "__pycache__")
    kernel._drop_stale()
    assert not kernel.is_ready("table")
