"""What the server takes on: how large, how long, how many. All of it can be set on the start."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from covertour.problem.errors import InputError

MEGABYTE = 1_000_000


def _some_cores() -> int:
    return max(1, min(os.cpu_count() or 1, 8))


@dataclass(frozen=True)
class Limits:
    """The bounds of the server; what is beyond them is refused with the bound in the answer.

    ``places``: most places of a job. ``quick_places``, ``quick_seconds``: those of ``/v1/solve``,
    which answers at once. ``seconds``: longest search or proof. ``body``: largest request, bytes.
    ``jobs``: so many run at a time. ``waiting``: so many more may wait. ``kept_hours``: how long
    finished jobs can be asked for. ``memory``: of one process that reads or solves, megabytes.
    ``reading_seconds``: longest time to read or write a file.
    """

    places: int = 100_000
    quick_places: int = 2_000
    seconds: float = 600.0
    quick_seconds: float = 10.0
    body: int = 32 * MEGABYTE
    jobs: int = 0
    waiting: int = 200
    kept_hours: float = 168.0
    memory: int = 2_000
    reading_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.jobs == 0:
            object.__setattr__(self, "jobs", _some_cores())
        for name, value in asdict(self).items():
            if not value > 0:
                raise InputError(f"{name}: expected more than 0, got {value}")

    def to_dict(self) -> dict[str, Any]:
        """The limits as plain values, as ``/v1/health`` tells them."""
        return asdict(self)
