from __future__ import annotations

import os
from pathlib import Path

import pytest

from covertour import InputError, Instance, write
from covertour.formats import check_output

PLACES = Instance.from_coordinates([[0, 0], [1, 1]], radius=1)


def test_a_file_is_replaced_at_once_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    write(path, PLACES)
    assert path.read_text().startswith('{"name"')
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(InputError, match="cannot be written as UTF-8"):
        write(path, PLACES.with_changes(labels=["fine", "\ud800"]))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write(tmp_path / "link.json", PLACES)
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() != "old"


def test_new_files_have_the_usual_permissions(tmp_path: Path) -> None:
    write(tmp_path / "a.json", PLACES)
    (tmp_path / "b").touch()
    assert (tmp_path / "a.json").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_directory_that_is_missing_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for where in ("nowhere", "file"):
        path = tmp_path / where / "a.json"
        with pytest.raises(InputError, match=f"the directory .*{where} does not exist"):
            write(path, PLACES)
        with pytest.raises(InputError, match=f"the directory .*{where} does not exist"):
            check_output(path)


def test_a_directory_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    with pytest.raises(InputError, match="is a directory, expected a file name"):
        write(tmp_path / "a.json", PLACES)


def test_a_directory_that_is_not_writable(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if os.access(closed, os.W_OK):  # the superuser may write anywhere, but not there
        closed = Path("/proc")
    for attempt in (lambda path: write(path, PLACES), check_output):
        with pytest.raises(InputError, match=f"the directory {closed} is not writable"):
            attempt(closed / "a.json")


def test_a_check_leaves_nothing_behind(tmp_path: Path) -> None:
    check_output(tmp_path / "a.json")
    assert list(tmp_path.iterdir()) == []
