"""Regions of a tour: cut out, improved apart and put back, they are a covering tour again."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from covertour import Instance, random_instance, verify
from covertour.problem.metric import IntArray
from covertour.problem.tour import make_tour
from covertour.search.construct import complete
from covertour.search.params import DEFAULT
from covertour.search.regions import (
    Task,
    cut_out,
    divide,
    improve_region,
    lay_out,
    workable,
)
from covertour.search.rejoin import follow, join_rings, number_rings, put_back, tour_length
from covertour.search.state import FIXED, State, make_state, read_tour

FOREVER = float("inf")


def instance_of(kind: str) -> Instance:
    rng = np.random.default_rng(3)
    points = rng.random((1_200, 2))
    if kind == "rules":
        return Instance.from_coordinates(
            points, nearest=6, depot=5, required=[17, 900], forbidden=list(range(30, 400, 7))
        )
    if kind == "radius":
        return Instance.from_coordinates(points, radius=rng.uniform(0.0, 0.06, len(points)))
    if kind == "globe":
        return Instance.from_coordinates(
            points * [40.0, 30.0] + [170.0, -10.0] - [200.0, 0.0], metric="haversine", nearest=4
        )
    if kind == "rounded":
        return Instance.from_coordinates(np.round(points * 200), metric="euc_2d", nearest=3)
    return random_instance(1_200, nearest=0, seed=4)


KINDS = ["rules", "radius", "globe", "rounded", "salesman"]


def first_tour(instance: Instance) -> tuple[State, IntArray]:
    """A state, and a covering tour by its numbers."""
    s = make_state(instance, 0)
    complete(s, np.empty(0, dtype=np.int64), instance.must_visit, s.order)
    return s, s.number[read_tour(s)]


def points_of(s: State) -> np.ndarray:
    return np.stack([s.at["x"], s.at["y"], s.at["z"]], axis=1)


def one_round(s: State, tour: IntArray, many: int, seed: int, iterations: int) -> IntArray:
    division = lay_out(s, tour, divide(points_of(s), tour, many, [seed]), many)
    hot = 0.5 * float(tour_length(s, tour)) / len(tour)
    improved = [
        improve_region(
            cut_out(s, division, which),
            Task((seed, which), hot, hot / 2, iterations, FOREVER, DEFAULT),
        )
        for which in range(many)
    ]
    assert sum(done.iterations for done in improved) == iterations * np.count_nonzero(
        workable(division)
    )
    return put_back(s, tour, division, improved)


@pytest.mark.parametrize("kind", KINDS)
def test_rounds_keep_a_covering_tour_and_shorten_it(kind: str) -> None:
    instance = instance_of(kind)
    s, tour = first_tour(instance)
    before = instance.length(s.order[tour])
    for seed in range(3):
        tour = one_round(s, tour, 4, seed, 600)
        assert verify(instance, make_tour(instance, s.order[tour])).ok
        assert tour_length(s, tour) == pytest.approx(instance.length(s.order[tour]))
    assert instance.length(s.order[tour]) < before


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_regions_searched_in_pools_keep_what_stays_and_shorten_the_tour(
    kind: str, fresh: bool
) -> None:
    instance = instance_of(kind)
    s, tour = first_tour(instance)
    for seed in range(2):
        before = instance.length(s.order[tour])
        division = lay_out(s, tour, divide(points_of(s), tour, 4, [seed]), 4)
        hot = 0.5 * float(tour_length(s, tour)) / len(tour)
        improved = []
        for which in range(4):
            region = cut_out(s, division, which)
            task = Task((seed, which), hot, 0.0, 2_000, FOREVER, DEFAULT, 6, fresh)
            done = improve_region(region, task)
            assert done.iterations == 2_000
            places = done.stops.tolist()
            for a, b in zip(
                region.stops[region.stays], np.roll(region.stops, -1)[region.stays], strict=True
            ):
                assert abs(places.index(a) - places.index(b)) in (1, len(places) - 1)
            improved.append(done)
        tour = put_back(s, tour, division, improved)
        assert verify(instance, make_tour(instance, s.order[tour])).ok
        assert instance.length(s.order[tour]) < before


def test_whoever_searches_a_region_in_a_pool_finds_the_same() -> None:
    s, tour = first_tour(instance_of("radius"))
    region = cut_out(s, lay_out(s, tour, divide(points_of(s), tour, 2, [0]), 2), 1)
    task = Task((1, 2, 3), 0.01, 0.0, 3_000, FOREVER, DEFAULT, 6, True)
    here = improve_region(region, task)
    there = improve_region(*pickle.loads(pickle.dumps((region, task))))
    assert_array_equal(here.stops, there.stops)
    annealed = improve_region(region, task._replace(members=0))
    assert not np.array_equal(here.stops, annealed.stops)


def test_a_pool_of_a_region_ends_when_told_to() -> None:
    s, tour = first_tour(instance_of("radius"))
    region = cut_out(s, lay_out(s, tour, divide(points_of(s), tour, 2, [0]), 2), 0)
    task = Task((0,), 0.01, 0.0, 10**9, FOREVER, DEFAULT, 6, True)
    stopped = improve_region(region, task, go_on=lambda: False)
    assert stopped.iterations == 0
    assert_array_equal(stopped.stops, region.stops)
    assert improve_region(region, task._replace(seconds=0.0)).iterations == 0


def test_many_tiny_regions_that_all_change_at_once_stay_one_tour() -> None:
    instance = random_instance(1_500, nearest=1, seed=8)
    s, tour = first_tour(instance)
    for seed in range(6):
        tour = one_round(s, tour, 16, seed, 400)
        assert verify(instance, make_tour(instance, s.order[tour])).ok


def test_regions_that_nobody_improved_are_put_back_as_they_were() -> None:
    instance = instance_of("rules")
    s, tour = first_tour(instance)
    division = lay_out(s, tour, divide(points_of(s), tour, 7, [1]), 7)
    same = put_back(s, tour, division, [None] * 7)
    first = make_tour(instance, s.order[tour])
    assert_array_equal(make_tour(instance, s.order[same]).places, first.places)


def test_every_place_has_one_region_and_stops_are_shared_evenly() -> None:
    s, tour = first_tour(random_instance(2_000, nearest=5, seed=1))
    for many in (2, 3, 8):
        region = divide(points_of(s), tour, many, [many])
        assert set(region.tolist()) == set(range(many))
        sizes = np.bincount(region[tour], minlength=many)
        assert sizes.max() - sizes.min() <= many


def test_no_border_stays_from_round_to_round() -> None:
    s, tour = first_tour(random_instance(2_000, nearest=5, seed=1))
    pairs = np.stack([tour, np.roll(tour, -1)])
    cut = np.ones(len(tour), dtype=bool)
    for seed in range(8):
        region = divide(points_of(s), tour, 6, [seed])
        cut &= region[pairs[0]] != region[pairs[1]]
    assert not cut.any()


def test_a_region_covers_what_is_left_to_it_and_keeps_its_ends() -> None:
    instance = instance_of("rules")
    s, tour = first_tour(instance)
    division = lay_out(s, tour, divide(points_of(s), tour, 3, [2]), 3)
    left_to_somebody = 0
    for which in range(3):
        region = cut_out(s, division, which)
        left_to_somebody += int(region.needs.sum())
        covered = np.zeros(len(region.needs), dtype=bool)
        for stop in region.stops:
            covered[region.who[region.starts[0, stop] : region.starts[0, stop + 1]]] = True
        assert_array_equal(covered, region.needs)
        assert np.all(region.roles[region.stops[region.stays]] == FIXED)
        done = improve_region(region, Task((0,), 0.01, 0.0, 500, FOREVER, DEFAULT))
        assert set(region.stops[region.stays]) <= set(done.stops)
    assert left_to_somebody == instance.n


def test_whoever_improves_a_region_finds_the_same() -> None:
    s, tour = first_tour(instance_of("radius"))
    region = cut_out(s, lay_out(s, tour, divide(points_of(s), tour, 2, [0]), 2), 1)
    task = Task((1, 2, 3), 0.01, 0.001, 700, FOREVER, DEFAULT)
    here = improve_region(region, task)
    there = improve_region(*pickle.loads(pickle.dumps((region, task))))
    assert_array_equal(here.stops, there.stops)
    other = improve_region(region, task._replace(seed=(1, 2, 4)))
    assert not np.array_equal(here.stops, other.stops)


def test_a_region_ends_when_told_to() -> None:
    s, tour = first_tour(instance_of("radius"))
    region = cut_out(s, lay_out(s, tour, divide(points_of(s), tour, 2, [0]), 2), 0)
    task = Task((0,), 0.01, 0.0, 10**9, FOREVER, DEFAULT)
    assert improve_region(region, task, go_on=lambda: False).iterations == 0
    assert improve_region(region, task._replace(seconds=0.0)).iterations == 0


def test_rings_are_joined_where_that_costs_least() -> None:
    """Three circles side by side and one far away become one tour."""
    angle = np.linspace(0.0, 2 * np.pi, 40, endpoint=False)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    middles = [[0.0, 0.0], [2.2, 0.0], [4.4, 0.0], [90.0, 90.0]]
    points = np.concatenate([circle + middle for middle in middles])
    s = make_state(Instance.from_coordinates(points, nearest=0), 0)
    places = np.arange(len(points)).reshape(4, 40)
    beside = np.empty((len(points), 2), dtype=np.int64)
    beside[s.number[places]] = s.number[
        np.stack([np.roll(places, 1, axis=1), np.roll(places, -1, axis=1)], axis=2)
    ]
    ring = np.full(len(points), -1, dtype=np.int32)
    stops = np.arange(len(points))
    number_rings(stops, beside, ring)
    assert len(set(ring.tolist())) == 4
    rings = [float(tour_length(s, s.number[row])) for row in places]
    firsts = np.array([np.flatnonzero(ring == number)[0] for number in range(4)])
    join_rings(s, stops, beside, ring, np.array([0, 1, 2]), firsts)
    tour = np.zeros(len(points), dtype=np.int64)
    follow(beside, tour)
    assert sorted(tour.tolist()) == stops.tolist()
    far = 2 * np.hypot(90.0 - 4.4, 90.0)
    assert sum(rings) < tour_length(s, tour) < sum(rings) + 2 * 2 * 0.2 + far
