"""FlatCuts: all cuts of a program as arrays, the way pricing reads them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covertour.exact.cuts import Cut
from covertour.problem.metric import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class FlatCuts:
    """Cuts as arrays.

    ``rhs``: float64[cuts]. Their terms in y: ``place``, ``coefficient`` and ``place_row``, the cut
    that the term is of. Their sets: ``set_row`` and ``set_weight``, float64[sets]; those that hold
    place i are ``of_place[of_place_start[i]:of_place_start[i + 1]]``; ``inside``: uint8[sets, n].
    """

    rhs: FloatArray
    place: IntArray
    coefficient: FloatArray
    place_row: IntArray
    set_row: IntArray
    set_weight: FloatArray
    of_place: IntArray
    of_place_start: IntArray
    inside: np.ndarray


def flatten(cuts: list[Cut], n: int) -> FlatCuts:
    """All cuts in the order given."""

    def joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
        return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)

    sets = [members for cut in cuts for members in cut.sets]
    set_row = np.repeat(np.arange(len(cuts)), [len(cut.sets) for cut in cuts])
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
        set_row=set_row,
        set_weight=np.array([w for cut in cuts for w in cut.weights], dtype=np.float64),
        of_place=owner[np.argsort(member, kind="stable")],
        of_place_start=start,
        inside=inside,
    )
