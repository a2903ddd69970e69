from __future__ import annotations

import codecs

import pytest

from covertour import InputError
from covertour.formats.encoding import any_text
from covertour.formats.source import Source

TEXT = "name;lat;lon\r\nThiès – Océan;14,79;-16,93\r\n"


def read(content: bytes | str) -> tuple[str, list[str]]:
    told: list[str] = []
    return any_text(Source("a.csv", content=content), lambda text, _: told.append(text)), told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (TEXT, []),
        (TEXT.encode(), []),
        (TEXT.encode("utf-8-sig"), []),
        (TEXT.encode("utf-16"), ["a.csv: read as UTF-16"]),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), ["a.csv: read as UTF-16"]),
        (TEXT.encode("utf-16-le"), ["a.csv: read as UTF-16"]),
        (TEXT.encode("utf-16-be"), ["a.csv: read as UTF-16"]),
        (TEXT.encode("cp1252"), ["a.csv: read as Windows-1252, as it is not UTF-8"]),
    ],
    ids=["text", "utf-8", "bom", "utf-16", "utf-16-be-bom", "utf-16-le", "utf-16-be", "cp1252"],
)
def test_the_encoding_is_found_and_said(content: bytes | str, told: list[str]) -> None:
    assert read(content) == (TEXT, told)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"name,x\nThi\x8f\xe8s,1\n", "a.csv, line 2: not UTF-8 text, nor UTF-16 or Windows-1252"),
        ("né,è,à\n".encode() + b"\xff\n", "a.csv, line 2: not UTF-8 text"),
        (codecs.BOM_UTF16_LE + b"a\0b", "a.csv: not whole UTF-16 text"),
        (codecs.BOM_UTF16_LE, "a.csv: the file is empty"),
        (b"", "a.csv: the file is empty"),
    ],
)
def test_what_is_no_text_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(InputError) as caught:
        read(content)
    assert why in str(caught.value)
