"""What follows from decisions, and that reduced-cost fixing excludes no better tour."""

import numpy as np
import pytest

from covertour import Instance, random_instance
from covertour.exact.bounds import Bounds
from covertour.exact.branch_and_cut import prove
from covertour.exact.formulation import make_problem
from covertour.exact.nodes import Node
from covertour.exact.pricing import price
from covertour.exact.relaxation import Relaxation
from covertour.exact.separation import separate
from covertour.solving.clock import Clock


def node(stops=None, pairs=None):
    return Node(0.0, 1, 1, dict(stops or {}), dict(pairs or {}), None, None)


def relaxed(instance):
    n = instance.n
    problem = make_problem(instance)
    relaxation = Relaxation(problem, np.triu_indices(n, 1), instance.length(np.arange(n)))
    rng = np.random.default_rng(0)
    for _ in range(5):
        relaxation.solve()
        relaxation.add_cuts(separate(relaxation.point, rng, n))
    relaxation.solve()
    return relaxation


@pytest.fixture(scope="module")
def row():
    """Bounds of places in a row, each covered by itself and its neighbours; the first required."""
    places = [[float(i), 0.0] for i in range(6)]
    return Bounds(relaxed(Instance.from_coordinates(places, radius=1, required=[0])))


def test_the_last_coverer_of_a_place_must_be_a_stop(row):
    child = node({4: 0})
    assert row.is_consistent(child)
    assert child.stops == {4: 0, 5: 1, 0: 1}


def test_decisions_that_no_tour_obeys_are_seen(row):
    assert not row.is_consistent(node({4: 0, 5: 0}))  # nobody covers place 5
    assert not row.is_consistent(node({0: 0}))  # it is required
    assert not row.is_consistent(node({3: 0}, {(2, 3): 1}))
    assert not row.is_consistent(node(pairs={(1, 2): 1, (1, 3): 1, (1, 4): 1}))
    assert row.is_consistent(node(pairs={(1, 2): 1, (1, 3): 1, (1, 4): 0}))


@pytest.mark.parametrize("seed", range(6))
def test_reduced_cost_fixing_keeps_every_tour_below_the_cutoff(seed):
    instance = random_instance(25, nearest=3, seed=seed)
    best = prove(instance, np.arange(25), Clock())
    assert best.optimal
    relaxation = relaxed(instance)
    bounds = Bounds(relaxation)
    cutoff = best.cost * 1.02
    room = cutoff * relaxation.scale - price(relaxation).value
    before = len(relaxation.pair_u)
    bounds.fix_at_root(price(relaxation, exact_below=room), cutoff)
    assert len(relaxation.pair_u) < before
    on = np.zeros(25, dtype=bool)
    on[best.places] = True
    assert (bounds.y_upper[on] == 1).all()
    assert (bounds.y_lower[~on] == 0).all()
    left = set(zip(relaxation.pair_u.tolist(), relaxation.pair_v.tolist(), strict=True))
    legs = zip(best.places.tolist(), np.roll(best.places, -1).tolist(), strict=True)
    assert {(min(a, b), max(a, b)) for a, b in legs} <= left
