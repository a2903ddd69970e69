"""Arrays kept on disk, by what they were made of, so that the next solve need not make them again.

They lie in a folder beside the extract, ``andorra.osm.pbf.covertour``, or where that cannot be
written in COVERTOUR_CACHE_DIR or else the user's cache directory. What is kept can be deleted at
any time.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.problem.errors import InputError
from covertour.storage import write_bytes

Arrays = dict[str, npt.NDArray[Any]]

GENERATION = b"covertour roads 1"
"""Changes with what the arrays mean or how they are computed, so that older ones are not used."""

MOST_FILES = 24
"""So many files stay in the folder of an extract; the oldest go first."""

CHUNK = 1 << 20


def fingerprint(path: Path) -> bytes:
    """A hash of the content of a file."""
    found = hashlib.sha256(GENERATION)
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            found.update(chunk)
    return found.digest()


def name_of(*parts: bytes | str | npt.NDArray[Any]) -> str:
    """A name for arrays that were made of these parts."""
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            part = repr(part.shape).encode() + np.ascontiguousarray(part).tobytes()
        raw = part.encode() if isinstance(part, str) else part
        found.update(len(raw).to_bytes(8, "little") + raw)
    return found.hexdigest()[:32]


def kept(beside: Path, name: str, make: Callable[[], Arrays]) -> Arrays:
    """The arrays of this name; where there are none they are made, and kept if that is possible."""
    for folder in _folders(beside):
        found = _load(folder / f"{name}.npz")
        if found is not None:
            return found
    made = make()
    room = io.BytesIO()
    np.savez(room, allow_pickle=False, **made)
    for folder in _folders(beside):
        with suppress(OSError, InputError):
            folder.mkdir(parents=True, exist_ok=True)
            write_bytes(folder / f"{name}.npz", room.getvalue())
            _forget(folder)
            break
    return made


def _load(file: Path) -> Arrays | None:
    """What is in a file, None where it is not there or is damaged."""
    try:
        with open(file, "rb") as opened, np.load(opened, allow_pickle=False) as found:
            return dict(found)
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile):
        return None


def _forget(folder: Path) -> None:
    files = sorted(folder.glob("*.npz"), key=lambda file: file.stat().st_mtime)
    for file in files[:-MOST_FILES]:
        file.unlink(missing_ok=True)


def _folders(beside: Path) -> Iterator[Path]:
    yield beside.with_name(f"{beside.name}.covertour")
    if chosen := os.environ.get("COVERTOUR_CACHE_DIR"):
        yield Path(chosen) / "roads"
        return
    with suppress(RuntimeError):  # nobody's home
        yield _user_cache() / "covertour" / "roads"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
