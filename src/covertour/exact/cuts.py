"""Cut: an inequality that every tour satisfies, in the one shape that pricing understands.

All cuts are written with the pairs *inside* sets, because that is sparse and because every pair,
also one that the relaxation does not have yet, then has a coefficient <= 0 that the sets tell:

    sum of a_i y_i  -  sum over k of w_k x(E(S_k))  >=  rhs,    w_k > 0.

A cut x(δ(S)) >= r takes this shape by x(δ(S)) = 2 y(S) - 2 x(E(S)), which is the sum of the
degree equations of S. Since also x(δ(S)) = x(δ(V \\ S)), the smaller of the two sides is used.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covertour.problem.metric import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Cut:
    """An inequality. ``sets``: int64 arrays, ascending; ``weights``: w_k of each.

    ``places``: int64[p] ascending with ``coefficients``: float64[p], the a_i that are not 0.
    ``family`` says which separation found it.
    """

    sets: tuple[IntArray, ...]
    weights: tuple[float, ...]
    places: IntArray
    coefficients: FloatArray
    rhs: float
    family: str

    @property
    def key(self) -> tuple[bytes, ...]:
        """Equal for cuts that are the same inequality."""
        return (
            *(members.tobytes() for members in self.sets),
            self.places.tobytes(),
            np.array([*self.weights, *self.coefficients, self.rhs]).tobytes(),
        )


def slack(cut: Cut, x: FloatArray, y: FloatArray) -> float:
    """Left side minus right side at a point; x: float64[n, n] symmetric, y: float64[n]."""
    inside = sum(
        weight * x[np.ix_(members, members)].sum() / 2.0
        for weight, members in zip(cut.weights, cut.sets, strict=True)
    )
    return float(cut.coefficients @ y[cut.places] - inside - cut.rhs)


def make_cut(
    n: int,
    sets: list[IntArray],
    weights: list[float],
    terms: list[tuple[IntArray, float]],
    rhs: float,
    family: str,
) -> Cut:
    """A cut from its sets and from sums of y: ``terms`` are (places, coefficient of each)."""
    coefficient = np.zeros(n)
    for places, value in terms:
        np.add.at(coefficient, places, value)
    places = np.flatnonzero(coefficient)
    return Cut(tuple(sets), tuple(weights), places, coefficient[places], rhs, family)
