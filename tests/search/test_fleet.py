"""Routes of a fleet keep to their limits and are as cheap as brute force finds them."""

from __future__ import annotations

from typing import Any

import brute_force
import numpy as np
import pytest

from covertour import InputError, Instance, SolveError, make_tour, random_instance, solve
from covertour.problem.metric import IntArray
from covertour.problem.tour import before_cost
from covertour.search.fleet import keeps_limits, split
from covertour.search.lns import lns
from covertour.solving.clock import Clock
from covertour.solving.stop import MaxIterations


def small(seed: int, objective: str) -> Instance | None:
    """Up to six places and a fleet; None where that is impossible."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    limits = {
        "vehicles": int(rng.integers(1, 4)) if rng.random() < 0.5 else None,
        "max_length": float(rng.choice([60, 80, 120])) if rng.random() < 0.6 else None,
        "max_stops": int(rng.integers(1, 4)) if rng.random() < 0.5 else None,
        "objective": objective,
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


@pytest.mark.parametrize("objective", ["cost", "fewest", "balance"])
def test_small_fleets_are_as_cheap_as_brute_force(objective: str) -> None:
    tried = 0
    for seed in range(50):
        instance = small(seed, objective)
        best = None if instance is None else brute_force.best(instance)
        if instance is None or best is None:
            continue
        tried += 1
        places = lns(instance, Clock(MaxIterations(2000)), seed, [])
        value = brute_force.value(instance, make_tour(instance, places).places.tolist())
        assert value is not None
        assert value == pytest.approx(best, rel=1e-9), seed
    assert tried > 15


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


def test_the_first_routes_keep_to_their_limits_however_many_there_are() -> None:
    instance = random_instance(400, nearest=3, seed=0)
    for limit in ({"max_stops": 4}, {"max_length": 1.9}):
        routed = instance.with_changes(depot=0, fleet=limit)
        found = solve(routed, stop=MaxIterations(1))
        assert len(found.routes) >= 10


def test_a_tour_is_cut_into_routes_as_cheaply_as_can_be() -> None:
    rng = np.random.default_rng(0)
    for trial in range(20):
        limits = {"max_stops": 3} if trial % 2 else {"max_length": 90.0}
        instance = Instance.from_coordinates(
            rng.integers(0, 30, (8, 2)), nearest=0, depot=0, fleet=limits, open=trial % 3 == 0
        )
        stops = 1 + rng.permutation(7)
        plans = [
            np.insert(stops, [0, *(k + 1 for k in range(6) if cuts >> k & 1)], 0)
            for cuts in range(1 << 6)
        ]
        good = [instance.cost(plan) for plan in plans if keeps_limits(instance, plan)]
        found = split(instance, stops, most=7)
        assert keeps_limits(instance, found)
        assert instance.cost(found) == pytest.approx(min(good))


def three_clusters(fleet: dict[str, Any]) -> Instance:
    """A depot and three clusters of four places around it, far from each other."""
    angles = np.repeat([0.0, 2.1, 4.2], 4) + np.tile([0.0, 0.01, 0.02, 0.03], 3)
    places = [[0, 0], *(10 * np.stack([np.cos(angles), np.sin(angles)], axis=1)).tolist()]
    return Instance.from_coordinates(places, nearest=0, depot=0, fleet=fleet)


def test_few_routes_are_found_where_more_would_be_cheaper() -> None:
    fleet = {"max_stops": 6}
    instance = three_clusters(fleet)
    cheap = solve(instance, stop=MaxIterations(2000))
    few = instance.with_changes(fleet=fleet | {"objective": "fewest"})
    found = solve(few, stop=MaxIterations(2000))
    assert (len(cheap.routes), len(found.routes)) == (3, 2)
    assert found.cost > cheap.cost
    assert solve(few, stop=MaxIterations(2000)).tour.places.tolist() == found.tour.places.tolist()


def test_plans_with_fewer_routes_are_told_of_though_they_cost_more() -> None:
    told: list[tuple[float, float]] = []
    instance = three_clusters({"max_stops": 6, "objective": "fewest"})

    def note(_: float, cost: float, places: IntArray) -> None:
        told.append((before_cost(instance, places) or 0.0, cost))

    found = solve(instance, stop=MaxIterations(2000), on_improve=note)
    assert [first for first, _ in told] == sorted((first for first, _ in told), reverse=True)
    assert told[-1] == (2.0, found.cost)


def test_balanced_plans_that_are_told_of_have_ever_shorter_longest_routes() -> None:
    told: list[float] = []
    instance = three_clusters({"vehicles": 3, "objective": "balance"})

    def note(_: float, cost: float, places: IntArray) -> None:
        told.append(before_cost(instance, places) or 0.0)

    found = solve(instance, stop=MaxIterations(2000), on_improve=note)
    assert told == sorted(told, reverse=True)
    assert told[-1] == max(instance.cost(route) for route in found.routes)
