"""Workbooks, written by covertour's own writer and as others write them."""

from __future__ import annotations

import contextlib
import datetime
import io
import zipfile
from pathlib import Path

import pytest

from covertour import InputError, Instance, read
from covertour.formats import workbook as reading
from covertour.formats.cells import text_of
from covertour.formats.sheet import FILES, XML, workbook

HEADER = ["name", "lat", "lon", "population", "required"]
ROWS = [HEADER, ["Dakar", 14.69, -17.44, 1_000_000, True], ["Thiès", 14.79, -16.93, 320.5, False]]


def load(data: bytes, **options: object) -> Instance:
    return read(io.BytesIO(data), format="xlsx", nearest=1, **options)


def refused(data: bytes, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        load(data, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def several(sheets: dict[str, list[list]]) -> bytes:
    """A workbook of several sheets: the parts of books of one sheet, put together."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        entries, links = "", ""
        for number, (title, rows) in enumerate(sheets.items(), start=1):
            with zipfile.ZipFile(io.BytesIO(workbook(rows, title))) as one:
                sheet = one.read("xl/worksheets/sheet1.xml")
            archive.writestr(f"xl/worksheets/sheet{number}.xml", sheet)
            entries += f'<sheet name="{title}" sheetId="{number}" r:id="rId{number}"/>'
            kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
            links += (
                f'<Relationship Id="rId{number}" Type="{kind}" '
                f'Target="worksheets/sheet{number}.xml"/>'
            )
        for name, content in FILES.items():
            if name == "xl/workbook.xml":
                content = content.split("<sheet ")[0] + entries + "</sheets></workbook>"
            if name == "xl/_rels/workbook.xml.rels":
                content = content.split("<Relationship ")[0] + links + "</Relationships>"
            archive.writestr(name, XML + content)
    return file.getvalue()


def test_a_sheet_is_a_table_of_places() -> None:
    found = load(workbook(ROWS, "Villages"))
    assert found.labels == ("Dakar", "Thiès")
    assert found.coordinates.tolist() == [[-17.44, 14.69], [-16.93, 14.79]]
    assert found.weight.tolist() == [1_000_000, 320.5]
    assert found.required == (0,)


def test_titles_above_the_table_and_blank_rows_are_passed_over() -> None:
    blank = [None] * 5
    rows = [["Villages of 2024", *blank[1:]], blank, ROWS[0], blank, *ROWS[1:], blank]
    told: list[str] = []
    assert load(workbook(rows, "a"), on_note=told.append).labels == ("Dakar", "Thiès")
    assert told == ["the stream, sheet 'a', row 3: the header; what stands above it is not used"]
    rows[-2] = ["Thiès", "north", -16.93, 1, False]
    assert "the stream, sheet 'a', row 6: latitude 'north' is not a number" in refused(
        workbook(rows, "a")
    )


def test_the_first_sheet_with_coordinates_is_read_unless_another_is_asked_for() -> None:
    other = [["x", "y", "Nom"], [1, 2, "Ici"]]
    data = several({"Read me": [["About"], ["nothing"]], "Places": ROWS, "Plan": other})
    told: list[str] = []
    assert load(data, on_note=told.append).n == 2
    assert told == ["the stream: read the sheet 'Places' of 3"]
    assert load(data, sheet="plan").labels == ("Ici",)
    assert "no sheet 'Villages'; there are 'Read me', 'Places', 'Plan'" in refused(
        data, sheet="Villages"
    )
    assert refused(data, sheet="Read me") == (
        "the stream, sheet 'Read me', row 1: expected the columns x,y or lat,lon, or a square "
        "distance matrix; found the columns 'About'"
    )


def test_a_matrix_may_stand_in_a_sheet() -> None:
    rows = [["", "a", "b"], ["a", 0, 5], ["b", 7, 0]]
    assert load(workbook(rows, "m")).matrix.tolist() == [[0, 5], [7, 0]]


def test_cells_of_every_kind_are_carried() -> None:
    rows = [[*HEADER[:3], "note"], ["a", 1, 2, "x"], ["b", 3, 4, 7.5], ["c", 5, 6, True]]
    assert load(workbook(rows, "a")).extra == {"note": ("x", "7.5", "yes")}
    assert text_of(datetime.datetime(2024, 5, 1)) == "2024-05-01"
    assert text_of(datetime.datetime(2024, 5, 1, 12, 30)) == "2024-05-01T12:30:00"


def rewritten(data: bytes, **changes: str | bytes) -> bytes:
    """A workbook with members of its archive replaced or added."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        members = {name: old.read(name) for name in old.namelist()}
        for name, content in (members | changes).items():
            new.writestr(name, content)
    return file.getvalue()


def test_workbooks_that_are_refused() -> None:
    data = workbook(ROWS, "a")
    macros = rewritten(data, **{"xl/vbaProject.bin": b"x"})
    assert "has macros, which are refused; save it as .xlsx without them" in refused(macros)
    ole = reading.OLE + bytes(600)
    encrypted = ole + "EncryptedPackage".encode("utf-16-le")
    assert "the workbook is encrypted; save it without a password" in refused(encrypted)
    assert "has macros" in refused(ole + "_VBA_PROJECT".encode("utf-16-le"))
    assert "not a workbook (.xlsx or .xls)" in refused(b"name,lat,lon\n")
    assert "damaged or cut off, as no whole zip archive" in refused(data[:-30])
    assert "not a whole workbook" in refused(ole)
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        archive.writestr("content.xml", "<office/>")
    assert "another kind of workbook; save it as .xlsx" in refused(file.getvalue())
    assert "the workbook is empty" in refused(workbook([[None]], "a"))


def test_a_sheet_that_would_fill_the_memory_is_refused() -> None:
    far = '<worksheet><sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    data = rewritten(workbook(ROWS, "a"), **{"xl/worksheets/sheet1.xml": far + "</worksheet>"})
    assert "cells down to row 1,048,576 and column 16,384, too many to read" in refused(data)


def test_an_archive_that_would_fill_the_disk_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covertour.formats.archive.LARGEST", 4_000_000)
    with zipfile.ZipFile(file := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"xl/{number}.xml", bytes(1_000_000))
    assert "the archive would unpack to 5 MB; at most 4 MB are read" in refused(file.getvalue())


def test_without_the_library_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "python_calamine", None)
    assert refused(workbook(ROWS, "a")) == (
        "the stream: reading workbooks needs python-calamine, which is not installed: "
        "pip install 'covertour[files]'"
    )


def test_a_damaged_old_workbook_is_refused_without_a_word_more(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The library that reads it panics, and asks for gigabytes, on some of these."""
    data = (Path(__file__).parents[1] / "data" / "planner" / "villages.xls").read_bytes()
    for at in range(0, 512, 40):
        damaged = data[: 8 + at] + b"\xff\x7f\xff" + data[11 + at :]
        with contextlib.suppress(InputError):
            load(damaged[: len(damaged) - at])
    assert "not a whole workbook" in refused(data[:700])
    assert capfd.readouterr() == ("", "")


def test_the_same_table_is_the_same_file(tmp_path: Path) -> None:
    assert workbook(ROWS, "a") == workbook(ROWS, "a")
