import numpy as np
import pytest

from covertour import InputError, Instance, make_tour
from covertour.problem.goals import Fleet
from covertour.problem.itinerary import itinerary
from covertour.problem.times import Times

LINE = Instance.from_coordinates(
    [[0, 0], [30, 0], [60, 0], [90, 0]], radius=0, depot=0, fleet=Fleet(vehicles=2)
)


def test_stops_are_reached_after_the_way_and_what_the_stops_before_needed():
    first, second = itinerary(LINE, make_tour(LINE, [0, 1, 2, 0, 3])).routes
    times = Times(speed=60, service_minutes=30)
    assert times.hours(LINE, first) == pytest.approx([0, 0.5, 1.5, 3.0])
    assert times.hours(LINE, second) == pytest.approx([0, 1.5, 3.5])


def test_without_a_depot_the_first_stop_needs_its_time_too():
    plain = Instance.from_coordinates([[0, 0], [60, 0]], radius=0)
    (route,) = itinerary(plain, make_tour(plain, [0, 1])).routes
    assert Times(60, 30).hours(plain, route) == pytest.approx([0, 1.5, 3.0])


@pytest.mark.parametrize(
    ("hours", "shown"), [(0, "07:30"), (0.99, "08:29"), (16.5, "00:00 +1"), (41, "00:30 +2")]
)
def test_the_clock_starts_at_the_departure(hours, shown):
    assert Times(40, departure=450).clock(hours) == shown


def test_a_day_becomes_a_limit_of_length_and_each_stop_a_cost():
    changes = Times(speed=40, service_minutes=30, day_hours=8).limits(LINE)
    limited = LINE.with_changes(**changes)
    assert limited.fleet == Fleet(vehicles=2, max_length=320)
    assert limited.visit_costs.tolist() == [0, 20, 20, 20]
    # 7 h of driving and two stops are a day; the route's cost and its time say the same.
    (route,) = itinerary(limited, make_tour(limited, [0, 1, 2])).routes
    assert route.cost / 40 == pytest.approx(Times(40, 30).hours(limited, route)[-1])


def test_without_a_day_nothing_is_limited():
    assert Times(speed=40, service_minutes=30).limits(LINE) == {}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"visit_cost": np.ones(4)}, "service minutes and visit costs: give only one"),
        ({"fleet": Fleet(max_length=5)}, "day hours and the length of a route: give only one"),
        ({"depot": None, "fleet": None}, "fleet: routes start at a depot"),
    ],
)
def test_limits_that_exclude_each_other_are_refused(changes, complaint):
    instance = LINE.with_changes(**changes)
    with pytest.raises(InputError, match=complaint):
        instance.with_changes(**Times(40, 30, 8).limits(instance))


@pytest.mark.parametrize(
    "wrong", [{"speed": 0}, {"speed": np.nan}, {"speed": 9, "service_minutes": -1}]
)
def test_nonsense_is_refused(wrong):
    with pytest.raises(InputError, match="expected a number above 0"):
        Times(**wrong)
