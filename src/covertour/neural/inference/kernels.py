"""The inner loops of decoding, written so that numba can compile them; plain Python as they stand.

:mod:`covertour.neural.inference.compiled` says which way they run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from covertour.problem.metric import FloatArray

BoolArray = npt.NDArray[np.bool_]
Float32Array = npt.NDArray[np.float32]


class Tables(NamedTuple):
    """What is known of b instances of n places.

    ``distances``: float64[b, n, n]. ``covers``: bool[b, n, n], row i covers column j. ``allowed``,
    ``needed``: bool[b, n], places that may be stops, and stops that must stay. All in C order.
    """

    distances: FloatArray
    covers: BoolArray
    allowed: BoolArray
    needed: BoolArray


def set_factors(factors, start, covers, far):
    """Write c_i / N_C of the paper's guidance update into ones, float32[n, n].

    ``covers``: the places that place i covers, from ``start[i]`` to ``start[i + 1]``, itself first,
    then the nearest; ``far``: how far they are. Tied places share the rank of the last of them.
    """
    for i in range(len(factors)):
        mine = covers[start[i] : start[i + 1]]
        ways = far[start[i] : start[i + 1]]
        others = rank = len(mine) - 1
        for index in range(others, 0, -1):
            if index < others and ways[index] < ways[index + 1]:
                rank = index
            factors[i, mine[index]] = rank / others


def block(scores, closed, gain, required, visited, uncovered, useful, place):
    """Give places that may not be next the score -inf; the best of the others, int64[b, r].

    ``scores``: float32[b, r, n]. ``closed``: bool[b, r, n], not allowed or visited. ``useful``:
    nor may it be one that covers nothing new, by ``gain``, float32[b, r, n]. ``required``: bool[b,
    n], where there are any; they may be next, and are all that may once everything is covered. Of
    tours that are done, and of the first stop of those with a depot, it does not matter.
    """
    b, r, n = scores.shape
    waits = required.shape[1] > 0
    for i in range(b):
        for j in range(r):
            over = waits and not uncovered[i, j].any()
            best, most = 0, -np.inf
            for p in range(n):
                blocked = over or closed[i, j, p] or (useful and gain[i, j, p] <= 0)
                if blocked and not (waits and required[i, p] and not visited[i, j, p]):
                    scores[i, j, p] = -np.inf
                elif scores[i, j, p] > most:
                    best, most = p, scores[i, j, p]
            place[i, j] = best


def visit(
    place, covers, covered_by, factors, required, uncovered, visited, closed, guidance, gain, done
):
    """The tours after a stop at ``place``, int64[b, r].

    ``covers``: bool[b, n, n], row i covers column j; ``covered_by``: float32[b, n, n], who covers
    row i, for models that look at gains; ``factors``: float32[b, n, n], of the guidance.
    """
    b, r, n = uncovered.shape
    waits = required.shape[1] > 0
    guided, gains = guidance.shape[2] > 0, gain.shape[2] > 0
    for i in range(b):
        for j in range(r):
            stop = place[i, j]
            closed[i, j, stop] = visited[i, j, stop] = True
            if guided:
                for p in range(n):
                    guidance[i, j, p] *= factors[i, stop, p]
            finished = True
            for p in range(n):
                if uncovered[i, j, p] and covers[i, stop, p]:
                    uncovered[i, j, p] = False
                    if gains:  # one less for all who cover it
                        for c in range(n):
                            gain[i, j, c] -= covered_by[i, p, c]
                if uncovered[i, j, p] or (waits and required[i, p] and not visited[i, j, p]):
                    finished = False
            done[i, j] = finished


def polish_tours(tours, instance, tables, slack):
    """Polish tours, int64[k, t], in place; see :mod:`covertour.neural.inference.polish`.

    ``instance``: int64[k], whose tour each is; ``slack``: what a change must save to
    count.
    """
    t = tours.shape[1]
    count = np.empty(tables.covers.shape[1], np.int64)
    alone = np.empty(tables.covers.shape[1], np.int64)
    spare = np.empty(t, np.bool_)
    saved = np.empty(t, np.float64)
    turns = np.empty(len(tables.covers), np.bool_)
    for one in range(len(turns)):
        turns[one] = _symmetric(tables.distances[one])
    for row in range(len(tours)):
        one = instance[row]
        tour = tours[row]
        distances, covers = tables.distances[one], tables.covers[one]
        needed = tables.needed[one]
        size = 1
        for position in range(1, t):
            if tour[position] != tour[size - 1]:
                tour[size] = tour[position]
                size += 1
        size = _drop_spare(tour, size, distances, covers, needed, count, spare, saved, slack)
        if turns[one]:
            _uncross(tour, size, distances, slack)
        _replace(tour, size, distances, covers, tables.allowed[one], needed, count, alone, slack)
        size = _drop_spare(tour, size, distances, covers, needed, count, spare, saved, slack)
        if turns[one]:
            _uncross(tour, size, distances, slack)
        tour[size:] = tour[size - 1]


def _symmetric(distances):
    for i in range(len(distances)):
        for j in range(i):
            if distances[i, j] != distances[j, i]:
                return False
    return True


def _drop_spare(tour, size, distances, covers, needed, count, spare, saved, slack):
    """Leave out stops whose places others cover too, the one that saves most first; the new size.

    ``count``: int64[n], is left with how many stops cover each place; ``spare``, ``saved``: room.
    """
    count[:] = 0
    for position in range(size):
        stop = tour[position]
        for place in range(len(count)):
            count[place] += covers[stop, place]
        spare[position] = not needed[stop]
        saved[position] = _saving(tour, size, position, distances)
    while True:
        best = -1
        for position in range(size):
            if spare[position] and _covers_alone(tour[position], covers, count):
                spare[position] = False
            # With rounded distances the direct way can be longer.
            if (
                spare[position]
                and saved[position] >= -slack
                and (best < 0 or saved[position] > saved[best])
            ):
                best = position
        if best < 0:
            return size
        for place in range(len(count)):
            count[place] -= covers[tour[best], place]
        size -= 1
        for position in range(best, size):
            tour[position] = tour[position + 1]
            spare[position] = spare[position + 1]
            saved[position] = saved[position + 1]
        for position in ((best + size - 1) % size, best % size):
            saved[position] = _saving(tour, size, position, distances)


def _saving(tour, size, position, distances):
    """What leaving out a stop saves."""
    before, stop, after = tour[position - 1 if position else size - 1], tour[position], tour[0]
    if position + 1 < size:
        after = tour[position + 1]
    return distances[before, stop] + distances[stop, after] - distances[before, after]


def _covers_alone(stop, covers, count):
    """Whether a stop is the only one that covers some place."""
    for place in range(len(count)):
        if covers[stop, place] and count[place] == 1:
            return True
    return False


def _replace(tour, size, distances, covers, allowed, needed, count, alone, slack):
    """Replace stops, one after the other, by the places that cover what only they do at least cost.

    A stop that covers nothing alone stays as it is.
    """
    for position in range(size):
        stop = tour[position]
        many = 0
        for place in range(len(count)):
            if covers[stop, place] and count[place] == 1:
                alone[many] = place
                many += 1
        if many == 0 or needed[stop]:
            continue
        before = tour[position - 1 if position else size - 1]
        after = tour[position + 1 if position + 1 < size else 0]
        best = stop
        least = distances[before, stop] + distances[stop, after] - slack
        for other in range(len(count)):
            way = distances[before, other] + distances[other, after]
            if way < least and allowed[other]:
                able = True
                for index in range(many):
                    if not covers[other, alone[index]]:
                        able = False
                        break
                if able:
                    best, least = other, way
        if best != stop:
            for place in range(len(count)):
                count[place] += np.int64(covers[best, place]) - np.int64(covers[stop, place])
            tour[position] = best


def _uncross(tour, size, distances, slack):
    """2-opt: turn round the part between two legs, the pair that saves most, while any saves."""
    while True:
        least = -slack
        low = high = -1
        for i in range(size - 1):
            a, b = tour[i], tour[i + 1]
            for j in range(i + 1, size):
                c, d = tour[j], tour[j + 1 if j + 1 < size else 0]
                change = distances[a, c] + distances[b, d] - distances[a, b] - distances[c, d]
                if change < least:
                    least, low, high = change, i + 1, j
        if low < 0:
            return
        while low < high:
            tour[low], tour[high] = tour[high], tour[low]
            low, high = low + 1, high - 1
