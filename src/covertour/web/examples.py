"""Three instances to start with: towns on the globe, houses of a town, farms in clusters."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from covertour import Instance, random_instance, read
from covertour.data import demo_path
from covertour.web.tasks import encoded


@dataclass(frozen=True)
class Example:
    """An example: its name in addresses, its title and what it is about."""

    name: str
    title: str
    summary: str


EXAMPLES = (
    Example(
        "senegal",
        "Mobile clinics in Senegal",
        "Every town within 20 km of a stop, from Dakar and back.",
    ),
    Example(
        "parcels",
        "Parcel lockers in a town",
        "150 houses; each locker serves its 7 nearest neighbours.",
    ),
    Example(
        "farms",
        "Drones over farms",
        "300 farms in clusters; the van stops, the drone reaches 6 km.",
    ),
)


def _senegal() -> Instance:
    return read(demo_path(), radius=20.0, on_note=lambda note: None)


def _parcels() -> Instance:
    town = random_instance(150, nearest=7, seed=4)
    assert town.coordinates is not None
    return town.with_changes(
        name="parcels",
        coordinates=np.round(town.coordinates * 4000.0, 0),
        labels=tuple(f"House {number}" for number in range(1, town.n + 1)),
        depot=0,
    )


def _farms() -> Instance:
    country = random_instance(300, radius=0.06, layout="clustered", seed=7)
    assert country.coordinates is not None
    points = np.round(country.coordinates * 100.0, 2)
    return Instance.from_coordinates(
        points,
        radius=6.0,
        name="farms",
        labels=[f"Farm {number}" for number in range(1, country.n + 1)],
        depot=int(np.argmin(np.hypot(*(points - 50.0).T))),
    )


@cache
def instance_of(name: str) -> bytes:
    """The instance of an example as JSON."""
    make = {"senegal": _senegal, "parcels": _parcels, "farms": _farms}[name]
    return encoded(make())


@cache
def listed() -> list[dict[str, Any]]:
    """All examples, as the API lists them."""
    return [
        {
            "name": example.name,
            "title": example.title,
            "summary": example.summary,
            "places": len(json.loads(instance_of(example.name))["coordinates"]),
            "instance": f"/v1/examples/{example.name}",
        }
        for example in EXAMPLES
    ]
