"""Processor seconds and peak memory of coverage and of the referee, up to a million places.

Run ``python benchmarks/coverage_table.py`` for all cases or name some of them; each case runs in a
process of its own, on one core, so that its peak memory is its own. ``--points FILE`` adds cases
for places on the globe: a .npy file with float64[n, 2] longitudes and latitudes.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from covertour import InputError, Instance, verify
from covertour.problem.generate import random_instance

MILLION = 1_000_000


def uniform(n: int) -> np.ndarray:
    return np.random.default_rng(1).random((n, 2))


def clustered(n: int) -> np.ndarray:
    coordinates = random_instance(n, nearest=1, layout="clustered", seed=1).coordinates
    assert coordinates is not None
    return coordinates


def globe(n: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    latitude = np.degrees(np.arcsin(rng.uniform(-1, 1, n)))
    return np.column_stack([rng.uniform(-180, 180, n), latitude])


def line(n: int) -> np.ndarray:
    return np.column_stack([np.arange(n, dtype=float), np.zeros(n)])


def skewed(n: int, largest: float) -> np.ndarray:
    """Radii between 0 and ``largest``: small ones, but for a hundred places anywhere in between."""
    rng = np.random.default_rng(2)
    radii = 0.002 * rng.random(n)
    radii[rng.integers(n, size=100)] = largest * rng.random(100)
    return radii


def case(points: np.ndarray, **rule: object) -> Instance:
    return Instance.from_coordinates(points, **rule)  # type: ignore[arg-type]


CASES: dict[str, Callable[[], Instance]] = {
    "uniform, nearest 7": lambda: case(uniform(MILLION), nearest=7),
    "uniform, nearest 0 to 14": lambda: case(uniform(MILLION), nearest=np.arange(MILLION) % 15),
    "uniform, radius 0.002": lambda: case(uniform(MILLION), radius=0.002),
    "uniform, radius 0 to the whole map": lambda: case(uniform(MILLION), radius=skewed(MILLION, 1)),
    "clustered, nearest 7": lambda: case(clustered(MILLION), nearest=7),
    "clustered, radius 0.0005": lambda: case(clustered(MILLION), radius=0.0005),
    "line, nearest 7 (ties)": lambda: case(line(MILLION), nearest=7),
    "line, radius 5": lambda: case(line(MILLION), radius=5),
    "grid, nearest 7 (ties)": lambda: case(np.indices((1000, 1000)).reshape(2, -1).T, nearest=7),
    "grid, euc_2d, radius 2": lambda: case(
        np.indices((1000, 1000)).reshape(2, -1).T, metric="euc_2d", radius=2
    ),
    "globe, haversine, nearest 7": lambda: case(globe(MILLION), metric="haversine", nearest=7),
    "globe, haversine, radius 30 km": lambda: case(globe(MILLION), metric="haversine", radius=30),
    "5,000 in one spot, nearest 7": lambda: case(np.zeros((5000, 2)), nearest=7),
    "20,000 in one spot, nearest 7": lambda: case(np.zeros((20000, 2)), nearest=7),
    "a million in one spot, nearest 7": lambda: case(np.zeros((MILLION, 2)), nearest=7),
    "a million in one spot, radii 1": lambda: case(np.zeros((MILLION, 2)), radius=np.ones(MILLION)),
    "uniform, radii beyond the map": lambda: case(uniform(MILLION), radius=np.full(MILLION, 2.0)),
    "uniform, nearest 100,000": lambda: case(uniform(MILLION), nearest=100_000),
}


def real_cases(file: str) -> dict[str, Callable[[], Instance]]:
    points = np.load(file)
    radii = np.random.default_rng(3).uniform(0, 50, len(points))
    return {
        "given, haversine, radius 50 km": lambda: case(points, metric="haversine", radius=50),
        "given, haversine, radius 0 to 50 km": lambda: case(
            points, metric="haversine", radius=radii
        ),
        "given, haversine, nearest 7": lambda: case(points, metric="haversine", nearest=7),
    }


def greedy_stops(instance: Instance) -> np.ndarray:
    """Stops that cover all places: each place in turn that nothing before it covers."""
    coverage = instance.coverage
    covered = np.zeros(instance.n, dtype=bool)
    stops = []
    for place in range(instance.n):
        if not covered[place]:
            stops.append(place)
            covered[coverage.covers_of(place)] = True
    return np.array(stops)


def run(name: str, make: Callable[[], Instance]) -> None:
    instance = make()
    begin = time.process_time()
    try:
        pairs = len(instance.coverage.covers)
    except InputError as refused:
        print(f"{name:36} {time.process_time() - begin:6.2f} s  refused: {refused}")
        return
    built = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    stops = greedy_stops(instance)
    begin = time.process_time()
    verdict = verify(instance, stops)
    checked = time.process_time() - begin
    peak_checked = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    assert verdict.ok, verdict.problems(instance)
    print(
        f"{name:36} {built:6.2f} s {peak:5.2f} GB {pairs:12,} pairs;"
        f" verify {len(stops):7,} stops {checked:6.2f} s, peak {peak_checked:5.2f} GB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="parts of the names of the cases to run")
    parser.add_argument("--points", help="a .npy file of longitudes and latitudes")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = CASES | (real_cases(options.points) if options.points else {})
    if options.only:
        run(options.only, cases[options.only])
        return
    for name in cases:
        if not options.cases or any(part in name for part in options.cases):
            points = ["--points", options.points] if options.points else []
            subprocess.run([sys.executable, __file__, "--only", name, *points], check=True)


if __name__ == "__main__":
    main()
