"""How an instance lies on paper or screen: what is seen of it, how far its circles reach.

Pictures and the HTML map share it. Nothing here needs matplotlib.
"""

from __future__ import annotations

import numpy as np

from covertour.problem.coverage import Radius
from covertour.problem.drawing import stretch_of
from covertour.problem.instance import Instance
from covertour.problem.metric import SPHERE_KM, FloatArray, IntArray


def is_geographic(instance: Instance) -> bool:
    """Whether the places lie on the globe, so that drawing them means longitude and latitude."""
    return instance.drawn_metric in SPHERE_KM


def speed_unit(instance: Instance) -> str:
    """What a speed is measured in: ``km/h`` on the globe, else distances in an hour."""
    return "km/h" if is_geographic(instance) else "per hour"


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
    arc = np.minimum(far / SPHERE_KM[instance.drawn_metric], np.pi)[:, None]
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
    span = float(max(high[0] - low[0], (high[1] - low[1]) * stretch_of(instance, at)))
    if span == 0.0:  # one place, or all in one spot
        span = float(np.ptp(seen, axis=0).max()) * 2.0
        span = span or max(1.0, float(np.abs(low).max()) * 0.01)
    most = span * 0.3
    low = np.maximum(np.minimum(low, seen.min(axis=0)), low - most) - span * 0.04
    high = np.minimum(np.maximum(high, seen.max(axis=0)), high + most) + span * 0.04
    return low, high
