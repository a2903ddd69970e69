"""Proofs where the way back may be longer than the way there."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

from covertour import InputError, Instance, MaxSeconds, solve, verify
from covertour.exact import directed
from covertour.exact.branch_and_cut import prove
from covertour.exact.directed import add_own_cuts
from covertour.exact.directed_program import Program
from covertour.exact.enumeration import shortest_tour
from covertour.exact.formulation import check_provable, make_problem
from covertour.exact.incumbent import Incumbent
from covertour.solving.clock import Clock


def cheapest(instance: Instance) -> float:
    """The cost of the best tour: all of them are tried, and the referee says which are tours."""
    allowed = np.setdiff1d(np.arange(instance.n), instance.forbidden).tolist()
    tours = (
        order
        for size in range(1, len(allowed) + 1)
        for chosen in combinations(allowed, size)
        for order in permutations(chosen)
    )
    return min(instance.cost(tour) for tour in tours if verify(instance, tour).ok)


def matrix(rng: np.random.Generator, n: int, whole: bool) -> np.ndarray:
    return rng.integers(0, 30, (n, n)).astype(float) if whole else rng.random((n, n))


@pytest.fixture(params=[0, 1_000], ids=["compiled cuts", "own cuts"])
def _cuts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds of cuts, whatever the number of places."""
    monkeypatch.setattr(directed, "COMPILED_FROM", request.param)


@pytest.mark.usefixtures("_cuts")
@pytest.mark.parametrize("seed", range(20))
def test_the_proven_tour_is_the_shortest(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    wishes: dict[str, Any] = {}
    if seed % 3 == 0:
        wishes["depot"] = 0
    if seed % 4 == 0 and n > 3:
        wishes["required"] = [n - 1]
    if seed % 5 == 0 and n > 4:
        wishes["forbidden"] = [2]
    instance = Instance.from_matrix(matrix(rng, n, seed % 2 == 0), nearest=2, **wishes)
    try:
        best = instance.length(shortest_tour(instance))
    except InputError:
        pytest.skip("nobody covers some place")
    everywhere = np.setdiff1d(np.arange(n), instance.forbidden)
    proof = prove(instance, everywhere, Clock())
    assert verify(instance, proof.places).ok
    assert instance.length(proof.places) == pytest.approx(best, rel=1e-6, abs=1e-9)
    assert proof.bound == pytest.approx(best, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    "wishes",
    [
        {"open": True},
        {"open": True, "depot": 1},
        {"depot": 1, "end": 3},
        {"end": 2},
        {"demand": [1, 2, 0, 1, 1, 2]},
        {"visit_cost": [0.5, 0.1, 0.9, 0.2, 0.3, 0.7]},
        {"quota": 0.6, "weight": [1, 5, 2, 3, 1, 4]},
        {"quota": 0.8, "demand": 2, "depot": 0},
        {"quota": 0.5, "open": True, "visit_cost": 0.2},
    ],
    ids=str,
)
@pytest.mark.usefixtures("_cuts")
def test_what_tours_must_do_besides_is_proven_too(wishes: dict[str, Any]) -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        instance = Instance.from_matrix(rng.random((6, 6)), nearest=3, **wishes)
        start = np.arange(6)
        if instance.end is not None or instance.depot is not None:
            ends = [instance.depot, instance.end]
            inner = [place for place in range(6) if place not in ends]
            start = np.array([place for place in (ends[0], *inner, ends[1]) if place is not None])
        proof = prove(instance, start, Clock())
        best = cheapest(instance)
        assert verify(instance, proof.places).ok
        assert instance.cost(proof.places) == pytest.approx(best, rel=1e-6)
        assert proof.bound == pytest.approx(best, rel=1e-6)


def test_reduced_costs_are_those_of_the_solver() -> None:
    """Of the arcs in the program HiGHS says them too; the others are priced by the same formula."""
    rng = np.random.default_rng(1)
    instance = Instance.from_matrix(rng.random((30, 30)), nearest=3)
    best = Incumbent(instance, Clock(), np.arange(30))
    program = Program(instance, make_problem(instance), best)
    for _ in range(5):
        assert program.solve(10.0)
        add_own_cuts(program)
    assert program.solve(10.0)
    assert len(program.cuts) > 3
    solver = np.array(program.highs.getSolution().col_dual)[program.first_arc :]
    ours = program.reduced_costs()[program.tail, program.head]
    assert ours == pytest.approx(solver, abs=1e-6)


@pytest.mark.usefixtures("_cuts")
def test_a_middling_instance_is_proven_by_solve() -> None:
    rng = np.random.default_rng(3)
    points = rng.random((40, 2))
    straight = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))
    uphill = np.maximum(points[None, :, 1] - points[:, None, 1], 0.0)
    instance = Instance.from_matrix(straight + uphill, nearest=5)
    assert not instance.symmetric
    result = solve(instance, "exact", stop=MaxSeconds(60))
    assert result.optimal
    assert verify(instance, result.tour).ok


@pytest.mark.parametrize("wishes", [{"budget": 6.0}, {"quota": 0.6}, {"budget": 5.0, "demand": 2}])
def test_streets_that_are_only_seemingly_one_way_change_nothing(wishes: dict[str, Any]) -> None:
    """Where one goes uphill and down again closed tours are as long as on the flat."""
    rng = np.random.default_rng(5)
    points, height = rng.random((14, 2)), rng.random(14) / 2
    flat = np.hypot(*(points[:, None] - points).transpose(2, 0, 1)) + 1.0
    wishes |= {"weight": rng.integers(1, 50, 14), "visit_cost": rng.random(14) / 4}
    np.fill_diagonal(flat, 0.0)
    sets = [np.argsort(row)[:4].tolist() for row in flat]
    hilly = flat + height - height[:, None]
    one, other = (Instance.from_matrix(m, sets=sets, **wishes) for m in (flat, hilly))
    assert one.symmetric
    assert not other.symmetric
    start = np.arange(14) if one.budget is None else np.array([0])
    flat_proof, proof = (prove(instance, start, Clock()) for instance in (one, other))
    assert flat_proof.optimal
    assert proof.optimal
    assert not proof.warnings
    assert proof.weight == flat_proof.weight
    assert proof.bound == pytest.approx(flat_proof.bound, rel=1e-6)
    assert proof.cost == pytest.approx(flat_proof.cost, rel=1e-6)
    assert verify(other, proof.places).ok


def test_a_proof_without_time_is_a_bound_all_the_same() -> None:
    rng = np.random.default_rng(3)
    instance = Instance.from_matrix(rng.random((30, 30)), nearest=3)
    proof = prove(instance, np.arange(30), Clock(MaxSeconds(0)))
    assert 0.0 <= proof.bound <= instance.length(proof.places)


def test_too_many_places_are_refused() -> None:
    instance = Instance.from_matrix(np.triu(np.ones((2_001, 2_001)), 1), nearest=3)
    with pytest.raises(InputError, match="at most 2,000 places where the way back can be longer"):
        check_provable(instance)
