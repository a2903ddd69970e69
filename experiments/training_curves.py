"""The figure training-curves: validation costs of the models during their training."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from covertour import InputError
from covertour.bench import Column, Document, Table, time_text
from experiments.shared.claims import verdict
from experiments.shared.experiment import Experiment, report_of
from experiments.shared.protocol import METHODS_COMPARED
from experiments.shared.study import Study, not_judged
from experiments.shared.weights import PAPERS_MODELS, runs_of, weights_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from covertour.plot import TrainingCurve

VALIDATION = "validation.csv"

TOURS = "tours, in millions"
"""What the curves are drawn against, where all records tell it."""


@dataclass(frozen=True)
class Training:
    """The log of a training. ``size``: places of its instances; None where those differed.

    ``weights``: the directory that has it. ``rows``: of (batches, seconds, cost, gap to the search
    or None), one for each validation of the last run. ``costs``: of (tours, cost), one for each
    validation of all runs.
    """

    weights: Path
    network: str
    size: int | None
    rows: tuple[tuple[int, float, float, float | None], ...]
    costs: tuple[tuple[int, float], ...]

    @property
    def last(self) -> tuple[int, float, float, float | None]:
        """The last validation."""
        return self.rows[-1]

    @property
    def best(self) -> float:
        """The least cost, whose weights were kept."""
        return min(cost for _, _, cost, _ in self.rows)

    @property
    def tours(self) -> int:
        """Tours that were sampled until the last validation."""
        return max((tours for tours, _ in self.costs), default=0)

    def best_after(self, tours: int) -> float:
        """The least cost after so many tours; of all where it is not told how many there were."""
        return min((cost for made, cost in self.costs if made <= tours), default=self.best)

    @property
    def reference(self) -> float | None:
        """Mean length of the search's tours, from the last cost and its gap."""
        _, _, cost, gap = self.last
        return None if gap is None else cost / (1.0 + gap)


def read_training(directory: Path) -> Training:
    """The log beside weights, which are named after the network and the size or sizes."""
    match = re.fullmatch(r"(.+?)(?:-(\d+)(-\d+)?)?", directory.name)
    assert match is not None
    rows = _read_log(directory / VALIDATION)
    size = int(match[2]) if match[2] and not match[3] else None
    runs = runs_of(directory) or []
    before = [0, *accumulate(run.steps * run.tours for run in runs)]
    costs = [
        (tours + step * run.tours, cost)
        for tours, run in zip(before, runs, strict=False)
        for step, _, cost, _ in _read_log(run.validation)
    ]
    return Training(directory, match[1], size, rows, tuple(costs))


Rows = tuple[tuple[int, float, float, float | None], ...]


def _read_log(path: Path) -> Rows:
    """The rows of a log of validations."""
    rows = []
    try:
        lines = csv.DictReader(path.read_text(encoding="utf-8").splitlines())
        for row in lines:
            gap = float(row["gap"]) if row["gap"] else None
            rows.append((int(row["step"]), float(row["seconds"]), float(row["cost"]), gap))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"{path}, line {lines.line_num}: expected numbers for step,seconds,cost,gap"
        ) from None
    if not rows:
        raise InputError(f"{path}: expected at least one validation after the first line")
    return tuple(rows)


def trainings_of(study: Study) -> list[Training]:
    """The trainings whose weights have their logs beside them."""
    return [
        read_training(directory)
        for directory in weights_in(study.homes)
        if (directory / VALIDATION).is_file()
    ]


COLUMNS = (
    Column("model", "model", "s"),
    Column("size", "n", lambda size: str(size)),
    Column("batches", "batches", ",d"),
    Column("seconds", "training time", time_text),
    Column("cost", "final cost", ".4f"),
    Column("best", "best cost", ".4f"),
    Column("reference", "the search's", ".4f"),
    Column("gap_percent", "final gap %", ".2f"),
)


def run_training_curves(study: Study) -> Document | str:
    """The table of final costs; a sentence where there are no logs."""
    trainings = trainings_of(study)
    if not trainings:
        return "training-curves is left out: there are no weights with the log of their training."
    rows = []
    for size, group in _panels(trainings):
        for training in group:
            step, seconds, cost, gap = training.last
            rows.append(
                (
                    training.network,
                    "mixed" if size is None else size,
                    step,
                    seconds,
                    cost,
                    training.best,
                    training.reference,
                    None if gap is None else 100.0 * gap,
                )
            )
    return Document(
        "Training curves and final costs",
        (Table("Final costs", COLUMNS, tuple(rows)),),
        (
            "Cost: the mean length of the greedy tours of a held-out validation set; a model that "
            "polishes its tours is measured by the polished ones. The weights of the best cost "
            "are those that are used.",
            "n is the number of places trained on; costs are comparable among equal n only, and "
            "not those of mixed ones, whose validation sets differ.",
            "How each model was trained is told in card.md beside its weights.",
            *_verdicts(trainings),
        ),
    )


def _verdicts(trainings: Sequence[Training]) -> list[str]:
    """The paper's claim about the final costs, for each size that allows it."""
    said = []
    for size, group in _panels(trainings):
        theirs = [training for training in group if training.network in PAPERS_MODELS]
        alike = min(training.tours for training in theirs) if theirs else 0
        costs = {training.network: training.best_after(alike) for training in theirs}
        own = costs.pop("am-dynamic-paper", None)
        if size is None or own is None or not costs:
            continue
        words = ", ".join(
            f"{name} {cost:.3f}" for name, cost in {"am-dynamic-paper": own, **costs}.items()
        )
        made = f", each after {alike:,} tours," if alike else ""
        here = f"Here{made} {words}: {verdict(own < min(costs.values()))}"
        judged = not_judged([training.weights for training in theirs]) or here
        claim = f"AM-dynamic ends with a lower cost than its rivals at n = {size}."
        said.append(f"Claim: {claim} {judged}")
    return said


def _panels(trainings: Sequence[Training]) -> list[tuple[int | None, list[Training]]]:
    """The trainings by size, those on mixed sizes last; models in one order, so in one colour."""
    sizes = sorted({one.size for one in trainings if one.size is not None})
    groups = [
        (size, [one for one in trainings if one.size == size])
        for size in (*sizes, *([None] if any(one.size is None for one in trainings) else []))
    ]
    order = {name: index for index, name in enumerate(METHODS_COMPARED)}
    return [(size, sorted(group, key=lambda one: order[one.network])) for size, group in groups]


def draw_training_curves(study: Study) -> Axes:
    """A panel for each size."""
    from covertour.plot import plot_training
    from covertour.plot.panels import panels

    trainings = trainings_of(study)
    groups = _panels(trainings)
    of = TOURS if all(training.costs for training in trainings) else "batches"
    axes = panels(1, len(groups), width=6.0, height=5.0)
    for ax, (size, group) in zip(axes, groups, strict=True):
        plot_training([_curve(training, of) for training in group], ax, of)
        ax.set_title("mixed sizes" if size is None else f"{size} places", fontsize=10)
    return axes[0]


def _curve(training: Training, of: str) -> TrainingCurve:
    """All runs of a training; of one on mixed sizes the last, as those before have other sets."""
    from covertour.plot import TrainingCurve

    points = [(step, cost) for step, _, cost, _ in training.rows]
    unit = 1
    if of == TOURS:
        points = list(training.costs if training.size else training.costs[-len(points) :])
        unit = 1_000_000
    return TrainingCurve(
        training.network,
        tuple(made / unit for made, _ in points),
        tuple(cost for _, cost in points),
        None if training.reference is None else round(training.reference, 4),
    )


EXPERIMENT = Experiment(
    "validation costs of the models during their training",
    lambda study: {},
    lambda study: report_of(run_training_curves(study), partial(draw_training_curves, study)),
)
