"""The ground that places on the globe lie on: land, coasts, borders and the names of countries.

Cut from Natural Earth's outlines at 1:50 million, which ``outlines/`` holds, so that maps and
pictures have a background without asking anybody. Nothing here needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from covertour.problem.metric import FloatArray, IntArray

SOURCE = "Natural Earth"
"""Whom the outlines are from; they are in the public domain."""

SMALLEST_VIEW = 0.3
"""In degrees. The outlines are meant for countries: in smaller views they would put places on the
wrong side of a coast."""

SMALLEST, STEPS = 0.0005, 4
"""The size in degrees of the smallest details, and how many steps double the size."""

SEAM, POLE = 180.0, -89.9
"""The outlines are cut along this meridian, around some islands, and close around the south pole:
those edges are no coasts."""


@dataclass(frozen=True, eq=False)
class Ground:
    """What lies in a box of longitudes and latitudes; all points are float64[k, 2].

    ``land``: closed rings, cut at the box; a point is on land where it lies in an odd number of
    them. ``coasts`` and ``borders``: lines, which may run out of the box. ``names``: the countries
    with the middle of their largest part in the box.
    """

    land: tuple[FloatArray, ...]
    coasts: tuple[FloatArray, ...]
    borders: tuple[FloatArray, ...]
    names: tuple[tuple[str, float, float], ...]


def ground(low: FloatArray, high: FloatArray, finest: float) -> Ground:
    """The ground between two corners, float64[2] each: longitude and latitude in degrees.

    Details smaller than ``finest``, in degrees, are left out. A box may reach beyond 180 degrees.

    >>> import numpy as np
    >>> [name for name, _, _ in ground(np.array([-17.8, 12]), np.array([-11, 17]), 0.05).names]
    ['Senegal', 'Mauritania', 'Mali', 'Guinea-Bissau', 'Guinea', 'Gambia']
    """
    outlines = _outlines()
    kept = outlines.detail >= STEPS * np.log2(max(finest, SMALLEST) / SMALLEST)
    land: list[FloatArray] = []
    coasts: list[FloatArray] = []
    borders: list[FloatArray] = []
    largest: dict[str, tuple[float, float, float]] = {}
    for shift in (-360.0, 0.0, 360.0):
        move = np.array([shift, 0.0])
        near, far = low - move, high - move
        for ring in np.flatnonzero(_overlap(outlines.ring_box, near, far)).tolist():
            corners = _clipped(_ring(outlines, ring, kept), near, far)
            size = _area(corners)
            if len(corners) < 3 or abs(size) < finest * finest:
                continue
            land.append(corners + move)
            name = outlines.names[outlines.ring_country[ring]]
            if abs(size) > largest.get(name, (0.0, 0.0, 0.0))[0]:
                east, north = _middle(corners)
                largest[name] = (abs(size), east + shift, north)
        for arc in np.flatnonzero(_overlap(outlines.arc_box, near, far)).tolist():
            lines = borders if outlines.uses[arc] > 1 else coasts
            points = _arc(outlines, arc, kept)
            lines += [line + move for line in _pieces(points, near, far, finest)]
    order = sorted(largest, key=lambda name: -largest[name][0])
    return Ground(
        tuple(land),
        tuple(coasts),
        tuple(borders),
        tuple((name, largest[name][1], largest[name][2]) for name in order),
    )


@dataclass(frozen=True, eq=False)
class _Outlines:
    """All outlines: a arcs of p points, of which r rings are put together.

    ``points``: float64[p, 2]; ``detail``: uint8[p], how large a detail each makes; ``arc_start``:
    int64[a + 1]; ``arc_box``: float64[a, 4], west, south, east, north; ``uses``: int64[a], in how
    many rings. ``ring_arcs``: int64[q], ~arc where it runs backwards; ``ring_start``: int64[r + 1];
    ``ring_box``: float64[r, 4]; ``ring_country``: uint8[r].
    """

    points: FloatArray
    detail: IntArray
    arc_start: IntArray
    arc_box: FloatArray
    uses: IntArray
    ring_arcs: IntArray
    ring_start: IntArray
    ring_box: FloatArray
    ring_country: IntArray
    names: list[str]


@cache
def _outlines() -> _Outlines:
    with (files("covertour.plot") / "outlines" / "countries.npz").open("rb") as file:
        held = dict(np.load(file))
    arc_start = _starts(held["arc_lengths"])
    ring_start = _starts(held["ring_lengths"])
    walked = np.cumsum(held["steps"].T.astype(np.int64), axis=0)
    # Each arc begins with its own place on the grid, so what was summed before it is taken away.
    before = np.vstack([[[0, 0]], walked])[arc_start[:-1]]
    points = (walked - np.repeat(before, np.diff(arc_start), axis=0)) * held["scale"]
    points += held["shift"]
    arc_box = _boxes(points, points, arc_start)
    ring_arcs = held["ring_arcs"].astype(np.int64)
    arcs = np.where(ring_arcs < 0, ~ring_arcs, ring_arcs)
    return _Outlines(
        points,
        held["detail"],
        arc_start,
        arc_box,
        np.bincount(arcs, minlength=len(arc_box)),
        ring_arcs,
        ring_start,
        _boxes(arc_box[arcs][:, :2], arc_box[arcs][:, 2:], ring_start),
        held["ring_country"],
        held["names"].tolist(),
    )


def _starts(lengths: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _boxes(low: FloatArray, high: FloatArray, start: IntArray) -> FloatArray:
    """The box around each slice of points, float64[m, 4]."""
    return np.hstack([np.minimum.reduceat(low, start[:-1]), np.maximum.reduceat(high, start[:-1])])


def _overlap(boxes: FloatArray, low: FloatArray, high: FloatArray) -> np.ndarray:
    return np.all((boxes[:, :2] <= high) & (boxes[:, 2:] >= low), axis=1)


def _arc(outlines: _Outlines, arc: int, kept: np.ndarray) -> FloatArray:
    here = slice(outlines.arc_start[arc], outlines.arc_start[arc + 1])
    return outlines.points[here][kept[here]]


def _ring(outlines: _Outlines, ring: int, kept: np.ndarray) -> FloatArray:
    """A closed ring without its last point, which is the first again."""
    begin, end = outlines.ring_start[ring], outlines.ring_start[ring + 1]
    parts = []
    for arc in outlines.ring_arcs[begin:end].tolist():
        points = _arc(outlines, ~arc, kept)[::-1] if arc < 0 else _arc(outlines, arc, kept)
        parts.append(points[:-1])
    return np.concatenate(parts)


def _clipped(ring: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """A ring cut at a box, one side after the other (Sutherland and Hodgman, 1974)."""
    for axis in (0, 1):
        for edge, sign in ((low[axis], 1.0), (high[axis], -1.0)):
            if len(ring) == 0:
                return ring
            inside = sign * (ring[:, axis] - edge) >= 0
            if inside.all():
                continue
            after, inside_after = np.roll(ring, -1, axis=0), np.roll(inside, -1)
            way = after - ring
            with np.errstate(divide="ignore", invalid="ignore"):
                share = (edge - ring[:, axis]) / way[:, axis]
            # Of each side: where it crosses the edge, then its end.
            crossing = inside != inside_after
            corners = np.stack(
                [ring + way * np.where(crossing, share, 0.0)[:, None], after], axis=1
            )
            ring = corners[np.stack([crossing, inside_after], axis=1)]
    return ring


def _area(ring: FloatArray) -> float:
    """The area of a ring in square degrees, below 0 where it runs clockwise."""
    if len(ring) < 3:
        return 0.0
    x, y = (ring - ring[0]).T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2.0


def _middle(ring: FloatArray) -> tuple[float, float]:
    """The centre of gravity, or the middle of the widest stretch at its height where outside."""
    x, y = (ring - ring[0]).T
    cross = x * np.roll(y, -1) - np.roll(x, -1) * y
    whole = float(cross.sum()) * 3.0
    east, north = (float(np.sum((v + np.roll(v, -1)) * cross)) / whole for v in (x, y))
    # Where the ring crosses that height, in order: land lies between each odd and even crossing.
    rise = np.roll(y, -1) - y
    passing = (y > north) != (np.roll(y, -1) > north)
    at = x[passing] + (north - y[passing]) / rise[passing] * (np.roll(x, -1) - x)[passing]
    ends = np.sort(at)
    starts, stops = ends[0::2], ends[1::2]
    if len(stops) and not np.any((starts <= east) & (east <= stops)):
        widest = int(np.argmax(stops - starts[: len(stops)]))
        east = float(starts[widest] + stops[widest]) / 2.0
    return east + float(ring[0, 0]), north + float(ring[0, 1])


def _pieces(
    points: FloatArray, low: FloatArray, high: FloatArray, finest: float
) -> Iterator[FloatArray]:
    """The parts of a line that come near a box, without the seam and without specks."""
    if float(np.max(np.ptp(points, axis=0))) < finest:
        return
    first, second = points[:-1], points[1:]
    near = np.all((np.minimum(first, second) <= high) & (np.maximum(first, second) >= low), axis=1)
    on_seam = np.abs(np.abs(points[:, 0]) - SEAM) < 1e-3
    seam = (on_seam[:-1] & on_seam[1:]) | (np.minimum(first[:, 1], second[:, 1]) < POLE)
    wanted = np.concatenate([[False], near & ~seam, [False]])
    turns = np.flatnonzero(wanted[1:] != wanted[:-1])
    for begin, end in zip(turns[0::2].tolist(), turns[1::2].tolist(), strict=True):
        yield points[begin : end + 1]
