"""Separation: inequalities that every tour of at least three stops satisfies and a point does not.

Notation: y_i, x_e and z as in :mod:`covertour.exact.formulation`; T is a set of coverers, of which
``need`` must be stops if its z is 1; where its place must be served z stands for 1. δ(S) are the
pairs with one end in S, E(S) those with both. A *side* is a set S as bool[n]. How a round
of separation goes is told in :func:`separate`; combs have their own file.
"""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np
import numpy.typing as npt

from covertour.exact.combs import combs, random_clusters
from covertour.exact.cuts import Cut, Violated, make_cut
from covertour.exact.maxflow import Flows, Groups, cuts_to_one, small_cuts
from covertour.exact.odd_sets import odd_sets
from covertour.exact.point import WHOLE, Point, is_whole
from covertour.problem.metric import FloatArray, IntArray

Sides = npt.NDArray[np.bool_]
"""Sides, bool[k, n]."""

LEAST_VIOLATION, LEAST_VIOLATION_DEEP = 0.02, 0.005
"""Cuts that are violated by less are not worth a row; the second when looking deep."""

LEAST_VIOLATION_OF_LINKS = 1e-4
"""The same for links, which are cheap and short."""

COMPONENTS_ENOUGH = 3
"""With fewer cuts than this from the components of the support flows are computed. Where places
may be left out they always are: there the support falls apart to the end, and its components,
around places that are hardly served, say little."""

ENOUGH = 10
"""With fewer cuts than this the next, slower family is tried."""

CERTAIN = 1.0 - 1e-6
"""A place with at least this y is a stop for certain."""

FLOWS_PER_SOURCE = 10
"""So many sinks are tried for each source where there are too many to try all."""

FLOWS_PER_TASK = 50
"""Threads get this many flows at a time."""

MOST_SIDES = 1_500
"""No more cuts than this from one family and round."""

CLUSTERINGS, CLUSTERINGS_DEEP = 10, 40
"""So many ways to shrink clusters are tried when looking for combs; the second when deep."""

SLIGHTLY = 1e-6
"""Decides between choices that are equal at the point."""

COMBS_PER_PLACE = 2
"""A place is in the handles of so many combs of a round: more of them there say much the same."""


def separate(
    point: Point,
    rng: np.random.Generator,
    most: int,
    deep: bool = False,
    threads: Executor | None = None,
) -> list[Cut]:
    """Violated cuts: all short ones, ``most`` connectivity cuts and at most half as many combs.

    ``deep`` looks harder, for points that the usual cuts hardly move any more, and for ``most`` odd
    sets too. ``threads`` share the work and find the same cuts.
    """
    n = len(point.y)
    least = LEAST_VIOLATION_DEEP if deep else LEAST_VIOLATION
    short = [*links(point), *demands(point), *quota_covers(point)]
    found: Violated = []
    if (point.problem.need > 1).any():
        found = connectivity(point, components(point), least)
        point = point.with_single_needs()
    found += connectivity(point, components(point), least)
    if len(found) < COMPONENTS_ENOUGH or len(point.z) > 0:
        found += connectivity(point, root_sides(point, least), least)
    # With a certain stop the flows to it have found every violated connectivity cut.
    if point.y.max() < CERTAIN:
        if len(found) < ENOUGH:
            flows = between_sets(point, least, rng, FLOWS_PER_SOURCE)
            found += connectivity(point, flow_sides(point, flows, 1, threads), least)
        if len(found) < ENOUGH:
            flows = place_to_sets(point, least, rng, FLOWS_PER_SOURCE)
            found += connectivity(point, flow_sides(point, flows, 1, threads), least)
    tries: list[list[IntArray]] = [[]]
    for _ in range(CLUSTERINGS_DEEP if deep else CLUSTERINGS):
        clusters = random_clusters(point, rng)
        if any(len(members) > 1 for members in clusters):
            tries.append(clusters)

    def of_clusters(clusters: list[IntArray]) -> Violated:
        return combs(point, clusters, least)

    by_try = map(of_clusters, tries) if threads is None else threads.map(of_clusters, tries)
    more = [comb for found_in_try in by_try for comb in found_in_try]
    odd = odd_sets(point, least, most) if deep else []
    return [
        *short,
        *_most_violated(found)[:most],
        *_spread(more, most // 2, n),
        *odd,
    ]


def _most_violated(found: Violated) -> list[Cut]:
    return [cut for _, cut in sorted(found, key=lambda item: -item[0])]


def _spread(found: Violated, most: int, n: int) -> list[Cut]:
    """The most violated combs, passing over those whose handle is taken up by better ones."""
    taken = np.zeros(n, dtype=np.int64)
    kept: list[Cut] = []
    for cut in _most_violated(found):
        handle = cut.sets[0]
        if taken[handle].max() < COMBS_PER_PLACE and len(kept) < most:
            taken[handle] += 1
            kept.append(cut)
    return kept


def links(point: Point) -> list[Cut]:
    """x_e <= y_i for an end i of e.

    Valid: a pair is used only between stops, and a tour of at least three stops uses no pair
    twice, so x_e is 0 or 1 and y_i is 1 where it is 1.
    """
    cuts = []
    for end, other in ((point.u, point.v), (point.v, point.u)):
        for e in np.flatnonzero(point.x > point.y[end] + LEAST_VIOLATION_OF_LINKS):
            pair = np.sort(np.array([end[e], other[e]]))
            ends = [(end[e : e + 1], 1.0)]
            cuts.append(make_cut(point.problem.switches, [pair], [1.0], ends, 0.0))
    return cuts


def demands(point: Point) -> list[Cut]:
    """y(T \\ D) >= (need - |D|) z for the members D of T that are above z, fewer than need.

    Valid: where z is 1 at least need members of T are stops, and at most |D| of them in D; where it
    is 0 the right side is 0. Only these members count more on the left than they should, so
    this is the most violated choice.
    """
    problem = point.problem
    cuts = []
    for k in np.flatnonzero(problem.optional & (problem.need > 1)):
        members, z, need = problem.hit_sets[k], float(point.served[k]), int(problem.need[k])
        rest = members[point.y[members] <= z]
        left = need - (len(members) - len(rest))
        if left > 0 and left < need and point.y[rest].sum() < left * z - LEAST_VIOLATION_OF_LINKS:
            switch = np.array([problem.n + problem.z[k]])
            terms = [(rest, 1.0), (switch, -float(left))]
            cuts.append(make_cut(problem.switches, [], [], terms, 0.0))
    return cuts


def connectivity(point: Point, sides: Sides, least: float) -> Violated:
    """For each side S the best violated cut x(δ(S)) >= 2 (in(S) + in(V \\ S) - 1).

    Here in(S) is any expression that is at most 1 on every tour and at most 0 on a tour without a
    stop in S: y_i for a place i of S, or z - y(T \\ S) / need, for without a stop in S all stops of
    T are outside it, need z of them at least; or 1 - z(B), where tours worth looking for that serve
    nothing of B have a stop in S (see :func:`covers_of_sides`). Valid: if a tour has stops in S and
    outside it crosses δ(S) at least twice, and the right side is at most 2; otherwise one of the
    two expressions is <= 0 and the other <= 1, and the right side is <= 0.

    With T inside S and T' outside, this is x(δ(S)) >= 2 (z + z' - 1), and 2 where both must be
    served; with a place that must be a stop outside, x(δ(S)) >= 2 z; with a T' outside that must
    be hit, x(δ(S)) >= 2 y_i; without any, x(δ(S)) >= 2 (y_i + y_j - 1); and sets T, T' with common
    places, of which every S separates only a part, give x(δ(S)) + 2 y(T ∩ T') >= 2.

    Moving a place of T \\ T' into S, or of T' \\ T out of it, changes x(δ(S)) by at most its
    degree 2 y and the right side by 2 y in favour, so S is completed like that before use. Of
    equal choices the set is taken that misses the fewest places, also of those that are not
    in the support.
    """
    if len(sides) == 0:
        return []
    problem, y, n = point.problem, point.y, len(point.y)
    side = sides.astype(np.float64)
    inner, holds_inner = _best_sets(point, side)
    outer, holds_outer = _best_sets(point, 1.0 - side)
    complete = (sides | (holds_inner & ~holds_outer)) & ~(holds_outer & ~holds_inner)
    covers = [covers_of_sides(point, part) for part in (complete, ~complete)]
    crossing = (complete[:, point.u] != complete[:, point.v]) @ point.x
    found: Violated = []
    seen: set[bytes] = set()
    for k, inside in enumerate(complete):
        if inside.all() or not inside.any():
            continue
        mask = inside.tobytes()
        if mask in seen:
            continue
        seen.add(mask)
        right = -2.0
        terms: list[tuple[IntArray, float]] = []
        constant = -2.0
        parts = ((inside, inner[k], covers[0][k]), (~inside, outer[k], covers[1][k]))
        for part, chosen, cover in parts:
            members = problem.hit_sets[chosen]
            missing = members[~part[members]]
            place = int(np.argmax(np.where(part, y, -1.0)))
            by_set = float(point.served[chosen] - y[missing].sum() / problem.need[chosen])
            by_cover = 1.0 - float(point.z[cover].sum()) if not cover.all() else -1.0
            if by_cover >= max(by_set, y[place]) - SLIGHTLY:
                right += 2.0 * by_cover
                constant += 2.0
                terms.append((n + np.flatnonzero(cover), 2.0))
            elif by_set >= y[place] - SLIGHTLY:
                right += 2.0 * by_set
                terms.append((missing, 2.0 / problem.need[chosen]))
                if problem.optional[chosen]:
                    terms.append((np.array([n + problem.z[chosen]]), -2.0))
                else:
                    constant += 2.0
            else:
                right += 2.0 * y[place]
                terms.append((np.array([place]), -2.0))
        violation = right - crossing[k]
        if violation < least:
            continue
        smaller = inside if 2 * inside.sum() <= n else ~inside
        members = np.flatnonzero(smaller)
        cut = make_cut(problem.switches, [members], [2.0], [(members, 2.0), *terms], constant)
        found.append((violation, cut))
    return found


def covers_of_sides(point: Point, sides: Sides) -> Sides:
    """For each side S a set B of z's, bool[k, m], such that S has a stop if all of B are 0.

    What cannot be served from outside S has fewer than need members there. Together with B it
    weighs more than may be left out, by the quota or by a tour within the budget that is known
    already; so 1 - z(B) is an in(S). B is empty for a side that is indispensable by itself, and all
    z's where even they do not suffice, or where nothing is said. The z's that are least for what
    they weigh are taken first.
    """
    problem = point.problem
    if np.isinf(problem.spare):
        return np.ones((len(sides), len(point.z)), dtype=bool)
    optional = np.flatnonzero(problem.optional)[np.argsort(problem.z[problem.optional])]
    outside = problem.weight_in_sets(np.ones(problem.n), (~sides).astype(np.float64))[:, optional]
    lost = outside < problem.need[optional] - 0.5
    missing = problem.spare + SLIGHTLY * problem.weight.sum() - lost @ problem.weight
    order = np.argsort(point.z / problem.weight, kind="stable")
    weight = np.where(lost[:, order], 0.0, problem.weight[order])
    before = np.cumsum(weight, axis=1) - weight
    chosen = np.zeros(lost.shape, dtype=bool)
    chosen[:, order] = (before <= missing[:, None]) & (weight > 0.0)
    chosen[missing < 0.0] = False
    chosen[weight.sum(axis=1) <= missing] = True
    return chosen


def quota_covers(point: Point) -> list[Cut]:
    """z(B) >= 1 where B weighs more than may be left out: the covers of the quota's knapsack."""
    problem = point.problem
    if np.isinf(problem.spare) or len(point.z) == 0:
        return []
    (chosen,) = covers_of_sides(point, np.zeros((1, problem.n), dtype=bool))
    b = np.flatnonzero(chosen)
    if chosen.all() or point.z[b].sum() > 1.0 - LEAST_VIOLATION:
        return []
    return [make_cut(problem.switches, [], [], [(problem.n + b, 1.0)], 1.0)]


def _best_sets(point: Point, side: FloatArray) -> tuple[IntArray, Sides]:
    """For each side the set of the largest in(S), int64[k], and the places that complete it.

    ``side``: float64[k, n] of zeros and ones. Those places are the set, or none where it needs
    several stops, for then it would not pay. A whole point must be cut off for certain where it is
    no tour; there the side stays as it is if one of its stops has a larger in(S) than the set.
    """
    problem, y = point.problem, point.y
    missed = problem.weight_in_sets(y + SLIGHTLY, 1.0 - side) / problem.need + (1.0 - point.served)
    best = np.argmin(missed, axis=1)
    pays = problem.need[best] == 1
    if not np.isinf(problem.spare):
        pays &= covers_of_sides(point, side > 0.5).any(axis=1)
    if is_whole(y, WHOLE):
        by_set = 1.0 - missed[np.arange(len(side)), best]
        pays &= by_set > (side * y).max(axis=1) - LEAST_VIOLATION
    return best, problem.in_set[best] & pays[:, None]


def components(point: Point) -> Sides:
    """The connected components of the support, each as a side; none if it is connected.

    Places outside the support go with their nearest place of it.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    size = len(point.active)
    graph = coo_matrix(
        (np.ones(len(point.u)), (point.local[point.u], point.local[point.v])), shape=(size, size)
    )
    count, label = connected_components(graph, directed=False)
    if count == 1:
        return np.zeros((0, len(point.y)), dtype=bool)
    # A place with no pair at all (y just above 0) is no component worth a cut.
    return np.arange(count)[:, None] == label[point.nearest_active][None, :]


def root_sides(point: Point, least: float) -> Sides:
    """Sides of the minimum cuts of :func:`from_root` that are below their limits."""
    found = cuts_to_one(point.graph, _groups(point), from_root(point, least), MOST_SIDES)
    return found.astype(bool)[:, point.nearest_active]


def flow_sides(
    point: Point, flows: Flows, per_source: int = 1, threads: Executor | None = None
) -> Sides:
    """Sides of minimum cuts between groups (see :func:`_groups`) that are below their limits."""
    order = np.argsort(flows.source, kind="stable")
    source, sink, limit = flows.source[order], flows.sink[order], flows.limit[order]
    graph, groups = point.graph, _groups(point)

    def sides(flows: Flows) -> Sides:
        found = small_cuts(graph, groups, flows, per_source, MOST_SIDES)
        return found.astype(bool)[:, point.nearest_active]

    if threads is None or len(source) < FLOWS_PER_TASK:
        return sides(Flows(source, sink, limit))
    # No task begins in the midst of a source, so together they find what one would.
    begins = np.searchsorted(source, source[::FLOWS_PER_TASK])
    parts = (np.split(column, begins[1:]) for column in (source, sink, limit))
    tasks = [Flows(*part) for part in zip(*parts, strict=True)]
    return np.concatenate(list(threads.map(sides, tasks)))[:MOST_SIDES]


def _groups(point: Point) -> Groups:
    """Groups for the flows: the sets to hit, within the support, then each active place alone.

    Whatever flows through a place, its degree in the support, is at most 2 y.
    """
    problem, active = point.problem, len(point.active)
    local = point.local[problem.hit]
    on = local >= 0
    size = np.concatenate(
        [np.bincount(problem.set_of_hit[on], minlength=problem.sets), np.ones(active, dtype=int)]
    )
    start = np.zeros(len(size) + 1, dtype=np.int64)
    np.cumsum(size, out=start[1:])
    member = np.concatenate([local[on], np.arange(active)])
    return Groups(start, member, strength=2.0 * point.y[point.active])


def from_root(point: Point, least: float) -> Flows:
    """Flows to the place of largest y from every set and every place: the quick way.

    Where that place is a stop for certain these find every violated connectivity cut, because it
    is on one of the two sides.
    """
    problem, y = point.problem, point.y
    root = int(np.argmax(y))
    sets = np.flatnonzero(~problem.in_set[:, root])
    of_root = y[root] if np.isinf(problem.spare) else 1.0  # its side may be indispensable
    places = point.active[(y[point.active] + of_root - 1.0 > least / 2) & (point.active != root)]
    source = np.concatenate([sets, problem.sets + point.local[places]])
    of_sets = 2.0 * of_root - 2.0 * (1.0 - point.served[sets])
    limit = np.concatenate([of_sets, 2.0 * (y[places] + of_root - 1.0)])
    sink = np.full(len(source), problem.sets + point.local[root])
    return _worthwhile(source, sink, limit - least)


def _worthwhile(source: IntArray, sink: IntArray, limit: FloatArray) -> Flows:
    """The flows that could be below their limits."""
    worth = limit > 0.0
    return Flows(source[worth], sink[worth], limit[worth])


def between_sets(point: Point, least: float, rng: np.random.Generator, per_source: int) -> Flows:
    """Flows between sets, from each to some others or to all if they are few.

    They find x(δ(S)) >= 2 (z + z' - 1).
    """
    sets = point.problem.sets
    if sets - 1 <= 2 * per_source:
        a, b = np.triu_indices(sets, 1)
    else:
        a = np.repeat(np.arange(sets), per_source)
        b = (a + rng.integers(1, sets, size=len(a))) % sets
    lost = 1.0 - point.served
    if np.isinf(point.problem.spare):
        return _worthwhile(a, b, 2.0 - least - 2.0 * (lost[a] + lost[b]))
    return _worthwhile(a, b, 2.0 - least - 2.0 * np.minimum(lost[a], lost[b]))


def place_to_sets(point: Point, least: float, rng: np.random.Generator, per_source: int) -> Flows:
    """Flows from every active place to some sets that do not hold it.

    They find x(δ(S)) >= 2 (y_i + z - 1).
    """
    problem = point.problem
    place = np.repeat(point.active, per_source)
    chosen = rng.integers(problem.sets, size=len(place))
    ok = ~problem.in_set[chosen, place] & (2.0 * point.y[place] > least)
    place, chosen = place[ok], chosen[ok]
    source = problem.sets + point.local[place]
    limit = 2.0 * point.y[place] - least
    if np.isinf(problem.spare):
        limit -= 2.0 * (1.0 - point.served[chosen])
    return _worthwhile(source, chosen, limit)
