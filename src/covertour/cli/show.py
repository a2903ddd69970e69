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

from rich.cells import cell_len
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
LEAST_NAME, LEAST_COVERED, GAP = 8, 12, 3
"""Columns of the narrowest names and lists of served places, and between two columns."""

WHY = {
    "limit": "at the limit",
    "proven": "as no tour is shorter",
    "interrupt": "interrupted; this is the best tour so far",
    "done": "when done",
}
"""Why a solve stopped, in words."""

PIPE_WIDTH = 10_000
BAR = 12
"""Columns of the progress bar."""


def show(what: RenderableType, at_least: int = 0) -> None:
    """Print to standard output, laid out on a terminal, plain in a pipe.

    ``at_least``: columns that are needed; a terminal with fewer breaks lines rather than cut them.
    """
    console = Console(highlight=False)
    if console.is_terminal:
        console.width = max(console.width, at_least)
        console.print(what, soft_wrap=console.width == at_least)
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
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else " " for letter in text)


def on_terminal() -> bool:
    """Whether somebody is watching: neither output goes into a pipe or a file."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def facts(rows: Sequence[tuple[str, str]], title: str | None = None) -> None:
    """Print pairs of what and value, one per line."""
    table = Table.grid(padding=(0, GAP, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for what, value in rows:
        table.add_row(what, Text(printable(value)))
    if title is not None:
        show(Text(printable(title), style="bold"))
    words = [len(word) for _, value in rows for word in value.split()]
    show(table, at_least=max(len(what) for what, _ in rows) + GAP + max(words, default=0))


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
    """Print the stops in order: the way to each, the way so far and the places it serves.

    Where the terminal is narrow, names are cut and served places left out, but never a number.
    """
    plan = find_itinerary(instance, tour)
    far = partial(measure, instance, whole=tour.length)
    rows = []
    for index, place in enumerate(plan.places.tolist()):
        others = plan.served[index].tolist()
        names = ", ".join(instance.label(other) for other in others[:NAMES_SHOWN])
        more = ", …" if len(others) > NAMES_SHOWN else ""
        rows.append(
            (
                str(index + 1),
                printable(instance.label(place)),
                far(float(plan.legs[index])) if index else "",
                far(float(plan.running[index])) if index else "",
                printable(f"{len(others)}: {names}{more}" if others else ""),
            )
        )
    if len(plan.places) > 1:
        home = f"back to {printable(instance.label(int(plan.places[0])))}"
        rows.append(("", home, far(float(plan.legs[-1])), far(tour.length), ""))
    headings = ("stop", "place", "leg", "total", "also covers")
    widths = [max(map(cell_len, column)) for column in zip(headings, *rows, strict=True)]
    least = sum(widths[at] + GAP for at in (0, 2, 3))
    console = Console()
    room = (console.width if console.is_terminal else PIPE_WIDTH) - least
    if room >= widths[1] + GAP + LEAST_COVERED:
        widths[4] = min(widths[4], room - widths[1] - GAP)
    else:
        widths[1:] = [min(widths[1], max(room, LEAST_NAME)), *widths[2:4]]
    table = Table(box=None, padding=(0, GAP, 0, 0), header_style="bold", pad_edge=False)
    for at, width in enumerate(widths):
        table.add_column(
            headings[at],
            width=width,
            justify="left" if at in (1, 4) else "right",
            style="dim" if at == 4 else "",
            no_wrap=True,
        )
    for row in rows:
        table.add_row(*map(Text, row[: len(widths)]))
    show(table, at_least=least + widths[1])


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

    console = Console(stderr=True, highlight=False)

    def line(progress: Progress) -> RenderableType:
        clock = f"{progress.seconds:.1f} s"
        if math.isfinite(seconds):
            clock = f"{progress.seconds:.1f} of {seconds:g} s"
        parts = [clock, measure(instance, progress.length)]
        if progress.bound is not None and progress.bound > 0:
            parts.append(f"gap {progress.length / progress.bound - 1:.2%}")
        parts.append(f"{progress.iterations / max(progress.seconds, 1e-9):,.0f} iterations/s")
        parts.append(f"improved {progress.idle_seconds:.1f} s ago")
        while len(parts) > 1 and sum(len(part) + 2 for part in parts) > console.width:
            parts.pop()  # whole, rather than cut a number
        grid = Table.grid(padding=(0, 2, 0, 0))
        cells: list[RenderableType] = [
            Text(part, style="bold" if at == 1 else "") for at, part in enumerate(parts)
        ]
        room = console.width - sum(len(part) + 2 for part in parts)
        if math.isfinite(seconds) and room >= BAR + 2:
            cells.insert(0, ProgressBar(total=seconds, completed=progress.seconds, width=BAR))
        for _ in cells:
            grid.add_column(no_wrap=True)
        grid.add_row(*cells)
        return grid

    with Live(console=console, transient=True, auto_refresh=False) as live:
        yield lambda progress: live.update(line(progress), refresh=True)
