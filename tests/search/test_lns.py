"""The large-neighbourhood search finds shortest tours: by brute force, and of the literature."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import definition
import numpy as np
import pytest

from covertour import Instance, read, solve
from covertour.exact import enumeration
from covertour.solving.stop import MaxIterations, TargetLength

LIBRARY = Path(__file__).parents[3] / "shared" / "data" / "tsplib"


@pytest.fixture(autouse=True, scope="module")
def _search_however_few_stops() -> Iterator[None]:
    """Nothing is enumerated: these tests are about the searches."""
    with patch.object(enumeration, "MOST_STOPS", 0):
        yield


def shortest(instance: Instance) -> float:
    """The length of a shortest covering tour, by dynamic programming over all sets of stops."""
    n = instance.n
    table = [[definition.distance(instance, i, j) for j in range(n)] for i in range(n)]
    covers = [definition.covers(instance, i) for i in range(n)]
    allowed = [i for i in range(n) if i not in instance.forbidden]
    best = float("inf")
    for first in allowed:
        if instance.depot is not None and first != instance.depot:
            continue
        paths = {(frozenset([first]), first): 0.0}
        while paths:
            longer: dict[tuple[frozenset[int], int], float] = {}
            for (stops, last), length in paths.items():
                reached = set().union(*(covers[i] for i in stops))
                if len(reached) == n and set(instance.must_visit.tolist()) <= stops:
                    best = min(best, length + table[last][first])
                for stop in allowed:
                    if stop not in stops:
                        key = stops | {stop}, stop
                        further = length + table[last][stop]
                        longer[key] = min(further, longer.get(key, further))
            paths = longer
    return best


def small(kind: str, seed: int) -> Instance:
    """Up to seven places and some of every rule."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 8))
    points = rng.integers(0, 60, (n, 2)).astype(float)
    rules = {
        "depot": int(rng.integers(n)) if rng.random() < 0.5 else None,
        "required": rng.integers(n, size=int(rng.random() < 0.4)).tolist(),
    }
    if kind == "directed":
        return Instance.from_matrix(
            np.hypot(*(points[:, None] - points[None]).T) + rng.uniform(0, 9, (n, n)),
            radius=rng.uniform(0, 40, n),
            **rules,
        )
    if kind == "nearest":
        return Instance.from_coordinates(points, nearest=int(rng.integers(0, 3)), **rules)
    if kind == "radius":
        return Instance.from_coordinates(points, radius=rng.uniform(0, 40, n), **rules)
    sets = [rng.integers(n, size=2).tolist() for _ in range(n)]
    return Instance.from_coordinates(points, metric="euc_2d", sets=sets, **rules)


@pytest.mark.parametrize("kind", ["nearest", "radius", "sets", "directed"])
@pytest.mark.parametrize("seed", range(6))
def test_a_small_instance_is_solved_to_the_optimum(kind: str, seed: int) -> None:
    instance = small(kind, seed)
    found = solve(instance, stop=MaxIterations(2000), seed=seed)
    assert found.length == pytest.approx(shortest(instance), rel=1e-9)


@pytest.mark.skipif(
    not LIBRARY.is_dir(), reason="the TSPLIB files are not beside the project (../shared/data)"
)
@pytest.mark.parametrize(
    ("name", "best_known"), [("eil51", 164), ("berlin52", 3887), ("st70", 288)]
)
def test_a_case_of_the_literature_is_solved_to_the_best_known(name: str, best_known: int) -> None:
    instance = read(LIBRARY / f"{name}.tsp", nearest=7)
    found = solve(instance, stop=MaxIterations(20_000) | TargetLength(best_known), seed=1)
    assert found.length == best_known


@pytest.mark.parametrize("workers", [1, 2])
def test_a_larger_start_tour_is_improved_in_place(workers: int) -> None:
    rng = np.random.default_rng(8)
    instance = Instance.from_coordinates(rng.random((400, 2)), nearest=7)
    first = solve(instance, "greedy", seed=3)
    better = solve(instance, stop=MaxIterations(2000), start=first.tour, workers=workers)
    assert better.length < first.length
    assert better.trace[0][1] <= first.length * (1 + 1e-9)


HUB = """
import sys
import numpy as np
from covertour import Instance, solve
from covertour.solving.stop import MaxIterations

n, iterations = int(sys.argv[1]), int(sys.argv[2])
angle = np.linspace(0, 2 * np.pi, n - 1, endpoint=False)
ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
hub = (ring[:1] + ring[1:2]) / 2
sets = [range(n)] + [[0]] * (n - 1)
instance = Instance.from_coordinates(np.concatenate([hub, ring]), sets=[list(s) for s in sets])
found = solve(instance, start=range(1, n), stop=MaxIterations(iterations))
print(len(found.tour), found.iterations < iterations)
"""
"""A ring of places that each need themselves, and a hub on it that covers all of them."""


@pytest.mark.parametrize("n", [300, 20_000])
def test_a_start_of_which_one_new_stop_makes_all_others_redundant(n: int) -> None:
    # In a process of its own: 20,000 changes in one iteration are more than the log can hold.
    arguments = [sys.executable, "-c", HUB, str(n), "2000"]
    ran = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "1 True\n"), ran.stderr[-500:]
