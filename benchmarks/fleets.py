"""Fleets of many routes: `python benchmarks/fleets.py [places] [iterations] [limit]`.

Random places, nearest 7, the depot in the middle, and a limit on stops or on the length of a route,
such as ``stops=34`` or ``length=1.6``. Time is that of the processor, so that a busy machine does
not matter: until the first plan, and for all iterations.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np

from covertour import Instance, solve
from covertour.solving.stop import MaxIterations


def fleet_of(places: int, limit: str) -> Instance:
    """An instance whose routes have at most so many stops, or are at most so long."""
    points = np.random.default_rng(0).random((places, 2))
    points[0] = 0.5
    kind, _, value = limit.partition("=")
    fleet = {"max_stops": int(value)} if kind == "stops" else {"max_length": float(value)}
    return Instance.from_coordinates(points, nearest=7, depot=0, fleet=fleet)


def main(places: int = 10_000, iterations: int = 500_000, limit: str = "stops=34") -> None:
    """Solve one such instance and print how the cost fell."""
    instance = fleet_of(places, limit)
    solve(fleet_of(2_000, "stops=34"), stop=MaxIterations(1))  # loads or compiles the kernels
    _ = instance.coverage
    began = process_time()
    trace: list[tuple[float, float]] = []

    def improved(_: float, cost: float, __: object) -> None:
        trace.append((process_time() - began, cost))

    found = solve(instance, stop=MaxIterations(iterations), on_improve=improved)
    used = process_time() - began
    print(f"{places:,} places, {limit}: {len(found.routes)} routes, {len(found.tour):,} stops")
    print(f"first plan after {trace[0][0]:.2f} s of the processor: {trace[0][1]:.3f}")
    print(f"after {iterations:,} iterations and {used:.1f} s: {found.cost:.3f}")


if __name__ == "__main__":
    kinds = (int, int, str)
    main(*(kind(argument) for kind, argument in zip(kinds, sys.argv[1:], strict=False)))
