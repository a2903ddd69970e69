"""The verb bench: literature, gctsp, gtsp, mctp, random, learned, scale; tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from covertour.cli.asking import quota as parse_quota
from covertour.cli.asking import share
from covertour.cli.measuring import (
    ClusterOption,
    MethodsOption,
    NameOption,
    OutputOption,
    RuleOption,
    WorkersOption,
    methods_of,
    progress,
    publish,
    several,
    target_of,
)
from covertour.cli.options import SeedOption, at_least, on_cluster, whole
from covertour.cli.published import gctsp, gtsp, literature, mctp
from covertour.problem.errors import InputError
from covertour.problem.goals import Quota

if TYPE_CHECKING:
    from matplotlib.axes import Axes

app = typer.Typer(
    help="Measure methods: on the literature's cases, random instances, learned ones, at scale.",
    no_args_is_help=False,
)

for verb in (literature, gctsp, gtsp, mctp):
    app.command()(verb)


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
            help="Make one more run of this method per instance for the reference, which is the "
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
    quota: Annotated[
        Quota | None,
        typer.Option(
            parser=parse_quota,
            metavar="SHARE",
            help="Give places random weights, and serve this share of them, such as 80%.",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            parser=share,
            metavar="SHARE",
            help="Give places random weights, and serve as much as this share of the length of a "
            "tour that serves all allows, such as 50%.",
            show_default=False,
        ),
    ] = None,
    workers: WorkersOption = 1,
    cluster: ClusterOption = None,
    output: OutputOption = None,
    name: NameOption = None,
) -> None:
    """Mean length, gap to a reference and time of methods on random instances, and a picture.

    covertour bench random 100 --methods lns --seconds 0.005,0.02,0.1 --output results
    """
    from covertour import bench

    if seconds is None and iterations is None:
        raise InputError("--seconds, --iterations: give at least one limit")
    target = target_of(output, name or "random")
    with on_cluster(cluster) as executor, progress(in_seconds=seconds is not None) as on_step:
        report = bench.random(
            n,
            rule,
            count=count,
            seed=seed,
            methods=methods_of(methods),
            seconds=several("--seconds", seconds, float) if seconds is not None else (),
            iterations=several("--iterations", iterations, int) if iterations is not None else (),
            reference=reference,
            reference_seconds=reference_seconds,
            layout=layout,
            quota=quota,
            budget=budget,
            workers=workers,
            executor=executor,
            on_step=on_step,
        )
    document = bench.random_document(report)

    def draw() -> Axes:
        from covertour.plot import plot_gap_against_time

        ax = plot_gap_against_time(report.rows)
        instances = "1 instance" if report.count == 1 else f"{report.count} instances"
        ax.set_title(f"{document.title}; {instances}", fontsize=10)
        return ax

    publish(target, document, draw)


@app.command()
def learned(
    method: Annotated[
        str, typer.Option("--method", "-m", metavar="METHOD", help="A learned method.")
    ] = "am-gain",
    sizes: Annotated[
        str, typer.Option(metavar="N,...", help="Numbers of places.")
    ] = "20,50,100,200",
    rule: RuleOption = "nearest 7",
    count: Annotated[
        int, typer.Option(parser=whole(1), metavar="C", help="How many instances per size.")
    ] = 100,
    seed: SeedOption = 0,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|DIR",
            help="Shipped weights by name, or those of `covertour export`.",
            show_default=False,
        ),
    ] = None,
    reference_seconds: Annotated[
        float, typer.Option(parser=at_least(0), metavar="S", help="The limit of a proof.")
    ] = 10.0,
    workers: Annotated[
        int, typer.Option(parser=whole(1), metavar="W", help="Threads where many are solved.")
    ] = 2,
    output: OutputOption = None,
    name: NameOption = None,
) -> None:
    """Gap to the optimum and speed of a learned method: greedy, with symmetries, samples, search.

    covertour bench learned --method am-gain --sizes 20,50,100 --output results
    """
    from covertour import bench

    target = target_of(output, name or "learned")
    with progress() as on_step:
        report = bench.learned(
            method,
            several("--sizes", sizes, int),
            rule,
            count=count,
            seed=seed,
            weights=weights,
            reference_seconds=reference_seconds,
            workers=workers,
            on_step=on_step,
        )
    publish(target, bench.learned_document(report))


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
    cluster: ClusterOption = None,
    output: OutputOption = None,
    name: NameOption = None,
) -> None:
    """How time, length and memory grow with the number of places."""
    from covertour import bench

    target = target_of(output, name or "scale")
    with progress(in_seconds=True) as on_step:
        report = bench.scale(
            several("--sizes", sizes, int),
            several("--seconds", seconds, float),
            rule,
            method=method,
            seed=seed,
            separate=separate,
            workers=workers,
            cluster=cluster,
            on_step=on_step,
        )
    publish(target, bench.scale_document(report))
