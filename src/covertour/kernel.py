"""How kernels are compiled: one convention for all of them.

A kernel is a function that numba compiles. There are two kinds, told apart by their decorator:

``@entry``
    Python calls it. Its machine code, together with that of all the kernels it calls, is kept on
    disk; see :mod:`covertour.kernelcache`.
``@inner``
    Only kernels call it. It has no wrapper for Python, so it takes less time to compile.

Kernels release the interpreter's lock, divide by zero as numpy does, and make no arrays, nor slices
of them: callers hand them all the room they need, so that no references have to be counted.
Exceptions are asked for by name:

``@entry(allocates=True)``
    It makes arrays, or a kernel that it calls does.
``@inner(inlined=True)``
    It is copied into its caller. For a large kernel with a single caller: compiled by itself,
    everything that it calls would be optimised once more.
``@inner(reassociates=True)``
    Its sums may be added up in another order, several terms at once.

``INNER`` holds the options of ``@inner`` for :func:`numba.extending.overload`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit

from covertour.kernelcache import KernelCache

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
WITHOUT_ARRAYS: dict[str, Any] = OPTIONS | {"_nrt": False}
INNER: Any = WITHOUT_ARRAYS | {"no_cpython_wrapper": True}


def entry(function: Callable[..., Any] | None = None, *, allocates: bool = False) -> Any:
    """Compile a kernel that Python calls; the module describes the options."""
    if function is None:
        return partial(entry, allocates=allocates)
    options = OPTIONS if allocates else WITHOUT_ARRAYS
    kernel = njit(**options)(function)
    kernel._cache = KernelCache(function, options)
    return kernel


def inner(
    function: Callable[..., Any] | None = None,
    *,
    inlined: bool = False,
    reassociates: bool = False,
) -> Any:
    """Compile a kernel that only kernels call; the module describes the options."""
    if function is None:
        return partial(inner, inlined=inlined, reassociates=reassociates)
    options = dict(INNER)
    if inlined:
        options["inline"] = "always"
    if reassociates:
        options["fastmath"] = {"reassoc", "contract"}
    return njit(**options)(function)
