"""Training: it learns, its gradient is the paper's, and an interruption changes nothing."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from covertour import InputError, Instance, random_instance, solve
from covertour.neural.config import Config, config_from, read_config
from covertour.neural.models import make_model
from covertour.neural.training.batch import batch_from, batch_of
from covertour.neural.training.checkpoint import load_model
from covertour.neural.training.decoding import greedy, sample, score
from covertour.neural.training.episodes import Episodes
from covertour.neural.training.objective import (
    Networks,
    costs_of,
    imitate,
    lengths_of,
    polished,
    reinforce,
    turned,
    without_idle_stops,
)
from covertour.neural.training.optimiser import rate_share
from covertour.neural.training.processes import share
from covertour.neural.training.train import Report, draw_step, is_better, train
from covertour.neural.training.validation import (
    greedy_length,
    reference_length,
    validation_set,
)
from covertour.solving.stop import MaxIterations

SMALL = {"width": 16, "heads": 2, "layers": 1, "feed_forward": 16}


def config_of(name: str = "am-gain", steps: int = 4, **train_keys: Any) -> Config:
    keys = {"batch": 4, "rollouts": 3, "log_every": 1, "tensorboard": False, **train_keys}
    return config_from(
        {
            "model": {"name": name, **SMALL},
            "stage": [{"steps": steps, "sizes": [7, 9], "rules": ["nearest 2", "radius 0-0.3"]}],
            "train": keys,
            "validation": {"instances": 3},
        }
    )


def teach(instances: Sequence[Instance]) -> list[np.ndarray]:
    return [solve(instance, stop=MaxIterations(50)).tour.places for instance in instances]


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a log without their times."""
    with open(path, newline="") as file:
        return [
            {key: value for key, value in row.items() if key != "seconds"}
            for row in csv.DictReader(file)
        ]


def checkpoint(directory: Path) -> dict[str, torch.Tensor]:
    (file,) = directory.glob("checkpoint-*.safetensors")
    return load_file(file)


class Killed(Exception):
    pass


def kill_at(step: int) -> Any:
    def on_step(report: Report) -> None:
        if report.step == step:
            raise Killed

    return on_step


def imitating(config: Config) -> Config:
    tables = config.to_dict()
    tables["stage"] = [{**tables["stage"][0], "learn": "imitate", "steps": 3}, *tables["stage"]]
    return config_from(tables)


@pytest.mark.parametrize(
    "config",
    [
        config_of("am-gain", schedule="cosine", warmup_steps=1, checkpoint_every=2),
        config_of("am-dynamic", baseline="greedy", epoch_steps=1, checkpoint_every=2),
        config_of("pn-dynamic", checkpoint_every=2, optimiser="muon", average=0.9),
        config_of(
            "am-dynamic", baseline="critic", entropy=0.1, optimiser="muon", checkpoint_every=2
        ),
        imitating(config_of("am", steps=1, checkpoint_every=2)),
    ],
    ids=["shared", "greedy", "muon-averaged", "critic", "imitation"],
)
def test_a_killed_training_resumes_to_the_same_bits(config: Config, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    train(config, whole, teach=teach)
    with pytest.raises(Killed):  # a step after the checkpoint, which is lost and made again
        train(config, cut, teach=teach, on_step=kill_at(3))
    report = train(config, cut, teach=teach, resume=True)
    assert report.step == 4
    expected, found = checkpoint(whole), checkpoint(cut)
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[key], found[key]) for key in expected)
    for log in ("training.csv", "validation.csv"):
        assert rows(whole / log) == rows(cut / log)
    assert [row["step"] for row in rows(cut / "training.csv")] == ["1", "2", "3", "4"]


def test_a_training_out_of_time_leaves_a_checkpoint(tmp_path: Path) -> None:
    config = config_of(checkpoint_every=1000)
    assert train(config, tmp_path, seconds=0).step == 1
    assert train(config, tmp_path, resume=True).step == 4


def test_signals_end_a_training_with_a_checkpoint(tmp_path: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        config, place = config_of(checkpoint_every=1000), tmp_path / str(number)

        def ask(report: Report, number: int = number) -> None:
            if report.step == 1:
                signal.raise_signal(number)

        report = train(config, place, on_step=ask)
        assert report.interrupted
        assert report.step == 2  # asked after the first, which was made whole
        assert train(config, place, resume=True).step == 4


def test_a_directory_has_one_training_at_a_time(tmp_path: Path) -> None:
    def another(_: Report) -> None:
        with pytest.raises(InputError, match=r"a training, process .* is at work here"):
            train(config_of(), tmp_path, resume=True)

    assert train(config_of(steps=1), tmp_path, on_step=another).step == 1


def test_the_best_weights_on_the_validation_set_are_kept(tmp_path: Path) -> None:
    config = config_of(steps=6, validate_every=1, learning_rate=0.05)
    train(config, tmp_path, teach=teach)
    costs = [float(row["cost"]) for row in rows(tmp_path / "validation.csv")]
    model, sizes = load_model(tmp_path / "best.safetensors")
    assert sizes == config.model
    assert greedy_length(config, model, validation_set(config)) == pytest.approx(min(costs))
    reference = np.mean([solve(one, "exact").length for one in validation_set(config)])
    gaps = [float(row["gap"]) for row in rows(tmp_path / "validation.csv")]
    assert gaps == pytest.approx([cost / reference - 1 for cost in costs], abs=1e-4)


def test_a_training_begins_with_the_weights_of_another(tmp_path: Path) -> None:
    train(config_of(validate_every=4), tmp_path / "small")
    given = str(tmp_path / "small" / "best.safetensors")
    still = config_of(steps=1, validate_every=1, initial=given, learning_rate=1e-9)
    assert train(still, tmp_path / "large").validation == pytest.approx(
        float(rows(tmp_path / "small" / "validation.csv")[-1]["cost"])
    )
    with pytest.raises(InputError, match="another model"):
        train(config_of("am", initial=given), tmp_path / "other")


def test_polished_tours_cost_mostly_their_length_after_the_polish() -> None:
    config = config_of(raw_share=0.25)
    model = make_model(config.model)
    drawn, noise = draw_step(config, config.stage[0], 0)
    batch = batch_of(drawn, "c/N")
    rollout = sample(model, batch, noise, useful=True)
    episodes = Episodes(rollout.tours.numpy(), rollout.stops.numpy())
    raw = lengths_of(batch, episodes.stops)
    after = lengths_of(batch, polished(batch, episodes.stops))
    assert (after <= raw + 1e-6).all()
    np.testing.assert_allclose(raw, rollout.lengths.numpy(), rtol=1e-5)
    np.testing.assert_allclose(costs_of(config, batch, episodes), 0.75 * after + 0.25 * raw)
    np.testing.assert_allclose(costs_of(config_of("am"), batch, episodes), raw)


def test_tensorboard_gets_the_same_rows(tmp_path: Path) -> None:
    train(config_of(steps=1, tensorboard=True), tmp_path)
    assert list((tmp_path / "tensorboard").glob("events*"))


@pytest.mark.parametrize("at_once", [1, 10**9])
@pytest.mark.parametrize("baseline", ["greedy", "shared"])
def test_the_gradient_is_that_of_reinforce_with_its_baseline(
    baseline: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("covertour.neural.training.objective.NUMBERS_AT_ONCE", at_once)
    config = config_of("am-dynamic", baseline=baseline)
    model, best = make_model(config.model, 1), make_model(config.model, 2)
    drawn, noise = draw_step(config, config.stage[0], 0)
    policy = best if baseline == "greedy" else None
    sums = reinforce(config, Networks(model, policy), drawn, noise)
    found = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    batch = batch_of(drawn, "c/N")
    tours = sample(model, batch, noise, useful=False)
    below = tours.lengths.mean(1, keepdim=True)
    if baseline == "greedy":
        below = greedy(best, batch, useful=False).lengths
    expected = ((tours.lengths - below) * tours.log_probability).mean()
    model.zero_grad()
    expected.backward()
    assert sums.loss == pytest.approx(expected.item(), rel=1e-4, abs=1e-5)
    assert sums.cost / sums.tours == pytest.approx(float(tours.lengths.mean()))
    for name, weight in model.named_parameters():
        torch.testing.assert_close(found[name], weight.grad, rtol=1e-4, atol=1e-5)


def test_the_baseline_policy_is_replaced_at_an_epochs_end_when_it_is_beaten(
    tmp_path: Path,
) -> None:
    config = config_of("am-dynamic", steps=2, baseline="greedy", epoch_steps=3)
    train(config, tmp_path / "before")
    first = make_model(config.model, config.train.seed).state_dict()
    tensors = checkpoint(tmp_path / "before")
    assert all(torch.equal(tensors[f"baseline/{key}"], first[key]) for key in first)

    drawn, _ = draw_step(config, config.stage[0], 0)
    models = [make_model(config.model, seed) for seed in range(6)]
    costs = [
        float(greedy(model, batch_of(drawn, "c/N"), useful=False).lengths.mean())
        for model in models
    ]
    for model, cost in zip(models, costs, strict=True):
        for other, than in zip(models, costs, strict=True):
            assert is_better(config, model, other, drawn, 1) == (cost < than)


def test_learning_rates_grow_then_fall() -> None:
    config = config_of(steps=12, schedule="cosine", warmup_steps=2)
    rates = [rate_share(config, step) for step in range(12)]
    assert rates[:3] == [0.5, 1.0, 1.0]
    assert rates[7] == pytest.approx(0.5)
    assert sorted(rates[2:], reverse=True) == rates[2:]
    assert rate_share(config_of(), 3) == 1.0


def test_a_curriculum_goes_through_its_stages() -> None:
    stages = [{"steps": 2, "sizes": [5, 6]}, {"steps": 3, "sizes": [8, 8], "rules": ["radius 0.2"]}]
    config = config_from({"stage": stages})
    assert config.steps == 5
    sizes = [draw_step(config, config.stage_of(step), step)[0].points.shape[1] for step in range(5)]
    assert set(sizes[:2]) <= {5, 6}
    assert sizes[2:] == [8, 8, 8]


def test_imitation_takes_any_stop_as_the_first_and_learns() -> None:
    config = config_of("am-dynamic", batch=8)
    model = make_model(config.model, 1)
    drawn, noise = draw_step(config, config.stage[0], 0)
    turns = noise[:, :, 0]
    sums = imitate(config.model, model, drawn, teach, turns)
    batch = batch_of(drawn, "c/N")
    tours = [
        without_idle_stops(covers.numpy(), tour)
        for covers, tour in zip(batch.covers, teach(drawn.instances()), strict=True)
    ]
    lengths = [one.length(tour) for one, tour in zip(drawn.instances(), tours, strict=True)]
    assert sums.cost / sums.tours == pytest.approx(np.mean(lengths), abs=1e-5)
    ways = turned(tours, turns)
    total = 0.0
    for row, tour in enumerate(tours):
        one = batch.part(slice(row, row + 1))
        for column in range(3):
            stops = ways.stops[row, column, : len(tour)]
            assert sorted(stops) == sorted(tour)
            again = score(model, one, torch.from_numpy(stops)[None, None], useful=False)
            starts = again.first[0, 0].exp()[torch.from_numpy(tour)].sum()
            total += (starts.log() + again.log_probabilities[0, 0, 1:].sum()).item()
    assert sums.loss == pytest.approx(-total / 24, abs=1e-4)

    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(15):
        optimizer.zero_grad()
        now = imitate(config.model, model, drawn, teach, turns)
        optimizer.step()
    assert now.loss < 0.8 * sums.loss


def test_idle_stops_are_dropped() -> None:
    covers = np.eye(4, dtype=bool)
    covers[0] = True
    assert without_idle_stops(covers, np.array([1, 0, 3])).tolist() == [0]
    assert without_idle_stops(np.eye(3, dtype=bool), np.array([2, 0, 1])).tolist() == [2, 0, 1]


def test_training_ends_well_below_the_untrained_cost(tmp_path: Path) -> None:
    """Tours drawn from the untrained policy are 3.1 long, of the search 1.77."""
    sizes = {"width": 64, "heads": 4, "layers": 2, "feed_forward": 128}
    config = config_from(
        {
            "model": {"name": "am-dynamic", **sizes},
            "stage": [{"steps": 120, "sizes": [10, 10], "rules": ["nearest 3"]}],
            "train": {"batch": 32, "rollouts": 8, "learning_rate": 1e-3, "tensorboard": False},
            "validation": {"instances": 20},
        }
    )
    fresh = [random_instance(10, nearest=3, seed=seed) for seed in range(5_000, 5_100)]
    untrained = make_model(config.model, config.train.seed)
    noise = torch.rand(100, 8, 10, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        before = float(
            sample(untrained, batch_from(fresh, "c/N"), noise, useful=False).lengths.mean()
        )
    train(config, tmp_path)
    model, _ = load_model(tmp_path / "best.safetensors")
    after = greedy_length(config, model, fresh)
    assert after < greedy_length(config, untrained, fresh)
    assert after < 0.87 * before


def test_two_processes_train_as_one_does(tmp_path: Path) -> None:
    """Under torchrun; their gradients are averaged, so only the rounding differs."""
    (tmp_path / "config.toml").write_text(
        """
        [model]
        name = "am-dynamic"
        width = 16
        heads = 2
        layers = 1
        feed_forward = 16
        [[stage]]
        steps = 3
        sizes = [7, 9]
        [train]
        baseline = "greedy"
        batch = 4
        rollouts = 2
        epoch_steps = 1
        epoch_instances = 8
        log_every = 1
        tensorboard = false
        [validation]
        instances = 3
        """
    )
    file, alone, both = tmp_path / "config.toml", tmp_path / "alone", tmp_path / "both"
    train(read_config(str(file)), alone)
    run = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python"]
    command = [sys.executable, "-c", "from covertour.cli import main; main()", "train"]
    arguments = ["--config", str(file), "--threads", "1", "--output", str(both)]
    subprocess.run(
        [sys.executable, *run, *command, *arguments],
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    expected, found = checkpoint(alone), checkpoint(both)
    assert expected.keys() == found.keys()
    gradients = [key for key in expected if key.endswith("/exp_avg")]
    assert gradients
    for key in gradients:  # their running mean; Adam blows up the rounding of tiny ones
        torch.testing.assert_close(found[key], expected[key], atol=1e-4, rtol=1e-2)
    costs = [[float(row["cost"]) for row in rows(path / "training.csv")] for path in (alone, both)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-4)


def test_what_makes_no_sense_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"train.batch: 4 instances .* 3 processes"):
        share(4, 0, 3)
    with pytest.raises(InputError, match="no training here to resume"):
        train(config_of(), tmp_path, resume=True)
    with pytest.raises(InputError, match="'imitate' needs a teacher"):
        train(imitating(config_of()), tmp_path)
    train(config_of(steps=1), tmp_path)
    with pytest.raises(InputError, match="holds a training already"):
        train(config_of(), tmp_path)
    with pytest.raises(InputError, match=r"a training of am-gain .* not of pn \("):
        train(config_of("pn"), tmp_path, resume=True)


def test_batches_of_instances_and_of_draws_look_alike() -> None:
    """What a model sees in training is what it sees of the same instance from a file."""
    drawn, _ = draw_step(config_of(), config_of().stage[0], 0)
    batch, other = batch_of(drawn, "c/N"), batch_from(drawn.instances(), "c/N")
    for name in ("places", "distances", "scale", "covers", "factors", "exists", "allowed"):
        torch.testing.assert_close(getattr(batch, name), getattr(other, name))


@pytest.mark.parametrize(
    "lengths", [["far"], [True], [1.0, 2.0], "text", None, [float("nan")]], ids=repr
)
def test_a_reference_that_is_no_numbers_is_refused(tmp_path: Path, lengths: object) -> None:
    instances = [random_instance(8, nearest=2)]
    known = {"instances": [instances[0].name], "lengths": lengths}
    (tmp_path / "reference.json").write_text(json.dumps(known))
    with pytest.raises(InputError, match=r"reference\.json: lengths: expected 1 numbers, got"):
        reference_length(tmp_path, instances, lambda several: [], rank=0)
