"""The command ``covertour train``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from covertour import cli

TINY = [
    *("--set", "model.width=16", "--set", "model.heads=2", "--set", "model.layers=1"),
    *("--set", "stage.steps=2", "--set", "stage.sizes=[12, 12]", "--set", "train.batch=2"),
    *("--set", "train.rollouts=2", "--set", "train.tensorboard=false"),
    *("--set", "validation.instances=2", "--threads", "1"),
]


def test_train_writes_weights_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    assert cli.run(["train", "--model", "am-dynamic", *TINY, "--output", run]) == 0
    said = capsys.readouterr().out
    assert said.startswith("am-dynamic: 2 of 2 steps")
    assert "over the search's" in said
    assert (tmp_path / "run" / "best.safetensors").exists()
    assert cli.run(["train", "--resume", "--set", "stage.steps=3", "--output", run]) == 0
    assert "3 of 3 steps" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "am-gian"], "did you mean 'am-gain'?"),
        (["--config", "nowhere.toml"], "nowhere.toml: No such file"),
        (["--set", "train.sede=1"], "did you mean 'seed'?"),
        (["--resume", "--output", "nowhere"], "nowhere: no checkpoint.json here"),
        (["--resume", "--config", "cpu-20"], "--config and --resume"),
        (["--threads", "0"], "--threads: expected a whole number >= 1"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["train", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


def test_without_torch_training_says_what_to_install_and_the_rest_works() -> None:
    code = (
        "import sys; sys.modules['torch'] = None; from covertour import cli;"
        "print(cli.run(['train']), cli.run(['methods']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'covertour[train]'" in done.stderr
    assert done.stdout.endswith("2 0\n")


def test_an_interrupted_training_says_how_to_go_on(tmp_path: Path) -> None:
    """SIGTERM while it trains: a checkpoint, a line that says so, and the code of an interrupt."""
    run = tmp_path / "run"
    many = ["--set", "stage.steps=1000000", "--set", "train.log_every=1"]
    arguments = ["train", "--model", "am-dynamic", *TINY, *many, "--output", str(run)]
    code = f"from covertour import cli; raise SystemExit(cli.run({arguments!r}))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as done:
        log = run / "training.csv"
        while not log.exists() or log.read_text().count("\n") < 3:
            assert done.poll() is None
        done.terminate()
        said, _ = done.communicate()
    assert done.returncode == 130
    assert f"interrupted, to be gone on with: covertour train --resume -o {run}" in said
    assert (run / "checkpoint.json").exists()
