"""LnsParams: the numbers by which the large-neighbourhood search is tuned."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from numbers import Integral, Real

from covertour.problem.errors import InputError
from covertour.problem.instance import Instance

LEAST = {"first_cycle": 1, "most_removed": 1, "swaps_from": 6, "longest_swapped": 1, "growth": 1.0}
"""What a parameter must be at least; the others 0."""

MOST = {"swaps": 1.0, "noise": 1.0}
"""What a parameter may be at most."""


@dataclass(frozen=True)
class LnsParams:
    """The parameters of ``lns``; the defaults were tuned on random and literature instances.

    *Annealing.* ``hot``: the temperature at the start of a cycle, in mean legs of the first tour;
    at its end it is 0. ``hot_long``: the same for tours of more than ``short_tour`` stops and for
    the members of pools, which are given fewer iterations per stop. ``first_cycle``: iterations of
    the first cycle per stop of the tour; each next cycle is ``growth`` times as long, and the last
    one takes all that is left if that is less than ``last_cycle`` times its own. Up to
    ``short_tour`` stops several cycles find more than a long one; above, one cycle takes it all.

    *A pool.* Tours of a few dozen to ``short_tour`` stops are searched for in pools of up to
    ``members`` tours, fewer in a short search, each annealed in a cycle of its own and all then
    recombined; the next pool is longer and has more of them. So are the regions of longer tours,
    where there is time for it. With 0 members there are only cycles, from the best tour so far.

    *An iteration* removes up to ``most_removed`` stops. A share ``swaps`` of them swap two
    neighbouring paths of up to ``longest_swapped`` stops instead, on tours of at least
    ``swaps_from`` stops; shorter ones fold in few ways. Scores of coverers are blurred by a random
    factor in 1 ± ``noise``. A repaired tour that is longer than acceptable by ``hopeless`` mean
    legs is not improved further; one that is longer by ``abandoned`` while places are still
    uncovered is not even repaired.

    >>> from covertour import random_instance, solve
    >>> timid = LnsParams(most_removed=2)
    >>> solve(random_instance(30, nearest=7), iterations=500, params=timid).iterations
    500
    """

    hot: float = 0.8
    hot_long: float = 0.5
    first_cycle: int = 25
    growth: float = 1.5
    last_cycle: float = 2.5
    short_tour: int = 500
    members: int = 100
    most_removed: int = 6
    swaps: float = 0.4
    swaps_from: int = 24
    longest_swapped: int = 20
    noise: float = 0.3
    hopeless: float = 0.5
    abandoned: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            kind = Integral if isinstance(field.default, int) else Real
            least, most = LEAST.get(field.name, 0), MOST.get(field.name, float("inf"))
            number = isinstance(value, kind) and not isinstance(value, bool)
            if not number or not isfinite(value) or not least <= value <= most:
                whole = "a whole number" if kind is Integral else "a number"
                up_to = f" and <= {most:g}" if isfinite(most) else ""
                raise InputError(f"{field.name}: expected {whole} >= {least}{up_to}, got {value!r}")


DEFAULT = LnsParams()

PARTIAL = LnsParams(hot=0.4, most_removed=4)
"""The defaults where one tour may leave places out."""


def default_params(instance: Instance) -> LnsParams:
    """The parameters for an instance, unless others are asked for."""
    return PARTIAL if instance.partial and instance.fleet is None else DEFAULT
