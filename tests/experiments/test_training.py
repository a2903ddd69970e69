"""Training curves from the logs beside weights, and the time of batches."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from covertour import InputError
from covertour.bench import Document
from experiments import training_time
from experiments.shared.protocol import Cell
from experiments.shared.study import Study
from experiments.training_curves import (
    draw_training_curves,
    read_training,
    run_training_curves,
)
from experiments.training_time import planned_training_time, run_training_time

MakeStudy = Callable[..., Study]

LOG = "step,seconds,cost,gap\n10,1.5,3.0,0.5\n20,3.0,2.2,0.1\n"


@pytest.fixture
def logged(study: MakeStudy) -> Study:
    """am and am-dynamic-paper trained on 20 places, am-gain on mixed ones."""
    made = study("am-20", "am-dynamic-paper-20", "am-gain")
    (home,) = made.homes
    for directory in home.iterdir():
        (directory / "validation.csv").write_text(LOG)
    better = LOG.replace("2.2,0.1", "2.1,0.05")
    (home / "am-dynamic-paper-20" / "validation.csv").write_text(better)
    return made


def test_the_final_costs_are_those_of_the_logs(logged: Study) -> None:
    document = run_training_curves(logged)
    assert isinstance(document, Document)
    table = document.tables[0]
    shown = [(row[0], row[1], row[2], row[4]) for row in table.rows]
    assert shown == [
        ("am", 20, 20, 2.2),
        ("am-dynamic-paper", 20, 20, 2.1),
        ("am-gain", "mixed", 20, 2.2),
    ]
    assert table.rows[0][6] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("name", "model", "size"),
    [
        ("am-dynamic-paper-60-200", "am-dynamic-paper", None),
        ("am-dynamic-paper-50", "am-dynamic-paper", 50),
    ],
)
def test_weights_tell_the_size_they_were_trained_on(
    tmp_path: Path, name: str, model: str, size: int | None
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "validation.csv").write_text(LOG)
    training = read_training(tmp_path / name)
    assert (training.network, training.size) == (model, size)


def test_final_costs_are_judged_where_the_models_learned_enough(
    logged: Study, learn: Callable[[Path, int], None]
) -> None:
    (home,) = logged.homes

    def said() -> str:
        document = run_training_curves(logged)
        assert isinstance(document, Document)
        (claim,) = (sentence for sentence in document.sentences if sentence.startswith("Claim:"))
        return claim

    for name in ("am-20", "am-dynamic-paper-20"):
        learn(home / name, 16_000_000)
    assert said().endswith(
        "Here, each after 200 tours, am-dynamic-paper 2.100, am 2.200: the claim holds."
    )
    learn(home / "am-20", 64_000)
    assert "at n = 20. Not judged: trained on 64,000 instances" in said()


def test_final_costs_are_compared_after_as_many_tours(
    logged: Study, learn: Callable[[Path, int], None]
) -> None:
    (home,) = logged.homes
    for name in ("am-20", "am-dynamic-paper-20"):
        learn(home / name, 16_000_000)
    ours = home / "am-dynamic-paper-20"
    (ours / "config.toml").rename(ours / "config-first.toml")
    learn(ours, 16_000_000)
    (ours / "training-first.csv").write_text("step\n20\n")
    (ours / "validation-first.csv").write_text(LOG.replace("2.2", "2.5"))
    assert read_training(ours).best == 2.1
    document = run_training_curves(logged)
    assert isinstance(document, Document)
    assert any(
        sentence.endswith(
            "Here, each after 200 tours, am-dynamic-paper 2.500, am 2.200: the claim does not hold."
        )
        for sentence in document.sentences
    )


def test_there_is_a_panel_for_each_size(logged: Study) -> None:
    figure = draw_training_curves(logged).figure
    assert [ax.get_title() for ax in figure.axes] == ["20 places", "mixed sizes"]
    labels = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert labels[:2] == ["am: 2.200 at the end", "am-dynamic-paper: 2.100 at the end"]


def test_weights_without_a_log_have_no_curve(study: MakeStudy) -> None:
    assert "left out" in str(run_training_curves(study("am-20")))


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("step,seconds,cost\n1,2,3\n", "line 2: expected numbers for step,seconds,cost,gap"),
        ("step,seconds,cost,gap\n1,2,much,\n", "line 2: expected numbers"),
        ("step,seconds,cost,gap\n", "expected at least one validation"),
    ],
)
def test_a_log_that_makes_no_sense_is_refused(tmp_path: Path, log: str, message: str) -> None:
    (tmp_path / "validation.csv").write_text(log)
    with pytest.raises(InputError, match=f"validation.csv.*{message}"):
        read_training(tmp_path)


def test_batches_are_timed_once(study: MakeStudy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_time, "CELLS", (Cell("nearest 7", 8),))
    monkeypatch.setattr(training_time, "TRAINED", ("am-dynamic-paper",))
    made = study(training_batches=1)
    assert len(planned_training_time(made)) == 1
    document = run_training_time(made)
    assert isinstance(document, Document)
    ((model, n, seconds, ratio, *_),) = document.tables[0].rows
    assert (model, n, ratio) == ("am-dynamic-paper", 8, 1)
    assert seconds > 0
    assert "scaled to 100" in document.sentences[0]
    assert planned_training_time(made) == {}
    assert made.rows.of_instance("nearest 7", 8, 1) == []  # no tour, no reference
    again = run_training_time(made)
    assert isinstance(again, Document)
    assert again.tables == document.tables
    monkeypatch.setattr(os, "cpu_count", lambda: 99)
    monkeypatch.setattr(training_time, "find_spec", lambda name: None)  # no torch, as below
    looking = replace(made, settings=replace(made.settings, from_rows=True))
    assert run_training_time(looking) == document


def test_without_torch_the_time_of_batches_is_left_out(
    study: MakeStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_time, "find_spec", lambda name: None)
    made = study()
    assert "pip install 'covertour[train]'" in str(run_training_time(made))
    assert planned_training_time(made) == {}
