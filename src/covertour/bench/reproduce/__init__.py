"""The experiments of the Attention-dynamic paper: every table and figure, with true gaps.

``covertour reproduce NAME`` on the command line. The rows of all experiments, one for each solved
instance, are in one file: a rerun goes on where the last one stopped, and cells that several tables
share are solved once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from covertour.bench.reproduce import comparison, gap_time, same_cost, training_time
from covertour.bench.reproduce.comparison import planned_comparison, run_comparison
from covertour.bench.reproduce.gap_time import draw_gap_time, planned_gap_time, run_gap_time
from covertour.bench.reproduce.protocol import COMPARISONS, Cell, Comparison, Settings, quickened
from covertour.bench.reproduce.rows import RowFile
from covertour.bench.reproduce.same_cost import planned_same_cost, run_same_cost
from covertour.bench.reproduce.solutions import (
    draw_solutions,
    planned_solutions,
    solutions_document,
    solve_pairs,
)
from covertour.bench.reproduce.study import Meter, Plan, Study
from covertour.bench.reproduce.training_curves import draw_training_curves, run_training_curves
from covertour.bench.reproduce.training_time import planned_training_time, run_training_time
from covertour.bench.tables import Document
from covertour.problem.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "EXPERIMENTS",
    "Experiment",
    "Meter",
    "Report",
    "RowFile",
    "Settings",
    "Study",
    "chosen",
    "plan",
    "quickened",
    "run",
]


@dataclass(frozen=True)
class Report:
    """What an experiment leads to: a document and its picture, or why it was left out."""

    document: Document | None
    draw: Callable[[], Axes] | None = None
    left_out: str = ""


@dataclass(frozen=True)
class Experiment:
    """A table or figure: what it shows, how long it will take, and the function that makes it.

    ``cells``: those that it has under some settings, for an experiment whose cells can be left out.
    """

    summary: str
    planned: Callable[[Study], Plan]
    run: Callable[[Study], Report]
    cells: Callable[[Settings], Sequence[Cell]] | None = None


def _compare(table: Comparison, study: Study) -> Report:
    return Report(run_comparison(table, study))


def _same_cost(study: Study) -> Report:
    return _reported(run_same_cost(study))


def _training_time(study: Study) -> Report:
    return _reported(run_training_time(study))


def _training_curves(study: Study) -> Report:
    return _reported(run_training_curves(study), partial(draw_training_curves, study))


def _solutions(study: Study) -> Report:
    pairs = solve_pairs(study)
    return Report(solutions_document(pairs), partial(draw_solutions, pairs))


def _gap_time(study: Study) -> Report:
    return Report(run_gap_time(study), partial(draw_gap_time, study))


def _reported(made: Document | str, draw: Callable[[], Axes] | None = None) -> Report:
    """A document, or the sentence that stands for it."""
    return Report(None, None, made) if isinstance(made, str) else Report(made, draw)


def _comparison(name: str, summary: str) -> Experiment:
    table = COMPARISONS[name]
    return Experiment(
        summary,
        partial(planned_comparison, table),
        partial(_compare, table),
        partial(comparison.cells_of, table),
    )


EXPERIMENTS: dict[str, Experiment] = {
    "small": _comparison("small", "all methods on 20, 50 and 100 places"),
    "large": _comparison("large", "all methods on 150, 200 and 300 places"),
    "same-cost": Experiment(
        "the time of the heuristics to the lengths of the learned method",
        planned_same_cost,
        _same_cost,
        same_cost.cells_of,
    ),
    "nc": _comparison("nc", "places that cover their 7, 11 or 15 nearest"),
    "coverage": _comparison("coverage", "variable numbers, a fixed radius, variable radii"),
    "training-time": Experiment(
        "seconds for 100 batches of training",
        planned_training_time,
        _training_time,
        training_time.cells_of,
    ),
    "training-curves": Experiment(
        "validation costs of the shipped models during their training",
        lambda study: {},
        _training_curves,
    ),
    "solutions": Experiment(
        "our tours and those of LS1 side by side", planned_solutions, _solutions
    ),
    "gap-time": Experiment(
        "gap to the optimum against time, every method in one picture",
        planned_gap_time,
        _gap_time,
        gap_time.cells_of,
    ),
}
"""The experiments by name, in the order in which ``all`` makes them."""


def chosen(names: Sequence[str]) -> list[str]:
    """The experiments asked for, ``all`` among them for every one; unknown names are refused."""
    for name in names:
        if name not in EXPERIMENTS and name != "all":
            raise InputError(f"reproduce: no {name!r}; there are {', '.join(EXPERIMENTS)}, all")
    if not names or "all" in names:
        return list(EXPERIMENTS)
    return list(dict.fromkeys(names))


def plan(study: Study, names: Sequence[str]) -> float:
    """About how many seconds the experiments take that are still to be made."""
    if study.settings.from_rows:
        return 0.0
    planned: Plan = {}
    for name in names:
        planned |= EXPERIMENTS[name].planned(study)
    return sum(planned.values())


def run(name: str, study: Study) -> Report:
    """Make an experiment, unless none of its cells is small enough."""
    experiment = EXPERIMENTS[name]
    if experiment.cells is not None and not experiment.cells(study.settings):
        return Report(
            None,
            left_out=f"{name} is left out: it has no cell of at most {study.settings.largest} "
            "places.",
        )
    return experiment.run(study)
