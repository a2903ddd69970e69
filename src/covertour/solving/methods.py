"""solve(): the one place where the methods meet, and the table of them.

Whatever a method returns goes through the referee before a caller sees it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from time import perf_counter

import numpy as np

from covertour.problem.errors import InputError, SolveError
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.problem.referee import verify
from covertour.problem.tour import Tour, make_tour
from covertour.solving.clock import OnImprove, OnProgress, Watch
from covertour.solving.result import Progress, Result
from covertour.solving.stop import MaxIterations, MaxSeconds, NoImprovement, Stop

SEARCH_SHARE = 0.2
"""``exact`` searches for n² iterations before it proves, and at most this share of its time."""

SEARCHES, SEARCHES_FROM = 5, 500
"""From so many places on it makes several such searches: they end in different tours."""

LEARNED = {
    "am-gain": "learned, ours: attention that sees what a stop would gain; made in milliseconds",
    "am-dynamic": "learned: Attention-dynamic, the model of the paper",
    "am": "learned: the attention model of Kool et al. (2019); give --weights",
    "pn-dynamic": "learned: the pointer network of Nazari et al. (2018), guided; give --weights",
    "pn": "learned: the pointer network of Vinyals et al. (2015); give --weights",
}
"""The learned methods, named after their models."""

POSTERIOR = 50
"""The search after a learned tour, the paper's posterior local search: iterations a place."""

__all__ = [
    "METHODS",
    "Decoding",
    "Method",
    "Progress",
    "default_stop",
    "solve",
    "warmup",
]


@dataclass(frozen=True)
class Decoding:
    """How a learned method finds its tours; the shortest counts.

    ``samples``: draw so many beside the greedy one. ``symmetries``: look at the places turned and
    mirrored in all eight ways, with samples of each. ``weights``: a name of shipped ones or a
    directory written by ``covertour export``, or one of several such directories; by default those
    shipped for the nearest size, which only am-gain and am-dynamic have.
    ``raw``: tours as the network makes them, where its model would have them polished.
    """

    samples: int = 0
    symmetries: bool = False
    weights: str | Path | None = None
    raw: bool = False

    def __post_init__(self) -> None:
        if self.samples < 0 or self.samples != int(self.samples):
            raise InputError(f"samples: expected a whole number >= 0, got {self.samples}")


@dataclass(frozen=True)
class Task:
    """What a method is asked to do: see :func:`solve`. ``start`` holds distinct allowed places."""

    instance: Instance
    watch: Watch
    seed: int
    start: IntArray
    workers: int
    decoding: Decoding = field(default_factory=Decoding)


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
    stop: Stop | Callable[[Instance], Stop] | None = None
    """Its own limit, where it has one; otherwise time that grows with the number of places."""
    model: str | None = None
    """The model of a learned method."""
    searches: bool = True
    """Whether it needs the compiled search."""


def solve(
    instance: Instance,
    method: str = "lns",
    *,
    stop: Stop | None = None,
    seed: int = 0,
    start: Tour | Sequence[int] | IntArray | None = None,
    workers: int = 1,
    decoding: Decoding | None = None,
    on_improve: OnImprove | None = None,
    on_progress: OnProgress | None = None,
) -> Result:
    """Find a short covering tour, checked by the referee.

    ``method``: a name in :data:`METHODS`. ``stop``: when to stop, by default after a time that
    grows with the number of places. The same instance, method, seed, workers and iteration limit
    give the same tour. ``start``: a tour to improve. ``workers``: threads to search on.
    ``decoding``: how a learned method goes about it. ``on_improve(seconds, length, places)`` is
    called at improvements, ``on_progress(Progress)`` about ten times a second. Ctrl-C ends the
    search with the best tour so far.

    >>> from covertour import random_instance
    >>> from covertour.solving.stop import MaxIterations
    >>> solve(random_instance(30, nearest=7), stop=MaxIterations(500)).tour.places
    array([ 2,  8,  7, 29, 23])
    """
    check_call(method, seed, workers, decoding)
    if start is not None and METHODS[method].model is not None:
        raise InputError(f"start: {method} makes its own tour and takes none to start from")
    _ = instance.coverage  # an instance that nobody can cover is refused here
    load(method, instance, decoding)
    began = perf_counter()
    watch = Watch(stop or default_stop(instance, method), on_improve, on_progress, began)
    places = _allowed_start(instance, start)
    task = Task(instance, watch, seed, places, workers, decoding or Decoding())
    outcome = METHODS[method].run(task)
    return checked_result(task, method, outcome, perf_counter() - began)


def check_call(method: str, seed: int, workers: int, decoding: Decoding | None) -> None:
    """Refuse what no method, or not this one, can be asked for."""
    if method not in METHODS:
        close = get_close_matches(method, METHODS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else f"; there are {', '.join(METHODS)}"
        raise InputError(f"method: no {method!r}{hint}")
    if seed < 0 or workers < 1:
        raise InputError("seed, workers: expected a seed >= 0 and at least one worker")
    if decoding is not None and METHODS[method].model is None:
        raise InputError(
            f"samples, symmetries, weights, raw: {method} is not a learned method and takes none"
        )


def checked_result(task: Task, method: str, outcome: Outcome, seconds: float) -> Result:
    """The outcome as a result; a wrong tour ends here."""
    tour = make_tour(task.instance, outcome.places)
    verdict = verify(task.instance, tour)
    if not verdict.ok:
        problems = "; ".join(verdict.problems(task.instance))
        raise SolveError(f"{method} made a wrong tour: {problems}")
    return Result(
        instance=task.instance.name,
        method=method,
        tour=tour,
        seconds=seconds,
        seed=task.seed,
        iterations=task.watch.iterations,
        bound=outcome.bound,
        trace=tuple(task.watch.trace),
    )


def default_stop(instance: Instance, method: str = "lns") -> Stop:
    """When a method stops by itself.

    The heuristics of the literature make their own number of iterations, the learned ones none, or
    50 (20 + n) after the learned tour; the others take a second up to 1,000 places, then longer:
    6 s for 10,000, 3 minutes for a million.
    """
    own = METHODS[method].stop
    if own is None:
        return MaxSeconds(max(1.0, (instance.n / 1000.0) ** 0.75))
    return own if isinstance(own, Stop) else own(instance)


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
    limit = share | MaxIterations(instance.n**2)
    search = replace(watch, stop=limit)
    start = lns(instance, search, task.seed, task.start, task.workers)
    watch.best = search.best
    for again in range(1, SEARCHES if instance.n >= SEARCHES_FROM else 1):
        if not search.over or watch.seconds >= share.seconds:  # interrupted, or out of time
            break
        search = Watch(limit, on_progress=watch.on_progress, started=watch.started)
        places = lns(instance, search, task.seed + again, task.start, task.workers)
        if search.best < watch.best:
            start = places
            watch.improved(search.best, places)

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


def _learned(task: Task, model: str) -> Outcome:
    """The best tour that a model decodes, which takes its time whatever the limit."""
    (places,) = decoded_tours([task.instance], model, task.decoding, task.seed, task.workers)
    task.watch.improved(task.instance.length(places), places)
    return Outcome(places)


def _learned_then_searched(task: Task, model: str) -> Outcome:
    """The learned tour, improved by lns for the rest of the time."""
    from covertour.search.lns import lns

    (start,) = decoded_tours([task.instance], model, task.decoding, task.seed, task.workers)
    return Outcome(lns(task.instance, task.watch, task.seed, start, task.workers))


def decoded_tours(
    instances: Sequence[Instance], model: str, decoding: Decoding, seed: int, workers: int
) -> list[IntArray]:
    """The best tours, int64[m], that a model decodes of instances of the same size."""
    from covertour.neural.inference.runtime import best_tours
    from covertour.neural.inference.shipped import network_for

    return best_tours(
        network_for(model, instances[0].n, decoding.weights),
        instances,
        samples=decoding.samples,
        symmetries=decoding.symmetries,
        raw=decoding.raw,
        seed=seed,
        workers=workers,
    )


def _posterior_stop(instance: Instance) -> Stop:
    return MaxIterations(POSTERIOR * (20 + instance.n))


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
    **{
        name: Method(summary, partial(_learned, model=name), Stop(), name, searches=False)
        for name, summary in LEARNED.items()
    },
    **{
        f"{name}+ls": Method(
            f"the tour of {name}, then lns for {POSTERIOR} (20 + n) iterations",
            partial(_learned_then_searched, model=name),
            _posterior_stop,
            name,
        )
        for name in LEARNED
    },
}
"""The methods by name."""


def _telling(on_compile: Callable[[], None] | None) -> AbstractContextManager[None]:
    """A context that calls ``on_compile``, if there is one, before anything is compiled in it."""
    if on_compile is None:
        return nullcontext()
    from covertour import kernelcache

    return kernelcache.on_compile(on_compile)


def warmup(on_compile: Callable[[], None] | None = None) -> None:
    """Compile the default method for every kind of instance, and what decodes learned tours.

    ``on_compile`` is called before anything is compiled, if not all is in the cache.
    """
    from covertour.neural.inference.compiled import loops
    from covertour.search.state import KINDS

    with _telling(on_compile):
        for kind in KINDS:
            _load("lns", kind)
        loops()


def load(
    method: str,
    instance: Instance,
    decoding: Decoding | None = None,
    on_compile: Callable[[], None] | None = None,
) -> None:
    """Compile or load what a method needs for an instance, so that no solve's clock pays for it.

    ``on_compile`` is called before anything is compiled, if not all is in the cache.
    """
    chosen = METHODS[method]
    with _telling(on_compile):
        if chosen.model is not None:
            from covertour.neural.inference.compiled import loops
            from covertour.neural.inference.places import check_places
            from covertour.neural.inference.shipped import network_for

            check_places(instance)
            loops()
            network_for(chosen.model, instance.n, decoding.weights if decoding else None)
            method = "lns"
        if chosen.searches:
            from covertour.search.state import kind_of, load_tree

            _load(method, kind_of(instance))
            load_tree(instance)


@cache
def _load(method: str, kind: str) -> None:
    """Run a method once on a tiny instance of a kind."""
    from covertour.problem.generate import random_instance
    from covertour.search.state import TABLE_UP_TO

    samples = {
        "table": random_instance(8, nearest=2),
        "points": random_instance(TABLE_UP_TO + 1, nearest=7),
        "directed": Instance.from_matrix(np.arange(64.0).reshape(8, 8), nearest=2),
    }
    sample = samples["table" if method == "exact" else kind]
    watch = Watch(MaxIterations(2) | MaxSeconds(60))
    METHODS[method].run(Task(sample, watch, 0, _allowed_start(sample, None), 1))
