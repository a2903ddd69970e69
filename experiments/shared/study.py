"""A study: what is asked for, the rows there are, which weights the learned methods take."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from covertour import Decoding
from covertour.bench import OnStep
from experiments.shared.protocol import Cell, Limit, Settings, limit_of
from experiments.shared.rows import ALONE, BESIDE, Row, RowFile, Run
from experiments.shared.weights import (
    ENOUGH,
    HOMES,
    PAPER_TOURS,
    PAPERS_MODELS,
    digest,
    lessons_of,
    network_of,
    weights_for,
)

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
    """What the experiments share; ``homes``: the directories that hold directories of weights."""

    settings: Settings
    rows: RowFile
    homes: tuple[Path, ...] = HOMES
    meter: Meter = field(default_factory=Meter)
    _weights: dict[tuple[str, int], Path | None] = field(default_factory=dict)

    def weights(self, method: str, n: int) -> Path | None:
        """The weights of a learned method for n places; None where there are none."""
        network = network_of(method)
        if network is None:
            return None
        if (network, n) not in self._weights:
            self._weights[network, n] = weights_for(network, n, self.homes)
        return self._weights[network, n]

    def decoding(self, method: str, n: int) -> Decoding | None:
        """How a learned method goes about n places: greedily, with its weights."""
        path = self.weights(method, n)
        return None if path is None else Decoding(weights=path)

    def can_run(self, method: str, n: int) -> bool:
        """Whether a method is wanted and, where it is a learned one, has weights."""
        if not self.settings.wants(method):
            return False
        return network_of(method) is None or self.weights(method, n) is not None

    def methods(self, methods: Sequence[str], n: int) -> list[str]:
        """Those of the methods that can be run on n places."""
        return [method for method in methods if self.can_run(method, n)]

    def limit(self, method: str, n: int) -> Limit:
        """When a method stops in the tables."""
        return limit_of(method, n, self.settings)

    def run(self, cell: Cell, seed: int, method: str, limit: Limit | None = None) -> Run:
        """The run of a method on an instance, with its usual limit or another."""
        timing = BESIDE if method == "exact" and self.settings.cores > 1 else ALONE
        settings = self.described(method, cell.n, limit or self.limit(method, cell.n))
        return self.as_made(Run(cell.rule, cell.n, seed, method, settings, timing))

    def as_made(self, run: Run) -> Run:
        """The run, or where nothing is measured the one like it that was, whenever and wherever."""
        return self.rows.alike(run) if self.settings.from_rows else run

    def described(self, method: str, n: int, limit: Limit) -> str:
        """The limit and, of a learned method, the weights in words."""
        path = self.weights(method, n)
        weights = "" if path is None else f"{path.name} {digest(path)}"
        return ", ".join(filter(None, (str(limit), weights)))

    def found(self, runs: Sequence[Run]) -> list[Row]:
        """The rows of the runs, as far as they were made."""
        return [self.rows[run] for run in runs if run in self.rows]

    def left_out(self, methods: Sequence[str], cells: Sequence[Cell]) -> Iterator[str]:
        """Sentences: which methods have no weights, which weights are used, how long trained."""
        wanted = [method for method in methods if self.settings.wants(method)]
        learned = [method for method in wanted if network_of(method) is not None]
        sizes = sorted({cell.n for cell in cells})
        missing = [m for m in learned if not any(self.can_run(m, n) for n in sizes)]
        if missing:
            verb, whose = ("is", "it") if len(missing) == 1 else ("are", "them")
            yield f"{', '.join(missing)} {verb} left out: there are no weights of {whose}."
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
        lessons = [lessons_of(path) for path in self.papers_weights(learned, sizes)]
        counts = sorted({lesson.instances for lesson in lessons if lesson is not None})
        if counts:
            span = " to ".join(f"{count:,}" for count in dict.fromkeys((counts[0], counts[-1])))
            yield (
                f"The weights of the paper's models were trained on {span} instances each, the "
                f"paper's own on {PAPER_TOURS // 10**6} million."
            )

    def papers_weights(self, methods: Sequence[str], sizes: Sequence[int]) -> list[Path]:
        """The weights of the paper's models among the methods, for these numbers of places."""
        theirs = [method for method in methods if network_of(method) in PAPERS_MODELS]
        paths = (self.weights(method, n) for method in theirs for n in sizes)
        return list(dict.fromkeys(path for path in paths if path is not None))


def not_judged(weights: Sequence[Path]) -> str:
    """Why no claim about networks with these weights is judged; nothing where claims are.

    A network that learned from far fewer tours than the paper's tells nothing about the paper's.
    """
    lessons = [lessons_of(path) for path in weights]
    known = [lesson for lesson in lessons if lesson is not None]
    if len(known) < len(lessons):
        return "Not judged: it is not told how long the networks were trained."
    if all(lesson.tours >= ENOUGH for lesson in known):
        return ""
    least = min(known, key=lambda lesson: lesson.tours)
    return (
        f"Not judged: trained on {least.instances:,} instances ({least.tours / 1e6:.1f} million "
        f"tours), the paper's on {PAPER_TOURS // 10**6} million."
    )
