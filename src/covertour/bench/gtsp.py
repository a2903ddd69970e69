"""The generalized TSP as a yardstick: clusters of TSPLIB's places, of each of which one is visited.

With each place covering its cluster these are covering instances. The clusters are those of
GTSPLIB (Fischetti, Salazar González and Toth 1997), the best known lengths too; beside the gaps
stand those of GLNS (Smith and Imeson 2017), the best method for them, as published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import Any

import numpy as np

from covertour.bench.runs import (
    OnStep,
    at_most,
    check_methods,
    check_positive,
    gap_percent,
    warm_up,
)
from covertour.bench.tables import Column, Document, Table, percent_text, time_text
from covertour.formats import read
from covertour.problem import metric as metrics
from covertour.problem.errors import InputError, SolveError
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.problem.referee import verify
from covertour.solving.solve import solve
from covertour.solving.stop import Progress, TargetLength

PLACES_PER_CLUSTER = 5


@dataclass(frozen=True)
class Known:
    """The best known length; what GLNS has on the average, in percent above it, in how long."""

    length: float
    glns_gap: float | None = None
    glns_seconds: float | None = None


KNOWN = {
    "eil51": Known(174),
    "berlin52": Known(4_040),
    "kroA100": Known(9_711),
    "kroA200": Known(13_406, 0.0, 0.1),
    "kroB200": Known(13_111, 0.0, 0.1),
    "lin318": Known(20_765, 0.0, 0.3),
    "pcb442": Known(21_657, 0.04, 1.0),
    "rat783": Known(3_262, 0.14, 6.7),
    "dsj1000": Known(9_187_884, 0.10, 12.0),
    "pr1002": Known(114_311, 0.015, 12.0),
}
"""By the name of the TSPLIB file. GLNS: its C++ version of 2026 on an Apple M4 Pro."""


@dataclass(frozen=True)
class GtspRow:
    """A case after so many seconds of processor time, over all seeds.

    ``reached``: how many runs had a tour as short as the best known by then; ``seconds_to_known``:
    the mean processor time of those until they had it, None where none did.
    """

    case: str
    places: int
    clusters: int
    known: float
    limit: float
    runs: int
    mean_gap: float
    worst_gap: float
    reached: int
    seconds_to_known: float | None
    glns_gap: float | None
    glns_seconds: float | None


@dataclass(frozen=True)
class GtspReport:
    """The rows by case and limit; the method and the seeds, 0 to ``seeds`` - 1."""

    method: str
    seeds: int
    rows: tuple[GtspRow, ...]


def clusters(instance: Instance) -> IntArray:
    """The cluster of each place, int64[n], as GTSPLIB makes them.

    There is one for every five places. The first centre is the place farthest from the first
    place, each next one the place farthest from all centres so far; a place belongs to the nearest
    centre, and of several to the earliest.
    """
    assert instance.coordinates is not None
    points = instance.coordinates

    def away(place: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        row = metrics.distances(instance.metric, points[None, place], points)
        row[place] = 0.0
        return row

    centre = int(np.argmax(away(0)))
    nearest = away(centre)
    cluster = np.zeros(instance.n, dtype=np.int64)
    for number in range(1, -(-instance.n // PLACES_PER_CLUSTER)):
        row = away(int(np.argmax(nearest)))
        cluster[row < nearest] = number
        nearest = np.minimum(nearest, row)
    return cluster


def clustered(instance: Instance) -> Instance:
    """The places of an instance, each of which covers its cluster."""
    cluster = clusters(instance)
    members = [np.flatnonzero(cluster == number) for number in range(cluster.max() + 1)]
    return Instance.from_coordinates(
        instance.coordinates,  # type: ignore[arg-type]
        metric=instance.metric,
        sets=[members[number].tolist() for number in cluster],
        name=instance.name,
    )


def read_gtsp_cases(directory: str | Path, only: Sequence[str] = ()) -> tuple[Path, ...]:
    """The TSPLIB files in a directory with a known best length; ``only``: names such as rat783."""
    folder = Path(directory)
    for name in only:
        if name not in KNOWN:
            raise InputError(f"only: no best length of {name!r} is known; of {', '.join(KNOWN)}")
    files = [folder / f"{name}.tsp" for name in KNOWN if not only or name in only]
    missing = [str(file) for file in files if not file.is_file()]
    if only and missing:
        raise InputError(f"{missing[0]}: no such file")
    found = tuple(file for file in files if file.is_file())
    if not found:
        raise InputError(f"{folder}: expected TSPLIB's files in there, such as {files[0].name}")
    return found


def gtsp(
    directory: str | Path,
    *,
    method: str = "lns",
    seconds: Sequence[float] = (1.0, 5.0),
    seeds: int = 5,
    only: Sequence[str] = (),
    on_step: OnStep | None = None,
) -> GtspReport:
    """Run a method on the clustered TSPLIB files of a directory, and read its gaps at limits.

    Limits are seconds of processor time, so that a busy machine does not matter. One run for each
    seed goes on to the largest, or to the best known length; it is not told the limits.
    """
    check_methods([method], "method")
    check_positive("seconds", seconds)
    check_positive("seeds", [seeds])
    files = read_gtsp_cases(directory, only)
    step = on_step or (lambda done, whole, what: None)
    rows: list[GtspRow] = []
    whole = len(files) * seeds
    for done, file in enumerate(files):
        known = KNOWN[file.stem]
        instance = clustered(read(file, nearest=0))
        step(done * seeds, whole, f"{file.stem}: warming up")
        warm_up(instance, [method])
        runs = []
        for seed in range(seeds):
            step(done * seeds + seed, whole, f"{file.stem}: seed {seed}")
            runs.append(_run(instance, method, max(seconds), seed, known.length))
        rows += [_row(instance, known, limit, runs) for limit in sorted(set(seconds))]
    step(whole, whole, "")
    return GtspReport(method, seeds, tuple(rows))


Found = list[tuple[float, float]]
"""The better tours of a run: seconds of processor time, and length."""


def _run(instance: Instance, method: str, seconds: float, seed: int, known: float) -> Found:
    _ = instance.coverage
    found: Found = []
    begin = process_time()

    def note(_: float, length: float, __: IntArray) -> None:
        found.append((process_time() - begin, length))

    def enough(_: Progress) -> bool:
        return process_time() - begin >= seconds

    stop = TargetLength(known) | enough
    result = solve(instance, method, stop=stop, seed=seed, on_improve=note)
    if result.stopped == "interrupt":  # its best tour so far is no measurement
        raise KeyboardInterrupt
    if not verify(instance, result.tour).ok:
        raise SolveError(f"{method} made a wrong tour of {instance.name}")
    return found or [(process_time() - begin, result.length)]


def _row(instance: Instance, known: Known, limit: float, runs: Sequence[Found]) -> GtspRow:
    # A first tour that came later than the limit counts as if it had been in time.
    lengths = [min([run[0][1], *(long for at, long in run if at <= limit)]) for run in runs]
    gaps = [gap_percent(length, known.length) for length in lengths]
    times = [
        next(at for at, long in run if at_most(long, known.length))
        for run, length in zip(runs, lengths, strict=True)
        if at_most(length, known.length)
    ]
    return GtspRow(
        case=instance.name,
        places=instance.n,
        clusters=-(-instance.n // PLACES_PER_CLUSTER),
        known=known.length,
        limit=limit,
        runs=len(runs),
        mean_gap=fmean(gaps),
        worst_gap=max(gaps),
        reached=len(times),
        seconds_to_known=fmean(times) if times else None,
        glns_gap=known.glns_gap,
        glns_seconds=known.glns_seconds,
    )


def gtsp_document(report: GtspReport) -> Document:
    """The report as a table and sentences."""
    columns = (
        Column("case", "case", "s"),
        Column("places", "places", "d"),
        Column("clusters", "clusters", "d"),
        Column("known", "best known", ",.0f"),
        Column("limit", "limit", time_text),
        Column("runs", "runs", "d", detail=True),
        Column("mean_gap", "mean gap %", percent_text),
        Column("worst_gap", "worst gap %", percent_text),
        Column("reached", "at best known", "d"),
        Column("seconds_to_known", "mean time to it", time_text),
        Column("glns_gap", "GLNS gap %", percent_text),
        Column("glns_seconds", "GLNS time", time_text),
    )
    rows = tuple(tuple(getattr(row, column.name) for column in columns) for row in report.rows)
    better = [row for row in report.rows if row.mean_gap < 0]
    return Document(
        "The generalized TSP: clusters of TSPLIB's places",
        (Table("Cases", columns, rows),),
        (
            f"{report.method}, {report.seeds} seeds; processor time. A run that reaches the "
            "best known length ends there.",
            "A run goes on to its largest limit, and the gaps at the others are those on its way.",
            "GLNS: mean gap and time as published, of its C++ version of 2026 on an Apple M4 Pro, "
            "a faster processor than most.",
            *(f"{row.case}: shorter than the best known." for row in better),
        ),
    )
