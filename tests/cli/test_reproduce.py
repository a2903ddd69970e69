"""covertour reproduce: its tables, its files, going on, and what it refuses."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from covertour.neural.inference import shipped

Command = Callable[..., Any]

PROGRAM = [sys.executable, "-c", "from covertour.cli import main; main()"]


@pytest.fixture(autouse=True)
def _nothing_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "WEIGHTS", tmp_path / "weights")


SMALL = ("reproduce", "small", "--quick", "--count", 1, "--methods", "ls1-paper,am,lns")


def test_a_table_is_printed_and_written(covertour: Command, tmp_path: Path) -> None:
    ran = covertour(*SMALL)
    assert (ran.code, ran.err) == (0, "")
    assert "paper: time" in ran.out
    assert "am is left out: this covertour ships no weights of it" in ran.out
    written = sorted(path.name for path in (tmp_path / "reproduce").iterdir())
    assert written == ["rows.csv", "small.csv", "small.md"]
    text = (tmp_path / "reproduce" / "small.md").read_text()
    assert "## Machine" in text
    assert "| nearest 7 | 100 | ls1-paper |" in text


def test_a_rerun_makes_no_new_rows(covertour: Command, tmp_path: Path) -> None:
    covertour(*SMALL, "--output", "out")
    before = (tmp_path / "out" / "rows.csv").read_text()
    table = (tmp_path / "out" / "small.csv").read_text()
    ran = covertour(*SMALL, "--output", "out")
    assert ran.code == 0
    assert (tmp_path / "out" / "rows.csv").read_text() == before
    assert (tmp_path / "out" / "small.csv").read_text() == table
    covertour(*SMALL, "--output", "out", "--seed", 7)
    assert len((tmp_path / "out" / "rows.csv").read_text().splitlines()) > len(before.splitlines())


def test_several_experiments_print_what_came_out(covertour: Command, tmp_path: Path) -> None:
    ran = covertour(*SMALL[:2], "same-cost", "training-curves", *SMALL[2:])
    assert (ran.code, ran.err) == (0, "")
    assert "same-cost is left out" in ran.out
    assert "training-curves is left out" in ran.out
    assert "Ours: the mean of lns" in ran.out
    assert "wrote reproduce/small.md" in ran.out
    summary = (tmp_path / "reproduce" / "reproduce.md").read_text()
    assert "](small.md)" in summary
    assert "## same-cost\n\nsame-cost is left out" in summary
    assert "- Ours: the mean of lns" in summary


def test_large_cells_are_left_for_another_time(covertour: Command, tmp_path: Path) -> None:
    ran = covertour(*SMALL[:2], "large", *SMALL[2:], "--largest", 50)
    assert (ran.code, ran.err) == (0, "")
    assert "large is left out: it has no cell of at most 50 places." in ran.out
    table = (tmp_path / "reproduce" / "small.csv").read_text().splitlines()
    assert {line.split(",")[1] for line in table[1:]} == {"20", "50"}
    assert covertour(*SMALL).code == 0
    table = (tmp_path / "reproduce" / "small.csv").read_text().splitlines()
    assert {line.split(",")[1] for line in table[1:]} == {"20", "50", "100"}


def test_tables_of_the_rows_that_are_there_measure_nothing(
    covertour: Command, tmp_path: Path
) -> None:
    covertour(*SMALL, "--largest", 50)
    before = (tmp_path / "reproduce" / "rows.csv").read_text()
    ran = covertour(*SMALL[:2], "same-cost", "gap-time", *SMALL[2:], "--from-rows")
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "reproduce" / "rows.csv").read_text() == before
    small = (tmp_path / "reproduce" / "small.md").read_text()
    assert "| nearest 7 | 50 | ls1-paper |" in small
    assert "| nearest 7 | 100 | ls1-paper |" not in small
    assert "| nearest 7 | 100 | 0 |" in small
    assert (tmp_path / "reproduce" / "reproduce.md").exists()


def test_solutions_come_with_a_picture(covertour: Command, tmp_path: Path) -> None:
    ran = covertour("reproduce", "solutions", "--quick")
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "reproduce" / "solutions.png").read_bytes().startswith(b"\x89PNG")


def heed_ctrl_c() -> None:
    """Undo what a background job inherits: there Ctrl-C is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("options", "moment"),
    [
        (("small", "-m", "lns", "--count", "1000"), b"seed 3: lns"),
        (("large", "-m", "exact", "--count", "2", "--cores", "2"), b"starting 2 processes"),
    ],
)
def test_ctrl_c_leaves_the_rows(tmp_path: Path, options: tuple[str, ...], moment: bytes) -> None:
    pty = pytest.importorskip("pty")
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "reproduce", *options, "-o", "out"],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
    )
    os.close(terminal)
    shown, pressed = b"", False
    with contextlib.suppress(OSError):  # how Linux reports the end of a terminal
        while chunk := os.read(controller, 65536):
            shown += chunk
            if not pressed and moment in shown:
                os.killpg(process.pid, signal.SIGINT)  # as a terminal does
                pressed = True
    os.close(controller)
    assert process.wait() == 130
    assert b"stopped" in shown
    assert b"goes on from there" in shown
    assert b"Traceback" not in shown
    rows = tmp_path / "out" / "rows.csv"
    assert not rows.exists() or rows.read_text().endswith("\n")
    assert rows.exists() == ("small" in options)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("everything",), ("'everything'", "same-cost")),
        ((), ("NAME",)),
        (("small", "--count", "0"), ("--count", ">= 1")),
        (("small", "--methods", "magic"), ("methods", "'magic'", "ls1-paper")),
        (("small", "--methods", ","), ("--methods", "names")),
        (("small", "--exact-seconds", "-1"), ("--exact-seconds",)),
        (("small", "--output", "taken"), ("taken", "directory")),
    ],
)
def test_bad_input_is_refused(
    covertour: Command, tmp_path: Path, arguments: tuple[object, ...], words: tuple[str, ...]
) -> None:
    (tmp_path / "taken").write_text("")
    covertour("reproduce", *arguments).assert_refused(*words)
    assert not (tmp_path / "reproduce").exists()
