"""Verbs of bench that run published cases: literature, gctsp, gtsp and mctp."""

from __future__ import annotations

from typing import Annotated

import typer

from covertour.cli.measuring import (
    FullTimeOption,
    MethodsOption,
    NameOption,
    OnlyOption,
    OutputOption,
    ProveOption,
    WorkersOption,
    limit_by_default,
    methods_of,
    progress,
    publish,
    several,
    target_of,
)
from covertour.cli.options import SeedOption, at_least, whole
from covertour.problem.errors import InputError


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
            methods=methods_of(methods),
            seeds=range(10 if seeds is None else seeds),
            seconds=1.0 if seconds is None else seconds,
            only=chosen,
            full_time=full_time,
            workers=workers,
            published=published,
            on_step=on_step,
        )
    publish(target, bench.literature_document(report))


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


def gtsp(
    directory: Annotated[
        str, typer.Argument(metavar="DIRECTORY", help="Where TSPLIB's .tsp files are.")
    ],
    method: Annotated[
        str, typer.Option("--method", "-m", metavar="METHOD", help="How to solve.")
    ] = "lns",
    seconds: Annotated[
        str,
        typer.Option("--seconds", "-s", metavar="S,...", help="Limits, in processor time."),
    ] = "1,5",
    seeds: Annotated[int, typer.Option(parser=whole(1), metavar="N", help="Seeds 0 to N-1.")] = 5,
    only: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="Only these instances.", show_default=False),
    ] = None,
    output: OutputOption = None,
    name: NameOption = None,
) -> None:
    """Gaps on clustered instances of the generalized TSP, beside those of GLNS.

    covertour bench gtsp tsplib --only rat783,pr1002 --seconds 1,5,20 --output results
    """
    from covertour import bench

    target = target_of(output, name or "gtsp")
    with progress() as on_step:
        report = bench.gtsp(
            directory,
            method=method,
            seconds=several("--seconds", seconds, float),
            seeds=seeds,
            only=several("--only", only, str) if only is not None else [],
            on_step=on_step,
        )
    publish(target, bench.gtsp_document(report))


def mctp(
    directory: Annotated[
        str,
        typer.Argument(
            metavar="DIR",
            help="Where the .ctp files and the tables bounds_pq.csv and bounds_p.csv are.",
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option("--method", "-m", help="How to solve, lns by default.", show_default=False),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--seconds",
            "-s",
            parser=at_least(0),
            metavar="S",
            help="The limit of a case, by default 5, and 60 with --prove.",
            show_default=False,
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help="Only these cases.", show_default=False),
    ] = None,
    full_time: Annotated[
        bool,
        typer.Option("--full-time", help="Do not stop at the published: look for better plans."),
    ] = False,
    prove: Annotated[bool, typer.Option("--prove", help="Bound the cases by exact.")] = False,
    seed: SeedOption = 0,
    output: OutputOption = None,
    name: NameOption = None,
) -> None:
    """The published cases of several vehicles: routes of at most p stops and a length of q.

    covertour bench mctp mctp --seconds 5 --output results
    """
    from covertour import bench

    if prove and method is not None:
        raise InputError("--prove and --method: give one of them, not both")
    target = target_of(output, name or ("mctp-bounds" if prove else "mctp"))
    usual = 60.0 if prove else 5.0
    with progress() as on_step:
        report = bench.mctp(
            directory,
            method="exact" if prove else method or "lns",
            seconds=usual if seconds is None else seconds,
            only=several("--only", only, str) if only is not None else [],
            full_time=full_time,
            seed=seed,
            on_step=on_step,
        )
    publish(target, bench.mctp_document(report))
