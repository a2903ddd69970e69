"""Places on the road network: the nearest point of a road that leads to all the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from covertour.problem.errors import InputError
from covertour.problem.metric import FloatArray, IntArray
from covertour.roads.network import EARTH_KM, Network, kilometres

FARTHEST = 2.0
"""A place that is more kilometres than this from any road is refused."""

SAMPLE_KM = 0.1
"""Roads are sampled every so many kilometres to find the ones near a place."""

PIECES = 40
"""Pieces of the network that are looked at, the largest first; the others are yards and parks."""

LARGER_WITHIN = 0.3
"""Where places need not be together, a place takes the largest piece that is at most so many
kilometres farther away than the nearest one: not the footpath in a yard, but the street."""

Describe = Callable[[IntArray], str]
"""Names some places in a message."""


@dataclass(frozen=True, eq=False)
class Snapped:
    """Where n places meet the network.

    ``stretch``: int64[n]. ``along``: float64[n], kilometres from the tail of the stretch.
    ``point``: float64[n, 2], longitude and latitude there. ``after``: int64[n], the point of the
    network behind which that is. ``off``: float64[n], kilometres from the place to the road.
    """

    stretch: IntArray
    along: FloatArray
    point: FloatArray
    after: IntArray
    off: FloatArray


@dataclass(frozen=True, eq=False)
class _Segments:
    """Straight bits of road from point ``start`` to the next, and samples along them.

    ``start``, ``stretch``: int64[k]. ``sample``: float64[q, 3], on the unit sphere; ``owner``:
    int64[q], the segment of each.
    """

    start: IntArray
    stretch: IntArray
    sample: FloatArray
    owner: IntArray


def snap(
    network: Network, places: FloatArray, describe: Describe, where: str, *, together: bool
) -> Snapped:
    """The points of roads that are nearest to places, float64[n, 2].

    ``together``: all on one piece of the network, so that each place is reached from every other
    one. Otherwise each place takes the piece it lies at. A place that is too far from any road, or
    from that piece, is an error that names it; ``where`` is what messages say first.
    """
    from scipy.spatial import cKDTree

    segments = _segments(network)
    position = _on_sphere(places)
    piece = network.piece[segments.stretch][segments.owner]
    samples = [np.flatnonzero(piece == k) for k in range(min(PIECES, piece.max(initial=-1) + 1))]
    samples = [mine for mine in samples if len(mine)]
    if not samples:
        raise InputError(f"{where}: has no roads that are open {network.profile.words}")
    trees = [cKDTree(segments.sample[mine]) for mine in samples]
    chords = np.array([tree.query(position)[0] for tree in trees])
    near = 2.0 * EARTH_KM * np.arcsin(np.minimum(chords / 2.0, 1.0))  # to within SAMPLE_KM / 2
    if together:
        reached = (near <= FARTHEST).sum(axis=1)
        choice = np.full(len(places), int(np.argmax(reached)))
    else:
        choice = np.argmax(near <= near.min(axis=0) + LARGER_WITHIN, axis=0)
    found = _nothing(len(places))
    for k in np.unique(choice):
        mine = np.flatnonzero(choice == k)
        _project(network, segments, samples[k], trees[k], places, position, mine, found)
    astray = np.flatnonzero(found.off > FARTHEST)
    if len(astray):
        lonely = astray[near.min(axis=0)[astray] > FARTHEST]
        if together and len(lonely) == 0:
            raise InputError(
                f"{where}: the roads are in separate pieces; {describe(astray)} cannot be reached "
                f"{network.profile.words} from the other {len(places) - len(astray):,}; "
                "plan each piece by itself, or leave these out"
            )
        lonely = lonely if len(lonely) else astray
        raise InputError(
            f"{where}: more than {FARTHEST:g} km from any road that is open "
            f"{network.profile.words}: {describe(lonely)}; is it the right extract, "
            "and are latitude and longitude right?"
        )
    return found


def _nothing(n: int) -> Snapped:
    whole = np.zeros(n, dtype=np.int64)
    return Snapped(whole, np.zeros(n), np.zeros((n, 2)), whole.copy(), np.zeros(n))


def _segments(network: Network) -> _Segments:
    """All segments of stretches, with samples so close that each point of a road has one near."""
    stretches = np.flatnonzero(network.piece >= 0)
    count = network.last[stretches] - network.first[stretches]
    stretch = np.repeat(stretches, count)
    start = np.repeat(network.first[stretches], count)
    start += np.arange(len(start)) - np.repeat(np.cumsum(count) - count, count)
    length = network.along[start + 1] - network.along[start]
    samples = np.maximum(1, np.ceil(length / SAMPLE_KM)).astype(np.int64)
    owner = np.repeat(np.arange(len(start)), samples)
    turn = np.arange(len(owner)) - np.repeat(np.cumsum(samples) - samples, samples)
    share = ((turn + 0.5) / samples[owner])[:, None]
    a, b = network.point[start[owner]], network.point[start[owner] + 1]
    return _Segments(start, stretch, _on_sphere(a + (b - a) * share), owner)


def _project(
    network: Network,
    segments: _Segments,
    samples: IntArray,
    tree: Any,
    places: FloatArray,
    position: FloatArray,
    mine: IntArray,
    found: Snapped,
) -> None:
    """Put down in ``found`` the nearest points of one piece, by its samples, to some places."""
    far = tree.query(position[mine])[0]
    around = tree.query_ball_point(position[mine], far + 1.01 * SAMPLE_KM / EARTH_KM)
    for place, close in zip(mine.tolist(), around, strict=True):
        segment = np.unique(segments.owner[samples[close]])
        k = segments.start[segment]
        # In the plane that touches the globe at the place.
        shrink = np.array([np.cos(np.deg2rad(places[place, 1])), 1.0])
        a = (network.point[k] - places[place]) * shrink
        way = (network.point[k + 1] - network.point[k]) * shrink
        square = np.maximum((way * way).sum(axis=1), 1e-30)
        share = np.clip(-(a * way).sum(axis=1) / square, 0.0, 1.0)
        foot = a + way * share[:, None]
        best = int(np.argmin((foot * foot).sum(axis=1)))
        here, stretch = int(k[best]), int(segments.stretch[segment[best]])
        step = network.along[here + 1] - network.along[here]
        way_there = network.point[here + 1] - network.point[here]
        found.stretch[place], found.after[place] = stretch, here
        found.along[place] = (
            network.along[here] - network.along[network.first[stretch]] + share[best] * step
        )
        found.point[place] = network.point[here] + share[best] * way_there
        found.off[place] = kilometres(places[place], found.point[place])


def _on_sphere(points: FloatArray) -> FloatArray:
    """Points in degrees, float64[n, 2], on the unit sphere, float64[n, 3]."""
    east, north = np.deg2rad(points).T
    return np.column_stack(
        [np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)]
    )
