"""Export writes whole, equal files, and leaves torch as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch.nn import functional as f

from covertour import InputError
from covertour.neural.config import MODELS, ModelConfig
from covertour.neural.models import make_model
from covertour.neural.training.export import _attention, _attention_to_all, export

SMALL = {"width": 16, "heads": 2, "layers": 1, "feed_forward": 16}


@pytest.mark.parametrize("name", MODELS)
def test_the_same_model_gives_the_same_files(name: str, tmp_path: Path) -> None:
    config = ModelConfig(name, **SMALL)
    usual = f.scaled_dot_product_attention
    for where in ("a", "b"):
        export(make_model(config, seed=3), config, tmp_path / where)
    assert f.scaled_dot_product_attention is usual
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    decoder = ["decoder.npz"] if name == "am-gain" else []
    assert names == [*decoder, "encoder.onnx", "first.onnx", "model.json", "next.onnx"]
    for file in names:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert json.loads((tmp_path / "a" / "model.json").read_text())["model"]["name"] == name


def test_exported_attention_is_that_of_torch() -> None:
    query, key, value = torch.rand(3, 2, 4, 5, 6, generator=torch.Generator().manual_seed(1))
    seen = torch.ones(2, 1, 5, 5, dtype=torch.bool)
    expected = f.scaled_dot_product_attention(query, key, value, attn_mask=seen)
    torch.testing.assert_close(_attention(query, key, value, seen), expected)
    torch.testing.assert_close(_attention_to_all(query, key, value, seen), expected)
    seen[1, :, :, 2:] = False
    expected = f.scaled_dot_product_attention(query, key, value, attn_mask=seen)
    torch.testing.assert_close(_attention(query, key, value, seen), expected)


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    config = ModelConfig("pn", **SMALL)
    with pytest.raises(InputError, match=r"file/out: cannot be made"):
        export(make_model(config), config, tmp_path / "file" / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
