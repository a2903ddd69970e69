"""The verb bench: literature, gctsp, random, learned and scale, with tables, files, pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from covertour.cli.asking import quota as parse_quota
from covertour.cli.asking import share
from covertour.cli.measuring import progress, publish, several, target_of
from covertour.cli.options import SeedOption, at_least, on_cluster, whole
from covertour.problem.errors import InputError
from covertour.problem.goals import Quota

if TYPE_CHECKING:
    from matplotlib.axes import Axes

app = typer.Typer(
    help="Measure methods: on the literature's cases, random instances, learned ones, at scale.",
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
    seconds: Annotated[float | None, limit_by_default(1)] = None,
    only: OnlyOption = None,
    full_time: FullTimeOption = False,
    published: Annotated[
        str | None,
        typer.Option(
            metavar="CSV",
            help="Results of others to put beside: columns instance, nearest, X_best, X_avg, "
            "X_sec for each method X.",
            show_default=False,
        ),
    ] = None,
    prove: ProveOption = False,
    workers: WorkersOption = 1,
    output: OutputOption = None,
    name: NameOption = None,
) -> None:
    """How often and how soon methods reach the best known tours of the literature."""
    from covertour import bench

    chosen = several("--only", only, str) if only is not None else []
    if prove:
        for option, given in (
            ("--methods", methods),
            ("--seeds", seeds),
            ("--published", published),
        ):
            if given is not None:
                raise InputError(f"--prove and {option}: give one of them, not both")
        target = target_of(output, name or "literature-proofs")
        with progress() as on_step:
            proofs = bench.prove_literature(
                directory,
                best_known,
                seconds=600.0 if seconds is None else seconds,
                only=chosen,
                on_step=on_step,
            )
        publish(target, bench.proof_document(proofs))
        return
    target = target_of(output, name or "literature")
    with progress() as on_step:
        report = bench.literature(
            directory,
            best_known,
            methods=_methods(methods),
            seeds=range(10 if seeds is None else seeds),
            seconds=1.0 if seconds is None else seconds,
            only=chosen,
            full_time=full_time,
            workers=workers,
            published=published,
            on_step=on_step,
        )
    publish(target, bench.literature_document(report))


@app.command()
def gctsp(
    directory: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="Where the files and the tables small_medium.csv and large.csv are.",
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option("--method", "-m", help="How to solve, lns by default.", show_default=False),
    ] = None,
    seconds: Annotated[float | None, limit_by_default(10)] = None,
    only: OnlyOption = None,
    full_time: FullTimeOption = False,
    prove: ProveOption = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep what the file in --output has proven; do the others."),
    ] = False,
    seed: SeedOption = 0,
    output: OutputOption = None,
    name: NameOption = None,
) -> None:
    """The published cases of the generalized covering salesman: cover at least P customers.

    covertour bench gctsp gctsp --prove --seconds 60 --output results
    """
    from covertour import bench
    from covertour.storage import write_text

    if prove and method is not None:
        raise InputError("--prove and --method: give one of them, not both")
    if resume and output is None:
        raise InputError("--resume: give --output too, where the earlier results are")
    target = target_of(output, name or ("gctsp-proofs" if prove else "gctsp"))
    file = None if target.directory is None else target.directory / f"{target.name}.csv"
    before = bench.read_gctsp_rows(file) if resume and file is not None else ()

    def keep(report: bench.GctspReport) -> None:
        if file is not None:
            write_text(file, bench.gctsp_document(report).tables[0].csv())

    usual = 600.0 if prove else 10.0
    with progress() as on_step:
        report = bench.gctsp(
            directory,
            method="exact" if prove else method or "lns",
            seconds=usual if seconds is None else seconds,
            only=several("--only", only, str) if only is not None else [],
            full_time=full_time,
            seed=seed,
            before=before,
            on_report=keep,
            on_step=on_step,
        )
    publish(target, bench.gctsp_document(report))


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
            methods=_methods(methods),
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


def _methods(text: str | None) -> list[str]:
    return ["lns"] if text is None else several("--methods", text, str)
