"""Writing files whole or not at all: under a temporary name in the same directory, then renamed."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from covertour.problem.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; see :func:`write_bytes`."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        bad = text[error.start].encode("unicode_escape").decode()
        raise InputError(f"{path}: the character {bad} cannot be written as UTF-8") from None
    write_bytes(path, data)


def write_bytes(path: Path, data: bytes) -> None:
    """Put ``data`` in the file at once: a reader sees the old file or the new, never a half.

    Where that cannot be done nothing is left behind.
    """
    _through_temporary(path, data)


def check_writable(path: Path) -> None:
    """An error where the file could not be written, told before any work is done."""
    _through_temporary(path, None)


def _through_temporary(path: Path, data: bytes | None) -> None:
    """Write a temporary file beside the target and give it the target's name; None only tries."""
    target = Path(os.path.realpath(path))  # a link stays a link, and what it points to is replaced
    temporary = target.parent / f".{secrets.token_hex(8)}.tmp"
    if target.is_dir():
        raise InputError(f"{path}: is a directory, expected a file name")
    try:
        with open(temporary, "xb") as file:
            file.write(data or b"")
        if data is not None:
            os.replace(temporary, target)
    except OSError as error:
        raise InputError(_why_not(path, target.parent, error)) from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def _why_not(path: Path, directory: Path, error: OSError) -> str:
    if not directory.is_dir():
        return f"{path}: the directory {path.parent} does not exist"
    if isinstance(error, PermissionError | FileNotFoundError):
        return f"{path}: the directory {path.parent} is not writable"
    return f"{path}: cannot be written: {error.strerror or error}"
