"""entry and inner: how kernels are compiled, and a cache of machine code that is never out of date.

Python calls the kernels marked ``entry``; they are cached on disk together with all the ``inner``
ones they call, which cannot be called from Python and compile faster for it.

numba caches a kernel by the date of its own file, so a change in a kernel that it calls would go
unnoticed. Before the first kernel is loaded, compiled files older than any source here are dropped.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numba import njit

HOW: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
entry = njit(cache=True, **HOW)
inner = njit(**HOW | {"no_cpython_wrapper": True})

HERE = Path(__file__).parent
CACHE = HERE / "__pycache__"


def cached_kernels() -> list[Path]:
    """numba's index files of the kernels that are compiled already."""
    return list(CACHE.glob("*.nbi"))


def _drop_stale() -> None:
    newest = max(source.stat().st_mtime for source in HERE.glob("*.py"))
    stale = [file for file in CACHE.glob("*.nb[ic]") if file.stat().st_mtime < newest]
    try:
        for file in stale:
            file.unlink(missing_ok=True)
    except OSError:
        return  # an installation that cannot be written to is not edited either


_drop_stale()
