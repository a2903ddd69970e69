"""run: the inner loops of decoding, compiled, or as they stand for a process that needs them once.

To load the compiler takes half a second; to run the loops as they stand takes a twentieth of that
for a tour of a hundred places. The results are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from inspect import getmembers, isfunction
from types import FunctionType

import numpy as np

from covertour.neural import kernels
from covertour.neural.kernels import Tables

Loop = Callable[..., None]

LOOPS = "neural/decoding"
"""By which :mod:`covertour.kernel` remembers that the loops were compiled before."""


@dataclass
class Loops:
    """The functions of :mod:`covertour.neural.kernels` that are called from outside."""

    set_factors: Loop = kernels.set_factors
    block: Loop = kernels.block
    visit: Loop = kernels.visit
    polish_tours: Loop = kernels.polish_tours
    once: bool = False


run = Loops()
"""Those in use."""


def load_loops() -> None:
    """From now on use the compiled loops; but not where :func:`interpreted` holds."""
    if not run.once:
        vars(run).update(_compiled())


@contextmanager
def interpreted() -> Iterator[None]:
    """Use the loops as they stand."""
    before = vars(run).copy()
    vars(run).update(vars(Loops(once=True)))
    try:
        yield
    finally:
        vars(run).update(before)


@cache
def _compiled() -> dict[str, Loop]:
    """The loops by name, compiled or from the cache; with them those that only loops call."""
    from covertour.kernel import allocating, inner, mark_ready

    names = vars(kernels).copy()
    for name, function in getmembers(kernels, isfunction):
        made = allocating if name in vars(run) else inner
        names[name] = made(FunctionType(function.__code__, names, name))
    loops = {name: names[name] for name in vars(run) if name in names}
    _call_each(Loops(**loops))
    mark_ready(LOOPS)
    return loops


def _call_each(loops: Loops) -> None:
    """Compile the loops, which numba does when they are called, for two places."""
    one, square = (1, 1, 2), (1, 2, 2)
    yes, no = np.ones(square, bool), np.zeros(one, bool)
    ones, table = np.ones(one, np.float32), np.ones(square, np.float32)
    place, done, required = np.zeros((1, 1), np.int64), np.zeros((1, 1), bool), no[0, :, :0].copy()
    rows, covers = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    loops.set_factors(table[0], rows, covers, np.array([-1.0, 1.0, 1.0, -1.0]))
    loops.block(ones, no, ones, required, no, no, True, place)
    loops.visit(place, yes, table, table, required, no, no, no, ones, ones, done)
    tables = Tables(np.ones(square), yes, no[0], no[0])
    loops.polish_tours(np.array([[0, 1]]), np.array([0]), tables, 0.0)
