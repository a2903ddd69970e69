"""Clock: the limits of a solve, who hears of its progress, and whether somebody interrupted it.

Every method, be it a search, a proof or a network, tells the clock of the tours it finds and stops
when the clock is ``over``. Kernels know nothing of time: they are called for stretches of
iterations, short enough that a limit is kept to a millisecond or two and Ctrl-C is answered at
once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from types import FrameType
from typing import NamedTuple

from covertour.problem.metric import IntArray
from covertour.solving.stop import (
    NEVER,
    ROUNDING,
    Limits,
    Progress,
    Stop,
    StoppingRule,
    limits_of,
)

FIRST_STRETCH = 16
"""Iterations of the first stretch, which tells how fast the search is."""

SHORTEST, LONGEST = 0.0005, 0.05
"""Seconds of a stretch, near the start and later on."""

REPORT_EVERY = 0.1
"""Seconds between two reports of progress."""

OnImprove = Callable[[float, float, IntArray], None]
"""Called with the seconds, the cost and the stops, int64[m], of every better tour."""

OnProgress = Callable[[Progress], None]
"""Called about ten times per second."""


@dataclass
class Interruption:
    """Whether somebody wants it to end; shared by all clocks that are to stop together."""

    happened: bool = False


@contextmanager
def heeding(interruption: Interruption) -> Iterator[None]:
    """Note Ctrl-C instead of raising KeyboardInterrupt; a second one is raised.

    So no work is lost, wherever it came. The same holds for every signal that would raise
    KeyboardInterrupt, such as SIGTERM on the command line. Signals that somebody else handles are
    left to them, and so are all of them outside the main thread, where Python allows no more.
    """
    mine = []

    def note(number: int, frame: FrameType | None) -> None:
        if interruption.happened:
            raise KeyboardInterrupt
        interruption.happened = True

    if threading.current_thread() is threading.main_thread():
        usual = signal.default_int_handler
        mine = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) is usual]
    try:
        for number in mine:
            signal.signal(number, note)
        yield
    finally:
        for number in mine:
            signal.signal(number, signal.default_int_handler)


class Stretch(NamedTuple):
    """What a stretch led to, counted from the start of the search.

    Iterations made, the one that found the best tour, and the length and stops of that tour.
    """

    iterations: int
    improved: int
    length: float
    places: IntArray


@dataclass
class Clock:
    """The clock of one solve; ``started`` may lie before it, when the user's clock began.

    ``best``, ``places`` and ``bound`` are what was found and proven so far; ``trace`` has the
    seconds and the cost of each improvement, or with a budget the weight. The cost of a tour is its
    length, and the visit costs if there are any.
    """

    stop: StoppingRule = field(default_factory=Stop)
    on_improve: OnImprove | None = None
    on_progress: OnProgress | None = None
    started: float = field(default_factory=perf_counter)
    interruption: Interruption = field(default_factory=Interruption)
    iterations: int = 0
    best: float = float("inf")
    weight: float | None = None
    """With a budget, what the best tour serves."""
    places: IntArray | None = None
    bound: float | None = None
    trace: list[tuple[float, float]] = field(default_factory=list)
    limits: Limits = field(init=False)
    reached: bool = field(default=False, init=False)
    """Whether the stopping rule has said stop."""
    whole: Clock | None = None
    """The clock of the whole work, where this is one for a part of it."""
    _first: float | None = field(default=None, init=False)
    """What the best tour is judged by before its cost, where there is such a thing."""
    _improved_at: float = field(default=0.0, init=False)
    _improved_iteration: int = field(default=0, init=False)
    _reported_at: float = field(default=0.0, init=False)
    _running: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.limits = limits_of(self.stop)

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return perf_counter() - self.started

    @property
    def seconds_left(self) -> float:
        """Time until the limit."""
        return self.limits.seconds - self.seconds

    @property
    def iterations_left(self) -> int:
        """Iterations until the limit."""
        return self.limits.iterations - self.iterations

    @property
    def target(self) -> float:
        """The length to stop at, a rounding error allowed; 0 cannot be improved."""
        return max(self.limits.length * (1.0 + ROUNDING), 0.0)

    @property
    def counted(self) -> bool:
        """Whether the search is limited by iterations, so that it must not depend on the clock."""
        return self.limits.iterations < NEVER

    @property
    def over(self) -> bool:
        """Whether to stop: by the rule, by an interruption, or as a tour of length 0 is found."""
        if not self.reached:
            self.reached = bool(self.stop(self.progress()))
        perfect = self.best <= 0.0 and self.weight is None
        return self.reached or self.interruption.happened or perfect

    def progress(self) -> Progress:
        """Where the solve stands."""
        now = self.seconds
        return Progress(
            now,
            self.iterations,
            now - self._improved_at,
            self.iterations - self._improved_iteration,
            self.best,
            self.bound,
            self.weight,
        )

    def expected(self, seconds: float) -> int:
        """How many iterations fit into so many seconds, judged by those made so far."""
        if self._running <= 0.0:
            return FIRST_STRETCH
        return int(min(seconds * self.iterations / self._running, NEVER))

    def stretch(self) -> int:
        """Iterations until the next look at the clock, at least one."""
        now, limits = self.seconds, self.limits
        wanted = min(max(SHORTEST, 0.05 * now), LONGEST, limits.seconds - now)
        idle = self.iterations - self._improved_iteration
        left = min(limits.iterations - self.iterations, limits.idle_iterations - idle)
        return max(1, min(self.expected(wanted), left))

    def ran(self, iterations: int, seconds: float) -> None:
        """Note that a stretch was run."""
        self.iterations += iterations
        self._running += seconds

    def drive(self, advance: Callable[[int], Stretch]) -> None:
        """Call ``advance`` for stretches of iterations until it is over."""
        while True:
            begin = perf_counter()
            done = advance(self.stretch() if self.trace else 0)
            self.ran(int(done.iterations) - self.iterations, perf_counter() - begin)
            self.improved(float(done.length), done.places, int(done.improved))
            self.report()
            if self.over:
                return

    def improved(
        self,
        cost: float,
        places: IntArray,
        iteration: int | None = None,
        weight: float | None = None,
        first: float | None = None,
    ) -> None:
        """Note a tour, int64[m], if it is better than the best; found now or at an iteration.

        With a budget a tour that serves more ``weight`` is better, or as much at less cost.
        ``first``: where something else is to be small before the cost is, that.
        """
        first = first if weight is None else -weight
        if first is not None and self._first is not None and first > self._first:
            return
        ahead = first is not None and (
            self._first is None or first < self._first - ROUNDING * abs(self._first)
        )
        if cost >= self.best * (1.0 - ROUNDING) and not ahead:
            return
        self.best, self.places, self.weight, self._first = cost, places, weight, first
        self._improved_at = self.seconds
        self._improved_iteration = self.iterations if iteration is None else iteration
        self.trace.append((self._improved_at, cost if weight is None else weight))
        if self.whole is not None:
            self.whole.improved(cost, places, weight=weight, first=first)
        if self.on_improve is not None:
            self._call(self.on_improve, self._improved_at, cost, places)

    def report(self) -> None:
        """Tell of progress if the last time was a while ago."""
        now = self.seconds
        if self.on_progress is not None and now - self._reported_at >= REPORT_EVERY:
            self._reported_at = now
            self._call(self.on_progress, self.progress())

    def _call(self, callback: Callable[..., None], *news: object) -> None:
        """Call back; whoever raises KeyboardInterrupt there wants the solve to end."""
        try:
            callback(*news)
        except KeyboardInterrupt:
            self.interruption.happened = True

    def part(self, stop: StoppingRule) -> Clock:
        """A clock for a part of the work, which counts its own iterations and has its own rule.

        It started when this one did, is interrupted with it, and tells it of better tours.
        """
        return Clock(
            stop,
            whole=self,
            on_progress=self.on_progress,
            started=self.started,
            interruption=self.interruption,
        )
