"""The card of trained weights: how they were made, so that anyone can make them again. No torch.

Beside exported weights lie card.md, to be read by people; config.toml, which `covertour train`
takes; and the logs of the training.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from covertour.neural.config import config_from
from covertour.neural.training.runs import TRAINING, VALIDATION, checkpoint_config, read_log
from covertour.storage import write_text

CARD = "card.md"
CONFIG = "config.toml"
CURVE_ROWS = 12
"""About how many rows of the validation a card shows; the log has them all."""


def write_card(training: Path, weights: Path, step: int) -> None:
    """Write the card of the training in one directory into that of its exported weights.

    ``step``: after which the weights were those that are exported.
    """
    tables = config_from(checkpoint_config(training)).to_dict()
    curve, steps = read_log(training / VALIDATION), read_log(training / TRAINING)
    for log in (TRAINING, VALIDATION):
        if (training / log).exists():
            shutil.copyfile(training / log, weights / log)
    write_text(weights / CONFIG, to_toml(tables))
    write_text(weights / CARD, _card(tables, curve, steps, step))


def _card(
    tables: Mapping[str, Any], curve: list[dict[str, str]], steps: list[dict[str, str]], step: int
) -> str:
    train = tables["train"]
    per_step = f"{train['batch']} instances, {train['rollouts']} tours of each"
    stages = [
        f"| {stage['learn']} | {stage['steps']:,} | {stage['sizes'][0]} to {stage['sizes'][1]} "
        f"| {', '.join(dict.fromkeys(stage['rules']))} |"
        for stage in tables["stage"]
    ]
    made, hours = step, ""
    if steps:
        made = max(step, int(steps[-1]["step"]))
        hours = f" in {float(steps[-1]['seconds']) / 3600:.2f} hours"
    best = min(curve, key=lambda row: float(row["cost"]), default=None)
    why = ", the best on the validation set" if best and int(best["step"]) == step else ""
    return "\n".join(
        [
            f"# {tables['model']['name']}",
            "",
            f"{made:,} steps{hours}; the weights are those of step {step:,}{why}.",
            "",
            f"    covertour train --config {CONFIG} --output training",
            "    covertour export training --output weights",
            "",
            "## Data",
            "",
            f"Random uniform instances, new ones at every step: {per_step}."
            + (f" It began with the weights of {train['initial']}." if train["initial"] else ""),
            "",
            "| learn | steps | places | rules |",
            "| --- | ---: | --- | --- |",
            *stages,
            "",
            *(_validation(tables, curve, step) if curve else []),
            f"The logs: {TRAINING}, {VALIDATION}.",
            "",
        ]
    )


def _validation(tables: Mapping[str, Any], curve: list[dict[str, str]], step: int) -> list[str]:
    """The section that shows the curve, with the step of the weights and the last one."""
    chosen = tables["validation"]
    sizes = chosen["sizes"] or sorted(set(tables["stage"][-1]["sizes"]))
    rules = chosen["rules"] or dict.fromkeys(tables["stage"][-1]["rules"])
    every = max(1, len(curve) // CURVE_ROWS)
    shown = [
        row
        for index, row in enumerate(curve)
        if index % every == 0 or row is curve[-1] or int(row["step"]) == step
    ]
    return [
        "## Validation",
        "",
        f"The greedy tours of {chosen['instances']} fixed instances of "
        f"{', '.join(map(str, sizes))} places, {', '.join(rules)}: mean length, and by how "
        "much it is over that of a short search.",
        "",
        "| step | length | gap % |",
        "| ---: | ---: | ---: |",
        *(f"| {row['step']} | {float(row['cost']):.4f} | {_percent(row)} |" for row in shown),
        "",
    ]


def _percent(row: Mapping[str, str]) -> str:
    return f"{100 * float(row['gap']):.2f}" if row["gap"] else "-"


def to_toml(tables: Mapping[str, Any]) -> str:
    """The tables of a config, as :meth:`Config.to_dict` gives them, in TOML."""
    parts = []
    for name, table in tables.items():
        for one in table if name == "stage" else [table]:
            heading = f"[[{name}]]" if name == "stage" else f"[{name}]"
            parts.append("\n".join([heading, *(f"{key} = {_value(one[key])}" for key in one)]))
    return "\n\n".join(parts) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return f'"{value}"' if isinstance(value, str) else repr(value)
