"""The cases of the literature, proven: which best known tours are the shortest there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from covertour.bench.cases import read_cases
from covertour.bench.runs import (
    OnStep,
    at_most,
    check_methods,
    check_positive,
    timed_run,
    warm_up,
)
from covertour.bench.tables import Column, Document, Table, percent_text, time_text
from covertour.problem.errors import InputError
from covertour.solving.methods import METHODS
from covertour.solving.stop import MaxSeconds


@dataclass(frozen=True)
class ProofRow:
    """A case: the tour found, what is proven of it, and the seconds of the whole solve.

    ``gap_percent``: of ``length`` over ``bound``; None, like ``bound``, where nothing is proven.
    ``nodes``: what the method counts as its iterations; None where it counts none.
    """

    instance: str
    nearest: int
    best_known: float
    length: float
    bound: float | None
    gap_percent: float | None
    proven: bool
    nodes: int | None
    seconds: float

    @property
    def better(self) -> bool:
        """Whether the tour is shorter than the best known."""
        return not at_most(self.best_known, self.length)


@dataclass(frozen=True)
class ProofReport:
    """The rows by case; ``seconds``: the limit of a run."""

    seconds: float
    rows: tuple[ProofRow, ...]


def prove_literature(
    directory: str | Path,
    best_known_csv: str | Path,
    *,
    method: str = "exact",
    seconds: float = 600.0,
    only: Sequence[str] = (),
    on_step: OnStep | None = None,
) -> ProofReport:
    """Prove the cases of a best-known file, see :func:`covertour.bench.cases.read_cases`.

    Timed is all of ``solve``, the search for a tour included, with the coverage built and the
    method compiled beforehand.
    """
    if method not in METHODS:
        raise InputError(f"prove: there is no method {method!r}; there are {', '.join(METHODS)}")
    check_methods([method])
    check_positive("seconds", [seconds])
    cases = read_cases(directory, best_known_csv, only)
    step = on_step or (lambda done, whole, what: None)
    step(0, len(cases), "warming up")
    warm_up(cases[0].load(), [method])
    rows = []
    for done, case in enumerate(cases):
        step(done, len(cases), f"{case.title}: {method}")
        run = timed_run(case.load(), method, MaxSeconds(seconds), seed=0)
        result = run.result
        rows.append(
            ProofRow(
                instance=case.name,
                nearest=case.nearest,
                best_known=case.best_known,
                length=result.length,
                bound=result.bound,
                gap_percent=None if result.gap is None else 100.0 * result.gap,
                proven=result.optimal,
                nodes=result.iterations or None,
                seconds=run.seconds,
            )
        )
    step(len(cases), len(cases), "")
    return ProofReport(seconds, tuple(rows))


def proof_document(report: ProofReport) -> Document:
    """The report as tables and sentences."""
    columns = (
        Column("instance", "instance", "s"),
        Column("nearest", "nearest", "d"),
        Column("best_known", "best known", ",g"),
        Column("length", "length", ",.10g"),
        Column("bound", "bound", ",.10g"),
        Column("gap_percent", "gap %", percent_text),
        Column("proven", "proven", lambda proven: "yes" if proven else "no"),
        Column("nodes", "nodes", ",d", detail=True),
        Column("seconds", "time", time_text),
    )
    rows = tuple(tuple(getattr(row, column.name) for column in columns) for row in report.rows)
    times = [row.seconds for row in report.rows]
    longer = [
        f"{row.instance}, nearest {row.nearest}"
        for row in report.rows
        if not at_most(row.length, row.best_known)
    ]
    sentences = [
        f"Proven optimal: {sum(row.proven for row in report.rows)} of {len(rows)} cases, with up "
        f"to {time_text(report.seconds)} each.",
        f"Time of a case, search and proof: median {time_text(median(times))}, longest "
        f"{time_text(max(times))}.",
    ]
    if longer:
        sentences.append(f"Longer than the best known: {'; '.join(longer)}.")
    loud = []
    for row in report.rows:
        what = f"{row.instance}, nearest {row.nearest}: "
        if row.better:
            loud.append(
                f"BETTER THAN THE BEST KNOWN: {what}{row.length:.10g}, best known was "
                f"{row.best_known:.10g}"
            )
        if row.bound is not None and not at_most(row.bound, row.best_known):
            loud.append(
                f"CONTRADICTION: {what}the bound {row.bound:.10g} is above the best known "
                f"{row.best_known:.10g}"
            )
    return Document(
        "Proofs for the cases of the literature",
        (Table("Cases", columns, rows),),
        tuple(sentences),
        tuple(loud),
    )
