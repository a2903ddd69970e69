"""Cuts: inequalities that every tour satisfies, in the one shape that pricing understands.

All cuts are written with the pairs *inside* sets, because that is sparse and because every pair,
also one that the relaxation does not have yet, then has a coefficient <= 0 that the sets tell:

    sum of a_i y_i  -  sum over k of w_k x(E(S_k))  >=  rhs,    w_k > 0,

where i runs over all switches, z's too. A *rounded* cut (see :mod:`covertour.exact.halves`) has
its w_k whole and halves what they add up to, with a handle H = S_0: its coefficient of a pair e is

    - floor((|e ∩ H| + sum of w_k over the k >= 1 with e inside S_k) / 2).

A cut x(δ(S)) >= r takes this shape by x(δ(S)) = 2 y(S) - 2 x(E(S)), which is the sum of the
degree equations of S. Since also x(δ(S)) = x(δ(V \\ S)), the smaller of the two sides is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.coverage import Int32Array
from covertour.problem.metric import FloatArray, IntArray

Ends = IntArray | Int32Array
"""One end of each of some pairs."""


@dataclass(frozen=True, eq=False)
class Cut:
    """An inequality. ``sets``: int64 arrays, ascending; ``weights``: w_k of each.

    ``places``: int64[p] ascending, switches, with ``coefficients``: float64[p], the a_i that are
    not 0. ``rounded``: whether it is a rounded cut, whose first set is its handle.
    """

    sets: tuple[IntArray, ...]
    weights: tuple[float, ...]
    places: IntArray
    coefficients: FloatArray
    rhs: float
    rounded: bool = False

    @property
    def key(self) -> tuple[bytes, ...]:
        """Equal for cuts that are the same inequality."""
        return (
            *(members.tobytes() for members in self.sets),
            self.places.tobytes(),
            np.array([*self.weights, *self.coefficients, self.rhs, self.rounded]).tobytes(),
        )

    def of_pairs(self, u: Ends, v: Ends, n: int) -> FloatArray:
        """float64[m]: the coefficients <= 0 of the pairs u, v (m each) of n places."""
        mask = np.zeros(n, dtype=bool)
        total = np.zeros(len(u))
        for k, (members, weight) in enumerate(zip(self.sets, self.weights, strict=True)):
            mask[members] = True
            if self.rounded and k == 0:
                total += mask[u]
                total += mask[v]
            else:
                total[mask[u] & mask[v]] += weight
            mask[members] = False
        return -np.floor(0.5 * total) if self.rounded else -total


Violated = list[tuple[float, Cut]]
"""Cuts, each with the amount by which a point violates it."""


def make_cut(
    switches: int,
    sets: list[IntArray],
    weights: list[float],
    terms: list[tuple[IntArray, float]],
    rhs: float,
) -> Cut:
    """A cut from its sets and from sums of switches: ``terms`` are (which, coefficient of each)."""
    coefficient = np.zeros(switches)
    for places, value in terms:
        np.add.at(coefficient, places, value)
    places = np.flatnonzero(coefficient)
    return Cut(tuple(sets), tuple(weights), places, coefficient[places], rhs)


class CutPool:
    """All cuts found so far, each once, by number; most of them are not in the program."""

    def __init__(self) -> None:
        self._cuts: list[Cut] = []
        self._number: dict[tuple[bytes, ...], int] = {}

    def __len__(self) -> int:
        return len(self._cuts)

    def __getitem__(self, number: int) -> Cut:
        return self._cuts[number]

    def add(self, cut: Cut) -> int:
        """The number of a cut, a new one if it was not there."""
        number = self._number.setdefault(cut.key, len(self._cuts))
        if number == len(self._cuts):
            self._cuts.append(cut)
        return number


class CutSets(NamedTuple):
    """The sets of some cuts, for kernels that look for those that hold both ends of a pair.

    Those that hold place i are ``of_place[start[i]:start[i + 1]]``, ascending; ``inside``:
    uint8[sets, n]. ``row``: int64[sets], the cut that a set is of; ``weight``: float64[sets].
    ``handle``: int64[sets], the first set of the cut if that is rounded, else -1.
    """

    start: IntArray
    of_place: IntArray
    inside: Any
    row: IntArray
    weight: FloatArray
    handle: IntArray


@dataclass(frozen=True, eq=False)
class FlatCuts:
    """Cuts as arrays.

    ``rhs``: float64[cuts]. Their terms in y: ``place``, ``coefficient`` and ``place_row``, the cut
    that the term is of. Then their ``sets``.
    """

    rhs: FloatArray
    place: IntArray
    coefficient: FloatArray
    place_row: IntArray
    sets: CutSets


def flatten(cuts: list[Cut], n: int) -> FlatCuts:
    """All cuts in the order given."""

    def joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
        return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)

    sets = [members for cut in cuts for members in cut.sets]
    member = joined(sets, np.int64).astype(np.int64)
    owner = np.repeat(np.arange(len(sets)), [len(members) for members in sets])
    inside = np.zeros((len(sets), n), dtype=np.uint8)
    inside[owner, member] = 1
    start = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(member, minlength=n), out=start[1:])
    count = np.array([len(cut.sets) for cut in cuts], dtype=np.int64)
    rounded = np.array([cut.rounded for cut in cuts], dtype=bool)
    return FlatCuts(
        rhs=np.array([cut.rhs for cut in cuts], dtype=np.float64),
        place=joined([cut.places for cut in cuts], np.int64).astype(np.int64),
        coefficient=joined([cut.coefficients for cut in cuts], np.float64),
        place_row=np.repeat(np.arange(len(cuts)), [len(cut.places) for cut in cuts]),
        sets=CutSets(
            start=start,
            of_place=owner[np.argsort(member, kind="stable")],
            inside=inside,
            row=np.repeat(np.arange(len(cuts)), count),
            weight=np.array([w for cut in cuts for w in cut.weights], dtype=np.float64),
            handle=np.repeat(np.where(rounded, np.cumsum(count) - count, -1), count),
        ),
    )


@inner
def of_cuts(i: int, j: int, sets: CutSets, price: FloatArray) -> float:
    """What the pair i, j adds up to in all cuts: minus its coefficient times the cut's price.

    ``price``: float64[cuts].
    """
    total = 0.0
    if sets.start[i + 1] - sets.start[i] > sets.start[j + 1] - sets.start[j]:
        i, j = j, i  # the place in fewer sets
    handle = -1
    halves = 0.0
    for index in range(sets.start[i], sets.start[i + 1]):
        k = sets.of_place[index]
        if sets.handle[k] < 0:
            if sets.inside[k, j]:
                total += sets.weight[k] * price[sets.row[k]]
            continue
        if sets.handle[k] != handle:
            if handle >= 0:
                total += np.floor(0.5 * halves) * price[sets.row[handle]]
            handle = sets.handle[k]
            halves = float(sets.inside[handle, i] + sets.inside[handle, j])
        if k != handle and sets.inside[k, j]:
            halves += sets.weight[k]
    if handle >= 0:
        total += np.floor(0.5 * halves) * price[sets.row[handle]]
    return total


@entry(allocates=True)
def coefficients_of_pairs(
    u: Int32Array, v: Int32Array, sets: CutSets
) -> tuple[IntArray, IntArray, FloatArray]:
    """(pair, cut, coefficient), m each, of the pairs u, v: those that are not 0, some in parts."""
    most = 0
    for e in range(len(u)):
        most += sets.start[u[e] + 1] - sets.start[u[e]]
    pair = np.empty(most, dtype=np.int64)
    cut = np.empty(most, dtype=np.int64)
    value = np.empty(most)
    at = 0
    for e in range(len(u)):
        handle = -1
        halves = 0.0
        for index in range(sets.start[u[e]], sets.start[u[e] + 1]):
            k = sets.of_place[index]
            if sets.handle[k] < 0:
                if sets.inside[k, v[e]]:
                    pair[at], cut[at], value[at] = e, sets.row[k], -sets.weight[k]
                    at += 1
                continue
            if sets.handle[k] != handle:
                if halves >= 2.0:
                    pair[at], cut[at], value[at] = e, sets.row[handle], -np.floor(0.5 * halves)
                    at += 1
                handle = sets.handle[k]
                halves = float(sets.inside[handle, u[e]] + sets.inside[handle, v[e]])
            if k != handle and sets.inside[k, v[e]]:
                halves += sets.weight[k]
        if halves >= 2.0:
            pair[at], cut[at], value[at] = e, sets.row[handle], -np.floor(0.5 * halves)
            at += 1
    return pair[:at], cut[:at], value[:at]
