from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from covertour import Fleet, InputError, Instance, Quota, make_tour, routes_of, verify

LINE = [[0.0, 0.0], [1.0, 0.0], [4.0, 0.0], [5.0, 0.0], [9.0, 0.0]]


def line(**fields: Any) -> Instance:
    fields.setdefault("radius", 1)
    return Instance.from_coordinates(LINE, **fields)


def test_what_is_as_usual_is_left_out() -> None:
    plain = line(demand=1, visit_cost=0, weight=[1, 1, 1, 1, 1])
    assert plain.demand is None
    assert plain.visit_cost is None
    assert plain.features == frozenset()
    assert line(demand=[2, 1, 1, 1, 1], open=True).features == {"demand", "open"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"quota": 0.5, "budget": 3}, "quota and budget: give only one of them"),
        ({"quota": 1.5}, "quota: share 1.5 is not above 0 and at most 1"),
        ({"quota": {"weight": 6}}, "quota: 6 is more than the total weight 5"),
        ({"quota": {"part": 6}}, "quota: no 'part'; there are share, weight"),
        ({"quota": "all"}, "quota: expected a share such as 0.95, or a Quota, got 'all'"),
        ({"budget": -1}, "budget: -1 is not a finite number >= 0"),
        ({"weight": [1, 2]}, "weight: expected one number or 5, one per place"),
        ({"weight": [1, 2, 3, 4, -5]}, "weight: -5 of place 4 is not a finite number >= 0"),
        ({"demand": 1.5}, "demand: 1.5 of place 0 is not a whole number"),
        ({"end": 2, "depot": 2}, "end: is the depot; a tour returns there by itself"),
        ({"end": 2, "forbidden": [2]}, "end: place 2 is forbidden too"),
        ({"stops": [0], "forbidden": [1]}, "stops and forbidden: give only one of them"),
        ({"fleet": Fleet(2)}, "fleet: routes start at a depot; give one"),
        ({"fleet": Fleet(2), "depot": 0, "budget": 4}, "fleet and budget: give only one of them"),
        ({"fleet": {"trucks": 2}, "depot": 0}, "fleet: no 'trucks'"),
        ({"open": "yes"}, "open: expected true or false, got 'yes'"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        line(**fields)
    assert str(error.value).startswith(message)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Quota(), "quota: give a share or a weight, and not both"),
        (lambda: Quota(weight=0), "quota: weight 0 is not above 0"),
        (lambda: Fleet(vehicles=0), "fleet: vehicles: expected a whole number >= 1, got 0"),
        (lambda: Fleet(max_length=-1), "fleet: max_length -1 is negative"),
        (lambda: Fleet(objective="speed"), "fleet: objective: expected one of cost, fewest, bal"),
    ],
)
def test_goals_say_what_they_expect(make: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        make()
    assert str(error.value).startswith(message)


def test_a_demand_that_nobody_can_meet_names_the_place() -> None:
    with pytest.raises(InputError, match="3 stops shall cover place 3, but only 2 can"):
        _ = line(demand=[1, 1, 1, 3, 1]).coverage
    few = line(demand=[1, 1, 1, 3, 1], quota=0.8)  # which may leave it out
    assert few.coverage.n == 5
    with pytest.raises(InputError, match="no tour can serve a weight of 5, at most 4"):
        _ = line(demand=[1, 1, 1, 3, 1], quota=1).coverage


def test_a_stop_covers_itself_once() -> None:
    twice = line(demand=[2, 0, 0, 0, 0])
    assert twice.covered([0]).tolist() == [False, True, True, True, True]
    assert twice.covered([0, 1]).tolist() == [True] * 5
    assert verify(twice, [0]).uncovered == (0,)
    assert verify(twice, [0, 1]).ok


def test_the_cost_is_the_length_and_the_visits() -> None:
    toll = line(visit_cost=[1, 0, 2, 0, 4])
    assert toll.length([0, 2, 4]) == 18
    assert toll.cost([0, 2, 4]) == 25
    assert verify(toll, [0, 2, 4]).cost == 25


def test_an_open_tour_has_no_way_back_and_keeps_its_ends() -> None:
    free = line(open=True)
    assert make_tour(free, [4, 2, 1]).places.tolist() == [1, 2, 4]
    assert make_tour(free, [4, 2, 1]).length == 8
    fixed = line(depot=4)
    assert make_tour(fixed.with_changes(open=True), [4, 2, 1]).places.tolist() == [4, 2, 1]
    ending = line(end=0)
    assert ending.open
    assert verify(ending, [4, 2, 0]).ok
    assert verify(ending, [0, 2, 4]).problems(ending) == ["does not end at place 0"]


def test_a_quota_counts_the_weight_of_the_places_whose_demand_is_met() -> None:
    people = line(weight=[5, 5, 10, 10, 70], quota=0.3)
    assert people.quota_weight == 30
    assert verify(people, [1, 2]).ok
    assert verify(people, [1, 2]).uncovered == (4,)
    assert verify(people, [2]).problems(people) == [
        "covers a weight of 20, less than the quota 30",
        "not covered (3): places 0, 1, 4",
    ]


def test_a_budget_bounds_the_cost() -> None:
    poor = line(budget=6)
    assert verify(poor, [1, 2]).ok
    assert verify(poor, [1, 4]).problems(poor) == ["costs 16, above the budget 6"]


def test_the_routes_of_a_fleet_share_the_cover_and_keep_the_limits() -> None:
    two = line(depot=0, fleet=Fleet(vehicles=2, max_length=18, max_stops=1))
    tour = make_tour(two, [0, 4, 0, 2])
    assert tour.places.tolist() == [0, 2, 0, 4]
    assert tour.length == 26
    assert [route.tolist() for route in routes_of(two, tour.places)] == [[0, 2], [0, 4]]
    assert verify(two, tour).ok
    assert verify(two, [0, 2, 4]).problems(two) == ["routes with more stops than max_stops: 1"]
    assert verify(two, [0, 2, 0, 4, 0]).problems(two) == [
        "has 3 routes, 1 more than vehicles",
        "routes without a stop: 3",
    ]
    short = two.with_changes(fleet=Fleet(max_length=17))
    assert verify(short, [0, 2, 0, 4]).problems(short) == ["routes longer than max_length: 2"]


def test_places_that_no_route_reaches_are_named() -> None:
    with pytest.raises(InputError, match=r"no route can cover place 4 within a route of 15"):
        _ = line(depot=0, fleet=Fleet(max_length=15)).coverage
    with pytest.raises(InputError, match=r"no route can visit place 4 within a route of 15"):
        _ = line(depot=0, required=[4], fleet=Fleet(max_length=15)).coverage
    open_ended = line(depot=0, open=True, fleet=Fleet(max_length=9))
    assert open_ended.coverage.n == 5


def test_a_route_may_take_a_short_cut_through_other_places() -> None:
    matrix = np.full((3, 3), 10.0)
    matrix[0, 1] = matrix[1, 2] = matrix[2, 0] = 1.0
    round_trip = Instance.from_matrix(matrix, nearest=0, depot=0, fleet=Fleet(max_length=3))
    assert verify(round_trip, [0, 1, 2]).ok
    assert round_trip.coverage.n == 3
