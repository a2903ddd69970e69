"""When to stop: limits on time, iterations, idling, length and gap, combined with ``|``."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from covertour.problem.errors import InputError

NEVER = 2**62
"""An iteration count no search reaches."""


@dataclass(frozen=True)
class Stop:
    """Stop as soon as one of these holds; ``a | b`` stops where a or b would.

    ``seconds`` since the start, ``iterations`` made, ``idle_seconds`` or ``idle_iterations`` since
    the last improvement, a tour of at most ``length``, a proven relative ``gap`` of at most this.

    >>> MaxSeconds(2) | TargetLength(100)
    Stop(seconds=2, length=100)
    """

    seconds: float = inf
    iterations: int = NEVER
    idle_seconds: float = inf
    idle_iterations: int = NEVER
    length: float = -inf
    gap: float = -inf

    def __or__(self, other: Stop) -> Stop:
        return Stop(
            seconds=min(self.seconds, other.seconds),
            iterations=min(self.iterations, other.iterations),
            idle_seconds=min(self.idle_seconds, other.idle_seconds),
            idle_iterations=min(self.idle_iterations, other.idle_iterations),
            length=max(self.length, other.length),
            gap=max(self.gap, other.gap),
        )

    def __repr__(self) -> str:
        given = (
            f"{name}={value}"
            for name, value in vars(self).items()
            if value != type(self).__dataclass_fields__[name].default
        )
        return f"Stop({', '.join(given)})"


def _limit(what: str, value: float, least: float = 0) -> float:
    if not value >= least:
        raise InputError(f"{what}: expected a number >= {least}, got {value}")
    return value


def _count(what: str, value: float) -> int:
    return int(min(_limit(what, value), NEVER))


def MaxSeconds(seconds: float) -> Stop:
    """Stop after this much time."""
    return Stop(seconds=_limit("seconds", seconds))


def MaxIterations(iterations: int) -> Stop:
    """Stop after this many iterations of the method; makes a solve repeatable bit for bit."""
    return Stop(iterations=_count("iterations", iterations))


def NoImprovement(iterations: int | None = None, *, seconds: float | None = None) -> Stop:
    """Stop when the best tour has not improved for so many iterations, or seconds."""
    return Stop(
        idle_iterations=NEVER if iterations is None else _count("iterations", iterations),
        idle_seconds=inf if seconds is None else _limit("seconds", seconds),
    )


def TargetLength(length: float) -> Stop:
    """Stop at a tour of at most this length."""
    return Stop(length=_limit("length", length))


def GapBelow(gap: float) -> Stop:
    """Stop when the tour is proven to be within this share of the shortest."""
    return Stop(gap=_limit("gap", gap))
