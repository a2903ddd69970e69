"""Every cut is satisfied by every tour: all tours of small instances are tried on all families."""

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, permutations

import numpy as np
import pytest

from covertour import Instance, random_instance
from covertour.exact.combs import combs, random_clusters
from covertour.exact.formulation import make_problem, starting_edges
from covertour.exact.incumbent import is_covering_tour
from covertour.exact.nested import nested_clusters, starting_cuts
from covertour.exact.odd_sets import odd_sets
from covertour.exact.point import make_point
from covertour.exact.relaxation import Relaxation
from covertour.exact.separation import (
    between_sets,
    components,
    connectivity,
    demands,
    flow_sides,
    links,
    place_to_sets,
    quota_covers,
    root_sides,
    separate,
)

LEAST = 1e-3


def random_places(rng, most=7):
    n = int(rng.integers(5, most + 1))
    rules = (
        {"nearest": int(rng.integers(0, 3))},
        {"radius": rng.uniform(0, 3, n).tolist()},
        {"sets": [rng.integers(0, n, 2).tolist() for _ in range(n)]},
    )
    rule = rules[rng.integers(3)]
    required = [int(rng.integers(n))] if rng.random() < 0.3 else []
    # Few different coordinates: places on top of each other are a case of their own.
    return Instance.from_coordinates(
        rng.integers(0, 6, (n, 2)), metric="euc_2d", required=required, **rule
    )


def general_places(rng):
    """Places with demands, a quota or a budget, a depot and open ends, some of each."""
    instance = random_places(rng, most=6)
    n = instance.n
    fields = {}
    if rng.random() < 0.6:
        most = np.minimum(np.diff(instance.coverage.covered_by_start), 3)
        fields["demand"] = [int(rng.integers(0, k + 1)) for k in most]
    fields["weight"] = rng.integers(1, 9, n).tolist()
    limits = ({}, {"quota": float(rng.uniform(0.3, 1.0))}, {"budget": float(rng.uniform(10, 40))})
    if rng.random() < 0.5:
        fields["depot"] = int(rng.integers(n))
    if rng.random() < 0.3:
        fields["open"] = True
    return instance.with_changes(**fields, **limits[rng.integers(3)])


def all_tours(instance):
    """x, [tours, n, n], and the switches, [tours, k], of the tours of at least three stops.

    A z is 1 wherever it can be: in no cut does a smaller one count more.
    """
    problem = make_problem(instance)
    n = problem.n
    points = []
    any_order = instance.with_changes(open=False)
    if instance.budget is not None:
        any_order = any_order.with_changes(budget=1e9)
    for size in range(1, instance.n + 1):
        for stops in combinations(range(instance.n), size):
            if not is_covering_tour(any_order, np.array(stops)):
                continue
            for order in permutations(stops):
                tour = problem.closed(np.array(order))
                if len(tour) < 3 or (order[0] > order[-1] and not instance.open):
                    continue
                if instance.features and not is_covering_tour(instance, np.array(order)):
                    continue
                x, y, z = np.zeros((n, n)), np.zeros(n), np.zeros(len(problem.weight))
                y[tour] = 1
                x[tour, np.roll(tour, 1)] = x[np.roll(tour, 1), tour] = 1
                for members, need, k in zip(problem.hit_sets, problem.need, problem.z, strict=True):
                    if k >= 0:
                        z[k] = y[members].sum() >= need
                points.append((x, np.append(y, z)))
    return np.array([x for x, _ in points]), np.array([y for _, y in points])


def slacks(cut, x, y):
    """Left side minus right side at points; x: float64[p, n, n] symmetric, y: float64[p, n]."""
    inside = sum(
        weight * x[:, members[:, None], members].sum(axis=(1, 2)) / 2
        for weight, members in zip(cut.weights, cut.sets, strict=True)
    )
    return y[:, cut.places] @ cut.coefficients - inside - cut.rhs


def random_point(rng, problem):
    """A mix of a few cycles, connected or not, or of pairs: degrees fit, nothing else has to."""
    n = problem.n
    u, v = np.triu_indices(n, 1)
    x, y = np.zeros((n, n)), np.zeros(n)
    if rng.random() < 0.5:
        some = rng.choice(len(u), int(rng.integers(n, 2 * n)), replace=False)
        x[u[some], v[some]] = rng.choice([0.5, 1.0], len(some))
        x += x.T
        busy = np.maximum(1.0, x.sum(axis=1).max() / 2)
        x[(x > 0) & (x < 1)] /= busy
        x[(x == 1) & (x.sum(axis=1) > 2)[:, None]] = 0.5
        x = np.minimum(x, x.T)
        y = np.minimum(1.0, x.sum(axis=1) / 2)
        return make_point(problem, y, u, v, x[u, v], rng.random(len(problem.weight)))
    share = rng.dirichlet(np.ones(int(rng.integers(1, 4))))
    for weight in share:
        order = rng.permutation(n)
        ends = [n] if n < 6 or rng.random() < 0.5 else [3, n]
        first = 0
        for end in ends:
            cycle = order[first : end if rng.random() < 0.5 else max(first + 3, end - 2)]
            first = end
            if len(cycle) >= 3:
                y[cycle] += weight
                np.add.at(x, (cycle, np.roll(cycle, 1)), weight)
                np.add.at(x, (np.roll(cycle, 1), cycle), weight)
    return make_point(problem, y, u, v, x[u, v], rng.random(len(problem.weight)))


def families(point, rng):
    def by_flows(flows):
        return connectivity(point, flow_sides(point, flows, 2), LEAST)

    single = point.with_single_needs()
    return {
        "links": links(point),
        "demands": demands(point),
        "covers": quota_covers(point),
        "components": [cut for _, cut in connectivity(point, components(point), LEAST)],
        "root": [cut for _, cut in connectivity(point, root_sides(point, LEAST), LEAST)],
        "sets": [cut for _, cut in by_flows(between_sets(point, LEAST, rng, 5))],
        "places": [cut for _, cut in by_flows(place_to_sets(point, LEAST, rng, 5))],
        "blossoms": [cut for _, cut in combs(point, [], LEAST)],
        "combs": [cut for _, cut in combs(point, random_clusters(point, rng), LEAST)],
        "needs": [cut for _, cut in connectivity(single, components(single), LEAST)],
        "combs of needs": [cut for _, cut in combs(single, random_clusters(single, rng), LEAST)],
        "odd sets": odd_sets(point, LEAST, 100),
        "odd sets of needs": odd_sets(single, LEAST, 100),
        "round": separate(point, rng, 100),
        "deep round": separate(point, rng, 100, deep=True),
    }


def slack_at(point, cut):
    x = np.zeros((1, point.problem.n, point.problem.n))
    x[0, point.u, point.v] = x[0, point.v, point.u] = point.x
    return slacks(cut, x, np.append(point.y, point.z)[None])[0]


@pytest.mark.parametrize("seed", range(40))
def test_every_tour_satisfies_every_cut_and_the_point_does_not(seed):
    rng = np.random.default_rng(seed)
    instance = random_places(rng)
    problem = make_problem(instance)
    x, y = all_tours(instance)
    for _ in range(8):
        point = random_point(rng, problem)
        for family, cuts in families(point, rng).items():
            for cut in cuts:
                assert slack_at(point, cut) < 0, family
                assert slacks(cut, x, y).min(initial=0.0) > -1e-9, (family, cut)


@pytest.mark.parametrize("seed", range(60))
def test_tours_that_leave_places_out_or_open_satisfy_every_cut(seed):
    rng = np.random.default_rng(seed)
    instance = general_places(rng)
    x, y = all_tours(instance)
    problem = make_problem(instance)
    if instance.budget is not None and len(y):
        # Of a budget only the tours are wanted that are as good as one known before.
        weights = y[:, problem.n :] @ problem.weight
        known = float(rng.choice(weights))
        total = instance.total_weight - problem.lost
        problem = make_problem(instance, known_weight=known + total - problem.weight.sum())
        x, y = x[weights >= known], y[weights >= known]
    for _ in range(6):
        point = random_point(rng, problem)
        for family, cuts in families(point, rng).items():
            for cut in cuts:
                assert slack_at(point, cut) < 0, family
                if len(x):
                    assert slacks(cut, x, y).min() > -1e-9, (family, cut)


@pytest.mark.parametrize("seed", range(30))
def test_every_tour_satisfies_the_cuts_that_a_proof_begins_with(seed):
    rng = np.random.default_rng(seed)
    instance = general_places(rng) if seed % 2 else random_places(rng)
    problem = make_problem(instance)
    x, y = all_tours(instance)
    for cut in starting_cuts(problem):
        assert not len(x) or slacks(cut, x, y).min() > -1e-9, cut


def test_clusters_are_nested_and_near():
    points = [[0, 0], [0, 1], [9, 9], [9, 8], [0, 3]]
    problem = make_problem(Instance.from_coordinates(points, nearest=0))
    clusters = {tuple(np.flatnonzero(side).tolist()) for side in nested_clusters(problem)}
    assert clusters == {(0, 1), (2, 3), (0, 1, 4)}
    assert len(starting_cuts(problem)) == 3


def test_all_families_find_something():
    found: set[str] = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        problem = make_problem(general_places(rng))
        for _ in range(8):
            point = random_point(rng, problem)
            found |= {family for family, cuts in families(point, rng).items() if cuts}
    assert found == {
        "links", "demands", "covers", "components", "root", "sets", "places", "blossoms", "combs",
        "needs", "combs of needs", "odd sets", "odd sets of needs", "round", "deep round",
    }  # fmt: skip


def test_of_a_ring_of_sets_more_than_half_are_wanted():
    """2 k + 1 sets around a ring, each two neighbours with one common place: k + 1 stops."""
    for m in (3, 5):
        sets = [[k, (k + 1) % m] for k in range(m)]
        places = [[np.cos(angle), np.sin(angle)] for angle in 2 * np.pi * np.arange(m) / m]
        # Two places far away that only cover themselves, so that no tour stays within a part.
        far = [[m], [m + 1]]
        instance = Instance.from_coordinates([*places, [9, 9], [9, 8]], sets=[*sets, *far])
        problem = make_problem(instance)
        y = np.array([0.5] * m + [1.0, 1.0])
        nothing = np.empty(0, dtype=np.int64)
        point = make_point(problem, y, nothing, nothing, np.empty(0))
        (cut,) = odd_sets(point, LEAST, 100)
        assert cut.rhs == (m + 1) / 2
        assert slack_at(point, cut) == pytest.approx(-0.5)


def test_a_whole_point_of_two_cycles_is_always_cut_off():
    # Two triangles far apart; every place covers only itself.
    points = [[0, 0], [0, 1], [1, 0], [9, 9], [9, 8], [8, 9]]
    problem = make_problem(Instance.from_coordinates(points, nearest=0))
    u, v = np.array([0, 0, 1, 3, 3, 4]), np.array([1, 2, 2, 4, 5, 5])
    point = make_point(problem, np.ones(6), u, v, np.ones(6))
    cuts = separate(point, np.random.default_rng(0), 100)
    assert any(slack_at(point, cut) <= -2 for cut in cuts)


def test_threads_find_the_same_cuts():
    problem = make_problem(random_instance(120, nearest=5, seed=3))
    n = problem.n
    edges = starting_edges(problem, np.arange(n), 8)
    relaxation = Relaxation(problem, edges, float(problem.distance[: n - 1, 1:].trace()))
    with ThreadPoolExecutor(2) as threads:
        for turn in range(4):
            relaxation.solve()
            alone, shared = (
                separate(relaxation.point, np.random.default_rng(turn), n, turn > 2, who)
                for who in (None, threads)
            )
            assert len(alone) > 0
            assert [cut.key for cut in alone] == [cut.key for cut in shared]
            relaxation.add_cuts(alone)
