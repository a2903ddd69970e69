"""Roads: what stands behind distances by road, beside the matrix: unit, cover distances, lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from covertour.problem.metric import FloatArray, IntArray

UNITS = {"distance": "km", "time": "min"}
"""The unit of a tour that is measured by distance or by time."""


class Lines(Protocol):
    """Knows where the road runs."""

    def line(self, start: int, end: int) -> FloatArray:
        """Longitude and latitude along the way from one place to another, float64[m, 2]."""


@dataclass(frozen=True, eq=False)
class Roads:
    """What an instance knows of its roads; its matrix holds the ways of the tour.

    ``unit``: of the matrix, ``km`` or ``min``. ``tour``: how one travels, such as "by car, the
    shortest way". ``cover``: what a place covers, such as "all within 5 km on foot by road".
    ``pair``: int64[m], ascending: the covered pairs, place i and whom it covers, j, as i n + j;
    ``distance``: float64[m], kilometres from i to j by that rule; both None where the rule is asked
    of the matrix itself, and ``cover`` is empty then. ``credit``: whose data it is.
    ``lines``: where the roads run; None draws straight lines.
    """

    unit: str
    tour: str
    cover: str = ""
    pair: IntArray | None = None
    distance: FloatArray | None = None
    credit: str = ""
    lines: Lines | None = None

    def cover_distances(self, n: int, stops: npt.ArrayLike, places: npt.ArrayLike) -> FloatArray:
        """Kilometres from stops to places that they cover, element by element, inf for others."""
        assert self.pair is not None
        assert self.distance is not None
        i, j = np.broadcast_arrays(np.asarray(stops), np.asarray(places))
        key = i.astype(np.int64) * n + j
        pair, distance = np.append(self.pair, -1), np.append(self.distance, np.inf)
        at = np.searchsorted(self.pair, key)
        found = np.where(pair[at] == key, distance[at], np.inf)
        return np.where(i == j, 0.0, found)
