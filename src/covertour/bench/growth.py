"""Growth with size: time to build and to a first tour, length over time, memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log, sqrt

from covertour.bench.runs import OnStep, check_methods, check_positive, gap_percent
from covertour.bench.scale_case import ScaleCase, ScaleMeasure
from covertour.bench.tables import Column, Document, Table, time_text
from covertour.problem.errors import InputError, SolveError
from covertour.problem.rules import parse_rule

OVERHEAD_PER_PLACE = 4e-5
"""About how many seconds a place takes beside the search; only the time left is judged by it."""


@dataclass(frozen=True)
class ScaleRow:
    """A size; see :class:`covertour.bench.scale_case.ScaleMeasure` for what is measured.

    ``growth``: exponent of the time to the first tour between the size before and this one.
    """

    measure: ScaleMeasure
    growth: float | None

    def per_root(self, length: float | None) -> float | None:
        """A length divided by sqrt(n), which tends to a constant for uniform places."""
        return None if length is None else length / sqrt(self.measure.n)


@dataclass(frozen=True)
class ScaleReport:
    """The rows by size, and how times grow: time ~ n ** exponent, fitted over all sizes.

    ``seconds``: the limits, ascending. ``separate``: whether each limit had a run of its own.
    """

    rule: str
    method: str
    seed: int
    seconds: tuple[float, ...]
    separate: bool
    rows: tuple[ScaleRow, ...]
    exponent: float | None
    coverage_exponent: float | None


def scale(
    sizes: Sequence[int] = (1_000, 10_000, 100_000, 1_000_000),
    seconds: Sequence[float] = (1.0, 10.0, 60.0),
    rule: str = "nearest 7",
    *,
    method: str = "lns",
    seed: int = 0,
    separate: bool = False,
    workers: int = 1,
    cluster: str | None = None,
    on_step: OnStep | None = None,
) -> ScaleReport:
    """Solve one random uniform instance of each size, each in a process of its own.

    The lengths at the limits are those of one run with the largest limit, on its way. As annealing
    plans for its whole time, a run with a smaller limit is better at that limit: ``separate`` makes
    a run for each. ``cluster``: the address of a scheduler whose workers improve the regions of
    large instances. Limits count from the call of ``solve``, with the coverage built before.
    """
    check_methods([method], "method")
    check_positive("sizes", sizes)
    check_positive("seconds", seconds)
    parse_rule(rule)
    limits = tuple(sorted(set(seconds)))
    sizes = sorted(set(sizes))
    searching = sum(limits) if separate else limits[-1]
    plan = [searching + n * OVERHEAD_PER_PLACE for n in sizes]
    step = on_step or (lambda done, whole, what: None)
    rows: list[ScaleRow] = []
    for index, n in enumerate(sizes):
        step(sum(plan[:index]), sum(plan), f"n = {n:,}")
        found = _measure_apart(ScaleCase(n, rule, limits, method, seed, separate, workers, cluster))
        pair = [*(row.measure for row in rows[-1:]), found]
        growth = fit_exponent([m.n for m in pair], [m.first_tour_seconds for m in pair])
        rows.append(ScaleRow(found, growth))
    step(sum(plan), sum(plan), "")
    measures = [row.measure for row in rows]
    return ScaleReport(
        rule=" ".join(rule.split()),
        method=method,
        seed=seed,
        seconds=limits,
        separate=separate,
        rows=tuple(rows),
        exponent=fit_exponent(sizes, [found.first_tour_seconds for found in measures]),
        coverage_exponent=fit_exponent(sizes, [found.coverage_seconds for found in measures]),
    )


def fit_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float | None:
    """The exponent b of seconds ~ sizes ** b, by least squares of the logarithms.

    None for fewer than two sizes.

    >>> round(fit_exponent([10, 100, 1000], [2, 20, 200]), 6)
    1.0
    """
    if len(sizes) < 2 or min(seconds) <= 0:
        return None
    x, y = [log(size) for size in sizes], [log(time) for time in seconds]
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    along = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return along / sum((a - middle_x) ** 2 for a in x)


def _measure_apart(case: ScaleCase) -> ScaleMeasure:
    """Measure in a new process."""
    done = subprocess.run(
        [sys.executable, "-m", "covertour.bench.scale_case"],
        input=json.dumps(asdict(case)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [""])[-1]
        if done.returncode < 0:
            last = f"the process was ended by signal {-done.returncode}; too little memory?"
        error = InputError if done.returncode == 2 else SolveError
        raise error(f"n = {case.n:,}: {last}")
    found = json.loads(done.stdout)
    return ScaleMeasure(**{**found, "lengths": tuple(found["lengths"])})


def scale_document(report: ScaleReport) -> Document:
    """The report as tables and sentences."""
    columns = (
        Column("n", "n", ",d"),
        Column("stops", "stops", ",d", detail=True),
        Column("coverage_seconds", "coverage", time_text),
        Column("first_tour_seconds", "first tour", time_text),
        Column("growth", "growth", ".2f"),
        Column("first_length_per_root_n", "first length/√n", ".4f", detail=True),
        *(
            Column(f"length_per_root_n_at_{limit:g}_s", f"at {_limit_text(limit)}", ".4f")
            for limit in report.seconds
        ),
        *(
            Column(
                f"gap_percent_at_{limit:g}_s",
                f"% over {_limit_text(report.seconds[-1])} at {_limit_text(limit)}",
                ".2f",
                detail=True,
            )
            for limit in report.seconds[:-1]
        ),
        Column("iterations_per_second", "iterations/s", ",.0f", detail=True),
        Column("peak_gigabytes", "peak GB", ".2f"),
    )
    rows = []
    for row in report.rows:
        found = row.measure
        last = found.lengths[-1]
        rows.append(
            (
                found.n,
                found.stops,
                found.coverage_seconds,
                found.first_tour_seconds,
                row.growth,
                row.per_root(found.first_length),
                *(row.per_root(length) for length in found.lengths),
                *(
                    None if length is None or last is None else gap_percent(length, last)
                    for length in found.lengths[:-1]
                ),
                found.iterations_per_second,
                found.peak_gigabytes,
            )
        )
    sentences = [
        "One random uniform instance per size, each in a process of its own; peak GB is of that "
        "process, referee included.",
        "Lengths are divided by √n, "
        + (
            "each limit has a run of its own."
            if report.separate
            else f"on the way of one run of {_limit_text(report.seconds[-1])}."
        ),
        "First tour and limits count from the call of solve, with the coverage built before.",
    ]
    for what, exponent in (
        ("the first tour", report.exponent),
        ("coverage", report.coverage_exponent),
    ):
        if exponent is not None:
            sentences.append(f"The time to {what} grows like n^{exponent:.3f} (least squares).")
    return Document(
        f"Growth with size: {report.method}, {report.rule}",
        (Table("Sizes", columns, tuple(rows)),),
        tuple(sentences),
    )


def _limit_text(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 120 else f"{seconds:g} s"
