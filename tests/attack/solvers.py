"""Every method against brute force, on small instances of every metric, rule, wish and scale."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import definition

from covertour import METHODS, InputError, Instance, Result, solve, verify
from covertour.problem.metric import METRICS
from covertour.solving import loading, methods

MOST_PLACES = 8
SAME = 1e-6
"""Relative; to this proofs are made and lengths compared."""

HEURISTICS = [
    name for name, method in METHODS.items() if not method.proves and method.model is None
]


class Broken(AssertionError):
    """A method was wrong about an instance."""

    def __init__(self, instance: Instance, message: str) -> None:
        super().__init__(message)
        self.instance = instance


def proofs(rng: Random, _: Path) -> Iterator[None]:
    """exact finds the shortest tour and proves it."""
    for instance, best in _problems(rng):
        result = solve(instance, "exact", seed=rng.randrange(99), workers=rng.choice((1, 2, 3)))
        _check(instance, result, best)
        if not result.optimal or result.length > best * (1 + 2 * SAME):
            raise Broken(
                instance, f"proven {result.optimal}, {result.length} but {best} is possible"
            )
        yield


def heuristics(rng: Random, _: Path) -> Iterator[None]:
    """No heuristic is shorter than the shortest, and each makes a covering tour."""
    for instance, best in _problems(rng):
        method = rng.choice(HEURISTICS)
        result = solve(
            instance,
            method,
            iterations=rng.choice((0, 1, 7, 100)),
            seed=rng.randrange(99),
            workers=rng.choice((1, 2)),
        )
        _check(instance, result, best)
        yield


def bounds(rng: Random, _: Path) -> Iterator[None]:
    """A proof that had to stop anywhere claims no bound above the shortest tour."""
    for instance, best in _problems(rng):
        seconds = rng.choice((0, 1e-4, 1e-3, 3e-3, 1e-2))
        result = solve(instance, "exact", seconds=seconds, workers=rng.choice((1, 2, 3)))
        _check(instance, result, best)
        yield


def _check(instance: Instance, result: Result, best: float) -> None:
    if not verify(instance, result.tour).ok:
        raise Broken(instance, f"{result.method}: not a covering tour")
    if result.length < best * (1 - SAME):
        raise Broken(instance, f"{result.method}: {result.length} is shorter than {best}")
    if result.bound is not None and result.bound > best * (1 + SAME):
        raise Broken(instance, f"{result.method}: bound {result.bound} above {best}")


def _problems(rng: Random) -> Iterator[tuple[Instance, float]]:
    """Random instances that can be covered, with the length of their shortest tours."""
    while True:
        try:
            instance = random_problem(rng)
            _ = instance.coverage
        except InputError:  # nobody covers some place, or two are too near each other
            continue
        # Few places are answered by enumeration; mostly what answers many is looked at here.
        few = rng.random() < 0.1
        with (
            patch.object(methods, "can_enumerate", lambda _, few=few: few),
            patch.object(loading, "can_enumerate", lambda _, few=few: few),
        ):
            yield instance, shortest(instance)


def random_problem(rng: Random) -> Instance:
    """An instance of any kind; some of them nobody can cover."""
    n = rng.randint(1, MOST_PLACES)
    metric = rng.choice(METRICS)
    fields: dict[str, Any] = {}
    if metric == "matrix":
        size = rng.choice((1.0, 1e-120, 1e90))
        draw = rng.choice((lambda: float(rng.randint(0, 4)), lambda: rng.random() * 100))
        square = [[draw() * size for _ in range(n)] for _ in range(n)]
        if rng.random() < 0.7:
            square = [[square[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]
        fields["matrix"] = square
        make = Instance.from_matrix
    else:
        fields["metric"] = metric
        fields["coordinates"] = _places(rng, metric, n)
        make = Instance.from_coordinates
    everyone = list(range(n))
    fields["forbidden"] = rng.sample(everyone, rng.choice((0, 0, 0, min(1, n - 1), min(2, n - 1))))
    allowed = [place for place in everyone if place not in fields["forbidden"]]
    fields["required"] = rng.sample(allowed, rng.choice((0, 0, min(1, len(allowed)))))
    fields["depot"] = rng.choice((None, rng.choice(allowed)))
    rule = rng.choice(("nearest", "nearest each", "radius", "radius each", "sets"))
    if rule == "sets":
        return make(**fields, sets=[rng.sample(everyone, rng.randint(0, n)) for _ in everyone])
    if rule.startswith("nearest"):
        counts = [rng.randint(0, n) for _ in everyone]
        return make(**fields, nearest=counts if rule.endswith("each") else counts[0])
    plain = make(**fields, nearest=0)
    rims = [
        definition.distance(plain, rng.choice(everyone), rng.choice(everyone)) for _ in everyone
    ]
    radii = [rim * rng.choice((1.0, 1.0, 0.9, 2.0)) for rim in rims]
    return make(**fields, radius=radii if rule.endswith("each") else radii[0])


def _places(rng: Random, metric: str, n: int) -> list[list[float]]:
    if metric == "geo":
        return [[rng.randint(-89, 89) + 0.3, rng.randint(-179, 179) + 0.3] for _ in range(n)]
    if metric == "haversine":
        kinds = (
            lambda: [rng.randint(-4, 4) * 45.0, rng.randint(-2, 2) * 45.0],
            lambda: [rng.uniform(-180, 180), rng.uniform(-90, 90)],
            lambda: [7 + rng.randint(0, 9) * 1e-6, 48 + rng.randint(0, 9) * 1e-6],
            lambda: [-173 + rng.randint(0, 9) * 1e-6, -48 + rng.randint(0, 9) * 1e-6],
        )
        return [rng.choice(kinds)() for _ in range(n)]
    size = (
        rng.choice((1.0, 1.0, 1000.0)) if metric != "euclidean" else rng.choice((1.0, 1e-120, 1e90))
    )
    draw = rng.choice((lambda: float(rng.randint(0, 4)), rng.random))
    return [[draw() * size, draw() * size] for _ in range(n)]


def shortest(instance: Instance) -> float:
    """The length of the shortest covering tour, over all sets of stops and all their orders."""
    n = instance.n
    far = [[definition.distance(instance, i, j) for j in range(n)] for i in range(n)]
    covers = [definition.covers(instance, i) for i in range(n)]
    must = set(instance.required) | ({instance.depot} - {None})
    allowed = [place for place in range(n) if place not in instance.forbidden]
    best = float("inf")
    for size in range(1, len(allowed) + 1):
        for stops in combinations(allowed, size):
            if must <= set(stops) and len(set().union(*(covers[stop] for stop in stops))) == n:
                best = min(best, _round_trip(far, stops))
    return best


def _round_trip(far: list[list[float]], stops: tuple[int, ...]) -> float:
    """The shortest closed tour through all stops (Held and Karp 1962)."""
    first, others = stops[0], stops[1:]
    if not others:
        return 0.0
    reached = {(1 << at, at): far[first][stop] for at, stop in enumerate(others)}
    for size in range(2, len(others) + 1):
        for chosen in combinations(range(len(others)), size):
            mask = sum(1 << at for at in chosen)
            for last in chosen:
                rest = mask & ~(1 << last)
                reached[mask, last] = min(
                    reached[rest, at] + far[others[at]][others[last]] for at in chosen if at != last
                )
    whole = (1 << len(others)) - 1
    return min(reached[whole, at] + far[stop][first] for at, stop in enumerate(others))
