"""Configs: TOML, presets and changes; what makes no sense gets one clear line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from covertour import InputError
from covertour.neural.config import PRESETS, Config, RuleRange, config_from, read_config, rule_range


@pytest.mark.parametrize("preset", sorted(path.stem for path in PRESETS.glob("*.toml")))
def test_every_preset_is_a_config(preset: str) -> None:
    assert read_config(preset).steps >= 5_000


def test_the_papers_hyperparameters_are_its_table() -> None:
    config = read_config("paper-50")
    assert (config.model.width, config.model.heads, config.model.layers) == (128, 8, 3)
    assert (config.train.batch, config.train.learning_rate) == (256, 1e-4)
    assert config.steps * config.train.batch == 50 * 320_000
    assert config.train.epoch_steps * config.train.batch == 320_000
    assert config.stage[0].rules == ("nearest 7",)


def test_models_choose_their_mask_unless_told() -> None:
    assert config_from({"model": {"name": "am-gain"}}).model.mask == "useful"
    assert config_from({"model": {"name": "am"}}).model.mask == "visited"
    assert config_from({"model": {"name": "am", "mask": "useful"}}).model.mask == "useful"


def test_heads_along_coverage_are_a_quarter_each_way() -> None:
    assert config_from({"model": {"attention": "coverage"}}).model.covering_heads == 2
    assert config_from({"model": {"attention": "all"}}).model.covering_heads == 0
    with pytest.raises(InputError, match=r"model\.heads: expected 4 to 64, got 2"):
        config_from({"model": {"attention": "coverage", "heads": 2}})


def test_changes_overrule_the_file() -> None:
    changes = ["train.seed=7", "model.name=pn", "stage.steps=3", "stage.sizes=[5, 6]"]
    config = read_config("cpu-20", changes)
    assert (config.train.seed, config.model.name, config.steps) == (7, "pn", 3)
    assert config.stage[0].sizes == (5, 6)


def test_a_config_survives_json() -> None:
    config = read_config("mixed")
    assert config_from(json.loads(json.dumps(config.to_dict()))) == config


def test_rules_are_read_as_they_are_written() -> None:
    assert rule_range("nearest 2-15") == RuleRange("nearest", 2, 15)
    assert rule_range("radius 0-.25") == RuleRange("radius", 0, 0.25)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("train.sede=1", "[train] has no key 'sede'; did you mean 'seed'?"),
        ("train.seed=1.5", "train.seed: expected a whole number, got 1.5"),
        ("train.seed=true", "train.seed: expected a whole number, got True"),
        ("train.batch=0", "train.batch: expected 1 to"),
        ("train.rollouts=1", "train.rollouts: the shared baseline needs at least 2"),
        ("train.baseline=gredy", "train.baseline: no 'gredy'; did you mean 'greedy'?"),
        ("train.learning_rate=nan", "train.learning_rate: expected"),
        ("train.tensorboard=1", "train.tensorboard: expected true or false"),
        ("model.name=transformer", "model.name: no 'transformer'; there are am-dynamic"),
        ("model.width=100", "model.width: expected a multiple of the 8 heads, got 100"),
        ("model.attention=covered", "model.attention: no 'covered'; did you mean 'coverage'?"),
        ("model.layers=0", "model.layers: expected 1 to 64, got 0"),
        ("model.mask=all", "model.mask: no 'all'"),
        ("stage.sizes=[50, 20]", "stage.sizes: expected [least, largest], got [50, 20]"),
        ("stage.sizes=[1, 20]", "stage.sizes: expected 2 to 2000, got 1"),
        ("stage.sizes=20", "stage.sizes: expected a list of whole numbers, got 20"),
        ("stage.rules=[]", "stage.rules: expected at least one rule"),
        ('stage.rules=["nearest 2.5"]', "rule: 'nearest 2.5': nearest takes whole numbers"),
        ('stage.rules=["radius 3-1"]', "rule: 'radius 3-1': expected the lower end first"),
        ("train.learning_rate=1" + 400 * "0", "train.learning_rate: 1000000"),
        ("train.batch=1" + 400 * "0", "train.batch: expected 1 to 1e+06, got 1000000"),
        ("train.seed=" + 5000 * "1", "train.seed: expected a whole number, got '1111"),
        ("train.seed=" + 2000 * "[" + 2000 * "]", "train.seed: expected a whole number, got '[[["),
        ("stage.learn=guess", "stage.learn: no 'guess'"),
        ("validation.sizes=[1]", "validation.sizes: expected 2 to 2000"),
        ("seed=1", "--set: expected section.key=value, got 'seed=1'"),
        ("trian.seed=1", "--set: expected section.key=value"),
    ],
)
def test_nonsense_is_named(change: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_config(None, [change])
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[train", "not TOML"),
        ("[trian]", "no table [trian]; did you mean 'train'?"),
        ("[stage]\nsteps = 'x'", "stage.steps: expected a whole number, got 'x'"),
        ("stage = []", "stage: expected tables [[stage]]"),
        ("train = 3", "train: expected [train]"),
        ("a = " + 5000 * "1", "not TOML: Exceeds the limit"),
        ("a = " + 2000 * "[" + 2000 * "]", "not TOML: lists too deep"),
        ("a = '\udcff'", "not TOML"),
    ],
)
def test_files_are_named_in_errors(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(InputError) as caught:
        read_config(str(path))
    assert len(str(caught.value)) < 250
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(InputError, match=r"none.toml: No such file"):
        read_config("none.toml")
    with pytest.raises(InputError, match="no preset; there are cpu-20"):
        read_config("cpu20")
    assert read_config(None) == Config()


def test_a_config_comes_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def give(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    give("[train]\nseed = 7\n")
    assert read_config("-").train.seed == 7
    give("[train]\nsede = 7\n")
    with pytest.raises(InputError, match=r"^standard input: \[train\] has no key 'sede'"):
        read_config("-")
