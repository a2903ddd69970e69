"""python -m experiments: its tables, its files, going on, and what it refuses."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from covertour import random_instance, solve
from covertour.solving.stop import MaxIterations
from covertour.storage import hold
from experiments import command
from experiments.shared.machine import NAME as MACHINE

ROOT = Path(command.__file__).parents[1]


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


Command = Callable[..., Ran]


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """The search is compiled before the first test, so that none waits for it."""
    solve(random_instance(5, nearest=1), stop=MaxIterations(1))


@pytest.fixture
def experiments(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Runs ``python -m experiments`` with the arguments, without any weights, output in out."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Ran:
        given = [str(argument) for argument in arguments]
        if "--output" not in given:
            given += ["--output", "out"]
        code = command.run(given, homes=())
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return run


SMALL = ("small", "--quick", "--count", 1, "--methods", "ls1-paper,am,lns")


def test_a_table_is_printed_and_written(experiments: Command, tmp_path: Path) -> None:
    ran = experiments(*SMALL)
    assert (ran.code, ran.err) == (0, "")
    assert "paper: time" in ran.out
    assert "am is left out: there are no weights of it" in ran.out
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == [MACHINE, "rows.csv", "small.csv", "small.md"]
    text = (tmp_path / "out" / "small.md").read_text()
    assert "## Machine" in text
    assert "| nearest 7 | 100 | ls1-paper |" in text


def test_a_rerun_makes_no_new_rows(experiments: Command, tmp_path: Path) -> None:
    experiments(*SMALL)
    before = (tmp_path / "out" / "rows.csv").read_text()
    table = (tmp_path / "out" / "small.csv").read_text()
    ran = experiments(*SMALL)
    assert ran.code == 0
    assert (tmp_path / "out" / "rows.csv").read_text() == before
    assert (tmp_path / "out" / "small.csv").read_text() == table
    experiments(*SMALL, "--seed", 7)
    assert len((tmp_path / "out" / "rows.csv").read_text().splitlines()) > len(before.splitlines())


def test_several_experiments_print_what_came_out(experiments: Command, tmp_path: Path) -> None:
    ran = experiments(*SMALL[:1], "same-cost", "training-curves", *SMALL[1:])
    assert (ran.code, ran.err) == (0, "")
    assert "same-cost is left out" in ran.out
    assert "training-curves is left out" in ran.out
    assert "Ours: the mean of lns" in ran.out
    assert "wrote out/small.md" in ran.out
    summary = (tmp_path / "out" / "summary.md").read_text()
    assert "](small.md)" in summary
    assert "## same-cost\n\nsame-cost is left out" in summary
    assert "- Ours: the mean of lns" in summary


def test_large_cells_are_left_for_another_time(experiments: Command, tmp_path: Path) -> None:
    ran = experiments(*SMALL[:1], "large", *SMALL[1:], "--largest", 50)
    assert (ran.code, ran.err) == (0, "")
    assert "large is left out: it has no cell of at most 50 places." in ran.out
    table = (tmp_path / "out" / "small.csv").read_text().splitlines()
    assert {line.split(",")[1] for line in table[1:]} == {"20", "50"}
    assert experiments(*SMALL).code == 0
    table = (tmp_path / "out" / "small.csv").read_text().splitlines()
    assert {line.split(",")[1] for line in table[1:]} == {"20", "50", "100"}


def test_tables_of_the_rows_that_are_there_measure_nothing(
    experiments: Command, tmp_path: Path
) -> None:
    experiments(*SMALL, "--largest", 50)
    before = (tmp_path / "out" / "rows.csv").read_text()
    ran = experiments(*SMALL[:1], "same-cost", "gap-time", *SMALL[1:], "--from-rows")
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "out" / "rows.csv").read_text() == before
    small = (tmp_path / "out" / "small.md").read_text()
    assert "| nearest 7 | 50 | ls1-paper |" in small
    assert "| nearest 7 | 100 | ls1-paper |" not in small
    assert "| nearest 7 | 100 | 0 |" in small
    assert (tmp_path / "out" / "summary.md").exists()


def test_solutions_come_with_a_picture(experiments: Command, tmp_path: Path) -> None:
    ran = experiments("solutions", "--quick")
    assert (ran.code, ran.err) == (0, "")
    assert (tmp_path / "out" / "solutions.png").read_bytes().startswith(b"\x89PNG")


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
        [sys.executable, "-m", "experiments", *options, "-o", str(tmp_path / "out")],
        cwd=ROOT,
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
        (("small", "--count", "0"), ("--count", ">= 1")),
        (("small", "--methods", "magic"), ("methods", "'magic'", "ls1-paper")),
        (("small", "--methods", ","), ("--methods", "names")),
        (("small", "--exact-seconds", "-1"), ("--exact-seconds",)),
        (("small", "--output", "taken"), ("taken", "directory")),
    ],
)
def test_bad_input_is_refused(
    experiments: Command, tmp_path: Path, arguments: tuple[object, ...], words: tuple[str, ...]
) -> None:
    (tmp_path / "taken").write_text("")
    ran = experiments(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(r"experiments: [^\n]+\n", ran.err)
    for word in words:
        assert word in ran.err
    assert not (tmp_path / "out").exists()


def test_a_name_is_needed(experiments: Command) -> None:
    ran = experiments()
    assert (ran.code, ran.out) == (2, "")
    assert "NAME" in ran.err


def test_the_help_tells_of_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.run(["--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    for name in (*command.EXPERIMENTS, "all", "--from-rows"):
        assert name in told


def test_a_second_run_in_a_directory_is_refused(experiments: Command, tmp_path: Path) -> None:
    experiments(*SMALL, "--largest", 20)
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    with hold(tmp_path / "out", "a run of the experiments"):
        ran = experiments(*SMALL)
    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(
        r"experiments: out: a run of the experiments, process \d+, is at work here; [^\n]+\n",
        ran.err,
    )
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_the_machine_that_measured_is_told_later_too(experiments: Command, tmp_path: Path) -> None:
    experiments(*SMALL, "--largest", 20)
    path = tmp_path / "out" / MACHINE
    path.write_text(re.sub("processor,.*", "processor,abacus", path.read_text()))
    experiments(*SMALL, "--largest", 20, "--from-rows")
    assert "- processor: abacus" in (tmp_path / "out" / "small.md").read_text()
    experiments(*SMALL, "--largest", 50)
    assert "abacus" not in (tmp_path / "out" / "small.md").read_text()
