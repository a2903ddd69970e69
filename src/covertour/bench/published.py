"""The cases of the literature: how often, and how soon, methods reach the best known tours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

from covertour.bench.beside import Results, beside, read_published
from covertour.bench.cases import Case, read_cases
from covertour.bench.runs import (
    OnStep,
    Run,
    at_most,
    check_methods,
    check_positive,
    gap_percent,
    timed_run,
    warm_up,
)
from covertour.bench.tables import Column, Document, Table, percent_text, time_text
from covertour.problem.errors import InputError
from covertour.solving.stop import MaxSeconds, Stop, TargetLength


@dataclass(frozen=True)
class LiteratureRow:
    """A method on a case, over some seeds.

    ``best``: the shortest length found, ``mean``: that over the seeds; gaps are in percent of the
    best known. ``reached``: how many seeds found a tour as short as the best known.
    ``median_seconds``: over the seeds, from the call of ``solve`` with the coverage built to the
    moment the best known length was found; None where at least half of the seeds did not find it.
    ``mean_seconds``: of whole runs.
    """

    instance: str
    nearest: int
    method: str
    best_known: float
    best: float
    best_gap_percent: float
    mean_gap_percent: float
    worst_gap_percent: float
    seeds: int
    reached: int
    median_seconds: float | None
    mean: float
    mean_seconds: float

    @property
    def better(self) -> bool:
        """Whether a tour shorter than the best known was found."""
        return not at_most(self.best_known, self.best)


@dataclass(frozen=True)
class LiteratureTotal:
    """A method over all cases.

    ``all_reached``: cases where every seed reached the best known. ``mean_median_seconds``: mean
    over the cases of the median time to the best known; a case without such a median counts with
    the time limit, and ``without_median`` says how many those are.
    """

    method: str
    cases: int
    all_reached: int
    mean_gap_percent: float
    worst_gap_percent: float
    mean_median_seconds: float
    without_median: int


@dataclass(frozen=True)
class LiteratureReport:
    """The rows by case and method, and the totals by method; ``seconds``: the limit of a run.

    ``published``: results of others on the same cases, to be put beside them.
    """

    seconds: float
    rows: tuple[LiteratureRow, ...]
    totals: tuple[LiteratureTotal, ...]
    published: Results = field(default_factory=dict)


def literature(
    directory: str | Path,
    best_known_csv: str | Path,
    *,
    methods: Sequence[str] = ("lns",),
    seeds: Sequence[int] = range(10),
    seconds: float = 1.0,
    only: Sequence[str] = (),
    full_time: bool = False,
    workers: int = 1,
    published: str | Path | None = None,
    on_step: OnStep | None = None,
) -> LiteratureReport:
    """Run methods on the cases of a best-known file, see :func:`covertour.bench.cases.read_cases`.

    A run ends after ``seconds`` or at a tour as short as the best known; with ``full_time`` only
    after the seconds, which looks for better ones. What is timed: from the call of ``solve``, with
    the coverage built and the method compiled beforehand, to the moment the method found the tour.
    ``published``: a file with results of others, see :func:`covertour.bench.beside.read_published`.
    """
    check_methods(methods)
    check_positive("seconds", [seconds])
    if not seeds:
        raise InputError("seeds: expected at least one")
    cases = read_cases(directory, best_known_csv, only)
    others = {} if published is None else read_published(published)
    for name, results in others.items():
        for case in cases:
            if (case.name, case.nearest) not in results:
                raise InputError(f"{published}: no results of {name} for {case.title}")
    step = on_step or (lambda done, whole, what: None)
    whole = len(cases) * len(methods) * len(seeds)
    step(0, whole, "warming up")
    warm_up(cases[0].load(), methods)
    rows = []
    done = 0
    for case in cases:
        instance = case.load()
        stop: Stop = MaxSeconds(seconds)
        if not full_time:
            stop |= TargetLength(case.best_known)
        for method in methods:
            runs = []
            for seed in seeds:
                step(done, whole, f"{case.title}: {method}")
                runs.append(timed_run(instance, method, stop, seed, workers))
                done += 1
            rows.append(_row(case, method, runs))
    step(whole, whole, "")
    totals = tuple(
        _total(method, [row for row in rows if row.method == method], seconds)
        for method in dict.fromkeys(methods)
    )
    return LiteratureReport(seconds, tuple(rows), totals, others)


def _row(case: Case, method: str, runs: Sequence[Run]) -> LiteratureRow:
    lengths = [run.result.length for run in runs]
    gaps = [gap_percent(length, case.best_known) for length in lengths]
    times = [run.seconds_to(case.best_known) for run in runs]
    middle = median(float("inf") if time is None else time for time in times)
    return LiteratureRow(
        instance=case.name,
        nearest=case.nearest,
        method=method,
        best_known=case.best_known,
        best=min(lengths),
        best_gap_percent=min(gaps),
        mean_gap_percent=fmean(gaps),
        worst_gap_percent=max(gaps),
        seeds=len(runs),
        reached=sum(time is not None for time in times),
        median_seconds=middle if middle < float("inf") else None,
        mean=fmean(lengths),
        mean_seconds=fmean(run.seconds for run in runs),
    )


def _total(method: str, rows: Sequence[LiteratureRow], seconds: float) -> LiteratureTotal:
    medians = [seconds if row.median_seconds is None else row.median_seconds for row in rows]
    return LiteratureTotal(
        method=method,
        cases=len(rows),
        all_reached=sum(row.reached == row.seeds for row in rows),
        mean_gap_percent=fmean(row.mean_gap_percent for row in rows),
        worst_gap_percent=max(row.worst_gap_percent for row in rows),
        mean_median_seconds=fmean(medians),
        without_median=sum(row.median_seconds is None for row in rows),
    )


def literature_document(report: LiteratureReport) -> Document:
    """The report as tables and sentences."""
    columns = (
        Column("instance", "instance", "s"),
        Column("nearest", "nearest", "d"),
        Column("method", "method", "s"),
        Column("best_known", "best known", ",g"),
        Column("best", "best", ",.10g"),
        Column("best_gap_percent", "best gap %", percent_text, detail=True),
        Column("mean_gap_percent", "mean gap %", percent_text),
        Column("worst_gap_percent", "worst gap %", percent_text),
        Column("seeds", "seeds", "d", detail=True),
        Column("reached", "reached", "d"),
        Column("median_seconds", "median time", time_text),
    )
    rows = tuple(tuple(getattr(row, column.name) for column in columns) for row in report.rows)
    total_columns = (
        Column("method", "method", "s"),
        Column("cases", "cases", "d"),
        Column("all_reached", "all seeds reached it", "d"),
        Column("mean_gap_percent", "mean gap %", percent_text),
        Column("worst_gap_percent", "worst gap %", percent_text),
        Column("mean_median_seconds", "mean of median times", "s"),
    )
    totals = tuple(
        (
            total.method,
            total.cases,
            total.all_reached,
            total.mean_gap_percent,
            total.worst_gap_percent,
            (">= " if total.without_median else "") + time_text(total.mean_median_seconds),
        )
        for total in report.totals
    )
    sentences = [
        f"Up to {time_text(report.seconds)} per run; gaps are to the best known length.",
        "Median time: over the seeds, from the call of solve, with the coverage built before, to "
        "the moment the best known length was found; a dash where half of the seeds or more did "
        "not find it.",
    ]
    sentences += [
        f"{total.method}: all seeds reached the best known on {total.all_reached} of "
        f"{total.cases} cases."
        + (
            f" {total.without_median} cases have no median and count with the time limit."
            if total.without_median
            else ""
        )
        for total in report.totals
    ]
    tables = [Table("Cases", columns, rows), Table("All cases", total_columns, totals)]
    if report.published:
        tables += beside(report.rows, report.published)
        sentences.append(
            "A run of ours also ends when it found the best known length; published times are "
            "those of whole runs on the machines of their authors."
        )
    return Document(
        "The cases of the literature",
        tuple(tables),
        tuple(sentences),
        tuple(
            f"BETTER THAN THE BEST KNOWN: {row.instance}, nearest {row.nearest}: {row.method} "
            f"found {row.best:.10g}, best known was {row.best_known:.10g}"
            for row in report.rows
            if row.better
        ),
    )
