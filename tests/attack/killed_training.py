"""Trainings killed at any moment: resumed, they end in the same bits as one that was left alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from time import sleep

from safetensors.numpy import load_file

CONFIG = """
[model]
name = "{model}"
width = 16
heads = 2
layers = 1
feed_forward = 16

[[stage]]
steps = 40
sizes = [7, 12]
rules = ["nearest 2"]

[train]
batch = 4
rollouts = 2
validate_every = 7
checkpoint_every = 3
log_every = 1
tensorboard = false

[validation]
instances = 4
"""

MOST_KILLS = 60


def attempts(rng: Random, folder: Path) -> Iterator[None]:
    """Kill and resume a training until it is done, and compare it with one that was left alone."""
    for model in ("am-gain", "am-dynamic", "pn-dynamic"):
        config, whole = folder / f"{model}.toml", folder / f"{model}-whole"
        config.write_text(CONFIG.format(model=model))
        _run("--config", str(config), "--output", str(whole)).wait()
    while True:
        model = rng.choice(("am-gain", "am-dynamic", "pn-dynamic"))
        cut = folder / "cut"
        shutil.rmtree(cut, ignore_errors=True)
        for kills in range(MOST_KILLS):
            begun = (cut / "checkpoint.json").exists()
            process = _run(
                *(() if begun else ("--config", str(folder / f"{model}.toml"))),
                *("--output", str(cut), *(("--resume",) if begun else ())),
            )
            sleep(rng.uniform(0.0, 6.0 + kills))
            if process.poll() is not None:
                assert process.returncode == 0, f"{model}: exit code {process.returncode}"
                break
            process.kill()
            process.wait()
        whole, found = _ended(folder / f"{model}-whole"), _ended(cut)
        other = [name for name in {*whole, *found} if whole.get(name) != found.get(name)]
        assert not other, f"{model}: after {kills} kills other bits in {sorted(other)}"
        yield


def _run(*arguments: str) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-m", "covertour", "train", "--quiet", *arguments]
    return subprocess.Popen(program, stdout=subprocess.DEVNULL)


def _ended(directory: Path) -> dict[str, object]:
    """The last checkpoint and the best weights, bit for bit, and the costs of the validations."""
    (last,) = directory.glob("checkpoint-*.safetensors")
    ended: dict[str, object] = {
        f"{file.name} {name}": tensor.tobytes()
        for file in (last, directory / "best.safetensors")
        for name, tensor in load_file(file).items()
    }
    lines = (line.split(",") for line in (directory / "validation.csv").read_text().splitlines())
    return ended | {f"cost {step}": (cost, gap) for step, _, cost, gap in lines}
