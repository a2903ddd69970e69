"""Weights by name and by directory: which are taken, and files that are refused in one line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from covertour import InputError
from covertour.neural.config import MODELS, ModelConfig
from covertour.neural.inference import weights as networks
from covertour.neural.inference.decoders import decoder_of
from covertour.neural.inference.weightfile import FORMAT, checksum, read_weights, write_weights
from covertour.neural.inference.weights import (
    load_network,
    nearest_name,
    network_for,
    weights_for,
)

SMALL = {"width": 16, "heads": 2, "layers": 1, "feed_forward": 16}


@pytest.fixture
def three(tmp_path: Path, weights: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that ships am-20, am-50 and pn."""
    for name in ("am-20", "am-50", "pn"):
        shutil.copytree(weights(name.split("-")[0]), tmp_path / name)
    monkeypatch.setattr(networks, "SHIPPED", tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("model", "n", "name"),
    [("am", 5, "am-20"), ("am", 35, "am-20"), ("am", 36, "am-50"), ("am", 900, "am-50")],
)
def test_the_nearest_size_is_taken(three: Path, model: str, n: int, name: str) -> None:
    assert weights_for(model, n) == three / name


@pytest.mark.parametrize(
    ("n", "name"),
    [(55, "am-50"), (56, "am-60-200"), (99, "am-60-200"), (100, "am-100"), (400, "am-60-200")],
)
def test_of_weights_as_near_those_of_fewer_sizes_are_taken(n: int, name: str) -> None:
    there = ["am-20", "am-50", "am-60-200", "am-100", "am-dynamic-90", "am-x"]
    assert nearest_name(there, "am", n) == name
    assert nearest_name(there[::-1], "am", n) == name
    assert nearest_name(there, "pn", n) is None


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
    monkeypatch.setattr(networks, "SHIPPED", tmp_path / "nothing")
    with pytest.raises(InputError, match="'am-20' is no directory and no name; none are shipped"):
        weights_for("am", 50, "am-20")


def test_a_network_is_loaded_once_and_anew_when_it_was_written_again(three: Path) -> None:
    first = network_for("am", 20)
    assert network_for("am", 20) is first
    assert network_for("am", 50) is not first
    file = three / "am-20" / "weights.safetensors"
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content)
    assert network_for("am", 20) is not first


def test_weights_of_another_model_are_refused(three: Path) -> None:
    with pytest.raises(InputError, match=r"pn: holds weights of pn, not of am$"):
        network_for("am", 20, "pn")


def test_a_directory_without_weights_is_refused(three: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no weights.safetensors here, so no weights"):
        network_for("am", 20, tmp_path / "empty")
    with pytest.raises(InputError, match=r"no weights.safetensors here, so no weights"):
        network_for("am-gain", 20, tmp_path)  # which has directories of other models


def test_of_a_directory_of_several_weights_those_of_the_nearest_size_are_taken(
    three: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "SHIPPED", three / "nothing")
    assert weights_for("am", 90, three) == three / "am-50"
    assert network_for("pn", 90, three).config.name == "pn"


def test_what_ships_are_the_models_for_users() -> None:
    assert {name.rstrip("-0123456789") for name in networks.shipped()} == {"am-dynamic", "am-gain"}


# --- Files that are refused -----------------------------------------------------------------------


def tensors_of(config: ModelConfig) -> dict[str, np.ndarray]:
    shapes = decoder_of(config.name).shapes(config)
    return {name: np.full(shape, 0.1, np.float32) for name, shape in shapes.items()}


def refused(file: Path) -> str:
    with pytest.raises(InputError) as refusal:
        load_network(file.parent)
    message = str(refusal.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    return message


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "weights.safetensors"


@pytest.mark.parametrize("name", MODELS)
def test_weights_come_back_as_they_were(name: str, file: Path) -> None:
    config = ModelConfig(name, **SMALL)
    rng = np.random.default_rng(1)
    written = {
        key: rng.normal(size=value.shape).astype(np.float32)
        for key, value in tensors_of(config).items()
    }
    write_weights(file, written, config, {"step": 3})
    tensors, again, about = read_weights(file)
    assert (again, about) == (config, {"step": 3})
    assert tensors.keys() == written.keys()
    assert all(np.array_equal(tensors[key], written[key]) for key in written)


def test_half_the_digits_take_half_the_space(file: Path) -> None:
    config = ModelConfig("am")
    rng = np.random.default_rng(1)
    written = {
        key: rng.normal(size=value.shape).astype(np.float32)
        for key, value in tensors_of(config).items()
    }
    write_weights(file, written, config, {})
    whole = file.stat().st_size
    write_weights(file, written, config, {}, half=True)
    assert file.stat().st_size < 0.51 * whole
    tensors, _, _ = read_weights(file)
    for key, value in tensors.items():
        assert value.dtype == np.float32
        np.testing.assert_allclose(value, written[key], rtol=1e-3, atol=1e-6)


def test_tensors_of_another_kind_are_refused(file: Path) -> None:
    config = ModelConfig("am", **SMALL)
    write_weights(file, tensors_of(config), config, {})
    header = read_header(file)
    whole = {key: value.astype(np.float64) for key, value in tensors_of(config).items()}
    save_file(whole, file, {"covertour": json.dumps(header)})
    assert "is F64[" in refused(file)


def test_files_that_are_cut_or_no_weights_are_refused(file: Path) -> None:
    assert "No such file" in refused(file)
    config = ModelConfig("am", **SMALL)
    write_weights(file, tensors_of(config), config, {})
    data = file.read_bytes()
    for cut in (0, 5, 200, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:cut])
        assert "cut off or not safetensors" in refused(file)
    file.write_bytes(data + b"more")
    assert "cut off or not safetensors" in refused(file)
    file.write_text("not weights at all, but a text that is somewhat longer than a header")
    assert "cut off or not safetensors" in refused(file)
    save_file({"a": np.zeros(1)}, file)
    assert "not weights of covertour" in refused(file)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("{", "not weights of covertour"),
        ("[" * 10_000, "not weights of covertour"),
        ("[]", "no model in it"),
        ({"format": FORMAT}, "no model in it"),
        ({"format": 99, "model": {}}, f"has format 99, this covertour reads {FORMAT}"),
        ({"format": FORMAT, "model": 3}, "model: expected [model]"),
        ({"format": FORMAT, "model": {"name": "amm"}}, "no 'amm'"),
        ({"format": FORMAT, "model": {"depth": 3}}, "[model] has no key 'depth'"),
        ({"format": FORMAT, "model": {"width": 10**9}}, "model.width: expected 1 to 4096"),
        ({"format": FORMAT, "model": {"heads": 3}}, "expected a multiple of the 3 heads"),
    ],
)
def test_headers_that_make_no_sense_are_refused(
    file: Path, header: str | dict[str, Any], words: str
) -> None:
    text = header if isinstance(header, str) else json.dumps(header)
    save_file({"a": np.zeros(1)}, file, {"covertour": text})
    assert words in refused(file)


def test_tensors_that_contradict_the_config_are_refused(file: Path) -> None:
    config = ModelConfig("am", **SMALL)
    right = tensors_of(config)
    some = "encoder.layers.0.project.weight"
    for changed, words in (
        ({key: value for key, value in right.items() if key != some}, f"{some} is missing"),
        (right | {"extra": np.zeros(1, np.float32)}, "extra is none of its tensors"),
        (right | {some: right[some][:5]}, f"{some} is F32[5, 16], expected F32[16, 16]"),
        (right | {some: right[some] * np.inf}, f"{some} holds values that are not numbers"),
        (right | {some: right[some] * np.nan}, f"{some} holds values that are not numbers"),
        (tensors_of(ModelConfig("pn", **SMALL)), "not the weights of this am"),
    ):
        write_weights(file, changed, config, {})
        assert words in refused(file)
    for other in (
        replace(config, width=32),
        replace(config, layers=2),
        replace(config, feed_forward=8),
        replace(config, name="am-gain"),
    ):
        write_weights(file, right, other, {})
        assert f"not the weights of this {other.name}" in refused(file)


def test_a_config_or_tensors_changed_by_hand_are_refused(file: Path) -> None:
    config = ModelConfig("am", **SMALL)
    write_weights(file, tensors_of(config), config, {})
    header = read_header(file)
    for changed in (replace(config, heads=4), replace(config, clip=1.0)):
        # Their tensors have the same shapes.
        text = json.dumps(header | {"model": asdict(changed)})
        save_file(load_file(file), file, {"covertour": text})
        assert "its checksum does not fit" in refused(file)
    write_weights(file, tensors_of(config), config, {})
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)
    assert "its checksum does not fit" in refused(file)


def test_a_file_from_before_a_key_was_added_is_read(file: Path) -> None:
    config = ModelConfig("am", **SMALL)
    tensors = tensors_of(config)
    model = {key: value for key, value in asdict(config).items() if key != "guidance"}
    header = {"format": FORMAT, "model": model, "checksum": checksum(tensors, model)}
    save_file(tensors, file, {"covertour": json.dumps(header)})
    assert load_network(file.parent).config == config


def read_header(file: Path) -> dict[str, Any]:
    from safetensors import safe_open

    with safe_open(file, framework="numpy") as opened:
        return json.loads(opened.metadata()["covertour"])
