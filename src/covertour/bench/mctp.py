"""The published cases of the multi-vehicle covering tour problem, and what is known of them.

A case is a file and the bounds that were published for it: no plan is shorter than the lower, one
as long as the upper was found. ``bounds_pq.csv`` has them by the name of the file; ``bounds_p.csv``
has those without the limit on the length of a route, under names that lack the file's last part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from covertour.bench.listed import chosen_of, read_listed
from covertour.bench.runs import (
    OnStep,
    at_most,
    check_methods,
    check_positive,
    gap_percent,
    timed_run,
    warm_up,
)
from covertour.bench.tables import Column, Document, Table, percent_text, time_text
from covertour.formats import read
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.solving.stop import MaxSeconds, Stop, TargetLength

WITH_LENGTH, WITHOUT_LENGTH = "bounds_pq.csv", "bounds_p.csv"
"""The published tables; a directory has at least one of them, beside the files of its cases."""

COLUMNS = ("instance", "lower_bound", "upper_bound")


@dataclass(frozen=True)
class MctpCase:
    """A file and the published bounds; ``published``: None where no plan was.

    ``limited``: whether the length of a route is, as the file says.
    """

    name: str
    path: Path
    limited: bool
    lower: float
    published: float | None

    @property
    def known(self) -> float:
        """The length to compare with: the published one, else the lower bound."""
        return self.lower if self.published is None else self.published


@dataclass(frozen=True)
class MctpRow:
    """A case: the routes found and how long that took.

    ``stops``: places that may be stops, the depot among them. ``gap_percent``: over the published
    length, or the lower bound where there is none. ``seconds_to_published`` and, in processor
    time, ``processor_to_published``: until there was a plan as short as the published one, None
    where there never was. ``bound``: what this run proved, None where it did not try.
    """

    case: str
    stops: int
    customers: int
    max_stops: int | None
    max_length: float | None
    lower: float
    published: float | None
    length: float
    routes: int
    gap_percent: float
    bound: float | None
    seconds_to_published: float | None
    processor_to_published: float | None
    seconds: float
    limit: float

    @property
    def known(self) -> float:
        """The length to compare with: the published one, else the lower bound."""
        return self.lower if self.published is None else self.published

    @property
    def reached(self) -> bool:
        """Whether the plan is as short as the published one, or shorter."""
        return at_most(self.length, self.known)

    @property
    def shorter(self) -> bool:
        """Whether the plan is shorter than the published one."""
        return self.published is not None and not at_most(self.published, self.length)

    @property
    def below(self) -> bool:
        """Whether the plan is shorter than the published lower bound, which is then wrong."""
        return not at_most(self.lower, self.length)

    @property
    def proven(self) -> bool:
        """Whether this run proved that no plan is shorter."""
        return self.bound is not None and self.length <= self.bound * (1.0 + 1e-6)


@dataclass(frozen=True)
class MctpReport:
    """The rows by case, and the method that made them."""

    method: str
    seconds: float
    rows: tuple[MctpRow, ...]


def read_mctp_cases(directory: str | Path, only: Sequence[str] = ()) -> tuple[MctpCase, ...]:
    """The cases of the published tables in a directory; ``only``: names to take."""
    folder = Path(directory)
    tables = [name for name in (WITH_LENGTH, WITHOUT_LENGTH) if (folder / name).is_file()]
    if not tables:
        raise InputError(
            f"{folder}: expected the published table {WITH_LENGTH} or {WITHOUT_LENGTH} in there"
        )
    cases = [case for table in tables for case in _cases(folder / table)]
    return chosen_of(cases, only, folder)


def _cases(table: Path) -> list[MctpCase]:
    limited = table.name == WITH_LENGTH
    cases = []
    for row in read_listed(table, COLUMNS)[1]:
        name, upper = row.text("instance"), row.text("upper_bound")
        if not name or "/" in name:
            raise InputError(f"{row.where}: expected the name of a case")
        lower = row.positive("lower_bound")
        published = row.positive("upper_bound") if upper else None
        if published is not None and published < lower:
            raise InputError(f"{row.where}: the upper bound {upper} is below the lower one")
        file = _file(table, name, limited, row.where)
        cases.append(MctpCase(name, file, limited, lower, published))
    return cases


def _file(table: Path, name: str, limited: bool, where: str) -> Path:
    """The file of a case; of several that differ in the length of a route the first."""
    pattern = f"{name}.ctp" if limited else f"{name}-*.ctp"
    found = sorted(table.parent.glob(pattern))
    if not found:
        raise InputError(f"{where}: there is no file {table.parent / pattern}")
    return found[0]


def instance_of(case: MctpCase) -> Instance:
    """The instance of a case, with the limits that its bounds are for."""
    instance = read(case.path)
    if case.limited:
        return instance
    assert instance.fleet is not None
    return instance.with_changes(name=case.name, fleet={"max_stops": instance.fleet.max_stops})


def mctp(
    directory: str | Path,
    *,
    method: str = "lns",
    seconds: float = 5.0,
    only: Sequence[str] = (),
    full_time: bool = False,
    seed: int = 0,
    on_step: OnStep | None = None,
) -> MctpReport:
    """Run a method on the cases whose published bounds are in a directory.

    A method that proves runs until it has, or for ``seconds``; another one ends at a plan as short
    as the published one unless ``full_time``.
    """
    from covertour.solving.methods import METHODS

    check_methods([method])
    check_positive("seconds", [seconds])
    cases = read_mctp_cases(directory, only)
    step = on_step or (lambda done, whole, what: None)
    step(0, len(cases), "warming up")
    warm_up(instance_of(cases[0]), [method])
    rows = []
    for done, case in enumerate(cases):
        step(done, len(cases), f"{case.name}: {method}")
        stop: Stop = MaxSeconds(seconds)
        if not full_time and not METHODS[method].proves:
            stop |= TargetLength(case.known)
        rows.append(_row(case, method, stop, seconds, seed))
    step(len(cases), len(cases), "")
    return MctpReport(method, seconds, tuple(rows))


def _row(case: MctpCase, method: str, stop: Stop, seconds: float, seed: int) -> MctpRow:
    instance = instance_of(case)
    run = timed_run(instance, method, stop, seed)
    result = run.result
    assert instance.fleet is not None
    return MctpRow(
        case=case.name,
        stops=instance.n - len(instance.forbidden),
        customers=len(instance.forbidden),
        max_stops=instance.fleet.max_stops,
        max_length=instance.fleet.max_length,
        lower=case.lower,
        published=case.published,
        length=result.cost,
        routes=len(result.routes),
        gap_percent=gap_percent(result.cost, case.known),
        bound=result.bound,
        seconds_to_published=run.seconds_to(case.known),
        processor_to_published=run.processor_to(case.known),
        seconds=run.seconds,
        limit=seconds,
    )


def mctp_document(report: MctpReport) -> Document:
    """The report as tables and sentences."""
    proves = any(row.bound is not None for row in report.rows)
    columns = (
        Column("case", "case", "s"),
        Column("stops", "stops", "d", detail=True),
        Column("customers", "customers", "d", detail=True),
        Column("max_stops", "p", "d", detail=True),
        Column("max_length", "q", ",.0f", detail=True),
        Column("lower", "lower bound", ",.0f", detail=True),
        Column("published", "published", ",.0f"),
        Column("length", "length", ",.0f"),
        Column("routes", "routes", "d"),
        Column("gap_percent", "gap %", percent_text),
        *((Column("bound", "our bound", ",.1f"),) if proves else ()),
        Column("seconds_to_published", "time to published", time_text),
        Column("processor_to_published", "of the processor", time_text),
        Column("seconds", "time", time_text),
    )
    rows = tuple(tuple(getattr(row, column.name) for column in columns) for row in report.rows)
    groups = {
        "p and q": [row for row in report.rows if row.max_length is not None],
        "p only": [row for row in report.rows if row.max_length is None],
    }
    totals = tuple(_total(name, group, proves) for name, group in groups.items() if group)
    total_columns = (
        Column("limits", "limits", "s"),
        Column("cases", "cases", "d"),
        Column("reached", "as short as published", "d"),
        Column("shorter", "shorter", "d"),
        Column("rest_gap_percent", "mean gap of the others %", percent_text),
        *(
            (Column("proven", "proven", "d"), Column("mean_bound_gap", "mean gap to our bound %",
                                                      percent_text))
            if proves
            else ()
        ),
        Column("mean_to_published", "mean time to published", time_text),
        Column("mean_processor", "of the processor", time_text),
        Column("longest", "longest time", time_text),
    )  # fmt: skip
    missed = [row for row in report.rows if not row.reached]
    shorter = [row for row in report.rows if row.shorter]
    open_still = [row for row in report.rows if row.published is None]
    sentences = [
        f"{report.method}, up to {time_text(report.seconds)} per case. p: stops of a route at "
        "most, q: its length at most.",
        f"As short as published or shorter: {len(rows) - len(missed)} of {len(rows)}.",
    ]
    if shorter:
        listed = "; ".join(f"{row.case} {row.length:g} ({row.published:g})" for row in shorter)
        sentences.append(f"Shorter than published (in brackets): {listed}.")
    if missed:
        listed = ", ".join(f"{row.case} ({row.gap_percent:.2f} %)" for row in missed)
        sentences.append(f"Longer: {listed}.")
    if open_still:
        listed = "; ".join(
            f"{row.case} {row.length:g} (at least {row.lower:g})" for row in open_still
        )
        sentences.append(f"No plan was published, only a lower bound: {listed}.")
    loud = [
        f"CONTRADICTION: {row.case}: the length {row.length:.10g} is below the published lower "
        f"bound {row.lower:.10g}"
        for row in report.rows
        if row.below
    ] + [
        f"CONTRADICTION: {row.case}: the bound {row.bound:.10g} is above the published "
        f"{row.published:.10g}"
        for row in report.rows
        if row.bound is not None and row.published is not None
        if not at_most(row.bound, row.published)
    ]
    return Document(
        "The multi-vehicle covering tour problem: published cases",
        (Table("Cases", columns, rows), Table("By limits", total_columns, totals)),
        tuple(sentences),
        tuple(loud),
    )


def _total(name: str, rows: Sequence[MctpRow], proves: bool) -> tuple[Any, ...]:
    times = [row.seconds_to_published for row in rows if row.seconds_to_published is not None]
    used = [row.processor_to_published for row in rows if row.processor_to_published is not None]
    gaps = [row.gap_percent for row in rows if not row.reached]
    to_bound = [gap_percent(row.length, row.bound) for row in rows if row.bound]
    proof = (sum(row.proven for row in rows), fmean(to_bound) if to_bound else None)
    return (
        name,
        len(rows),
        sum(row.reached for row in rows),
        sum(row.shorter for row in rows),
        fmean(gaps) if gaps else None,
        *(proof if proves else ()),
        fmean(times) if times else None,
        fmean(used) if used else None,
        max(row.seconds for row in rows),
    )
