"""Branching: which place, or else which pair, to decide next.

Strong branching: a few candidates are tried, each way, for some steps of the simplex method. What
is seen there and in the tree is remembered as pseudo-costs, by which places are judged once they
have been tried often enough (reliability branching; Achterberg, Koch and Martin 2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from covertour.exact.relaxation import Relaxation
from covertour.problem.metric import FloatArray, IntArray

CANDIDATES = 8
"""So many undecided variables are compared before one is taken."""

TRIAL_STEPS = 60
"""Steps of the simplex method that a trial may take."""

RELIABLE = 3
"""After so many trials and nodes in each direction a place is judged by its pseudo-costs."""

UNDECIDED = 1e-6
"""A variable that is further than this from a whole number is undecided at a point."""

LEAST_GAIN = 1e-6
"""Gains count as at least this much in a score."""


@dataclass(frozen=True)
class Branch:
    """One side of a decision: a place is a stop or not, or a pair is used or not (value 1 or 0).

    ``place`` may be any switch.

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
        if branch.pair is None and branch.distance > UNDECIDED:
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
    return np.maximum(gains[:, 0], LEAST_GAIN) * np.maximum(gains[:, 1], LEAST_GAIN)


def choose_branch(
    relaxation: Relaxation, pseudo_costs: PseudoCosts, cutoff: float
) -> tuple[Branch, Branch] | None:
    """The decision that promises the highest bounds, the side to look at first in front.

    ``cutoff``: scaled; gains beyond it count no more. Places come first: where they are decided the
    pairs mostly follow. What is decided already is never decided again, or a child would be its
    parent. Where the point is whole something else is taken, so that the tree ends whatever the
    solver does; None where nothing is left to decide.
    """
    n = len(relaxation.y)
    value = np.concatenate([relaxation.y, relaxation.x])
    undecided = np.concatenate(
        [
            relaxation.y_lower < relaxation.y_upper,
            relaxation.edge_lower < relaxation.edge_upper,
        ]
    )
    away = np.where(undecided, np.abs(value - np.round(value)), 0.0)
    places = np.flatnonzero(away[: relaxation.n] > UNDECIDED)
    if len(places) == 0:
        places = np.flatnonzero(away[:n] > UNDECIDED)
    pairs = n + np.flatnonzero(away[n:] > UNDECIDED)
    if len(places):
        gains = pseudo_costs.estimate(places, relaxation.y)
        likely = np.argsort(-score(gains), kind="stable")[:CANDIDATES]
        chosen, gains = places[likely], gains[likely]
        untried = pseudo_costs.count[chosen].min(axis=1) < RELIABLE
    elif len(pairs):
        chosen = pairs[np.argsort(-away[pairs], kind="stable")[:CANDIDATES]]
        gains, untried = np.zeros((len(chosen), 2)), np.ones(len(chosen), dtype=bool)
    elif undecided.any():
        chosen = np.flatnonzero(undecided)[:1]
        gains, untried = np.zeros((1, 2)), np.zeros(1, dtype=bool)
    else:
        return None
    sides = [_sides(relaxation, int(k), float(value[k])) for k in chosen]
    most = max(cutoff - relaxation.objective, 0.0) + 1.0
    basis = relaxation.highs.getBasis()
    for k in np.flatnonzero(untried):
        for side in sides[k]:
            gain = min(_trial(relaxation, basis, int(chosen[k]), side.value), most)
            gains[k, side.value] = gain
            pseudo_costs.learn(side, gain)
    best = int(np.argmax(score(gains)))
    zero, one = sides[best]
    return (one, zero) if gains[best, 1] <= gains[best, 0] else (zero, one)


def _sides(relaxation: Relaxation, variable: int, value: float) -> tuple[Branch, Branch]:
    """Both sides of deciding a variable: a switch, or behind all of them a pair of the program."""
    place, pair = variable, None
    if variable >= len(relaxation.y):
        column = variable - len(relaxation.y)
        place, pair = -1, (int(relaxation.edge_u[column]), int(relaxation.edge_v[column]))
    return Branch(place, pair, 0, value), Branch(place, pair, 1, 1.0 - value)


def _trial(relaxation: Relaxation, basis: Any, variable: int, value: int) -> float:
    """How much the objective rises in a few steps with a variable decided."""
    highs, n = relaxation.highs, len(relaxation.y)
    column, lower, upper = variable, relaxation.y_lower, relaxation.y_upper
    if variable >= n:
        variable -= n
        column = relaxation.first_edge + variable
        lower, upper = relaxation.edge_lower, relaxation.edge_upper
    highs.changeColBounds(column, float(value), float(value))
    gain = max(relaxation.objective_after(TRIAL_STEPS) - relaxation.objective, 0.0)
    highs.changeColBounds(column, lower[variable], upper[variable])
    highs.setBasis(basis)
    return gain
