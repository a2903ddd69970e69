"""Files written whole or not at all, and one holder of a directory at a time.

A file is written under a temporary name in the same directory, then renamed. A writer holds a lock
on its temporary file. One that is not locked was left behind by a process that was killed, and is
removed by the next writer in that directory.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from covertour.problem.errors import InputError

try:
    import fcntl
except ImportError:  # Windows: what a killed process left behind stays there
    fcntl = None  # type: ignore[assignment]

PREFIX, SUFFIX = ".covertour-", ".tmp"
"""How the names of temporary files begin and end."""

HOLDER = ".covertour-lock"
"""The file that whoever holds a directory has locked; it names the holder."""


def encoded(content: str | bytes) -> bytes:
    """Text as UTF-8; bytes as they are."""
    if isinstance(content, bytes):
        return content
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError as error:
        bad = content[error.start].encode("unicode_escape").decode()
        raise InputError(f"the character {bad} cannot be written as UTF-8") from None


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; see :func:`write_bytes`."""
    try:
        data = encoded(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    write_bytes(path, data)


def write_bytes(path: Path, data: bytes) -> None:
    """Put ``data`` in the file at once: a reader sees the old file or the new, never a half.

    Where that cannot be done nothing is left behind. A file that is replaced keeps its permissions,
    a link stays a link, and a pipe or a device is written to as it is.
    """
    _write(path, data)


def check_writable(path: Path) -> None:
    """An error where the file could not be written, told before any work is done."""
    _write(path, None)


def _write(path: Path, data: bytes | None) -> None:
    """Write the file; without data only see whether that could be done."""
    try:
        old = _status(path)
        if old is not None and stat.S_ISDIR(old.st_mode):
            raise InputError(f"{path}: is a directory, expected a file name")
        if old is not None and not os.access(path, os.W_OK):
            raise InputError(f"{path}: is write-protected")
        if old is None or stat.S_ISREG(old.st_mode):
            _replace(Path(os.path.realpath(path)), data, old)
        elif data is not None:
            with open(path, "wb") as file:
                file.write(data)
    except InputError:
        raise
    except ValueError:  # a NUL, or half a surrogate pair, in the name
        raise InputError(f"{str(path)!r}: cannot be written: not a file name") from None
    except OSError as error:
        raise InputError(_why_not(path, error)) from None


def _status(path: Path) -> os.stat_result | None:
    """Of what stands under this name, links followed; None for nothing."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _replace(target: Path, data: bytes | None, old: os.stat_result | None) -> None:
    """Write a temporary file beside the target and give it the target's name."""
    remove_left_behind(target.parent)
    temporary, file = _locked_temporary(target.parent)
    try:
        with file:
            if data is None:
                return
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            if old is not None:
                with suppress(OSError, AttributeError):  # only the superuser gives files away
                    os.chown(temporary, old.st_uid, old.st_gid)
                os.chmod(temporary, stat.S_IMODE(old.st_mode))
            if fcntl is not None:
                os.replace(temporary, target)  # while it is locked
        if fcntl is None:  # Windows renames no open file
            os.replace(temporary, target)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _locked_temporary(directory: Path) -> tuple[Path, BinaryIO]:
    """A new temporary file, open for writing and locked."""
    while True:
        temporary = directory / f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}"
        file = open(temporary, "xb")  # noqa: SIM115  # the caller closes it
        if _lock(file) and temporary.exists():
            return temporary, file
        file.close()  # another process took it for one left behind before it was locked


def _lock(file: BinaryIO) -> bool:
    """Lock a file until it is closed or its process ends; False where another process has it."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(1 << 30)  # where nothing is: a locked byte can be read by nobody else
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            file.seek(0)
    elif fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True  # a file system without locks
    return True


def remove_left_behind(directory: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote."""
    if fcntl is None:
        return
    with suppress(OSError):
        for temporary in directory.glob(f"{PREFIX}*{SUFFIX}"):
            with suppress(OSError), open(temporary, "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                temporary.unlink()


@contextmanager
def hold(directory: Path, what: str) -> Iterator[None]:
    """Be the only one at work in a directory until the end of this block.

    ``what``: whose work it is, such as "a training"; another who comes meanwhile is refused and
    told. The lock ends with the process that has it, even one that is killed.
    """
    path = directory / HOLDER
    try:
        file = _locked_holder(path)
    except OSError as error:
        raise InputError(_why_not(path, error)) from None
    try:
        file.truncate(0)
        file.write(f"{what}, process {os.getpid()},".encode())
        file.flush()
        yield
    finally:
        if fcntl is not None:  # while it is locked; Windows removes no open file
            path.unlink(missing_ok=True)
        file.close()
        if fcntl is None:
            with suppress(OSError):
                path.unlink()


def _locked_holder(path: Path) -> BinaryIO:
    """The holder's file, open and locked; an error where another has it."""
    while True:
        file = open(path, "a+b")  # noqa: SIM115  # the caller closes it
        if not _lock(file):
            with file:
                file.seek(0)
                holder = file.read(200).decode(errors="replace") or "another process"
            raise InputError(
                f"{path.parent}: {holder} is at work here; wait for its end, "
                "or give another directory"
            )
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                return file
        file.close()  # the one before removed it between our opening and our locking it


def _why_not(path: Path, error: OSError) -> str:
    directory = Path(os.path.realpath(path)).parent
    if not directory.is_dir():
        return f"{path}: the directory {path.parent} does not exist"
    if isinstance(error, PermissionError | FileNotFoundError):
        return f"{path}: the directory {path.parent} is not writable"
    return f"{path}: cannot be written: {error.strerror or error}"
