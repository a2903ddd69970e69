"""A training's directory: what lies where, and the JSON and CSV files in it. Needs no torch.

checkpoint.json and the .safetensors file that it names
    where the training stands; to be resumed from
best.safetensors
    the weights that did best on the validation set, with the model's sizes
training.csv, validation.csv, tensorboard/
    the logs
reference.json
    lengths of the search's tours of the validation set
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from covertour.neural.inference.weightfile import checked_format
from covertour.problem.errors import InputError, shown
from covertour.storage import write_text

CHECKPOINT = "checkpoint.json"
BEST = "best.safetensors"
REFERENCE = "reference.json"
TRAINING = "training.csv"
VALIDATION = "validation.csv"
TENSORBOARD = "tensorboard"

COLUMNS = {
    TRAINING: ("step", "seconds", "places", "tours", "cost", "loss", "gradient", "learning_rate"),
    VALIDATION: ("step", "seconds", "cost", "gap"),
}
"""The columns of the logs. ``seconds``: spent on training, in all runs together. ``cost``: mean
length of the tours. ``gradient``: its norm before clipping. ``gap``: to the reference."""


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON object, whole or not at all."""
    write_text(path, json.dumps(content, indent=1))


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object; anything else is refused in one line."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a JSON object")
    return content


def read_numbers(path: Path, content: dict[str, Any], key: str, count: int) -> list[float]:
    """So many numbers under a key of a JSON object; anything else is refused in one line."""
    values = content.get(key)
    if (
        not isinstance(values, list)
        or len(values) != count
        or not all(type(value) in (int, float) and math.isfinite(value) for value in values)
    ):
        raise InputError(f"{path}: {key}: expected {count} numbers, got {shown(values)}")
    return values


def has_checkpoint(directory: Path) -> bool:
    """Whether a training was begun here."""
    return (directory / CHECKPOINT).exists()


def checkpoint_config(directory: Path) -> dict[str, Any]:
    """The config, as plain values, of the training that was begun here."""
    if not has_checkpoint(directory):
        raise InputError(f"{directory}: no {CHECKPOINT} here, so nothing to resume")
    config = checked_format(directory / CHECKPOINT, read_json(directory / CHECKPOINT)).get("config")
    if not isinstance(config, dict):
        raise InputError(f"{directory / CHECKPOINT}: no config in it")
    return config


def begin_log(directory: Path, name: str, step: int) -> None:
    """Make a log ready for the rows after ``step``: rows of steps to be made again are dropped."""
    kept = [row for row in read_log(directory / name) if int(row["step"]) <= step]
    lines = [",".join(COLUMNS[name]), *(",".join(row.values()) for row in kept if step > 0)]
    write_text(directory / name, "\n".join(lines) + "\n")


def read_log(path: Path) -> list[dict[str, str]]:
    """The rows of a log: its columns as text that is a number or empty; none without a file.

    A last row that was not written to its end is left out, as a killed training may have one.
    """
    columns = COLUMNS[path.name]
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text") from None
    if lines and lines[0] != ",".join(columns):
        raise InputError(f"{path}, line 1: expected {','.join(columns)}, got {shown(lines[0])}")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split(",")
        row = dict(zip(columns, cells, strict=False))
        if len(cells) == len(columns) and all(_fits(*cell) for cell in row.items()):
            rows.append(row)
        elif number < len(lines):
            raise InputError(f"{path}, line {number}: expected numbers, got {shown(line)}")
    return rows


def _fits(column: str, text: str) -> bool:
    """Whether a cell holds what its column has: a step, a gap that may be missing, a number."""
    if column == "step":
        return text.isdecimal() and len(text) < 16
    try:
        float(text or ("0" if column == "gap" else ""))
    except ValueError:
        return False
    return True


def add_row(directory: Path, name: str, values: dict[str, float | int | None]) -> None:
    """Append a row to a log; None is an empty field."""
    with open(directory / name, "a", encoding="utf-8") as file:
        file.write(",".join(_cell(values[key]) for key in COLUMNS[name]) + "\n")


def _cell(value: float | int | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else format(value, ".7g")
