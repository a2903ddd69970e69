"""Zip archives that strangers made: what is in them, and no more of it than is reasonable."""

from __future__ import annotations

import io
import zipfile
import zlib

from covertour.formats.source import Source
from covertour.problem.errors import InputError, shown, why

LARGEST = 400_000_000
"""Bytes that the members of an archive may have together, unpacked."""

MOST_MEMBERS = 10_000

BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError)
"""What zipfile raises for archives that are damaged, encrypted or packed in odd ways."""


def is_zip(data: bytes) -> bool:
    """Whether data begin as a zip archive does."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def members(source: Source) -> dict[str, zipfile.ZipInfo]:
    """The files in an archive by their names; an error where they are too many or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.raw())) as archive:
            found = {info.filename: info for info in archive.infolist() if not info.is_dir()}
    except (*BROKEN, ValueError, UnicodeDecodeError) as error:
        detail = "" if isinstance(error, zipfile.BadZipFile) else f": {why(error)}"
        raise InputError(f"{source}: damaged or cut off, as no whole zip archive{detail}") from None
    if len(found) > MOST_MEMBERS:
        raise InputError(f"{source}: the archive has {len(found):,} files; refused")
    total = sum(info.file_size for info in found.values())
    if total > LARGEST:
        raise InputError(
            f"{source}: the archive would unpack to {total / 1e6:,.0f} MB; at most "
            f"{LARGEST / 1e6:,.0f} MB are read"
        )
    return found


def member(source: Source, info: zipfile.ZipInfo) -> bytes:
    """The content of a file in an archive.

    zipfile reads no more than the size that the archive declares, and checks the sum of it.
    """
    if info.flag_bits & 1:
        raise InputError(
            f"{source}: {shown(info.filename)} is encrypted; save it without a password"
        )
    try:
        with zipfile.ZipFile(io.BytesIO(source.raw())) as archive, archive.open(info) as file:
            return file.read(LARGEST + 1)
    except (*BROKEN, ValueError) as error:
        name = shown(info.filename)
        raise InputError(f"{source}: {name} cannot be unpacked: {why(error)}") from None
