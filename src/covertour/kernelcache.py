"""The machine code of kernels on disk, filed by the content of their sources.

numba's own cache asks only whether the file of the kernel itself has changed. Here machine code is
filed under a fingerprint of everything that it depends on: the sources of its own folder and of
other folders with kernels that these import (the kernels that it calls), ``problem/metric.py``
(constants that it uses), how kernels are compiled, and the versions of what compiled it. So a
change is never overlooked, and a fresh checkout, a reinstall or a container layer, which only
change dates, need nothing compiled again.

It is looked for beside the package, then in the user's cache directory, and written to the first of
the two that can be written. COVERTOUR_CACHE_DIR, or else numba's NUMBA_CACHE_DIR, names another
place. Where nothing can be written one line on standard error says so, and every process compiles
for itself.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from covertour.problem.errors import InputError
from covertour.storage import write_bytes

PACKAGE = Path(__file__).parent

SHARED_SOURCES = ("kernel.py", "kernelcache.py", "problem/metric.py")
"""What kernels everywhere depend on beside the sources of their own folder."""

FINGERPRINTS_KEPT = 4
"""The machine code of so many earlier fingerprints of a folder stays in the cache."""

_listeners: list[Callable[[], None]] = []
_said_uncached = False


class KernelCache(NullCache):
    """The machine code of one kernel: one file per signature and type of processor."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        source = Path(function.__code__.co_filename)
        self.options = options
        self.name = f"{source.stem}.{function.__qualname__}"
        self.folder = source.parent
        self.fingerprint = _fingerprint_at_import(self.folder)

    def directories(self) -> list[Path]:
        """Where the files may be, in the order in which they are looked for and written."""
        if self.fingerprint is None:
            return []
        within = self.folder.relative_to(PACKAGE) if PACKAGE in self.folder.parents else self.folder
        name = ".".join(within.parts[-2:])
        return [root / f"{name}-{self.fingerprint}" for root in cache_directories()]

    @property
    def cache_path(self) -> str | None:
        """The first of the directories; numba shows it."""
        return next((str(directory) for directory in self.directories()), None)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled kernel, or None; then numba compiles it and saves the result."""
        if self.options.get("_nrt", True):
            # Only code that makes arrays needs more of numba than what runs it, and of scipy: a
            # third of the time that a short solve takes to start.
            target_context.refresh()
        file = self._file(signature, target_context.codegen())
        for directory in self.directories():
            try:
                parts = pickle.loads((directory / file).read_bytes())
                return CompileResult._rebuild(target_context, *parts)
            except Exception:  # a damaged file, whatever is wrong with it, is as good as none
                continue
        _tell_of_compiling()
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write a kernel that was just compiled to the first directory that takes it."""
        why = f"{self.folder}: cannot read the sources"
        if self.fingerprint is not None:
            if fingerprint(self.folder) != self.fingerprint:
                return  # sources were edited while they ran: this is the code of neither version
            file = self._file(signature, compiled.codegen)
            data = dumps(compiled._reduce())
            for directory in self.directories():
                try:
                    _write(directory / file, data)
                    return
                except InputError as error:
                    why = str(error)
        _say_uncached(why)

    def _file(self, signature: Any, codegen: Any) -> str:
        """A name for each signature and type of processor."""
        key = repr((self.options, signature, codegen.magic_tuple()))
        return f"{self.name}-{_digest(key.encode())}.nbc"


@contextmanager
def on_compile(tell: Callable[[], None]) -> Iterator[None]:
    """Call ``tell`` once, before the first kernel that is compiled in this context, if any is."""
    _listeners.append(tell)
    try:
        yield
    finally:
        with suppress(ValueError):  # it has been called
            _listeners.remove(tell)


def _tell_of_compiling() -> None:
    while _listeners:
        _listeners.pop()()


def cache_directories() -> list[Path]:
    """Where machine code may be, in the order in which it is looked for and written."""
    if named := os.environ.get("COVERTOUR_CACHE_DIR"):
        return [Path(named)]
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(named, "covertour")]
    beside = PACKAGE / "__pycache__" / "kernels"
    of_user = Path(AppDirs("covertour", appauthor=False).user_cache_dir, "kernels")
    # Where there is no home directory the user's is a relative one, called "~".
    return [beside, of_user] if of_user.is_absolute() else [beside]


def fingerprint(folder: Path) -> str | None:
    """Tells what the machine code of a folder's kernels depends on; None without sources."""
    versions = (numba.__version__, llvmlite.__version__, np.__version__)
    parts = [part.encode() for part in (str(sys.implementation.cache_tag), *versions)]
    try:
        own = _sources(folder)
        for source in (*own, *(PACKAGE / shared for shared in SHARED_SOURCES)):
            parts += [source.name.encode(), source.read_bytes()]
    except OSError:
        return None
    return _digest(*parts) if own else None


def _sources(folder: Path) -> list[Path]:
    """The sources of a folder, and of those with kernels that they import, directly or not."""
    folders, found = [folder], []
    for one in folders:  # which grows meanwhile
        sources = {source: source.read_text("utf-8") for source in sorted(one.glob("*.py"))}
        if one != folder and not any("covertour.kernel " in text for text in sources.values()):
            continue
        found += list(sources)
        for text in sources.values():
            for name in re.findall(r"^ *from covertour\.([\w.]+)\.\w+ import", text, re.MULTILINE):
                other = PACKAGE.joinpath(*name.split("."))
                if other not in folders:
                    folders.append(other)
    return found


_fingerprint_at_import = cache(fingerprint)


def _digest(*parts: bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(b"%d:" % len(part) + part)
    return total.hexdigest()[:16]


def _write(file: Path, data: bytes) -> None:
    """Write a file and make its directory; an InputError where that cannot be done."""
    if not file.parent.is_dir():
        try:
            file.parent.mkdir(parents=True)
        except FileExistsError:
            pass  # another process was quicker, or else the file cannot be written
        except OSError as error:
            raise InputError(f"{file.parent}: cannot be made: {error.strerror}") from None
        _drop_oldest(file.parent)
    write_bytes(file, data)


def _drop_oldest(latest: Path) -> None:
    """Remove what was compiled from the same folder's sources long ago."""
    folder = latest.name.rpartition("-")[0]
    with suppress(OSError):
        earlier = [other for other in latest.parent.glob(f"{folder}-*") if other != latest]
        earlier.sort(key=lambda other: other.stat().st_mtime)
        for other in earlier[:-FINGERPRINTS_KEPT]:
            shutil.rmtree(other, ignore_errors=True)


def _say_uncached(why: str) -> None:
    global _said_uncached
    if not _said_uncached:
        _said_uncached = True
        print(
            f"covertour: {why}; what is compiled is not kept, and the next run compiles it again "
            "(COVERTOUR_CACHE_DIR can name a directory to keep it in)",
            file=sys.stderr,
        )
