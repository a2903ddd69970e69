"""solve(): the one place where the methods meet, and the table of them.

Whatever a method returns goes through the referee before a caller sees it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, partial
from time import perf_counter

import numpy as np

from covertour.errors import InputError, SolveError
from covertour.instance import Instance
from covertour.metric import IntArray
from covertour.referee import verify
from covertour.result import Progress, Result
from covertour.search.watch import OnImprove, OnProgress, Watch
from covertour.stop import MaxIterations, MaxSeconds, NoImprovement, Stop
from covertour.tour import Tour, make_tour

SEARCH_SHARE = 0.2
"""``exact`` searches for n² iterations before it proves, and at most this share of its time."""

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
    stop: Stop | None = None
    """Its own limit, where it has one; otherwise time that grows with the number of places."""


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
    _ = instance.coverage  # an instance that nobody can cover is refused here
    load(method, instance)
    began = perf_counter()
    watch = Watch(stop or default_stop(instance, method), on_improve, on_progress, began)
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


def default_stop(instance: Instance, method: str = "lns") -> Stop:
    """When a method stops by itself.

    The heuristics of the literature make their own number of iterations; the others take a second
    up to 1,000 places, then longer: 6 s for 10,000, 3 minutes for a million.
    """
    own = METHODS[method].stop
    return own if own is not None else MaxSeconds(max(1.0, (instance.n / 1000.0) ** 0.75))


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


def _greedy(task: Task) -> Outcome:
    from covertour.search.lns import lns

    watch = replace(task.watch, stop=task.watch.stop | MaxIterations(0))
    places = lns(task.instance, watch, task.seed, task.start, 1)
    task.watch.trace.extend(watch.trace)
    return Outcome(places)


def _ls1(task: Task, as_in_paper: bool = False) -> Outcome:
    from covertour.search.ls1 import ls1

    return Outcome(ls1(task.instance, task.watch, task.seed, task.start, as_in_paper))


def _ls2(task: Task, as_in_paper: bool = False) -> Outcome:
    from covertour.search.ls2 import ls2

    return Outcome(ls2(task.instance, task.watch, task.seed, task.start, as_in_paper))


def _twophase(task: Task) -> Outcome:
    from covertour.search.twophase import twophase

    return Outcome(twophase(task.instance, task.watch, task.seed))


def _exact(task: Task) -> Outcome:
    """Search for a while, then prove; the search helps the proof on its way."""
    from covertour.exact.branch_and_cut import prove
    from covertour.exact.proof import Progress as ProofProgress
    from covertour.search.lns import lns

    instance, watch = task.instance, task.watch
    share = Stop(seconds=SEARCH_SHARE * watch.stop.seconds, length=watch.stop.length)
    search = replace(watch, stop=share | MaxIterations(instance.n**2))
    start = lns(instance, search, task.seed, task.start, task.workers)
    watch.best = search.best

    def improve(places: IntArray) -> IntArray:
        short = Watch(MaxIterations(10 * (20 + len(places))))
        return lns(instance, short, task.seed, _allowed_start(instance, places), 1)

    def tell(progress: ProofProgress) -> None:
        watch.iterations = progress.nodes
        if progress.length < watch.best:
            watch.trace.append((watch.seconds, progress.length))
            watch.best = progress.length
        if watch.on_progress is not None:
            since = watch.seconds - (watch.trace[-1][0] if watch.trace else 0.0)
            watch.on_progress(
                Progress(watch.seconds, progress.nodes, progress.length, progress.bound, since)
            )

    stop = replace(watch.stop, seconds=max(watch.seconds_left, 0.0))
    proof = prove(instance, start, stop=stop, seed=task.seed, improve=improve, on_progress=tell)
    watch.iterations = proof.nodes
    if proof.length < watch.best:
        watch.trace.append((watch.seconds, proof.length))
    for warning in proof.warnings:
        warnings.warn(warning, RuntimeWarning, stacklevel=3)
    return Outcome(proof.places, proof.bound)


METHODS: dict[str, Method] = {
    "lns": Method("large-neighbourhood search; the default, best at any time limit", _lns),
    "exact": Method(
        "branch-and-cut from an lns tour: the shortest tour, or a proven gap",
        _exact,
        MaxSeconds(600),
    ),
    "greedy": Method("greedy construction with 2-opt and Or-opt; the first tour of lns", _greedy),
    "ls1": Method(
        "local search 1 of Golden et al. (2012), 3,500 iterations", _ls1, MaxIterations(3_500)
    ),
    "ls2": Method(
        "local search 2 of Golden et al. (2012), 25 x 300 iterations", _ls2, MaxIterations(7_500)
    ),
    "ls1-paper": Method(
        "ls1 as the Attention-dynamic paper ran it: 500 iterations, from a cover",
        partial(_ls1, as_in_paper=True),
        MaxIterations(500) | NoImprovement(50),
    ),
    "ls2-paper": Method(
        "ls2 as the Attention-dynamic paper ran it: 25 x 150 iterations, single replacements",
        partial(_ls2, as_in_paper=True),
        MaxIterations(3_750),
    ),
    "twophase": Method(
        "smallest covers by HiGHS, then tours of them (Current and Schilling 1989)",
        _twophase,
        MaxSeconds(60),
    ),
}
"""The methods by name."""


def compiled(instance: Instance | None = None) -> bool:
    """Whether the kernels of the default method are cached, for an instance or for every kind."""
    from covertour.search.kernel import is_ready
    from covertour.search.state import KINDS, kind_of

    return all(is_ready(kind) for kind in (KINDS if instance is None else [kind_of(instance)]))


def warmup() -> None:
    """Compile the kernels of the default method for every kind of instance."""
    from covertour.search.state import KINDS

    for kind in KINDS:
        _load("lns", kind)


def load(method: str, instance: Instance) -> None:
    """Compile or load what a method needs for an instance, so that no solve's clock pays for it."""
    from covertour.search.state import kind_of

    _load(method, kind_of(instance))


@cache
def _load(method: str, kind: str) -> None:
    """Run a method once on a tiny instance of a kind."""
    from covertour.generate import random_instance
    from covertour.search.state import TABLE_UP_TO

    samples = {
        "table": random_instance(8, nearest=2),
        "points": random_instance(TABLE_UP_TO + 1, nearest=7),
        "directed": Instance.from_matrix(np.arange(64.0).reshape(8, 8), nearest=2),
    }
    sample = samples["table" if method == "exact" else kind]
    watch = Watch(MaxIterations(2) | MaxSeconds(60))
    METHODS[method].run(Task(sample, watch, 0, _allowed_start(sample, None), 1))
