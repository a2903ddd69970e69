"""Routes of a fleet keep to their limits and are as cheap as brute force finds them."""

from __future__ import annotations

import brute_force
import numpy as np
import pytest

from covertour import InputError, Instance, SolveError, random_instance, solve
from covertour.solving.stop import MaxIterations


def small(seed: int) -> Instance | None:
    """Up to six places and a fleet; None where that is impossible."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    limits = {
        "vehicles": int(rng.integers(1, 4)) if rng.random() < 0.5 else None,
        "max_length": float(rng.choice([60, 80, 120])) if rng.random() < 0.6 else None,
        "max_stops": int(rng.integers(1, 4)) if rng.random() < 0.5 else None,
        "objective": str(rng.choice(["cost", "fewest", "balance"])),
    }
    try:
        instance = Instance.from_coordinates(
            rng.integers(0, 30, (n, 2)),
            nearest=int(rng.integers(0, 2)),
            depot=0,
            fleet=limits,
            open=bool(rng.random() < 0.3),
            quota=0.7 if rng.random() < 0.3 else None,
            visit_cost=rng.integers(0, 5, n) if rng.random() < 0.4 else None,
        )
        _ = instance.coverage
    except InputError:
        return None
    return instance


def test_small_fleets_are_as_cheap_as_brute_force() -> None:
    tried = worse = 0
    for seed in range(50):
        instance = small(seed)
        best = None if instance is None else brute_force.best(instance)
        if instance is None or best is None:
            continue
        tried += 1
        found = solve(instance, stop=MaxIterations(500), seed=seed)
        value = brute_force.value(instance, found.tour.places.tolist())
        assert value is not None
        worse += value != pytest.approx(best, rel=1e-9)
    assert tried > 15
    assert worse <= 1


def test_routes_keep_to_their_limits_and_the_same_seed_gives_the_same() -> None:
    instance = random_instance(60, nearest=3, seed=1)
    instance = instance.with_changes(depot=0, fleet={"max_length": 2.0, "max_stops": 6})
    found = solve(instance, stop=MaxIterations(1500))
    assert len(found.routes) > 1
    assert max(instance.cost(route) for route in found.routes) <= 2.0
    assert max(len(route) for route in found.routes) <= 7
    assert found.uncovered == ()
    again = solve(instance, stop=MaxIterations(1500))
    assert again.tour.places.tolist() == found.tour.places.tolist()


def test_limits_that_no_routes_keep_are_an_error() -> None:
    ring = [[np.cos(a), np.sin(a)] for a in range(8)]
    instance = Instance.from_coordinates(
        [[0, 0], *ring], nearest=0, depot=0, fleet={"vehicles": 1, "max_stops": 3}
    )
    with pytest.raises((SolveError, InputError)):
        solve(instance, stop=MaxIterations(100))
