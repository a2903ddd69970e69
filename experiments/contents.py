"""The experiments by name, and how those asked for are planned and made."""

from __future__ import annotations

from collections.abc import Sequence

from covertour import InputError
from experiments import (
    coverage,
    gap_time,
    large,
    nc,
    same_cost,
    small,
    solutions,
    training_curves,
    training_time,
)
from experiments.shared.experiment import Experiment, Report
from experiments.shared.study import Plan, Study

EXPERIMENTS: dict[str, Experiment] = {
    "small": small.EXPERIMENT,
    "large": large.EXPERIMENT,
    "same-cost": same_cost.EXPERIMENT,
    "nc": nc.EXPERIMENT,
    "coverage": coverage.EXPERIMENT,
    "training-time": training_time.EXPERIMENT,
    "training-curves": training_curves.EXPERIMENT,
    "solutions": solutions.EXPERIMENT,
    "gap-time": gap_time.EXPERIMENT,
}
"""In the order in which ``all`` makes them."""


def chosen(names: Sequence[str]) -> list[str]:
    """The experiments asked for, ``all`` among them for every one; unknown names are refused."""
    for name in names:
        if name not in EXPERIMENTS and name != "all":
            raise InputError(f"no experiment {name!r}; there are {', '.join(EXPERIMENTS)}, all")
    if "all" in names:
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


def make(name: str, study: Study) -> Report:
    """Make an experiment, unless none of its cells is small enough."""
    experiment = EXPERIMENTS[name]
    if experiment.cells is not None and not experiment.cells(study.settings):
        return Report(
            None,
            left_out=f"{name} is left out: it has no cell of at most {study.settings.largest} "
            "places.",
        )
    return experiment.run(study)
