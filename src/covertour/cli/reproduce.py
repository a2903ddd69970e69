"""The verb reproduce: the tables and figures of the Attention-dynamic paper, measured here."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from covertour.cli import show
from covertour.cli.measuring import command_line, progress, several, show_document, write
from covertour.cli.options import SeedOption, at_least, whole

if TYPE_CHECKING:
    from covertour.bench.reproduce import Report, Settings, Study

ROWS = "rows.csv"
QUICK_COUNT = 5


def reproduce(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...",
            help="small, large, same-cost, nc, coverage, training-time, training-curves, "
            "solutions, gap-time, or all.",
            show_default=False,
        ),
    ],
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Few instances and short limits: minutes for everything."),
    ] = False,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="DIR", help="Where rows, tables and pictures go."),
    ] = "reproduce",
    count: Annotated[
        int | None,
        typer.Option(
            parser=whole(1),
            metavar="C",
            help="Instances a cell.",
            show_default="100, or 5 with --quick",
        ),
    ] = None,
    seed: SeedOption = 0,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods", "-m", metavar="M,...", help="Only these methods.", show_default=False
        ),
    ] = None,
    exact_seconds: Annotated[
        float | None,
        typer.Option(
            parser=at_least(0.001),
            metavar="S",
            help="The limit of exact an instance.",
            show_default="60 up to 200 places, 30 above; 5 with --quick",
        ),
    ] = None,
    largest: Annotated[
        int | None,
        typer.Option(
            parser=whole(1),
            metavar="N",
            help="Only cells of at most N places; the others another time.",
            show_default=False,
        ),
    ] = None,
    from_rows: Annotated[
        bool,
        typer.Option(
            "--from-rows",
            help="Measure nothing: make the tables of the rows that are there.",
            show_default=False,
        ),
    ] = False,
    cores: Annotated[
        int | None,
        typer.Option(
            parser=whole(1),
            metavar="N",
            help="Prove on so many cores at once; everything else is timed alone.",
            show_default="all",
        ),
    ] = None,
) -> None:
    """Measure the tables and figures of the Attention-dynamic paper, with true gaps.

    covertour reproduce all --quick

    Every solved instance is a row of DIR/rows.csv; the same command goes on where it was stopped.
    """
    from covertour.bench.reproduce import chosen, plan, run
    from covertour.bench.reproduce.summary import write_summary
    from covertour.bench.tables import output_directory

    wanted = chosen(names)
    settings = _settings(quick, count, seed, methods, exact_seconds, largest, from_rows, cores)
    directory = output_directory(output)
    study = _study(settings, directory)
    reports: dict[str, Report] = {}
    paths: list[Path] = []
    try:
        with progress() as on_step:
            study.meter.on_step = on_step
            study.meter.whole = plan(study, wanted)
            study.meter.next("starting")
            for name in wanted:
                report = reports[name] = run(name, study)
                if report.document is not None:
                    paths += write(directory, name, report.document, report.draw)
            study.meter.done = study.meter.whole
            study.meter.next("")
    except KeyboardInterrupt:
        kept = f"{len(study.rows):,} rows are in {study.rows.path}"
        show.note(f"stopped; {kept}, and the same command goes on from there")
        raise
    if len(reports) > 1:
        pages = {name: report.document or report.left_out for name, report in reports.items()}
        paths.append(write_summary(directory, pages, command_line()))
    _show(reports)
    show.say("")
    for path in paths:
        show.say(f"wrote {path}")


def _settings(
    quick: bool,
    count: int | None,
    seed: int,
    methods: str | None,
    exact_seconds: float | None,
    largest: int | None,
    from_rows: bool,
    cores: int | None,
) -> Settings:
    from covertour.bench.reproduce import Settings, quickened

    settings = Settings(
        count=count or (QUICK_COUNT if quick else 100),
        seed=seed,
        methods=() if methods is None else tuple(several("--methods", methods, str)),
        exact_seconds=exact_seconds,
        largest=largest,
        from_rows=from_rows,
        cores=cores or _cores(),
    )
    return quickened(settings) if quick else settings


def _cores() -> int:
    """The cores that this process may use."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _study(settings: Settings, directory: Path) -> Study:
    """The study, with the weights that ship."""
    from covertour.bench.reproduce import RowFile, Study
    from covertour.neural.inference import shipped

    return Study(
        settings,
        RowFile(directory / ROWS),
        shipped.weights_for,
        tuple(shipped.WEIGHTS / name for name in shipped.shipped()),
    )


def _show(reports: dict[str, Report]) -> None:
    """Print the tables of one experiment, or the verdicts of several."""
    from covertour.bench.reproduce.claims import headlines

    for report in reports.values():
        if report.document is None:
            show.say(report.left_out)
        elif len(reports) == 1:
            show_document(report.document)
        else:
            show.say(report.document.title)
            for sentence in headlines(report.document):
                show.say(f"  {sentence}")
