import json

import numpy as np
import pytest

from covertour import (
    InputError,
    Instance,
    Method,
    Outcome,
    Quota,
    frontier,
    random_instance,
    solve,
    verify,
)
from covertour.solving.growing import grown


def villages(n=40, seed=3, **more):
    """Places with as many people as their number, by far the most in the first."""
    people = np.arange(1, n + 1) + np.where(np.arange(n) == 0, 3 * n, 0)
    return random_instance(n, radius=0.12, seed=seed).with_changes(weight=people, **more)


def grow(instance, clock, seed, start):
    """A method without any search: the start, or the first place with what the quota needs."""
    tours = [grown(instance, np.array([0])), *([start] if len(start) else [])]
    return Outcome(min(tours, key=instance.cost), None)


GROW = Method("grow", grow, handles=frozenset({"quota", "open", "visit cost", "demand"}))


def test_no_point_serves_as_much_as_another_for_less():
    found = frontier(villages(depot=0), 8, seconds=0.2, method=GROW)
    costs = [point.cost for point in found.points]
    weights = [point.weight for point in found.points]
    assert 3 <= len(found.points) <= 8
    assert costs == sorted(costs)
    assert weights == sorted(weights)
    assert len(set(weights)) == len(weights)


def test_it_reaches_from_what_must_be_visited_to_all():
    instance = villages(depot=0)
    found = frontier(instance, 5, seconds=0.2, method=GROW)
    assert found.points[0].cost == 0
    assert found.points[0].weight == instance.covered_weight([0])
    assert found.points[-1].share == pytest.approx(1.0)


def test_each_point_is_a_tour_of_the_instance_with_its_quota():
    found = frontier(villages(), 5, seconds=0.2, method=GROW)
    for point in found.points:
        goal = point.result.instance
        assert goal.quota is not None
        assert verify(goal, point.result.tour).ok
        assert point.weight >= goal.quota_weight * (1 - 1e-9)


def test_places_that_nobody_can_serve_are_left_out():
    line = Instance.from_coordinates([[0, 0], [1, 0], [9, 9]], radius=1, forbidden=[2])
    found = frontier(line, 3, seconds=0.1, method=GROW)
    assert found.points[-1].weight == 2
    assert found.points[-1].share == pytest.approx(2 / 3)


def test_a_quota_or_a_budget_of_the_instance_is_left_aside():
    plain = frontier(villages(), 4, seconds=0.1, method=GROW)
    for change in ({"quota": Quota(share=0.5)}, {"budget": 1.0}):
        other = frontier(villages(**change), 4, seconds=0.1, method=GROW)
        assert other.points[-1].weight == plain.points[-1].weight


def test_as_values_it_has_a_tour_for_each_point():
    found = frontier(villages(), 4, seconds=0.1, method=GROW)
    value = json.loads(found.to_json())
    assert [len(point["places"]) for point in value["points"]] == [
        point["stops"] for point in value["points"]
    ]
    assert value["points"][0]["bound"] is None


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"points": 1}, "points: expected a whole number from 2 to 200, got 1"),
        ({"points": 2.5}, "points: expected a whole number"),
        ({"seconds": 0}, "seconds: expected a number above 0, got 0"),
        ({"proof_seconds": np.nan}, "proof_seconds: expected a number above 0"),
    ],
)
def test_nonsense_is_refused(wrong, complaint):
    with pytest.raises(InputError, match=complaint):
        frontier(villages(), **wrong)


def test_without_any_weight_there_is_nothing_to_choose():
    empty = random_instance(5, nearest=1).with_changes(weight=np.zeros(5))
    with pytest.raises(InputError, match="no place has a weight"):
        frontier(empty, method=GROW)


@pytest.mark.parametrize("more", [{}, {"open": True}, {"demand": 2}, {"visit_cost": 1.0}])
def test_a_grown_tour_serves_its_quota_and_keeps_its_stops(more):
    instance = villages(quota=Quota(share=0.9), **more)
    small = np.array([7, 3])
    tour = grown(instance, small)
    assert instance.covered_weight(tour) >= instance.quota_weight
    assert [place for place in tour.tolist() if place in (7, 3)] == [7, 3]
    assert len(set(tour.tolist())) == len(tour)


def test_a_tour_grows_where_it_costs_least():
    line = Instance.from_coordinates(
        [[0, 0], [5, 0], [10, 0], [5, 8]], radius=0, quota=Quota(weight=3)
    )
    assert grown(line, np.array([0, 2])).tolist() == [0, 1, 2]


def test_what_is_proven_lies_below_every_tour_and_rises_with_what_is_asked():
    found = frontier(villages(14, depot=0), 4, seconds=0.4, prove=True, proof_seconds=20)
    assert [point.gap for point in found.points] == pytest.approx(
        [0.0] * len(found.points), abs=1e-6
    )
    bounds = [point.bound for point in found.points]
    assert bounds == sorted(bounds)
    # A second look, without the frontier: no cheaper tour serves what was asked.
    for point in found.points:
        goal = found.instance.with_changes(quota=Quota(weight=point.asked))
        assert solve(goal, "exact", seconds=20).cost == pytest.approx(point.cost)
