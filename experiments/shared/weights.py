"""Weights of the learned methods: which a method takes, which training they are of, how long."""

from __future__ import annotations

import csv
import hashlib
import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

PAPERS_MODELS = ("pn", "pn-dynamic", "am", "am-dynamic-paper")
"""The networks as the paper has them; its own sees positions only, the one that ships coverage."""

LEARNED = (*PAPERS_MODELS, "am-dynamic", "am-gain")

HOMES = (Path(__file__).parents[1] / "weights", Path(str(files("covertour"))) / "neural/weights")
"""Where weights are, a directory for each: the paper's models here, what ships in the package."""

RECORD = ("config.toml", "training.csv", "validation.csv")
"""The record of a training, beside its weights."""

PAPER_TOURS = 50 * 320_000
"""Tours that the paper's models learned from: one sampled per instance, 50 epochs of 320,000."""

ENOUGH = PAPER_TOURS // 2
"""Networks that learned from fewer tours are not judged: they are at the beginning of the curve."""


def network_of(method: str) -> str | None:
    """What the weights of a learned method are named after, None for the others.

    >>> network_of("am-dynamic+ls"), network_of("am-dynamic-paper"), network_of("lns")
    ('am-dynamic', 'am-dynamic-paper', None)
    """
    network = method.removesuffix("+ls")
    return network if network in LEARNED else None


def as_called(method: str) -> str:
    """What covertour calls a method; whether a network sees coverage is told by its weights.

    >>> as_called("am-dynamic-paper"), as_called("ls1-paper")
    ('am-dynamic', 'ls1-paper')
    """
    return "am-dynamic" if method == "am-dynamic-paper" else method


def weights_in(homes: Sequence[Path] = HOMES) -> list[Path]:
    """The directories of weights in these directories."""
    there = [home for home in homes if home.is_dir()]
    return sorted(path for home in there for path in home.iterdir() if path.is_dir())


def weights_for(network: str, n: int, homes: Sequence[Path] = HOMES) -> Path | None:
    """The weights that a network takes for n places, as covertour chooses among those it ships.

    Those for all sizes, or of the nearest one or the nearest range; of ranges as near the narrower.
    """
    fit = {}
    for path in weights_in(homes):
        if match := re.fullmatch(rf"{re.escape(network)}(?:-(\d+)(?:-(\d+))?)?", path.name):
            least = int(match[1] or 0)
            most = int(match[2] or match[1] or 0)
            far = max(least - n, n - most, 0) if match[1] else -1
            fit[far, most - least, least] = path
    return fit[min(fit)] if fit else None


def made_for(path: Path, n: int) -> bool:
    """Whether weights are of a training on so many places, as their name tells.

    >>> made_for(Path("am-50"), 100), made_for(Path("am-60-200"), 100), made_for(Path("am"), 100)
    (False, True, True)
    """
    sizes = re.search(r"-(\d+)(?:-(\d+))?$", path.name)
    return sizes is None or int(sizes[1]) <= n <= int(sizes[2] or sizes[1])


@dataclass(frozen=True)
class Lessons:
    """What a network learned from: so many instances, and so many tours sampled of them in all."""

    instances: int
    tours: int


@dataclass(frozen=True)
class TrainingRun:
    """A run of a training: its steps, and the instances and tours of each.

    ``validation``: its log; ``initial``: the weights it began with, as its config names them.
    """

    validation: Path
    steps: int
    instances: int
    tours: int
    initial: str


def runs_of(path: Path) -> list[TrainingRun] | None:
    """The runs that made weights, in their order; None where the record does not tell.

    A training in several runs has a config for each, with the logs of the same name.
    """
    found = []
    for config in sorted(path.glob("config*.toml")):  # config-first, config-second, config
        try:
            tables = tomllib.loads(config.read_text(encoding="utf-8"))
            train = tables["train"]
            steps = sum(int(stage["steps"]) for stage in tables["stage"])
            each = 1 if train["baseline"] == "greedy" else int(train["rollouts"])
            batch, initial = int(train["batch"]), str(train.get("initial", ""))
        except (OSError, KeyError, TypeError, ValueError):
            return None
        made = int(min(steps, _last_step(_log(config, "training"))))
        found.append(TrainingRun(_log(config, "validation"), made, batch, batch * each, initial))
    return found or None


def lessons_of(path: Path) -> Lessons | None:
    """What weights were trained on, from the record beside them; None where it is not told.

    What weights beside them learned before, that the training began with, counts too.
    """
    runs = runs_of(path)
    if runs is None:
        return None
    before = Lessons(0, 0)
    first = Path(runs[0].initial).parent.name
    if first not in ("", path.name) and (path.parent / first).is_dir():
        before = lessons_of(path.parent / first) or before
    return Lessons(
        before.instances + sum(run.steps * run.instances for run in runs),
        before.tours + sum(run.steps * run.tours for run in runs),
    )


def _log(config: Path, kind: str) -> Path:
    return config.with_name(config.name.replace("config", kind)).with_suffix(".csv")


def _last_step(log: Path) -> float:
    """The last step in a log; without end where there is none."""
    if not log.is_file():
        return math.inf
    with open(log, encoding="utf-8", newline="") as lines:
        return max((int(row["step"]) for row in csv.DictReader(lines)), default=0)


def digest(path: Path) -> str:
    """Eight letters that name a training, whatever the format of its weights.

    They are of its record; of weights without one they are of all files.
    """
    record = [path / name for name in RECORD if (path / name).is_file()]
    chosen = record or sorted(file for file in path.iterdir() if file.is_file())
    return _digest(tuple((file, file.stat().st_mtime_ns) for file in chosen))


@cache
def _digest(files: tuple[tuple[Path, int], ...]) -> str:
    content = hashlib.sha256()
    for file, _ in files:
        content.update(file.read_bytes())
    return content.hexdigest()[:8]
