"""Distances between places: euclidean, TSPLIB's rounded ones, great circles.

A metric is a name. Every metric except ``matrix`` has *positions*: points in the plane or on a
sphere whose straight-line distance, the chord, grows with the metric's unrounded distance, so a
k-d tree on the positions finds neighbours for all of them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

METRICS = ("euclidean", "euc_2d", "ceil_2d", "att", "geo", "haversine", "matrix")

SPHERE_KM = {"geo": 6378.388, "haversine": 6371.0088}
"""Radius of the sphere in kilometres: TSPLIB's for ``geo``, the Earth's mean for ``haversine``."""

FAR_CHORD = 1.9
"""Chords on the unit sphere up to this give distances to the last digits; at 2, between opposite
places, a chord knows its distance only to a quarter of a metre."""

INTEGER_METRICS = ("euc_2d", "ceil_2d", "att", "geo")
"""The metrics whose distances are whole numbers."""

TSPLIB_PI = 3.141592


def radians(metric: str, coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Latitude and longitude in radians, float64[n] each, of ``geo`` or ``haversine`` coordinates.

    ``geo`` coordinates are (latitude, longitude) as DDD.MM, degrees and minutes, as in TSPLIB;
    ``haversine`` ones are (longitude, latitude) in decimal degrees, as in GeoJSON.
    """
    if metric == "geo":
        degrees = np.trunc(coordinates)
        angles = TSPLIB_PI * (degrees + 5.0 * (coordinates - degrees) / 3.0) / 180.0
        return angles[..., 0], angles[..., 1]
    angles = np.deg2rad(coordinates)
    return angles[..., 1], angles[..., 0]


def unrolled(longitude: FloatArray, turn: float = 360.0) -> FloatArray:
    """Longitudes, float64[n], moved by whole turns so that neighbours across the date line meet.

    The globe is cut where it is widest empty. ``turn``: how much a whole turn is, in their unit.

    >>> unrolled(np.array([170.0, -170.0, -175.0])).tolist()
    [-190.0, -170.0, -175.0]
    """
    if np.ptp(longitude) <= turn / 2.0:
        return longitude
    around = np.sort(longitude % turn)
    gaps = np.diff(around, append=around[0] + turn)
    west = around[(int(np.argmax(gaps)) + 1) % len(around)]
    # A last bit west of the westernmost place must not become a whole turn.
    slack = turn * 1e-12
    longitude = (longitude - west + slack) % turn - slack + west
    return longitude - turn if longitude.mean() > turn / 2.0 else longitude


def positions(metric: str, coordinates: FloatArray) -> FloatArray:
    """Points whose chords order pairs of places as the metric does: float64[n, 2] or float64[n, 3].

    Planar metrics keep their coordinates; spherical ones become points on the unit sphere.
    """
    if metric not in SPHERE_KM:
        return coordinates
    latitude, longitude = radians(metric, coordinates)
    around = np.cos(latitude)
    return np.stack(
        [around * np.cos(longitude), around * np.sin(longitude), np.sin(latitude)], axis=-1
    )


def from_chord(metric: str, chord: FloatArray) -> FloatArray:
    """The unrounded distances that belong to chords between positions."""
    if metric in SPHERE_KM:
        return 2.0 * SPHERE_KM[metric] * np.arcsin(np.minimum(chord / 2.0, 1.0))
    if metric == "att":
        return chord / np.sqrt(10.0)
    return chord


def to_chord(metric: str, distance: FloatArray) -> FloatArray:
    """The chords between positions that belong to unrounded distances.

    On a sphere a few last bits longer: opposite places must stay within half a turn of each other.
    """
    if metric in SPHERE_KM:
        half = np.minimum(distance / (2.0 * SPHERE_KM[metric]), np.pi / 2.0)
        return 2.0 * np.sin(half) + 1e-15
    return distance * np.sqrt(10.0) if metric == "att" else distance


def chords_decide(metric: str, chord: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether chords of this size order places as their unrounded distances do."""
    return np.logical_or(metric not in SPHERE_KM, chord <= FAR_CHORD)


def chord_within(metric: str, distance: FloatArray) -> FloatArray:
    """Chords long enough to reach every place whose metric distance is at most ``distance``.

    Rounding to the nearest lets a place lie up to a half further away than its distance says.
    """
    reach = distance + 0.5 if metric == "euc_2d" else distance
    return to_chord(metric, reach) * (1.0 + 1e-6) + 1e-12


def unrounded(metric: str, a: FloatArray, b: FloatArray) -> FloatArray:
    """Distances before rounding between coordinates a and b, float64[..., 2] each."""
    if metric in SPHERE_KM:
        lat_a, lon_a = radians(metric, a)
        lat_b, lon_b = radians(metric, b)
        # The squares of half the chords to b and to its antipode: the arc sine of the first alone,
        # as in the usual formula, has lost half its digits where a and b are opposite.
        around, turn = np.cos(lat_a) * np.cos(lat_b), (lon_b - lon_a) / 2.0
        near = np.sin((lat_b - lat_a) / 2.0) ** 2 + around * np.sin(turn) ** 2
        opposite = np.sin((lat_a + lat_b) / 2.0) ** 2 + around * np.cos(turn) ** 2
        return 2.0 * SPHERE_KM[metric] * np.arctan2(np.sqrt(near), np.sqrt(opposite))
    x, y = a[..., 0] - b[..., 0], a[..., 1] - b[..., 1]
    square = x * x + y * y
    return np.sqrt(square / 10.0) if metric == "att" else np.sqrt(square)


def distances(metric: str, a: FloatArray, b: FloatArray) -> FloatArray:
    """Distances between coordinates a and b, float64[..., 2] each, rounded as the metric says.

    >>> distances("euc_2d", np.array([0.0, 0.0]), np.array([1.0, 1.0])).item()
    1.0
    """
    if metric == "euc_2d":
        return np.floor(unrounded(metric, a, b) + 0.5)
    if metric in ("ceil_2d", "att"):
        return np.ceil(unrounded(metric, a, b))
    if metric == "geo":
        # TSPLIB's own formula: its arc cosine decides which whole number a distance becomes.
        lat_a, lon_a = radians(metric, a)
        lat_b, lon_b = radians(metric, b)
        q1, q2, q3 = np.cos(lon_a - lon_b), np.cos(lat_a - lat_b), np.cos(lat_a + lat_b)
        cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
        return np.floor(SPHERE_KM["geo"] * np.arccos(cosine) + 1.0)
    return unrounded(metric, a, b)
