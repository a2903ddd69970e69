"""Odd sets: of an odd number of sets of coverers, each part of the tour hits two at most.

Take an odd number m of sets T that every tour must hit, and disjoint *parts* P of the places, each
of which stands for two of the sets. Let e_i be the number of these sets that hold place i and that
its part does not stand for; all that hold it, where it is in no part. Then

    sum over P of x(δ(P)) / 2  +  sum of ⌈e_i / 2⌉ y_i  >=  (m + 1) / 2.

Valid, where for each part there is another set to hit that lies outside it: say the tour has stops
in k of the parts. It leaves each of these, so the first sum is at least k. Its stops hit at most 2
k sets by what their parts stand for, and the sum of e_i y_i by the rest; all m are hit, so

    m  <=  2 k + sum of e_i y_i  <=  2 (k + sum of ⌈e_i / 2⌉ y_i).

The number in brackets is whole, at least m / 2, and m is odd.

With three sets, A inside the first two, B inside the last two and C inside the first and the last:
x(δ(A)) + x(δ(B)) + x(δ(C)) >= 4, while the connectivity of A ∪ C, A ∪ B and B ∪ C gives only 3 in
all if no pair joins the parts. With every place a part of its own these are cover inequalities such
as y(T ∪ T' ∪ T'') >= 2.

A cut takes its shape by x(δ(P)) / 2 = y(P) - x(E(P)).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from covertour.exact.cuts import Cut, make_cut
from covertour.exact.maxflow import Graph, make_graph
from covertour.exact.point import Point
from covertour.kernel import entry, inner
from covertour.problem.metric import FloatArray, IntArray

MOST_SETS = 5
MOST_PARTS = MOST_SETS * (MOST_SETS - 1) // 2
"""Three or five sets are taken; there is a part for each two of them."""

ENOUGH = 10
"""With fewer violated cuts of three sets than this, five are tried."""

NEAR_MISS = 0.12
"""Three sets whose sum misses being violated by less than this get two more."""

PROMISING = 0.2
"""A sum that misses by less than this is made less by places around the sets."""

AROUND = 2
"""How many pairs of the support those are away from the sets at most."""

SWEEPS = 6
"""How often each place is given the part that suits it best."""

MOST_PLACES = 600
"""No more places than this are looked at together."""

MOST_FOUND = 3_000
"""No more cuts than this from one round."""

PER_PLACE = 2
"""Where the places of a cut are in so many others of the round, in the mean, it is passed over."""

SAME = 1e-9
"""Sums that differ by less are equal."""

NOWHERE = -1


class Sets(NamedTuple):
    """Sets of places: set k is ``member[start[k]:start[k + 1]]``.

    Those that hold place i are ``of_place[first[i]:first[i + 1]]``.
    """

    start: IntArray
    member: IntArray
    first: IntArray
    of_place: IntArray


class Found(NamedTuple):
    """What is found: the ``sets``, int64[k, MOST_SETS], NOWHERE after the last of them.

    ``part``: int8[k, n], of each place, NOWHERE for none; ``violation``: float64[k].
    """

    sets: IntArray
    part: Any
    violation: FloatArray


class Room(NamedTuple):
    """Room for one try. ``chosen``: int64[MOST_SETS], the sets.

    ``where``: int64[n], where a place is among ``places``, int64[m]; of these ``within``: int64[m],
    the chosen sets that hold each, as bits, and ``part``: int64[m]. ``pairs``: int64[MOST_PARTS],
    the two sets that a part stands for, as bits; ``link``: float64[MOST_PARTS].
    """

    chosen: IntArray
    where: IntArray
    places: IntArray
    within: IntArray
    part: IntArray
    pairs: IntArray
    link: FloatArray


class Near(NamedTuple):
    """Room for sets that have places in common with others, int64[sets] each.

    ``sets``, ``others``, ``more``: lists; ``seen``, ``met``, ``around``: the mark by which a set
    was last put into each of them.
    """

    sets: IntArray
    others: IntArray
    more: IntArray
    seen: IntArray
    met: IntArray
    around: IntArray


def odd_sets(point: Point, least: float, most: int) -> list[Cut]:
    """Violated cuts of three sets and, where these are few, of five.

    The most violated ones, ``most`` at most, passing over those whose places others have.

    Separation: three sets are tried where one of them has common places of the support with both
    others, five where three are nearly violated and the others have common places with one of them.
    Each place goes to the part that makes the sum least, as the others are, until none moves.
    """
    problem = point.problem
    sure = np.flatnonzero(~problem.optional & (problem.need == 1))
    if len(sure) < 3:
        return []
    y = point.y[point.active]
    sets = _sets(problem.in_set[np.ix_(sure, point.active)])
    found, count = _violated(sets, point.graph, y, least)
    cuts: list[Cut] = []
    taken = np.zeros(len(y), dtype=np.int64)
    seen: set[bytes] = set()  # the same five sets are found from any three of them
    for k in np.argsort(-found.violation[:count], kind="stable"):
        places = found.part[k] != NOWHERE
        if taken[places].mean() >= PER_PLACE or len(cuts) == most:
            continue
        chosen = found.sets[k]
        key = np.sort(chosen).tobytes()
        if key in seen:
            continue
        seen.add(key)
        part = np.full(problem.n, NOWHERE, dtype=np.int64)
        part[point.active] = found.part[k]
        cut = _cut(point, sure[chosen[chosen != NOWHERE]], part)
        if cut is not None:
            cuts.append(cut)
            taken[places] += 1
    return cuts


def load_kernels() -> None:
    """Compile or load what is called here, so that no proof's clock pays for it."""
    nobody = np.empty(0, dtype=np.int64)
    _violated(
        _sets(np.zeros((1, 1), dtype=bool)),
        make_graph(1, nobody, nobody, np.empty(0)),
        np.zeros(1),
        0.0,
    )


def _violated(sets: Sets, graph: Graph, y: FloatArray, least: float) -> tuple[Found, int]:
    """Violated cuts of three sets and, where these are few, of five; and how many there are."""
    size, n = len(sets.start) - 1, len(y)
    found = Found(
        sets=np.full((MOST_FOUND, MOST_SETS), NOWHERE, dtype=np.int64),
        part=np.full((MOST_FOUND, n), NOWHERE, dtype=np.int8),
        violation=np.zeros(MOST_FOUND),
    )
    room, near = _room(n), Near._make(np.full(size, NOWHERE) for _ in Near._fields)
    count = _search(sets, graph, y, least, False, found, room, near)
    if count < ENOUGH:
        for used in (found.sets, found.part, near.seen, near.met, near.around):
            used[:] = NOWHERE
        count = _search(sets, graph, y, least, True, found, room, near)
    return found, count


def _sets(in_set: Any) -> Sets:
    """The sets of a table, bool[sets, n]."""
    start = np.concatenate([[0], np.cumsum(in_set.sum(axis=1))])
    first = np.concatenate([[0], np.cumsum(in_set.sum(axis=0))])
    return Sets(start, np.nonzero(in_set)[1], first, np.nonzero(in_set.T)[1])


def _room(places: int) -> Room:
    return Room(
        chosen=np.zeros(MOST_SETS, dtype=np.int64),
        where=np.full(places, NOWHERE),
        places=np.zeros(MOST_PLACES, dtype=np.int64),
        within=np.zeros(MOST_PLACES, dtype=np.int64),
        part=np.zeros(MOST_PLACES, dtype=np.int64),
        pairs=np.zeros(MOST_PARTS, dtype=np.int64),
        link=np.zeros(MOST_PARTS),
    )


def _cut(point: Point, chosen: IntArray, part: IntArray) -> Cut | None:
    """The cut of some sets and the parts of the places, int64[n]; None where it is not valid.

    Places outside the support are put where they have the least coefficient.
    """
    problem, m = point.problem, len(chosen)
    holds = problem.in_set[chosen]
    # Of each place in each part: how many of its sets the part does not stand for.
    one, other = np.triu_indices(m, 1)
    within = holds.sum(axis=0)
    rest = within - (holds[one].astype(np.int64) + holds[other])
    idle = (point.local < 0) & (within > 0)
    part[idle] = np.argmin(rest[:, idle], axis=0)
    inside = part != NOWHERE
    left = np.where(inside, rest[part, np.arange(problem.n)], within)
    coefficient = inside + (left + 1) // 2
    parts = [np.flatnonzero(part == k) for k in range(len(one))]
    parts = [places for places in parts if len(places) > 1]
    for places in parts:
        if problem.in_sure_set[:, places].any(axis=1).all():
            return None
    terms = [
        (np.flatnonzero(coefficient == value), float(value))
        for value in range(1, int(coefficient.max()) + 1)
    ]
    return make_cut(problem.switches, parts, [1.0] * len(parts), terms, (m + 1) / 2)


@inner
def _bits(number: int) -> int:
    """How many bits are set."""
    count = 0
    while number:
        count += number & 1
        number >>= 1
    return count


@inner
def _coefficient(within: int, pair: int) -> int:
    """Of a place in these sets (bits) in a part that stands for two (bits): 1 + ⌈e / 2⌉."""
    return 1 + (_bits(within & ~pair) + 1) // 2


@inner
def _links(graph: Graph, room: Room, k: int) -> None:
    """Write to ``link`` how much x joins a place to each part."""
    for p in range(MOST_PARTS):
        room.link[p] = 0.0
    i = room.places[k]
    for arc in range(graph.first[i], graph.first[i + 1]):
        other = room.where[graph.head[arc]]
        if other != NOWHERE and room.part[other] != NOWHERE:
            room.link[room.part[other]] += graph.capacity[arc]


@inner
def _assign(graph: Graph, y: FloatArray, room: Room, many: int, parts: int) -> float:
    """Give each of so many places the part that makes the sum least; the sum."""
    for k in range(many):
        room.part[k] = NOWHERE
        for p in range(parts):
            if room.within[k] == room.pairs[p]:
                room.part[k] = p
    for _ in range(SWEEPS):
        changed = False
        for k in range(many):
            _links(graph, room, k)
            within = room.within[k]
            weight = y[room.places[k]]
            best = weight * ((_bits(within) + 1) // 2)
            chosen = NOWHERE
            for p in range(parts):
                cost = weight * _coefficient(within, room.pairs[p]) - room.link[p]
                # Of equal choices a part is better: others may be joined to it later.
                if cost < best - SAME or (chosen == NOWHERE and within and cost < best + SAME):
                    best = cost
                    chosen = p
            changed |= chosen != room.part[k]
            room.part[k] = chosen
        if not changed:
            break
    total = 0.0
    for k in range(many):
        part = room.part[k]
        weight = y[room.places[k]]
        if part == NOWHERE:
            total += weight * ((_bits(room.within[k]) + 1) // 2)
            continue
        _links(graph, room, k)  # each pair counts at both ends
        total += weight * _coefficient(room.within[k], room.pairs[part]) - 0.5 * room.link[part]
    return total


@inner
def _add(room: Room, many: int, place: int) -> int:
    """Take up a place; how many there are then."""
    if room.where[place] == NOWHERE and many < MOST_PLACES:
        room.where[place] = many
        room.places[many] = place
        room.within[many] = 0
        many += 1
    return many


@inner
def _try(sets: Sets, m: int, graph: Graph, y: FloatArray, room: Room) -> tuple[float, int]:
    """The sum of the first m chosen sets less (m + 1) / 2, and how many places were looked at."""
    many = 0
    for bit in range(m):
        one = room.chosen[bit]
        for index in range(sets.start[one], sets.start[one + 1]):
            place = sets.member[index]
            many = _add(room, many, place)
            if room.where[place] != NOWHERE:
                room.within[room.where[place]] |= 1 << bit
    parts = 0
    for one in range(m):
        for other in range(one + 1, m):
            room.pairs[parts] = (1 << one) | (1 << other)
            parts += 1
    least = (m + 1) / 2
    missing = _assign(graph, y, room, many, parts) - least
    if missing < PROMISING:
        first = 0
        for _ in range(AROUND):
            end = many
            for k in range(first, end):
                i = room.places[k]
                for arc in range(graph.first[i], graph.first[i + 1]):
                    many = _add(room, many, graph.head[arc])
            first = end
        missing = _assign(graph, y, room, many, parts) - least
    return missing, many


@inner
def _look_at(
    sets: Sets,
    m: int,
    graph: Graph,
    y: FloatArray,
    least: float,
    found: Found,
    count: int,
    room: Room,
) -> tuple[float, int]:
    """Try the first m chosen sets; by how much they are not violated, and how many are found."""
    missing, many = _try(sets, m, graph, y, room)
    if missing < -least:
        for k in range(m):
            found.sets[count, k] = room.chosen[k]
        for k in range(many):
            found.part[count, room.places[k]] = room.part[k]
        found.violation[count] = -missing
        count += 1
    for k in range(many):  # ready for the next try
        room.where[room.places[k]] = NOWHERE
    return missing, count


@inner
def _meeting(sets: Sets, one: int, seen: IntArray, mark: int, near: IntArray, many: int) -> int:
    """Add the sets that have places in common with a set, and are not marked yet, to ``near``."""
    for index in range(sets.start[one], sets.start[one + 1]):
        place = sets.member[index]
        for at in range(sets.first[place], sets.first[place + 1]):
            other = sets.of_place[at]
            if seen[other] != mark:
                seen[other] = mark
                near[many] = other
                many += 1
    return many


@entry
def _search(
    sets: Sets,
    graph: Graph,
    y: FloatArray,
    least: float,
    five: bool,
    found: Found,
    room: Room,
    near: Near,
) -> int:
    """Try three sets and, with ``five``, five; how many violated ones were found."""
    size = len(sets.start) - 1
    chosen = room.chosen
    tried = 0
    count = 0
    for s in range(size):
        near.seen[s] = s
        many_near = _meeting(sets, s, near.seen, s, near.sets, 0)
        for a in range(many_near):
            t = near.sets[a]
            _meeting(sets, t, near.met, s * size + t, near.others, 0)
            for b in range(many_near):
                u = near.sets[b]
                # All three in order where all of them meet; else s is the one in the middle.
                if u <= t or (near.met[u] == s * size + t and s > t):
                    continue
                chosen[0] = s
                chosen[1] = t
                chosen[2] = u
                tried += 1
                missing, count = _look_at(sets, 3, graph, y, least, found, count, room)
                if five and count < MOST_FOUND and -least <= missing < NEAR_MISS:
                    count = _try_two_more(sets, graph, y, least, found, count, tried, room, near)
                if count == MOST_FOUND:
                    return count
    return count


@inner
def _try_two_more(
    sets: Sets,
    graph: Graph,
    y: FloatArray,
    least: float,
    found: Found,
    count: int,
    mark: int,
    room: Room,
    near: Near,
) -> int:
    """Try the three chosen sets with any two that meet one of them; how many were found by now."""
    chosen = room.chosen
    for k in range(3):
        near.around[chosen[k]] = mark
    many_more = 0
    for k in range(3):
        many_more = _meeting(sets, chosen[k], near.around, mark, near.more, many_more)
    for c in range(many_more):
        for d in range(c + 1, many_more):
            chosen[3] = near.more[c]
            chosen[4] = near.more[d]
            _, count = _look_at(sets, 5, graph, y, least, found, count, room)
            if count == MOST_FOUND:
                return count
    return count
