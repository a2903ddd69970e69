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
from covertour.solving.stop import (
    GapBelow,
    MaxIterations,
    MaxSeconds,
    NoImprovement,
    Progress,
    TargetLength,
)
from covertour.version import __version__

if TYPE_CHECKING:
    from covertour import plot
    from covertour.formats import read, read_tour, write
    from covertour.search.params import LnsParams
    from covertour.solving.clock import Clock
    from covertour.solving.many import solve_many
    from covertour.solving.methods import METHODS, Decoding, Method, Outcome
    from covertour.solving.solve import solve

_LAZY = {
    "Clock": "covertour.solving.clock",
    "Decoding": "covertour.solving.methods",
    "LnsParams": "covertour.search.params",
    "METHODS": "covertour.solving.methods",
    "Method": "covertour.solving.methods",
    "Outcome": "covertour.solving.methods",
    "plot": "covertour.plot",
    "read": "covertour.formats",
    "read_tour": "covertour.formats",
    "solve": "covertour.solving.solve",
    "solve_many": "covertour.solving.many",
    "write": "covertour.formats",
}
"""Public names whose modules are imported on first use, so that ``import covertour`` is quick."""

__all__ = [
    "METHODS",
    "Clock",
    "Decoding",
    "GapBelow",
    "InputError",
    "Instance",
    "LnsParams",
    "MaxIterations",
    "MaxSeconds",
    "Method",
    "Nearest",
    "NoImprovement",
    "Outcome",
    "Progress",
    "Radius",
    "Result",
    "Sets",
    "SolveError",
    "TargetLength",
    "Tour",
    "Verdict",
    "__version__",
    "make_tour",
    "plot",
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
    if name not in _LAZY:
        raise AttributeError(f"module 'covertour' has no attribute {name!r}")
    module = import_module(_LAZY[name])
    return module if module.__name__ == f"covertour.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return __all__
