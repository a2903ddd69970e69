"""One timed solve of a benchmark: warmed up, checked by the referee again, and interruptible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from time import process_time

from covertour.problem.errors import InputError, SolveError
from covertour.problem.instance import Instance
from covertour.problem.referee import verify
from covertour.solving.method import Decoding
from covertour.solving.methods import METHODS
from covertour.solving.result import Result
from covertour.solving.solve import solve
from covertour.solving.stop import MaxIterations, MaxSeconds, StoppingRule

OnStep = Callable[[float, float, str], None]
"""Called before each run of a benchmark with the share of the work that is done, the whole, and
what comes next; at the end with share and whole equal."""


@dataclass(frozen=True, eq=False)
class Run:
    """A solve and its time.

    ``seconds``: from the call of ``solve``, with the coverage built before, to the end of the
    method; the referee's check inside ``solve`` comes after that. ``processor``: the seconds of
    the processor, all threads together, and the cost of each improvement, which do not depend on
    what else the machine does.
    """

    result: Result
    seconds: float
    processor: tuple[tuple[float, float], ...] = ()

    def seconds_to(self, length: float) -> float | None:
        """When the method had its first tour of at most this length; None where it never had.

        Counted like ``seconds``, to the moment the method told of the tour.
        """
        for moment, found in self.result.trace:
            if at_most(found, length):
                return moment
        return self.seconds if at_most(self.result.length, length) else None

    def processor_to(self, cost: float) -> float | None:
        """The processor time until the first tour of at most this cost; None without one."""
        return next((used for used, found in self.processor if at_most(found, cost)), None)

    def length_at(self, seconds: float) -> float | None:
        """Length of the best tour at that moment; None where there was none yet."""
        trace = self.result.trace or ((self.seconds, self.result.length),)
        before = [length for moment, length in trace if moment <= seconds]
        return before[-1] if before else None


def at_most(length: float, limit: float) -> bool:
    """Whether a length is no more than a limit, roundings of the sum aside."""
    return length <= limit * (1.0 + 1e-9)


def gap_percent(length: float, reference: float) -> float:
    """By how many percent a length is over a reference; 0 where only roundings differ."""
    if at_most(length, reference) and at_most(reference, length):
        return 0.0
    return 100.0 * (length / reference - 1.0) if reference > 0 else float("inf")


def timed_run(
    instance: Instance,
    method: str,
    stop: StoppingRule | None,
    seed: int,
    workers: int = 1,
    decoding: Decoding | None = None,
    executor: Executor | None = None,
) -> Run:
    """Solve with the coverage built beforehand; see :class:`Run` for what is timed."""
    _ = instance.coverage
    processor: list[tuple[float, float]] = []
    began = process_time()
    result = solve(
        instance,
        method,
        stop=stop,
        seed=seed,
        workers=workers,
        decoding=decoding,
        executor=executor,
        on_improve=lambda _, cost, __: processor.append((process_time() - began, cost)),
    )
    if result.stopped == "interrupt":  # its best tour so far is no measurement
        raise KeyboardInterrupt
    if not verify(instance, result.tour).ok:
        raise SolveError(f"{method} made a wrong tour of {instance.name}")
    return Run(result, result.seconds, tuple(processor))


def warm_up(instance: Instance, methods: Sequence[str]) -> None:
    """Load and compile what the methods need for this kind of instance, off the clock."""
    for method in dict.fromkeys(methods):
        timed_run(instance, method, MaxIterations(1) | MaxSeconds(0.1), seed=0)
        timed_run(instance, method, MaxSeconds(0.02), seed=0)


def check_methods(methods: Sequence[str], option: str = "methods") -> None:
    """Refuse an empty list and methods that do not exist."""
    if not methods:
        raise InputError(f"{option}: expected at least one of {', '.join(METHODS)}")
    for method in methods:
        if method not in METHODS:
            raise InputError(f"{option}: no {method!r}; there are {', '.join(METHODS)}")


def check_positive(option: str, values: Sequence[float]) -> None:
    """Refuse an empty list of numbers and numbers that are not above 0."""
    if not values:
        raise InputError(f"{option}: expected at least one number")
    for value in values:
        if not 0 < value < float("inf"):
            raise InputError(f"{option}: expected numbers > 0, got {value:g}")
