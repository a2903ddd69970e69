"""The card beside exported weights: it tells the training, which its config repeats."""

from pathlib import Path

import pytest

from covertour import InputError
from covertour.neural.config import config_from, read_config
from covertour.neural.training.card import to_toml, write_card
from covertour.neural.training.train import train

CONFIG = config_from(
    {
        "model": {"name": "am", "width": 16, "heads": 2, "layers": 1, "feed_forward": 16},
        "stage": [{"steps": 2, "sizes": [7, 9], "rules": ["nearest 2", "radius 0-0.3"]}],
        "train": {"batch": 2, "rollouts": 2, "validate_every": 1, "log_every": 1}
        | {"tensorboard": False},
        "validation": {"instances": 2},
    }
)


def test_a_card_tells_the_training_and_repeats_it(tmp_path: Path) -> None:
    training, weights = tmp_path / "training", tmp_path / "weights"
    weights.mkdir()
    train(CONFIG, training)
    write_card(training, weights, 2)
    card = (weights / "card.md").read_text()
    assert card.startswith("# am\n\n2 steps in ")
    assert "| reinforce | 2 | 7 to 9 | nearest 2, radius 0-0.3 |" in card
    assert read_config(str(weights / "config.toml")) == CONFIG
    for log in ("training.csv", "validation.csv"):
        assert (weights / log).read_text() == (training / log).read_text()


@pytest.mark.parametrize("preset", ["paper-20", "cpu-50", "mixed"])
def test_a_config_survives_toml(preset: str, tmp_path: Path) -> None:
    config = read_config(preset)
    path = tmp_path / "config.toml"
    path.write_text(to_toml(config.to_dict()))
    assert read_config(str(path)) == config


def test_a_training_without_rows_has_a_card_without_a_curve(tmp_path: Path) -> None:
    train(CONFIG, tmp_path, seconds=0.0)
    (tmp_path / "validation.csv").write_text("step,seconds,cost,gap\n")
    (tmp_path / "training.csv").unlink()
    (tmp_path / "weights").mkdir()
    write_card(tmp_path, tmp_path / "weights", 1)
    card = (tmp_path / "weights" / "card.md").read_text()
    assert card.startswith("# am\n\n1 steps; the weights are those of step 1.\n")
    assert "## Validation" not in card
    assert not (tmp_path / "weights" / "training.csv").exists()


@pytest.mark.parametrize(
    ("log", "content", "words"),
    [
        ("training.csv", b"step,\xff\n", "training.csv: not UTF-8 text"),
        ("validation.csv", b"a,b\n", "validation.csv, line 1: expected step,seconds,cost,gap"),
        (
            "validation.csv",
            b"step,seconds,cost,gap\n1,1,far,\n2,1,1,\n",
            "validation.csv, line 2: expected numbers, got '1,1,far,'",
        ),
    ],
)
def test_a_log_that_is_none_is_refused(
    tmp_path: Path, log: str, content: bytes, words: str
) -> None:
    train(CONFIG, tmp_path)
    (tmp_path / log).write_bytes(content)
    (tmp_path / "weights").mkdir()
    for attempt in (
        lambda: write_card(tmp_path, tmp_path / "weights", 2),
        lambda: train(CONFIG, tmp_path, resume=True),
    ):
        with pytest.raises(InputError, match=words):
            attempt()


def test_a_last_row_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    train(CONFIG, tmp_path)
    path = tmp_path / "training.csv"
    whole = path.read_text()
    path.write_text(whole + "3,0.5,8")
    train(CONFIG, tmp_path, resume=True)
    assert path.read_text() == whole
