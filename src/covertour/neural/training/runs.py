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

import csv
import json
from pathlib import Path
from typing import Any

from covertour.neural.inference.weightfile import checked_format
from covertour.problem.errors import InputError
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
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a JSON object")
    return content


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
    path = directory / name
    rows: list[list[str]] = []
    if step > 0 and path.exists():
        with open(path, newline="") as file:
            rows = [row for row in list(csv.reader(file))[1:] if row and _at_most(row[0], step)]
    lines = [",".join(COLUMNS[name]), *(",".join(row) for row in rows)]
    write_text(path, "\n".join(lines) + "\n")


def _at_most(text: str, step: int) -> bool:
    return text.isdigit() and int(text) <= step


def add_row(directory: Path, name: str, values: dict[str, float | int | None]) -> None:
    """Append a row to a log; None is an empty field."""
    fields = ("" if values[key] is None else format(values[key], ".7g") for key in COLUMNS[name])
    with open(directory / name, "a") as file:
        file.write(",".join(fields) + "\n")
