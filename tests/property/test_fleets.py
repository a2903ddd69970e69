"""Plans of small fleets agree with brute force, whatever else is asked; bounds are never wrong."""

import brute_force
import numpy as np
import strategies
from hypothesis import assume, given
from hypothesis import strategies as st

from covertour import InputError, Instance, make_tour, verify
from covertour.exact.enumeration import shortest_tour
from covertour.exact.fleet import prove_fleet
from covertour.solving.clock import Clock
from covertour.solving.stop import MaxIterations

FLEETS = ("demand", "weight", "quota", "visit cost", "open")


@st.composite
def fleets(draw: st.DrawFn, objectives: tuple[str, ...]) -> Instance:
    """Instances of up to seven places with a fleet of up to three routes, or any number."""
    instance = draw(strategies.general_instances(features=FLEETS, most=7))
    n = instance.n
    depot = instance.depot
    if depot is None:
        depot = draw(st.sampled_from(sorted(set(range(n)) - set(instance.forbidden))))
    far = instance.distances(np.full(n, depot), np.arange(n))
    reach = 2.0 * float(far.max()) + float(instance.visit_costs.max())
    fleet = {
        "vehicles": draw(st.one_of(st.none(), st.integers(1, 3))),
        "max_stops": draw(st.one_of(st.none(), st.integers(1, 4))),
        "max_length": draw(st.one_of(st.none(), st.integers(4, 16).map(lambda v: v / 8 * reach))),
        "objective": draw(st.sampled_from(objectives)),
    }
    return instance.with_changes(depot=depot, fleet=fleet)


def best_of(instance: Instance) -> tuple[float, ...]:
    """What the best plan is worth; passes over what nobody can do."""
    try:
        _ = instance.coverage
    except InputError:
        assume(False)
    best = brute_force.best(instance)
    assume(best is not None)
    return best


def check_value(instance: Instance, places: np.ndarray, best: tuple[float, ...]) -> None:
    tour = make_tour(instance, places)
    assert verify(instance, tour).problems(instance) == []
    value = brute_force.value(instance, tour.places.tolist())
    assert value is not None
    assert np.allclose(value, best, rtol=1e-6, atol=1e-9), (value, best)


@given(instance=fleets(("cost", "fewest", "balance")))
def test_few_stops_are_answered_as_by_brute_force(instance: Instance) -> None:
    best = best_of(instance)
    check_value(instance, shortest_tour(instance), best)


@given(instance=fleets(("cost", "fewest")), rounds=st.integers(1, 4))
def test_proofs_agree_with_brute_force(instance: Instance, rounds: int) -> None:
    best = best_of(instance)
    start = shortest_tour(instance)
    proof = prove_fleet(instance, start, Clock())
    check_value(instance, proof.places, best)
    true = best[-1]
    assert proof.bound is not None
    assert abs(proof.bound - true) <= 1e-9 + 1e-6 * true

    poor = instance.with_changes(fleet={"vehicles": 3, "max_stops": instance.n})
    worse = shortest_tour(poor)
    if verify(instance, make_tour(instance, worse)).ok:
        start = worse
    early = prove_fleet(instance, start, Clock(MaxIterations(rounds)))
    assert verify(instance, make_tour(instance, early.places)).ok
    if early.bound is not None:
        assert early.bound <= true + 1e-9 * (1 + true)
