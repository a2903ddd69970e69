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
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from covertour.problem.instance import Instance
from covertour.problem.itinerary import START, Itinerary, Route
from covertour.problem.itinerary import itinerary as find_itinerary
from covertour.problem.times import Times
from covertour.problem.tour import Tour
from covertour.problem.words import duration, measure, share_in_words, weighed, weight_word
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


def table(rows: Sequence[dict[str, Any]]) -> None:
    """Print rows under their titles: numbers to the right, marks only where they are set."""
    laid_out = Table(box=None, padding=(0, GAP, 0, 0), header_style="bold", pad_edge=False)
    for title, value in rows[0].items():
        right = isinstance(value, int | float) and not isinstance(value, bool)
        laid_out.add_column(title, justify="right" if right else "left", no_wrap=True)
    for row in rows:
        laid_out.add_row(*(Text(printable(_in_table(value))) for value in row.values()))
    show(laid_out, at_least=0)


def _in_table(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def summary(instance: Instance, result: Result, times: Times | None = None) -> None:
    """Print what a solve found; with times, how long it takes to drive."""
    routes = find_itinerary(instance, result.tour).routes
    rows = [("stops", f"{stops_of(instance, result.tour):,} of {instance.n:,} places")]
    if instance.fleet is not None:
        longest = measure(instance, max(route.cost for route in routes), result.length)
        rows.append(("routes", f"{len(routes):,}, the longest {longest}"))
    rows.append(("length", measure(instance, result.length)))
    if instance.budget is not None:
        rows.append(("budget", measure(instance, instance.budget)))
    if times is not None:
        hours = [float(times.hours(instance, route)[-1]) for route in routes]
        longest = f", the longest route {duration(max(hours))}" if len(hours) > 1 else ""
        rows.append(("time", f"{duration(sum(hours))}{longest}"))
    elif instance.visit_cost is not None:
        visits = measure(instance, result.visit_cost, result.cost)
        rows.append(("cost", f"{measure(instance, result.cost)}, of which {visits} for the visits"))
    if instance.partial or instance.weight is not None:
        rows.append(("covered", share_in_words(instance, result.covered_weight)))
        left = result.uncovered
        if left:
            largest = sorted(left, key=lambda place: -instance.weights[place])
            rows.append(("left out", instance.describe(largest, most=NAMES_SHOWN)))
    if result.bound is not None:
        bound = measure(instance, result.bound)
        if instance.budget is not None:
            bound = f"{weighed(result.bound)} {weight_word(instance)}"
        rows.append(("bound", bound))
        if result.optimal:
            rows.append(("gap", "0 %, proven optimal"))
        elif result.serves_most:
            rows.append(("gap", f"0 %, proven; {_open_cost(result)}"))
        elif result.gap is not None:
            rows.append(("gap", f"at most {result.gap:.3%}"))
    rows += [
        ("seconds", f"{result.seconds:.2f}"),
        ("iterations", f"{result.iterations:,}"),
        ("method", result.method),
        ("seed", str(result.seed)),
        ("stopped", _why(instance, result)),
    ]
    facts(rows, title=instance.name)


def _open_cost(result: Result) -> str:
    """What is left open where a tour serves the most that its budget allows."""
    if result.cost_gap is None:
        return "a cheaper tour may serve as much"
    return f"at most {result.cost_gap:.3%} above the cheapest that serves as much"


def stops_of(instance: Instance, tour: Tour) -> int:
    """How many stops a tour has, the depot of a fleet not counted."""
    return len(tour) if instance.fleet is None else sum(tour.places != instance.depot)


def _why(instance: Instance, result: Result) -> str:
    if result.stopped == "proven" and instance.fleet is not None:
        like = {"fewest": " with as few routes", "balance": " with as short a longest route"}
        return f"as no plan{like.get(instance.fleet.objective, '')} costs less"
    if result.stopped == "proven" and instance.budget is not None:
        return "as no tour of this budget serves more, nor as much at less cost"
    if result.stopped == "proven" and instance.visit_cost is not None:
        return "as no tour costs less"
    return WHY[result.stopped]


def itinerary(instance: Instance, tour: Tour, times: Times | None = None) -> None:
    """Print the stops in order: the way to each, the way so far and the places it serves.

    Routes follow each other. With times it tells when each stop is reached.

    Where the terminal is narrow, names are cut and served places left out, but never a number.
    """
    plan = find_itinerary(instance, tour)
    headings, rows = ["stop", "place", "leg", "total"], []
    if times is not None:
        headings.append("arrives")
    if instance.weight is not None:
        headings.append(weight_word(instance))
    if instance.fleet is not None:
        headings.insert(0, "route")
    headings.append("also covers")
    for route in plan.routes:
        rows += list(_route_rows(instance, plan, route, times))
    name, last = headings.index("place"), len(headings) - 1
    widths = [max(map(cell_len, column)) for column in zip(headings, *rows, strict=True)]
    least = sum(width + GAP for at, width in enumerate(widths) if at not in (name, last))
    console = Console()
    room = (console.width if console.is_terminal else PIPE_WIDTH) - least
    if room >= widths[name] + GAP + LEAST_COVERED:
        widths[last] = min(widths[last], room - widths[name] - GAP)
    else:
        widths[name] = min(widths[name], max(room, LEAST_NAME))
        widths.pop()
    table = Table(box=None, padding=(0, GAP, 0, 0), header_style="bold", pad_edge=False)
    for at, width in enumerate(widths):
        table.add_column(
            headings[at],
            width=width,
            justify="left" if at in (name, last) else "right",
            style="dim" if at == last else "",
            no_wrap=True,
        )
    for row in rows:
        table.add_row(*map(Text, row[: len(widths)]))
    show(table, at_least=least + widths[name])


def _route_rows(
    instance: Instance, plan: Itinerary, route: Route, times: Times | None
) -> Iterator[tuple[str, ...]]:
    """The cells of a route's stops and of its way back, in the order of the headings."""
    far = partial(measure, instance, whole=plan.length)
    hours = None if times is None else times.hours(instance, route)

    def row(at: int, stop: str, name: str, total: float, people: str, covers: str) -> list[str]:
        cells = [stop, printable(name)]
        cells += [far(float(route.legs[at])), far(total)] if at else ["", ""]
        if times is not None and hours is not None:
            cells.append(times.clock(float(hours[at])))
        if instance.weight is not None:
            cells.append(people)
        if instance.fleet is not None:
            cells.insert(0, str(route.number) if at == 0 else "")
        return [*cells, printable(covers)]

    for at, place in enumerate(route.places.tolist()):
        others = plan.served[route.begin + at].tolist()
        names = ", ".join(instance.label(other) for other in others[:NAMES_SHOWN])
        more = ", …" if len(others) > NAMES_SHOWN else ""
        covers = f"{len(others)}: {names}{more}" if others else ""
        weight = float(plan.weight[route.begin + at])
        people = "" if route.names[at] == START and weight == 0 else weighed(weight)
        total = float(route.running[at])
        yield tuple(row(at, route.names[at], instance.label(place), total, people, covers))
    if plan.returns and len(route.places) > 1:
        home = f"back to {instance.label(int(route.places[0]))}"
        whole = plan.length if len(plan.routes) == 1 else route.length
        yield tuple(row(len(route.places), "", home, whole, "", ""))


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
        if progress.gap is not None:
            parts.append(f"gap {progress.gap:.2%}")
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
