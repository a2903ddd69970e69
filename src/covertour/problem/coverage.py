"""Who covers whom: the rules (nearest k, radius, explicit sets) and the table they make.

A :class:`Coverage` holds both directions as compressed rows, so that "what does i cover" and "who
covers j" are slices; :mod:`covertour.problem.neighbours` makes it.

Two distances within a relative 1e-9 of each other count as equal, for ties in ``nearest`` and at
the rim of ``radius``: the last bit of a computed distance must not decide who is covered. On the
globe so do distances within a millimetre, which is what the last bits of degrees amount to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.problem.errors import InputError
from covertour.problem.metric import SPHERE_KM, FloatArray, IntArray

Int32Array = npt.NDArray[np.int32]

SAME = 1.0 + 1e-9
"""Distances a and b count as equal where a <= b * SAME and b <= a * SAME."""

MILLIMETRE = 1e-6
"""Distances on the globe, in kilometres, count as equal up to this difference too."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """Each place covers itself, its k nearest others and all that are tied with the k-th of them.

    ``k`` is one whole number for all places or int64[n], one per place; 0 covers the place alone.
    """

    k: int | IntArray


@dataclass(frozen=True, eq=False)
class Radius:
    """Place i covers every j with d(i, j) <= r_i; ``r`` is one number or float64[n], one each."""

    r: float | FloatArray


@dataclass(frozen=True, eq=False)
class Sets:
    """Place i covers the places in ``sets[i]``, int64 arrays, and itself."""

    sets: tuple[IntArray, ...]


Rule = Nearest | Radius | Sets


def only_rule(**given: object) -> str | None:
    """The name of the one coverage rule that is given, None for none; several are an error."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise InputError(f"coverage: {' and '.join(names)} are given; give only one of them")
    return names[0] if names else None


@dataclass(frozen=True, eq=False)
class Coverage:
    """The covered pairs, both ways, as compressed rows in ascending order.

    Place i covers ``covers[covers_start[i]:covers_start[i + 1]]``; place j is covered by
    ``covered_by[covered_by_start[j]:covered_by_start[j + 1]]``. int32[m] and int64[n + 1].
    A forbidden place is never on a tour, so it covers nothing here.
    """

    covers: Int32Array
    covers_start: IntArray
    covered_by: Int32Array
    covered_by_start: IntArray

    def __setstate__(self, state: dict[str, npt.NDArray[Any]]) -> None:
        """Come back from a pickle; arrays that whoever sent it made read-only are copied.

        Kernels are compiled for arrays that can be written. What is one array stays one.
        """
        kept = {id(one): one if one.flags.writeable else one.copy() for one in state.values()}
        self.__dict__.update({name: kept[id(one)] for name, one in state.items()})

    @property
    def n(self) -> int:
        """Number of places."""
        return len(self.covers_start) - 1

    def covers_of(self, place: int) -> Int32Array:
        """The places that ``place`` covers."""
        return self.covers[self.covers_start[place] : self.covers_start[place + 1]]

    def covered_by_of(self, place: int) -> Int32Array:
        """The places that cover ``place``."""
        return self.covered_by[self.covered_by_start[place] : self.covered_by_start[place + 1]]


def limit(metric: str, distance: FloatArray) -> FloatArray:
    """The largest distances that count as at most ``distance``."""
    return distance * SAME + (MILLIMETRE if metric in SPHERE_KM else 0.0)
