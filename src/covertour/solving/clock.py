"""Watch: the clock of an anytime search, how long its next stretch is, and who hears of progress.

Kernels know nothing of time: they are called for stretches of iterations, short enough that a limit
is kept to a millisecond or two and Ctrl-C is answered at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

from covertour.problem.metric import IntArray
from covertour.solving.result import Progress
from covertour.solving.stop import NEVER, Stop

FIRST_STRETCH = 16
"""Iterations of the first stretch, which tells how fast the search is."""

SHORTEST, LONGEST = 0.0005, 0.05
"""Seconds of a stretch, near the start and later on."""

REPORT_EVERY = 0.1
"""Seconds between two reports of progress."""

OnImprove = Callable[[float, float, IntArray], None]
OnProgress = Callable[[Progress], None]


class Stretch(NamedTuple):
    """What a stretch led to, counted from the start of the search.

    Iterations made, the one that found the best tour, and the length and stops of that tour.
    """

    iterations: int
    improved: int
    length: float
    places: IntArray


@dataclass
class Watch:
    """Watches one search; ``started`` may lie before it, when the user's clock began."""

    stop: Stop
    on_improve: OnImprove | None = None
    on_progress: OnProgress | None = None
    started: float = field(default_factory=perf_counter)
    iterations: int = 0
    best: float = float("inf")
    trace: list[tuple[float, float]] = field(default_factory=list)
    _improved_at: float = 0.0
    _improved_iteration: int = 0
    _reported_at: float = 0.0
    _running: float = 0.0

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return perf_counter() - self.started

    @property
    def seconds_left(self) -> float:
        """Time until the limit."""
        return self.stop.seconds - self.seconds

    @property
    def iterations_left(self) -> int:
        """Iterations until the limit."""
        return self.stop.iterations - self.iterations

    @property
    def target(self) -> float:
        """The length to stop at, a rounding error allowed; 0 cannot be improved."""
        return max(self.stop.length * (1.0 + 1e-12), 0.0)

    @property
    def counted(self) -> bool:
        """Whether the search is limited by iterations, so that it must not depend on the clock."""
        return self.stop.iterations < NEVER

    @property
    def over(self) -> bool:
        """Whether a limit is reached; a tour of length 0 cannot be improved."""
        now = self.seconds
        return (
            now >= self.stop.seconds
            or self.iterations >= self.stop.iterations
            or self.best <= self.target
            or now - self._improved_at >= self.stop.idle_seconds
            or self.iterations - self._improved_iteration >= self.stop.idle_iterations
        )

    def expected(self, seconds: float) -> int:
        """How many iterations fit into so many seconds, judged by those made so far."""
        if self._running <= 0.0:
            return FIRST_STRETCH
        return int(min(seconds * self.iterations / self._running, NEVER))

    def stretch(self) -> int:
        """Iterations until the next look at the clock, at least one."""
        wanted = min(max(SHORTEST, 0.05 * self.seconds), LONGEST, self.seconds_left)
        patience = self._improved_iteration + self.stop.idle_iterations - self.iterations
        return max(1, min(self.expected(wanted), self.iterations_left, patience))

    def ran(self, iterations: int, seconds: float) -> None:
        """Note that a stretch was run."""
        self.iterations += iterations
        self._running += seconds

    def drive(self, advance: Callable[[int], Stretch]) -> None:
        """Call ``advance`` for stretches of iterations until a limit is reached or Ctrl-C comes."""
        try:
            while True:
                begin = perf_counter()
                done = advance(self.stretch() if self.trace else 0)
                self.ran(int(done.iterations) - self.iterations, perf_counter() - begin)
                if done.length < self.best:
                    self.improved(float(done.length), done.places, int(done.improved))
                self.report()
                if self.over:
                    return
        except KeyboardInterrupt:
            return  # whoever is in a hurry gets the best tour so far

    def improved(self, length: float, places: IntArray, iteration: int = 0) -> None:
        """Note a new best tour, int64[m], found at an iteration."""
        self.best = length
        self._improved_at = self.seconds
        self._improved_iteration = iteration
        self.trace.append((self._improved_at, length))
        if self.on_improve is not None:
            self.on_improve(self._improved_at, length, places)

    def report(self) -> None:
        """Tell of progress if the last time was a while ago."""
        now = self.seconds
        if self.on_progress is None or now - self._reported_at < REPORT_EVERY:
            return
        self._reported_at = now
        self.on_progress(
            Progress(
                seconds=now,
                iterations=self.iterations,
                length=self.best,
                bound=None,
                since_improvement=now - self._improved_at,
            )
        )
