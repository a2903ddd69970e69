"""A state with a goal agrees with brute force; weights become whole numbers, open tours rings."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from numba import njit

from covertour import Instance, Quota, random_instance, solve
from covertour.search import blocks, changes, construct, state
from covertour.search.goal import EXACT, as_driven, as_ring, make_goal
from covertour.search.state import UNCOVERED, Place, make_state, places_of, ring_of
from covertour.solving.stop import MaxIterations


@njit(error_model="numpy")
def enter(s: Any, place: int, after: int) -> None:
    changes.insert(s, Place(place), Place(after))


@njit(error_model="numpy")
def leave(s: Any, place: int) -> None:
    changes.remove(s, Place(place))


@njit(error_model="numpy")
def back(s: Any, length: float) -> None:
    changes.undo(s, length)


@njit(error_model="numpy")
def load(s: Any, ring: Any) -> None:
    changes.load_tour(s, ring, len(ring))


def sample(seed: int, **fields: Any) -> Instance:
    rng = np.random.default_rng(seed)
    n = 24
    return Instance.from_coordinates(
        rng.random((n, 2)),
        radius=rng.uniform(0.1, 0.5, n),
        demand=np.minimum(rng.integers(0, 4, n), 1 + (rng.random(n) < 0.7)),
        weight=rng.integers(0, 9, n),
        visit_cost=rng.random(n),
        quota=0.6,
        **fields,
    )


def check(instance: Instance, s: state.State, stops: list[int]) -> None:
    """Counts, served weight and what would be lost without each stop, by the definition."""
    assert s.goal is not None
    goal, n = s.goal, instance.n
    places = s.order[stops].tolist()
    served = instance.covered(places) if places else instance.demands == 0
    weight = instance.weights
    assert goal.tally["served"] == weight[served].sum()
    for stop in stops:
        rest = [place for place in places if place != s.order[stop]]
        without = instance.covered(rest) if rest else instance.demands == 0
        assert goal.unique[stop] == weight[served].sum() - weight[without].sum()
    listed = s.lists[UNCOVERED, : s.tour["uncovered"]].astype(int)
    able = np.diff(instance.coverage.covered_by_start) >= instance.demands
    expected = np.flatnonzero(~served & able & (weight > 0))
    assert sorted(s.order[listed].tolist()) == expected.tolist()
    ring = np.array(stops + list(range(n, len(s.at))), dtype=np.int64)
    assert s.tour["size"] == len(ring)
    assert s.tour["length"] == pytest.approx(instance.cost(places) if places else 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_random_changes_leave_weights_and_demands_right_and_undo_takes_them_back(seed: int) -> None:
    instance = sample(seed)
    s = make_state(instance, 0)
    rng = np.random.default_rng(seed)
    stops: list[int] = []
    for _ in range(12):
        saved, length = list(stops), float(s.tour["length"])
        s.tour["log"] = 0
        for _ in range(int(rng.integers(1, 8))):
            off = sorted(set(range(instance.n)) - set(stops))
            if stops and rng.random() < 0.4:
                stop = stops.pop(int(rng.integers(len(stops))))
                leave(s, stop)
            else:
                at = int(rng.integers(len(stops))) if stops else 0
                place = int(rng.choice(off))
                enter(s, place, stops[at] if stops else -1)
                stops.insert(at + 1, place)
            check(instance, s, stops)
        if rng.random() < 0.5:
            back(s, length)
            stops = saved
            check(instance, s, stops)


@pytest.mark.parametrize(
    ("ends", "blanks"),
    [({}, 1), ({"depot": 3}, 2), ({"end": 4}, 2), ({"depot": 3, "end": 4}, 1)],
)
def test_an_open_tour_becomes_a_ring_of_the_same_cost_and_comes_back(
    ends: dict[str, int], blanks: int
) -> None:
    instance = sample(1, open=True, **ends)
    s = make_state(instance, 0)
    assert s.goal is not None
    assert len(s.goal.blanks) == blanks
    tour = np.array([3, 7, 9, 1, 4])
    ring = ring_of(s, tour)
    load(s, ring)
    assert s.tour["length"] == pytest.approx(instance.cost(tour))
    assert places_of(s, ring).tolist() == tour.tolist()
    for turned in range(len(ring)):
        for other in (np.roll(ring, turned), np.roll(ring, turned)[::-1]):
            driven = as_driven(s.goal, other)
            assert driven.tolist() in (tour.tolist(), tour[::-1].tolist())
            if ends:
                assert driven.tolist() == tour.tolist()
    assert as_ring(s.goal, np.empty(0, np.int64)).tolist() != []


def test_plain_instances_have_no_goal() -> None:
    plain = random_instance(20, nearest=3).with_changes(weight=np.arange(20.0))
    assert make_goal(plain, np.arange(20))[0] is None
    assert make_state(plain, 0).goal is None


def test_whole_weights_stay_as_they_are_and_others_are_cut_to_whole_numbers() -> None:
    rng = np.random.default_rng(0)
    whole = random_instance(20, nearest=3).with_changes(weight=np.arange(20.0), quota=0.5)
    goal, _ = make_goal(whole, np.arange(20))
    assert goal is not None
    assert goal.weight.tolist() == whole.weights.tolist()
    assert goal.tally["need"] == 95
    broken = whole.with_changes(weight=rng.random(20))
    goal, _ = make_goal(broken, np.arange(20))
    assert goal is not None
    assert np.all(goal.weight == np.floor(goal.weight))
    assert 0.99 * EXACT < goal.weight.sum() < EXACT
    assert goal.tally["need"] / goal.weight.sum() == pytest.approx(0.5, rel=1e-8)


def test_a_quota_of_everything_is_reached_with_weights_that_are_no_whole_numbers() -> None:
    weight = np.random.default_rng(1).random(60)
    instance = random_instance(60, nearest=4, seed=2).with_changes(weight=weight, quota=1.0)
    assert solve(instance, stop=MaxIterations(200)).uncovered == ()


def test_a_total_to_be_served_may_be_given() -> None:
    instance = random_instance(60, nearest=4, seed=2).with_changes(quota=Quota(weight=31))
    found = solve(instance, stop=MaxIterations(500))
    assert found.covered_weight >= 31
    assert found.cost < solve(instance.with_changes(quota=0.8), stop=MaxIterations(500)).cost


def test_a_tour_is_cut_back_to_its_quota_by_what_stops_are_worth() -> None:
    instance = random_instance(3000, nearest=7, seed=1)
    whole = solve(instance, "greedy")
    part = solve(instance.with_changes(quota=0.8), "greedy")
    assert part.covered_weight >= 2400
    assert part.cost < 0.82 * whole.cost


def test_the_prices_of_blanks_and_visits_do_not_depend_on_where_distances_come_from() -> None:
    instance = sample(2, open=True, depot=3)
    table = make_state(instance, 0)
    with patch.object(state, "TABLE_UP_TO", 0), patch.object(blocks, "ONE_BLOCK_UP_TO", 0):
        points = make_state(instance, 0)
    assert table.table.ndim == 2
    assert points.table.ndim == 1
    many = len(table.at)
    pairs = np.array([(i, j) for i in range(many) for j in range(many)])
    numbers = np.concatenate([points.number, np.arange(instance.n, many)])
    one, other = np.empty(len(pairs)), np.empty(len(pairs))
    construct.measure(table, pairs[:, 0], pairs[:, 1], one)
    construct.measure(points, numbers[pairs[:, 0]], numbers[pairs[:, 1]], other)
    assert other == pytest.approx(one, abs=1e-12)
