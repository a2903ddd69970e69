"""entry and inner: how kernels are compiled, and a cache of machine code that is never out of date.

Python calls the kernels marked ``entry``; they are cached on disk together with all the ``inner``
ones they call, which cannot be called from Python and compile faster for it. Neither may make
arrays, so nobody has to count who holds those that they are given; ``allocating`` ones may. In
``arithmetic`` ones, inner too, sums may be added up in another order, several at once. A large one
with a single caller is better ``inlined``: else all that it calls is optimised once more.

numba caches a kernel by the date of its own file, so a change in a kernel that it calls would go
unnoticed. Before the first kernel is loaded, compiled files older than any source beside them are
dropped.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit

HOW: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
UNCOUNTED: dict[str, Any] = HOW | {"_nrt": False}
INNER: Any = UNCOUNTED | {"no_cpython_wrapper": True}
entry = njit(cache=True, **UNCOUNTED)
inner = njit(**INNER)
inlined = njit(inline="always", **INNER)
arithmetic = njit(**INNER | {"fastmath": {"reassoc", "contract"}})
allocating = njit(cache=True, **HOW)

HOME = Path(__file__).parent
WITH_KERNELS = ("neural/inference", "search")


def _mark(name: str) -> Path:
    """The file that tells that some kernels are in the cache; ``name``: SOLVER/KIND."""
    solver, kind = name.rsplit("/", 1)
    return HOME / solver / "__pycache__" / f"{kind}.ready"


def is_ready(name: str) -> bool:
    """Whether the kernels of a solver for a kind of task, SOLVER/KIND, were compiled before."""
    return _mark(name).exists()


@cache
def mark_ready(name: str) -> None:
    """Remember that the kernels of a solver for a kind of task, SOLVER/KIND, are in the cache."""
    with suppress(OSError):  # an installation that cannot be written to: numba caches elsewhere
        _mark(name).parent.mkdir(exist_ok=True)
        _mark(name).touch()


def _drop_stale(sources: Path) -> None:
    newest = max(source.stat().st_mtime for source in sources.glob("*.py"))
    cached = sources / "__pycache__"
    with suppress(OSError):  # an installation that cannot be written to is not edited either
        for file in [*cached.glob("*.nb[ic]"), *cached.glob("*.ready")]:
            if file.stat().st_mtime < newest:
                file.unlink(missing_ok=True)


for _solver in WITH_KERNELS:
    _drop_stale(HOME / _solver)
