"""Shortest or fastest ways between places on a road network: the matrix, and the lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from covertour.problem.metric import FloatArray, IntArray
from covertour.roads.network import Network
from covertour.roads.snapping import Snapped

CELLS_AT_A_TIME = 4_000_000
"""Distances to all junctions that are held in memory at once, from some places."""

LEAST = 1e-9
"""Stretches of no length get this much, as a weight of 0 would be no road at all."""

DECIMALS = 6
"""Distances are rounded to so many decimals, a millimetre, so that the way back along the same road
is exactly as long as the way there."""

AT_JUNCTION = 1e-5
"""A place whose road point is at most so many kilometres from a junction is at the junction."""


@dataclass(frozen=True, eq=False)
class Routing:
    """Places on a network, ready to ask for ways between them, by ``distance`` or by ``time``.

    ``network`` and ``snapped`` belong together; ``places``: float64[n, 2].
    """

    network: Network
    snapped: Snapped
    places: FloatArray
    by: str

    @property
    def n(self) -> int:
        """Number of places."""
        return len(self.places)

    @cached_property
    def _split(self) -> _Split:
        return _split(self.network, self.snapped, self.by)

    @cached_property
    def off(self) -> FloatArray:
        """float64[n]: what the way between each place and the road costs."""
        if self.by == "distance":
            return self.snapped.off
        return self.snapped.off / self.network.profile.off_road * 60.0

    def rows(self, limit: float = np.inf) -> Iterator[tuple[IntArray, FloatArray]]:
        """Some places and their distances to all places, float64[k, n]; inf beyond the limit.

        In kilometres, or by time in minutes. Two places in one spot are 0 apart.
        """
        from scipy.sparse.csgraph import dijkstra

        graph = self._split.graph
        everyone = np.arange(self.n)
        _, spot = np.unique(self.places, axis=0, return_inverse=True)
        step = max(1, CELLS_AT_A_TIME // graph.shape[0])
        for begin in range(0, self.n, step):
            some = everyone[begin : begin + step]
            far = dijkstra(graph, indices=self._split.node_of_place[some], limit=limit)
            found = far[:, self._split.node_of_place] + self.off[some, None] + self.off
            found[spot[some, None] == spot] = 0.0
            found = np.round(found, DECIMALS)
            found[found > limit] = np.inf
            yield some, found

    def matrix(self) -> FloatArray:
        """float64[n, n]: row i holds the distances from i."""
        found = np.empty((self.n, self.n))
        for some, rows in self.rows():
            found[some] = rows
        return found

    def line(self, start: int, end: int) -> FloatArray:
        """Longitude and latitude along the way from one place to another, float64[m, 2]."""
        if np.array_equal(self.places[start], self.places[end]):
            return self.places[[start, end]]
        from scipy.sparse.csgraph import dijkstra

        split = self._split
        a, b = int(split.node_of_place[start]), int(split.node_of_place[end])
        _, before = dijkstra(split.graph, indices=a, return_predecessors=True)
        walk = [b]
        while walk[-1] != a:
            walk.append(int(before[walk[-1]]))
        parts = [self.places[[start]], self.snapped.point[[start]]]
        for u, v in zip(walk[:0:-1], walk[-2::-1], strict=True):
            parts.append(self._part(split.arc(u, v)))
        parts += [self.snapped.point[[end]], self.places[[end]]]
        line = np.concatenate(parts)
        moved = np.ones(len(line), dtype=bool)
        moved[1:] = (line[1:] != line[:-1]).any(axis=1)
        return line[moved]

    def _part(self, arc: int) -> FloatArray:
        """The points between the two ends of an arc, these left out where they are places."""
        split = self._split
        part = int(split.part_of_arc[arc])
        first, last = int(split.first[part]), int(split.last[part])
        points = self.network.point[first : last + 1]
        return points[::-1] if split.against[arc] else points


@dataclass(frozen=True, eq=False)
class _Split:
    """The network cut where places are; junctions first, then the places' own nodes.

    ``graph``: the cost of each arc, as scipy's sparse matrix. ``part_of_arc``, ``against``: for
    each entry of it the part of a stretch and whether that is taken backwards. ``first``, ``last``:
    points of the network on that part, both included, none where first > last.
    """

    graph: Any
    node_of_place: IntArray
    part_of_arc: IntArray
    against: IntArray
    first: IntArray
    last: IntArray

    def arc(self, start: int, end: int) -> int:
        """The entry of the graph from one node to another."""
        begin = int(self.graph.indptr[start])
        row = self.graph.indices[begin : int(self.graph.indptr[start + 1])]
        return begin + int(np.searchsorted(row, end))


def _split(network: Network, snapped: Snapped, by: str) -> _Split:
    """Cut the stretches at the places on them."""
    from scipy.sparse import csr_matrix

    n = len(snapped.stretch)
    s = len(network.tail)
    node_of_place = network.junctions + np.arange(n)
    # A place at a junction is that junction: all streets that meet there lead to it.
    length = network.length[snapped.stretch]
    at_tail, at_head = snapped.along <= AT_JUNCTION, snapped.along >= length - AT_JUNCTION
    node_of_place[at_head] = network.head[snapped.stretch[at_head]]
    node_of_place[at_tail] = network.tail[snapped.stretch[at_tail]]
    between = np.flatnonzero(~(at_tail | at_head))
    order = between[np.lexsort((snapped.along[between], snapped.stretch[between]))]
    # Every stretch as the list tail, its places in order, head; parts join neighbours in it.
    stretch = np.concatenate([np.arange(s), snapped.stretch[order], np.arange(s)])
    kind = np.repeat([0, 1, 2], [s, len(order), s])
    at = np.concatenate([np.zeros(s), snapped.along[order], network.length])
    node = np.concatenate([network.tail, node_of_place[order], network.head])
    # The first point at or behind each entry, and the last one at or before it.
    behind = np.concatenate([network.first, snapped.after[order] + 1, network.last])
    before = np.concatenate([network.first, snapped.after[order], network.last])
    sorted_by = np.lexsort((np.arange(len(kind)), kind, stretch))
    stretch, kind, at, node = stretch[sorted_by], kind[sorted_by], at[sorted_by], node[sorted_by]
    behind, before = behind[sorted_by], before[sorted_by]
    parts = np.flatnonzero(kind[:-1] < 2) if len(kind) else np.zeros(0, dtype=np.int64)
    tail, head = node[parts], node[parts + 1]
    length = np.maximum(at[parts + 1] - at[parts], 0.0)
    first, last = behind[parts], before[parts + 1]
    speed = network.speed[stretch[parts]]

    arcs = []
    for way, (a, b) in enumerate(((tail, head), (head, tail))):
        open_ = np.flatnonzero(speed[:, way] > 0)
        cost = length[open_]
        if by == "time":
            cost = cost / speed[open_, way] * 60.0
        arcs.append((a[open_], b[open_], np.maximum(cost, LEAST), open_, np.full(len(open_), way)))
    start, end, cost, part, against = (np.concatenate(column) for column in zip(*arcs, strict=True))
    # Of several roads between two nodes the best; loops lead nowhere.
    order = np.lexsort((cost, end, start))
    start, end = start[order], end[order]
    keep = start != end
    keep[1:] &= (start[1:] != start[:-1]) | (end[1:] != end[:-1])
    order, start, end = order[keep], start[keep], end[keep]
    size = network.junctions + n
    pointer = np.searchsorted(start, np.arange(size + 1))
    graph = csr_matrix((cost[order], end, pointer), (size, size))
    return _Split(graph, node_of_place, part[order], against[order], first, last)
