"""When to stop: a rule is any callable of a Progress; ours combine with ``|`` and ``&``.

A rule of your own is a function that answers "stop now?":

>>> from covertour import random_instance, solve
>>> def good_enough(progress):
...     return progress.length < 3.0 and progress.idle_iterations > 100
>>> solve(random_instance(30, nearest=7), stop=MaxIterations(5_000) | good_enough).stopped
'limit'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from numbers import Real
from typing import NamedTuple

from covertour.problem.errors import InputError

NEVER = 2**62
"""An iteration count no search reaches."""

PROVEN = 1e-6
"""A tour whose relative gap is at most this is proven to be a shortest one."""

ROUNDING = 1e-12
"""Lengths of one tour, summed in different orders, differ by less than this share."""


def relative_gap(length: float, bound: float | None) -> float | None:
    """By which share of the bound a tour is longer than it; None without a bound above 0."""
    if bound is None:
        return None
    if length <= bound:
        return 0.0
    return (length - bound) / bound if bound > 0 else None


def weight_gap(weight: float, bound: float | None) -> float | None:
    """By which share of what it serves a tour might serve more; None without a bound."""
    if bound is None:
        return None
    if weight >= bound:
        return 0.0
    return (bound - weight) / weight if weight > 0 else None


class Progress(NamedTuple):
    """Where a solve stands.

    ``seconds`` since the start; ``iterations`` made, in the method's own unit; ``idle_seconds`` and
    ``idle_iterations`` since the best tour was found; its ``length``, infinite before the first,
    with the visit costs if there are any; the ``bound`` that is proven, None where there is none.
    With a budget ``weight`` is what the tour serves, and the bound is one on that.
    """

    seconds: float
    iterations: int
    idle_seconds: float
    idle_iterations: int
    length: float
    bound: float | None = None
    weight: float | None = None

    @property
    def gap(self) -> float | None:
        """How much longer than the shortest the tour may be, as a share of the bound.

        With a budget: how much more might be served, as a share of what is.
        """
        if self.weight is not None:
            return weight_gap(self.weight, self.bound)
        return relative_gap(self.length, self.bound)


StoppingRule = Callable[[Progress], bool]
"""Answers whether to stop now. Searches ask between stretches of at most 0.05 s."""


@dataclass(frozen=True)
class Limits:
    """What a rule tells ahead: it stops as soon as one of these is reached, if not before.

    A search anneals towards the ``seconds`` or ``iterations``, and makes no iteration too many.
    """

    seconds: float = inf
    iterations: int = NEVER
    idle_iterations: int = NEVER
    length: float = -inf


@dataclass(frozen=True)
class Stop:
    """What our rules share: ``a | b`` stops where a or b would, ``a & b`` where both would.

    ``Stop()`` itself never stops.

    >>> MaxSeconds(2) | TargetLength(100)
    Either(first=MaxSeconds(seconds=2), second=TargetLength(length=100))
    """

    def __call__(self, progress: Progress) -> bool:
        """Whether to stop now."""
        return False

    @property
    def limits(self) -> Limits:
        """What is known ahead of when it will stop."""
        return Limits()

    @property
    def needs_bound(self) -> bool:
        """Whether it waits for a proof, so that without one it would never stop."""
        return False

    def __or__(self, other: StoppingRule) -> Either:
        return Either(self, other)

    def __ror__(self, other: StoppingRule) -> Either:
        return Either(other, self)

    def __and__(self, other: StoppingRule) -> Both:
        return Both(self, other)

    def __rand__(self, other: StoppingRule) -> Both:
        return Both(other, self)


@dataclass(frozen=True)
class MaxSeconds(Stop):
    """Stop after this much time."""

    seconds: float

    def __post_init__(self) -> None:
        _check("seconds", self.seconds)

    def __call__(self, progress: Progress) -> bool:
        """Whether the time is up."""
        return progress.seconds >= self.seconds

    @property
    def limits(self) -> Limits:
        """The time."""
        return Limits(seconds=self.seconds)


@dataclass(frozen=True)
class MaxIterations(Stop):
    """Stop after this many iterations of the method; makes a solve repeatable bit for bit."""

    iterations: int

    def __post_init__(self) -> None:
        _check("iterations", self.iterations)

    def __call__(self, progress: Progress) -> bool:
        """Whether they are made."""
        return progress.iterations >= self.iterations

    @property
    def limits(self) -> Limits:
        """The iterations."""
        return Limits(iterations=_count(self.iterations))


@dataclass(frozen=True)
class NoImprovement(Stop):
    """Stop when the best tour has not improved for so many iterations, or so many seconds."""

    iterations: int | None = None
    seconds: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.iterations is None and self.seconds is None:
            raise InputError("no improvement: expected iterations, seconds or both")
        _check("iterations", 0 if self.iterations is None else self.iterations)
        _check("seconds", 0 if self.seconds is None else self.seconds)

    def __call__(self, progress: Progress) -> bool:
        """Whether the last improvement was that long ago."""
        return (self.iterations is not None and progress.idle_iterations >= self.iterations) or (
            self.seconds is not None and progress.idle_seconds >= self.seconds
        )

    @property
    def limits(self) -> Limits:
        """The idle iterations."""
        return (
            Limits() if self.iterations is None else Limits(idle_iterations=_count(self.iterations))
        )


@dataclass(frozen=True)
class TargetLength(Stop):
    """Stop at a tour of at most this length, a rounding error allowed."""

    length: float

    def __post_init__(self) -> None:
        _check("length", self.length)

    def __call__(self, progress: Progress) -> bool:
        """Whether the best tour is that short."""
        return progress.length <= self.length * (1.0 + ROUNDING)

    @property
    def limits(self) -> Limits:
        """The length."""
        return Limits(length=self.length)


@dataclass(frozen=True)
class GapBelow(Stop):
    """Stop when the tour is proven to be within this share of the shortest."""

    gap: float

    def __post_init__(self) -> None:
        _check("gap", self.gap)

    def __call__(self, progress: Progress) -> bool:
        """Whether the gap is that small."""
        return progress.gap is not None and progress.gap <= self.gap

    @property
    def needs_bound(self) -> bool:
        """It does."""
        return True


@dataclass(frozen=True)
class Either(Stop):
    """Stop where one of two rules does; made by ``|``."""

    first: StoppingRule
    second: StoppingRule

    def __post_init__(self) -> None:
        check_rule(self.first)
        check_rule(self.second)

    def __call__(self, progress: Progress) -> bool:
        """Whether one of them stops."""
        return self.first(progress) or self.second(progress)

    @property
    def limits(self) -> Limits:
        """The nearer ones of the two."""
        a, b = limits_of(self.first), limits_of(self.second)
        return Limits(
            seconds=min(a.seconds, b.seconds),
            iterations=min(a.iterations, b.iterations),
            idle_iterations=min(a.idle_iterations, b.idle_iterations),
            length=max(a.length, b.length),
        )

    @property
    def needs_bound(self) -> bool:
        """Whether one of them does."""
        return needs_bound(self.first) or needs_bound(self.second)


@dataclass(frozen=True)
class Both(Stop):
    """Stop where two rules both do; made by ``&``."""

    first: StoppingRule
    second: StoppingRule

    def __post_init__(self) -> None:
        check_rule(self.first)
        check_rule(self.second)

    def __call__(self, progress: Progress) -> bool:
        """Whether both of them stop."""
        return self.first(progress) and self.second(progress)

    @property
    def limits(self) -> Limits:
        """The farther ones of the two."""
        a, b = limits_of(self.first), limits_of(self.second)
        return Limits(
            seconds=max(a.seconds, b.seconds),
            iterations=max(a.iterations, b.iterations),
            idle_iterations=max(a.idle_iterations, b.idle_iterations),
            length=min(a.length, b.length),
        )

    @property
    def needs_bound(self) -> bool:
        """Whether one of them does."""
        return needs_bound(self.first) or needs_bound(self.second)


def limits_of(rule: StoppingRule) -> Limits:
    """What a rule tells ahead; a plain function tells nothing."""
    return getattr(rule, "limits", Limits())


def needs_bound(rule: StoppingRule) -> bool:
    """Whether a rule waits for a proof."""
    return getattr(rule, "needs_bound", False)


def check_rule(rule: object) -> None:
    """Refuse what is no stopping rule."""
    if not callable(rule) or isinstance(rule, type):
        raise InputError(
            "stop: expected a rule such as MaxSeconds(2), or a function of a Progress, "
            f"got {rule!r}"
        )


def _check(what: str, value: object) -> None:
    if not isinstance(value, Real) or isinstance(value, bool) or not float(value) >= 0:
        raise InputError(f"{what}: expected a number >= 0, got {value!r}")


def _count(iterations: float) -> int:
    """A whole number of iterations, also of an infinite one."""
    return int(min(iterations, NEVER))
