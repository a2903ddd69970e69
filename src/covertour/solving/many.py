"""solve_many(): many instances, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import takewhile

import numpy as np

from covertour.executors import check_executor
from covertour.problem.instance import Instance
from covertour.search.params import LnsParams
from covertour.solving.clock import Clock, Interruption, heeding
from covertour.solving.elsewhere import Job, solve_elsewhere
from covertour.solving.loading import load
from covertour.solving.method import Decoding, Method
from covertour.solving.result import Result
from covertour.solving.solve import (
    answer,
    check_instance,
    checked_method,
    checked_options,
    stopping_rule,
)
from covertour.solving.stop import StoppingRule


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
    executor: Executor | None = None,
    on_result: Callable[[int, Result], None] | None = None,
) -> list[Result]:
    """Solve many instances, as :func:`solve` would each of them with this seed; in their order.

    The limits hold for each instance. ``workers`` instances are solved at a time, one per thread.
    With an ``executor``, such as a pool of processes or the machines of a
    :func:`covertour.executors.cluster`, they are solved by whoever takes its tasks, with the same
    results. ``on_result(index, result)`` is called as results become ready.

    Ctrl-C ends it: the instances that are being solved give their best tours so far, and the list
    ends before the first instance that has none. ``on_result`` was told of all there are. What an
    executor has not finished by then is left out, and so it is where the executor is lost.

    >>> from covertour import random_instance
    >>> maps = [random_instance(30, nearest=7, seed=seed) for seed in range(3)]
    >>> [len(result.tour) for result in solve_many(maps, iterations=500)]
    [5, 5, 5]
    """
    chosen = checked_method(method)
    options = checked_options(chosen, seed, workers, decoding, params) | {"workers": 1}
    for instance in instances:
        check_instance(instance, chosen)
    check_executor(executor)
    rules = [stopping_rule(one, chosen, seconds, iterations, stop) for one in instances]
    kinds = {(one.n, one.matrix is None, bool(one.features)): one for one in instances}
    for instance in kinds.values() if executor is None else ():
        load(chosen, instance, decoding)
    interruption = Interruption()
    nothing = np.empty(0, dtype=np.int64)

    def solve_one(index: int) -> Result:
        clock = Clock(rules[index], interruption=interruption)
        return answer(instances[index], chosen, clock, seed, nothing, options)

    results: dict[int, Result] = {}
    numbers = range(len(instances))
    with heeding(interruption):
        found: Iterator[tuple[int, Result]]
        if executor is not None:
            job = Job(method, seed, options)
            found = solve_elsewhere(executor, instances, rules, job, interruption)
        elif workers > 1:
            found = _on_threads(solve_one, numbers, workers, interruption)
        else:
            begun = takewhile(lambda _: not interruption.happened, numbers)
            found = ((index, solve_one(index)) for index in begun)
        for index, result in found:
            results[index] = result
            if on_result is not None:
                try:
                    on_result(index, result)
                except KeyboardInterrupt:
                    interruption.happened = True
    return [results[index] for index in takewhile(results.__contains__, numbers)]


def _on_threads(
    solve_one: Callable[[int], Result], numbers: range, workers: int, interruption: Interruption
) -> Iterator[tuple[int, Result]]:
    """The results of the instances, in order; of those that were begun, once interrupted."""
    pool = ThreadPoolExecutor(workers)
    try:
        futures = [pool.submit(solve_one, index) for index in numbers]
        for index, future in enumerate(futures):
            if interruption.happened:
                for waiting in futures:
                    waiting.cancel()
            if not future.cancelled():
                yield index, future.result()
    finally:
        interruption.happened = True  # whatever went wrong, nobody waits for the others
        pool.shutdown(cancel_futures=True)
