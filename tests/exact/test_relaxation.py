"""What a proof relies on: the proven bound is the program's value, whatever branching has fixed."""

import numpy as np
import pytest

from covertour import random_instance
from covertour.exact.branching import PseudoCosts, choose_branch
from covertour.exact.formulation import make_problem
from covertour.exact.pricing import price
from covertour.exact.relaxation import Relaxation
from covertour.exact.separation import separate


def solved(n, seed=0):
    """A relaxation with all pairs and with the cuts of some rounds, solved."""
    instance = random_instance(n, nearest=3, seed=seed)
    problem = make_problem(instance)
    relaxation = Relaxation(problem, np.triu_indices(n, 1), instance.length(np.arange(n)))
    rng = np.random.default_rng(seed)
    for _ in range(6):
        relaxation.solve()
        relaxation.add_cuts(separate(relaxation.point, rng, n))
    relaxation.solve()
    return relaxation


def decide(relaxation, stops, pairs):
    """Set bounds: place -> value and column -> value."""
    lower = relaxation.problem.forced.astype(float)
    upper = relaxation.problem.allowed.astype(float)
    for place, value in stops.items():
        lower[place] = upper[place] = value
    relaxation.set_bounds(lower, upper, {c: (v, v) for c, v in pairs.items()})
    relaxation.solve()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_the_bound_of_a_decided_pair_is_the_value_of_its_program(value):
    relaxation = solved(20)
    before = relaxation.objective
    rose = 0
    for column in range(0, len(relaxation.edge_u), 4):
        decide(relaxation, {}, {column: value})
        assert price(relaxation).value == pytest.approx(relaxation.objective, rel=1e-6)
        rose += relaxation.objective > before + 1.0
    assert rose > 0


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_the_bound_of_a_decided_place_is_the_value_of_its_program(value):
    relaxation = solved(20)
    for place in range(relaxation.n):
        decide(relaxation, {place: value}, {})
        assert price(relaxation).value == pytest.approx(relaxation.objective, rel=1e-6)


def test_what_is_decided_is_not_decided_again():
    relaxation = solved(12)
    stops, pairs = {}, {}
    for _ in range(relaxation.n + len(relaxation.edge_u)):
        branch = choose_branch(relaxation, PseudoCosts(relaxation.n), 2 * relaxation.objective)
        if branch is None:
            break
        one = branch[0]
        if one.pair is None:
            assert one.place not in stops
            stops[one.place] = one.value
        else:
            u, v = one.pair
            column = int(np.flatnonzero((relaxation.edge_u == u) & (relaxation.edge_v == v))[0])
            assert column not in pairs
            pairs[column] = one.value
        decide(relaxation, stops, pairs)
    assert len(stops) + len(pairs) == relaxation.n + len(relaxation.edge_u)


def test_a_copy_goes_on_from_a_basis_of_the_original():
    relaxation = solved(30)
    other = relaxation.copy()
    for program in (relaxation, other):  # each has cuts and bounds of its own from here on
        program.add_cuts(separate(relaxation.point, np.random.default_rng(9), 30))
    other.drop_idle_cuts(0)
    decide(relaxation, {3: 1.0}, {})
    other.restore(relaxation.basis())
    decide(other, {3: 1.0}, {})
    assert other.objective == pytest.approx(relaxation.objective)
    assert price(other).value == pytest.approx(price(relaxation).value, rel=1e-6)
    assert other.highs.getInfo().simplex_iteration_count <= 0


def test_a_basis_brings_its_pairs_along_unless_they_are_excluded():
    relaxation = solved(20)
    basis = relaxation.basis()
    used = relaxation.x > 0.5
    few = relaxation.copy()
    few.forget_pairs(np.isin(few.pair_column, np.flatnonzero(used)))
    before = len(few.edge_u)
    few.restore(basis)  # is not possible, so nothing happens
    assert len(few.edge_u) == before
    problem = relaxation.problem
    tour = np.arange(20)
    ring = np.minimum(tour, np.roll(tour, -1)), np.maximum(tour, np.roll(tour, -1))
    small = Relaxation(problem, ring, 1.0 / relaxation.scale * 2.0**13)
    small.pool = relaxation.pool
    small.restore(basis)
    assert set(basis.pairs) <= set(small.edge_u.astype(int) * 20 + small.edge_v)
    small.solve()
    assert small.objective == pytest.approx(relaxation.objective)
