"""The protocol: which cells the tables have, which methods run in them, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import or_

from covertour import (
    InputError,
    Instance,
    MaxIterations,
    MaxSeconds,
    NoImprovement,
    TargetLength,
    random_instance,
)
from covertour.bench import parse_rule
from covertour.solving.stop import StoppingRule
from experiments.shared.weights import network_of

METHODS_COMPARED = (
    "ls1-paper",
    "ls2-paper",
    "ls1",
    "ls2",
    "pn",
    "pn-dynamic",
    "am",
    "am-dynamic-paper",
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

POSTERIOR = 50
"""Iterations of the search after a learned tour: this many times 20 + n."""


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


def cells_of(rules: Sequence[str], sizes: Sequence[int]) -> tuple[Cell, ...]:
    """The cells of all sizes under each of the rules."""
    return tuple(Cell(rule, n) for rule in rules for n in sizes)


@dataclass(frozen=True)
class Limit:
    """When a run ends: at the first of these that is given.

    ``idle_iterations``: since the last improvement. ``length``: of a tour that is short enough.

    >>> str(Limit(iterations=500, idle_iterations=50))
    'iterations 500, idle iterations 50'
    """

    seconds: float | None = None
    iterations: int | None = None
    idle_iterations: int | None = None
    length: float | None = None

    def stop(self) -> StoppingRule | None:
        """As covertour takes it; None for a method that ends by itself."""
        kinds = (MaxSeconds, MaxIterations, NoImprovement, TargetLength)
        given = zip(kinds, (getattr(self, field.name) for field in fields(self)), strict=True)
        rules = [kind(value) for kind, value in given if value is not None]
        return reduce(or_, rules) if rules else None

    def __str__(self) -> str:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return ", ".join(
            f"{name.replace('_', ' ')} {value:.12g}" for name, value in values if value is not None
        )


@dataclass(frozen=True)
class Settings:
    """What a user may choose; the defaults are the paper's 100 instances per cell.

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


def limit_of(method: str, n: int, settings: Settings) -> Limit:
    """When a method stops in the tables.

    The heuristics make the iterations of their papers, a learned method ends with its tour.

    >>> limit_of("lns", 20, Settings())
    Limit(seconds=0.1, iterations=None, idle_iterations=None, length=None)
    """
    match method:
        case "lns":
            return Limit(seconds=lns_seconds(n))
        case "exact":
            return Limit(seconds=exact_seconds(n, settings))
        case "ls1":
            return Limit(iterations=3_500)
        case "ls2":
            return Limit(iterations=25 * 300)
        case "ls1-paper":
            return Limit(iterations=500, idle_iterations=50)
        case "ls2-paper":
            return Limit(iterations=25 * 150)
    return Limit(iterations=POSTERIOR * (20 + n)) if method.endswith("+ls") else Limit()


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
    assert network_of(method) is not None
    return 0.01 * size + (0.06 * size**2 if method.endswith("+ls") else 0.0)
