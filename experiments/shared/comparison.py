"""The tables that compare methods: small, large, nc and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from statistics import fmean, stdev

from covertour.bench import Column, Document, Table, gap_percent, percent_text, time_text
from covertour.solving.stop import PROVEN, relative_gap
from experiments.shared.claims import comparison_claims
from experiments.shared.experiment import Experiment, Report
from experiments.shared.measure import batch_runs, batches_of, jobs_of, measure
from experiments.shared.paper import paper_figure
from experiments.shared.protocol import Cell, Settings, exact_seconds
from experiments.shared.rows import Row
from experiments.shared.study import Plan, Study, not_judged
from experiments.shared.weights import made_for


@dataclass(frozen=True)
class Comparison:
    """A table of the paper: methods compared in cells; ``quick`` are those of a quick run."""

    title: str
    cells: tuple[Cell, ...]
    quick: tuple[Cell, ...]
    methods: tuple[str, ...]

    def chosen_cells(self, settings: Settings) -> tuple[Cell, ...]:
        """The cells under some settings."""
        return settings.cells(self.cells, self.quick)


def comparing(summary: str, table: Comparison) -> Experiment:
    """The experiment that makes such a table."""
    return Experiment(
        summary,
        partial(planned_comparison, table),
        lambda study: Report(run_comparison(table, study)),
        table.chosen_cells,
    )


@dataclass(frozen=True)
class Reference:
    """The shortest tour that any run found of an instance, and whether it is proven to be so."""

    length: float
    bound: float | None

    @property
    def proven(self) -> bool:
        """Whether no tour is shorter, as covertour takes it."""
        gap = relative_gap(self.length, self.bound)
        return gap is not None and gap <= PROVEN


@dataclass(frozen=True)
class MethodInCell:
    """A method in a cell, over its instances; the paper's figures beside.

    ``gap_percent``: mean of the gaps to the references. ``paper_style_gap_percent``: of the mean
    length to the better mean of ``ls1-paper`` and ``ls2-paper``. ``seconds``: an instance at a
    time on one core; ``batch_seconds``: an instance's share when all are decoded together.
    """

    rule: str
    n: int
    method: str
    instances: int
    length: float
    length_error: float | None
    gap_percent: float
    gap_to: str
    worst_gap_percent: float
    shortest: int
    proven: int
    seconds: float
    batch_seconds: float | None
    paper_style_gap_percent: float | None
    paper_length: float | None
    paper_gap_percent: float | None
    paper_seconds: float | None


def planned_comparison(table: Comparison, study: Study) -> Plan:
    """The runs that are still to be made."""
    cells = table.chosen_cells(study.settings)
    jobs = jobs_of(study, cells, table.methods)
    batches = batches_of(study, cells, table.methods)
    return {job.run: job.planned for job in [*jobs, *(job for one in batches for job in one)]}


def run_comparison(table: Comparison, study: Study) -> Document:
    """Make the runs that are missing, and the tables of all of them."""
    cells = table.chosen_cells(study.settings)
    measure(
        study,
        jobs_of(study, cells, table.methods),
        batches_of(study, cells, table.methods),
    )
    return comparison_document(table, study)


def reference(study: Study, cell: Cell, seed: int) -> Reference:
    """The reference of an instance, from all rows of it."""
    rows = study.rows.of_instance(cell.rule, cell.n, seed)
    bounds = [row.bound for row in rows if row.bound is not None]
    return Reference(min(row.length for row in rows), max(bounds, default=None))


def methods_in_cell(study: Study, cell: Cell, methods: Sequence[str]) -> list[MethodInCell]:
    """The figures of the methods in a cell, from the rows."""
    able = study.methods(methods, cell.n)
    made = {
        method: study.found([study.run(cell, seed, method) for seed in study.settings.seeds])
        for method in able
    }
    heuristics = [
        fmean(row.length for row in made[method])
        for method in ("ls1-paper", "ls2-paper")
        if made.get(method)
    ]
    best = min(heuristics, default=None)
    return [_figures(study, cell, method, rows, best) for method, rows in made.items() if rows]


def _figures(
    study: Study, cell: Cell, method: str, rows: Sequence[Row], best_heuristic: float | None
) -> MethodInCell:
    lengths = [row.length for row in rows]
    references = [reference(study, cell, row.run.seed) for row in rows]
    gaps = [gap_percent(row.length, ref.length) for row, ref in zip(rows, references, strict=True)]
    together = study.found(batch_runs(study, cell, method))
    paper = paper_figure(cell.rule, cell.n, method)
    return MethodInCell(
        rule=cell.rule,
        n=cell.n,
        method=method,
        instances=len(rows),
        length=fmean(lengths),
        length_error=standard_error(lengths),
        gap_percent=fmean(gaps),
        gap_to=gap_to(references),
        worst_gap_percent=max(gaps),
        shortest=sum(gap == 0 for gap in gaps),
        proven=sum(ref.proven for ref in references),
        seconds=fmean(row.seconds for row in rows),
        batch_seconds=fmean(row.seconds for row in together) if together else None,
        paper_style_gap_percent=None
        if best_heuristic is None
        else gap_percent(fmean(lengths), best_heuristic),
        paper_length=None if paper is None else paper.cost,
        paper_gap_percent=None if paper is None else paper.gap_percent,
        paper_seconds=None if paper is None else paper.seconds,
    )


def gap_to(references: Sequence[Reference]) -> str:
    """What gaps are to, in words: the optimum, or shortest tours of which some may not be."""
    proven = sum(one.proven for one in references)
    if proven == len(references):
        return "optimum"
    return f"best known, {proven} of {len(references)} proven"


COLUMNS = (
    Column("rule", "rule", "s"),
    Column("n", "n", "d"),
    Column("method", "method", "s"),
    Column("instances", "instances", "d", detail=True),
    Column("length", "mean length", ".4f"),
    Column("length_error", "± s.e.", ".4f", detail=True),
    Column("gap_percent", "gap %", percent_text),
    Column("gap_to", "to", "s"),
    Column("worst_gap_percent", "worst gap %", percent_text, detail=True),
    Column("shortest", "at reference", "d", detail=True),
    Column("proven", "references proven", "d", detail=True),
    Column("seconds", "time", time_text),
    Column("batch_seconds", "in a batch", time_text),
    Column("paper_style_gap_percent", "gap % as in the paper", ".2f"),
    Column("paper_length", "paper: length", ".2f"),
    Column("paper_gap_percent", "paper: gap %", ".2f"),
    Column("paper_seconds", "paper: time", time_text),
)

REFERENCE_COLUMNS = (
    Column("rule", "rule", "s"),
    Column("n", "n", "d"),
    Column("instances", "instances", "d"),
    Column("proven", "proven optimal", "d"),
    Column("length", "mean length", ".4f"),
    Column("length_error", "± s.e.", ".4f"),
    Column("open_gap_percent", "mean open gap %", percent_text),
)


def comparison_document(table: Comparison, study: Study) -> Document:
    """The tables and sentences of a comparison, from the rows there are."""
    settings = study.settings
    cells = table.chosen_cells(settings)
    figures = [row for cell in cells for row in methods_in_cell(study, cell, table.methods)]
    rows = tuple(tuple(getattr(row, column.name) for column in COLUMNS) for row in figures)
    references = tuple(_reference_row(study, cell) for cell in cells)
    sizes = {
        cell.n
        for cell in cells
        if all(made_for(path, cell.n) for path in study.papers_weights(table.methods, [cell.n]))
    }
    trained = study.papers_weights(table.methods, sorted(sizes))
    return Document(
        f"{table.title}: {cells_text(cells)} ({seeds_text(settings)})",
        (
            Table("Methods", COLUMNS, rows),
            Table("References, the shortest tours known", REFERENCE_COLUMNS, references),
        ),
        (
            *comparison_claims(figures, not_judged(trained), sizes),
            *study.left_out(table.methods, cells),
            *explanations(settings, cells),
        ),
    )


def _reference_row(study: Study, cell: Cell) -> tuple[object, ...]:
    known = [
        reference(study, cell, seed)
        for seed in study.settings.seeds
        if study.rows.of_instance(cell.rule, cell.n, seed)
    ]
    if not known:
        return (cell.rule, cell.n, 0, 0, None, None, None)
    gaps = [
        0.0 if one.proven else gap_percent(one.length, one.bound)
        for one in known
        if one.bound is not None
    ]
    lengths = [one.length for one in known]
    return (
        cell.rule,
        cell.n,
        len(known),
        sum(one.proven for one in known),
        fmean(lengths),
        standard_error(lengths),
        fmean(gaps) if gaps else None,
    )


def explanations(settings: Settings, cells: Sequence[Cell]) -> list[str]:
    """What the columns mean, and which limits held."""
    limits = sorted({exact_seconds(cell.n, settings) for cell in cells})
    proofs = "" if settings.cores == 1 else f", {settings.cores} at a time, each on its own core"
    if settings.from_rows:  # of which machine, the rows do not tell
        proofs = ", one or several at a time, each on its own core"
    return [
        "gap %: mean over the instances of the gap to the optimum, which exact proved; where it "
        "could not prove all, to the shortest tours that any run found, as marked.",
        "time: mean over the instances, from the call of solve, with coverage built and the method "
        "loaded, to its end; one instance at a time on one core, with nothing else of ours "
        "running. In a batch: an instance's share of solve_many, on one core.",
        "Limits: lns 0.1 s up to 100 places, 1 s above; exact "
        f"{' and '.join(time_text(limit) for limit in limits)}{proofs}; the others their own "
        "numbers of iterations (see covertour methods).",
        "ls1 and ls2 have the settings of Golden et al. (2012), ls1-paper and ls2-paper those that "
        "the Attention-dynamic paper used; its LS1 and LS2 stand beside the latter.",
        "gap % as in the paper: of the mean length to the better mean of ls1-paper and ls2-paper; "
        "below 0 where a method beats both.",
        "The paper's times are of Python code and a GTX 2080 Ti; ours of compiled code on the "
        "machine below.",
    ]


def cells_text(cells: Sequence[Cell]) -> str:
    """The rules and sizes of cells in words.

    >>> cells_text([Cell("nearest 7", 20), Cell("nearest 7", 50)])
    'nearest 7, n = 20, 50'
    """
    rules = ", ".join(dict.fromkeys(cell.rule for cell in cells))
    return f"{rules}, n = {', '.join(map(str, dict.fromkeys(cell.n for cell in cells)))}"


def seeds_text(settings: Settings) -> str:
    """Which instances there are, in words."""
    if settings.count == 1:
        return f"1 instance per cell, seed {settings.seed}"
    last = settings.seed + settings.count - 1
    return f"{settings.count} instances per cell, seeds {settings.seed} to {last}"


def standard_error(values: Sequence[float]) -> float | None:
    """The standard error of a mean; None for one value."""
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None
