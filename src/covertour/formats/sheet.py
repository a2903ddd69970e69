"""Writing workbooks (.xlsx): one sheet, made of a zip archive and a few lines of XML."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from covertour.formats.manner import Manner
from covertour.formats.rows import itinerary_rows
from covertour.formats.written import place_columns
from covertour.formats.xml import escaped
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance
from covertour.problem.tour import Tour
from covertour.solving.result import Result

MOST_ROWS, MOST_COLUMNS, LONGEST_TEXT = 1_048_576, 16_384, 32_767
"""What a sheet may have, and how many letters a cell."""

LIKE_AN_ESCAPE = re.compile("_(?=x[0-9A-Fa-f]{4}_)")
"""An underscore that begins what Excel takes for an escaped letter."""

LIKE_A_NUMBER = re.compile(r"-?(0|[1-9]\d{0,8})(\.\d{0,6}[1-9])?")
"""Texts of other columns that become numbers and read back as the same texts."""

DISTANCES = ("leg", "distance")
"""Columns that are shown with two decimals; the cells have all of them."""

WIDEST = 60
"""Letters of the widest column, as it is shown."""

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"

FILES = {
    "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{KIND}.sheet.main+xml"/>'
    f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{KIND}.worksheet+xml"/>'
    f'<Override PartName="/xl/styles.xml" ContentType="{KIND}.styles+xml"/></Types>',
    "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    "</Relationships>",
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
    '<sheet name="TITLE" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
    f'<Relationship Id="rId2" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>',
    "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><fonts count="2"><font><sz val="11"/>'
    '<name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
    '<cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>'
    '<xf numFmtId="2" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
    "</styleSheet>",
}
"""All but the sheet itself."""


def encode(instance: Instance) -> bytes:
    """A workbook with a table of places; reading it gives the same ones."""
    if instance.matrix is not None:
        raise InputError("a workbook holds a table of places, not a matrix; write a .csv instead")
    columns = place_columns(instance)
    return workbook([list(columns), *zip(*columns.values(), strict=True)], "places")


def encode_outcome(instance: Instance, outcome: Result | Tour, manner: Manner = Manner()) -> bytes:
    """A workbook with the itinerary, as :mod:`covertour.formats.rows` has it."""
    rows = itinerary_rows(instance, outcome, manner)
    return workbook([list(rows[0]), *(list(row.values()) for row in rows)], "itinerary")


def workbook(rows: Sequence[Sequence[Any]], title: str) -> bytes:
    """A workbook of one sheet; rows hold texts, numbers, truth values and None, titles first."""
    if len(rows) > MOST_ROWS or len(rows[0]) > MOST_COLUMNS:
        raise InputError(f"a sheet has at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in FILES.items():
            _put(archive, name, XML + content.replace("TITLE", _escaped(title[:31])))
        _put(archive, "xl/worksheets/sheet1.xml", XML + "".join(_sheet(rows)))
    return file.getvalue()


def _put(archive: zipfile.ZipFile, name: str, content: str) -> None:
    # Without the time of day, so that the same table is the same file.
    archive.writestr(
        zipfile.ZipInfo(name), content.encode("utf-8"), compress_type=zipfile.ZIP_DEFLATED
    )


def _sheet(rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    yield f'<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">'
    yield '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
    yield "</sheetView></sheetViews><cols>"
    for at in range(len(rows[0])):
        short = rows[0][at] in DISTANCES
        texts = [str(row[at]) for row in rows[: 1 if short else 1000] if row[at] is not None]
        widest = max(map(len, texts), default=0)
        width = min(max(widest, 6), WIDEST) + 2
        yield f'<col min="{at + 1}" max="{at + 1}" width="{width}" customWidth="1"/>'
    yield "</cols><sheetData>"
    letters = [_letters(at) for at in range(len(rows[0]))]
    for number, row in enumerate(rows, start=1):
        yield f'<row r="{number}">'
        style = ' s="1"' if number == 1 else ""
        for letter, title, value in zip(letters, rows[0], row, strict=True):
            shown_short = title in DISTANCES and number > 1
            yield _cell(f"{letter}{number}", value, ' s="2"' if shown_short else style)
        yield "</row>"
    yield "</sheetData></worksheet>"


def _letters(at: int) -> str:
    """The name of a column: A for 0, AA for 26."""
    name = ""
    while at >= 0:
        at, rest = divmod(at, 26)
        name = chr(65 + rest) + name
        at -= 1
    return name


def _cell(name: str, value: Any, style: str) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return f'<c r="{name}"{style} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float) and math.isfinite(value):
        return f'<c r="{name}"{style}><v>{value!r}</v></c>'
    if isinstance(value, str) and LIKE_A_NUMBER.fullmatch(value) and value != "-0":
        return f'<c r="{name}"{style}><v>{value}</v></c>'
    text = _escaped(str(value)[:LONGEST_TEXT])
    return f'<c r="{name}"{style} t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


def _escaped(text: str) -> str:
    """A text inside the XML of a sheet."""
    return escaped(LIKE_AN_ESCAPE.sub("_x005F_", text))
