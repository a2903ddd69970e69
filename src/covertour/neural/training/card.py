"""The card of trained weights: how they were made, so that anyone can make them again. No torch.

Beside exported weights lie card.md, to be read by people; config.toml, which `covertour train`
takes; and the logs of the training.
"""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from covertour.neural.config import config_from
from covertour.neural.training.runs import TRAINING, VALIDATION, checkpoint_config
from covertour.problem.errors import InputError
from covertour.storage import write_text

CARD = "card.md"
CONFIG = "config.toml"
CURVE_ROWS = 12
"""About how many rows of the validation a card shows; the log has them all."""


def write_card(training: Path, weights: Path) -> None:
    """Write the card of the training in one directory into that of its exported weights."""
    tables = config_from(checkpoint_config(training)).to_dict()
    curve = _rows(training / VALIDATION)
    last = _rows(training / TRAINING)[-1]
    best = min(curve, key=lambda row: float(row["cost"]))
    for log in (TRAINING, VALIDATION):
        shutil.copyfile(training / log, weights / log)
    write_text(weights / CONFIG, to_toml(tables))
    write_text(weights / CARD, _card(tables, curve, best, last))


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    if not rows:
        raise InputError(f"{path}: no rows yet; train for longer before exporting")
    return rows


def _card(
    tables: Mapping[str, Any],
    curve: list[dict[str, str]],
    best: dict[str, str],
    last: dict[str, str],
) -> str:
    train, chosen = tables["train"], tables["validation"]
    model = tables["model"]["name"]
    per_step = f"{train['batch']} instances, {train['rollouts']} tours of each"
    stages = [
        f"| {stage['learn']} | {stage['steps']:,} | {stage['sizes'][0]} to {stage['sizes'][1]} "
        f"| {', '.join(dict.fromkeys(stage['rules']))} |"
        for stage in tables["stage"]
    ]
    sizes = chosen["sizes"] or sorted(set(tables["stage"][-1]["sizes"]))
    rules = chosen["rules"] or dict.fromkeys(tables["stage"][-1]["rules"])
    shown = curve[:: max(1, len(curve) // CURVE_ROWS)]
    shown += [row for row in (best, curve[-1]) if row not in shown]
    shown = sorted(shown, key=lambda row: int(row["step"]))
    return "\n".join(
        [
            f"# {model}",
            "",
            f"{int(last['step']):,} steps in {float(last['seconds']) / 3600:.2f} hours; the "
            f"weights are those of step {int(best['step']):,}, the best on the validation set.",
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
            f"The logs: {TRAINING}, {VALIDATION}.",
            "",
        ]
    )


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
