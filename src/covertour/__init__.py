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

from covertour.problem.coverage import Nearest, Radius, Sets
from covertour.problem.errors import InputError, SolveError
from covertour.problem.generate import random_instance
from covertour.problem.instance import Instance
from covertour.problem.referee import Verdict, verify
from covertour.problem.tour import Tour, make_tour, service
from covertour.solving.result import Result
from covertour.version import __version__

if TYPE_CHECKING:
    from covertour.formats import read, read_tour, write
    from covertour.solving.many import solve_many
    from covertour.solving.methods import METHODS, Decoding
    from covertour.solving.solve import solve

_LAZY = {
    "Decoding": "covertour.solving.methods",
    "METHODS": "covertour.solving.methods",
    "read": "covertour.formats",
    "read_tour": "covertour.formats",
    "solve": "covertour.solving.solve",
    "solve_many": "covertour.solving.many",
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
