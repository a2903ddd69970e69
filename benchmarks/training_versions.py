"""Tours per second of a whole training, here and in another checkout of covertour, in turns.

Each trains for some steps on one thread, with the same config; the learning rate is too small to
change the tours. Times are those of the training's own log, from the first logged steps to the
last, so that imports and compiling do not count. The table shows medians, and that of the ratios.

    git worktree add before COMMIT
    python benchmarks/training_versions.py before/src --sizes 20,50,100,200
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

MODELS = ("am-dynamic", "am", "pn-dynamic", "pn", "am-gain")
BATCH, ROLLOUTS = 16, 16
START = "import sys; from covertour.cli import main; sys.argv[0] = 'covertour'; main()"

CONFIG = """\
[model]
name = "{model}"
mask = "useful"
polish = "no"

[[stage]]
steps = {steps}
sizes = [{n}, {n}]

[train]
batch = {batch}
rollouts = {rollouts}
learning_rate = 1e-9
log_every = {each}
validate_every = 1000000
checkpoint_every = 1000000
tensorboard = false

[validation]
instances = 1
"""


def rate(sources: Path, model: str, n: int, each: int) -> float:
    """Tours per second between the first logged steps and the last."""
    with tempfile.TemporaryDirectory() as directory:
        config, output = Path(directory) / "config.toml", Path(directory) / "run"
        shape = {"batch": BATCH, "rollouts": ROLLOUTS, "steps": 2 * each, "each": each}
        config.write_text(CONFIG.format(model=model, n=n, **shape))
        asked = ["train", "--config", str(config), "--output", str(output), "--threads", "1"]
        subprocess.run(
            [sys.executable, "-c", START, *asked],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(sources)},
        )
        with open(output / "training.csv", newline="") as lines:
            first, last = (float(row["seconds"]) for row in csv.DictReader(lines))
    return each * BATCH * ROLLOUTS / (last - first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path, help="the sources of the other checkout")
    parser.add_argument("--sizes", default="20,50,100,200")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--steps", type=int, default=8, help="that are timed, at 50 places")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    here = Path(__file__).parents[1] / "src"
    print("| model | places | other, tours/s | here, tours/s | ratio |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for model in asked.models.split(","):
        for n in map(int, asked.sizes.split(",")):
            each = max(3, asked.steps * 50 // n)
            pairs = [
                [rate(sources.resolve(), model, n, each) for sources in (asked.other, here)]
                for _ in range(asked.repeats)
            ]
            other, ours = (median(rates) for rates in zip(*pairs, strict=True))
            ratio = median(new / old for old, new in pairs)
            print(f"| {model} | {n} | {other:,.0f} | {ours:,.0f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
