"""The figure solutions: our tour and that of LS1 side by side, under three rules of coverage."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from covertour import Instance, Result
from covertour.bench import Column, Document, Table, timed_run
from experiments.shared.experiment import Experiment, Report
from experiments.shared.protocol import Cell
from experiments.shared.study import Plan, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELLS = (
    Cell("nearest 2-15", 100),
    Cell("radius 0.2", 100),
    Cell("radius 0-0.25", 100),
)
"""The instances that are drawn: of variable numbers, of a fixed and of variable radii."""

OURS = ("am-dynamic+ls", "am-gain+ls", "lns")
"""Whose tour is drawn beside that of LS1: the first that can be run."""

THEIRS = "ls1-paper"

PAIR_SECONDS = 0.3
"""About how many seconds two tours take."""


@dataclass(frozen=True, eq=False)
class Pair:
    """The tours of one instance."""

    cell: Cell
    instance: Instance
    results: tuple[Result, ...]


def planned_solutions(study: Study) -> Plan:
    """The solves, which are made anew every time."""
    return {("solutions", cell): PAIR_SECONDS for cell in CELLS}


def solve_pairs(study: Study) -> list[Pair]:
    """Solve the instances, each by the two methods."""
    pairs = []
    for cell in CELLS:
        study.meter.next(f"{cell}: solutions")
        ours = next(method for method in OURS if study.weights(method, cell.n) or method == "lns")
        instance = cell.instance(study.settings.seed)
        results = []
        for method in (ours, THEIRS):
            stop, decoding = study.limit(method, cell.n).stop(), study.decoding(method, cell.n)
            run = timed_run(instance, method, stop, study.settings.seed, decoding=decoding)
            results.append(run.result)
        pairs.append(Pair(cell, instance, tuple(results)))
        study.meter.made(PAIR_SECONDS)
    return pairs


COLUMNS = (
    Column("rule", "rule", "s"),
    Column("n", "n", "d"),
    Column("seed", "seed", "d"),
    Column("method", "method", "s"),
    Column("length", "length", ".4f"),
    Column("stops", "stops", "d"),
    Column("shared", "stops of both", "d"),
)


def solutions_document(pairs: list[Pair]) -> Document:
    """The lengths of the tours that are drawn."""
    rows = []
    for pair in pairs:
        both = set.intersection(*(set(result.tour.places.tolist()) for result in pair.results))
        for result in pair.results:
            tour = result.tour
            rows.append(
                (
                    pair.cell.rule,
                    pair.cell.n,
                    result.seed,
                    result.method,
                    tour.length,
                    len(tour),
                    len(both),
                )
            )
    return Document(
        "Solutions side by side: ours and LS1",
        (Table("Tours", COLUMNS, tuple(rows)),),
        (
            f"{THEIRS} is LS1 as the paper ran it; ours is {pairs[0].results[0].method}.",
            "Each place that is no stop is joined by a thin line to the stop that serves it; "
            "circles show what stops cover within a radius.",
        ),
    )


def draw_solutions(pairs: list[Pair]) -> Axes:
    """A row for each instance, our tour on the left."""
    from covertour.plot import plot_solutions

    return plot_solutions(
        [(pair.instance, pair.results) for pair in pairs],
        [f"{pair.cell.n} places, {pair.cell.rule}" for pair in pairs],
    )


def _report(study: Study) -> Report:
    pairs = solve_pairs(study)
    return Report(solutions_document(pairs), partial(draw_solutions, pairs))


EXPERIMENT = Experiment("our tours and those of LS1 side by side", planned_solutions, _report)
