"""What is read: the content and the name of a file or a stream, and what its reader is told."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from covertour.problem.coverage import Rule
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance, make_rule

UNNAMED = "places"
"""What an instance is called where neither its content nor a file name says more."""

KEYWORD_OF_TSPLIB = re.compile(r"\s*[A-Z_]+[ \t]*(:|\n)")


@dataclass(frozen=True)
class Source:
    """Something to read: what messages call it, how an instance of it is called, its content.

    ``path``: where the file is, for formats of several files; None for a stream.
    """

    where: str
    stem: str = UNNAMED
    content: bytes | str = b""
    path: Path | None = None

    def __str__(self) -> str:
        return self.where

    def raw(self) -> bytes:
        """The content, which must not be empty."""
        if not self.content:
            raise InputError(f"{self}: the file is empty")
        if isinstance(self.content, str):
            return self.content.encode("utf-8", errors="surrogatepass")
        return self.content

    def text(self, *, other_encoding: str | None = None) -> str:
        """The content as text, from UTF-8 with or without byte order mark; it must not be blank.

        ``other_encoding`` is tried where the bytes are not UTF-8.
        """
        text = self._decoded(self.content, other_encoding).removeprefix("\ufeff")
        if not text.strip():
            raise InputError(f"{self}: the file is empty")
        return text

    def _decoded(self, content: bytes | str, other_encoding: str | None) -> str:
        if isinstance(content, str):
            return content
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            if other_encoding is not None:
                return content.decode(other_encoding)
            line = content.count(b"\n", 0, error.start) + 1
            raise InputError(
                f"{self}, line {line}: not UTF-8 text; save it with the encoding UTF-8"
            ) from None


class NoRule(InputError):
    """The file does not say who covers whom, and nor does the caller."""


@dataclass(frozen=True)
class Given:
    """What the caller says in place of the file; None for what the file may say.

    ``sheet``: which sheet of a workbook, or layer of a file with several, to read.
    ``skip_bad_rows``: go on without rows in which something is wrong. ``merge_duplicates``: make
    one place of rows that are the same. ``note`` is called with a line about each thing in the file
    that is not used, and whether that looks like a mistake.
    """

    nearest: int | Sequence[int] | None = None
    radius: float | Sequence[float] | None = None
    metric: str | None = None
    sheet: str | None = None
    skip_bad_rows: bool = False
    merge_duplicates: bool = False
    note: Callable[[str, bool], None] = lambda message, mistake: None

    @property
    def has_rule(self) -> bool:
        """Whether the caller says who covers whom."""
        return self.nearest is not None or self.radius is not None

    def rule(self, source: Source, in_file: Rule | None) -> Rule:
        """The caller's coverage rule, or else the file's."""
        if self.has_rule:
            return make_rule(self.nearest, self.radius)
        if in_file is None:
            raise NoRule(
                f"{source}: has no coverage rule; give nearest or radius (--nearest, --radius)"
            )
        return in_file


@dataclass(frozen=True)
class FoundTour:
    """A tour as a file has it: place numbers, the names of the stops if it has them, the length.

    A name is None where a stop has none. ``as_written``: a label as the format can write it.
    """

    places: Sequence[int]
    length: float | None = None
    names: Sequence[str | None] | None = None
    as_written: Callable[[str], str] = str


def from_path(path: Path) -> Source:
    """The content of a file, and what it is called."""
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
    # A file name need not be text; what is not becomes a question mark.
    stem = path.stem.encode("utf-8", errors="replace").decode("utf-8")
    return Source(str(path), stem, data, path)


def from_stream(stream: IO[Any]) -> Source:
    """The content of a stream of text or bytes, which is read to its end."""
    name = getattr(stream, "name", None)
    path = Path(os.fsdecode(name)) if isinstance(name, str | bytes | os.PathLike) else Path()
    where = str(path) if path.suffix else "standard input" if name == "<stdin>" else "the stream"
    try:
        content = stream.read()
    except UnicodeDecodeError:
        raise InputError(f"{where}: not UTF-8 text") from None
    except OSError as error:
        raise InputError(f"{where}: cannot be read: {error.strerror or error}") from None
    if not isinstance(content, str | bytes):
        raise InputError(f"{where}: expected text or bytes, got {shown(content)}")
    return Source(where, path.stem if path.suffix else UNNAMED, content)


def begins_with_titles(source: Source) -> bool:
    """Whether the first line has letters, and something that stands between columns."""
    begin = source.content[:4096]
    if isinstance(begin, bytes):
        begin = begin.replace(b"\0", b"").decode("latin-1").lstrip("ÿþï»¿")
    first = "".join(begin.lstrip().splitlines()[:1])
    return any(map(str.isalpha, first)) and any(mark in first for mark in ",;\t")


BEGINNINGS = {
    b"\x93NUMPY": ".npy",
    b"PK\x03\x04": ".zip",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": ".xls",
    b"SQLite format 3\0": ".gpkg",
    b"\x00\x00\x27\x0a": ".shp",
}
"""How files begin that are no text."""


def _ending_of_archive(content: bytes) -> str:
    """What a zip archive is: the names of the files in it stand at its end as they are."""
    if b"xl/workbook.xml" in content:
        return ".xlsx"
    return ".kmz" if b".kml" in content.lower() else ".zip"


def likely_ending(source: Source) -> str:
    """The ending that a file of this content would have."""
    content = source.content
    if isinstance(content, bytes):
        for magic, ending in BEGINNINGS.items():
            if content.startswith(magic):
                return _ending_of_archive(content) if ending == ".zip" else ending
        content = content[:4096].decode("utf-8-sig", errors="replace")
    begin = content.removeprefix("\ufeff").lstrip()
    if begin[:1] in ("{", "["):
        return ".json"
    if begin[:1] == "<":
        return ".kml" if re.search(r"<(\w+:)?kml\b", begin[:4096]) else ".gpx"
    if KEYWORD_OF_TSPLIB.match(begin):
        return ".tour" if re.search(r"^\s*TYPE\s*:\s*TOUR\b", begin, re.M | re.I) else ".tsp"
    return ".csv"


def build(source: Source, **fields: Any) -> Instance:
    """An instance from a file's fields; what is wrong with them is told with the file's name."""
    try:
        return Instance(**fields)
    except InputError as error:
        raise InputError(f"{source}: {' '.join(str(error).split())}") from None
