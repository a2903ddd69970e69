"""Places that look like mistakes: at 0,0, with coordinates swapped, far from all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from covertour.problem import metric as metrics
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray

FEWEST = 4
"""Among fewer places nobody can tell which one is odd."""

TIMES_USUAL, TIMES_EXTENT, NEAREST_KM = 10.0, 3.0, 100.0
"""A place is far when it is so many times as far from the middle as is usual, and beyond the others
by so many times their extent, and by so many kilometres."""

MOST_FAR = 0.05
"""Where more than this share of the places are far, that is how they lie."""

MOST_LOOKED_AT = 200
"""Each of these is compared with all others."""

MEND: dict[str, Callable[[FloatArray], FloatArray]] = {
    "are its latitude and longitude swapped?": lambda place: place[::-1],
    "has its longitude the wrong sign?": lambda place: place * [-1, 1],
    "has its latitude the wrong sign?": lambda place: place * [1, -1],
}
"""What may be wrong with a longitude and latitude, and what they would be then."""


@dataclass(frozen=True)
class Oddity:
    """Why a place looks like a mistake.

    ``kind``: "zero", "swapped", "sign" or "far". ``kilometres``: how far the nearest other place
    is that does not look like one itself; None where that is not known.
    """

    place: int
    kind: str
    kilometres: float | None
    message: str


def oddities(instance: Instance) -> list[Oddity]:
    """The places of an instance on the globe that look like mistakes, in the order of the file.

    >>> towns = [[-17.4, 14.7], [-16.9, 14.8], [-17.0, 14.4], [-16.2, 14.1], [14.2, -16.5]]
    >>> [odd.message for odd in oddities(Instance.from_coordinates(towns, metric="haversine",
    ...     radius=9))]
    ['place 4 is 4,767 km from all others; are its latitude and longitude swapped?']
    """
    if instance.drawn_metric not in metrics.SPHERE_KM or instance.coordinates is None:
        return []
    places = instance.coordinates
    if instance.drawn_metric == "geo":
        latitude, longitude = metrics.radians("geo", places)
        places = np.rad2deg(np.stack([longitude, latitude], axis=1))
    zero = (places == 0.0).all(axis=1)
    found = [
        Oddity(place, "zero", None, f"{_name(instance, place)} is at latitude 0, longitude 0")
        for place in np.flatnonzero(zero).tolist()
        if instance.n > 1
    ]
    if instance.n - int(zero.sum()) >= FEWEST:
        found += _far(instance, places, zero)
    return sorted(found, key=lambda odd: odd.place)


def _name(instance: Instance, place: int) -> str:
    if instance.labels is None:
        return f"place {place}"
    return f"{instance.label(place)} (place {place})"


def _far(instance: Instance, places: FloatArray, zero: np.ndarray) -> list[Oddity]:
    """The places far from all others, not counting those at 0,0."""
    spots = _positions(places)
    middle = np.median(spots[~zero], axis=0)
    middle /= max(float(np.linalg.norm(middle)), 1e-12)
    away = _kilometres(spots, middle)
    usual = float(np.median(away[~zero]))
    candidate = (away > TIMES_USUAL * usual) & ~zero
    others = spots[~candidate & ~zero]
    extent = float(away[~candidate & ~zero].max())
    far, mended = [], []
    farthest = np.flatnonzero(candidate)
    for place in farthest[np.argsort(-away[farthest])][:MOST_LOOKED_AT].tolist():
        gap = float(_kilometres(others, spots[place]).min())
        if gap <= max(NEAREST_KM, TIMES_EXTENT * extent):
            continue
        start = f"{_name(instance, place)} is {gap:,.0f} km from all others"
        hint = _mended(places[place], middle, max(1.5 * extent, 1.0))
        if hint:
            kind = "swapped" if "swapped" in hint else "sign"
            mended.append(Oddity(place, kind, gap, f"{start}; {hint}"))
        else:
            far.append(Oddity(place, "far", gap, start))
    return mended + (far if len(far) <= max(3, MOST_FAR * instance.n) else [])


def _mended(place: FloatArray, middle: FloatArray, near: float) -> str | None:
    """What would bring a place among the others."""
    for hint, mend in MEND.items():
        other = mend(place)
        if abs(other[1]) <= 90 and _kilometres(_positions(other[None])[0], middle) <= near:
            return hint
    return None


def _positions(places: FloatArray) -> FloatArray:
    """Longitudes and latitudes in degrees as points on the unit sphere, float64[n, 3]."""
    longitude, latitude = np.deg2rad(places).T
    return np.stack(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude),
        ],
        axis=1,
    )


def _kilometres(spots: FloatArray, other: FloatArray) -> FloatArray:
    """Great-circle distances from spots on the unit sphere to another one."""
    chord = np.linalg.norm(spots - other, axis=-1)
    return 2.0 * metrics.SPHERE_KM["haversine"] * np.arcsin(np.clip(chord / 2.0, 0.0, 1.0))
