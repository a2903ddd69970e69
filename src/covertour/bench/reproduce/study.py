"""A study: what is asked for, the rows there are, which weights the learned methods take."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from covertour.bench.reproduce.protocol import Cell, Settings, stop_of
from covertour.bench.reproduce.rows import ALONE, BESIDE, Row, RowFile, Run
from covertour.bench.runs import OnStep
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.solving.methods import METHODS
from covertour.solving.stop import Limits, StoppingRule, limits_of

FindWeights = Callable[[str, int], Path]
"""The directory of the weights that a model takes for n places; an InputError where none are."""


Plan = dict[Hashable, float]
"""What is to be done, and about how many seconds it takes; what several tables share counts once.
"""


@dataclass
class Meter:
    """Tells how much of the planned work is done, in planned seconds."""

    on_step: OnStep | None = None
    whole: float = 0.0
    done: float = 0.0

    def next(self, what: str) -> None:
        """Tell what comes next."""
        if self.on_step is not None:
            self.on_step(min(self.done, self.whole), self.whole, what)

    def made(self, planned: float) -> None:
        """Note that something planned is done."""
        self.done += planned


@dataclass(frozen=True, eq=False)
class Study:
    """What the experiments share; ``shipped``: the directories of all weights."""

    settings: Settings
    rows: RowFile
    find_weights: FindWeights
    shipped: tuple[Path, ...] = ()
    meter: Meter = field(default_factory=Meter)

    def weights(self, method: str, n: int) -> Path | None:
        """The weights of a learned method for n places; None where there are none."""
        model = METHODS[method].model
        if model is None:
            return None
        try:
            return self.find_weights(model, n)
        except InputError:
            return None

    def can_run(self, method: str, n: int) -> bool:
        """Whether a method is wanted and, where it is a learned one, has weights."""
        if not self.settings.wants(method):
            return False
        return METHODS[method].model is None or self.weights(method, n) is not None

    def methods(self, methods: Sequence[str], n: int) -> list[str]:
        """Those of the methods that can be run on n places."""
        return [method for method in methods if self.can_run(method, n)]

    def run(self, cell: Cell, seed: int, method: str, stop: StoppingRule | None = None) -> Run:
        """The run of a method on an instance, with its usual limit or another."""
        limit = stop_of(method, _one(cell), self.settings) if stop is None else stop
        timing = BESIDE if method == "exact" and self.settings.cores > 1 else ALONE
        settings = self.described(method, cell.n, limit)
        return Run(cell.rule, cell.n, seed, method, settings, timing)

    def described(self, method: str, n: int, stop: StoppingRule) -> str:
        """The limits and, of a learned method, the weights in words."""
        parts = [f"{name} {value:.12g}" for name, value in _given(stop)]
        path = self.weights(method, n)
        if path is not None:
            parts.append(f"{path.name} {digest(path)}")
        return ", ".join(parts)

    def found(self, runs: Sequence[Run]) -> list[Row]:
        """The rows of the runs, as far as they were made."""
        return [self.rows[run] for run in runs if run in self.rows]

    def left_out(self, methods: Sequence[str], cells: Sequence[Cell]) -> Iterator[str]:
        """Sentences: which methods have no weights, which weights are used, how long trained."""
        wanted = [method for method in methods if self.settings.wants(method)]
        learned = [method for method in wanted if METHODS[method].model is not None]
        sizes = sorted({cell.n for cell in cells})
        missing = [m for m in learned if not any(self.can_run(m, n) for n in sizes)]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            yield (
                f"{', '.join(missing)} {verb} left out: this covertour ships no weights of "
                f"{'it' if len(missing) == 1 else 'them'}."
            )
        used: dict[tuple[str, ...], list[int]] = {}
        for n in sizes:
            paths = [self.weights(method, n) for method in learned]
            names = tuple(dict.fromkeys(path.name for path in paths if path is not None))
            if names:
                used.setdefault(names, []).append(n)
        if used:
            words = (
                f"{', '.join(names)} for n = {', '.join(map(str, ns))}"
                for names, ns in used.items()
            )
            yield f"Weights: {'; '.join(words)}."
        everyone = {self.weights(method, n) for method in learned for n in sizes}
        of_paper = [path for path in everyone if path and not path.name.startswith("am-gain")]
        counts = sorted({count for path in of_paper if (count := trained_on(path))})
        if counts:
            span = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
            yield (
                f"The weights of the paper's models were trained on {span} instances each, the "
                "paper's own for 50 epochs of 320,000: these are at the beginning of its curves."
            )


def trained_on(path: Path) -> int | None:
    """The number of instances that weights were trained on, from their config; None if unknown."""
    try:
        tables = tomllib.loads((path / "config.toml").read_text(encoding="utf-8"))
        steps = sum(int(stage["steps"]) for stage in tables["stage"])
        return steps * int(tables["train"]["batch"])
    except (OSError, KeyError, ValueError):
        return None


@cache
def _one(cell: Cell) -> Instance:
    return cell.instance(0)


def _given(stop: StoppingRule) -> list[tuple[str, float]]:
    defaults = Limits()
    return [
        (name.replace("_", " "), value)
        for name, value in vars(limits_of(stop)).items()
        if value != getattr(defaults, name)
    ]


def digest(path: Path) -> str:
    """Eight letters that change when the graphs in a directory of weights do."""
    files = sorted(file for file in path.iterdir() if file.suffix in (".onnx", ".json"))
    return _digest(tuple((file, file.stat().st_mtime_ns) for file in files))


@cache
def _digest(files: tuple[tuple[Path, int], ...]) -> str:
    content = hashlib.sha256()
    for file, _ in files:
        content.update(file.read_bytes())
    return content.hexdigest()[:8]
