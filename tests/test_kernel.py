"""Compiled kernels that are older than any of their sources are dropped, and no others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from covertour import kernel


def test_compiled_files_older_than_any_source_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = tmp_path / "search"
    cache = search / "__pycache__"
    cache.mkdir(parents=True)
    dates = {
        search / "state.py": 1000,
        search / "lns.py": 2000,
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
    monkeypatch.setattr(kernel, "HOME", tmp_path)
    kernel._drop_stale(search)
    assert sorted(file.name for file in cache.iterdir()) == [
        "lns.cpython-311.pyc",
        "lns.new.1.nbc",
        "lns.new.nbi",
        "table.ready",
    ]
    assert kernel.is_ready("search/table")
    assert not kernel.is_ready("search/points")


def test_an_installation_without_compiled_kernels_is_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "lns.py").write_text("")
    monkeypatch.setattr(kernel, "HOME", tmp_path)
    kernel._drop_stale(tmp_path / "search")
    assert not kernel.is_ready("search/table")
