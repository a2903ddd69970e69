"""How one travels: which roads a car or a person on foot may take, in which direction, how fast.

Speeds are those of a day's work, not limits: what one can count on per hour on a road of a class.
They are read from the tags of OpenStreetMap, https://wiki.openstreetmap.org/wiki/Key:highway.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

WALKING = 5.0
"""Kilometres per hour on foot."""

FERRY = 12.0
"""Kilometres per hour of a ferry, waiting included."""

CLOSED = (0.0, 0.0)
"""The speeds of a way that one may not take."""

NOT_ALLOWED = frozenset(
    (
        "no",
        "private",
        "agricultural",
        "forestry",
        "emergency",
        "military",
        "psv",
        "bus",
        "use_sidepath",
    )
)
"""Values of access tags that keep the public out."""

ALLOWED = frozenset(("yes", "designated", "permissive", "destination", "customers", "official"))

PASSABLE_BARRIERS = frozenset(
    (
        *("gate", "lift_gate", "swing_gate", "sliding_gate", "cattle_grid", "toll_booth", "kerb"),
        *("border_control", "entrance", "height_restrictor", "sally_port", "arch", "checkpoint"),
        "no",
    )
)
"""Barriers that let a car through unless their access tags say otherwise; others stop it."""

KILOMETRES_PER_MILE = 1.609344


@dataclass(frozen=True)
class Profile:
    """A way of travelling.

    ``speeds``: kilometres per hour by class of road; a class that is not there is closed.
    ``access``: the tags that say who may go there, the most special first. ``one_way``: whether
    one-way streets bind. ``off_road``: kilometres per hour between a place and the road.
    """

    name: str
    speeds: Mapping[str, float]
    access: tuple[str, ...]
    one_way: bool
    off_road: float
    words: str


CAR = Profile(
    "car",
    {
        "motorway": 100.0,
        "motorway_link": 50.0,
        "trunk": 80.0,
        "trunk_link": 45.0,
        "primary": 60.0,
        "primary_link": 35.0,
        "secondary": 50.0,
        "secondary_link": 30.0,
        "tertiary": 40.0,
        "tertiary_link": 25.0,
        "unclassified": 30.0,
        "residential": 25.0,
        "road": 25.0,
        "living_street": 10.0,
        "service": 15.0,
        "track": 15.0,
    },
    ("motorcar", "motor_vehicle", "vehicle", "access"),
    one_way=True,
    off_road=10.0,
    words="by car",
)

FOOT = Profile(
    "foot",
    dict.fromkeys(
        (
            *(road for road in CAR.speeds if not road.startswith("motorway")),
            *("footway", "path", "pedestrian", "steps", "cycleway", "bridleway", "corridor"),
        ),
        WALKING,
    ),
    ("foot", "access"),
    one_way=False,
    off_road=WALKING,
    words="on foot",
)

PROFILES = {profile.name: profile for profile in (CAR, FOOT)}


def speeds(profile: Profile, tags: Mapping[str, str]) -> tuple[float, float]:
    """Kilometres per hour along a way and against it; 0 where one may not go.

    >>> speeds(CAR, {"highway": "residential", "oneway": "yes"})
    (25.0, 0.0)
    >>> speeds(FOOT, {"highway": "residential", "oneway": "yes"})
    (5.0, 5.0)
    """
    ferry = tags.get("route") == "ferry"
    road = tags.get("highway", "")
    speed = FERRY if ferry else profile.speeds.get(road, 0.0)
    permit = _permit(profile, tags)
    if permit is False:
        return CLOSED
    if speed == 0.0:
        opened = permit is True and road in ("motorway", "motorway_link", "pedestrian", "footway")
        if not opened:
            return CLOSED
        speed = WALKING  # a motorway with a pavement, a pedestrian street open to cars
    if profile.one_way and not ferry:
        speed = min(speed, _speed_limit(tags.get("maxspeed", "")))
    forward, backward = _directions(tags) if profile.one_way else (True, True)
    return speed * forward, speed * backward


def _permit(profile: Profile, tags: Mapping[str, str]) -> bool | None:
    """Whether the tags let one in; None where they do not speak of it."""
    for key in profile.access:
        value = tags.get(key)
        if value in NOT_ALLOWED:
            return False
        if value in ALLOWED:
            # "access" alone opens no footpath for cars.
            return True if key != "access" else None
    return None


def _directions(tags: Mapping[str, str]) -> tuple[bool, bool]:
    one_way = tags.get("oneway", "")
    if one_way in ("yes", "true", "1"):
        return True, False
    if one_way in ("-1", "reverse"):
        return False, True
    implied = tags.get("highway") == "motorway" or tags.get("junction") in (
        "roundabout",
        "circular",
    )
    return True, one_way == "no" or not implied


def _speed_limit(text: str) -> float:
    """A speed limit in kilometres per hour; without one, or where it is no number, none."""
    found = re.fullmatch(r"\s*([0-9]{1,3})(?:\.[0-9]+)?\s*(mph|km/h|kmh)?\s*", text)
    if found is None or int(found[1]) == 0:
        return float("inf")
    return int(found[1]) * (KILOMETRES_PER_MILE if found[2] == "mph" else 1.0)


def stops_cars(tags: Mapping[str, str]) -> bool:
    """Whether a barrier on a way, such as a bollard, lets no car through."""
    permit = _permit(CAR, tags)
    if permit is not None:
        return not permit
    return tags.get("barrier", "no") not in PASSABLE_BARRIERS
