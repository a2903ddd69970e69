"""The 115 cases of the generalized covering travelling salesman problem, and what was published.

Shaelaie, Salari and Naji-Azimi (2014) give the best lengths of their methods and of CPLEX, rounded
to two digits behind the point, above a million to one or two; a tour reaches such a length if it
rounds to it, or is shorter.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import fmean, median
from typing import Any

from covertour.bench.listed import chosen_of, read_listed
from covertour.bench.runs import OnStep, Run, check_methods, check_positive, timed_run, warm_up
from covertour.bench.tables import Column, Document, Table, percent_text, time_text
from covertour.formats import read
from covertour.problem.errors import InputError
from covertour.solving.stop import MaxSeconds, Stop, TargetLength

TABLES = ("small_medium.csv", "large.csv")
"""The published tables; a directory has at least one of them, beside the files of its cases."""

COLUMNS = ("name", "file", "best_published")

SIZES = {"S": "small", "M": "medium", "L": "large"}
"""The names of cases begin with the letter of their size."""

MILLION = 1e6
"""Of the lengths above it most are published with one digit behind the point."""


@dataclass(frozen=True)
class GctspCase:
    """A file and the published length of its best tour; ``proven``: whether CPLEX proved it."""

    name: str
    path: Path
    published: float
    proven: bool


@dataclass(frozen=True)
class GctspRow:
    """A case: the tour found and how long that took.

    ``stops``: places that may be stops, the depot among them; ``customers``, of which ``enough``
    must be covered. ``seconds_to_published``: until there was a tour as short as the published one,
    None where there never was. ``bound`` and ``gap_percent``: None where nothing is proven.
    ``limit``: the seconds that the run had.
    """

    case: str
    stops: int
    customers: int
    enough: int
    published: float
    cplex: bool
    length: float
    bound: float | None
    gap_percent: float | None
    proven: bool
    seconds_to_published: float | None
    seconds: float
    limit: float

    @property
    def size(self) -> str:
        """small, medium or large."""
        return SIZES.get(self.case[:1], "other")

    @property
    def reached(self) -> bool:
        """Whether the tour is as short as the published one, or shorter."""
        return self.length <= rounded_up(self.published)

    @property
    def better(self) -> bool:
        """Whether the tour is shorter than the published one."""
        return self.length < self.published - half_a_digit(self.published)


@dataclass(frozen=True)
class GctspReport:
    """The rows by case, and the method that made them."""

    method: str
    seconds: float
    rows: tuple[GctspRow, ...]


def half_a_digit(published: float) -> float:
    """By how much a length may have been rounded when it was published."""
    return 0.05 if published > MILLION and published == round(published, 1) else 0.005


def rounded_up(published: float) -> float:
    """The longest length that may have been rounded to the published one.

    >>> round(rounded_up(71.33), 3), round(rounded_up(2399977.7), 3)
    (71.335, 2399977.75)
    """
    return (published + half_a_digit(published)) * (1.0 + 1e-12)


def read_gctsp_cases(directory: str | Path, only: Sequence[str] = ()) -> tuple[GctspCase, ...]:
    """The cases of the published tables in a directory; ``only``: names to take, such as S1."""
    folder = Path(directory)
    found = [folder / table for table in TABLES if (folder / table).is_file()]
    if not found:
        raise InputError(f"{folder}: expected the published table {' or '.join(TABLES)} in there")
    cases = [case for table in found for case in _cases(table)]
    chosen = chosen_of(cases, only, folder)
    for case in chosen:
        if not case.path.is_file():
            raise InputError(f"{case.path}: no such file, but a table names {case.name!r}")
    return chosen


def _cases(table: Path) -> list[GctspCase]:
    cases = []
    for row in read_listed(table, COLUMNS)[1]:
        published = row.positive("best_published")
        name, file = row.text("name"), row.text("file")
        if not name or not file or "/" in file:
            raise InputError(f"{row.where}: expected the name of a case and its file")
        proven = row.cells.get("proven_by_cplex") == "yes"
        cases.append(GctspCase(name, table.parent / file, published, proven))
    return cases


def gctsp(
    directory: str | Path,
    *,
    method: str = "lns",
    seconds: float = 10.0,
    only: Sequence[str] = (),
    full_time: bool = False,
    seed: int = 0,
    before: Sequence[GctspRow] = (),
    on_report: Callable[[GctspReport], None] | None = None,
    on_step: OnStep | None = None,
) -> GctspReport:
    """Run a method on the cases whose published tables are in a directory.

    A method that proves runs until it has, or for ``seconds``; another one ends at a tour as short
    as the published one unless ``full_time``. ``before``: rows of an earlier run; those that are
    proven stand, and the others are replaced where the new run is better. ``on_report`` is called
    after each case with what there is so far, so that an interrupted run can be resumed.
    """
    from covertour.solving.methods import METHODS

    check_methods([method])
    check_positive("seconds", [seconds])
    cases = read_gctsp_cases(directory, only)
    every = read_gctsp_cases(directory) if before else cases
    known = {row.case: row for row in before}
    step = on_step or (lambda done, whole, what: None)
    step(0, len(cases), "warming up")
    warm_up(read(cases[0].path), [method])
    rows: dict[str, GctspRow] = dict(known)
    for done, case in enumerate(cases):
        step(done, len(cases), f"{case.name}: {method}")
        row = known.get(case.name)
        if row is None or not row.proven:
            stop: Stop = MaxSeconds(seconds)
            if not full_time and not METHODS[method].proves:
                stop |= TargetLength(rounded_up(case.published))
            row = _better(row, _row(case, method, stop, seconds, seed))
        rows[case.name] = row
        in_order = tuple(rows[case.name] for case in every if case.name in rows)
        report = GctspReport(method, seconds, in_order)
        if on_report is not None:
            on_report(report)
    step(len(cases), len(cases), "")
    return report


def _row(case: GctspCase, method: str, stop: Stop, seconds: float, seed: int) -> GctspRow:
    instance = read(case.path)
    run: Run = timed_run(instance, method, stop, seed)
    result = run.result
    return GctspRow(
        case=case.name,
        stops=instance.n - len(instance.forbidden),
        customers=len(instance.forbidden),
        enough=round(instance.quota_weight),
        published=case.published,
        cplex=case.proven,
        length=result.cost,
        bound=result.bound,
        gap_percent=None if result.gap is None else 100.0 * result.gap,
        proven=result.optimal,
        seconds_to_published=run.seconds_to(rounded_up(case.published)),
        seconds=run.seconds,
        limit=seconds,
    )


def _better(one: GctspRow | None, other: GctspRow) -> GctspRow:
    """The row with more to tell: a proof, a shorter tour, a higher bound."""

    def worth(row: GctspRow) -> tuple[bool, float, float]:
        return row.proven, -row.length, row.bound or 0.0

    return other if one is None or worth(other) >= worth(one) else one


def read_gctsp_rows(path: str | Path) -> tuple[GctspRow, ...]:
    """The rows of a CSV file that an earlier run wrote; none where there is no such file."""
    file = Path(path)
    if not file.is_file():
        return ()
    with open(file, encoding="utf-8", newline="") as lines:
        table = list(csv.DictReader(lines))
    try:
        return tuple(GctspRow(**{f.name: _value(row[f.name], f.type) for f in fields(GctspRow)})
                     for row in table)  # fmt: skip
    except (KeyError, ValueError):
        raise InputError(
            f"{file}: not a table of this benchmark; remove it or take a name"
        ) from None


def _value(text: str, kind: Any) -> Any:
    if "None" in kind and text == "":
        return None
    if kind == "bool":
        return text == "yes"
    return text if kind == "str" else int(text) if kind == "int" else float(text)


def gctsp_document(report: GctspReport) -> Document:
    """The report as tables and sentences."""
    columns = (
        Column("case", "case", "s"),
        Column("stops", "stops", "d"),
        Column("customers", "customers", "d"),
        Column("enough", "to cover", "d"),
        Column("published", "published", ",.2f"),
        Column("cplex", "proven by CPLEX", _yes, detail=True),
        Column("length", "length", ",.2f"),
        Column("bound", "bound", ",.2f"),
        Column("gap_percent", "gap %", percent_text),
        Column("proven", "proven", _yes),
        Column("seconds_to_published", "time to published", time_text),
        Column("seconds", "time", time_text),
        Column("limit", "limit", time_text, detail=True),
    )
    proves = any(row.bound is not None for row in report.rows)
    rows = tuple(tuple(getattr(row, column.name) for column in columns) for row in report.rows)
    sizes = dict.fromkeys(row.size for row in report.rows)
    totals = tuple(_total(size, [row for row in report.rows if row.size == size]) for size in sizes)
    total_columns = (
        Column("size", "size", "s"),
        Column("cases", "cases", "d"),
        Column("reached", "as short as published", "d"),
        Column("better", "shorter", "d"),
        Column("proven", "proven", "d"),
        Column("cplex", "proven by CPLEX", "d"),
        Column("median_seconds", "median time", time_text),
        Column("longest", "longest time", time_text),
        Column("mean_to_published", "mean time to published", time_text),
    )
    limits = " or ".join(time_text(limit) for limit in sorted({row.limit for row in report.rows}))
    better = [row for row in report.rows if row.better]
    missed = [row for row in report.rows if not row.reached]
    sentences = [
        f"{report.method}, up to {limits} per case. Published lengths are "
        "rounded to two digits behind the point, above a million to one or two; a tour reaches one "
        "if it rounds to it.",
        f"As short as published or shorter: {len(rows) - len(missed)} of {len(rows)}; shorter: "
        f"{len(better)}.",
    ]
    if proves:
        sentences.append(
            f"Proven optimal: {sum(row.proven for row in report.rows)} of {len(rows)}."
        )
    if better:
        listed = "; ".join(f"{row.case} {row.length:.2f} ({row.published:.2f})" for row in better)
        sentences.append(f"Shorter than published (in brackets): {listed}.")
    if missed:
        sentences.append(f"Longer than published: {', '.join(row.case for row in missed)}.")
    loud = tuple(
        f"CONTRADICTION: {row.case}: the bound {row.bound:.10g} is above the published "
        f"{row.published:.10g}"
        for row in report.rows
        if row.bound is not None and row.bound > rounded_up(row.published)
    )
    return Document(
        "The generalized covering salesman: published cases",
        (Table("Cases", columns, rows), Table("By size", total_columns, totals)),
        tuple(sentences),
        loud,
    )


def _total(size: str, rows: Sequence[GctspRow]) -> tuple[Any, ...]:
    times = [row.seconds_to_published for row in rows if row.seconds_to_published is not None]
    return (
        size,
        len(rows),
        sum(row.reached for row in rows),
        sum(row.better for row in rows),
        sum(row.proven for row in rows),
        sum(row.cplex for row in rows),
        median(row.seconds for row in rows),
        max(row.seconds for row in rows),
        fmean(times) if times else None,
    )


def _yes(value: bool) -> str:
    return "yes" if value else "no"
