"""The verbs about files: check, plot, convert, info, generate."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer

from covertour.cli import options, show
from covertour.cli.options import (
    DepotOption,
    ForbiddenOption,
    InstanceFile,
    JsonOption,
    MetricOption,
    NearestOption,
    RadiusOption,
    RequiredOption,
    SeedOption,
    number_range,
    whole,
    whole_range,
)
from covertour.problem.coverage import build_coverage
from covertour.problem.errors import InputError
from covertour.problem.generate import LAYOUTS, random_instance
from covertour.problem.instance import Instance
from covertour.problem.referee import verify
from covertour.problem.words import measure, rule_in_words

PICTURE_ENDINGS = (".png", ".svg", ".html")

TourFile = Annotated[
    str,
    typer.Argument(
        metavar="TOUR", help="The tour: .json, .tour, .csv, .geojson or .gpx.", show_default=False
    ),
]


def check(
    file: InstanceFile,
    tour: TourFile,
    nearest: NearestOption = None,
    radius: RadiusOption = None,
    metric: MetricOption = None,
    depot: DepotOption = None,
    required: RequiredOption = None,
    forbidden: ForbiddenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the independent referee whether a tour covers every place and is as long as it says.

    Exit code 0 where it does, 1 where something is wrong.
    """
    from covertour import formats

    instance = options.load_instance(file, nearest, radius, metric, depot, required, forbidden)
    verdict = verify(instance, formats.read_tour(tour, instance))
    problems = verdict.problems(instance)
    if as_json:
        known_length = verdict.length if np.isfinite(verdict.length) else None
        report = {
            "ok": verdict.ok,
            "stops": verdict.stops,
            "length": known_length,
            "claimed": verdict.claimed,
            "problems": problems,
            "uncovered": verdict.uncovered,
            "repeated": verdict.repeated,
            "forbidden": verdict.forbidden,
            "missing": verdict.missing,
            "unknown": verdict.unknown,
        }
        show.say(json.dumps(report))
    elif verdict.ok:
        length = measure(instance, verdict.length)
        show.say(
            f"{tour}: right, {verdict.stops:,} stops cover all {instance.n:,} places, "
            f"length {length}"
        )
    else:
        for problem in problems:
            show.say(f"{tour}: {problem}")
    if not verdict.ok:
        raise typer.Exit(1)


def plot(
    file: InstanceFile,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help=f"One of {' '.join(PICTURE_ENDINGS)}."),
    ],
    tour: Annotated[
        str | None,
        typer.Argument(metavar="TOUR", help="The tour to draw too.", show_default=False),
    ] = None,
    nearest: NearestOption = None,
    radius: RadiusOption = None,
    metric: MetricOption = None,
    depot: DepotOption = None,
    required: RequiredOption = None,
    forbidden: ForbiddenOption = None,
) -> None:
    """Draw an instance, and a tour through it, as a picture or a map."""
    from covertour import formats

    if not output.lower().endswith(PICTURE_ENDINGS):
        raise InputError(f"{output}: expected a name that ends in {' '.join(PICTURE_ENDINGS)}")
    if tour is None and output.lower().endswith(".html"):
        raise InputError(f"{output}: a map shows a tour, give one too, or draw a .png or .svg")
    options.check_outputs([output], [file, tour], outcome=tour is not None)
    instance = options.load_instance(file, nearest, radius, metric, depot, required, forbidden)
    outcome = formats.read_tour(tour, instance) if tour is not None else None
    formats.write(output, instance, outcome)
    show.say(f"wrote {output}")


def convert(
    file: InstanceFile,
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUTPUT", help="What to write; the ending decides.", show_default=False
        ),
    ],
    tour: Annotated[
        str | None,
        typer.Option(metavar="TOUR", help="Write this tour, not the instance.", show_default=False),
    ] = None,
    nearest: NearestOption = None,
    radius: RadiusOption = None,
    metric: MetricOption = None,
    depot: DepotOption = None,
    required: RequiredOption = None,
    forbidden: ForbiddenOption = None,
) -> None:
    """Write an instance, or with --tour a tour of it, in another format."""
    from covertour import formats

    options.check_outputs([output], [file, tour], outcome=tour is not None)
    instance = options.load_instance(file, nearest, radius, metric, depot, required, forbidden)
    outcome = formats.read_tour(tour, instance) if tour is not None else None
    formats.write(output, instance, outcome)
    show.say(f"wrote {output}")


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
    layout: Annotated[str, typer.Option(help=f"One of {', '.join(LAYOUTS)}.")] = LAYOUTS[0],
    seed: SeedOption = 0,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to write it; the ending decides. Else JSON to standard output.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a random instance in the unit square."""
    from covertour import formats

    if layout not in LAYOUTS:
        raise InputError(f"--layout: {layout!r} is not one of {', '.join(LAYOUTS)}")
    if output is not None:
        options.check_outputs([output], [], outcome=False)
    instance = random_instance(
        n,
        nearest=7 if nearest is None and radius is None else nearest,  # type: ignore[arg-type]
        radius=radius,  # type: ignore[arg-type]  # the parsers made numbers of them
        layout=layout,
        seed=seed,
    )
    if output is None:
        with TemporaryDirectory() as folder:
            formats.write(f"{folder}/instance.json", instance)
            show.say(Path(f"{folder}/instance.json").read_text(encoding="utf-8").rstrip())
    else:
        formats.write(output, instance)
        show.say(f"wrote {output}")


def info(
    file: InstanceFile,
    nearest: NearestOption = None,
    radius: RadiusOption = None,
    metric: MetricOption = None,
    depot: DepotOption = None,
    required: RequiredOption = None,
    forbidden: ForbiddenOption = None,
) -> None:
    """Tell what is in an instance file."""
    instance, has_rule = _load_even_without_rule(
        file, nearest, radius, (metric, depot, required, forbidden)
    )
    rows = [("places", f"{instance.n:,}"), *_geometry(instance)]
    if has_rule:
        rows += _coverage(instance)
    else:
        rows.append(("coverage", "the file has no rule: give --nearest K or --radius R"))
    for what, places in (("required", instance.required), ("forbidden", instance.forbidden)):
        if places:
            rows.append((what, f"{len(places):,}: {instance.describe(places)}"))
    if instance.depot is not None:
        rows.append(("depot", instance.label(instance.depot)))
    show.facts(rows, title=instance.name)


def _load_even_without_rule(
    file: str, nearest: int | None, radius: float | None, more: tuple[Any, ...]
) -> tuple[Instance, bool]:
    """The instance, and whether the file or the options say who covers whom."""
    try:
        return options.load_instance(file, nearest, radius, *more), True
    except InputError as error:
        if nearest is not None or radius is not None:
            raise
        try:
            return options.load_instance(file, None, 0.0, *more), False
        except InputError:
            raise error from None  # more than the rule is wrong


def _geometry(instance: Instance) -> list[tuple[str, str]]:
    rows = [("metric", instance.metric)]
    if instance.matrix is not None:
        rows.append(("symmetric", "yes" if instance.symmetric else "no"))
        if instance.n > 1:
            apart = instance.matrix[~np.eye(instance.n, dtype=bool)]
            rows.append(("distances", f"{apart.min():g} to {apart.max():g}"))
    elif instance.metric == "haversine":
        rows[0] = ("metric", "haversine, in kilometres")
    if instance.coordinates is not None:
        names = ("longitude", "latitude") if instance.metric == "haversine" else ("x", "y")
        if instance.metric == "geo":
            names = ("latitude", "longitude")
        for name, column in zip(names, instance.coordinates.T, strict=True):
            rows.append((name, f"{column.min():g} to {column.max():g}"))
        spots = len(np.unique(instance.coordinates.view(np.complex128)))
        if spots < instance.n:
            rows.append(("duplicates", f"{instance.n - spots:,} places share a spot with another"))
    return rows


def _coverage(instance: Instance) -> list[tuple[str, str]]:
    coverage = build_coverage(
        instance.metric, instance.coordinates, instance.matrix, instance.rule, instance.forbidden
    )
    allowed = np.setdiff1d(np.arange(instance.n), instance.forbidden)
    rows = [("coverage", rule_in_words(instance))]
    if len(allowed):
        sizes = np.diff(coverage.covers_start)[allowed] - 1
        rows.append(
            ("others covered", f"{sizes.min():,} to {sizes.max():,}, mean {sizes.mean():,.1f}")
        )
    alone = np.flatnonzero(np.diff(coverage.covered_by_start) == 0)
    verdict = f"no: nobody can cover {instance.describe(alone)}" if len(alone) else "yes"
    return [*rows, ("coverable", verdict)]
