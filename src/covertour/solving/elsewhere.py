"""Many instances solved by whoever takes tasks: in batches, so that a task is worth its way."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from covertour.executors import Lost, forget, is_there, result_of, slots_of
from covertour.problem.instance import Instance
from covertour.solving.clock import Clock, Interruption
from covertour.solving.loading import load
from covertour.solving.method import Method
from covertour.solving.result import Result
from covertour.solving.solve import answer, checked_method
from covertour.solving.stop import StoppingRule

TASK_SECONDS = 0.5
"""A task is to take about so long: far more than it takes to send it."""

LOOK_SECONDS = 0.05
"""How long nobody looks whether it was interrupted at most."""


@dataclass(frozen=True)
class Job:
    """What is the same for all instances: the method, by name if it has one, seed and options."""

    method: str | Method
    seed: int
    options: Mapping[str, Any]


def solve_batch(
    instances: Sequence[Instance], rules: Sequence[StoppingRule], job: Job
) -> list[Result]:
    """Solve instances one after the other; results come without them, as the caller has them."""
    method = checked_method(job.method)
    nothing = np.empty(0, dtype=np.int64)
    results = []
    for instance, rule in zip(instances, rules, strict=True):
        load(method, instance, job.options["decoding"])
        found = answer(instance, method, Clock(rule), job.seed, nothing, job.options)
        results.append(replace(found, instance=None))  # type: ignore[arg-type]
    return results


def solve_elsewhere(
    executor: Executor,
    instances: Sequence[Instance],
    rules: Sequence[StoppingRule],
    job: Job,
    interruption: Interruption,
) -> Iterator[tuple[int, Result]]:
    """The results of the instances as they become ready, until it is interrupted or all is lost.

    Batches begin with one instance and grow as results tell how long they take; never so large that
    some workers would have none.
    """
    slots = slots_of(executor)
    pending: dict[Future[list[Result]], range] = {}
    begun, solved, seconds = 0, 0, 0.0
    try:
        while (begun < len(instances) or pending) and not interruption.happened:
            while begun < len(instances) and len(pending) < 2 * slots:
                size = 1
                if solved > 0:
                    fair = ceil((len(instances) - begun) / (2 * slots))
                    size = min(fair, ceil(TASK_SECONDS * solved / max(seconds, 1e-6)))
                batch = range(begun, min(begun + size, len(instances)))
                begun = batch.stop
                some = [instances[index] for index in batch]
                limits = [rules[index] for index in batch]
                pending[executor.submit(solve_batch, some, limits, job)] = batch
            ready, _ = wait(pending, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
            for future in ready:
                batch = pending.pop(future)
                results: list[Result] = result_of(future)
                for index, result in zip(batch, results, strict=True):
                    solved, seconds = solved + 1, seconds + result.seconds
                    yield index, replace(result, instance=instances[index])
            if not ready and not is_there(executor):
                raise Lost("nobody answers")
    except Lost as error:
        warnings.warn(
            f"whoever solved the instances is gone ({error}); these are the results so far",
            RuntimeWarning,
            stacklevel=3,
        )
    finally:
        forget(pending, executor)
