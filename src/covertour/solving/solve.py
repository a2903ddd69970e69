"""solve(): an instance, a method and a limit in, a result that the referee accepted out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import reduce
from numbers import Integral
from operator import or_
from typing import Any

import numpy as np

from covertour.executors import check_executor
from covertour.problem.errors import InputError, SolveError, did_you_mean, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.problem.referee import verify
from covertour.problem.tour import Tour, before_cost, make_tour
from covertour.search.params import LnsParams
from covertour.solving.clock import Clock, OnImprove, OnProgress, heeding
from covertour.solving.loading import load
from covertour.solving.method import Decoding, Method, Outcome
from covertour.solving.methods import METHODS, allowed, check_handles
from covertour.solving.result import Result
from covertour.solving.stop import (
    PROVEN,
    MaxIterations,
    MaxSeconds,
    StoppingRule,
    check_rule,
    needs_bound,
    relative_gap,
    weight_gap,
)

MOST_WORKERS = 256
"""More threads than this are refused: no machine has as many cores to spare."""


def solve(
    instance: Instance,
    method: str | Method = "lns",
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    stop: StoppingRule | None = None,
    seed: int = 0,
    start: Tour | Sequence[int] | IntArray | None = None,
    workers: int = 1,
    decoding: Decoding | None = None,
    params: LnsParams | None = None,
    executor: Executor | None = None,
    on_improve: OnImprove | None = None,
    on_progress: OnProgress | None = None,
) -> Result:
    """Find a short covering tour, checked by the referee.

    ``method``: a name in :data:`METHODS`, or a :class:`Method` of your own. It stops after so many
    ``seconds`` or ``iterations``, or where the rule ``stop`` says so, whatever comes first; without
    any of them, at the method's own limit. The same instance, method, seed, workers and iteration
    limit give the same tour; only ``exact`` with several workers may find another one that is as
    good, or be stopped elsewhere. ``start``: a tour to improve. ``workers``: threads to work on,
    where the method can. ``executor``: who takes tasks, such as a pool of processes or the machines
    of a :func:`covertour.executors.cluster`; ``lns`` gives it the regions of large instances, and
    finds what it finds alone. ``decoding``: how a learned method goes about it; ``params``: how
    ``lns`` does.
    ``on_improve(seconds, length, places)`` is called at improvements, ``on_progress(Progress)``
    about ten times per second. Ctrl-C ends the search with the best tour so far.

    >>> from covertour import random_instance
    >>> solve(random_instance(30, nearest=7), iterations=500).tour.places
    array([ 2,  8,  7, 29, 23])
    """
    chosen = checked_method(method)
    check_instance(instance, chosen)
    options = checked_options(chosen, seed, workers, decoding, params, executor)
    rule = stopping_rule(instance, chosen, seconds, iterations, stop)
    for name, callback in (("on_improve", on_improve), ("on_progress", on_progress)):
        if callback is not None and not callable(callback):
            raise InputError(f"{name}: expected a function, got {callback!r}")
    places = _checked_start(instance, chosen, start)
    load(chosen, instance, decoding)
    clock = Clock(rule, on_improve, on_progress)
    with heeding(clock.interruption):
        return answer(instance, chosen, clock, seed, places, options)


def answer(
    instance: Instance,
    method: Method,
    clock: Clock,
    seed: int,
    start: IntArray,
    options: Mapping[str, Any],
) -> Result:
    """What a method finds, as a result; a wrong tour ends here.

    A KeyboardInterrupt, wherever it came, leaves the best tour that the clock was told of.
    """
    given = {name: options[name] for name in method.takes}
    try:
        outcome = method.run(instance, clock, seed, start, **given)
    except KeyboardInterrupt:
        if clock.places is None:
            raise
        clock.interruption.happened = True
        outcome = Outcome(clock.places, clock.bound)
    return _checked_result(instance, method, clock, seed, outcome)


def _checked_result(
    instance: Instance, method: Method, clock: Clock, seed: int, outcome: Outcome
) -> Result:
    """The outcome of a method as a result, if the referee accepts it."""
    seconds, over = clock.seconds, clock.over
    try:
        tour = make_tour(instance, outcome.places)
    except InputError as error:
        raise SolveError(f"{method.name} made a wrong tour: {error}") from None
    verdict = verify(instance, tour)
    if not verdict.ok:
        problems = "; ".join(verdict.problems(instance))
        raise SolveError(f"{method.name} made a wrong tour: {problems}")
    cost, bound = instance.cost(tour.places), outcome.bound
    if instance.budget is not None:
        weight = instance.covered_weight(tour.places)
        clock.improved(cost, tour.places, weight=weight)
        gap = weight_gap(weight, bound)
        if gap is not None and gap <= PROVEN:
            gap = relative_gap(cost, outcome.cost_bound)
    else:
        # Of a method that did not say so itself.
        clock.improved(cost, tour.places, first=before_cost(instance, tour.places))
        bound = 0.0 if bound is None and cost <= 0.0 else bound
        gap = relative_gap(cost, bound)
    if gap is not None and gap <= PROVEN:
        stopped = "proven"
    elif clock.interruption.happened:
        stopped = "interrupt"
    else:
        stopped = "limit" if over else "done"
    return Result(
        instance=instance,
        method=method.name,
        tour=tour,
        seconds=seconds,
        seed=seed,
        iterations=clock.iterations,
        bound=bound,
        trace=tuple(clock.trace),
        stopped=stopped,
        cost_bound=outcome.cost_bound,
    )


def checked_method(method: str | Method) -> Method:
    """The method of this name, or the one that was handed over."""
    if isinstance(method, Method):
        return method
    if not isinstance(method, str):
        raise InputError(f"method: expected a name such as 'lns', or a Method, got {method!r}")
    if method not in METHODS:
        raise InputError(f"method: no {method!r}{did_you_mean(method, METHODS)}")
    return METHODS[method]


def check_instance(instance: object, method: Method) -> None:
    """Refuse what is no instance, asks for what the method cannot do, or cannot be covered."""
    if not isinstance(instance, Instance):
        hint = "; covertour.read makes one of a file" if isinstance(instance, str) else ""
        raise InputError(f"instance: expected an Instance, got {shown(instance)}{hint}")
    check_handles(method, instance)
    _ = instance.coverage


def checked_options(
    method: Method,
    seed: int,
    workers: int,
    decoding: Decoding | None,
    params: LnsParams | None,
    executor: Executor | None = None,
) -> dict[str, Any]:
    """What a method may be given besides, by name; refuses what none, or not this one, can take."""
    if not _is_whole(seed) or seed < 0:
        raise InputError(f"seed: expected a whole number >= 0, got {shown(seed)}")
    if not _is_whole(workers) or not 1 <= workers <= MOST_WORKERS:
        raise InputError(f"workers: expected 1 to {MOST_WORKERS} threads, got {shown(workers)}")
    if decoding is not None and not isinstance(decoding, Decoding):
        raise InputError(f"decoding: expected a Decoding, got {shown(decoding)}")
    if decoding is not None and "decoding" not in method.takes:
        raise InputError(
            f"samples, symmetries, weights, raw: {method.name} is not a learned method "
            "and takes none"
        )
    if params is not None and not isinstance(params, LnsParams):
        raise InputError(f"params: expected LnsParams, got {shown(params)}")
    if params is not None and "params" not in method.takes:
        raise InputError(f"params: are those of lns; {method.name} takes none")
    check_executor(executor)
    if executor is not None and "executor" not in method.takes:
        raise InputError(f"executor: {method.name} cannot be shared out; lns can")
    return {
        "workers": workers,
        "decoding": decoding or Decoding(),
        "params": params,
        "executor": executor,
    }


def stopping_rule(
    instance: Instance,
    method: Method,
    seconds: float | None,
    iterations: int | None,
    stop: StoppingRule | None,
) -> StoppingRule:
    """The limits that were given, together, or else the method's own."""
    rules: list[StoppingRule] = []
    if seconds is not None:
        rules.append(MaxSeconds(seconds))
    if iterations is not None:
        rules.append(MaxIterations(iterations))
    if stop is not None:
        check_rule(stop)
        rules.append(stop)
    if not rules:
        return method.limit(instance)
    rule = reduce(or_, rules)
    if needs_bound(rule) and not method.proves:
        raise InputError(f"gap: {method.name} proves nothing, so no gap can stop it; exact does")
    return rule


def _checked_start(
    instance: Instance, method: Method, start: Tour | Sequence[int] | IntArray | None
) -> IntArray:
    """The start tour without repeated and forbidden places."""
    if start is None:
        return np.empty(0, dtype=np.int64)
    if method.model is not None:
        raise InputError(f"start: {method.name} makes its own tour and takes none to start from")
    try:
        places = np.asarray(start.places if isinstance(start, Tour) else start, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        places = np.empty((0, 0), dtype=np.int64)
    if places.ndim != 1 or np.any((places < 0) | (places >= instance.n)):
        raise InputError(f"start: expected places 0 to {instance.n - 1}, got {shown(start)}")
    return allowed(instance, places)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
