"""How an instance lies on paper or screen: where its places are, how far its circles reach.

Pictures and the HTML map share it. Nothing here needs matplotlib.
"""

from __future__ import annotations

import numpy as np

from covertour.problem.coverage import Nearest, Radius
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.metric import SPHERE_KM, FloatArray, IntArray, radians


def is_geographic(instance: Instance) -> bool:
    """Whether the places lie on the globe, so that drawing them means longitude and latitude."""
    return instance.metric in SPHERE_KM


def drawn_at(instance: Instance) -> FloatArray:
    """Where the places are drawn, float64[n, 2]: x and y, or longitude and latitude in degrees.

    Longitudes of places on both sides of the 180th meridian are shifted to lie together.
    """
    if instance.coordinates is None:
        raise InputError(
            f"{instance.name}: cannot be drawn, it has a distance matrix and no coordinates"
        )
    if not is_geographic(instance):
        return instance.coordinates
    latitude, longitude = (
        np.rad2deg(angle) for angle in radians(instance.metric, instance.coordinates)
    )
    if np.ptp(longitude) > 180.0:
        around = np.sort(longitude % 360.0)
        gaps = np.diff(around, append=around[0] + 360.0)
        west = around[(int(np.argmax(gaps)) + 1) % len(around)]  # the widest gap is the map's edge
        longitude = (longitude - west) % 360.0 + west
        if longitude.mean() > 180.0:
            longitude = longitude - 360.0
    return np.column_stack([longitude, latitude])


def reach(instance: Instance, stops: IntArray) -> FloatArray | None:
    """How far the circles of stops reach, float64[m], or None where the rule draws no circles.

    The unit is that of the drawing in the plane and kilometres on the globe. Metrics that round
    cover a little more or less than their radius says; the circle shows what is really covered.
    """
    if not isinstance(instance.rule, Radius) or instance.metric == "matrix":
        return None
    radius = np.broadcast_to(np.asarray(instance.rule.r, dtype=np.float64), instance.n)[stops]
    match instance.metric:
        case "euc_2d":
            return np.floor(radius) + 0.5
        case "ceil_2d" | "geo":
            return np.floor(radius)
        case "att":
            return np.floor(radius) * np.sqrt(10.0)
    return radius


def circles(instance: Instance, centres: FloatArray, far: FloatArray, corners: int) -> FloatArray:
    """Outlines of circles around drawn centres, float64[m, corners, 2]; true circles on a globe."""
    turn = np.linspace(0.0, 2.0 * np.pi, corners, endpoint=False)
    if not is_geographic(instance):
        ring = np.stack([np.cos(turn), np.sin(turn)], axis=-1)
        return centres[:, None, :] + far[:, None, None] * ring
    longitude, latitude = np.deg2rad(centres[:, :1]), np.deg2rad(centres[:, 1:])
    arc = np.minimum(far / SPHERE_KM[instance.metric], np.pi)[:, None]
    sine = np.sin(latitude) * np.cos(arc) + np.cos(latitude) * np.sin(arc) * np.cos(turn)
    east = np.arctan2(
        np.sin(turn) * np.sin(arc) * np.cos(latitude),
        np.cos(arc) - np.sin(latitude) * sine,
    )
    rim = np.stack([longitude + east, np.arcsin(np.clip(sine, -1.0, 1.0))], axis=-1)
    return np.rad2deg(rim)


def rims(instance: Instance, at: FloatArray, stops: IntArray) -> FloatArray | None:
    """Outlines of the circles of stops, float64[m, corners, 2], or None where there are none."""
    far = reach(instance, stops)
    if far is None or not np.any(far > 0):
        return None
    drawn = far > 0
    return circles(instance, at[stops[drawn]], far[drawn], corners=72)


def view(
    instance: Instance, at: FloatArray, outlines: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """The lower left and upper right corner, float64[2] each, of a view of all places.

    It shows the outlines, float64[..., 2], too, as far as that does not make the places small.
    """
    low, high = at.min(axis=0), at.max(axis=0)
    seen = at if outlines is None else outlines.reshape(-1, 2)
    span = float(max(high[0] - low[0], (high[1] - low[1]) * stretch(instance, at)))
    if span == 0.0:  # one place, or all in one spot
        span = float(np.ptp(seen, axis=0).max()) * 2.0
        span = span or max(1.0, float(np.abs(low).max()) * 0.01)
    most = span * 0.3
    low = np.maximum(np.minimum(low, seen.min(axis=0)), low - most) - span * 0.04
    high = np.minimum(np.maximum(high, seen.max(axis=0)), high + most) + span * 0.04
    return low, high


def stretch(instance: Instance, at: FloatArray) -> float:
    """How much taller a unit of y is drawn than one of x, as degrees of longitude shrink."""
    if not is_geographic(instance):
        return 1.0
    middle = (at[:, 1].min() + at[:, 1].max()) / 2.0
    return 1.0 / max(float(np.cos(np.deg2rad(middle))), 0.05)


def unit(instance: Instance) -> str:
    """The unit of distances: ``km`` on the globe, none in the plane."""
    return "km" if is_geographic(instance) else ""


def measure(instance: Instance, distance: float, whole: float | None = None) -> str:
    """A distance as text with its unit, to about five digits of ``whole``, the tour's length.

    >>> measure(Instance.from_coordinates([[0, 0]], radius=0), 3.14159265)
    '3.1416'
    """
    if instance.integral:
        decimals = 0
    elif is_geographic(instance):
        decimals = 1
    else:
        size = distance if whole is None else whole
        decimals = int(np.clip(4 - np.floor(np.log10(size)), 0, 12)) if size > 0 else 0
    return f"{distance:,.{decimals}f} {unit(instance)}".strip()


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 stop``, ``2 stops``, ``10,000 stops``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def rule_in_words(instance: Instance) -> str:
    """What a place covers, for a title."""
    match instance.rule:
        case Nearest(k):
            return f"a place covers its {_range(k)} nearest"
        case Radius(r):
            return f"a place covers a radius of {_range(r)} {unit(instance)}".strip()
    return "a place covers a given set"


def _range(values: float | FloatArray | IntArray) -> str:
    low, high = f"{np.min(values):.4g}", f"{np.max(values):.4g}"
    return low if low == high else f"{low} to {high}"
