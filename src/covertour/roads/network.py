"""The road network of a profile: junctions, the stretches between them, and which hang together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from covertour.problem.metric import FloatArray, IntArray
from covertour.roads.extract import Ways
from covertour.roads.profiles import CAR, Profile

EARTH_KM = 6371.0088


@dataclass(frozen=True, eq=False)
class Network:
    """Junctions numbered from 0, and s stretches of road between two of them.

    ``tail``, ``head``: int64[s], the junctions at both ends. ``first``, ``last``: int64[s]; the
    stretch has the points ``first`` to ``last``, both included, of ``point``, float64[r, 2].
    ``along``: float64[r], kilometres from the start of its way to each point. ``speed``:
    float64[s, 2], kilometres per hour from tail to head and back, 0 where closed.
    """

    profile: Profile
    junctions: int
    tail: IntArray
    head: IntArray
    first: IntArray
    last: IntArray
    point: FloatArray
    along: FloatArray
    speed: FloatArray

    @property
    def length(self) -> FloatArray:
        """float64[s]: kilometres of each stretch."""
        return self.along[self.last] - self.along[self.first]

    @cached_property
    def piece(self) -> IntArray:
        """int64[s]: the piece of the network each stretch belongs to, 0 the largest, -1 for none.

        Within a piece every junction is reached from every other one. Stretches that only lead
        from one piece to another, as a street that one can leave but not enter, are in none.
        """
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        tail, head, _ = self.arcs()
        shape = (self.junctions, self.junctions)
        graph = coo_matrix((np.ones(len(tail), dtype=np.int8), (tail, head)), shape)
        _, label = connected_components(graph, directed=True, connection="strong")
        size = np.bincount(label)
        rank = np.empty(len(size), dtype=np.int64)
        rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
        piece = rank[label]
        return np.where(piece[self.tail] == piece[self.head], piece[self.tail], -1)

    def arcs(self) -> tuple[IntArray, IntArray, IntArray]:
        """From, to and the stretch of each arc that one may take, int64[a] each."""
        forward, backward = (np.flatnonzero(self.speed[:, way] > 0) for way in (0, 1))
        return (
            np.concatenate([self.tail[forward], self.head[backward]]),
            np.concatenate([self.head[forward], self.tail[backward]]),
            np.concatenate([forward, backward]),
        )


def make_network(ways: Ways, profile: Profile) -> Network:
    """The network of the ways that are open to a profile, cut into stretches where they meet."""
    speed = ways.speeds(profile)
    way_of = np.repeat(np.arange(len(speed)), np.diff(ways.start))
    kept = np.any(speed > 0, axis=1)[way_of]
    way, node, point = way_of[kept], ways.node[kept], ways.point[kept]
    r = len(node)
    begins = np.ones(r, dtype=bool)
    begins[1:] = way[1:] != way[:-1]
    ends = np.roll(begins, -1)
    step = np.zeros(r)
    step[1:] = kilometres(point[:-1], point[1:])
    step[begins] = 0.0
    along = np.cumsum(step)

    _, number, times = np.unique(node, return_inverse=True, return_counts=True)
    blocked = np.isin(node, ways.barrier) if profile is CAR else np.zeros(r, dtype=bool)
    corner = begins | ends | (times[number] > 1) | blocked
    at = np.flatnonzero(corner)
    inner = ~ends[at][:-1] if len(at) else np.zeros(0, dtype=bool)  # not from one way to the next
    first, last = at[:-1][inner], at[1:][inner]
    # At a barrier that stops cars the stretches before and behind it have ends of their own.
    name = number.astype(np.int64)
    tail, head = name[first], name[last]
    fresh = len(times)
    for side, where in ((tail, first), (head, last)):
        cut = np.flatnonzero(blocked[where])
        side[cut] = fresh + np.arange(len(cut))
        fresh += len(cut)
    used, renamed = np.unique(np.concatenate([tail, head]), return_inverse=True)
    tail, head = renamed[: len(first)], renamed[len(first) :]
    return Network(
        profile=profile,
        junctions=len(used),
        tail=tail,
        head=head,
        first=first,
        last=last,
        point=point,
        along=along,
        speed=speed[way[first]],
    )


def kilometres(start: FloatArray, end: FloatArray) -> FloatArray:
    """Great-circle distances between points, float64[..., 2] in degrees, row by row."""
    a, b = np.deg2rad(start), np.deg2rad(end)
    half = np.sin((b - a) / 2.0) ** 2
    square = half[..., 1] + np.cos(a[..., 1]) * np.cos(b[..., 1]) * half[..., 0]
    return 2.0 * EARTH_KM * np.arcsin(np.sqrt(np.minimum(square, 1.0)))
