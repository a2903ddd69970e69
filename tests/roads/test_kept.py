"""Arrays on disk: kept beside the extract, made again where they cannot be used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from covertour.roads import kept as keeping
from covertour.roads.kept import kept, name_of


def test_arrays_are_made_once(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> dict[str, np.ndarray]:
        made.append(1)
        return {"matrix": np.eye(2)}

    beside = tmp_path / "roads.osm.pbf"
    first, second = kept(beside, "a", make), kept(beside, "a", make)
    assert made == [1]
    assert first["matrix"].tolist() == second["matrix"].tolist()
    assert (tmp_path / "roads.osm.pbf.covertour" / "a.npz").exists()


def test_a_damaged_file_is_made_again(tmp_path: Path) -> None:
    beside = tmp_path / "roads.osm.pbf"
    kept(beside, "a", lambda: {"x": np.arange(1000)})
    file = tmp_path / "roads.osm.pbf.covertour" / "a.npz"
    for content in (b"", b"nonsense", file.read_bytes()[:500]):
        file.write_bytes(content)
        assert kept(beside, "a", lambda: {"x": np.arange(3)})["x"].tolist() == [0, 1, 2]


def test_where_the_folder_cannot_be_written_the_cache_directory_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COVERTOUR_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "roads.osm.pbf.covertour").write_text("a file where the folder should be")
    kept(tmp_path / "roads.osm.pbf", "a", lambda: {"x": np.arange(3)})
    assert (tmp_path / "cache" / "roads" / "a.npz").exists()
    monkeypatch.setenv("COVERTOUR_CACHE_DIR", str(tmp_path / "roads.osm.pbf.covertour"))
    assert kept(tmp_path / "roads.osm.pbf", "b", lambda: {"x": np.arange(3)})["x"].sum() == 3


def test_only_the_latest_files_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "MOST_FILES", 3)
    for name in "abcde":
        kept(tmp_path / "roads", name, lambda: {"x": np.arange(3)})
    assert len(list((tmp_path / "roads.covertour").iterdir())) == 3


def test_names_tell_parts_apart() -> None:
    names = {
        name_of("ab", "c"),
        name_of("a", "bc"),
        name_of("a", np.zeros((2, 3))),
        name_of("a", np.zeros((3, 2))),
    }
    assert len(names) == 4
