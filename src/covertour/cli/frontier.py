"""The verb frontier: how far to travel to reach how many people."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.table import Table

from covertour.cli import options, show
from covertour.cli.asking import Asked, asking
from covertour.cli.options import InstanceFile, JsonOption, SeedOption, at_least, whole
from covertour.cli.solving import prepare
from covertour.problem.errors import InputError
from covertour.problem.words import measure, weighed, weight_word
from covertour.solving.tradeoff import Frontier, Point


@asking
def frontier(
    file: InstanceFile,
    asked: Asked = Asked(),
    points: Annotated[
        int, typer.Option(parser=whole(2), metavar="N", help="About how many tours to find.")
    ] = 15,
    seconds: Annotated[
        float,
        typer.Option(parser=at_least(0), metavar="S", help="How long to search for all of them."),
    ] = 10.0,
    prove: Annotated[
        bool,
        typer.Option("--prove", help="Prove for each tour what reaching as many must cost."),
    ] = False,
    proof_seconds: Annotated[
        float,
        typer.Option(
            "--proof-seconds", parser=at_least(0), metavar="S", help="How long to prove each."
        ),
    ] = 5.0,
    seed: SeedOption = 0,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a picture (.png, .svg) or a table (.csv, .json) of all tours; or, with {} "
            "in the name, each tour: tour-{}.html. May be given several times.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Find out how far to travel to reach how many people.

    covertour frontier villages.csv --radius 20 --output frontier.png
    """
    from covertour.formats import frontier as files

    outputs = output or []
    for index, path in enumerate(outputs):
        if path == options.STANDARD:
            raise InputError("--output: a frontier goes to files; --json prints it")
        if path in outputs[:index]:
            raise InputError(f"{path}: given twice as output")
        files.check_output(path)
    for option, value in (("--quota", asked.quota), ("--budget", asked.budget)):
        if value is not None:
            raise InputError(f"{option}: a frontier has tours for every quota; leave it out")
    instance = options.load_instance(file, asked, quiet=quiet or as_json)
    # Tours are also written of their own, so what cannot be is told before the search.
    options.check_outputs_fit(instance, [path for path in outputs if files.EACH in path])

    from covertour.solving.frontier import frontier as find

    some = instance.with_changes(quota=0.5, budget=None)  # any quota has the same kernels
    prepare(some, "exact" if prove else "lns", quiet or as_json)
    with _progress(not quiet and not as_json and show.on_terminal()) as on_point:
        found = find(
            instance,
            points,
            seconds=seconds,
            prove=prove,
            proof_seconds=proof_seconds,
            seed=seed,
            on_point=on_point,
        )
    written: list[str] = []
    for path in outputs:
        written += files.write(path, found)
    if as_json:
        show.say(found.to_json())
    elif not quiet:
        _show(found)
        show.say("")
        options.tell_written(written)
        if not written:
            show.say("To keep it, add for example: --output frontier.png --output tour-{}.html")


@contextmanager
def _progress(shown: bool) -> Iterator[Callable[[Point], None] | None]:
    """While it is searched: a function that shows how many tours there are."""
    if not shown:
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    told = 0

    def tell(point: Point) -> None:
        nonlocal told
        told += 1
        what = "proven" if point.bound is not None else "found"
        status.update(f"{told} tours {what}, the last reaches {point.share:.1%}")

    with console.status("searching ...") as status:
        yield tell


def _show(found: Frontier) -> None:
    """The tours as a table."""
    instance = found.instance
    rows = []
    for point in found.points:
        row = [
            f"{100 * point.share:.1f} %",
            weighed(point.weight),
            measure(instance, point.cost, found.points[-1].cost),
            str(point.to_dict()["stops"]),
        ]
        if any(point.bound is not None for point in found.points):
            bound, gap = point.bound, point.gap
            row.append("" if bound is None else measure(instance, bound, found.points[-1].cost))
            row.append("" if gap is None else "proven" if gap <= 1e-6 else f"{gap:.2%}")
        rows.append(row)
    titles = ["covered", weight_word(instance)]
    titles += ["length" if instance.visit_cost is None else "cost", "stops", "at least", "gap"]
    table = Table(box=None, padding=(0, show.GAP, 0, 0), header_style="bold", pad_edge=False)
    for title in titles[: len(rows[0])]:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    show.facts([("tours", str(len(rows))), ("seconds", f"{found.seconds:.1f}")], instance.name)
    show.say("")
    show.show(table)
