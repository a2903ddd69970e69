from __future__ import annotations

import numpy as np
import pytest

from covertour import Instance
from covertour.problem.oddities import Oddity, oddities

RNG = np.random.default_rng(0)
SENEGAL = np.column_stack([RNG.uniform(-17.4, -12.5, 60), RNG.uniform(12.5, 16.5, 60)])


def odd(points: np.ndarray, **fields: object) -> list[Oddity]:
    return oddities(Instance.from_coordinates(points, metric="haversine", radius=1, **fields))


def with_first(longitude: float, latitude: float) -> np.ndarray:
    points = SENEGAL.copy()
    points[0] = longitude, latitude
    return points


def test_places_that_belong_together_are_not_odd() -> None:
    assert odd(SENEGAL) == []
    islands = np.concatenate(
        [RNG.normal([178, -18], 0.5, (20, 2)), RNG.normal([-179, -17], 0.5, (20, 2))]
    )
    assert odd(islands) == []
    assert odd(np.zeros((1, 2))) == []
    assert oddities(Instance.from_coordinates([[0, 0], [1e6, 1e6]] * 3, radius=1)) == []


def test_swapped_coordinates() -> None:
    (found,) = odd(with_first(14.7, -17.4), labels=["Dakar", *map(str, range(59))])
    assert (found.place, found.kind) == (0, "swapped")
    assert found.message.startswith("Dakar (place 0) is 4,")
    assert found.message.endswith(" km from all others; are its latitude and longitude swapped?")
    assert found.kilometres == pytest.approx(4000, rel=0.25)


def test_many_swapped_coordinates() -> None:
    points = SENEGAL.copy()
    points[:20] = points[:20, ::-1]
    assert [(each.place, each.kind) for each in odd(points)] == [
        (place, "swapped") for place in range(20)
    ]


def test_a_lost_sign() -> None:
    (found,) = odd(with_first(17.4, 14.7))
    assert found.kind == "sign"
    assert found.message.endswith("has its longitude the wrong sign?")


def test_zero() -> None:
    points = SENEGAL.copy()
    points[[3, 7]] = 0.0
    assert [(each.place, each.kind) for each in odd(points)] == [(3, "zero"), (7, "zero")]
    assert odd(points)[0].message == "place 3 is at latitude 0, longitude 0"


def test_far_from_all_others() -> None:
    (found,) = odd(with_first(2.35, 48.85))
    assert found.kind == "far"
    assert found.kilometres == pytest.approx(3900, rel=0.1)
    district = RNG.normal([-16, 14], 0.05, (30, 2))
    district[4] += [3, 0]
    (found,) = odd(district)
    assert (found.place, found.kind) == (4, "far")


def test_a_country_with_far_parts_is_not_all_odd() -> None:
    capital = RNG.normal([2.35, 48.85], 0.05, (60, 2))
    others = np.column_stack([RNG.uniform(-1, 7, 20), RNG.uniform(43, 49, 20)])
    assert odd(np.concatenate([capital, others])) == []
