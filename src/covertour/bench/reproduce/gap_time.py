"""The picture that the paper lacks: gap to the optimum against time, every method in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from covertour.bench.reproduce.comparison import (
    explanations,
    gap_to,
    methods_in_cell,
    reference,
    seeds_text,
)
from covertour.bench.reproduce.measure import Job, jobs_of, measure
from covertour.bench.reproduce.protocol import (
    GAP_TIME,
    GAP_TIME_QUICK,
    LNS_SECONDS,
    LNS_SECONDS_QUICK,
    METHODS_COMPARED,
    Cell,
    Settings,
)
from covertour.bench.reproduce.rows import Run
from covertour.bench.reproduce.study import Plan, Study
from covertour.bench.runs import gap_percent
from covertour.bench.tables import Column, Document, Table, percent_text, time_text
from covertour.solving.stop import MaxSeconds, StoppingRule

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Point:
    """A method's mean gap, what it is to, and mean time in a cell."""

    n: int
    method: str
    limit: str
    seconds: float
    gap_percent: float
    gap_to: str


def cells_of(settings: Settings) -> tuple[Cell, ...]:
    """The cells that are drawn."""
    return settings.cells(GAP_TIME, GAP_TIME_QUICK)


def _limits(settings: Settings) -> tuple[float, ...]:
    return LNS_SECONDS_QUICK if settings.quick else LNS_SECONDS


def _curve(study: Study, cell: Cell, seconds: float) -> list[tuple[Run, StoppingRule]]:
    """The runs of lns with this limit."""
    stop = MaxSeconds(seconds)
    return [(study.run(cell, seed, "lns", stop), stop) for seed in study.settings.seeds]


def _jobs(study: Study) -> list[Job]:
    cells = cells_of(study.settings)
    jobs = jobs_of(study, cells, METHODS_COMPARED)
    known = {job.run for job in jobs}
    if study.settings.wants("lns"):
        jobs += [
            Job(cell, run, stop, seconds)
            for cell in cells
            for seconds in _limits(study.settings)
            for run, stop in _curve(study, cell, seconds)
            if run not in study.rows and run not in known
        ]
    return jobs


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
        rows = study.found([run for run, _ in _curve(study, cell, seconds)])
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
    cells = cells_of(settings)
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

    cells = cells_of(study.settings)
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
