"""Reading files whole, and what all readers share: clear errors and the choice of coverage rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from covertour.problem.coverage import Rule
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance, make_rule


def read_bytes(path: Path) -> bytes:
    """The content of a file that must not be empty."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory, expected a file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{str(path)!r}: cannot be read: {error}") from None
    if not data:
        raise InputError(f"{path}: the file is empty")
    return data


def read_text(path: Path, *, other_encoding: str | None = None) -> str:
    """The text of a UTF-8 file, with or without byte order mark, that must not be blank.

    ``other_encoding`` is tried where the bytes are not UTF-8.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if other_encoding is None:
            line = data.count(b"\n", 0, error.start) + 1
            raise InputError(
                f"{path}, line {line}: not UTF-8 text; save the file with the encoding UTF-8"
            ) from None
        text = data.decode(other_encoding)
    if not text.strip():
        raise InputError(f"{path}: the file is empty")
    return text


def choose_rule(
    path: Path,
    in_file: Rule | None,
    nearest: int | Sequence[int] | None,
    radius: float | Sequence[float] | None,
) -> Rule:
    """The caller's coverage rule, or else the file's."""
    if nearest is not None or radius is not None:
        return make_rule(nearest, radius)
    if in_file is None:
        raise InputError(
            f"{path}: the file has no coverage rule; give nearest or radius (--nearest, --radius)"
        )
    return in_file


def build(path: Path, **fields: Any) -> Instance:
    """An instance from a file's fields; what is wrong with them is told with the file's name."""
    try:
        return Instance(**fields)
    except InputError as error:
        raise InputError(f"{path}: {' '.join(str(error).split())}") from None
