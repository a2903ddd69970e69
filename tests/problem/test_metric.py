"""Distances: facts that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from covertour.problem.metric import (
    METRICS,
    SPHERE_KM,
    chord_within,
    distances,
    from_chord,
    positions,
    to_chord,
    unrounded,
)


def between(metric: str, a: tuple[float, float], b: tuple[float, float]) -> float:
    return float(distances(metric, np.array(a, dtype=float), np.array(b, dtype=float)))


@pytest.mark.parametrize(
    ("metric", "b", "expected"),
    [
        ("euclidean", (3, 4), 5.0),
        ("euclidean", (1, 1), 2**0.5),
        ("euc_2d", (1, 1), 1.0),  # 1.41 to the nearest
        ("euc_2d", (1.5, 0), 2.0),  # halves go up
        ("euc_2d", (0.4, 0), 0.0),
        ("ceil_2d", (1, 1), 2.0),
        ("ceil_2d", (3, 4), 5.0),  # a whole number stays
        ("att", (10, 0), 4.0),  # sqrt(100 / 10) = 3.16, rounded up
        ("att", (20, 0), 7.0),  # sqrt(400 / 10) = 6.32, rounded up
        ("att", (3, 1), 1.0),  # sqrt(10 / 10), whole already
    ],
)
def test_planar_distances_from_the_origin(
    metric: str, b: tuple[float, float], expected: float
) -> None:
    assert between(metric, (0, 0), b) == pytest.approx(expected)
    assert between(metric, b, (0, 0)) == pytest.approx(expected)


def test_a_degree_of_latitude_is_111_kilometres() -> None:
    assert between("haversine", (0, 0), (0, 1)) == pytest.approx(111.19508, abs=1e-5)
    assert between("haversine", (77, -40), (77, -41)) == pytest.approx(111.19508, abs=1e-5)


def test_a_degree_of_longitude_shrinks_towards_the_poles() -> None:
    assert between("haversine", (10, 60), (11, 60)) == pytest.approx(111.19508 / 2, abs=0.01)
    assert between("haversine", (10, 90), (100, 90)) == pytest.approx(0, abs=1e-9)


def test_great_circles_cross_the_date_line() -> None:
    assert between("haversine", (179.5, 0), (-179.5, 0)) == pytest.approx(111.19508, abs=1e-5)
    assert between("haversine", (0, 0), (180, 0)) == pytest.approx(np.pi * 6371.0088)


def test_paris_to_london_is_344_kilometres() -> None:
    assert between("haversine", (2.3522, 48.8566), (-0.1276, 51.5072)) == pytest.approx(344, abs=1)


def test_geo_reads_degrees_and_minutes() -> None:
    # 30 minutes are half a degree: 6378.388 * 3.141592 / 360 = 55.66 km, cut and one added.
    assert between("geo", (0, 0), (0.30, 0)) == 56.0
    assert between("geo", (0, 0), (-0.30, 0)) == 56.0
    assert between("geo", (10, 0), (11, 0)) == 112.0


def test_geo_distances_of_burma14_are_those_of_tsplib() -> None:
    """The first places of TSPLIB's burma14; the distances are from its published matrix."""
    places = np.array([[16.47, 96.10], [16.47, 94.44], [20.09, 92.54], [22.39, 93.37]])
    start, end = np.triu_indices(4, k=1)
    found = distances("geo", places[start], places[end]).tolist()
    assert found == [153.0, 510.0, 706.0, 422.0, 664.0, 289.0]


def test_distances_take_arrays_of_pairs() -> None:
    a = np.zeros((2, 3, 2))
    b = np.ones((2, 3, 2))
    assert distances("euc_2d", a, b).shape == (2, 3)


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "matrix"])
def test_chords_and_distances_turn_into_each_other(metric: str) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.uniform(-80, 80, (2, 200, 2))
    plain = unrounded(metric, a, b)
    chord = np.linalg.norm(positions(metric, a) - positions(metric, b), axis=1)
    assert from_chord(metric, chord) == pytest.approx(plain)
    assert to_chord(metric, plain) == pytest.approx(chord)
    assert np.all(chord <= chord_within(metric, distances(metric, a, b)))


def test_spherical_positions_lie_on_the_unit_sphere() -> None:
    for metric in SPHERE_KM:
        found = positions(metric, np.array([[12.5, 30.25], [-60.0, 7.0]]))
        assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1])


def test_great_circles_to_the_other_side_of_the_globe_have_all_their_digits() -> None:
    half_turn = np.pi * SPHERE_KM["haversine"]
    north = half_turn / 180.0  # of one degree
    for degrees in (1e-9, 1e-7, 1e-3):
        start, end = np.array([7.0, 0.0]), np.array([-173.0, degrees])
        assert unrounded("haversine", start, end) == pytest.approx(
            half_turn - degrees * north, rel=1e-15
        )
