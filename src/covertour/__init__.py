"""covertour solves the Covering Salesman Problem: the shortest round trip that passes near all.

>>> import covertour
>>> instance = covertour.random_instance(100, nearest=7, seed=1)
>>> result = covertour.solve(instance)  # doctest: +SKIP
>>> covertour.verify(instance, result.tour).ok  # doctest: +SKIP
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from covertour.coverage import Nearest, Radius, Sets
from covertour.errors import InputError, SolveError
from covertour.generate import random_instance
from covertour.instance import Instance
from covertour.referee import Verdict, verify
from covertour.result import Result
from covertour.tour import Tour, make_tour, service
from covertour.version import __version__

if TYPE_CHECKING:
    from covertour.formats import read, read_tour, write
    from covertour.many import solve_many
    from covertour.methods import METHODS, Decoding, solve

_LAZY = {
    "Decoding": "covertour.methods",
    "METHODS": "covertour.methods",
    "read": "covertour.formats",
    "read_tour": "covertour.formats",
    "solve": "covertour.methods",
    "solve_many": "covertour.many",
    "write": "covertour.formats",
}
"""Public names whose modules are imported on first use, so that ``import covertour`` is quick."""

__all__ = [
    "METHODS",
    "Decoding",
    "InputError",
    "Instance",
    "Nearest",
    "Radius",
    "Result",
    "Sets",
    "SolveError",
    "Tour",
    "Verdict",
    "__version__",
    "make_tour",
    "random_instance",
    "read",
    "read_tour",
    "service",
    "solve",
    "solve_many",
    "verify",
    "write",
]


def __getattr__(name: str) -> object:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'covertour' has no attribute {name!r}")
