"""The contract of a solver: what a method is, how a learned one decodes, and what both give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path

from covertour.problem.errors import InputError, shown
from covertour.problem.instance import FEATURES, Instance
from covertour.problem.metric import IntArray
from covertour.solving.stop import MaxSeconds, StoppingRule

MOST_SAMPLES = 1_000_000
"""More tours are refused: to draw them would take days."""


@dataclass(frozen=True)
class Decoding:
    """How a learned method finds its tours; the shortest counts.

    ``samples``: draw so many beside the greedy one. ``symmetries``: look at the places turned and
    mirrored in all eight ways, with samples of each. ``weights``: a name of shipped ones or a
    directory written by ``covertour export``, or one of several such directories; by default those
    shipped for the nearest size, which only am-gain and am-dynamic have.
    ``raw``: tours as the network makes them, where its model would have them polished.

    >>> from covertour import random_instance, solve
    >>> towns = random_instance(30, nearest=7)
    >>> greedy = solve(towns, "am-gain")
    >>> more = solve(towns, "am-gain", decoding=Decoding(symmetries=True))
    >>> more.length <= greedy.length
    True
    """

    samples: int = 0
    symmetries: bool = False
    weights: str | Path | None = None
    raw: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.samples, Integral) or not 0 <= self.samples <= MOST_SAMPLES:
            raise InputError(
                f"samples: expected a whole number from 0 to {MOST_SAMPLES:,}, "
                f"got {shown(self.samples)}"
            )


@dataclass(frozen=True)
class Outcome:
    """What a method found: the stops in order and, where it proves one, a lower bound.

    With a budget the bound is one on the weight, and no tour that serves as much as this one costs
    less than ``cost_bound``.
    """

    places: IntArray
    bound: float | None = None
    cost_bound: float | None = None


def seconds_by_size(instance: Instance) -> StoppingRule:
    """A second up to 1,000 places, then longer: 6 s for 10,000, 3 minutes for a million."""
    return MaxSeconds(max(1.0, (instance.n / 1000.0) ** 0.75))


@dataclass(frozen=True)
class Method:
    """A way of solving; hand one of your own to :func:`covertour.solve`.

    ``run(instance, clock, seed, start)`` returns an :class:`Outcome`. It tells the clock of the
    tours that it finds (:meth:`Clock.improved`) and ends when ``clock.over``; ``start``, int64[m],
    holds distinct allowed places, none where the caller gave no tour. ``limit``: when it stops
    where the caller does not say.

    >>> import numpy as np
    >>> from covertour import random_instance, solve
    >>> everywhere = Method("everywhere", lambda i, clock, seed, start: Outcome(np.arange(i.n)))
    >>> len(solve(random_instance(9, nearest=2), everywhere).tour)
    9
    """

    name: str
    run: Callable[..., Outcome]
    summary: str = ""
    limit: Callable[[Instance], StoppingRule] = seconds_by_size
    takes: tuple[str, ...] = ()
    """What ``run`` takes besides, by keyword: of ``workers``, ``decoding``, ``params`` and
    ``executor``."""
    model: str | None = None
    """The model of a learned method."""
    searches: bool = False
    """Whether it needs the compiled search."""
    enumerates: bool = False
    """Whether it does without, where few places may be stops."""
    proves: bool = False
    """Whether it tells the clock of a bound, so that a gap can be the limit."""
    handles: frozenset[str] = frozenset(FEATURES)
    """What it can do of FEATURES; instances that ask for more are refused."""
