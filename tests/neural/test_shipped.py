"""Weights by name: which are taken, and what is said where there are none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from covertour import InputError
from covertour.neural.config import ModelConfig
from covertour.neural.inference import shipped
from covertour.neural.inference.network import load_network
from covertour.neural.inference.shipped import network_for, weights_for
from covertour.neural.models import make_model
from covertour.neural.training.export import export


@pytest.fixture
def three(tmp_path: Path, weights: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that ships am-20, am-50 and pn."""
    for name in ("am-20", "am-50", "pn"):
        shutil.copytree(weights(name.split("-")[0]), tmp_path / name)
    monkeypatch.setattr(shipped, "WEIGHTS", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("model", "n", "name"),
    [("am", 5, "am-20"), ("am", 35, "am-20"), ("am", 36, "am-50"), ("am", 900, "am-50")],
)
def test_the_nearest_size_is_taken(three: Path, model: str, n: int, name: str) -> None:
    assert weights_for(model, n) == three / name


def test_names_and_directories(three: Path, tmp_path: Path) -> None:
    assert weights_for("pn", 1000) == three / "pn"
    assert weights_for("am", 50, "am-20") == three / "am-20"
    assert weights_for("am", 50, tmp_path / "am-20") == tmp_path / "am-20"


def test_what_is_not_shipped_is_told_in_one_line(
    three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError) as refusal:
        weights_for("am-gain", 50)
    assert str(refusal.value) == (
        "am-gain: no weights of it ship with covertour; give a directory: --weights DIR, "
        "or Decoding(weights=DIR) (the repository has some in experiments/weights)"
    )
    with pytest.raises(InputError, match="'am-30' is no directory and no name; shipped are am-20"):
        weights_for("am", 50, "am-30")
    monkeypatch.setattr(shipped, "WEIGHTS", tmp_path / "nothing")
    with pytest.raises(InputError, match="'am-20' is no directory and no name; none are shipped"):
        weights_for("am", 50, "am-20")


def test_a_network_is_loaded_once_and_anew_when_it_was_written_again(three: Path) -> None:
    first = network_for("am", 20)
    assert network_for("am", 20) is first
    assert network_for("am", 50) is not first
    content = (three / "am-20" / "model.json").read_text()
    (three / "am-20" / "model.json").unlink()
    (three / "am-20" / "model.json").write_text(content)
    assert network_for("am", 20) is not first


def test_weights_of_another_model_are_refused(three: Path) -> None:
    with pytest.raises(InputError, match=r"pn: holds weights of pn, not of am$"):
        network_for("am", 20, "pn")


def test_a_directory_without_weights_is_refused(three: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no model.json here, so no exported weights"):
        network_for("am", 20, tmp_path / "empty")
    with pytest.raises(InputError, match=r"no model.json here, so no exported weights"):
        network_for("am-gain", 20, tmp_path)  # which has directories of other models


def test_of_a_directory_of_several_weights_those_of_the_nearest_size_are_taken(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "WEIGHTS", three / "nothing")
    assert weights_for("am", 90, three) == three / "am-50"
    assert network_for("pn", 90, three).config.name == "pn"


def test_what_ships_are_the_models_for_users() -> None:
    assert {name.rstrip("-0123456789") for name in shipped.shipped()} == {"am-dynamic", "am-gain"}


def test_graphs_of_models_of_different_sizes_are_refused(three: Path, tmp_path: Path) -> None:
    config = ModelConfig("am", width=16, heads=4, layers=1, feed_forward=16)
    export(make_model(config), config, tmp_path / "other")
    shutil.copy(tmp_path / "other" / "next.onnx", three / "am-20" / "next.onnx")
    with pytest.raises(InputError, match=r"am-20: the graphs do not fit together[^\n]*$"):
        network_for("am", 20)


def refused(directory: Path) -> str:
    with pytest.raises(InputError) as refusal:
        load_network(directory)
    message = str(refusal.value)
    assert message.startswith(str(directory))
    assert "\n" not in message
    return message


def test_bad_files_are_refused_in_one_line(three: Path) -> None:
    home = three / "am-20"
    for name in ("encoder", "first", "next"):
        data = (home / f"{name}.onnx").read_bytes()
        for cut in (0, 10, len(data) - 100):
            (home / f"{name}.onnx").write_bytes(data[:cut])
            assert f"{name}.onnx: cut off or not an ONNX model" in refused(home)
        (home / f"{name}.onnx").unlink()
        assert f"{name}.onnx: No such file" in refused(home)
        (home / f"{name}.onnx").write_bytes(data)
    load_network(home)
    shutil.copy(three / "pn" / "next.onnx", home / "next.onnx")
    assert "next.onnx: not a part of the am of model.json" in refused(home)
    content = json.loads((home / "model.json").read_text())
    for change, words in (
        ({"format": 7}, "has format 7, this covertour reads 1"),
        ({"model": {"name": "am", "depth": 2}}, "[model] has no key 'depth'"),
        ({"model": {"name": "amm"}}, "no 'amm'"),
        ({"model": 3}, "model: expected [model]"),
        ({"model": content["model"] | {"width": 32}}, "not a part of the am"),
    ):
        (home / "model.json").write_text(json.dumps(content | change))
        assert words in refused(home)
    (home / "model.json").write_text("{")
    assert "not JSON" in refused(home)


def test_a_bad_decoder_is_refused_in_one_line(tmp_path: Path) -> None:
    for name, width in (("one", 16), ("other", 32)):
        config = ModelConfig("am-gain", width=width, heads=4, layers=1, feed_forward=16)
        export(make_model(config), config, tmp_path / name)
    home = tmp_path / "one"
    data = (home / "decoder.npz").read_bytes()
    for cut in (0, 10, len(data) // 2, len(data) - 100):
        (home / "decoder.npz").write_bytes(data[:cut])
        assert "decoder.npz: cut off or not the weights of a decoder" in refused(home)
    np.savez(home / "decoder.npz", key=np.array([{"code": 1}]))
    assert "decoder.npz: cut off or not the weights of a decoder" in refused(home)
    shutil.copy(tmp_path / "other" / "decoder.npz", home / "decoder.npz")
    assert "decoder.npz: not the decoder of the am-gain of model.json" in refused(home)
    (home / "decoder.npz").unlink()
    assert "decoder.npz: not there" in refused(home)
