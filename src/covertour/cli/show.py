"""What the verbs print: tables, the itinerary, and the live line while a search runs.

On a terminal rich lays things out; in a pipe the same text comes plain, without colours, control
characters or cut names.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from covertour.problem.instance import Instance
from covertour.problem.itinerary import itinerary as find_itinerary
from covertour.problem.tour import Tour
from covertour.problem.words import measure
from covertour.solving.result import Result
from covertour.solving.stop import Progress, StoppingRule, limits_of

LONGEST_ITINERARY = 50
"""A tour of more stops is not listed on the terminal unless asked for."""

NAMES_SHOWN = 5

WHY = {
    "limit": "at the limit",
    "proven": "as no tour is shorter",
    "interrupt": "interrupted; this is the best tour so far",
    "done": "when done",
}
"""Why a solve stopped, in words."""

PIPE_WIDTH = 10_000


def show(what: RenderableType) -> None:
    """Print to standard output, laid out on a terminal, plain in a pipe."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(what)
        return
    console.width = PIPE_WIDTH
    with console.capture() as captured:
        console.print(what)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def say(message: str) -> None:
    """Print a line to standard output as it is."""
    print(printable(message))


def note(message: str) -> None:
    """Tell the user something that is not the answer, on standard error."""
    print(printable(message), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """The text without characters that could steer a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def on_terminal() -> bool:
    """Whether somebody is watching: neither output goes into a pipe or a file."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def facts(rows: Sequence[tuple[str, str]], title: str | None = None) -> None:
    """Print pairs of what and value, one a line."""
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for what, value in rows:
        table.add_row(what, Text(printable(value)))
    if title is not None:
        show(Text(printable(title), style="bold"))
    show(table)


def summary(instance: Instance, result: Result) -> None:
    """Print what a solve found."""
    rows = [
        ("stops", f"{len(result.tour):,} of {instance.n:,} places"),
        ("length", measure(instance, result.length)),
    ]
    if result.bound is not None:
        rows.append(("bound", measure(instance, result.bound)))
        if result.optimal:
            rows.append(("gap", "0 %, proven optimal"))
        elif result.gap is not None:
            rows.append(("gap", f"at most {result.gap:.3%}"))
    rows += [
        ("seconds", f"{result.seconds:.2f}"),
        ("iterations", f"{result.iterations:,}"),
        ("method", result.method),
        ("seed", str(result.seed)),
        ("stopped", WHY[result.stopped]),
    ]
    facts(rows, title=instance.name)


def itinerary(instance: Instance, tour: Tour) -> None:
    """Print the stops in order: the way to each, the way so far and the places it serves."""
    plan = find_itinerary(instance, tour)
    far = partial(measure, instance, whole=tour.length)
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold", pad_edge=False)
    for heading in ("stop", "place", "leg", "total"):
        table.add_column(heading, justify="left" if heading == "place" else "right", no_wrap=True)
    table.add_column("also covers", min_width=12)
    for index, place in enumerate(plan.places.tolist()):
        others = plan.served[index].tolist()
        names = ", ".join(instance.label(other) for other in others[:NAMES_SHOWN])
        more = ", …" if len(others) > NAMES_SHOWN else ""
        table.add_row(
            str(index + 1),
            Text(printable(instance.label(place))),
            far(float(plan.legs[index])) if index else "",
            far(float(plan.running[index])) if index else "",
            _one_line(f"{len(others)}: {names}{more}" if others else ""),
        )
    if len(plan.places) > 1:
        home = Text(f"back to {printable(instance.label(int(plan.places[0])))}", style="dim")
        table.add_row("", home, far(float(plan.legs[-1])), far(tour.length), "")
    show(table)


def _one_line(text: str) -> Text:
    return Text(printable(text), no_wrap=True, overflow="ellipsis", style="dim")


@contextmanager
def live_line(
    instance: Instance, stop: StoppingRule, shown: bool
) -> Iterator[Callable[[Progress], None] | None]:
    """While a search runs: a function that shows its progress on one line, None where unwanted."""
    if not shown:
        yield None
        return
    seconds = limits_of(stop).seconds
    from rich.live import Live
    from rich.progress_bar import ProgressBar

    def line(progress: Progress) -> RenderableType:
        grid = Table.grid(padding=(0, 2, 0, 0))
        parts: list[RenderableType] = [f"{progress.seconds:.1f} s"]
        if math.isfinite(seconds):
            bar = ProgressBar(total=seconds, completed=progress.seconds, width=12)
            parts = [bar, f"{progress.seconds:.1f} of {seconds:g} s"]
        parts.append(f"[bold]{measure(instance, progress.length)}[/bold]")
        if progress.bound is not None and progress.bound > 0:
            parts.append(f"gap {progress.length / progress.bound - 1:.2%}")
        parts.append(f"{progress.iterations / max(progress.seconds, 1e-9):,.0f} iterations/s")
        parts.append(f"improved {progress.idle_seconds:.1f} s ago")
        for _ in parts:
            grid.add_column(no_wrap=True)
        grid.add_row(*parts)
        return grid

    console = Console(stderr=True, highlight=False)
    with Live(console=console, transient=True, auto_refresh=False) as live:
        yield lambda progress: live.update(line(progress), refresh=True)
