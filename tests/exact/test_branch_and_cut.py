"""What a caller of prove() relies on: true claims, limits that keep them true, clear refusals."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from covertour import InputError, Instance, make_tour, random_instance, verify
from covertour.exact.branch_and_cut import prove
from covertour.solving import clock as clocks
from covertour.solving.clock import Clock
from covertour.solving.stop import GapBelow, MaxIterations, MaxSeconds, TargetLength


def everyone(instance):
    return np.array([i for i in range(instance.n) if i not in instance.forbidden])


def proven(instance, **options):
    proof = prove(instance, everyone(instance), Clock(), **options)
    assert proof.optimal
    assert not proof.warnings
    assert proof.cost * (1 - 1e-6) <= proof.bound <= proof.cost
    assert verify(instance, make_tour(instance, proof.places)).ok
    return proof


@pytest.mark.parametrize("rule", [{"nearest": 4}, {"radius": 0.25}, {"nearest": (1, 6)}])
def test_a_random_instance_is_solved_from_a_poor_tour(rule):
    instance = random_instance(30, seed=3, **rule)
    proof = proven(instance)
    assert proof.nodes >= 1
    assert proof.cost < instance.length(everyone(instance))


def test_pairs_decided_in_the_tree_raise_its_bound():
    # Here the places are whole before the pairs are, so that the tree has to decide pairs.
    instance = random_instance(50, radius=(0.0, 0.25), seed=11)
    proof = prove(instance, everyone(instance), Clock(MaxIterations(60)))
    assert proof.optimal
    assert not proof.warnings
    assert proof.nodes > 1


def test_without_coverage_it_is_the_travelling_salesman():
    ring = np.array([[np.cos(a), np.sin(a)] for a in np.linspace(0, 2 * np.pi, 13)[:-1]])
    shuffled = np.random.default_rng(0).permutation(12)
    instance = Instance.from_coordinates(ring[shuffled], nearest=0)
    assert proven(instance).cost == pytest.approx(24 * np.sin(np.pi / 12))


def test_whole_distances_give_a_whole_bound():
    points = np.random.default_rng(1).integers(0, 100, (30, 2))
    instance = Instance.from_coordinates(points, metric="euc_2d", nearest=4)
    proof = proven(instance)
    assert proof.bound == proof.cost


def test_rules_of_the_instance_are_kept():
    points = np.random.default_rng(2).random((25, 2))
    free = Instance.from_coordinates(points, nearest=5)
    best = proven(free)
    banned = tuple(int(i) for i in best.places[:2] if i not in (0, 7, 11))
    proof = proven(free.with_changes(depot=0, required=(7, 11), forbidden=banned))
    assert not set(banned) & set(proof.places.tolist())
    assert {0, 7, 11} <= set(proof.places.tolist())
    assert proof.cost >= best.cost


def test_one_place_covers_all():
    instance = Instance.from_coordinates([[0, 0], [1, 0], [0, 1]], radius=[2, 0, 0])
    proof = proven(instance)
    assert proof.places.tolist() == [0]
    assert (proof.cost, proof.bound) == (0.0, 0.0)


def test_there_and_back():
    points = [[0, 0], [1, 0], [0, 1], [9, 0], [9, 1], [8, 0]]
    instance = Instance.from_coordinates(points, radius=2)
    proof = proven(instance)
    assert len(proof.places) == 2
    assert proof.cost == pytest.approx(14.0)


def test_a_detour_shorter_than_the_direct_way():
    # 0 and 1 must be stops; between them the way over 2 is shorter than the direct one.
    matrix = [[0, 10, 1, 9], [10, 0, 1, 9], [1, 1, 0, 9], [9, 9, 9, 0]]
    instance = Instance.from_matrix(matrix, sets=[[3], [], [], []], required=(0, 1))
    assert proven(instance).cost == 12


def test_all_places_at_one_point():
    instance = Instance.from_coordinates(np.zeros((5, 2)), sets=[[]] * 5)
    assert proven(instance).cost == 0.0


def test_single_place():
    assert proven(Instance.from_coordinates([[3, 4]], nearest=0)).places.tolist() == [0]


def test_one_way_distances_are_proven_in_the_right_direction():
    instance = Instance.from_matrix([[0, 1, 2], [2, 0, 1], [1, 2, 0]], nearest=0)
    proof = prove(instance, np.array([0, 2, 1]), Clock())
    assert (proof.cost, proof.bound, proof.optimal) == (3.0, 3.0, True)


def test_a_start_that_covers_nothing_is_refused():
    instance = random_instance(10, nearest=1)
    with pytest.raises(InputError, match="covering tour"):
        prove(instance, np.array([0]), Clock())


@pytest.fixture(scope="module")
def hard():
    """An instance, a poor tour, and the shortest length."""
    instance = random_instance(40, nearest=4, seed=5)
    return instance, everyone(instance), proven(instance).cost


@pytest.mark.parametrize(
    "stop",
    [MaxSeconds(0), MaxIterations(1), GapBelow(0.5), TargetLength(1e9), MaxSeconds(0.05)],
    ids=str,
)
def test_a_limit_leaves_a_bound_that_holds(hard, stop):
    instance, start, shortest = hard
    proof = prove(instance, start, Clock(stop))
    assert 0.0 <= proof.bound <= shortest * (1 + 1e-9)
    assert proof.cost >= shortest * (1 - 1e-9)
    assert verify(instance, make_tour(instance, proof.places)).ok


def test_gap_limit_is_met(hard):
    instance, start, _ = hard
    proof = prove(instance, start, Clock(GapBelow(0.2)), improve=lambda _: start)
    assert proof.gap <= 0.2


@pytest.fixture
def every_report(monkeypatch):
    """Progress is told at every look at the clock."""
    monkeypatch.setattr(clocks, "REPORT_EVERY", 0.0)


def test_interrupt_returns_what_is_proven(hard, every_report):
    instance, start, shortest = hard

    def interrupt(progress):
        if progress.bound > 0.2 * shortest:
            raise KeyboardInterrupt

    proof = prove(instance, start, Clock(on_progress=interrupt))
    assert not proof.optimal
    assert 0.2 * shortest < proof.bound <= shortest


def test_progress_only_gets_better(hard, every_report):
    instance, start, shortest = hard
    seen = []
    prove(instance, start, Clock(on_progress=seen.append))
    bounds = [progress.bound for progress in seen]
    lengths = [progress.length for progress in seen]
    assert bounds == sorted(bounds)
    assert lengths == sorted(lengths, reverse=True)
    assert all(progress.bound <= shortest * (1 + 1e-9) for progress in seen)


def test_every_better_tour_is_told(hard):
    instance, start, shortest = hard
    told = []
    clock = Clock(on_improve=lambda _, length, places: told.append((length, places)))
    proof = prove(instance, start, clock)
    lengths = [length for length, _ in told]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths == [length for _, length in clock.trace]
    assert lengths[0] == instance.length(start)
    assert lengths[-1] == proof.cost == pytest.approx(shortest)
    assert all(verify(instance, make_tour(instance, places)).ok for _, places in told)


def test_same_seed_same_proof(hard):
    instance, start, _ = hard
    first, second = (prove(instance, start, Clock(), seed=4) for _ in range(2))
    assert first.places.tolist() == second.places.tolist()
    assert (first.nodes, first.cuts, first.bound) == (second.nodes, second.cuts, second.bound)


def test_rounded_points_reach_the_callers_search():
    instance = random_instance(80, nearest=7, seed=1)  # its root is left open
    start = everyone(instance)
    asked = []

    def improve(places):
        asked.append(places)
        return start

    proof = prove(instance, start, Clock(), improve=improve)
    assert proof.cost == pytest.approx(proof.bound)
    assert asked
    assert all(len(places) and set(places.tolist()) <= set(start.tolist()) for places in asked)


def test_what_a_proof_calls_is_loaded_before_its_clock_runs():
    code = """
from covertour import random_instance
from covertour.exact import cuts, maxflow, odd_sets, pricing
from covertour.search import worker
from covertour.solving.loading import load
load("exact", random_instance(1100, nearest=7))
for kernel in (
    cuts.sets_around_pairs, pricing.reduced_costs, maxflow._small_cuts, maxflow._cuts_to_one,
    maxflow._tree_of_cuts, odd_sets._search,
):
    assert len(kernel.signatures) == 1, kernel
assert len(worker.anneal_for.signatures) == 2  # of the sample and of many places
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_budget_is_proven_in_weight_and_then_in_cost(every_report):
    points = np.random.default_rng(4).random((24, 2))
    weight = np.random.default_rng(5).integers(1, 50, 24)
    instance = Instance.from_coordinates(points, nearest=4, weight=weight, budget=1.2, depot=3)
    seen = []
    clock = Clock(on_progress=seen.append)
    proof = prove(instance, np.array([3]), clock)
    assert proof.optimal
    assert proof.cheapest
    assert proof.weight == proof.bound == instance.covered_weight(proof.places)
    assert clock.iterations == proof.nodes
    assert verify(instance, make_tour(instance, proof.places)).ok
    assert all(progress.bound >= proof.weight for progress in seen)
    # Stopped in the second proof, it does not say that nobody serves as much at less cost.
    for nodes in range(1, proof.nodes):
        early = prove(instance, np.array([3]), Clock(MaxIterations(nodes)))
        assert early.cost_bound is None or early.cost_bound <= proof.cost
        assert not early.optimal or early.cost == pytest.approx(proof.cost)
    # The cost is the least at which that weight is served.
    quota = instance.with_changes(budget=None, quota={"weight": proof.weight})
    assert proven(quota).cost == pytest.approx(proof.cost)


def test_an_open_tour_begins_and_ends_where_it_must():
    points = np.random.default_rng(6).random((24, 2))
    instance = Instance.from_coordinates(points, nearest=4, depot=2, end=9)
    start = np.array([2, *(i for i in range(24) if i not in (2, 9)), 9])
    proof = prove(instance, start, Clock())
    assert proof.optimal
    assert (proof.places[0], proof.places[-1]) == (2, 9)
    free = prove(instance.with_changes(end=None, depot=None, open=True), start, Clock())
    assert free.optimal
    assert free.cost <= proof.cost
    assert proof.cost <= proven(instance.with_changes(open=False, end=None, required=(9,))).cost


@pytest.fixture(scope="module")
def branching():
    """An instance whose proof has to branch, and the shortest length."""
    instance = random_instance(50, radius=(0.0, 0.25), seed=11)
    proof = proven(instance)
    assert proof.nodes > 4
    return instance, proof.cost


def test_several_workers_prove_the_same(branching):
    instance, shortest = branching
    proof = proven(instance, workers=3)
    assert proof.nodes > 1
    assert proof.cost == pytest.approx(shortest, rel=1e-6)


@pytest.mark.parametrize("wish", [{"open": True, "depot": 4}, {"quota": 0.8}])
def test_several_workers_keep_the_rules_of_the_instance(wish):
    instance = random_instance(50, nearest=4, seed=2).with_changes(**wish)
    start = np.concatenate([[4], np.delete(np.arange(50), 4)])
    alone, together = (prove(instance, start, Clock(), workers=w) for w in (1, 2))
    assert alone.optimal
    assert together.optimal
    assert together.cost == pytest.approx(alone.cost, rel=1e-6)


def test_a_limit_stops_all_workers_and_leaves_a_bound_that_holds(branching):
    instance, shortest = branching
    before = set(threading.enumerate())
    proof = prove(instance, everyone(instance), Clock(MaxIterations(3)), workers=2)
    assert 0.0 < proof.bound <= shortest * (1 + 1e-9)
    assert proof.cost >= shortest * (1 - 1e-9)
    assert set(threading.enumerate()) <= before


def test_what_fails_in_a_worker_reaches_the_caller(branching):
    instance, _ = branching
    caller = threading.get_ident()
    before = set(threading.enumerate())

    def rule(progress):
        if threading.get_ident() != caller:
            raise ValueError("not here")
        return False

    with pytest.raises(ValueError, match="not here"):
        prove(instance, everyone(instance), Clock(rule), workers=2)
    assert set(threading.enumerate()) <= before


def test_tours_that_are_found_beside_the_root_are_taken(branching):
    instance, shortest = branching
    best = proven(instance).places
    asked = []

    def another(number, enough):
        asked.append(number)
        return best if number == 1 else None

    told = []
    clock = Clock(MaxIterations(1), on_improve=lambda seconds, cost, places: told.append(cost))
    proof = prove(instance, everyone(instance), clock, another=another, workers=2)
    assert asked in ([1], [1, 2])  # the root may be done before the second is asked for
    assert proof.cost == pytest.approx(shortest, rel=1e-9)
    assert told[-1] == proof.cost
