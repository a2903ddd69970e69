"""The sets that every tour must hit, and the tours too short for the program."""

from itertools import permutations

import numpy as np
import pytest

from covertour import Instance, random_instance
from covertour.exact import formulation
from covertour.exact.formulation import make_problem
from covertour.exact.incumbent import is_covering_tour
from covertour.exact.point import make_point
from covertour.exact.serving import unit_of
from covertour.exact.short import shortest_of_one_or_two


def random_places(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 90))  # more than 64 places need more than one word of bits
    rules = (
        {"nearest": int(rng.integers(0, n + 1))},
        {"radius": rng.uniform(0, 1.5, n).tolist()},
        {"sets": [rng.integers(0, n, int(rng.integers(0, n))).tolist() for _ in range(n)]},
    )
    required = [int(rng.integers(n))] if rng.random() < 0.3 else []
    return Instance.from_coordinates(rng.random((n, 2)), required=required, **rules[seed % 3])


@pytest.mark.parametrize("seed", range(30))
def test_the_sets_to_hit_are_the_smallest_ones_each_once(seed):
    instance = random_places(seed)
    coverage = instance.coverage
    sets = {frozenset(coverage.covered_by_of(j).tolist()) for j in range(instance.n)}
    sets |= {frozenset([int(i)]) for i in instance.must_visit}
    minimal = {one for one in sets if not any(other < one for other in sets)}
    problem = make_problem(instance)
    found = [frozenset(members.tolist()) for members in problem.hit_sets]
    assert set(found) == minimal
    assert len(found) == len(minimal)
    assert all((np.diff(members) > 0).all() for members in problem.hit_sets)


@pytest.mark.parametrize("seed", range(30))
def test_the_shortest_tour_of_one_or_two_stops_is_found(seed):
    instance = random_places(seed)
    tours = [
        np.array(places)
        for count in (1, 2)
        for places in permutations(range(instance.n), count)
        if count == 1 or places[0] < places[1]
    ]
    lengths = [instance.length(tour) for tour in tours if is_covering_tour(instance, tour)]
    found = shortest_of_one_or_two(make_problem(instance))
    if found is None:
        assert lengths == []
    else:
        assert is_covering_tour(instance, found)
        assert instance.length(found) == pytest.approx(min(lengths))


def test_a_covering_tour_keeps_all_rules():
    points = np.random.default_rng(0).random((12, 2))
    instance = Instance.from_coordinates(points, nearest=0, required=[3], forbidden=[])
    everyone = np.arange(12)
    assert is_covering_tour(instance, everyone)
    assert not is_covering_tour(instance, everyone[1:])
    assert not is_covering_tour(instance, np.append(everyone, 0))
    assert not is_covering_tour(instance, everyone[:0])
    wide = Instance.from_coordinates(points, radius=2, required=[3], forbidden=[5])
    assert is_covering_tour(wide, np.array([3]))
    assert not is_covering_tour(wide, np.array([4]))
    assert not is_covering_tour(wide, np.array([3, 5]))


def test_a_whole_point_is_a_tour_only_if_it_is_one_cycle():
    problem = make_problem(random_instance(7, nearest=0))

    def point(*pairs):
        y = np.zeros(7)
        y[list({place for pair in pairs for place in pair})] = 1.0
        u, v = np.array(pairs).T
        return make_point(problem, y, u, v, np.ones(len(pairs)))

    assert point((0, 2), (2, 5), (0, 5)).as_tour().tolist() == [0, 2, 5]
    assert point((0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)).as_tour() is None
    assert point((0, 1), (1, 2), (2, 3)).as_tour() is None
    half = make_point(problem, np.full(7, 0.5), np.array([0]), np.array([1]), np.array([0.5]))
    assert half.as_tour() is None


@pytest.mark.parametrize("seed", range(6))
def test_the_weight_of_sets_is_the_same_by_sparse_products(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    problem = make_problem(random_places(seed))
    weight = rng.random(problem.n)
    sides = (rng.random((4, problem.n)) < 0.5).astype(float)
    dense = problem.weight_in_sets(weight, sides)
    monkeypatch.setattr(formulation, "SPARSE_FROM", 0)
    assert problem.weight_in_sets(weight, sides) == pytest.approx(dense)
    sums = [[weight[t][side[t] > 0].sum() for t in problem.hit_sets] for side in sides]
    assert dense == pytest.approx(np.array(sums))


@pytest.mark.parametrize(
    ("weights", "unit"),
    [
        ([0, 3, 12], 1.0),
        ([0.5, 3, 12.25], 0.01),
        ([0.1, 0.2, 0.7], 0.1),
        ([0.125], 0.001),
        ([1 / 7, 1.0], None),
        ([1e9, 1.0], None),
        ([1e3, 1e-6], None),
    ],
)
def test_weights_are_multiples_of_their_unit(weights, unit):
    assert unit_of(np.array(weights, dtype=float)) == unit
