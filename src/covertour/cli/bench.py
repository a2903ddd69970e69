"""The verb bench: literature, random and scale, with tables, files and a picture."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from covertour.cli import show
from covertour.cli.options import SeedOption, at_least, whole
from covertour.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from covertour.bench import Document, Table
    from covertour.bench.runs import OnStep

app = typer.Typer(
    help="Measure methods: on the cases of the literature, on random instances, and at scale.",
    no_args_is_help=False,
)

MethodsOption = Annotated[
    str | None,
    typer.Option("--methods", "-m", metavar="M,...", help="The methods, lns by default."),
]
RuleOption = Annotated[
    str,
    typer.Option(
        metavar="RULE",
        help='For example "nearest 7", "nearest 2-15", "radius 0.2", "radius 0-0.25".',
    ),
]
WorkersOption = Annotated[
    int, typer.Option(parser=whole(1), metavar="W", help="Search on so many threads.")
]
OutputOption = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="DIR",
        help="Write the tables (.csv, .md) and pictures into this directory.",
        show_default=False,
    ),
]
NameOption = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="Name of the files, without ending; by default that of the benchmark.",
        show_default=False,
    ),
]


@app.command()
def literature(
    directory: Annotated[
        str, typer.Argument(metavar="DIRECTORY", help="Where the .tsp files are.")
    ],
    best_known: Annotated[
        str,
        typer.Argument(metavar="CSV", help="The cases: columns instance, nearest, best_known."),
    ],
    methods: MethodsOption = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            parser=whole(1), metavar="N", help="Seeds 0 to N-1, 10 by default.", show_default=False
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            "-s",
            parser=at_least(0),
            metavar="S",
            help="The limit of a run, by default 1, and 600 with --prove.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="Only these instances.", show_default=False),
    ] = None,
    full_time: Annotated[
        bool,
        typer.Option("--full-time", help="Do not stop at the best known: look for better tours."),
    ] = False,
    prove: Annotated[
        bool, typer.Option("--prove", help="Prove the cases by the method exact instead.")
    ] = False,
    workers: WorkersOption = 1,
    output: OutputOption = None,
    name: NameOption = None,
) -> None:
    """How often and how soon methods reach the best known tours of the literature."""
    from covertour import bench

    chosen = _several("--only", only, str) if only is not None else []
    if prove:
        for option, given in (("--methods", methods), ("--seeds", seeds)):
            if given is not None:
                raise InputError(f"--prove and {option}: give one of them, not both")
        target = _target(output, name or "literature-proofs")
        with _progress() as on_step:
            proofs = bench.prove_literature(
                directory,
                best_known,
                seconds=600.0 if seconds is None else seconds,
                only=chosen,
                on_step=on_step,
            )
        _publish(target, bench.proof_document(proofs))
        return
    target = _target(output, name or "literature")
    with _progress() as on_step:
        report = bench.literature(
            directory,
            best_known,
            methods=_methods(methods),
            seeds=range(10 if seeds is None else seeds),
            seconds=1.0 if seconds is None else seconds,
            only=chosen,
            full_time=full_time,
            workers=workers,
            on_step=on_step,
        )
    _publish(target, bench.literature_document(report))


@app.command()
def random(
    n: Annotated[int, typer.Argument(parser=whole(1), metavar="N", help="How many places.")],
    rule: RuleOption = "nearest 7",
    count: Annotated[
        int, typer.Option(parser=whole(1), metavar="C", help="How many instances.")
    ] = 100,
    seed: SeedOption = 0,
    methods: MethodsOption = None,
    seconds: Annotated[
        str | None,
        typer.Option(
            "--seconds", "-s", metavar="S,...", help="Time limits of the runs.", show_default=False
        ),
    ] = None,
    iterations: Annotated[
        str | None,
        typer.Option(metavar="I,...", help="Iteration limits of the runs.", show_default=False),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="METHOD",
            help="Make one more run of this method an instance for the reference, which is the "
            "shortest tour of all runs.",
            show_default=False,
        ),
    ] = None,
    reference_seconds: Annotated[
        float | None,
        typer.Option(
            parser=at_least(0),
            metavar="S",
            help="The limit of the reference's run (60), which is then made, by lns.",
            show_default=False,
        ),
    ] = None,
    layout: Annotated[str, typer.Option(help="uniform or clustered.")] = "uniform",
    workers: WorkersOption = 1,
    output: OutputOption = None,
    name: NameOption = None,
) -> None:
    """Mean length, gap to a reference and time of methods on random instances, and a picture.

    covertour bench random 100 --methods lns --seconds 0.005,0.02,0.1 --output results
    """
    from covertour import bench

    if seconds is None and iterations is None:
        raise InputError("--seconds, --iterations: give at least one limit")
    target = _target(output, name or "random")
    with _progress(in_seconds=seconds is not None) as on_step:
        report = bench.random(
            n,
            rule,
            count=count,
            seed=seed,
            methods=_methods(methods),
            seconds=_several("--seconds", seconds, float) if seconds is not None else (),
            iterations=_several("--iterations", iterations, int) if iterations is not None else (),
            reference=reference,
            reference_seconds=reference_seconds,
            layout=layout,
            workers=workers,
            on_step=on_step,
        )
    document = bench.random_document(report)

    def draw() -> Axes:
        from covertour.plot import plot_gap_against_time

        ax = plot_gap_against_time(report.rows)
        ax.set_title(f"{document.title}; {report.count} instances", fontsize=10)
        return ax

    _publish(target, document, draw)


@app.command()
def scale(
    sizes: Annotated[
        str, typer.Option(metavar="N,...", help="Numbers of places.")
    ] = "1000,10000,100000,1000000",
    seconds: Annotated[
        str, typer.Option("--seconds", "-s", metavar="S,...", help="Time limits.")
    ] = "1,10,60",
    rule: RuleOption = "nearest 7",
    method: Annotated[str, typer.Option("--method", "-m", help="How to solve.")] = "lns",
    seed: SeedOption = 0,
    separate: Annotated[
        bool,
        typer.Option("--separate", help="A run for each limit, not one on its way to the largest."),
    ] = False,
    workers: WorkersOption = 1,
    output: OutputOption = None,
    name: NameOption = None,
) -> None:
    """How time, length and memory grow with the number of places."""
    from covertour import bench

    target = _target(output, name or "scale")
    with _progress(in_seconds=True) as on_step:
        report = bench.scale(
            _several("--sizes", sizes, int),
            _several("--seconds", seconds, float),
            rule,
            method=method,
            seed=seed,
            separate=separate,
            workers=workers,
            on_step=on_step,
        )
    _publish(target, bench.scale_document(report))


def _several(option: str, text: str, kind: Callable[[str], Any]) -> list[Any]:
    """The values of a list separated by commas."""
    values = []
    for part in (part.strip() for part in text.split(",")):
        try:
            if not part:
                raise ValueError
            values.append(kind(part.replace("_", "")) if kind is not str else part)
        except ValueError:
            noun = {int: "whole numbers", float: "numbers"}.get(kind, "names")  # type: ignore[call-overload]
            raise InputError(f"{option}: expected {noun} like a,b,c, got {text!r}") from None
    return values


def _methods(text: str | None) -> list[str]:
    return ["lns"] if text is None else _several("--methods", text, str)


@dataclass(frozen=True)
class _Target:
    """Where the results go: a directory or None, and the name of the files."""

    directory: Path | None
    name: str


def _target(directory: str | None, name: str) -> _Target:
    """The target, refused before the work begins where nothing could be written to it."""
    from covertour.bench.tables import output_directory

    if not name or any(letter in name for letter in "/\\\0"):
        raise InputError(f"--name: expected a file name without directory, got {name!r}")
    return _Target(None if directory is None else output_directory(directory), name)


def _publish(target: _Target, document: Document, draw: Callable[[], Axes] | None = None) -> None:
    """Show a document and, where asked for, write it with its picture."""
    from covertour.bench import write_document

    show.say(document.title)
    show.say("")
    for table in document.tables:
        show.show(_fitting_table(table))
        show.say("")
    for sentence in document.sentences:
        show.say(sentence)
    for sentence in document.loud:
        show.show(_loud(sentence))
    if target.directory is None:
        return
    command = shlex.join(["covertour", *sys.argv[1:]])
    ax = None if draw is None else draw()
    paths = write_document(target.directory, target.name, document, command, ax)
    show.say("")
    for path in paths:
        show.say(f"wrote {path}")


def _fitting_table(table: Table) -> Any:
    """The table for the terminal: where there is little room, headings are broken into words, and
    details are left to the files.
    """
    from rich.console import Console

    console = Console()
    if not console.is_terminal or sum(_widths(table, broken=False)) <= console.width:
        return _rich_table(table, broken=False)
    for column in reversed(table.columns):
        if sum(_widths(table, broken=True)) <= console.width:
            break
        if column.detail:
            table = table.without(column)
    return _rich_table(table, broken=True)


def _widths(table: Table, broken: bool) -> list[int]:
    """How wide each column is, with the space after it; headings are broken into words or not."""
    widths = []
    for column, *cells in zip(table.columns, *table.shown(), strict=True):
        heading = column.heading.split() if broken else [column.heading]
        widths.append(2 + max(map(len, [*cells, *heading])))
    return widths


def _rich_table(table: Table, broken: bool) -> Any:
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable.grid(padding=(0, 2, 0, 0))
    shown.show_header = True
    shown.header_style = "bold"
    for column, width in zip(table.columns, _widths(table, broken), strict=True):
        justify: Any = "left" if column.is_text else "right"
        shown.add_column(column.heading, justify=justify, width=width - 2)
    for row in table.shown():
        shown.add_row(*(Text(show.printable(cell), no_wrap=True) for cell in row))
    return shown


def _loud(sentence: str) -> Any:
    from rich.text import Text

    return Text(f"*** {show.printable(sentence)} ***", style="bold reverse")


@contextmanager
def _progress(in_seconds: bool = False) -> Iterator[OnStep | None]:
    """A function that shows on the terminal what is run and when it will be over; None in a pipe.

    Drawn between the runs only, never by a thread beside them, which would disturb what is timed;
    hence the time of day at which it ends, which stays true during a long run. ``in_seconds``:
    whether the steps are told in seconds, as planned.
    """
    if not show.on_terminal():
        yield None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table as RichTable

    began = first = drawn = perf_counter()
    with Live(console=Console(stderr=True), transient=True, auto_refresh=False) as live:

        def step(done: float, whole: float, what: str) -> None:
            nonlocal first, drawn
            now = perf_counter()
            if done == 0:
                first = now  # the last call with nothing done comes after the warm-up
            elif now - drawn < 0.1 and done < whole:
                return
            drawn = now
            grid = RichTable.grid(padding=(0, 2, 0, 0))
            for _ in range(3):
                grid.add_column(no_wrap=True)
            bar = ProgressBar(total=max(whole, 1e-9), completed=done, width=20)
            left = whole if in_seconds else None
            if done > 0:
                left = (now - first) * (whole - done) / done
            grid.add_row(bar, _time_left(left), show.printable(what))
            live.update(grid, refresh=True)

        yield step
    show.note(f"measured for {_duration(perf_counter() - began)}")


def _time_left(left: float | None) -> str:
    """How long it will go on, and until when."""
    if left is None:
        return "time left not known yet"
    until = datetime.now() + timedelta(seconds=left)
    day = "" if left < 43200 else "%a "
    return f"about {_duration(left)} left, until {until:{day}%H:%M:%S}"


def _duration(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    minutes, rest = divmod(rest, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
