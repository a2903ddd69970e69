"""Proof: what a proof says at its end."""

from __future__ import annotations

from dataclasses import dataclass

from covertour.problem.metric import IntArray

SAME_LENGTH = 2e-7
"""Where lengths are not whole, tours within this share of the best one are not told apart."""


@dataclass(frozen=True, eq=False)
class Proof:
    """The best tour known and how short a tour can possibly be.

    ``places``: int64[m], the stops in order; ``length``: of that tour. ``bound``: no tour is
    shorter; on whole-number distances it is rounded up. ``optimal``: no tour is shorter than
    ``length`` (relative 1e-6 where distances are not whole numbers). ``nodes``: subproblems
    looked at; ``cuts``: inequalities found. ``warnings``: one line each; numerical trouble makes
    the bound weaker, never wrong.
    """

    places: IntArray
    length: float
    bound: float
    optimal: bool
    nodes: int
    cuts: int
    seconds: float
    warnings: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """(length - bound) / bound: 0 where optimal, infinite where nothing is proven."""
        return relative_gap(self.length, self.bound)


def relative_gap(length: float, bound: float) -> float:
    """(length - bound) / bound, 0 where they are equal and infinite where the bound is 0."""
    if length <= bound:
        return 0.0
    return (length - bound) / bound if bound > 0 else float("inf")
