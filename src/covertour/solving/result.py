"""Result: what a solve found, what is proven about it, how it came about; Progress on the way."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from covertour.problem.tour import Tour
from covertour.version import __version__


@dataclass(frozen=True)
class Progress:
    """A glimpse of a running solve.

    ``length`` of the best tour so far, ``bound`` that is proven (None: none), ``since_improvement``
    in seconds.
    """

    seconds: float
    iterations: int
    length: float
    bound: float | None
    since_improvement: float


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of a solve.

    ``bound``: no tour is shorter than this; None where nothing was proven. ``trace``: (seconds,
    length) of each improvement, in order. ``iterations``: how many the method made, in its own
    unit; 0 where it does not count.
    """

    instance: str
    method: str
    tour: Tour
    seconds: float
    seed: int = 0
    iterations: int = 0
    bound: float | None = None
    trace: tuple[tuple[float, float], ...] = ()

    @property
    def length(self) -> float:
        """Length of the tour."""
        return self.tour.length

    @property
    def gap(self) -> float | None:
        """How much longer than the shortest the tour may be, as a share of the bound."""
        if self.bound is None:
            return None
        if self.length <= self.bound:
            return 0.0
        return (self.length - self.bound) / self.bound if self.bound > 0 else None

    @property
    def optimal(self) -> bool:
        """Whether the tour is proven to be a shortest one, to a relative 1e-6."""
        return self.gap is not None and self.gap <= 1e-6

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, in the order of the file format."""
        return {
            "instance": self.instance,
            "method": self.method,
            "tour": self.tour.places.tolist(),
            "length": self.length,
            "bound": self.bound,
            "gap": self.gap,
            "seconds": round(self.seconds, 6),
            "seed": self.seed,
            "iterations": self.iterations,
            "version": __version__,
        }

    def to_json(self) -> str:
        """The result as the text of a result file."""
        return json.dumps(self.to_dict())

    def __str__(self) -> str:
        lines = [
            f"{self.instance}: {len(self.tour)} stops, length {self.length:,.6g}",
            f"method {self.method}, seed {self.seed}, {self.iterations:,} iterations, "
            f"{self.seconds:.3g} s",
        ]
        if self.bound is not None:
            gap = "unknown" if self.gap is None else f"{self.gap:.4%}"
            proof = "proven optimal" if self.optimal else f"gap {gap}"
            lines.append(f"no tour is shorter than {self.bound:,.6g}: {proof}")
        return "\n".join(lines)
