"""Learned methods: how far from the optimum and how fast their ways of decoding are, by size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from time import perf_counter
from typing import Any

from covertour.bench.runs import OnStep, check_positive, gap_percent, timed_run, warm_up
from covertour.bench.tables import Column, Document, Table, percent_text, time_text
from covertour.problem.errors import InputError
from covertour.problem.generate import random_instance
from covertour.problem.instance import Instance
from covertour.problem.rules import parse_rule
from covertour.solving.loading import load
from covertour.solving.many import solve_many
from covertour.solving.method import Decoding
from covertour.solving.methods import METHODS
from covertour.solving.result import Result
from covertour.solving.solve import solve
from covertour.solving.stop import MaxSeconds

SAMPLES = 32
"""Tours that are drawn of each symmetry where tours are drawn."""

SEARCHED = 0.005
"""Seconds of the search after a learned tour."""


@dataclass(frozen=True)
class LearnedRow:
    """A way of decoding at a size, over all instances.

    ``gap_percent``: mean, to the reference; ``proven``: references proven to be shortest.
    ``median_seconds``: of one instance, one thread. ``per_second``: instances solved together, on
    ``workers`` threads; None where they are not.
    """

    n: int
    way: str
    length: float
    gap_percent: float
    worst_gap_percent: float
    proven: int
    median_seconds: float
    per_second: float | None


@dataclass(frozen=True)
class LearnedReport:
    """The rows by size and way, and what they were measured on."""

    method: str
    rule: str
    count: int
    seed: int
    workers: int
    reference_seconds: float
    rows: tuple[LearnedRow, ...]


def learned(
    method: str = "am-gain",
    sizes: Sequence[int] = (20, 50, 100, 200),
    rule: str = "nearest 7",
    *,
    count: int = 100,
    seed: int = 0,
    weights: str | None = None,
    reference_seconds: float = 10.0,
    workers: int = 2,
    on_step: OnStep | None = None,
) -> LearnedReport:
    """Decode ``count`` random instances of each size in every way, and prove how good that is.

    Instance i is ``random_instance(n, seed=seed + i)``. The reference of an instance is the tour
    of ``exact`` after at most ``reference_seconds``, or a shorter one of these.
    """
    if METHODS.get(method) is None or METHODS[method].model is None or method.endswith("+ls"):
        models = [name for name, one in METHODS.items() if one.model is not None]
        known = ", ".join(name for name in models if not name.endswith("+ls"))
        raise InputError(f"method: no learned method {method!r}; there are {known}")
    check_positive("sizes", sizes)
    check_positive("reference seconds", [reference_seconds])
    coverage = parse_rule(rule)
    step = on_step or (lambda done, whole, what: None)
    rows: list[LearnedRow] = []
    for index, n in enumerate(sizes):
        instances = [random_instance(n, **coverage, seed=seed + i) for i in range(count)]
        warm_up(instances[0], ["exact"])
        step(index, len(sizes), f"{n} places: references")
        proofs = [
            timed_run(instance, "exact", MaxSeconds(reference_seconds), seed).result
            for instance in instances
        ]
        found = []
        for way, decoding in _ways(weights).items():
            step(index + 0.5, len(sizes), f"{n} places: {way}")
            found.append(_decoded(instances, method, way, decoding, seed, workers))
        found.append(_searched(instances, found[0].results, seed))
        every = [proofs, *(one.results for one in found)]
        best = [min(result.length for result in tours) for tours in zip(*every, strict=True)]
        proven = sum(proof.optimal for proof in proofs)
        rows += [_row(n, one, best, proven) for one in found]
    step(len(sizes), len(sizes), "")
    return LearnedReport(method, rule, count, seed, workers, reference_seconds, tuple(rows))


@dataclass(frozen=True)
class _Found:
    """What a way of decoding led to."""

    way: str
    results: list[Result]
    seconds: list[float]
    per_second: float | None = None


def _ways(weights: str | None) -> dict[str, Decoding]:
    """Ways of decoding by name; the greedy one is the first."""
    return {
        "greedy": Decoding(weights=weights),
        "greedy, not polished": Decoding(weights=weights, raw=True),
        "8 symmetries": Decoding(symmetries=True, weights=weights),
        f"8 symmetries x {SAMPLES} samples": Decoding(SAMPLES, True, weights),
    }


def _decoded(
    instances: Sequence[Instance],
    method: str,
    way: str,
    decoding: Decoding,
    seed: int,
    workers: int,
) -> _Found:
    """All instances one by one, then together."""
    load(method, instances[0], decoding)
    results = [solve(one, method, seed=seed, decoding=decoding) for one in instances]
    began = perf_counter()
    solve_many(instances, method, seed=seed, workers=workers, decoding=decoding)
    rate = len(instances) / (perf_counter() - began)
    return _Found(way, results, [result.seconds for result in results], rate)


def _searched(instances: Sequence[Instance], learned: list[Result], seed: int) -> _Found:
    """A short search from each learned tour; the times of both count."""
    stop = MaxSeconds(SEARCHED)
    pairs = list(zip(instances, learned, strict=True))
    results = [solve(one, "lns", start=tour.tour, stop=stop, seed=seed) for one, tour in pairs]
    seconds = [a.seconds + b.seconds for a, b in zip(learned, results, strict=True)]
    return _Found(f"greedy, then {1000 * SEARCHED:g} ms of lns", results, seconds)


def _row(n: int, found: _Found, best: Sequence[float], proven: int) -> LearnedRow:
    lengths = [result.length for result in found.results]
    gaps = [gap_percent(length, shortest) for length, shortest in zip(lengths, best, strict=True)]
    return LearnedRow(
        n=n,
        way=found.way,
        length=fmean(lengths),
        gap_percent=fmean(gaps),
        worst_gap_percent=max(gaps),
        proven=proven,
        median_seconds=median(found.seconds),
        per_second=found.per_second,
    )


def learned_document(report: LearnedReport) -> Document:
    """The report as a table and sentences."""
    columns = (
        Column("n", "places", "d"),
        Column("way", "decoding", "s"),
        Column("length", "mean length", ".4f"),
        Column("gap_percent", "mean gap %", percent_text),
        Column("worst_gap_percent", "worst gap %", percent_text, detail=True),
        Column("proven", "proven", "d"),
        Column("median_seconds", "time of one", time_text),
        Column("per_second", "together, per second", ".0f"),
    )
    rows: tuple[tuple[Any, ...], ...] = tuple(
        tuple(getattr(row, column.name) for column in columns) for row in report.rows
    )
    return Document(
        f"{report.method}: random uniform instances, {report.rule}",
        (Table("Ways of decoding", columns, rows),),
        (
            f"{report.count} instances per size, seeds {report.seed} to "
            f"{report.seed + report.count - 1}; gaps are to the tour of exact after at most "
            f"{time_text(report.reference_seconds)}, proven to be shortest as often as told, or to "
            "a shorter one found here.",
            "Time of one: the median of solve on one thread, the referee's check aside. Together: "
            f"by solve_many on {report.workers} threads, the referee's checks included.",
        ),
    )
