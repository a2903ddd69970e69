"""Proofs of generalized instances agree with brute force: cost, feasibility, bounds both ways."""

import brute_force
import numpy as np
import strategies
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from covertour import InputError, Instance, make_tour, verify
from covertour.exact.branch_and_cut import prove
from covertour.exact.enumeration import shortest_tour
from covertour.solving.clock import Clock
from covertour.solving.stop import MaxIterations

NOTHING_IN_REACH = Instance.from_coordinates(
    [(0, 0), (0, 0), (0, 0.04)],
    metric="geo",
    nearest=0,
    weight=[0, 0, 0.125],
    budget=1.0,
    open=True,
    end=0,
)
"""The best tour serves nothing: the bound on the weight has to come down to 0."""

AT_THE_POLE = Instance.from_coordinates(
    [(-180, -90), (90, -90), (-179.9, -90), (180, -90), (-180, -90), (-180, -90)],
    metric="haversine",
    nearest=0,
    weight=[1, 0, 1, 1, 1, 0],
    budget=0.0,
)
"""Places in one spot, some 1e-12 km apart by rounding, which is more than the budget of 0."""


def best_of(instance: Instance) -> tuple[float, ...]:
    """What the best tour is worth, see :mod:`brute_force`; passes over what nobody can do."""
    try:
        _ = instance.coverage
    except InputError:
        assume(False)
    best = brute_force.best(instance)
    assume(best is not None)
    return best


def check_value(instance: Instance, places: np.ndarray, best: tuple[float, ...]) -> None:
    """The tour keeps all rules and is worth as much as the best one."""
    tour = make_tour(instance, places)
    assert verify(instance, tour).problems(instance) == []
    value = brute_force.value(instance, tour.places.tolist())
    assert value is not None
    assert np.allclose(value, best, rtol=1e-6, atol=1e-9), (value, best)


def some_tour(instance: Instance) -> np.ndarray:
    """A tour to start from: everywhere, or with a budget the cheapest of the must-visits."""
    stops = [i for i in range(instance.n) if i not in instance.forbidden]
    if instance.budget is not None:
        cheapest = instance.with_changes(
            budget=None, demand=np.zeros(instance.n, dtype=int), quota=None
        )
        return shortest_tour(cheapest)
    if instance.depot is not None:
        stops = [instance.depot, *(i for i in stops if i != instance.depot)]
    if instance.end is not None:
        stops = [*(i for i in stops if i != instance.end), instance.end]
    return np.array(stops)


def check_proof(instance: Instance, nodes: int, seed: int) -> None:
    """A proof agrees with brute force, and one that ends early has valid bounds."""
    best = best_of(instance)
    start = some_tour(instance)
    by_weight = instance.budget is not None
    true = -best[0] if by_weight else best[0]
    rounding = 1e-9 + 1e-6 * true

    proof = prove(instance, start, Clock(), seed=seed)
    assert not proof.warnings
    assert proof.optimal or 0.0 < true <= 1e-9 or (by_weight and 0.0 < best[1] <= 1e-9)
    check_value(instance, proof.places, best)
    assert abs(proof.bound - true) <= rounding

    early = prove(instance, start, Clock(MaxIterations(nodes)), seed=seed)
    if by_weight:
        assert early.bound >= true - 1e-9 * (1 + true)
        assert early.weight <= true + 1e-9 * (1 + true)
    else:
        assert early.bound <= true + 1e-9 * (1 + true)
        assert early.cost >= true - 1e-9 * (1 + true)


@settings(max_examples=max(100, settings().max_examples))
@given(instance=strategies.general_instances(most=7))
def test_enumeration_agrees_with_brute_force(instance: Instance) -> None:
    best = best_of(instance)
    check_value(instance, shortest_tour(instance), best)


@settings(max_examples=max(100, settings().max_examples))
@given(
    instance=strategies.general_instances(most=7, symmetric=True),
    nodes=st.integers(1, 3),
    seed=st.integers(0, 3),
)
@example(instance=NOTHING_IN_REACH, nodes=1, seed=0)
@example(instance=NOTHING_IN_REACH.with_changes(weight=[0, 0, 1 / 7]), nodes=1, seed=0)
@example(instance=AT_THE_POLE, nodes=1, seed=0)
def test_proofs_agree_with_brute_force(instance: Instance, nodes: int, seed: int) -> None:
    check_proof(instance, nodes, seed)


@settings(max_examples=max(100, settings().max_examples))
@given(
    instance=strategies.general_instances(metrics=("matrix",), most=6),
    nodes=st.integers(1, 12),
)
def test_proofs_with_one_way_streets_agree_with_brute_force(instance: Instance, nodes: int) -> None:
    check_proof(instance, nodes, 0)
