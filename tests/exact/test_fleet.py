"""Bounds of fleets: what they claim holds for every plan."""

from __future__ import annotations

from pathlib import Path

import brute_force
import numpy as np
import pytest

from covertour import InputError, Instance, read, solve
from covertour.exact.fleet import prove_fleet
from covertour.exact.route_cuts import add_entries
from covertour.exact.route_program import Master, make_routes
from covertour.solving.clock import Clock

SHARED = Path(__file__).parents[3] / "shared" / "data" / "mctp"


def small(seed: int, **changes: object) -> Instance:
    points = np.random.default_rng(seed).integers(0, 20, (7, 2))
    fields = {"depot": 0, "fleet": {"max_stops": 2}, "nearest": 1} | changes
    return Instance.from_coordinates(points, **fields)


def plans_of(instance: Instance) -> list[list[np.ndarray]]:
    """All plans that keep the rules, as routes of stop numbers from 0 on, without the depot."""
    found = []
    for bits in range(1, 1 << 6):
        chosen = (0, *(i + 1 for i in range(6) if bits >> i & 1))
        for stops in brute_force.tours(instance, chosen):
            if brute_force.value(instance, stops) is not None:
                routes = brute_force.split(instance, stops)
                found.append([np.array(route[1:]) - 1 for route in routes])
    return found


@pytest.mark.parametrize("quota", [None, 0.7])
@pytest.mark.parametrize("open_routes", [False, True])
def test_every_plan_enters_the_sets_that_cuts_are_about(quota: object, open_routes: bool) -> None:
    cuts = 0
    for seed in range(6):
        instance = small(seed, quota=quota, open=open_routes)
        program = make_routes(instance, count_routes=False, vehicles=None)
        assert program.stops.tolist() == [1, 2, 3, 4, 5, 6]
        master = Master(program, 100.0)
        for i in range(6):
            for j in range(6):
                master.add(np.array([i, j] if i != j else [i]))
        while master.solve(10.0) and add_entries(master):
            pass
        plans = plans_of(instance)
        for cut in master.cuts:
            cuts += 1
            for routes in plans:
                entries = sum(cut.entries(route) for route in routes)
                if cut.z < 0:
                    assert entries >= cut.least
                elif entries < 1:  # then what z stands for is not served
                    stops = set(np.concatenate(routes).tolist())
                    rows = np.flatnonzero(program.z == cut.z)
                    served = [len(stops & set(np.flatnonzero(program.member[r]))) for r in rows]
                    assert all(np.array(served) < program.need[rows])
    assert cuts > 3


def test_the_exact_method_proves_a_fleet() -> None:
    points = np.random.default_rng(1).random((24, 2))
    instance = Instance.from_coordinates(points, nearest=2, depot=0, fleet={"max_stops": 3})
    found = solve(instance, "exact", seconds=60)
    assert found.optimal
    assert found.stopped == "proven"
    few = instance.with_changes(fleet={"max_stops": 3, "objective": "fewest"})
    fewest = solve(few, "exact", seconds=60)
    assert fewest.bound is None or fewest.bound <= fewest.cost * (1 + 1e-9)
    assert len(fewest.routes) <= len(found.routes)


def test_a_bound_from_a_poor_plan_is_a_bound() -> None:
    instance = small(3, nearest=0)
    best = brute_force.best(instance)
    alone = np.array([[0, stop] for stop in range(1, 7)]).ravel()
    proof = prove_fleet(instance, alone, Clock())
    assert instance.cost(proof.places) == pytest.approx(best[0])
    assert proof.bound == pytest.approx(best[0])


def test_what_cannot_be_proven_is_refused() -> None:
    points = np.random.default_rng(0).random((20, 2))
    instance = Instance.from_coordinates(
        points, nearest=1, depot=0, fleet={"vehicles": 2, "objective": "balance"}
    )
    with pytest.raises(InputError, match="not how short the longest can be; lns can balance"):
        solve(instance, "exact", seconds=1)
    many = np.random.default_rng(0).random((1_500, 2))
    large = Instance.from_coordinates(many, nearest=1, depot=0, fleet={"vehicles": 2})
    with pytest.raises(InputError, match="at most 1,000 places that may be stops of a fleet"):
        prove_fleet(large, np.arange(1_500), Clock())


@pytest.mark.skipif(not SHARED.is_dir(), reason="the benchmark files are not here")
def test_a_published_optimum_is_proven() -> None:
    instance = read(SHARED / "A1-1-25-75-4-250.ctp")
    found = solve(instance, "exact", seconds=60)
    assert (found.cost, found.bound) == (12182, 12182)
