"""The verbs about files: check, plot, convert, generate."""

from __future__ import annotations

import json
from typing import Annotated

import numpy as np
import typer

from covertour.cli import options, show
from covertour.cli.asking import Asked, asking
from covertour.cli.options import (
    ExcelOption,
    FormatOption,
    InstanceFile,
    JsonOption,
    SeedOption,
    TilesOption,
    number_range,
    whole,
    whole_range,
)
from covertour.formats.manner import Manner
from covertour.problem.errors import InputError
from covertour.problem.generate import LAYOUTS, random_instance
from covertour.problem.instance import Instance
from covertour.problem.referee import verify
from covertour.problem.verdict import Verdict
from covertour.problem.words import count, measure, share_in_words

PICTURES = ("png", "svg", "html", "pdf")

TourFile = Annotated[
    str,
    typer.Argument(
        metavar="TOUR",
        help="The tour: .json, .tour, .csv, .geojson or .gpx; - for standard input.",
        show_default=False,
    ),
]


@asking
def check(
    file: InstanceFile,
    tour: TourFile,
    asked: Asked = Asked(),
    as_json: JsonOption = False,
) -> None:
    """Ask the independent referee whether a tour covers every place and is as long as it says.

    Exit code 0 where it does, 1 where something is wrong.
    """
    options.check_outputs([], [file, tour], outcome=True)
    instance = options.load_instance(file, asked, quiet=as_json)
    verdict = verify(instance, options.read_tour(tour, instance))
    problems = verdict.problems(instance)
    if as_json:
        known_length = verdict.length if np.isfinite(verdict.length) else None
        report = {
            "ok": verdict.ok,
            "stops": verdict.stops,
            "routes": verdict.routes,
            "length": known_length,
            "cost": verdict.cost if np.isfinite(verdict.cost) else None,
            "claimed": verdict.claimed,
            "covered_weight": verdict.covered_weight,
            "total_weight": instance.total_weight,
            "problems": problems,
            "uncovered": verdict.uncovered,
            "repeated": verdict.repeated,
            "forbidden": verdict.forbidden,
            "missing": verdict.missing,
            "unknown": verdict.unknown,
        }
        show.say(json.dumps(report))
    elif verdict.ok:
        show.say(f"{tour}: right, {_what_it_does(instance, verdict)}")
    else:
        for problem in problems:
            show.say(f"{tour}: {problem}")
    if not verdict.ok:
        raise typer.Exit(1)


def _what_it_does(instance: Instance, verdict: Verdict) -> str:
    """What a tour without mistakes reaches, and what it takes."""
    stops, routes = verdict.stops, ""
    if instance.fleet is not None:
        stops -= verdict.routes
        routes = f" on {count(verdict.routes, 'route')}"
    reached = f"all {instance.n:,} places"
    if verdict.uncovered:
        reached = share_in_words(instance, verdict.covered_weight)
    told = f"{stops:,} stops{routes} cover {reached}, length {measure(instance, verdict.length)}"
    if instance.visit_cost is not None:
        told += f", cost {measure(instance, verdict.cost)}"
    return told


@asking
def plot(
    file: InstanceFile,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help=f"What to draw; it ends in .{', .'.join(PICTURES)}, or is - for standard output.",
        ),
    ],
    tour: Annotated[
        str | None,
        typer.Argument(metavar="TOUR", help="The tour to draw too.", show_default=False),
    ] = None,
    asked: Asked = Asked(),
    tiles: TilesOption = None,
    format: Annotated[
        str | None,
        typer.Option(
            metavar="ENDING",
            help=f"What goes to standard output (-): {', '.join(PICTURES)}; else png.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Draw an instance, and a tour through it, as a picture, a map or sheets for the drivers."""
    kind = (format or "png") if output == options.STANDARD else output.lower().rpartition(".")[2]
    if kind not in PICTURES:
        raise InputError(f"{output}: expected a name that ends in .{' .'.join(PICTURES)}")
    if tour is None and kind in ("html", "pdf"):
        what = "a map shows" if kind == "html" else "sheets are of"
        raise InputError(f"{output}: {what} a tour, give one too, or draw a .png or .svg")
    chosen = kind if output == options.STANDARD else format
    options.check_outputs([output], [file, tour], tour is not None, chosen)
    instance = options.load_instance(file, asked)
    outcome = None if tour is None else options.load_tour(tour, instance)
    options.write_output(output, instance, outcome, chosen, Manner(tiles, asked.times))
    options.tell_written([output])


@asking
def convert(
    file: InstanceFile,
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUTPUT",
            help="What to write; the ending decides. - for standard output.",
            show_default=False,
        ),
    ],
    tour: Annotated[
        str | None,
        typer.Option(metavar="TOUR", help="Write this tour, not the instance.", show_default=False),
    ] = None,
    asked: Asked = Asked(),
    tiles: TilesOption = None,
    excel: ExcelOption = False,
    format: FormatOption = None,
) -> None:
    """Write an instance, or with --tour a tour of it, in another format."""
    options.check_outputs([output], [file, tour], tour is not None, format)
    instance = options.load_instance(file, asked)
    outcome = None if tour is None else options.load_tour(tour, instance)
    options.write_output(output, instance, outcome, format, Manner(tiles, asked.times, excel))
    options.tell_written([output])


def generate(
    n: Annotated[int, typer.Argument(parser=whole(1), metavar="N", help="How many places.")],
    nearest: Annotated[
        str | None,
        typer.Option(
            "--nearest",
            "-k",
            parser=whole_range,
            metavar="K|LOW-HIGH",
            help="Each place covers its K nearest others; 2-15 draws K for each place. "
            "The default is 7.",
            show_default=False,
        ),
    ] = None,
    radius: Annotated[
        str | None,
        typer.Option(
            "--radius",
            "-r",
            parser=number_range,
            metavar="R|LOW-HIGH",
            help="Each place covers all within R; 0-0.25 draws R for each place.",
            show_default=False,
        ),
    ] = None,
    layout: Annotated[
        str,
        typer.Option(
            help=f"One of {', '.join(LAYOUTS)}.",
            autocompletion=options.one_of(LAYOUTS),
        ),
    ] = LAYOUTS[0],
    seed: SeedOption = 0,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write it; the ending decides. By default to standard output.",
            show_default=False,
        ),
    ] = options.STANDARD,
    format: FormatOption = None,
) -> None:
    """Make a random instance in the unit square."""
    options.check_outputs([output], [], outcome=False, format=format)
    instance = random_instance(
        n,
        nearest=7 if nearest is None and radius is None else nearest,  # type: ignore[arg-type]
        radius=radius,  # type: ignore[arg-type]  # the parsers made numbers of them
        layout=layout,
        seed=seed,
    )
    options.write_output(output, instance, None, format)
    options.tell_written([output])
