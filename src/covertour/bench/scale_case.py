"""One size of the scale benchmark, measured in a process of its own so that its memory is its own.

``python -m covertour.bench.scale_case`` reads a :class:`ScaleCase` as JSON from standard input and
writes a :class:`ScaleMeasure` as JSON to standard output.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter

from covertour.bench.machine import peak_gigabytes
from covertour.bench.runs import Run, timed_run, warm_up
from covertour.executors import cluster
from covertour.problem.errors import InputError
from covertour.problem.generate import random_instance
from covertour.problem.rules import parse_rule
from covertour.solving.stop import MaxIterations, MaxSeconds

WARM_UP_SIZE = 5_000
"""Places of the instance to warm up with: quick, but of the same kind as the large ones."""

FIRST_TOURS, FIRST_TOURS_SECONDS = 7, 2.0
"""The first tour is made this often, or for about so many seconds."""


@dataclass(frozen=True)
class ScaleCase:
    """What to measure: n places, the limits in ascending order, one run for all or one each."""

    n: int
    rule: str
    seconds: tuple[float, ...]
    method: str
    seed: int
    separate: bool
    workers: int
    cluster: str | None = None
    """The scheduler whose workers improve the regions."""


@dataclass(frozen=True)
class ScaleMeasure:
    """What was measured.

    ``coverage_seconds``: building the coverage. ``first_tour_seconds``: from the call of ``solve``,
    with the coverage built, to the first full tour, the median of several where that is short;
    ``first_length``: of that tour. ``lengths``: of
    the best tour at each limit, None where there was none yet. ``iterations_per_second``: after
    the first tour. ``peak_gigabytes``: of the whole process, referee included.
    """

    n: int
    stops: int
    coverage_seconds: float
    first_tour_seconds: float
    first_length: float
    lengths: tuple[float | None, ...]
    iterations_per_second: float
    peak_gigabytes: float | None


def measure(case: ScaleCase) -> ScaleMeasure:
    """Measure one size; the peak of memory is that of the calling process."""
    if case.cluster is None:
        return _measure(case, None)
    with cluster(case.cluster) as executor:
        return _measure(case, executor)


def _measure(case: ScaleCase, executor: Executor | None) -> ScaleMeasure:
    rule = parse_rule(case.rule)
    warm_up(random_instance(min(case.n, WARM_UP_SIZE), **rule, seed=case.seed), [case.method])
    instance = random_instance(case.n, **rule, seed=case.seed)
    began = perf_counter()
    _ = instance.coverage
    coverage_seconds = perf_counter() - began

    def run(seconds: float) -> Run:
        stop = MaxSeconds(seconds)
        return timed_run(instance, case.method, stop, case.seed, case.workers, executor=executor)

    lengths: tuple[float | None, ...]
    if case.separate:
        runs = [run(seconds) for seconds in case.seconds]
        # A run finishes its first tour even where that takes longer than its limit.
        lengths = tuple(
            run.result.length if _first(run)[0] <= seconds else None
            for run, seconds in zip(runs, case.seconds, strict=True)
        )
    else:
        runs = [run(case.seconds[-1])]
        lengths = tuple(runs[0].length_at(seconds) for seconds in case.seconds[:-1])
        within = _first(runs[0])[0] <= case.seconds[-1]
        lengths += (runs[0].result.length if within else None,)
    longest = runs[-1]
    first_seconds, first_length = _first(longest)
    first_times = [_first(run)[0] for run in runs]
    # One short time says little: where it costs next to nothing, the first tour is made again.
    while len(first_times) < FIRST_TOURS and sum(first_times) < FIRST_TOURS_SECONDS:
        again = timed_run(instance, case.method, MaxIterations(0), case.seed, case.workers)
        first_times.append(_first(again)[0])
    searching = longest.seconds - first_seconds
    return ScaleMeasure(
        n=case.n,
        stops=len(longest.result.tour),
        coverage_seconds=coverage_seconds,
        first_tour_seconds=median(first_times),
        first_length=first_length,
        lengths=lengths,
        iterations_per_second=longest.result.iterations / searching if searching > 0 else 0.0,
        peak_gigabytes=peak_gigabytes(),
    )


def _first(run: Run) -> tuple[float, float]:
    """When the first tour was there, and how long it was."""
    return run.result.trace[0] if run.result.trace else (run.seconds, run.result.length)


def main() -> int:
    """Measure what standard input asks for; the exit code."""
    asked = json.load(sys.stdin)
    case = ScaleCase(**{**asked, "seconds": tuple(asked["seconds"])})
    try:
        print(json.dumps(asdict(measure(case))))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except MemoryError:
        print("not enough memory", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
