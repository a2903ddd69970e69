"""Minimum cuts between groups of places on the support graph of a fractional solution.

All flows of a round share one graph: a group of places is a source (or sink) by way of one arc from
the source to each member (from each member to the sink), which is never built but kept as a
capacity per node. A fractional solution has narrow paths of many different lengths beside a few
wide ones, so wide ones are looked for first (capacity scaling).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from covertour.kernel import entry, inner
from covertour.problem.metric import FloatArray, IntArray

Sides = npt.NDArray[np.uint8]
"""uint8[cuts, nodes]: 1 for the nodes on the source's side of each cut."""

TINY = 1e-9

WIDTHS = np.array([0.5, 0.2, 0.08, 0.03, 0.01, TINY])
"""Flow is first sent along paths that are wider than the first of these, then the next."""

SAME_LIMIT = 6
"""Limits that agree to so many digits are the same."""

GOLDEN = 0.6180339887498949
"""Multiples of this, without their whole parts, are scattered evenly."""

UNLIMITED = 1e9
"""More than any flow of a fractional solution."""


class Graph(NamedTuple):
    """An undirected graph as arcs both ways, sorted by tail.

    ``first``: int64[nodes + 1], where the arcs of a node begin; ``head``, ``back``: int64[2 m], the
    node that an arc leads to and the arc the other way; ``capacity``: float64[2 m].
    """

    first: IntArray
    head: IntArray
    back: IntArray
    capacity: FloatArray


class Groups(NamedTuple):
    """Groups of nodes: group k is ``member[start[k]:start[k + 1]]``.

    ``strength``: float64[nodes], what a node takes from the source at most, or gives to the sink.
    """

    start: IntArray
    member: IntArray
    strength: FloatArray


class Flows(NamedTuple):
    """Wanted flows: flow p goes from group ``source[p]`` to group ``sink[p]``, int64[flows].

    A minimum cut is wanted where it is below ``limit[p]``, float64[flows].
    """

    source: IntArray
    sink: IntArray
    limit: FloatArray


class Room(NamedTuple):
    """Room for one flow to be computed in.

    ``residual``: float64[2 m], what each arc can still take; ``out_of_source``, ``into_sink``:
    float64[nodes], what each node can still take from the source and give to the sink; ``reached``:
    uint8[nodes]; ``queue`` and ``via``: int64[nodes], for the breadth-first search.
    """

    residual: Any
    out_of_source: Any
    into_sink: Any
    reached: Any
    queue: Any
    via: Any


def make_graph(nodes: int, u: IntArray, v: IntArray, x: FloatArray) -> Graph:
    """The graph of the pairs u, v (int64[m]) with capacities x (float64[m])."""
    m = len(u)
    tail = np.concatenate([u, v])
    order = np.argsort(tail, kind="stable")
    place = np.empty(2 * m, dtype=np.int64)
    place[order] = np.arange(2 * m)
    first = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(tail, minlength=nodes), out=first[1:])
    return Graph(
        first=first,
        head=np.concatenate([v, u])[order].astype(np.int64),
        back=np.concatenate([place[m:], place[:m]])[order],
        capacity=np.concatenate([x, x])[order],
    )


def small_cuts(graph: Graph, groups: Groups, flows: Flows, per_source: int, most: int) -> Sides:
    """Minimum cuts below their limits, at most ``most``.

    Flows should be sorted by source: one is skipped where a cut found for the same source already
    separates it from its sink, or where ``per_source`` cuts were found for that source.
    """
    sides = np.zeros((most, len(graph.first) - 1), dtype=np.uint8)
    return sides[: _small_cuts(graph, groups, flows, per_source, sides, _room(graph))]


def cuts_to_one(graph: Graph, groups: Groups, flows: Flows, most: int) -> Sides:
    """Minimum cuts below their limits of flows that all go to one sink, at most ``most``.

    A single node whose flow reaches its limit joins the sink of the flows after it: a cut below a
    limit that is no higher cannot part the two, or it would be one for the first flow too. So
    flows are taken with falling limits, single nodes first and scattered, and soon most of them are
    near to something that has joined. Strengths must be no less than what a node's arcs can take.
    """
    single = np.diff(groups.start)[flows.source] == 1
    scattered = np.arange(len(flows.source)) * GOLDEN % 1.0
    order = np.lexsort((scattered, ~single, -np.round(flows.limit, SAME_LIMIT)))
    sides = np.zeros((most, len(graph.first) - 1), dtype=np.uint8)
    flows = Flows(flows.source[order], flows.sink[order], flows.limit[order])
    joined = np.zeros(len(graph.first) - 1, dtype=np.uint8)
    return sides[: _cuts_to_one(graph, groups, flows, joined, sides, _room(graph))]


def tree_of_cuts(graph: Graph) -> Sides:
    """Minimum cuts, one less than there are nodes, among them one between every two nodes.

    Gusfield's simple way to a Gomory-Hu tree: one flow from each node to its parent so far. The
    sides are those of the flows, all of them minimum cuts for the pair that they were made for.
    """
    nodes = len(graph.first) - 1
    sides = np.zeros((max(nodes - 1, 0), nodes), dtype=np.uint8)
    _tree_of_cuts(graph, np.zeros(nodes, dtype=np.int64), sides, _room(graph))
    return sides


def load_kernels() -> None:
    """Compile or load what is called here, so that no proof's clock pays for it."""
    nobody = np.empty(0, dtype=np.int64)
    graph = make_graph(1, nobody, nobody, np.empty(0))
    groups = Groups(np.zeros(1, dtype=np.int64), nobody, np.zeros(1))
    flows = Flows(nobody, nobody, np.empty(0))
    small_cuts(graph, groups, flows, 1, 1)
    cuts_to_one(graph, groups, flows, 1)
    tree_of_cuts(graph)


def _room(graph: Graph) -> Room:
    nodes = len(graph.first) - 1
    return Room(
        residual=np.empty(len(graph.capacity)),
        out_of_source=np.zeros(nodes),
        into_sink=np.zeros(nodes),
        reached=np.zeros(nodes, dtype=np.uint8),
        queue=np.empty(nodes, dtype=np.int64),
        via=np.empty(nodes, dtype=np.int64),
    )


@inner
def _max_flow(graph: Graph, room: Room, limit: float) -> float:
    """Send flow until it reaches ``limit`` or no more fits; the flow sent.

    Uses up what the room says arcs and nodes can take. If the flow stays below the limit,
    ``room.reached`` is the source's side of a minimum cut.
    """
    nodes = len(graph.first) - 1
    out_of_source = room.out_of_source
    into_sink = room.into_sink
    flow = 0.0
    for i in range(nodes):
        direct = min(out_of_source[i], into_sink[i])
        if direct > 0:
            out_of_source[i] -= direct
            into_sink[i] -= direct
            flow += direct
    stage = 0
    while flow < limit:
        last = _widest_path(graph, room, WIDTHS[stage])
        if last < 0:
            stage += 1
            if stage == len(WIDTHS):
                break
            continue
        amount = into_sink[last]
        j = last
        while room.via[j] >= 0:
            amount = min(amount, room.residual[room.via[j]])
            j = graph.head[graph.back[room.via[j]]]
        amount = min(amount, out_of_source[j])
        out_of_source[j] -= amount
        into_sink[last] -= amount
        j = last
        while room.via[j] >= 0:
            room.residual[room.via[j]] -= amount
            room.residual[graph.back[room.via[j]]] += amount
            j = graph.head[graph.back[room.via[j]]]
        flow += amount
    return flow


@inner
def _widest_path(graph: Graph, room: Room, width: float) -> int:
    """Breadth-first search for a path from source to sink wider than ``width``.

    Returns its last node, -1 where there is none; ``room.via`` has the arcs that lead there.
    """
    end = 0
    for i in range(len(graph.first) - 1):
        room.reached[i] = 0
        if room.out_of_source[i] > width:
            room.reached[i] = 1
            room.via[i] = -1
            room.queue[end] = i
            end += 1
    at = 0
    while at < end:
        i = room.queue[at]
        at += 1
        for arc in range(graph.first[i], graph.first[i + 1]):
            j = graph.head[arc]
            if room.reached[j] == 0 and room.residual[arc] > width:
                room.reached[j] = 1
                room.via[j] = arc
                if room.into_sink[j] > width:
                    return j
                room.queue[end] = j
                end += 1
    return -1


@entry
def _small_cuts(
    graph: Graph, groups: Groups, flows: Flows, per_source: int, sides: Sides, room: Room
) -> int:
    """Write the cuts to ``sides``; how many there are. See :func:`small_cuts`."""
    found = 0
    first_of_source = 0
    for p in range(len(flows.source)):
        if found == len(sides):
            break
        a, b = flows.source[p], flows.sink[p]
        if p > 0 and flows.source[p - 1] != a:
            first_of_source = found
        if found - first_of_source >= per_source:
            continue
        separated = False
        for k in range(first_of_source, found):
            if not _meets(sides, k, groups, b):
                separated = True
                break
        if separated:
            continue
        _clear(graph, room)
        for index in range(groups.start[a], groups.start[a + 1]):
            i = groups.member[index]
            room.out_of_source[i] = groups.strength[i]
        for index in range(groups.start[b], groups.start[b + 1]):
            i = groups.member[index]
            room.into_sink[i] = groups.strength[i]
        limit = flows.limit[p] - TINY
        if _max_flow(graph, room, limit) < limit:
            _keep(room, sides, found)
            found += 1
    return found


@entry
def _cuts_to_one(
    graph: Graph, groups: Groups, flows: Flows, joined: Any, sides: Sides, room: Room
) -> int:
    """Write the cuts to ``sides``; how many there are. See :func:`cuts_to_one`.

    ``joined``: uint8[nodes], zeros; then 1 for the nodes that have joined the sink.
    """
    found = 0
    for p in range(len(flows.source)):
        if found == len(sides):
            break
        a, b = flows.source[p], flows.sink[p]
        _clear(graph, room)
        for index in range(groups.start[a], groups.start[a + 1]):
            i = groups.member[index]
            room.out_of_source[i] = groups.strength[i]
        for index in range(groups.start[b], groups.start[b + 1]):
            joined[groups.member[index]] = 1
        for i in range(len(joined)):
            if joined[i]:
                room.into_sink[i] = groups.strength[i]
        limit = flows.limit[p] - TINY
        if _max_flow(graph, room, limit) < limit:
            _keep(room, sides, found)
            found += 1
        elif groups.start[a + 1] - groups.start[a] == 1:
            joined[groups.member[groups.start[a]]] = 1
    return found


@inner
def _clear(graph: Graph, room: Room) -> None:
    """Make the room ready for the next flow, without a source or sink."""
    for arc in range(len(graph.capacity)):
        room.residual[arc] = graph.capacity[arc]
    for i in range(len(room.reached)):
        room.out_of_source[i] = 0.0
        room.into_sink[i] = 0.0


@inner
def _keep(room: Room, sides: Sides, k: int) -> None:
    """Write the side that the last flow reached to ``sides[k]``."""
    for i in range(len(room.reached)):
        sides[k, i] = room.reached[i]


@inner
def _meets(sides: Sides, k: int, groups: Groups, group: int) -> bool:
    """Whether any member of a group is on side k."""
    for index in range(groups.start[group], groups.start[group + 1]):
        if sides[k, groups.member[index]]:
            return True
    return False


@entry
def _tree_of_cuts(graph: Graph, parent: IntArray, sides: Sides, room: Room) -> None:
    """Write the cuts to ``sides``; ``parent``: zeros. See :func:`tree_of_cuts`."""
    for i in range(1, len(parent)):
        _clear(graph, room)
        room.out_of_source[i] = UNLIMITED
        room.into_sink[parent[i]] = UNLIMITED
        _max_flow(graph, room, UNLIMITED / 10)
        _keep(room, sides, i - 1)
        for j in range(i + 1, len(parent)):
            if room.reached[j] and parent[j] == parent[i]:
                parent[j] = i
