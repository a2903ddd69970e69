"""The protocol: which cells each table has, which methods run in them, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from covertour.bench.rules import parse_rule
from covertour.problem.errors import InputError
from covertour.problem.generate import random_instance
from covertour.problem.instance import Instance
from covertour.solving.methods import METHODS, default_stop
from covertour.solving.stop import MaxSeconds, StoppingRule

METHODS_COMPARED = (
    "ls1-paper",
    "ls2-paper",
    "ls1",
    "ls2",
    "pn",
    "pn-dynamic",
    "am",
    "am-dynamic",
    "am-dynamic+ls",
    "am-gain",
    "am-gain+ls",
    "lns",
    "exact",
)
"""The methods of the paper, then ours."""

GENERALIZING = tuple(name for name in METHODS_COMPARED if name not in ("pn", "pn-dynamic", "am"))
"""Where the paper asks how its model does on other rules, the other learned ones are left out."""

PAPER_RULE = "nearest 7"


@dataclass(frozen=True)
class Cell:
    """Instances of one kind: n places under a rule."""

    rule: str
    n: int

    def instance(self, seed: int) -> Instance:
        """The instance with this seed."""
        return random_instance(self.n, **parse_rule(self.rule), seed=seed)

    def __str__(self) -> str:
        return f"n = {self.n}, {self.rule}"


@dataclass(frozen=True)
class Comparison:
    """A table of the paper: methods compared in cells; ``quick`` are those of a quick run."""

    name: str
    title: str
    cells: tuple[Cell, ...]
    quick: tuple[Cell, ...]
    methods: tuple[str, ...] = METHODS_COMPARED


def _cells(rules: tuple[str, ...], sizes: tuple[int, ...]) -> tuple[Cell, ...]:
    return tuple(Cell(rule, n) for rule in rules for n in sizes)


COMPARISONS = {
    table.name: table
    for table in (
        Comparison(
            "small",
            "Small instances",
            _cells((PAPER_RULE,), (20, 50, 100)),
            _cells((PAPER_RULE,), (20, 50, 100)),
        ),
        Comparison(
            "large",
            "Large instances",
            _cells((PAPER_RULE,), (150, 200, 300)),
            _cells((PAPER_RULE,), (150, 200)),
        ),
        Comparison(
            "nc",
            "Other numbers of covered places",
            _cells((PAPER_RULE, "nearest 11", "nearest 15"), (100, 150, 200, 300)),
            _cells((PAPER_RULE, "nearest 11", "nearest 15"), (100,)),
            GENERALIZING,
        ),
        Comparison(
            "coverage",
            "Other rules of coverage",
            _cells(("nearest 2-15", "radius 0.2", "radius 0-0.25"), (50, 100, 150, 200)),
            _cells(("nearest 2-15", "radius 0.2", "radius 0-0.25"), (50,)),
            GENERALIZING,
        ),
    )
}

SAME_COST = tuple(Cell(PAPER_RULE, n) for n in (50, 100, 150, 200, 300))
SAME_COST_QUICK = SAME_COST[:2]
LEADERS = ("am-dynamic+ls", "am-gain+ls")
"""Whose length the others are to reach: the first that has weights."""
CHASERS = ("ls1-paper", "ls2-paper", "ls1", "ls2", "lns")

GAP_TIME = (Cell(PAPER_RULE, 100), Cell(PAPER_RULE, 300))
GAP_TIME_QUICK = (Cell(PAPER_RULE, 100), Cell(PAPER_RULE, 150))
LNS_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0, 3.0)
LNS_SECONDS_QUICK = LNS_SECONDS[:6]
"""The limits of lns where gaps are drawn against time."""

TRAINING_SIZES = (50, 100)
TRAINED = ("pn", "pn-dynamic", "am", "am-dynamic")
"""The models whose training the paper timed."""

SOLUTIONS = (
    Cell("nearest 2-15", 100),
    Cell("radius 0.2", 100),
    Cell("radius 0-0.25", 100),
)
"""The instances that are drawn: of variable numbers, of a fixed and of variable radii."""


@dataclass(frozen=True)
class Settings:
    """What a user may choose; the defaults are the paper's 100 instances a cell.

    ``methods``: only these; empty for all. ``exact_seconds``: the limit of ``exact``, by default
    60 s up to 200 places and 30 s above. ``cores``: processes that prove at once. ``largest``:
    only cells of at most so many places. ``from_rows``: nothing is measured. ``patience``: seconds
    after which a heuristic gives up reaching another's length. ``training_batches``: as many are
    timed, and scaled to the paper's.
    """

    count: int = 100
    seed: int = 0
    quick: bool = False
    methods: tuple[str, ...] = ()
    exact_seconds: float | None = None
    cores: int = 1
    largest: int | None = None
    from_rows: bool = False
    patience: float = 2.0
    training_batches: int = 20

    def __post_init__(self) -> None:
        for method in self.methods:
            if method not in METHODS_COMPARED:
                raise InputError(
                    f"methods: no {method!r} here; there are {', '.join(METHODS_COMPARED)}"
                )

    def wants(self, method: str) -> bool:
        """Whether a method is to be run."""
        return not self.methods or method in self.methods

    def cells(self, full: Sequence[Cell], quick: Sequence[Cell]) -> tuple[Cell, ...]:
        """The cells of a full or a quick run, without those that are too large."""
        cells = quick if self.quick else full
        return tuple(cell for cell in cells if self.largest is None or cell.n <= self.largest)

    @property
    def seeds(self) -> range:
        """The seeds of the instances of every cell."""
        return range(self.seed, self.seed + self.count)


def quickened(settings: Settings) -> Settings:
    """The settings of a quick run, with short limits and fewer cells; its count is the caller's."""
    return replace(
        settings,
        quick=True,
        exact_seconds=settings.exact_seconds or 5.0,
        training_batches=1,
    )


def lns_seconds(n: int) -> float:
    """The limit of lns in the tables."""
    return 0.1 if n <= 100 else 1.0


def exact_seconds(n: int, settings: Settings) -> float:
    """The limit of exact in the tables."""
    if settings.exact_seconds is not None:
        return settings.exact_seconds
    return 60.0 if n <= 200 else 30.0


def stop_of(method: str, instance: Instance, settings: Settings) -> StoppingRule:
    """When a method stops in the tables: where it has no number of iterations of its own, a time.

    >>> stop_of("lns", Cell("nearest 7", 20).instance(0), Settings())
    MaxSeconds(seconds=0.1)
    """
    if method == "lns":
        return MaxSeconds(lns_seconds(instance.n))
    if method == "exact":
        return MaxSeconds(exact_seconds(instance.n, settings))
    return default_stop(instance, method)


def planned_seconds(method: str, n: int, settings: Settings) -> float:
    """About how long a run takes; only the time left is judged by it."""
    size = n / 100
    match method:
        case "lns":
            return lns_seconds(n)
        case "exact":
            share = settings.cores
            return min(exact_seconds(n, settings), 0.6 * size**4) / share
        case "ls1":
            return 0.2 * size**2
        case "ls2":
            return 0.7 * size
        case "ls1-paper":
            return 0.01 * size**2
        case "ls2-paper":
            return 0.25 * size
    search = 0.06 * size**2 if METHODS[method].searches else 0.0
    return 0.01 * size + search
