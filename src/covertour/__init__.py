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

if TYPE_CHECKING:
    from covertour import plot
    from covertour.formats import read, read_tour, write
    from covertour.problem.coverage import Nearest, Radius, Sets
    from covertour.problem.errors import InputError, SolveError
    from covertour.problem.generate import random_instance
    from covertour.problem.goals import Fleet, Quota
    from covertour.problem.instance import Instance
    from covertour.problem.referee import verify
    from covertour.problem.roads import Roads
    from covertour.problem.tour import Tour, make_tour, routes_of, service
    from covertour.problem.verdict import Verdict
    from covertour.roads import with_roads
    from covertour.search.params import LnsParams
    from covertour.solving.clock import Clock
    from covertour.solving.frontier import frontier
    from covertour.solving.many import solve_many
    from covertour.solving.method import Decoding, Method, Outcome
    from covertour.solving.methods import METHODS
    from covertour.solving.result import Result
    from covertour.solving.solve import solve
    from covertour.solving.stop import (
        GapBelow,
        MaxIterations,
        MaxSeconds,
        NoImprovement,
        Progress,
        TargetLength,
    )
    from covertour.solving.tradeoff import Frontier
    from covertour.version import __version__

_HOMES = {
    "formats": ("read", "read_tour", "write"),
    "plot": ("plot",),
    "problem.coverage": ("Nearest", "Radius", "Sets"),
    "problem.errors": ("InputError", "SolveError"),
    "problem.generate": ("random_instance",),
    "problem.goals": ("Fleet", "Quota"),
    "problem.instance": ("Instance",),
    "problem.referee": ("verify",),
    "problem.tour": ("Tour", "make_tour", "routes_of", "service"),
    "problem.roads": ("Roads",),
    "problem.verdict": ("Verdict",),
    "roads": ("with_roads",),
    "search.params": ("LnsParams",),
    "solving.clock": ("Clock",),
    "solving.frontier": ("frontier",),
    "solving.many": ("solve_many",),
    "solving.method": ("Decoding", "Method", "Outcome"),
    "solving.methods": ("METHODS",),
    "solving.result": ("Result",),
    "solving.solve": ("solve",),
    "solving.tradeoff": ("Frontier",),
    "solving.stop": (
        "GapBelow",
        "MaxIterations",
        "MaxSeconds",
        "NoImprovement",
        "Progress",
        "TargetLength",
    ),
    "version": ("__version__",),
}
"""Where the public names live; their modules are imported on first use."""

__all__ = [
    "METHODS",
    "Clock",
    "Decoding",
    "Fleet",
    "Frontier",
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
    "Quota",
    "Radius",
    "Result",
    "Roads",
    "Sets",
    "SolveError",
    "TargetLength",
    "Tour",
    "Verdict",
    "__version__",
    "frontier",
    "make_tour",
    "plot",
    "random_instance",
    "read",
    "read_tour",
    "routes_of",
    "service",
    "solve",
    "solve_many",
    "verify",
    "with_roads",
    "write",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            module = import_module(f"covertour.{home}")
            value = module if name == home else getattr(module, name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'covertour' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
