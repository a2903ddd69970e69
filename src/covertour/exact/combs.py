"""Combs: handles that a tour crosses oddly, with teeth that are pairs or clusters of places.

A tooth joins a part A inside the handle H to a part B outside it. Let F be the pairs between A and
B, all of them in δ(H). A *cluster* is a set that holds all of some set that every tour must hit
(not one with a z), and so surely has a stop. Each tooth has an expression q that on every tour is a
whole number >= 0, and 0 only if the tour uses an odd number of pairs of F:

    place and place      A = {i}, B = {j}:       q = 1 - x_ij
    place and cluster    one of them is {i}:     q = x(F) + x(δ(A ∪ B)) - 3 + 2 (1 - y_i)
    cluster and cluster                          q = x(F) + x(δ(A ∪ B)) - 3

where for the last two another set that must be hit lies outside A ∪ B. Proof for these: if the
tour has stops in both parts it runs through A ∪ B in k >= 1 pieces, x(δ(A ∪ B)) = 2k. With k = 1
the one piece goes from A to B, so x(F) >= 1 and q >= x(F) - 1, which is 0 only for x(F) = 1; with
k >= 2 q is at least 1. If one part has no stop, it is the place: then y_i = 0, x(F) = 0,
x(δ(A ∪ B)) >= 2, and q >= 1.

The comb, for an odd number of teeth with disjoint F's (the teeth themselves may overlap):

    x(δ(H) without the F's) + sum of q >= 1.

Valid: all terms are whole numbers >= 0. If all q are 0 the tour uses an odd number of pairs of
each F, so of all of them together, but it crosses δ(H) an even number of times: it uses a pair of
δ(H) that is in no F. With places only, these are the blossoms of Edmonds; with every set a single
place, the combs of Chvátal with teeth of two places.

With x(δ(S)) = 2 y(S) - 2 x(E(S)) and x(F) = x(E(A ∪ B)) - x(E(A)) - x(E(B)), what a tooth adds to
x(δ(H)), q - x(F), is 1 - 2 x_ij, or 2 y(cluster) - 2 x(E(A ∪ B)) - 1, or
2 y(A ∪ B) - 2 x(E(A ∪ B)) - 3.
"""

from __future__ import annotations

import numpy as np

from covertour.exact.cuts import Cut, Violated, make_cut
from covertour.exact.maxflow import make_graph, tree_of_cuts
from covertour.exact.point import SUPPORT, Point
from covertour.problem.metric import IntArray

TIGHT = 0.05
"""A cluster is worth shrinking when the point crosses its border at most 2 and this much."""


def random_clusters(point: Point, rng: np.random.Generator) -> list[IntArray]:
    """Disjoint clusters: sets to hit that the point crosses just twice, in random order."""
    tight = np.flatnonzero((point.crossing_of_sets < 2.0 + TIGHT) & ~point.problem.optional)
    taken = np.zeros(len(point.y), dtype=bool)
    chosen = []
    for k in rng.permutation(tight):
        members = point.problem.hit_sets[k]
        if not taken[members].any():
            taken[members] = True
            chosen.append(members)
    return chosen


def combs(point: Point, clusters: list[IntArray], least: float) -> Violated:
    """Violated combs whose teeth join places and the given disjoint clusters.

    Separation: shrink the clusters to nodes. For blossoms (Padberg and Rao; Letchford, Reinelt and
    Theis), with pairs weighted by min(x, 1 - x), the handle of a most violated one is among the
    cuts of a Gomory-Hu tree; its teeth are then the pairs of δ(H) with x > 1/2, and where they are
    an even number, one more or less, whichever costs less. That is what is done here.
    """
    if len(point.u) == 0:
        return []
    n = len(point.y)
    node_of = np.full(n, -1, dtype=np.int64)
    for number, members in enumerate(clusters):
        node_of[members] = number
    single = point.active[node_of[point.active] < 0]
    node_of[single] = len(clusters) + np.arange(len(single))
    nodes = len(clusters) + len(single)
    loose = node_of < 0
    node_of[loose] = node_of[point.active[point.nearest_active[loose]]]

    a, b = node_of[point.u], node_of[point.v]
    apart = a != b
    low, high = np.minimum(a, b)[apart], np.maximum(a, b)[apart]
    bundle, of_bundle = np.unique(low * nodes + high, return_inverse=True)
    low, high = bundle // nodes, bundle % nodes
    x = np.bincount(of_bundle, point.x[apart], len(bundle))
    weight = np.clip(np.minimum(x, 1.0 - x), 0.0, 1.0)
    on = weight > SUPPORT
    if not on.any():
        return []
    sides = tree_of_cuts(make_graph(nodes, low[on], high[on], weight[on])).astype(bool)
    crossing = sides[:, low] != sides[:, high]
    teeth = crossing & (x > 0.5)
    cost = crossing @ weight
    change = np.where(crossing, np.abs(1.0 - 2.0 * x), np.inf)
    cheapest = np.argmin(change, axis=1)
    even = teeth.sum(axis=1) % 2 == 0
    rows = np.arange(len(sides))
    cost += np.where(even, change[rows, cheapest], 0.0)
    teeth[rows[even], cheapest[even]] ^= True

    found: Violated = []
    seen: set[bytes] = set()
    parts = [*clusters, *(single[k : k + 1] for k in range(len(single)))]
    for row in np.flatnonzero(cost < 1.0 - least):
        k = int(row)
        used = np.flatnonzero(teeth[k])
        key = sides[k].tobytes() + used.tobytes()
        if key in seen or len(used) == 0:
            continue
        seen.add(key)
        handle = np.flatnonzero(sides[k][node_of])
        if 2 * len(handle) > n:
            handle = np.flatnonzero(~sides[k][node_of])
        cut = _comb(
            point, handle, [(int(low[t]), int(high[t])) for t in used], parts, len(clusters)
        )
        if cut is not None:
            violation = _violation(point, cut)
            if violation > least:
                found.append((violation, cut))
    return found


def _comb(
    point: Point,
    handle: IntArray,
    teeth: list[tuple[int, int]],
    parts: list[IntArray],
    clusters: int,
) -> Cut | None:
    """The comb of a handle and teeth, given by their parts, of which the first are the clusters."""
    sets, terms, rhs = [handle], [(handle, 2.0)], 1.0
    for one, other in teeth:
        both = np.sort(np.concatenate([parts[one], parts[other]]))
        sets.append(both)
        if one >= clusters and other >= clusters:
            rhs -= 1.0
            continue
        if point.problem.in_sure_set[:, both].any(axis=1).all():
            return None
        if other >= clusters:
            terms.append((parts[one], 2.0))
            rhs += 1.0
        else:
            terms.append((both, 2.0))
            rhs += 3.0
    return make_cut(point.problem.switches, sets, [2.0] * len(sets), terms, rhs)


def _violation(point: Point, cut: Cut) -> float:
    """By how much a point violates a cut."""
    mask = np.zeros(len(point.y), dtype=bool)
    left = float(cut.coefficients @ point.y[cut.places])
    for members, weight in zip(cut.sets, cut.weights, strict=True):
        mask[members] = True
        left -= weight * float(point.x[mask[point.u] & mask[point.v]].sum())
        mask[members] = False
    return cut.rhs - left
