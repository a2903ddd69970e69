"""dropadd: a stop is dropped, or replaced by one or two places nearby that cover what it covered.

The move of LS2 (Golden et al. 2012), and the "drop and add" of Shaelaie, Salari and Naji-Azimi
(2014), who look at 14 places nearby instead of 10. The tour covers everything before and after.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import inner
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray, positions
from covertour.search.changes import clear_spare, copy_tour, insert, remove, saving
from covertour.search.construct import is_redundant
from covertour.search.state import FIXED, NOWHERE, Place, distance, draw_below


@inner
def _cover_its_own(s, stop, reached, those):
    """Whether the candidates in the bits of ``those`` cover all that only the stop covers."""
    for k in range(s.at[stop].covers_from, s.at[stop].covers_to):
        place = Place(s.who[k])
        if s.served[place].count == 1 and reached[place] & those == 0:
            return False
    return True


@inner
def replace(s, stop, nearby, reached, pairs):
    """Replace a stop by the cheapest one or two places nearby that cover its own, if shorter.

    nearby: int64[n, w], see ``nearest_allowed``; reached: int64[n], all 0, before and after.
    """
    before = s.at[stop].prev
    after = s.at[stop].next
    # Bit c of reached[place] says whether candidate c covers a place that only the stop covers.
    for c in range(nearby.shape[1]):
        other = Place(nearby[stop, c])  # -1 becomes NOWHERE
        if other == NOWHERE or s.at[other].stop_at >= 0:
            continue
        for k in range(s.at[other].covers_from, s.at[other].covers_to):
            place = Place(s.who[k])
            if s.served[place].count == 1 and s.served[place].owner == stop:
                reached[place] |= 1 << c
    best = s.at[before].leg + s.at[stop].leg
    best -= 1e-9 * best
    first = NOWHERE
    second = NOWHERE
    for c in range(nearby.shape[1]):
        i = Place(nearby[stop, c])
        if i == NOWHERE or s.at[i].stop_at >= 0:
            continue
        to_i = distance(s, before, i)
        from_i = distance(s, i, after)
        if to_i + from_i < best and _cover_its_own(s, stop, reached, 1 << c):
            best = to_i + from_i
            first = i
            second = i
        for d in range(c + 1, nearby.shape[1] if pairs else c + 1):
            j = Place(nearby[stop, d])
            if j == NOWHERE or s.at[j].stop_at >= 0:
                continue
            there = to_i + distance(s, j, after) + distance(s, i, j)
            back = distance(s, before, j) + from_i + distance(s, j, i)
            # Few pairs are short enough, so whether they cover is asked last.
            if min(there, back) >= best or not _cover_its_own(
                s, stop, reached, (1 << c) | (1 << d)
            ):
                continue
            if there < best:
                best = there
                first = i
                second = j
            if back < best:
                best = back
                first = j
                second = i
    for k in range(s.at[stop].covers_from, s.at[stop].covers_to):
        reached[s.who[k]] = 0
    if first == NOWHERE:
        return False
    insert(s, first, stop)
    if second != first:
        insert(s, second, first)
    remove(s, stop)
    return True


@inner
def drop_and_add(s, nearby, reached, pairs, order):
    """Go round the tour, dropping and replacing stops, until nothing changes.

    order: int64[n], room.
    """
    changed = True
    while changed:
        changed = False
        size = copy_tour(s, order)
        first = draw_below(s, size)
        for index in range(size):
            stop = Place(order[(first + index) % size])
            s.tour.log = 0
            if s.at[stop].stop_at < 0 or s.at[stop].role == FIXED or s.tour.size < 2:
                continue
            if is_redundant(s, stop) and saving(s, stop) >= 0.0:
                remove(s, stop)
                changed = True
            elif s.at[stop].unique > 0 and replace(s, stop, nearby, reached, pairs):
                changed = True
    clear_spare(s)


def nearest_allowed(instance: Instance, k: int) -> IntArray:
    """The k nearest others that may be stops, int64[n, k + 1]; -1 for itself and past the last."""
    from scipy.spatial import cKDTree

    n = instance.n
    allowed = np.setdiff1d(np.arange(n), instance.forbidden)
    near = np.full((n, k + 1), -1, dtype=np.int64)
    width = min(k + 1, len(allowed))
    if instance.matrix is not None:
        order = np.argsort(instance.matrix[:, allowed], axis=1, kind="stable")[:, :width]
    else:
        assert instance.coordinates is not None
        points = positions(instance.metric, instance.coordinates)
        _, order = cKDTree(points[allowed]).query(points, k=np.arange(1, width + 1))
    near[:, :width] = allowed[order]
    near[near == np.arange(n)[:, None]] = -1
    return near
