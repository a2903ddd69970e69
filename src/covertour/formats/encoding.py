"""Text of any common encoding: UTF-8, UTF-16 and Windows-1252, told apart by the bytes alone."""

from __future__ import annotations

import codecs
import re

from covertour.formats.source import Source
from covertour.formats.titles import Note
from covertour.problem.errors import InputError

SAMPLE = 4096
"""How many bytes tell whether a text without byte order mark is UTF-16."""

LONGER_THAN_ONE = re.compile(
    rb"[\xc3-\xdf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
"""Letters beyond ASCII as UTF-8 has them."""

BEYOND_ASCII = re.compile(rb"[\x80-\xff]")


def any_text(source: Source, note: Note) -> str:
    """The text of a file in whatever encoding it has, which must not be blank.

    ``note`` is told of an encoding other than UTF-8.
    """
    content = source.content
    if isinstance(content, str):
        return source.text()
    encoding = _encoding(source, content)
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: not whole {encoding.upper()} text: {error.reason}") from None
    if not text.strip("\0 \t\r\n\f\v\ufeff"):
        raise InputError(f"{source}: the file is empty")
    if encoding != "utf-8":
        note(f"{source}: read as {NAMES[encoding]}", False)
    return text


NAMES = {
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "Windows-1252, as it is not UTF-8",
}
"""What a user is told that a text was read as."""


def _encoding(source: Source, content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    begin = content[: SAMPLE - SAMPLE % 2]
    if len(content) % 2 == 0 and begin:
        # Most letters of a table are ASCII, of which every second byte is 0 in UTF-16.
        for encoding, zeros, letters in (
            ("utf-16-le", begin[1::2], begin[::2]),
            ("utf-16-be", begin[::2], begin[1::2]),
        ):
            if zeros.count(0) > 0.7 * len(zeros) and letters.count(0) == 0:
                return encoding
    try:
        content.decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    whole = LONGER_THAN_ONE.findall(content)
    strange = len(BEYOND_ASCII.findall(content)) - sum(map(len, whole))
    try:
        content.decode("cp1252")
    except UnicodeDecodeError:
        strange = 0
    if strange <= len(whole):
        raise InputError(
            f"{source}, line {line}: not UTF-8 text, nor UTF-16 or Windows-1252; "
            "save it with the encoding UTF-8"
        )
    return "cp1252"
