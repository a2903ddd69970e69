"""The verbs that search: solve, demo, methods, warmup."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from covertour.cli import options, show
from covertour.cli.asking import Asked, asking
from covertour.cli.near import Old
from covertour.cli.options import (
    ExcelOption,
    FormatOption,
    InstanceFile,
    JsonOption,
    SeedOption,
    TilesOption,
    at_least,
    whole,
)
from covertour.formats import PICTURE_ENDINGS
from covertour.formats.manner import Manner
from covertour.problem.errors import InputError
from covertour.problem.instance import FEATURES, Instance
from covertour.problem.tour import Tour
from covertour.solving.result import Result
from covertour.solving.stop import (
    GapBelow,
    MaxIterations,
    MaxSeconds,
    NoImprovement,
    Stop,
    StoppingRule,
    TargetLength,
)

if TYPE_CHECKING:
    from covertour.solving.method import Decoding

COMPILE_SECONDS, COMPILE_FLEET_SECONDS, COMPILE_DECODING_SECONDS = 12, 25, 8
"""About how long the first solve on a machine compiles the search, that for fleets, and what
decodes learned tours; said to the user, nothing depends on it."""

INTERRUPTED = 130
"""The exit code after Ctrl-C or SIGTERM, as shells have it."""

DEMO_RADIUS = 20
DEMO_ENDINGS = (".html", ".png", ".csv", ".geojson", ".gpx")

SecondsOption = Annotated[
    float | None,
    typer.Option(
        "--seconds",
        "-s",
        parser=at_least(0),
        metavar="S",
        help="Search for S seconds; by default 1 for up to 1,000 places, more for more.",
        show_default=False,
    ),
]


@asking
def solve(
    file: InstanceFile,
    asked: Asked = Asked(),
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="How to solve; `covertour methods` lists them.",
            autocompletion=options.complete_method,
        ),
    ] = "lns",
    seconds: SecondsOption = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            parser=whole(0),
            metavar="N",
            help="Stop after N iterations; makes a solve repeatable.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(
            parser=at_least(0),
            metavar="L",
            help="Stop at a tour of at most this length.",
            show_default=False,
        ),
    ] = None,
    no_improvement: Annotated[
        float | None,
        typer.Option(
            "--no-improvement",
            parser=at_least(0),
            metavar="S",
            help="Stop when nothing has improved for S seconds.",
            show_default=False,
        ),
    ] = None,
    prove: Annotated[
        bool,
        typer.Option("--prove", help="Search first, then prove how short a tour can be."),
    ] = False,
    gap: Annotated[
        float | None,
        typer.Option(
            parser=at_least(0),
            metavar="G",
            help="Stop when the tour is proven to be within this share of the shortest, "
            "for example 0.01; goes with --prove.",
            show_default=False,
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            parser=whole(0),
            metavar="N",
            help="Learned methods: draw N tours beside the likeliest; the shortest counts.",
            show_default=False,
        ),
    ] = None,
    symmetries: Annotated[
        bool,
        typer.Option(
            "--symmetries", help="Learned methods: turn and mirror the places in all eight ways."
        ),
    ] = False,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Learned methods: tours as the network makes them, unpolished."),
    ] = False,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="Learned methods: other weights, by name or as `covertour export` wrote them.",
            show_default=False,
        ),
    ] = None,
    seed: SeedOption = 0,
    workers: Annotated[
        int, typer.Option(parser=whole(1), metavar="W", help="Search on so many threads.")
    ] = 1,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Large instances: let the workers of this dask scheduler search, such as "
            "tcp://10.0.0.1:8786.",
            show_default=False,
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(metavar="TOUR", help="Start from the tour in this file.", show_default=False),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the tour; the ending decides: .html (map), .pdf (sheets for the "
            "drivers), .png, .svg, .csv and .xlsx (itinerary), .kml, .gpkg, .geojson, .gpx, "
            ".json, .tour; or - for standard output. May be given several times.",
            show_default=False,
        ),
    ] = None,
    near: Annotated[
        str | None,
        typer.Option(
            metavar="PLAN",
            help="Prefer the stops of this plan, an itinerary that covertour wrote.",
            show_default=False,
        ),
    ] = None,
    near_cost: Annotated[
        float | None,
        typer.Option(
            "--near-cost",
            parser=at_least(0),
            metavar="COST",
            help="How much longer the tour may be to avoid a new stop; by default as much as the "
            "plan's mean leg.",
            show_default=False,
        ),
    ] = None,
    tiles: TilesOption = None,
    excel: ExcelOption = False,
    format: FormatOption = None,
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Find a short covering tour.

    covertour solve villages.csv --radius 10 --output map.html
    """
    outputs = output or []
    to_standard = options.STANDARD in outputs
    if as_json and to_standard:
        raise InputError("--json and --output -: both are for standard output; give one of them")
    options.check_outputs(outputs, [file, start, near], outcome=True, format=format)
    if near_cost is not None and near is None:
        raise InputError("--near-cost: goes with --near PLAN")
    instance = options.load_instance(file, asked, quiet=quiet or as_json)
    options.check_outputs_fit(instance, outputs, format)
    manner = Manner(tiles, asked.times, excel)
    start_tour = None if start is None else options.load_tour(start, instance)
    old = None if near is None else Old.read(near, instance, near_cost, quiet or as_json)
    if not (quiet or as_json):
        options.tell_of_oddities(instance)

    # What is wrong with the files has been told by now, before the search is even loaded.
    from covertour.solving.methods import METHODS, default_stop

    options.check_method(method, list(METHODS))
    if prove and method not in ("lns", "exact"):
        raise InputError(f"--prove: proofs are by the method exact, not by {method}")
    method = "exact" if prove else method
    if gap is not None and not METHODS[method].proves:
        raise InputError("--gap: goes with --prove; without a proof no gap is known")
    decoding = _decoding(method, samples, symmetries, weights, raw)
    stop = _stop(seconds, iterations, target, no_improvement, gap)
    if seconds is None and iterations is None and no_improvement is None:
        stop |= default_stop(instance, method)
    asked_for = instance if old is None else old.preferred(instance)
    with options.on_cluster(cluster) as executor:
        result = _search(
            asked_for, method, stop, seed, workers, start_tour, quiet, decoding, executor
        )
    kept = ""
    if old is not None:
        kept = old.in_words(result)
        # What is shown and written is the tour among the places as they are: a new stop is no way
        # to drive. What was proven is proven of another cost.
        result = replace(result, instance=instance, bound=None, trace=())
    written, failures = options.write_outputs(outputs, instance, result, format, manner)
    if as_json:
        show.say(result.to_json())
    elif not quiet and not to_standard:
        show.summary(instance, result, manner.times)
        if kept:
            show.say(kept)
        show.say("")
        if show.stops_of(instance, result.tour) <= show.LONGEST_ITINERARY:
            show.itinerary(instance, result.tour, manner.times)
            show.say("")
        options.tell_written(written)
        advice = _where_to_look(instance, result, written)
        if advice:
            show.say(advice)
    if failures:
        raise InputError("; ".join(failures))
    _leave(result)


def _where_to_look(instance: Instance, result: Result, written: Sequence[str]) -> str:
    """The last line: where the stops are listed, or how to keep them."""
    name = "tour.csv" if instance.coordinates is None else "map.html"
    stops = show.stops_of(instance, result.tour)
    if stops <= show.LONGEST_ITINERARY:
        return "" if written else f"To keep it, add for example: --output {name}"
    lists = [path for path in written if not path.lower().endswith(PICTURE_ENDINGS)]
    if lists:
        return f"Its {stops:,} stops are listed in {lists[0]}"
    return f"To list its {stops:,} stops, add for example: --output {name}"


def _leave(result: Result) -> None:
    """Exit as shells expect it of what was interrupted, also where there is a tour to show."""
    if result.stopped == "interrupt":
        raise typer.Exit(INTERRUPTED)


def _stop(
    seconds: float | None,
    iterations: int | None,
    target: float | None,
    idle: float | None,
    gap: float | None,
) -> Stop:
    """The limits that were given, together."""
    stop: Stop = Stop()
    if seconds is not None:
        stop |= MaxSeconds(seconds)
    if iterations is not None:
        stop |= MaxIterations(iterations)
    if target is not None:
        stop |= TargetLength(target)
    if idle is not None:
        stop |= NoImprovement(seconds=idle)
    if gap is not None:
        stop |= GapBelow(gap)
    return stop


def _decoding(
    method: str, samples: int | None, symmetries: bool, weights: str | None, raw: bool
) -> Decoding | None:
    """What was asked of a learned method; None if nothing, and refused for the others."""
    from covertour.solving.method import Decoding
    from covertour.solving.methods import METHODS

    given = {
        "--samples": samples is not None,
        "--symmetries": symmetries,
        "--weights": weights,
        "--raw": raw,
    }
    for option, value in given.items():
        if value and METHODS[method].model is None:
            raise InputError(f"{option}: is for learned methods, such as am-gain, not for {method}")
    return Decoding(samples or 0, symmetries, weights, raw) if any(given.values()) else None


def _search(
    instance: Instance,
    method: str,
    stop: StoppingRule,
    seed: int = 0,
    workers: int = 1,
    start: Tour | None = None,
    quiet: bool = False,
    decoding: Decoding | None = None,
    executor: Executor | None = None,
) -> Result:
    """Solve, telling whoever watches the terminal how it goes."""
    from covertour.solving.solve import solve as find_tour

    prepare(instance, method, quiet, decoding)  # before the live line shows a clock
    shown = show.on_terminal() and not quiet
    with show.live_line(instance, stop, shown) as on_progress:
        return find_tour(
            instance,
            method,
            stop=stop,
            seed=seed,
            workers=workers,
            start=start,
            decoding=decoding,
            executor=executor,
            on_progress=on_progress,
        )


def methods(as_json: JsonOption = False) -> None:
    """List the methods of solving."""
    from rich.table import Table

    from covertour.solving.methods import METHODS

    if as_json:
        found = [
            {
                "name": name,
                "summary": method.summary,
                "learned": method.model is not None,
                "proves": method.proves,
                "handles": [feature for feature in FEATURES if feature in method.handles],
            }
            for name, method in METHODS.items()
        ]
        show.say(json.dumps(found))
        return
    table = Table(box=None, padding=(0, 3, 0, 0), header_style="bold", pad_edge=False)
    table.add_column("method", no_wrap=True)
    table.add_column("what it does")
    table.add_column("beyond the plain problem")
    for name, method in METHODS.items():
        handled = [feature for feature in FEATURES if feature in method.handles]
        everything = len(handled) == len(FEATURES)
        table.add_row(name, method.summary, "everything" if everything else ", ".join(handled))
    show.show(table)


def demo(
    directory: Annotated[
        str, typer.Option("--directory", "-d", help="Where to put the map and the other files.")
    ] = "demo",
    seconds: SecondsOption = None,
) -> None:
    """Plan a round trip of mobile clinics through Senegal, within 20 km of every town."""
    from covertour import formats
    from covertour.data import demo_path

    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "a file of that name exists" if folder.is_file() else error.strerror
        raise InputError(
            f"{directory}: cannot make this directory ({why}); choose another with --directory"
        ) from None
    paths = [str(folder / f"senegal{ending}") for ending in DEMO_ENDINGS]
    options.check_outputs(paths, [], outcome=True)
    instance = formats.read(demo_path(), radius=DEMO_RADIUS)

    from covertour.solving.methods import default_stop

    stop = default_stop(instance) if seconds is None else MaxSeconds(seconds)
    result = _search(instance, "lns", stop)
    written, failures = options.write_outputs(paths, instance, result)
    show.itinerary(instance, result.tour)
    show.say("")
    show.summary(instance, result)
    show.say("")
    uses = ("a map for the browser", "a picture", "the itinerary", "for QGIS", "for a GPS")
    show.facts(
        [(path, use) for path, use in zip(paths, uses, strict=True) if path in written],
        title=f"Every place is within {DEMO_RADIUS} km of a stop. Written:",
    )
    show.say("")
    show.say("Now your own places: covertour solve places.csv --radius 20 --output map.html")
    if failures:
        raise InputError("; ".join(failures))
    _leave(result)


def prepare(instance: Instance, method: str, quiet: bool, decoding: Decoding | None = None) -> None:
    """Load what a method needs for an instance, and say so where it has to be compiled first."""
    from covertour.solving.loading import load
    from covertour.solving.methods import METHODS

    _ = instance.coverage  # where nobody covers some place, say so before anything is compiled

    def tell() -> None:
        seconds = COMPILE_SECONDS if METHODS[method].searches else COMPILE_DECODING_SECONDS
        if instance.fleet is not None:
            seconds = COMPILE_FLEET_SECONDS
        show.note(f"compiling {method}, once, about {seconds} s ...")

    load(method, instance, decoding, None if quiet else tell)


def warmup(
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="Also the search for quotas, budgets, open tours, fleets and the like."
        ),
    ] = False,
) -> None:
    """Compile the search ahead, so that the first solve starts at once."""
    from covertour.solving import loading

    compiling: list[float] = []  # when it began, if anything has to be compiled

    def tell_of_compiling() -> None:
        how_long = "a few minutes" if everything else "less than a minute"
        show.note(f"compiling the search for every kind of instance, {how_long} ...")
        compiling.append(perf_counter())

    loading.warmup(tell_of_compiling, everything)
    if compiling:
        show.say(f"The search is compiled ({perf_counter() - compiling[0]:.0f} s).")
    else:
        show.say("The search is compiled already.")
