"""Branching: which place, or else which pair, to decide next, by trying a few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covertour.exact.relaxation import Basis, Relaxation
from covertour.metric import FloatArray, IntArray

CANDIDATES = 8
"""So many undecided variables are tried before one is taken."""

TRIAL_STEPS = 60
"""Simplex steps that a trial may take."""

TRUSTED = 3
"""After so many trials and nodes in each direction a place is judged by what they showed."""


@dataclass(frozen=True)
class Branch:
    """One side of a decision: a place is a stop or not, or a pair is used or not (value 1 or 0).

    ``distance``: how far the value was from this one.
    """

    place: int
    pair: tuple[int, int] | None
    value: int
    distance: float


class PseudoCosts:
    """By how much bounds rose, per unit of distance, when a place was decided."""

    def __init__(self, n: int) -> None:
        self.total = np.zeros((n, 2))
        self.count = np.zeros((n, 2), dtype=np.int64)

    def learn(self, branch: Branch, gain: float) -> None:
        """Remember the gain of a branch on a place."""
        if branch.pair is None and branch.distance > 1e-6:
            self.total[branch.place, branch.value] += max(gain, 0.0) / branch.distance
            self.count[branch.place, branch.value] += 1

    def estimate(self, places: IntArray, y: FloatArray) -> FloatArray:
        """Expected gains, float64[k, 2], of deciding the places for 0 and for 1."""
        mean = np.array(
            [
                self.total[:, side].sum() / max(self.count[:, side].sum(), 1) or 1.0
                for side in (0, 1)
            ]
        )
        known = self.count[places] > 0
        rate = np.where(known, self.total[places] / np.maximum(self.count[places], 1), mean)
        return rate * np.stack([y[places], 1.0 - y[places]], axis=1)


def score(gains: FloatArray) -> FloatArray:
    """One number for the gains of both sides, float64[k, 2]: both should rise."""
    return np.maximum(gains[:, 0], 1e-6) * np.maximum(gains[:, 1], 1e-6)


def choose_branch(
    relaxation: Relaxation, pseudo: PseudoCosts, basis: Basis, cutoff: float
) -> tuple[Branch, Branch]:
    """The decision that promises the highest bounds, the side to look at first in front.

    Places come first: where they are decided the pairs mostly follow.
    """
    y, x = relaxation.y, relaxation.x
    free = np.flatnonzero(np.abs(y - np.round(y)) > 1e-6)
    objective = relaxation.objective
    if len(free):
        gains = pseudo.estimate(free, y)
        order = np.argsort(-score(gains), kind="stable")[:CANDIDATES]
        best, best_score, best_gains = -1, -1.0, np.zeros(2)
        for index in order.tolist():
            place = int(free[index])
            gain = gains[index]
            if pseudo.count[place].min() < TRUSTED:
                gain = np.array(
                    [_trial(relaxation, basis, place, value, objective, cutoff) for value in (0, 1)]
                )
                for value in (0, 1):
                    away = y[place] if value == 0 else 1.0 - y[place]
                    pseudo.learn(Branch(place, None, value, away), gain[value])
            this = float(score(gain[None, :])[0])
            if this > best_score:
                best, best_score, best_gains = place, this, gain
        zero = Branch(best, None, 0, float(y[best]))
        one = Branch(best, None, 1, float(1.0 - y[best]))
        return (one, zero) if best_gains[1] <= best_gains[0] else (zero, one)
    column = int(np.argmax(np.minimum(x, 1.0 - x)))
    pair = (int(relaxation.edge_u[column]), int(relaxation.edge_v[column]))
    return Branch(-1, pair, 1, 1.0 - x[column]), Branch(-1, pair, 0, x[column])


def _trial(
    relaxation: Relaxation, basis: Basis, place: int, value: int, objective: float, cutoff: float
) -> float:
    """How much the objective rises in a few steps with a place decided."""
    highs = relaxation.highs
    highs.changeColBounds(place, float(value), float(value))
    relaxation.solve(iterations=TRIAL_STEPS)
    gain = min(max(relaxation.objective - objective, 0.0), max(cutoff - objective, 0.0) + 1.0)
    highs.changeColBounds(place, relaxation.y_lower[place], relaxation.y_upper[place])
    relaxation.restore(basis)
    return gain
