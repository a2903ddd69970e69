"""Cuts: inequalities that every tour satisfies, in the one shape that pricing understands.

All cuts are written with the pairs *inside* sets, because that is sparse and because every pair,
also one that the relaxation does not have yet, then has a coefficient <= 0 that the sets tell:

    sum of a_i y_i  -  sum over k of w_k x(E(S_k))  >=  rhs,    w_k > 0,

where i runs over all switches, z's too.

A cut x(δ(S)) >= r takes this shape by x(δ(S)) = 2 y(S) - 2 x(E(S)), which is the sum of the
degree equations of S. Since also x(δ(S)) = x(δ(V \\ S)), the smaller of the two sides is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from covertour.kernel import entry
from covertour.problem.coverage import Int32Array
from covertour.problem.metric import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Cut:
    """An inequality. ``sets``: int64 arrays, ascending; ``weights``: w_k of each.

    ``places``: int64[p] ascending, switches, with ``coefficients``: float64[p], the a_i that are
    not 0.
    """

    sets: tuple[IntArray, ...]
    weights: tuple[float, ...]
    places: IntArray
    coefficients: FloatArray
    rhs: float

    @property
    def key(self) -> tuple[bytes, ...]:
        """Equal for cuts that are the same inequality."""
        return (
            *(members.tobytes() for members in self.sets),
            self.places.tobytes(),
            np.array([*self.weights, *self.coefficients, self.rhs]).tobytes(),
        )


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
    """All cuts found so far, each once, by number; most of them are not in the program.

    Several threads may add to it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._cuts: list[Cut] = []
        self._number: dict[tuple[bytes, ...], int] = {}

    def __len__(self) -> int:
        return len(self._cuts)

    def __getitem__(self, number: int) -> Cut:
        return self._cuts[number]

    def add(self, cut: Cut) -> int:
        """The number of a cut, a new one if it was not there."""
        key = cut.key
        with self._lock:
            number = self._number.setdefault(key, len(self._cuts))
            if number == len(self._cuts):
                self._cuts.append(cut)
        return number


class CutSets(NamedTuple):
    """The sets of some cuts, for kernels that look for those that hold both ends of a pair.

    Those that hold place i are ``of_place[start[i]:start[i + 1]]``; ``inside``: uint8[sets, n].
    """

    start: IntArray
    of_place: IntArray
    inside: Any


@dataclass(frozen=True, eq=False)
class FlatCuts:
    """Cuts as arrays.

    ``rhs``: float64[cuts]. Their terms in y: ``place``, ``coefficient`` and ``place_row``, the cut
    that the term is of. Their ``sets``, with ``set_row`` and ``set_weight``, float64[sets].
    """

    rhs: FloatArray
    place: IntArray
    coefficient: FloatArray
    place_row: IntArray
    set_row: IntArray
    set_weight: FloatArray
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
    return FlatCuts(
        rhs=np.array([cut.rhs for cut in cuts], dtype=np.float64),
        place=joined([cut.places for cut in cuts], np.int64).astype(np.int64),
        coefficient=joined([cut.coefficients for cut in cuts], np.float64),
        place_row=np.repeat(np.arange(len(cuts)), [len(cut.places) for cut in cuts]),
        set_row=np.repeat(np.arange(len(cuts)), [len(cut.sets) for cut in cuts]),
        set_weight=np.array([w for cut in cuts for w in cut.weights], dtype=np.float64),
        sets=CutSets(start, owner[np.argsort(member, kind="stable")], inside),
    )


@entry(allocates=True)
def sets_around_pairs(u: Int32Array, v: Int32Array, sets: CutSets) -> tuple[IntArray, IntArray]:
    """(pair, set) numbers, int64[m] each, for every set that holds both ends of a pair u, v."""
    total = 0
    for e in range(len(u)):
        for index in range(sets.start[u[e]], sets.start[u[e] + 1]):
            total += sets.inside[sets.of_place[index], v[e]]
    pair = np.empty(total, dtype=np.int64)
    around = np.empty(total, dtype=np.int64)
    at = 0
    for e in range(len(u)):
        for index in range(sets.start[u[e]], sets.start[u[e] + 1]):
            k = sets.of_place[index]
            if sets.inside[k, v[e]]:
                pair[at], around[at] = e, k
                at += 1
    return pair, around
