"""Random instances: how long and how far from a reference the tours of methods are, at limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields
from functools import partial
from math import ceil, sqrt
from statistics import fmean, median, stdev
from typing import Any

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
from covertour.executors import slots_of, take
from covertour.problem.errors import InputError
from covertour.problem.generate import random_instance
from covertour.problem.goals import Quota
from covertour.problem.instance import Instance
from covertour.problem.rules import parse_rule
from covertour.solving.solve import solve
from covertour.solving.stop import MaxIterations, MaxSeconds, StoppingRule

TASK_SECONDS = 1.0
"""Whoever takes tasks gets so many instances at a time that they take about so long."""

PEOPLE = (1, 1000)
"""Where a share of the weight is to be served, places have whole weights from this range."""

WHOLE_TOUR = MaxIterations(5_000)
"""How the tour is found that a budget is a share of."""

OVERHEAD = 0.002
"""About how many seconds a run takes beside its search; only the time left is judged by it."""


@dataclass(frozen=True)
class RandomRow:
    """A method at a limit, over all instances.

    ``length``: mean, with its standard error (None for one instance); with a budget it is the
    weight that tours serve. The gaps, in percent, are to each instance's reference. ``seconds``,
    ``median_seconds`` and ``longest_seconds``: from the call of ``solve``, with the coverage built,
    to the end of the method, without the referee's check. ``at_reference``: instances where the
    reference was reached, ``proven``: where the method proved its tour to be optimal.
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

    ``goal``: what is asked of tours beyond the plain problem, in words, and what is compared: their
    "length", or with a budget the "weight" that they serve. ``reference``: in words.
    ``reference_length``: mean; ``reference_proven``: instances whose reference was proven to be
    optimal.
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
    goal: str = ""
    measure: str = "length"


@dataclass(frozen=True)
class RandomCase:
    """What is run on each instance: the methods at all limits, then the reference, if any."""

    n: int
    coverage: dict[str, Any]
    layout: str
    seed: int
    methods: tuple[str, ...]
    limits: tuple[tuple[str, StoppingRule], ...]
    reference: tuple[str, StoppingRule] | None
    workers: int
    quota: Quota | None = None
    budget: float | None = None

    @property
    def plan(self) -> list[tuple[str, StoppingRule, str]]:
        """Method, limit and what it is called, of all runs."""
        runs = [
            (method, stop, f"{method}, {name}")
            for method in self.methods
            for name, stop in self.limits
        ]
        return runs if self.reference is None else [*runs, (*self.reference, "reference")]

    def instance(self, index: int) -> Instance:
        """One of the instances; the budget is a share of the length of a tour that serves all."""
        seed = self.seed + index
        plain = self.quota is None and self.budget is None
        weight = None if plain else PEOPLE
        instance = random_instance(
            self.n, **self.coverage, weight=weight, layout=self.layout, seed=seed
        )
        if self.budget is not None:
            whole = solve(instance, stop=WHOLE_TOUR, seed=seed).cost
            return instance.with_changes(budget=self.budget * whole)
        return instance if plain else instance.with_changes(quota=self.quota)

    def value(self, run: Run) -> float:
        """What is compared: the cost, or with a budget the weight."""
        return run.result.cost if self.budget is None else run.result.covered_weight


def runs_of(case: RandomCase, index: int, tell: Callable[[int, int, str], None]) -> list[Run]:
    """The runs on one of the instances; ``tell`` hears which comes next."""
    instance = case.instance(index)
    runs = []
    for number, (method, stop, what) in enumerate(case.plan):
        tell(index, number, what)
        runs.append(timed_run(instance, method, stop, case.seed + index, case.workers))
    return runs


def batch_of(case: RandomCase, indices: Sequence[int]) -> list[list[Run]]:
    """The runs on some of the instances, warmed up before."""
    warm_up(case.instance(0), [method for method, _, _ in case.plan])
    return [runs_of(case, index, lambda *news: None) for index in indices]


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
    quota: Quota | None = None,
    budget: float | None = None,
    workers: int = 1,
    executor: Executor | None = None,
    on_step: OnStep | None = None,
) -> RandomReport:
    """Run methods on ``count`` random instances of n places, at each of the limits.

    ``rule``: see :func:`covertour.problem.rules.parse_rule`. Instance i is
    ``random_instance(n, seed=seed + i)``, solved with the same seed. ``seconds`` and
    ``iterations``: the limits, at least one in all. The reference of an instance is the shortest
    tour of all these runs and, where ``reference`` names a method or ``reference_seconds`` are
    given, of one more run: of that method (default ``lns``), for that long (default 60 s). With an
    ``executor`` the instances are shared out to whoever takes its tasks.

    With a ``quota`` or a ``budget`` places have random weights in PEOPLE. A budget is a share of
    the length of a tour that serves all, found by ``lns`` in WHOLE_TOUR; gaps are of weight then.
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
    if quota is not None and budget is not None:
        raise InputError("quota and budget: give one of them, not both")
    if budget is not None:
        check_positive("budget", [budget])
    case = RandomCase(
        n,
        coverage,
        layout,
        seed,
        tuple(methods),
        tuple(limits),
        None if reference is None else (reference, MaxSeconds(long)),
        workers,
        quota,
        budget,
    )
    plan = [value + OVERHEAD for value in planned] * len(methods)
    plan += [] if reference is None else [long]

    def tell(index: int, run: int, what: str) -> None:
        share = index * whole / count + sum(plan[:run])
        step(share, whole, f"instance {index + 1} of {count}: {what}")

    if executor is None:
        warm_up(case.instance(0), [method for method, _, _ in case.plan])
        found = [runs_of(case, index, tell) for index in range(count)]
    else:
        size = max(1, min(ceil(TASK_SECONDS / sum(plan)), count // slots_of(executor)))
        batches = [range(at, min(at + size, count)) for at in range(0, count, size)]
        found = []
        for runs in take(executor, partial(batch_of, case), batches):
            found += runs
            step(len(found) * whole / count, whole, f"{len(found)} of {count} instances")
    best_of = min if budget is None else max
    best = [best_of(case.value(run) for run in made) for made in found]
    proven = sum(any(run.result.optimal for run in made) for made in found)
    cells = [(method, name) for method in methods for name, _ in limits]
    rows = [
        _row(case, method, name, [made[index] for made in found], best)
        for index, (method, name) in enumerate(cells)
    ]
    step(whole, whole, "")
    words = "shortest tour of all runs" if budget is None else "largest weight of all runs"
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
        rows=tuple(rows),
        goal=_goal_in_words(quota, budget),
        measure="length" if budget is None else "weight",
    )


def _goal_in_words(quota: Quota | None, budget: float | None) -> str:
    people = f"weights of {PEOPLE[0]} to {PEOPLE[1]:,}"
    if budget is not None:
        return f"{people}, budget of {100 * budget:g} % of a tour that serves all"
    if quota is None:
        return ""
    share = f"{100 * quota.share:g} %" if quota.share is not None else f"{quota.weight:g}"
    return f"{people}, quota {share}"


def _row(
    case: RandomCase, method: str, limit: str, runs: Sequence[Run], best: Sequence[float]
) -> RandomRow:
    lengths = [case.value(run) for run in runs]
    gaps = [abs(gap_percent(*pair)) for pair in zip(lengths, best, strict=True)]
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
    form = ".4f" if report.measure == "length" else ".1f"
    columns = (
        Column("method", "method", "s"),
        Column("limit", "limit", "s"),
        Column(report.measure, f"mean {report.measure}", form),
        Column(f"{report.measure}_error", "± s.e.", form, detail=True),
        Column("gap_percent", "mean gap %", percent_text),
        Column("gap_error_percent", "± s.e.", percent_text, detail=True),
        Column("worst_gap_percent", "worst gap %", percent_text, detail=True),
        Column("at_reference", "at reference", "d"),
        Column("proven", "proven", "d"),
        Column("seconds", "mean time", time_text),
        Column("median_seconds", "median time", time_text, detail=True),
        Column("longest_seconds", "longest", time_text, detail=True),
    )
    rows = tuple(tuple(getattr(row, field.name) for field in fields(row)) for row in report.rows)
    error = "" if report.reference_error is None else f" ± {report.reference_error:{form}}"
    instances = f"1 instance, seed {report.seed}"
    if report.count > 1:
        last = report.seed + report.count - 1
        instances = f"{report.count} instances, seeds {report.seed} to {last}"
    return Document(
        f"Random {report.layout} instances: n = {report.n:,}, {report.rule}"
        + (f"; {report.goal}" if report.goal else ""),
        (Table("Methods", columns, rows),),
        (
            f"{instances}; gaps are to the reference of each.",
            f"Reference: the {report.reference}; mean {report.measure} "
            f"{report.reference_length:{form}}{error}; "
            f"{report.reference_proven} of {report.count} proven to be optimal.",
            "Times: from the call of solve, with the coverage built before, to the end of the "
            "method, without the referee's check of the tour.",
        ),
    )
