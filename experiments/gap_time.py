"""The picture that the paper lacks: gap to the optimum against time, every method in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from covertour.bench import Column, Document, Table, gap_percent, percent_text, time_text
from experiments.shared.comparison import (
    explanations,
    gap_to,
    methods_in_cell,
    reference,
    seeds_text,
)
from experiments.shared.experiment import Experiment, Report
from experiments.shared.measure import Job, job_of, jobs_of, measure
from experiments.shared.protocol import (
    METHODS_COMPARED,
    PAPER_RULE,
    Cell,
    Limit,
    Settings,
    cells_of,
)
from experiments.shared.rows import Run
from experiments.shared.study import Plan, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELLS = cells_of([PAPER_RULE], [100, 300])
QUICK_CELLS = cells_of([PAPER_RULE], [100, 150])

LNS_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0, 3.0)
QUICK_LNS_SECONDS = LNS_SECONDS[:6]
"""The limits of lns."""


@dataclass(frozen=True)
class Point:
    """A method's mean gap, what it is to, and mean time in a cell."""

    n: int
    method: str
    limit: str
    seconds: float
    gap_percent: float
    gap_to: str


def chosen_cells(settings: Settings) -> tuple[Cell, ...]:
    """The cells that are drawn."""
    return settings.cells(CELLS, QUICK_CELLS)


def _limits(settings: Settings) -> tuple[float, ...]:
    return QUICK_LNS_SECONDS if settings.quick else LNS_SECONDS


def _curve(study: Study, cell: Cell, seconds: float) -> list[Run]:
    """The runs of lns with this limit."""
    limit = Limit(seconds=seconds)
    return [study.run(cell, seed, "lns", limit) for seed in study.settings.seeds]


def _jobs(study: Study) -> list[Job]:
    cells = chosen_cells(study.settings)
    jobs = jobs_of(study, cells, METHODS_COMPARED)
    if study.settings.wants("lns"):
        jobs += [
            replace(job_of(study, cell, seed, "lns", Limit(seconds=seconds)), planned=seconds)
            for cell in cells
            for seconds in _limits(study.settings)
            for seed in study.settings.seeds
        ]
    once = {job.run: job for job in jobs if job.run not in study.rows}
    return list(once.values())


def planned_gap_time(study: Study) -> Plan:
    """The runs that are still to be made."""
    return {job.run: job.planned for job in _jobs(study)}


def points_of(study: Study, cell: Cell) -> list[Point]:
    """The points of a cell, from the rows."""
    figures = methods_in_cell(study, cell, METHODS_COMPARED)
    points = [
        Point(row.n, row.method, "its own", row.seconds, row.gap_percent, row.gap_to)
        for row in figures
        if row.method != "lns"
    ]
    for seconds in _limits(study.settings):
        rows = study.found(_curve(study, cell, seconds))
        if rows:
            best = [reference(study, cell, row.run.seed) for row in rows]
            gaps = [
                gap_percent(row.length, ref.length) for row, ref in zip(rows, best, strict=True)
            ]
            points.append(
                Point(
                    cell.n,
                    "lns",
                    time_text(seconds),
                    fmean(row.seconds for row in rows),
                    fmean(gaps),
                    gap_to(best),
                )
            )
    return points


COLUMNS = (
    Column("n", "n", "d"),
    Column("method", "method", "s"),
    Column("limit", "limit", "s"),
    Column("seconds", "mean time", time_text),
    Column("gap_percent", "mean gap %", percent_text),
    Column("gap_to", "to", "s"),
)


def run_gap_time(study: Study) -> Document:
    """Make the runs that are missing, and the table of the points."""
    measure(study, _jobs(study))
    settings = study.settings
    cells = chosen_cells(settings)
    points = [point for cell in cells for point in points_of(study, cell)]
    rows = tuple(tuple(getattr(point, column.name) for column in COLUMNS) for point in points)
    return Document(
        f"Gap to the optimum against time, nearest 7 ({seeds_text(settings)})",
        (Table("Points", COLUMNS, rows),),
        (
            "lns was run with each of its limits, every other method as in the tables.",
            *study.left_out(METHODS_COMPARED, cells),
            *explanations(settings, cells)[:2],
        ),
    )


def draw_gap_time(study: Study) -> Axes:
    """A panel for each cell, the methods in the same colours."""
    from covertour.plot import plot_gap_against_time
    from covertour.plot.panels import panels

    cells = chosen_cells(study.settings)
    found = [points_of(study, cell) for cell in cells]
    axes = panels(1, len(cells), width=7.0, height=5.5)
    for ax, cell, points in zip(axes, cells, found, strict=True):
        if points:
            plot_gap_against_time(_in_order(points), ax)
        ax.set_title(f"{cell.n} places, {cell.rule}", fontsize=10)
    return axes[0]


def _in_order(points: Sequence[Point]) -> list[Point]:
    """The points in one order of the methods, ours first, so that colours agree between panels."""
    return sorted(points, key=lambda point: -METHODS_COMPARED.index(point.method))


EXPERIMENT = Experiment(
    "gap to the optimum against time, every method in one picture",
    planned_gap_time,
    lambda study: Report(run_gap_time(study), partial(draw_gap_time, study)),
    chosen_cells,
)
