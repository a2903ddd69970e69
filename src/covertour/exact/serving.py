"""What a tour has to serve, as sets of places of which it must hit some.

Place j with demand d is served by at least d stops among its coverers. Forced stops count at once:
what is left is a set T of other coverers and a ``need``, d less the forced ones among them. Where
every place must be served that is y(T) >= need. Where a quota or a budget lets places be left out,
T has a variable z, 1 only if the place counts as served, and the row is y(T) >= need z; places with
the same T and need share one z, which weighs as much as they do together.

A quota needs no z for a place without which it cannot be reached; that one must be served.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

MUST = -1
"""In place of the number of a z: the set has none, its place must be served."""

QUOTA_SLACK = 1e-9
"""A quota counts as reached with this share of it missing."""

ROUNDING = 1e-12
"""Sums of weights in different orders differ by less than this share."""

MOST_DIGITS = 6
"""Weights with more digits than these behind the point have no unit."""

MOST_UNITS = 1e8
"""Nor have weights that are more units together."""


@dataclass(frozen=True, eq=False)
class Service:
    """The sets: ``member`` int64[h] in ``start`` int64[sets + 1], each ascending.

    ``need``: int64[sets] >= 1. ``z``: int64[sets], the number of the set's z, MUST where it has
    none. ``weight``: float64[m] > 0, of each z; ``least``: what the weights of all z that are 1
    must add up to; ``sure``: the weight that every tour serves.
    """

    member: IntArray
    start: IntArray
    need: IntArray
    z: IntArray
    weight: FloatArray
    least: float
    sure: float


def plain_service(instance: Instance) -> Service:
    """Where every place must be covered once: no set holds another, for it would say no more."""
    coverage = instance.coverage
    alone = instance.must_visit
    member = np.concatenate([alone, coverage.covered_by.astype(np.int64)])
    size = np.concatenate([np.ones(len(alone), dtype=np.int64), np.diff(coverage.covered_by_start)])
    member, start = _only_minimal(member, size, instance.n)
    sets = len(start) - 1
    ones = np.ones(sets, dtype=np.int64)
    return Service(member, start, ones, MUST * ones, np.empty(0), 0.0, 0.0)


def make_service(instance: Instance, least_weight: float | None) -> Service:
    """What tours must serve: everything, or with ``least_weight`` at least so much of the weight.

    A weight of 0 asks for nothing, but has a z for all that can be served.
    """
    if least_weight is None and instance.demand is None:
        return plain_service(instance)
    n, coverage, weights = instance.n, instance.coverage, instance.weights
    forced = np.zeros(n, dtype=bool)
    forced[instance.must_visit] = True
    of_place = np.repeat(np.arange(n), np.diff(coverage.covered_by_start))
    by_forced = np.bincount(of_place[forced[coverage.covered_by]], minlength=n)
    need = instance.demands - by_forced
    counts = (need > 0) & (need <= np.diff(coverage.covered_by_start) - by_forced)
    if least_weight is not None:
        counts &= weights > 0
    groups: dict[tuple[bytes, int], float] = {}
    for place in np.flatnonzero(counts).tolist():
        coverers = coverage.covered_by_of(place).astype(np.int64)
        key = (coverers[~forced[coverers]].tobytes(), int(need[place]))
        groups[key] = groups.get(key, 0.0) + float(weights[place])
    weight = np.array(list(groups.values()), dtype=np.float64)
    must = np.ones(len(weight), dtype=bool)
    sure, least = float(weights[need <= 0].sum()), 0.0
    if least_weight is not None:
        least = least_weight * (1.0 - QUOTA_SLACK) - sure
        if np.all(weight == np.floor(weight)):
            least = float(np.ceil(least - ROUNDING * least_weight))
        must = weight > weight.sum() - least + ROUNDING * instance.total_weight
        if least_weight > 0.0 and least <= 0.0:  # reached without any of them
            groups, weight, must = {}, weight[:0], must[:0]
        least = max(least - float(weight[must].sum()), 0.0)
        sure += float(weight[must].sum())
    members = [np.frombuffer(key, dtype=np.int64) for key, _ in groups]
    needs = np.array([need for _, need in groups], dtype=np.int64)
    alone = [instance.must_visit[k : k + 1] for k in range(len(instance.must_visit))]
    once = [*alone, *(members[k] for k in np.flatnonzero(must & (needs == 1)))]
    rest = [*np.flatnonzero(must & (needs > 1)), *np.flatnonzero(~must)]
    lists = _minimal_lists(once, n)
    needs = np.concatenate([np.ones(len(lists), dtype=np.int64), needs[rest]])
    z = np.full(len(needs), MUST)
    z[len(needs) - (~must).sum() :] = np.arange((~must).sum())
    lists += [members[k] for k in rest]
    if not lists:  # nothing must be served, but a tour has a stop
        lists = [np.setdiff1d(np.arange(n), instance.forbidden)]
        needs, z = np.ones(1, dtype=np.int64), np.array([MUST])
    start = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in lists], out=start[1:])
    return Service(np.concatenate(lists), start, needs, z, weight[~must], least, sure)


def unit_of(weights: FloatArray) -> float | None:
    """The largest of 1, 0.1, 0.01, ... of which all weights are multiples, but for rounding.

    None where there is none of them, or the weights together are so many that sums of them can
    hardly be told apart.
    """
    for digits in range(MOST_DIGITS + 1):
        scaled = weights * 10.0**digits
        if scaled.sum() > MOST_UNITS:
            return None
        if np.all(np.abs(scaled - np.round(scaled)) <= ROUNDING * scaled):
            return float(10.0**-digits)
    return None


def _minimal_lists(lists: list[IntArray], n: int) -> list[IntArray]:
    if not lists:
        return []
    size = np.array([len(members) for members in lists])
    member, start = _only_minimal(np.concatenate(lists), size, n)
    return np.split(member, start[1:-1])


def _only_minimal(member: IntArray, size: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Members and starts of the sets that hold no other one."""
    owner = np.repeat(np.arange(len(size)), size)
    keep = minimal(owner, member, n)
    start = np.zeros(keep.sum() + 1, dtype=np.int64)
    np.cumsum(size[keep], out=start[1:])
    return member[keep[owner]], start


def minimal(owner: IntArray, member: IntArray, n: int) -> npt.NDArray[np.bool_]:
    """Which sets hold no other one, bool[m]; of equal sets the first.

    ``owner``: int64[h], ascending, the set that each entry of ``member``, int64[h], belongs to.
    """
    size = np.bincount(owner)
    begin = np.cumsum(size) - size
    bits = as_bits(owner, member, (len(size), n))
    by_member = np.argsort(member, kind="stable")
    holders = np.split(owner[by_member], np.cumsum(np.bincount(member, minlength=n))[:-1])
    held = np.array([len(sets) for sets in holders])
    keep = np.ones(len(size), dtype=bool)
    # From the smallest on: whatever holds a set that was dropped holds the one it was dropped for.
    for k in np.argsort(size, kind="stable"):
        if keep[k]:
            members = member[begin[k] : begin[k] + size[k]]
            others = holders[members[np.argmin(held[members])]]
            others = others[keep[others]]
            keep[others[((bits[others] & bits[k]) == bits[k]).all(axis=1)]] = False
            keep[k] = True
    return keep


def as_bits(row: IntArray, column: IntArray, shape: tuple[int, int]) -> npt.NDArray[np.uint64]:
    """A table with ones at these rows and columns, one bit per entry: uint64[rows, words]."""
    rows, columns = shape
    table = np.zeros((rows, -(-columns // 64) * 64), dtype=bool)
    table[row, column] = True
    return np.packbits(table, axis=1).view(np.uint64)
