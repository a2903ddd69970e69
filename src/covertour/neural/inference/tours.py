"""best_tours: the tours that a network decodes of instances, greedily and by sampling, polished.

What is decoded for an instance depends on the network, the instance and the seed alone, not on the
instances beside it, nor on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import cache
from threading import Event, Lock

import numpy as np

from covertour.neural.inference.polish import Tables, polish
from covertour.neural.inference.problem import Problem, problem_of, turned
from covertour.neural.inference.weights import Network
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

PAIRS_AT_ONCE = 300_000
"""Samples are decoded in chunks of so many pairs of places: 30 tours of 100 places, some hundredths
of a second, after which it is asked whether to go on."""

ROUNDING = 1e-12
"""The same tour from another start has a length that differs by this share at the most."""

GoOn = Callable[[], bool]
OnTour = Callable[[int, IntArray], None]
"""Told the number of an instance and a tour of it that is shorter than those before."""


def best_tours(
    network: Network,
    instances: Sequence[Instance],
    *,
    samples: int = 0,
    symmetries: bool = False,
    raw: bool = False,
    seed: int = 0,
    workers: int = 1,
    go_on: GoOn | None = None,
    on_tour: OnTour | None = None,
) -> list[IntArray]:
    """The shortest tour found of each instance, int64[m]: greedy, and of ``samples`` drawn ones.

    ``symmetries``: from all eight ways to turn and mirror the places, each with its own samples.
    ``raw``: they are not polished. ``workers``: threads that share the instances or, of a single
    one, its symmetries. ``go_on``: asked between chunks of samples whether to decode more; each
    instance has at least its greedy tour. ``on_tour``: told each shorter tour as soon as it is
    found, so that whoever is interrupted has the best so far. Both are called one at a time, but
    by any of the threads.
    """
    lock, ended = Lock(), Event()
    told: dict[int, float] = {}

    @contextmanager
    def in_turn() -> Iterator[None]:
        """A callable is called; if it is done with us, no thread calls one again."""
        with lock:
            try:
                yield
            except BaseException:
                ended.set()
                raise

    def may_go_on() -> bool:
        with in_turn():
            return not ended.is_set() and (go_on is None or go_on())

    def tell(index: int, length: float, tour: IntArray) -> None:
        with in_turn():
            if on_tour is not None and length < told.get(index, math.inf) * (1 - ROUNDING):
                told[index] = length
                on_tour(index, tour)

    def decoded(index: int, problem: Problem, way: int) -> tuple[float, IntArray]:
        best = math.inf, np.empty(0, dtype=np.int64)
        if way > 0 and not may_go_on():
            return best
        one, seeds = instances[index], [seed, way]
        try:
            for best in _shorter_and_shorter(
                network, one, turned(problem, way), samples, raw, seeds, may_go_on
            ):
                tell(index, *best)
        except BaseException:  # whatever ends one thread ends the others
            ended.set()
            raise
        return best

    with ThreadPoolExecutor(workers) if workers > 1 else nullcontext() as pool:
        # Threads share the instances or, where there is but one, its symmetries.
        shared = map if pool is None else pool.map
        each, each_way = (shared, map) if len(instances) > 1 else (map, shared)

        def solve(index: int) -> IntArray:
            problem = problem_of(instances[index], network.config)
            ways = range(8 if symmetries else 1)
            found = each_way(lambda way: decoded(index, problem, way), ways)
            return min(found, key=lambda best: best[0])[1]

        try:
            return list(each(solve, range(len(instances))))
        except BaseException:  # such as Ctrl-C while this thread waits for the others
            ended.set()
            raise


def _shorter_and_shorter(
    network: Network,
    instance: Instance,
    problem: Problem,
    samples: int,
    raw: bool,
    seed: Sequence[int],
    may_go_on: GoOn,
) -> Iterator[tuple[float, IntArray]]:
    """Lengths and tours, int64[m]: the greedy one, then each drawn one that is the shortest yet."""
    decoder, weights, config = network.decoder, network.weights, network.config
    n = instance.n
    code = decoder.encode(weights, problem)
    tables = None
    if config.polish == "yes" and not raw:
        rules = problem.rules
        tables = Tables(_distances(instance, problem), rules.covers, rules.allowed, rules.required)
    rng = np.random.default_rng(seed)
    chunk = max(1, PAIRS_AT_ONCE // n**2)
    least, drawn = math.inf, 0
    noise = np.empty((0, n), dtype=np.float32)  # first the greedy tour
    while True:
        tours = np.empty((max(1, len(noise)), n), dtype=np.int64)
        most = decoder.decode(weights, code, problem, config.mask == "useful", noise, tours)
        tours = tours[:, :most]
        if tables is not None:
            tours = polish(tours, np.zeros(len(tours), dtype=np.int64), tables)
        lengths = instance.distances(tours, np.roll(tours, -1, axis=1)).sum(axis=1)
        best = int(lengths.argmin())
        if len(noise) == 0 or lengths[best] < least:
            least = float(lengths[best])
            yield least, _without_repeats(tours[best])
        if drawn == samples or not may_go_on():
            return
        noise = rng.random((min(chunk, samples - drawn), n), dtype=np.float32)
        drawn += len(noise)


def _without_repeats(tour: IntArray) -> IntArray:
    """The tour without stops that repeat the one before."""
    return tour[np.append(True, tour[1:] != tour[:-1])]


def _distances(instance: Instance, problem: Problem) -> FloatArray:
    """The instance's own distances, float64[1, n, n]; of the plane, in units of the square."""
    if instance.metric == "euclidean":
        return problem.distances[None].astype(np.float64)
    place = np.arange(instance.n)
    return np.ascontiguousarray(instance.distances(place[:, None], place[None, :])[None])


@cache
def load_kernels(network: Network) -> None:
    """Compile what decodes a network, or load it from the cache, by decoding a few places."""
    best_tours(network, [Instance.from_coordinates([[0, 0], [0, 1], [1, 1]], nearest=0)])
