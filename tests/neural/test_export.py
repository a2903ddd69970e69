"""Export: the best weights or those of the last checkpoint, of any training, with their card."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from covertour import InputError
from covertour.neural.config import Config, config_from
from covertour.neural.inference.weights import load_network
from covertour.neural.training.export import export
from covertour.neural.training.train import train


def config_of(steps: int, **train: object) -> Config:
    return config_from(
        {
            "model": {"name": "am", "width": 16, "heads": 2, "layers": 1, "feed_forward": 16},
            "stage": [{"steps": steps, "sizes": [7, 9], "rules": ["nearest 2"]}],
            "train": {"batch": 2, "rollouts": 2, "log_every": 1, "tensorboard": False} | train,
            "validation": {"instances": 2},
        }
    )


def tensors_in(directory: Path) -> dict[str, np.ndarray]:
    return load_file(directory / "weights.safetensors")


def of_checkpoint(training: Path, part: str) -> dict[str, np.ndarray]:
    name = json.loads((training / "checkpoint.json").read_text())["tensors"]
    found = load_file(training / name)
    return {key.removeprefix(part): found[key] for key in found if key.startswith(part)}


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def test_the_best_weights_and_the_card_are_written(tmp_path: Path) -> None:
    train(config_of(3, validate_every=1, checkpoint_every=1), tmp_path / "run")
    config = export(tmp_path / "run", tmp_path / "out")
    assert config == config_of(3).model
    assert same(tensors_in(tmp_path / "out"), load_file(tmp_path / "run" / "best.safetensors"))
    assert load_network(tmp_path / "out").config == config
    names = ["card.md", "config.toml", "training.csv", "validation.csv", "weights.safetensors"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    assert "the best on the validation set." in (tmp_path / "out" / "card.md").read_text()
    export(tmp_path / "run" / "best.safetensors", tmp_path / "again")
    assert same(tensors_in(tmp_path / "again"), tensors_in(tmp_path / "out"))
    assert [path.name for path in (tmp_path / "again").iterdir()] == ["weights.safetensors"]


@pytest.mark.parametrize(("average", "part"), [(0.0, "model/"), (0.5, "mean/")])
def test_the_latest_weights_are_those_of_the_checkpoint(
    average: float, part: str, tmp_path: Path
) -> None:
    config = config_of(3, checkpoint_every=1, average=average, learning_rate=0.01)
    train(config, tmp_path / "run")
    export(tmp_path / "run", tmp_path / "out", latest=True)
    assert same(tensors_in(tmp_path / "out"), of_checkpoint(tmp_path / "run", part))
    assert "the weights are those of step 3" in (tmp_path / "out" / "card.md").read_text()


def test_a_training_that_was_ended_before_its_first_validation(tmp_path: Path) -> None:
    train(config_of(50, validate_every=50), tmp_path / "run", seconds=0.0)
    with pytest.raises(InputError, match=r"no best.safetensors here; --latest takes its last"):
        export(tmp_path / "run", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    export(tmp_path / "run", tmp_path / "out", latest=True)
    assert load_network(tmp_path / "out").config.name == "am"
    card = (tmp_path / "out" / "card.md").read_text()
    assert "the weights are those of step 1." in card
    assert "## Validation" not in card


def test_what_cannot_be_exported_is_refused_in_one_line(tmp_path: Path) -> None:
    train(config_of(1), tmp_path / "run")
    (tmp_path / "file").write_text("")
    for source, output, latest, words in (
        (tmp_path / "nowhere", "out", False, "nowhere: no such file or directory"),
        (tmp_path, "out", False, "no best.safetensors here, so no training of covertour"),
        (tmp_path, "out", True, "no checkpoint.json here"),
        (tmp_path / "run" / "best.safetensors", "out", True, "--latest: is for a training's"),
        (tmp_path / "run", "file/out", False, "file/out: cannot be made"),
    ):
        with pytest.raises(InputError, match=words):
            export(source, tmp_path / output, latest=latest)
    (tensors,) = (tmp_path / "run").glob("checkpoint-*.safetensors")
    tensors.write_bytes(tensors.read_bytes()[:-9])
    with pytest.raises(InputError, match="cut off or not safetensors"):
        export(tmp_path / "run", tmp_path / "out", latest=True)
    state = tmp_path / "run" / "checkpoint.json"
    state.write_text(state.read_text().replace('"width": 16', '"width": 32'))
    with pytest.raises(InputError, match=r"cut off|not the weights of this am"):
        export(tmp_path / "run", tmp_path / "out", latest=True)
    assert not (tmp_path / "out").exists()


def test_half_the_digits_are_asked_for(tmp_path: Path) -> None:
    train(config_of(1), tmp_path / "run")
    sizes = []
    for half in (False, True):
        export(tmp_path / "run", tmp_path / "out", half=half)
        sizes.append((tmp_path / "out" / "weights.safetensors").stat().st_size)
        load_network(tmp_path / "out")
    assert sizes[1] < 0.75 * sizes[0]  # of this small model much is the header
