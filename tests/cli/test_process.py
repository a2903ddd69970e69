"""The program as the shell sees it: exit codes, pipes, terminals, signals, start-up."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from covertour import Instance, cli, read, read_tour, verify, write
from covertour.problem.errors import InputError, SolveError
from covertour.problem.itinerary import itinerary
from covertour.problem.words import measure

PROGRAM = (sys.executable, "-m", "covertour")
VERBS = ("solve", "check", "plot", "convert", "info", "generate", "methods", "demo", "warmup")


def covertour_process(
    *arguments: str, directory: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *arguments],
        cwd=directory,
        env={**os.environ, "PYTHONWARNINGS": "error", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_solve_in_a_pipe_is_plain(villages: str, tmp_path: Path) -> None:
    ran = covertour_process(
        "solve", villages, "--radius", "1", "--iterations", "20", directory=tmp_path
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.fullmatch(r"[ -~\n]*", ran.stdout), "control characters or decoration"
    assert not re.search(r" \n", ran.stdout), "blanks at the ends of lines"


def test_json_can_be_piped(villages: str, tmp_path: Path) -> None:
    ran = covertour_process(
        "solve", villages, "--nearest", "1", "--iterations", "20", "--json", directory=tmp_path
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["method"] == "lns"


def test_without_a_place_for_a_cache_it_compiles_and_says_so(county: str, tmp_path: Path) -> None:
    ran = covertour_process(
        *("solve", county, "--iterations", "20", "--json"),
        directory=tmp_path,
        COVERTOUR_CACHE_DIR="/dev/null/nothing",
    )
    assert ran.returncode == 0
    assert json.loads(ran.stdout)["method"] == "lns"
    compiling, uncached = ran.stderr.splitlines()
    assert compiling.startswith("compiling lns")
    assert uncached.startswith("covertour: /dev/null/nothing/")


def test_bad_input_exits_2_with_one_line(tmp_path: Path) -> None:
    ran = covertour_process("info", "nowhere.csv", directory=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(r"covertour: nowhere\.csv: [^\n]+\n", ran.stderr)


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "generate", "20000"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait()


def test_names_the_output_cannot_encode(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("name,x,y\nThiès,0,0\n", encoding="utf-8")
    ran = covertour_process(
        "solve", "v.csv", "--nearest", "0", directory=tmp_path, PYTHONIOENCODING="ascii"
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Thi?s" in ran.stdout


def test_a_warning_is_one_line(tmp_path: Path) -> None:
    nowhere = "\U000e0101"  # a character that no font draws
    (tmp_path / "a.csv").write_text(f"name,x,y\nA{nowhere},0,0\nB,1,1\n", encoding="utf-8")
    ran = covertour_process(
        *("plot", "a.csv", "-r", "1", "-o", "a.svg"), directory=tmp_path, PYTHONWARNINGS="default"
    )
    assert (ran.returncode, ran.stdout) == (0, "wrote a.svg\n")
    assert re.fullmatch("covertour: no font here draws .*[?] instead\n", ran.stderr)


def heed_ctrl_c() -> None:
    """Undo what a background job inherits: there Ctrl-C is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def on_terminal(
    *arguments: str,
    directory: Path,
    interrupt_at: bytes | None = None,
    interrupt: signal.Signals = signal.SIGINT,
    columns: int = 120,
) -> tuple[int, str]:
    """Run on a pseudo-terminal, with Ctrl-C once the text appears: exit code and what was shown."""
    pty = pytest.importorskip("pty")
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=directory,
        env={**os.environ, "TERM": "xterm", "COLUMNS": str(columns)},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
    )
    os.close(terminal)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux reports the end of a terminal
        while chunk := os.read(controller, 65536):
            shown += chunk
            if interrupt_at is not None and interrupt_at in shown:
                process.send_signal(interrupt)
                interrupt_at = None
    os.close(controller)
    return process.wait(), shown.decode()


def test_on_a_terminal_a_live_line_shows_progress(county: str, tmp_path: Path) -> None:
    code, shown = on_terminal("solve", county, "--seconds", "0.4", directory=tmp_path)
    assert code == 0
    assert "iterations/s" in shown
    assert "of 0.4 s" in shown
    assert "back to" in shown


@pytest.mark.parametrize("columns", [20, 40, 60])
def test_a_narrow_terminal_never_cuts_a_number(tmp_path: Path, columns: int) -> None:
    places = [[1000 * place, 7 * place**2] for place in range(30)]
    instance = Instance.from_coordinates(
        places, radius=100, labels=[f"a long name of village {place}" for place in range(30)]
    )
    write(tmp_path / "a.json", instance)
    options = ("--seconds", "0.3", "--output", "t.csv")
    code, shown = on_terminal("solve", "a.json", *options, directory=tmp_path, columns=columns)
    assert code == 0
    tour = read_tour(tmp_path / "t.csv", instance)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown)
    for leg in itinerary(instance, tour).running[1:-1]:
        assert measure(instance, leg, tour.length) in plain
    assert not re.search(r"\d…", plain.replace("back to", ""))


@pytest.mark.parametrize("interrupt", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("more", [(), ("--workers", "2"), ("--json",)])
def test_an_interrupted_solve_keeps_the_best_tour_and_says_so(
    county: str, tmp_path: Path, interrupt: signal.Signals, more: tuple[str, ...]
) -> None:
    code, shown = on_terminal(
        *("solve", county, "--seconds", "600", "--output", "out.json", *more),
        directory=tmp_path,
        interrupt_at=b"iterations/s",
        interrupt=interrupt,
    )
    assert code == 130
    assert '"stopped": "interrupt"' in shown or "interrupted; this is the best tour" in shown
    assert shown.rstrip().endswith("covertour: interrupted")
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["stopped"] == "interrupt"
    assert verify(read(tmp_path / county), written["tour"]).ok


def test_ctrl_c_while_a_method_loads_ends_in_a_line(
    covertour: Any, county: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for method in ("lns", "exact", "twophase"):
        with monkeypatch.context() as patched:
            patched.setattr("covertour.search.blocks.load_tree", interrupt)
            patched.setattr("covertour.search.worker.make_state", interrupt)
            patched.setattr("covertour.search.twophase.make_state", interrupt)
            ran = covertour("solve", county, "--method", method)
        assert (ran.code, ran.out, ran.err.strip()) == (130, "", "covertour: interrupted"), method


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_ctrl_c_elsewhere_ends_in_a_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never.csv")
    process = subprocess.Popen(
        [*PROGRAM, "info", "never.csv"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_ctrl_c,
    )
    with (tmp_path / "never.csv").open("w"):  # opens as soon as the program reads
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert (process.returncode, out, err.strip()) == (130, b"", b"covertour: interrupted")


@pytest.mark.parametrize("verb", [[], ["solve"], ["bench"], ["bench", "random"]])
def test_flags_are_shown_without_a_type(covertour: Any, verb: list[str]) -> None:
    shown = covertour(*verb, "--help").out
    assert re.search(r"--help +-h", shown)
    assert "<bool>" not in shown


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("covertour solve --method am-g", ["am-gain", "am-gain+ls"]),
        ("covertour solve --metric e", ["euclidean", "euc_2d"]),
        ("covertour generate 5 --layout c", ["clustered"]),
    ],
)
def test_the_shell_completes_methods_and_metrics(
    tmp_path: Path, words: str, completed: list[str]
) -> None:
    ran = covertour_process(
        directory=tmp_path,
        _COVERTOUR_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )
    assert ran.stdout.split() == completed


def test_help_needs_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys; from covertour import cli; cli.run(['--help']); cli.run(['--version']);"
        "heavy = {'scipy', 'numba', 'matplotlib', 'torch', 'highspy', 'safetensors'};"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_info_needs_no_compiler(villages: str, tmp_path: Path) -> None:
    code = (
        "import sys; from covertour import cli; cli.run(['info', 'villages.csv', '-k', '1']);"
        "sys.exit('numba' in sys.modules or 'matplotlib' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], check=False, cwd=tmp_path)
    assert ran.returncode == 0


def test_version(covertour: Any) -> None:
    ran = covertour("--version")
    assert (ran.code, ran.out) == (0, f"covertour {cli.__version__}\n")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]], ids=["nothing", "long", "short"])
def test_help_names_every_verb(covertour: Any, arguments: list[str]) -> None:
    ran = covertour(*arguments)
    assert ran.code == 0
    for verb in VERBS:
        assert verb in ran.out


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("a.csv: empty"), 2, "a.csv: empty"),
        (SolveError("ran out of time"), 1, "ran out of time"),
        (KeyError("oops"), 1, "unexpected KeyError: 'oops' (this is a bug; COVERTOUR_DEBUG=1"),
        (MemoryError(), 1, "not enough memory"),
        (OSError(28, "No space left on device", "map.html"), 2, "map.html: No space left"),
    ],
    ids=["bad-input", "solve-error", "bug", "memory", "disk-full"],
)
def test_how_errors_are_told(error: Exception, code: int, message: str) -> None:
    told, its_code = cli.explain(error)
    assert told.startswith(message)
    assert its_code == code


def test_debug_shows_the_traceback(covertour: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERTOUR_DEBUG", "1")
    with pytest.raises(InputError, match=r"nowhere\.csv"):
        covertour("info", "nowhere.csv")
