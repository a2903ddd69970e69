"""Maximum flow between groups of places on the support of a fractional solution.

All flows of a round share one graph: a group of places is a source (or sink) by way of one arc from
the source to each member (from each member to the sink), which is never built but kept as a
capacity per place. A fractional solution has thin ways of many different lengths beside a few broad
ones, so broad ways are looked for first (capacity scaling).
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.metric import FloatArray, IntArray

TINY = 1e-9

WIDTHS = np.array([0.5, 0.2, 0.08, 0.03, 0.01, TINY])
"""Flow is first sent along ways that are broader than the first of these, then the next."""

Arcs = tuple[IntArray, IntArray, IntArray, FloatArray]


def arcs(nodes: int, u: IntArray, v: IntArray, x: FloatArray) -> Arcs:
    """The undirected graph as arcs both ways, sorted by tail.

    Returns ``first`` int64[nodes + 1], ``head`` int64[2 m], ``back`` int64[2 m] (the arc the other
    way) and ``capacity`` float64[2 m].
    """
    m = len(u)
    tail = np.concatenate([u, v])
    order = np.argsort(tail, kind="stable")
    place = np.empty(2 * m, dtype=np.int64)
    place[order] = np.arange(2 * m)
    head = np.concatenate([v, u])[order]
    back = np.concatenate([place[m:], place[:m]])[order]
    capacity = np.concatenate([x, x])[order]
    first = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(tail, minlength=nodes), out=first[1:])
    return first, head.astype(np.int64), back, capacity


@inner
def max_flow(
    first: IntArray,
    head: IntArray,
    back: IntArray,
    residual: FloatArray,
    out_of_source: FloatArray,
    into_sink: FloatArray,
    limit: float,
    reached: np.ndarray,
    queue: IntArray,
    via: IntArray,
) -> float:
    """Send flow until it reaches ``limit`` or no more fits; the flow sent.

    ``out_of_source``, ``into_sink``: float64[nodes], what each place may still take from the source
    and give to the sink. They and ``residual`` are used up. ``reached``: uint8[nodes], on return
    1 for the source's side of a minimum cut if the flow stayed below the limit. ``queue`` and
    ``via``: int64[nodes], room to work.
    """
    nodes = len(first) - 1
    flow = 0.0
    for i in range(nodes):
        direct = min(out_of_source[i], into_sink[i])
        if direct > 0:
            out_of_source[i] -= direct
            into_sink[i] -= direct
            flow += direct
    stage = 0
    while flow < limit:
        width = WIDTHS[stage]
        reached[:] = 0
        end = 0
        for i in range(nodes):
            if out_of_source[i] > width:
                reached[i] = 1
                via[i] = -1
                queue[end] = i
                end += 1
        at = 0
        found = -1
        while at < end and found < 0:
            i = queue[at]
            at += 1
            for arc in range(first[i], first[i + 1]):
                j = head[arc]
                if reached[j] == 0 and residual[arc] > width:
                    reached[j] = 1
                    via[j] = arc
                    if into_sink[j] > width:
                        found = j
                        break
                    queue[end] = j
                    end += 1
        if found < 0:
            stage += 1
            if stage == len(WIDTHS):
                break
            continue
        amount = into_sink[found]
        j = found
        while via[j] >= 0:
            amount = min(amount, residual[via[j]])
            j = head[back[via[j]]]
        amount = min(amount, out_of_source[j])
        out_of_source[j] -= amount
        into_sink[found] -= amount
        j = found
        while via[j] >= 0:
            residual[via[j]] -= amount
            residual[back[via[j]]] += amount
            j = head[back[via[j]]]
        flow += amount
    return flow


@entry(allocates=True)
def small_cuts(
    first: IntArray,
    head: IntArray,
    back: IntArray,
    capacity: FloatArray,
    group_start: IntArray,
    group: IntArray,
    strength: FloatArray,
    source: IntArray,
    sink: IntArray,
    limit: FloatArray,
    each: int,
    most: int,
) -> tuple[np.ndarray, IntArray, IntArray]:
    """Minimum cuts below their limit between groups of places.

    Group k is ``group[group_start[k]:group_start[k + 1]]``; a member takes at most ``strength``
    (float64[nodes]) from the source or gives it to the sink. Cut p separates group ``source[p]``
    from group ``sink[p]`` and is wanted below ``limit[p]``. Pairs should be sorted by source: a
    pair is skipped when a cut found for the same source already separates it, or when ``each`` cuts
    were found for that source. Returns the source sides, uint8[found, nodes], at most ``most``,
    the p of each, and how many flows were run.
    """
    nodes = len(first) - 1
    sides = np.zeros((most, nodes), dtype=np.uint8)
    which = np.zeros(most, dtype=np.int64)
    runs = np.zeros(1, dtype=np.int64)
    residual = np.empty(len(capacity))
    out_of_source = np.zeros(nodes)
    into_sink = np.zeros(nodes)
    reached = np.zeros(nodes, dtype=np.uint8)
    queue = np.empty(nodes, dtype=np.int64)
    via = np.empty(nodes, dtype=np.int64)
    found = 0
    first_of_source = 0
    for p in range(len(source)):
        if found == most:
            break
        a, b = source[p], sink[p]
        if p > 0 and source[p - 1] != a:
            first_of_source = found
        separated = found - first_of_source >= each
        for k in range(first_of_source, found):
            apart = True
            for index in range(group_start[b], group_start[b + 1]):
                if sides[k, group[index]]:
                    apart = False
                    break
            if apart:
                separated = True
                break
        if separated:
            continue
        residual[:] = capacity
        out_of_source[:] = 0.0
        into_sink[:] = 0.0
        for index in range(group_start[a], group_start[a + 1]):
            out_of_source[group[index]] = strength[group[index]]
        for index in range(group_start[b], group_start[b + 1]):
            into_sink[group[index]] = strength[group[index]]
        runs[0] += 1
        flow = max_flow(
            first,
            head,
            back,
            residual,
            out_of_source,
            into_sink,
            limit[p] - TINY,
            reached,
            queue,
            via,
        )
        if flow < limit[p] - TINY:
            sides[found] = reached
            which[found] = p
            found += 1
    return sides[:found], which[:found], runs


@entry(allocates=True)
def tree_of_cuts(
    first: IntArray, head: IntArray, back: IntArray, capacity: FloatArray
) -> np.ndarray:
    """Minimum cuts, uint8[nodes - 1, nodes], among them one between every two nodes.

    Gusfield's simple way to a Gomory-Hu tree: one flow from each node to its parent so far. The
    sides are those of the flows, all of them minimum cuts for the pair that they were made for.
    """
    nodes = len(first) - 1
    sides = np.zeros((max(nodes - 1, 0), nodes), dtype=np.uint8)
    parent = np.zeros(nodes, dtype=np.int64)
    out_of_source = np.zeros(nodes)
    into_sink = np.zeros(nodes)
    reached = np.zeros(nodes, dtype=np.uint8)
    queue = np.empty(nodes, dtype=np.int64)
    via = np.empty(nodes, dtype=np.int64)
    for i in range(1, nodes):
        out_of_source[:] = 0.0
        into_sink[:] = 0.0
        out_of_source[i] = 1e9
        into_sink[parent[i]] = 1e9
        max_flow(
            first,
            head,
            back,
            capacity.copy(),
            out_of_source,
            into_sink,
            1e8,
            reached,
            queue,
            via,
        )
        sides[i - 1] = reached
        for j in range(i + 1, nodes):
            if reached[j] and parent[j] == parent[i]:
                parent[j] = i
    return sides
