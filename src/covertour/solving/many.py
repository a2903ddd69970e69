"""solve_many(): many instances, in batches or on threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import takewhile
from time import perf_counter

import numpy as np

from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.params import LnsParams
from covertour.solving.clock import Clock, Interruption, heeding
from covertour.solving.loading import load
from covertour.solving.methods import METHODS, Decoding, Method, Outcome, decoded_tours
from covertour.solving.result import Result
from covertour.solving.solve import (
    answer,
    check_instance,
    checked_method,
    checked_options,
    checked_result,
    stopping_rule,
)
from covertour.solving.stop import StoppingRule

TOGETHER = 64
"""Instances that a learned method decodes at once."""


def solve_many(
    instances: Sequence[Instance],
    method: str | Method = "lns",
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    stop: StoppingRule | None = None,
    seed: int = 0,
    workers: int = 1,
    decoding: Decoding | None = None,
    params: LnsParams | None = None,
    on_result: Callable[[int, Result], None] | None = None,
) -> list[Result]:
    """Solve many instances, as :func:`solve` would each of them with this seed; in their order.

    The limits hold for each instance. Learned methods decode instances of equal size together, at
    most 64 at once. The time of a batch counts for its instances in equal parts. The searches, also
    those that begin with a learned tour, take ``workers`` instances at a time, one per thread.
    ``on_result(index, result)`` is called as results become ready.

    Ctrl-C ends it: the instances that are being solved give their best tours so far, and the list
    ends before the first instance that has none. ``on_result`` was told of all there are.

    >>> from covertour import random_instance
    >>> maps = [random_instance(30, nearest=7, seed=seed) for seed in range(3)]
    >>> [len(result.tour) for result in solve_many(maps, iterations=500)]
    [5, 5, 5]
    """
    chosen = checked_method(method)
    options = checked_options(chosen, seed, workers, decoding, params)
    for instance in instances:
        check_instance(instance)
    rules = [stopping_rule(one, chosen, seconds, iterations, stop) for one in instances]
    for instance in {(one.n, one.matrix is None): one for one in instances}.values():
        load(chosen, instance, decoding)
    interruption = Interruption()

    def search(index: int, run: Method, start: IntArray, share: float = 0.0) -> Result:
        """Search on a thread, as if the share of a batch's time were its own."""
        began = perf_counter() - share
        clock = Clock(rules[index], started=began, interruption=interruption)
        return answer(instances[index], run, clock, seed, start, {**options, "workers": 1})

    def searched() -> Iterator[tuple[int, Result]]:
        nothing = np.empty(0, dtype=np.int64)
        jobs = {index: partial(search, index, chosen, nothing) for index in range(len(instances))}
        return _run(jobs, pool, interruption)

    def learned(model: str) -> Iterator[tuple[int, Result]]:
        then_search = replace(METHODS["lns"], name=chosen.name)
        for batch in _batches(instances):
            began = perf_counter()
            members = [instances[index] for index in batch]
            tours = decoded_tours(members, model, options["decoding"], seed, workers)
            share = (perf_counter() - began) / len(batch)
            if chosen.searches:
                jobs = {
                    index: partial(search, index, then_search, tour, share)
                    for index, tour in zip(batch, tours, strict=True)
                }
                yield from _run(jobs, pool, interruption)
            else:  # to check a tour takes less than to hand it to a thread
                for index, tour in zip(batch, tours, strict=True):
                    clock = Clock(rules[index], started=perf_counter() - share)
                    yield (
                        index,
                        checked_result(instances[index], chosen, clock, seed, Outcome(tour)),
                    )
            if interruption.happened:
                return

    results: dict[int, Result] = {}
    pool = ThreadPoolExecutor(workers)
    try:
        with heeding(interruption):
            for index, result in searched() if chosen.model is None else learned(chosen.model):
                results[index] = result
                if on_result is not None:
                    try:
                        on_result(index, result)
                    except KeyboardInterrupt:
                        interruption.happened = True
    finally:
        interruption.happened = True  # whatever went wrong, nobody waits for the others
        pool.shutdown(cancel_futures=True)
    return [results[index] for index in takewhile(results.__contains__, range(len(instances)))]


def _run(
    jobs: Mapping[int, Callable[[], Result]], pool: ThreadPoolExecutor, interruption: Interruption
) -> Iterator[tuple[int, Result]]:
    """The results of the jobs, in order, with their numbers; of those begun, once interrupted."""
    futures = {index: pool.submit(job) for index, job in jobs.items()}
    for index, future in futures.items():
        if interruption.happened:
            for waiting in futures.values():
                waiting.cancel()
        if not future.cancelled():
            yield index, future.result()


def _batches(instances: Sequence[Instance]) -> Iterator[list[int]]:
    """The numbers of instances of equal size, not too many of them at a time."""
    for n in sorted({instance.n for instance in instances}):
        same = [index for index, instance in enumerate(instances) if instance.n == n]
        for first in range(0, len(same), TOGETHER):
            yield same[first : first + TOGETHER]
