"""solve_many(): many instances, in batches or on threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter

from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.solving.clock import Watch
from covertour.solving.methods import (
    METHODS,
    Decoding,
    Outcome,
    Task,
    check_call,
    checked_result,
    decoded_tours,
    default_stop,
    load,
    solve,
)
from covertour.solving.result import Result
from covertour.solving.stop import Stop

TOGETHER = 64
"""Instances that a learned method decodes at once."""


def solve_many(
    instances: Sequence[Instance],
    method: str = "lns",
    *,
    stop: Stop | None = None,
    seed: int = 0,
    workers: int = 1,
    decoding: Decoding | None = None,
    on_result: Callable[[int, Result], None] | None = None,
) -> list[Result]:
    """Solve many instances, as :func:`solve` would each of them with this seed; in their order.

    Learned methods decode instances of equal size together, at most 64 at once; where two stops
    score alike to the last bits, such a tour may differ from that of ``solve``. The time of a batch
    counts for its instances in equal parts. The searches, also those that begin with a learned
    tour, take ``workers`` instances at a time, one a thread. ``on_result(index, result)`` is called
    as results become ready. Ctrl-C ends it all; what ``on_result`` was told is not lost.

    >>> from covertour import random_instance
    >>> from covertour.solving.stop import MaxIterations
    >>> maps = [random_instance(30, nearest=7, seed=seed) for seed in range(3)]
    >>> [len(result.tour) for result in solve_many(maps, stop=MaxIterations(500))]
    [5, 5, 5]
    """
    check_call(method, seed, workers, decoding)
    for instance in instances:
        _ = instance.coverage
    for instance in {(one.n, one.matrix is None): one for one in instances}.values():
        load(method, instance, decoding)
    results: dict[int, Result] = {}
    pool = ThreadPoolExecutor(workers)
    try:
        found: Iterator[tuple[int, Result]]
        if METHODS[method].model is None:
            call = partial(solve, method=method, stop=stop, seed=seed)
            found = enumerate(pool.map(call, instances))
        else:
            chosen = decoding or Decoding()
            found = _learned(instances, method, stop, seed, workers, chosen, pool)
        for index, result in found:
            results[index] = result
            if on_result is not None:
                on_result(index, result)
    finally:
        pool.shutdown(cancel_futures=True)
    return [results[index] for index in range(len(instances))]


def _learned(
    instances: Sequence[Instance],
    method: str,
    stop: Stop | None,
    seed: int,
    workers: int,
    decoding: Decoding,
    pool: ThreadPoolExecutor,
) -> Iterator[tuple[int, Result]]:
    """The results of a learned method, batch by batch, with the numbers of the instances."""
    model, searches = METHODS[method].model, METHODS[method].searches
    assert model is not None

    def finish(instance: Instance, places: IntArray, share: float) -> Result:
        """Search on, where the method does, as if the share of the batch's time were its own."""
        began = perf_counter() - share
        watch = Watch(stop or default_stop(instance, method), started=began)
        task = Task(instance, watch, seed, places, 1, decoding)
        if searches:
            outcome = METHODS["lns"].run(task)
        else:
            outcome = Outcome(places)
            watch.trace.append((share, instance.length(places)))
        return checked_result(task, method, outcome, perf_counter() - began)

    for batch in _batches(instances):
        began = perf_counter()
        members = [instances[index] for index in batch]
        tours = decoded_tours(members, model, decoding, seed, workers)
        shares = [(perf_counter() - began) / len(batch)] * len(batch)
        each = pool.map if searches else map  # to check a tour takes less than to hand it over
        yield from zip(batch, each(finish, members, tours, shares), strict=True)


def _batches(instances: Sequence[Instance]) -> Iterator[list[int]]:
    """The numbers of instances of equal size, not too many of them at a time."""
    for n in sorted({instance.n for instance in instances}):
        same = [index for index, instance in enumerate(instances) if instance.n == n]
        for first in range(0, len(same), TOGETHER):
            yield same[first : first + TOGETHER]
