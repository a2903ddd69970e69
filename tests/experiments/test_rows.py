"""Rows survive interruptions and are never mixed up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from covertour import InputError
from experiments.shared.rows import BATCH, Row, RowFile, Run

RUN = Run("nearest 7", 20, 3, "lns", "seconds 0.1")
ROW = Row(RUN, 1.23456789012, 1.2, 5, 0.101)


def test_rows_are_there_again_after_reopening(tmp_path: Path) -> None:
    rows = RowFile(tmp_path / "rows.csv")
    other = replace(ROW, run=replace(RUN, seed=4), bound=None)
    rows.add([ROW])
    rows.add([other])
    again = RowFile(tmp_path / "rows.csv")
    assert len(again) == 2
    assert again[RUN] == ROW
    assert again[other.run] == other
    assert again.of_instance("nearest 7", 20, 3) == [ROW]
    assert again.of_instance("nearest 7", 21, 3) == []


def test_each_row_is_on_disk_at_once_and_made_once(tmp_path: Path) -> None:
    rows = RowFile(tmp_path / "rows.csv")
    rows.add([ROW])
    rows.add([replace(ROW, length=9.0)])
    lines = (tmp_path / "rows.csv").read_text().splitlines()
    assert lines[0].startswith("rule,n,seed,method,settings,timing,version,length")
    assert len(lines) == 2
    assert rows[RUN].length == ROW.length


@pytest.mark.parametrize("left", [1, 10, 40])
def test_half_a_line_is_dropped_and_written_again(tmp_path: Path, left: int) -> None:
    path = tmp_path / "rows.csv"
    rows = RowFile(path)
    rows.add([ROW])
    whole = path.read_bytes()
    last = replace(ROW, run=replace(RUN, seed=4))
    rows.add([last])
    path.write_bytes(path.read_bytes()[: len(whole) + left])
    again = RowFile(path)
    assert len(again) == 1
    again.add([last])
    assert len(RowFile(path)) == 2


def test_runs_with_other_settings_are_others(tmp_path: Path) -> None:
    rows = RowFile(tmp_path / "rows.csv")
    rows.add([ROW])
    for change in (
        {"settings": "seconds 1"},
        {"version": "0.0.1"},
        {"timing": BATCH},
        {"method": "ls1"},
    ):
        assert replace(RUN, **change) not in rows


def test_what_is_no_file_of_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"rows.csv, line 1: expected rule,n,seed"):
        RowFile(path)
    path.unlink()
    RowFile(path).add([ROW])
    path.write_text(path.read_text() + "nearest 7,many\n")
    with pytest.raises(InputError, match=r"rows.csv, line 3: expected values for rule"):
        RowFile(path)
    with pytest.raises(InputError, match="directory"):
        RowFile(tmp_path)
