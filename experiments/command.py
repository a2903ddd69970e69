"""``python -m experiments``: its options, what it prints, and where tables and pictures go."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from covertour import InputError, SolveError
from covertour.bench import output_directory, write_document
from covertour.storage import hold
from experiments.contents import EXPERIMENTS, chosen, make, plan
from experiments.shared.claims import headlines
from experiments.shared.experiment import Report
from experiments.shared.machine import measured_on
from experiments.shared.protocol import Settings, quickened
from experiments.shared.rows import RowFile
from experiments.shared.study import Meter, Study
from experiments.shared.weights import HOMES
from experiments.summary import write_summary

HOME = Path(__file__).parent
RESULTS, QUICK_RESULTS = "results", "quick"
"""Where results go if nothing else is said: into the repository, or beside it, not kept."""

ROWS = "rows.csv"
COUNT, QUICK_COUNT = 100, 5


def run(arguments: Sequence[str], homes: tuple[Path, ...] = HOMES) -> int:
    """Run the command and return its exit code; what a user can put right is told in one line.

    ``homes``: the directories that hold directories of weights.
    """
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    try:
        options = _parser().parse_args(arguments)
        _make_all(options, homes, f"python -m experiments {shlex.join(arguments)}")
    except KeyboardInterrupt:
        return 130
    except (InputError, SolveError) as error:
        print("experiments:", " ".join(str(error).split()), file=sys.stderr)
        return 2 if isinstance(error, InputError) else 1
    return 0


class _Parser(argparse.ArgumentParser):
    """Tells of a mistake in one line."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message} (see python -m experiments --help)")


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, EXPERIMENTS))
    contents = "\n".join(f"  {name:{width}}  {one.summary}" for name, one in EXPERIMENTS.items())
    parser = _Parser(
        prog="python -m experiments",
        description="Measure the tables and figures of the Attention-dynamic paper, with true "
        "gaps. Every solved instance\nis a row of DIR/rows.csv; the same command goes on where it "
        "was stopped.",
        epilog=f"experiments:\n{contents}\n  {'all':{width}}  every one of them",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add: Callable[..., Any] = parser.add_argument
    add("names", metavar="NAME", nargs="+", help="which experiments, or all")
    add(
        "--quick",
        action="store_true",
        help=f"{QUICK_COUNT} instances per cell and short limits: minutes for everything",
    )
    add(
        "-o",
        "--output",
        metavar="DIR",
        type=Path,
        help="where rows, tables and pictures go; by default experiments/results, with --quick "
        "experiments/quick",
    )
    add(
        "--count",
        metavar="C",
        type=_whole(1),
        help=f"instances per cell, by default {COUNT}, with --quick {QUICK_COUNT}",
    )
    add("--seed", metavar="N", type=_whole(0), default=0, help="seed of the first instance (0)")
    add("-m", "--methods", metavar="M,...", type=_names, default=(), help="only these methods")
    add(
        "--exact-seconds",
        metavar="S",
        type=_seconds,
        help="limit of exact per instance, by default 60 up to 200 places and 30 above, with "
        "--quick 5",
    )
    add(
        "--largest",
        metavar="N",
        type=_whole(1),
        help="only cells of at most N places; the others another time",
    )
    add(
        "--from-rows",
        action="store_true",
        help="measure nothing: make the tables of the rows that are there",
    )
    add(
        "--cores",
        metavar="N",
        type=_whole(1),
        default=_cores(),
        help="prove on so many cores at once, by default on all; the rest is timed alone",
    )
    return parser


def _whole(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"expected a whole number >= {least}, got {text!r}")
        return value

    return parse


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number > 0, got {text!r}")
    return value


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"expected names like a,b,c, got {text!r}")
    return names


def _cores() -> int:
    """The cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _settings(options: argparse.Namespace) -> Settings:
    settings = Settings(
        count=options.count or (QUICK_COUNT if options.quick else COUNT),
        seed=options.seed,
        methods=options.methods,
        exact_seconds=options.exact_seconds,
        largest=options.largest,
        from_rows=options.from_rows,
        cores=options.cores,
    )
    return quickened(settings) if options.quick else settings


def _make_all(options: argparse.Namespace, homes: tuple[Path, ...], command: str) -> None:
    """Make the experiments asked for, write them, and tell what came out."""
    wanted = chosen(options.names)
    settings = _settings(options)
    usual = os.path.relpath(HOME / (QUICK_RESULTS if options.quick else RESULTS))
    directory = output_directory(options.output or usual)
    with hold(directory, "a run of the experiments"):
        study = Study(settings, RowFile(directory / ROWS), homes, Meter(_shown_progress()))
        reports, paths = _made(study, wanted, directory, command)
        if len(reports) > 1:
            pages = {name: report.document or report.left_out for name, report in reports.items()}
            paths.append(write_summary(directory, pages, command))
    _show(reports)
    print()
    for path in paths:
        print(f"wrote {path}")


def _made(
    study: Study, wanted: Sequence[str], directory: Path, command: str
) -> tuple[dict[str, Report], list[Path]]:
    """The reports by name, and the files that they were written to."""
    reports: dict[str, Report] = {}
    paths: list[Path] = []
    try:
        study.meter.whole = plan(study, wanted)
        study.meter.next("starting")
        for name in wanted:
            report = reports[name] = make(name, study)
            if report.document is not None:
                ax = None if report.draw is None else report.draw()
                facts = measured_on(study.rows)
                paths += write_document(directory, name, report.document, command, ax, facts)
        study.meter.done = study.meter.whole
        study.meter.next("")
    except KeyboardInterrupt:
        study.meter.next("")
        kept = f"{len(study.rows):,} rows are in {study.rows.path}"
        print(f"stopped; {kept}, and the same command goes on from there", file=sys.stderr)
        raise
    return reports, paths


def _shown_progress() -> Callable[[float, float, str], None] | None:
    """A function that shows on one line of a terminal what is run, and how long it goes on.

    Drawn between the runs only, never by a thread beside them, which would disturb what is timed.
    None in a pipe.
    """
    if not sys.stderr.isatty():
        return None
    began = drawn = time.perf_counter()

    def step(done: float, whole: float, what: str) -> None:
        nonlocal drawn
        now = time.perf_counter()
        if what and 0 < done < whole and now - drawn < 0.1:
            return
        drawn = now
        line = ""
        if what and whole > 0:
            left = (now - began) * (whole - done) / done if done > 0 else whole
            line = f"{done / whole:4.0%}, about {left / 60:.0f} min left: {what}"
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\033[K{line[:width]}", end="", file=sys.stderr, flush=True)

    return step


def _show(reports: dict[str, Report]) -> None:
    """Print the tables of one experiment, or what came out of several."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for report in reports.values():
        document = report.document
        if document is None:
            print(report.left_out)
        elif len(reports) == 1:
            tables = (table.text(width) for table in document.tables)
            print("\n\n".join([document.title, *tables, "\n".join(document.sentences)]))
        else:
            print(document.title)
            for sentence in headlines(document):
                print(f"  {sentence}")
