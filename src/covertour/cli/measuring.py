"""What the verbs that measure share: options, progress, and where their tables go."""

from __future__ import annotations

import shlex
import shutil
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
from covertour.cli.options import at_least, whole
from covertour.problem.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from covertour.bench import Document
    from covertour.bench.runs import OnStep

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
ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let the workers of this dask scheduler work, such as tcp://10.0.0.1:8786.",
        show_default=False,
    ),
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


OnlyOption = Annotated[
    str | None, typer.Option(metavar="NAME,...", help="Only these cases.", show_default=False)
]
FullTimeOption = Annotated[
    bool,
    typer.Option("--full-time", help="Do not stop at the best known: look for better tours."),
]
ProveOption = Annotated[
    bool, typer.Option("--prove", help="Prove the cases by the method exact instead.")
]


def limit_by_default(seconds: int) -> Any:
    """The option --seconds of a benchmark that proves too, with what it is by default."""
    return typer.Option(
        "--seconds",
        "-s",
        parser=at_least(0),
        metavar="S",
        help=f"The limit of a case, by default {seconds}, and 600 with --prove.",
        show_default=False,
    )


def several(option: str, text: str, kind: Callable[[str], Any]) -> list[Any]:
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


@dataclass(frozen=True)
class Target:
    """Where the results go: a directory or None, and the name of the files."""

    directory: Path | None
    name: str


def target_of(directory: str | None, name: str) -> Target:
    """The target, refused before the work begins where nothing could be written to it."""
    from covertour.bench.tables import output_directory

    if not name or any(letter in name for letter in "/\\\0"):
        raise InputError(f"--name: expected a file name without directory, got {name!r}")
    return Target(None if directory is None else output_directory(directory), name)


def publish(target: Target, document: Document, draw: Callable[[], Axes] | None = None) -> None:
    """Show a document and, where asked for, write it with its picture."""
    from covertour.bench import write_document

    _show(document)
    if target.directory is not None:
        command = shlex.join(["covertour", *sys.argv[1:]])
        ax = None if draw is None else draw()
        show.say("")
        for path in write_document(target.directory, target.name, document, command, ax):
            show.say(f"wrote {path}")


def _show(document: Document) -> None:
    """Print the tables and sentences."""
    show.say(document.title)
    show.say("")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for table in document.tables:
        for line in table.text(width).splitlines():
            show.say(line)
        show.say("")
    for sentence in document.sentences:
        show.say(sentence)
    for sentence in document.loud:
        show.show(_loud(sentence))


def _loud(sentence: str) -> Any:
    from rich.text import Text

    return Text(f"*** {show.printable(sentence)} ***", style="bold reverse")


@contextmanager
def progress(in_seconds: bool = False) -> Iterator[OnStep | None]:
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


def methods_of(text: str | None) -> list[str]:
    """The methods of the option --methods."""
    return ["lns"] if text is None else several("--methods", text, str)
