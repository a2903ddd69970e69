"""Random instances: how long and how far from a reference the tours of methods are, at limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, median, stdev

from covertour.bench.runs import (
    OnStep,
    Run,
    check_methods,
    check_positive,
    gap_percent,
    timed_run,
    warm_up,
)
from covertour.bench.tables import Column, Document, Table, percent_text, time_text
from covertour.problem.errors import InputError
from covertour.problem.generate import random_instance
from covertour.problem.rules import parse_rule
from covertour.solving.stop import MaxIterations, MaxSeconds, StoppingRule

OVERHEAD = 0.002
"""About how many seconds a run takes beside its search; only the time left is judged by it."""


@dataclass(frozen=True)
class RandomRow:
    """A method at a limit, over all instances.

    ``length``: mean, with its standard error (None for one instance); the gaps, in percent, are to
    each instance's reference. ``seconds``, ``median_seconds`` and ``longest_seconds``: from the
    call of ``solve``, with the coverage built, to the end of the method, without the referee's
    check. ``at_reference``: instances where the reference was reached, ``proven``: where the
    method proved its tour to be shortest.
    """

    method: str
    limit: str
    length: float
    length_error: float | None
    gap_percent: float
    gap_error_percent: float | None
    worst_gap_percent: float
    at_reference: int
    proven: int
    seconds: float
    median_seconds: float
    longest_seconds: float


@dataclass(frozen=True)
class RandomReport:
    """The rows by method and limit, and what they were measured on.

    ``reference``: in words. ``reference_length``: mean; ``reference_proven``: instances whose
    reference was proven to be shortest.
    """

    n: int
    rule: str
    layout: str
    count: int
    seed: int
    reference: str
    reference_length: float
    reference_error: float | None
    reference_proven: int
    rows: tuple[RandomRow, ...]


def random(
    n: int,
    rule: str = "nearest 7",
    *,
    count: int = 100,
    seed: int = 0,
    methods: Sequence[str] = ("lns",),
    seconds: Sequence[float] = (),
    iterations: Sequence[int] = (),
    reference: str | None = None,
    reference_seconds: float | None = None,
    layout: str = "uniform",
    workers: int = 1,
    on_step: OnStep | None = None,
) -> RandomReport:
    """Run methods on ``count`` random instances of n places, at each of the limits.

    ``rule``: see :func:`covertour.problem.rules.parse_rule`. Instance i is
    ``random_instance(n, seed=seed + i)``, solved with the same seed. ``seconds`` and
    ``iterations``: the limits, at least one in all. The reference of an instance is the shortest
    tour of all these runs and, where ``reference`` names a method or ``reference_seconds`` are
    given, of one more run: of that method (default ``lns``), for that long (default 60 s).
    """
    coverage = parse_rule(rule)
    check_methods(methods)
    if not seconds and not iterations:
        raise InputError("seconds, iterations: expected at least one limit")
    for option, values in (("seconds", seconds), ("iterations", iterations)):
        if values:
            check_positive(option, values)
    if n < 1 or count < 1:
        raise InputError(f"n, count: expected at least 1, got {n} and {count}")
    if reference is None and reference_seconds is not None:
        reference = "lns"
    if reference is not None:
        check_methods([reference], "reference")
    long = 60.0 if reference_seconds is None else reference_seconds
    check_positive("reference seconds", [long])

    limits: list[tuple[str, StoppingRule]] = [
        (f"{value:g} s", MaxSeconds(value)) for value in seconds
    ]
    limits += [(f"{value} iterations", MaxIterations(value)) for value in iterations]
    # Iterations take an unknown time; a millisecond each does to judge the time left by.
    planned = [*seconds, *(value / 1000 for value in iterations)]
    each = sum(value + OVERHEAD for value in planned) * len(methods)
    whole = count * (each + (long if reference is not None else 0.0))
    step = on_step or (lambda done, whole, what: None)
    step(0, whole, "warming up")
    needed = [*methods, *([] if reference is None else [reference])]
    warm_up(random_instance(n, **coverage, layout=layout, seed=seed), needed)

    runs: dict[tuple[str, str], list[Run]] = {
        (method, name): [] for method in methods for name, _ in limits
    }
    best: list[float] = []
    proven = 0
    done = 0.0
    for index in range(count):
        instance = random_instance(n, **coverage, layout=layout, seed=seed + index)
        found = []
        for method in methods:
            for (name, stop), plan in zip(limits, planned, strict=True):
                step(done, whole, f"instance {index + 1} of {count}: {method}, {name}")
                run = timed_run(instance, method, stop, seed + index, workers)
                runs[method, name].append(run)
                found.append(run.result)
                done += plan + OVERHEAD
        if reference is not None:
            step(done, whole, f"instance {index + 1} of {count}: reference")
            found.append(
                timed_run(instance, reference, MaxSeconds(long), seed + index, workers).result
            )
            done += long
        best.append(min(result.length for result in found))
        proven += any(result.optimal for result in found)
    step(whole, whole, "")
    words = "shortest tour of all runs"
    if reference is not None:
        words += f" and of a run of {reference} for up to {time_text(long)}"
    return RandomReport(
        n=n,
        rule=" ".join(rule.split()),
        layout=layout,
        count=count,
        seed=seed,
        reference=words,
        reference_length=fmean(best),
        reference_error=_standard_error(best),
        reference_proven=proven,
        rows=tuple(_row(method, name, made, best) for (method, name), made in runs.items()),
    )


def _row(method: str, limit: str, runs: Sequence[Run], best: Sequence[float]) -> RandomRow:
    lengths = [run.result.length for run in runs]
    gaps = [gap_percent(length, shortest) for length, shortest in zip(lengths, best, strict=True)]
    times = [run.seconds for run in runs]
    return RandomRow(
        method=method,
        limit=limit,
        length=fmean(lengths),
        length_error=_standard_error(lengths),
        gap_percent=fmean(gaps),
        gap_error_percent=_standard_error(gaps),
        worst_gap_percent=max(gaps),
        at_reference=sum(gap == 0 for gap in gaps),
        proven=sum(run.result.optimal for run in runs),
        seconds=fmean(times),
        median_seconds=median(times),
        longest_seconds=max(times),
    )


def _standard_error(values: Sequence[float]) -> float | None:
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


def random_document(report: RandomReport) -> Document:
    """The report as tables and sentences."""
    columns = (
        Column("method", "method", "s"),
        Column("limit", "limit", "s"),
        Column("length", "mean length", ".4f"),
        Column("length_error", "± s.e.", ".4f", detail=True),
        Column("gap_percent", "mean gap %", percent_text),
        Column("gap_error_percent", "± s.e.", percent_text, detail=True),
        Column("worst_gap_percent", "worst gap %", percent_text, detail=True),
        Column("at_reference", "at reference", "d"),
        Column("proven", "proven", "d"),
        Column("seconds", "mean time", time_text),
        Column("median_seconds", "median time", time_text, detail=True),
        Column("longest_seconds", "longest", time_text, detail=True),
    )
    rows = tuple(tuple(getattr(row, column.name) for column in columns) for row in report.rows)
    error = "" if report.reference_error is None else f" ± {report.reference_error:.4f}"
    instances = f"1 instance, seed {report.seed}"
    if report.count > 1:
        last = report.seed + report.count - 1
        instances = f"{report.count} instances, seeds {report.seed} to {last}"
    return Document(
        f"Random {report.layout} instances: n = {report.n:,}, {report.rule}",
        (Table("Methods", columns, rows),),
        (
            f"{instances}; gaps are to the reference of each.",
            f"Reference: the {report.reference}; mean length {report.reference_length:.4f}{error}; "
            f"{report.reference_proven} of {report.count} proven to be optimal.",
            "Times: from the call of solve, with the coverage built before, to the end of the "
            "method, without the referee's check of the tour.",
        ),
    )
