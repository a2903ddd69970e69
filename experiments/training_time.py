"""The table training-time: seconds for 100 batches of the paper's training, measured here."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from covertour import SolveError
from covertour.bench import Column, Document, Table, time_text
from experiments.shared.experiment import Experiment, report_of
from experiments.shared.paper import TRAINING, paper_figure
from experiments.shared.protocol import PAPER_RULE, Cell, Settings, cells_of
from experiments.shared.rows import Row, Run
from experiments.shared.study import Plan, Study
from experiments.shared.weights import PAPERS_MODELS, as_called

CELLS = cells_of([PAPER_RULE], [50, 100])

TRAINED = PAPERS_MODELS
"""The models whose training the paper timed."""

BATCHES = 100
"""The paper's number."""

WARM_UP = 1
"""Batches that are made before the clock starts."""

BATCH_SECONDS = {"pn": 3.0, "pn-dynamic": 3.0, "am": 1.4, "am-dynamic-paper": 1.4}
"""About how many seconds a batch takes at n = 50; only the time left is judged by it."""


def planned_training_time(study: Study) -> Plan:
    """The trainings that are still to be timed."""
    if not _can_train():
        return {}
    runs = {
        _run(study, model, cell): (model, cell)
        for cell in chosen_cells(study.settings)
        for model in TRAINED
    }
    return {run: _planned(study, *which) for run, which in runs.items() if run not in study.rows}


def _planned(study: Study, model: str, cell: Cell) -> float:
    batches = study.settings.training_batches + WARM_UP
    return 5.0 + batches * BATCH_SECONDS[model] * (cell.n / 50) ** 1.7


def _can_train() -> bool:
    return find_spec("torch") is not None


def chosen_cells(settings: Settings) -> tuple[Cell, ...]:
    """The sizes that are trained on."""
    return settings.cells(CELLS, CELLS)


def _run(study: Study, model: str, cell: Cell) -> Run:
    settings = f"training, {study.settings.training_batches} batches"
    timing = f"{os.cpu_count()} threads"
    return study.as_made(Run(f"training on {cell.rule}", cell.n, 1, model, settings, timing))


def run_training_time(study: Study) -> Document | str:
    """Time the trainings that have no row yet, and make the table."""
    if not _can_train() and not study.settings.from_rows:
        return (
            "training-time is left out: it needs torch, which is not installed: "
            "pip install 'covertour[train]'"
        )
    for cell in chosen_cells(study.settings):
        for model in TRAINED:
            run = _run(study, model, cell)
            if run in study.rows or study.settings.from_rows:
                continue
            study.meter.next(
                f"{cell}: training {model} for {study.settings.training_batches} batches"
            )
            seconds = _timed_training(model, cell, study.settings.training_batches)
            study.rows.add([Row(run, float("nan"), None, 0, seconds)])
            study.meter.made(_planned(study, model, cell))
    return training_time_document(study)


def _timed_training(model: str, cell: Cell, batches: int) -> float:
    """Seconds of so many batches in the paper's setting, in a process of its own.

    The steps are those of ``covertour train``, whose log tells when each was done; the validation
    comes after the last.
    """
    steps = batches + WARM_UP
    changes = {
        "stage.steps": steps,
        "stage.sizes": f"[{cell.n}, {cell.n}]",
        "stage.rules": f'["{cell.rule}"]',
        "train.log_every": 1,
        "train.validate_every": steps + 1,
        "train.checkpoint_every": steps + 1,
        "train.epoch_steps": steps + 1,
        "train.tensorboard": "false",
        "validation.instances": 1,
    }
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-c", "from covertour.cli import main; main()", "train"]
        command += [
            "--config",
            "paper-50",
            "--model",
            as_called(model),
            "--output",
            directory,
            "--quiet",
        ]
        for key, value in changes.items():
            command += ["--set", f"{key}={value}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 130:
            raise KeyboardInterrupt
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["the process was ended"])[-1]
            raise SolveError(f"training {model}: {last}")
        with open(Path(directory) / "training.csv", newline="") as file:
            moments = {int(row["step"]): float(row["seconds"]) for row in csv.DictReader(file)}
    return moments[steps] - moments[WARM_UP]


COLUMNS = (
    Column("model", "model", "s"),
    Column("n", "n", "d"),
    Column("seconds", f"{BATCHES} batches", time_text),
    Column("ratio", "/ am-dynamic-paper's", ".2f"),
    Column("paper_seconds", "paper", time_text),
    Column("paper_ratio", "paper: / AM-dynamic's", ".2f"),
)


def training_time_document(study: Study) -> Document:
    """The table, from the rows there are."""
    batches = study.settings.training_batches
    rows = []
    saved = []
    threads: dict[str, None] = {}
    for cell in chosen_cells(study.settings):
        made = study.found([_run(study, model, cell) for model in TRAINED])
        times = {row.run.method: row.seconds * BATCHES / batches for row in made}
        threads |= dict.fromkeys(row.run.timing for row in made)
        base = times.get("am-dynamic-paper")
        paper_base = paper_figure(cell.rule, cell.n, "am-dynamic-paper", TRAINING)
        for model, seconds in times.items():
            paper = paper_figure(cell.rule, cell.n, model, TRAINING)
            theirs = None if paper is None else paper.seconds
            rows.append(
                (
                    model,
                    cell.n,
                    seconds,
                    seconds / base if base else None,
                    theirs,
                    theirs / paper_base.seconds
                    if theirs and paper_base is not None and paper_base.seconds
                    else None,
                )
            )
        if base and "pn-dynamic" in times:
            saved.append(100.0 * (1.0 - base / times["pn-dynamic"]))
    sentences = [
        "In the paper's setting: batches of 256 instances, one sampled tour of each, the greedy "
        f"rollout as baseline; torch on {' and '.join(threads)} here, a GTX 2080 Ti there. Nothing "
        "else of ours ran.",
    ]
    if batches != BATCHES:
        sentences.insert(
            0, f"Only {batches} batches were timed after {WARM_UP}, scaled to {BATCHES}."
        )
    if saved:
        sentences.append(
            "Claim: AM-dynamic saves up to 75 % of the training time of PN-dynamic. Here it saves "
            f"{min(saved):.0f} % to {max(saved):.0f} % in the first batches. Not judged: a "
            "processor and our code here, a GPU and the paper's there."
        )
    return Document(
        "Training time for 100 batches",
        (Table("Models", COLUMNS, tuple(rows)),),
        tuple(sentences),
    )


EXPERIMENT = Experiment(
    "seconds for 100 batches of training",
    planned_training_time,
    lambda study: report_of(run_training_time(study)),
    chosen_cells,
)
