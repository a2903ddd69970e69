"""solve(): the one place where the methods meet, and the table of them.

Whatever a method returns goes through the referee before a caller sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from time import perf_counter

import numpy as np

from covertour.errors import InputError, SolveError
from covertour.instance import Instance
from covertour.metric import IntArray
from covertour.referee import verify
from covertour.result import Progress, Result
from covertour.search.watch import OnImprove, OnProgress, Watch
from covertour.stop import MaxSeconds, Stop
from covertour.tour import Tour, make_tour

__all__ = ["METHODS", "Method", "Progress", "compiled", "default_stop", "solve", "warmup"]


@dataclass(frozen=True)
class Task:
    """What a method is asked to do: see :func:`solve`. ``start`` holds distinct allowed places."""

    instance: Instance
    watch: Watch
    seed: int
    start: IntArray
    workers: int


@dataclass(frozen=True)
class Outcome:
    """What a method found: the stops in order and, where it proves one, a lower bound."""

    places: IntArray
    bound: float | None = None


@dataclass(frozen=True)
class Method:
    """A way of solving: what it does in a line, and the function that does it."""

    summary: str
    run: Callable[[Task], Outcome]


def solve(
    instance: Instance,
    method: str = "lns",
    *,
    stop: Stop | None = None,
    seed: int = 0,
    start: Tour | Sequence[int] | IntArray | None = None,
    workers: int = 1,
    on_improve: OnImprove | None = None,
    on_progress: OnProgress | None = None,
) -> Result:
    """Find a short covering tour, checked by the referee.

    ``method``: a name in :data:`METHODS`. ``stop``: when to stop, by default after a time that
    grows with the number of places. The same instance, method, seed, workers and iteration limit
    give the same tour. ``start``: a tour to improve. ``workers``: threads to search on.
    ``on_improve(seconds, length, places)`` is called at improvements, ``on_progress(Progress)``
    about ten times a second. Ctrl-C ends the search with the best tour so far.

    >>> from covertour import random_instance
    >>> from covertour.stop import MaxIterations
    >>> solve(random_instance(30, nearest=7), stop=MaxIterations(500)).tour.places
    array([ 0, 19, 16, 24,  5])
    """
    if method not in METHODS:
        close = get_close_matches(method, METHODS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(METHODS)}"
        raise InputError(f"method: no {method!r}{hint}")
    if seed < 0 or workers < 1:
        raise InputError("seed, workers: expected a seed >= 0 and at least one worker")
    began = perf_counter()
    _ = instance.coverage  # an instance that nobody can cover is refused here
    watch = Watch(stop or default_stop(instance), on_improve, on_progress, began)
    task = Task(instance, watch, seed, _allowed_start(instance, start), workers)
    outcome = METHODS[method].run(task)
    tour = make_tour(instance, outcome.places)
    verdict = verify(instance, tour)
    if not verdict.ok:
        raise SolveError(f"{method} made a wrong tour: {'; '.join(verdict.problems(instance))}")
    return Result(
        instance=instance.name,
        method=method,
        tour=tour,
        seconds=perf_counter() - began,
        seed=seed,
        iterations=watch.iterations,
        bound=outcome.bound,
        trace=tuple(watch.trace),
    )


def default_stop(instance: Instance) -> Stop:
    """One second up to 1,000 places, then longer: 6 s for 10,000, 3 minutes for a million."""
    return MaxSeconds(max(1.0, (instance.n / 1000.0) ** 0.75))


def _allowed_start(instance: Instance, start: Tour | Sequence[int] | IntArray | None) -> IntArray:
    """The start tour without repeated and forbidden places."""
    if start is None:
        return np.empty(0, dtype=np.int64)
    places = np.asarray(start.places if isinstance(start, Tour) else start, dtype=np.int64)
    if len(places) and (places.min() < 0 or places.max() >= instance.n):
        raise InputError(f"start: expected places 0 to {instance.n - 1}")
    _, first = np.unique(places, return_index=True)
    places = places[np.sort(first)]
    return places[~np.isin(places, instance.forbidden)]


def _lns(task: Task) -> Outcome:
    from covertour.search.lns import lns

    return Outcome(lns(task.instance, task.watch, task.seed, task.start, task.workers))


METHODS: dict[str, Method] = {
    "lns": Method("large-neighbourhood search; the default, best at any time limit", _lns),
}
"""The methods by name."""


def compiled() -> bool:
    """Whether the kernels of the default method are in numba's cache already."""
    from covertour.search.kernel import cached_kernels

    return any("anneal_for" in file.name for file in cached_kernels())


def warmup() -> None:
    """Compile the kernels of the default method for every kind of distances."""
    from covertour.generate import random_instance
    from covertour.search.state import TABLE_UP_TO
    from covertour.stop import MaxIterations

    small = random_instance(8, nearest=2)
    large = random_instance(TABLE_UP_TO + 1, nearest=7)
    directed = Instance.from_matrix(np.arange(64.0).reshape(8, 8), nearest=2)
    for instance in (small, large, directed):
        solve(instance, stop=MaxIterations(10))
