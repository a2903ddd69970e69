"""Weights and checkpoints that are cut, foreign or of another model are refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from covertour import InputError
from covertour.neural.config import MODELS, ModelConfig, config_from
from covertour.neural.models import make_model
from covertour.neural.training.checkpoint import load_model, save_weights
from covertour.neural.training.runs import checkpoint_config
from covertour.neural.training.train import train

SMALL = {"width": 16, "heads": 2, "layers": 1, "feed_forward": 16}


@pytest.mark.parametrize("name", MODELS)
def test_weights_come_back_as_they_were(name: str, tmp_path: Path) -> None:
    config = ModelConfig(name, **SMALL)
    model = make_model(config, seed=5)
    save_weights(tmp_path / "weights.safetensors", model, config, {"hours": 1})
    again, sizes = load_model(tmp_path / "weights.safetensors")
    assert sizes == config
    for key, value in model.state_dict().items():
        assert torch.equal(again.state_dict()[key], value)


def test_bad_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    with pytest.raises(InputError, match="No such file"):
        load_model(path)
    config = ModelConfig("am", **SMALL)
    save_weights(path, make_model(ModelConfig("pn", **SMALL)), config, {})
    with pytest.raises(InputError, match="not the weights of this am"):
        load_model(path)


def test_bad_checkpoints_are_refused(tmp_path: Path) -> None:
    config = config_from(
        {
            "model": SMALL,
            "stage": [{"steps": 2, "sizes": [5, 5]}],
            "train": {"batch": 2, "rollouts": 2, "tensorboard": False},
            "validation": {"instances": 2},
        }
    )
    train(config, tmp_path, seconds=0)
    assert config_from(checkpoint_config(tmp_path)) == config
    (tensors,) = tmp_path.glob("checkpoint-*.safetensors")
    data, state = tensors.read_bytes(), (tmp_path / "checkpoint.json").read_text()

    def refused(words: str) -> None:
        with pytest.raises(InputError, match=words):
            train(config, tmp_path, resume=True)

    tensors.write_bytes(data[:-7])
    refused("cut off or not safetensors")
    tensors.unlink()
    refused("No such file")
    tensors.write_bytes(data)
    for text, words in (
        (state[:50], "not JSON"),
        ("[1]", "expected a JSON object"),
        (state.replace('"format": 2', '"format": 9'), "has format 9, this covertour reads 2"),
        (state.replace('"step": 1', '"step": "x"'), "step, seconds, best and tensors expected"),
        (state.replace('"width": 16', '"width": 32'), "a training of am-gain .32 wide"),
        (state.replace('"seed": 1,', '"sede": 1,'), "has no key 'sede'"),
    ):
        (tmp_path / "checkpoint.json").write_text(text)
        refused(words)
    (tmp_path / "checkpoint.json").write_text(state)
    assert train(config, tmp_path, resume=True).step == 2
