"""Microseconds per iteration of lns: `python benchmarks/iterations.py [n ...]`.

The best of several runs of each instance, which a busy machine disturbs least. To compare two
versions run each by turns, on one core: ``taskset -c 0``.
"""

from __future__ import annotations

import sys
import time

from covertour import random_instance, solve
from covertour.solving.stop import MaxIterations

INSTANCES, RUNS, ITERATIONS_PER_PLACE = 6, 12, 20


def microseconds(n: int) -> float:
    """The mean over the instances of the best time of an iteration."""
    iterations = ITERATIONS_PER_PLACE * n
    total = 0.0
    for seed in range(INSTANCES):
        instance = random_instance(n, nearest=7, seed=seed)
        solve(instance, stop=MaxIterations(1))  # builds coverage and loads the kernels
        best = float("inf")
        for _ in range(RUNS):
            begin = time.perf_counter()
            solve(instance, stop=MaxIterations(iterations))
            best = min(best, time.perf_counter() - begin)
        total += best / iterations
    return 1e6 * total / INSTANCES


if __name__ == "__main__":
    for n in [int(argument) for argument in sys.argv[1:]] or [100, 300, 1_000]:
        print(f"{n:6,} places  {microseconds(n):6.2f} µs per iteration", flush=True)
