"""Weights and checkpoints that are cut, foreign or of another model are refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

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


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_model(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_bad_weights_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    assert "No such file" in refused(path)
    config = ModelConfig("am", **SMALL)
    save_weights(path, make_model(config), config, {})
    data = path.read_bytes()
    for cut in (0, 5, 200, len(data) - 1):
        path.write_bytes(data[:cut])
        assert "cut off or not safetensors" in refused(path)
    path.write_text("not weights at all, but a text that is somewhat longer than a header")
    assert "cut off or not safetensors" in refused(path)
    save_file({"a": torch.zeros(1)}, path)
    assert "not weights of covertour" in refused(path)
    save_weights(path, make_model(ModelConfig("pn", **SMALL)), config, {})
    assert "not the weights of this am" in refused(path)
    header = {"format": 99, "model": {"name": "am"}}
    save_file({"a": torch.zeros(1)}, path, {"covertour": json.dumps(header)})
    assert "has format 99, this covertour reads 1" in refused(path)
    header = {"format": 1, "model": {"name": "am", "depth": 3}}
    save_file({"a": torch.zeros(1)}, path, {"covertour": json.dumps(header)})
    assert "[model] has no key 'depth'" in refused(path)
    save_file({"a": torch.zeros(1)}, path, {"covertour": '{"format": 1}'})
    assert "no model in it" in refused(path)


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
        (state.replace('"format": 1', '"format": 2'), "has format 2, this covertour reads 1"),
        (state.replace('"step": 1', '"step": "x"'), "step, seconds, best and tensors expected"),
        (state.replace('"width": 16', '"width": 32'), "a training of am-gain .32 wide"),
        (state.replace('"seed": 1,', '"sede": 1,'), "has no key 'sede'"),
    ):
        (tmp_path / "checkpoint.json").write_text(text)
        refused(words)
    (tmp_path / "checkpoint.json").write_text(state)
    assert train(config, tmp_path, resume=True).step == 2
