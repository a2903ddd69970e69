"""entry and inner: how kernels are compiled, and a cache of machine code that is never out of date.

Python calls the kernels marked ``entry``; they are cached on disk together with all the ``inner``
ones they call, which cannot be called from Python and compile faster for it.

numba caches a kernel by the date of its own file, so a change in a kernel that it calls would go
unnoticed. Before the first kernel is loaded, compiled files older than any source here are dropped.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from numba import njit

HOW: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
entry = njit(cache=True, **HOW)
inner = njit(**HOW | {"no_cpython_wrapper": True})

HERE = Path(__file__).parent
CACHE = HERE / "__pycache__"


def is_ready(kind: str) -> bool:
    """Whether the kernels for a kind of instance were compiled and cached before."""
    return (CACHE / f"{kind}.ready").exists()


@cache
def mark_ready(kind: str) -> None:
    """Remember that the kernels for a kind of instance are in the cache."""
    with suppress(OSError):  # an installation that cannot be written to: numba caches elsewhere
        CACHE.mkdir(exist_ok=True)
        (CACHE / f"{kind}.ready").touch()


def _drop_stale() -> None:
    newest = max(source.stat().st_mtime for source in HERE.glob("*.py"))
    compiled = [*CACHE.glob("*.nb[ic]"), *CACHE.glob("*.ready")]
    with suppress(OSError):  # an installation that cannot be written to is not edited either
        for file in compiled:
            if file.stat().st_mtime < newest:
                file.unlink(missing_ok=True)


_drop_stale()
