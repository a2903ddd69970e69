"""Which roads are open to whom, in which direction, how fast."""

from __future__ import annotations

import pytest

from covertour.roads.profiles import CAR, FOOT, speeds, stops_cars


@pytest.mark.parametrize(
    ("tags", "car", "foot"),
    [
        ({"highway": "primary"}, (60, 60), (5, 5)),
        ({"highway": "primary", "oneway": "yes"}, (60, 0), (5, 5)),
        ({"highway": "primary", "oneway": "-1"}, (0, 60), (5, 5)),
        ({"highway": "motorway"}, (100, 0), (0, 0)),
        ({"highway": "motorway", "oneway": "no"}, (100, 100), (0, 0)),
        ({"highway": "tertiary", "junction": "roundabout"}, (40, 0), (5, 5)),
        ({"highway": "primary", "maxspeed": "50"}, (50, 50), (5, 5)),
        ({"highway": "primary", "maxspeed": "20 mph"}, (32.18688, 32.18688), (5, 5)),
        ({"highway": "residential", "maxspeed": "90"}, (25, 25), (5, 5)),
        ({"highway": "residential", "maxspeed": "walk"}, (25, 25), (5, 5)),
        ({"highway": "path"}, (0, 0), (5, 5)),
        ({"highway": "path", "access": "yes"}, (0, 0), (5, 5)),
        ({"highway": "pedestrian", "motor_vehicle": "yes"}, (5, 5), (5, 5)),
        ({"highway": "primary", "foot": "no"}, (60, 60), (0, 0)),
        ({"highway": "motorway", "foot": "yes"}, (100, 0), (5, 5)),
        ({"highway": "service", "access": "private"}, (0, 0), (0, 0)),
        ({"highway": "track", "access": "no", "foot": "designated"}, (0, 0), (5, 5)),
        ({"highway": "service", "access": "no", "motorcar": "yes"}, (15, 15), (0, 0)),
        ({"route": "ferry"}, (12, 12), (12, 12)),
        ({"route": "ferry", "motor_vehicle": "no"}, (0, 0), (12, 12)),
        ({"highway": "construction"}, (0, 0), (0, 0)),
    ],
)
def test_tags_tell_who_may_go_where_and_how_fast(
    tags: dict[str, str], car: tuple[float, float], foot: tuple[float, float]
) -> None:
    assert speeds(CAR, tags) == pytest.approx(car)
    assert speeds(FOOT, tags) == pytest.approx(foot)


@pytest.mark.parametrize(
    ("tags", "stopped"),
    [
        ({"barrier": "bollard"}, True),
        ({"barrier": "gate"}, False),
        ({"barrier": "gate", "access": "private"}, True),
        ({"barrier": "bollard", "motor_vehicle": "yes"}, False),
        ({"barrier": "toll_booth"}, False),
    ],
)
def test_barriers_stop_cars_unless_they_open(tags: dict[str, str], stopped: bool) -> None:
    assert stops_cars(tags) is stopped
