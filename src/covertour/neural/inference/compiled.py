"""loops(): the inner loops of decoding, compiled; or as they stand, for a process that needs few.

To load the compiler takes half a second; to run the loops as they stand takes a twentieth of that
for a tour of a hundred places. The results are the same; only am-gain's decoder, too slow as it
stands, is left to its graphs then, which may round otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache
from inspect import getmembers, isfunction
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from covertour.neural.inference import gain_kernels, kernels
from covertour.neural.inference.gain_kernels import FEATURES, GainCode, GainTask, GainWeights
from covertour.neural.inference.kernels import Tables

Loop = Callable[..., Any]


@dataclass
class Loops:
    """The functions of kernels.py and gain_kernels.py that are called from outside."""

    set_factors: Loop = kernels.set_factors
    block: Loop = kernels.block
    visit: Loop = kernels.visit
    polish_tours: Loop = kernels.polish_tours
    decode_gain: Loop = gain_kernels.decode_gain


AS_THEY_STAND = Loops()
_interpreted: list[bool] = []
"""Not empty where :func:`interpreted` holds."""


def loops() -> Loops:
    """The loops to call; the first time they are compiled, or loaded from the cache."""
    return AS_THEY_STAND if _interpreted else _compiled()


@contextmanager
def interpreted() -> Iterator[None]:
    """Use the loops as they stand."""
    _interpreted.append(True)
    try:
        yield
    finally:
        _interpreted.pop()


@cache
def _compiled() -> Loops:
    from covertour.kernel import inner

    quick = inner(reassociates=True)
    made = Loops(**_compile(kernels, inner), **_compile(gain_kernels, quick))
    _call_each(made)
    return made


def _compile(module: ModuleType, inside: Callable[..., Any]) -> dict[str, Loop]:
    """The loops of a module that are called from outside; ``inside`` compiles the others."""
    from covertour.kernel import entry

    outside = {field.name for field in fields(Loops)}
    names = vars(module).copy()  # compiled loops are to call compiled ones
    found = getmembers(module, isfunction)
    for name, function in found:
        compiled = entry(allocates=True) if name in outside else inside
        names[name] = compiled(FunctionType(function.__code__, names, name))
    return {name: names[name] for name, _ in found if name in outside}


def _call_each(made: Loops) -> None:
    """Let numba compile the loops, which it does when they are called, for two places."""
    one, square = (1, 1, 2), (1, 2, 2)
    yes, no = np.ones(square, bool), np.zeros(one, bool)
    ones, table = np.ones(one, np.float32), np.ones(square, np.float32)
    place, done, required = np.zeros((1, 1), np.int64), np.zeros((1, 1), bool), no[0, :, :0].copy()
    rows, covers = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    made.set_factors(table[0], rows, covers, np.array([-1.0, 1.0, 1.0, -1.0]))
    made.block(ones, no, ones, required, no, no, True, place)
    made.visit(place, yes, table, table, required, no, no, no, ones, ones, done)
    tables = Tables(np.ones(square), yes, no[0], no[0])
    made.polish_tours(np.array([[0, 1]]), np.array([0]), tables, 0.0)
    features, line = np.ones((2, FEATURES), np.float32), ones[0, 0]
    weights = GainWeights(line, features, features, features, features, table[0], line, line[:1])
    code = GainCode(ones, table, table, table, table, table, table, table, ones)
    task = GainTask(yes, table, table, yes[0, :1], no[0], np.array([-1]))
    tours, greedy = np.zeros(one, np.int64), ones[:, :0].copy()
    made.decode_gain(tours, greedy, code, weights, task, 1, np.float32(1.0), True)
