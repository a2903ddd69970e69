"""Workbooks, .xlsx and .xls: a sheet is a table as in CSV. Reading needs python-calamine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

from covertour.formats import archive, cells, csv
from covertour.formats.places import header_row
from covertour.formats.source import FoundTour, Given, Source
from covertour.formats.table import Where
from covertour.formats.xml import as_read
from covertour.problem.errors import InputError, shown, why
from covertour.problem.instance import Instance

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""How old workbooks begin, and new ones that are encrypted."""

MOST_CELLS = 30_000_000
"""Cells that a sheet may span, empty ones among them, as all of them take memory."""

LARGEST = 200_000_000
"""Bytes of a workbook."""

SECONDS = 60
"""How long reading a workbook may take."""

DAMAGED = "it is damaged, or takes too much memory"

ROW, COLUMN = re.compile(rb'<row\b[^>]*?\br="(\d+)"'), re.compile(rb'<c\b[^>]*?\br="([A-Z]+)\d+"')


def read(source: Source, given: Given) -> Instance:
    """An instance from the sheet that is asked for, else from the first that has coordinates."""
    sheets = _sheets(source, given.sheet)
    filled = [name for name, (rows, _) in sheets.items() if rows]
    if not filled:
        raise InputError(f"{source}: the workbook is empty")
    name = next((name for name in filled if _fits(sheets[name][0], given)), filled[0])
    if len(filled) > 1:
        given.note(f"{source}: read the sheet {shown(name)} of {len(filled)}", False)
    rows, numbers = sheets[name]

    def where(row: int) -> str:
        return f"{source}, sheet {shown(name)}, row {numbers[row]}"

    return csv.from_rows(source, rows, where, given)


def read_tour(source: Source) -> FoundTour:
    """The tour of an itinerary on the first sheet."""
    return _first_sheet(source, csv.tour_from_rows)


def read_plan(source: Source) -> FoundTour:
    """The stops of an itinerary, or of a table in which each row is a stop with its name."""
    return _first_sheet(source, csv.plan_from_rows)


def _first_sheet(
    source: Source, reader: Callable[[list[list[str]], Where], FoundTour]
) -> FoundTour:
    rows, numbers = next(iter(_sheets(source, None).values()))
    if not rows:
        raise InputError(f"{source}: the workbook is empty")
    found = reader(rows, lambda row: f"{source}, row {numbers[row]}")
    return replace(found, as_written=as_read)


def _fits(rows: list[list[str]], given: Given) -> bool:
    """Whether a sheet has coordinates."""
    try:
        return bool(rows) and header_row(rows, str, given.metric) is not None
    except InputError:  # two columns of one meaning; whoever reads the sheet will be told
        return True


def _sheets(source: Source, wanted: str | None) -> dict[str, tuple[list[list[str]], list[int]]]:
    """The sheets to look at: the rows of each that are not empty, and their numbers."""
    _check(source)
    answer = _asked_apart(source, wanted)
    if "password" in answer:
        raise InputError(f"{source}: the workbook is encrypted; save it without a password")
    if "broken" in answer:
        raise InputError(f"{source}: not a whole workbook: {why(Exception(answer['broken']))}")
    if not answer["names"]:
        raise InputError(f"{source}: the workbook has no sheets")
    if not answer["sheets"]:
        listed = ", ".join(map(shown, answer["names"]))
        raise InputError(f"{source}: no sheet {shown(wanted)}; there are {listed}")
    return {name: _filled(rows) for name, rows in answer["sheets"].items()}


def _filled(cells: list[list[str]]) -> tuple[list[list[str]], list[int]]:
    numbers = [number for number, row in enumerate(cells, start=1) if "".join(row).strip()]
    return [cells[number - 1] for number in numbers], numbers


def _asked_apart(source: Source, wanted: str | None) -> dict[str, Any]:
    """What a process of its own says is in the workbook; see :mod:`covertour.formats.cells`."""
    if find_spec("python_calamine") is None:
        raise InputError(
            f"{source}: reading workbooks needs python-calamine, which is not installed: "
            "pip install 'covertour[files]'"
        )
    try:
        # -P: its own folder has modules with the names of the standard library's.
        done = subprocess.run(
            [sys.executable, "-P", cells.__file__, json.dumps(wanted)],
            input=source.raw(),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        return dict(json.loads(done.stdout)) if done.returncode == 0 else {"broken": DAMAGED}
    except subprocess.TimeoutExpired:
        return {"broken": f"it takes more than {SECONDS} s to read"}
    except (OSError, ValueError) as error:
        return {"broken": str(error)}


def _check(source: Source) -> None:
    """An error for files that are no workbook, are encrypted or have macros."""
    data = source.raw()
    if len(data) > LARGEST:
        raise InputError(f"{source}: the workbook has more than {LARGEST // 10**6} MB")
    if data.startswith(OLE):
        if _utf16("EncryptedPackage") in data:
            raise InputError(f"{source}: the workbook is encrypted; save it without a password")
        if _utf16("_VBA_PROJECT") in data:
            raise InputError(_macros(source))
    elif archive.is_zip(data):
        _check_package(source)
    else:
        raise InputError(f"{source}: not a workbook (.xlsx or .xls)")


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le")


def _macros(source: Source) -> str:
    return f"{source}: the workbook has macros, which are refused; save it as .xlsx without them"


def _check_package(source: Source) -> None:
    """An error for archives that are no workbook, have macros, or would fill the memory."""
    found = archive.members(source)
    if any(name.lower().endswith("vbaproject.bin") for name in found):
        raise InputError(_macros(source))
    if "xl/workbook.xml" not in found:
        what = "another kind of workbook" if "content.xml" in found else "not a workbook"
        raise InputError(f"{source}: {what}; save it as .xlsx")
    for name, info in found.items():
        content = archive.member(source, info)
        if name.startswith("xl/worksheets/") and name.endswith(".xml"):
            last = max(map(int, ROW.findall(content)), default=0)
            wide = max(map(_column, set(COLUMN.findall(content))), default=0)
            if last * wide > MOST_CELLS:
                raise InputError(
                    f"{source}: a sheet has cells down to row {last:,} and column {wide:,}, too "
                    "many to read; delete the empty ones"
                )


def _column(letters: bytes) -> int:
    """The number of a column such as AB, from 1."""
    number = 0
    for letter in letters[:7]:
        number = number * 26 + letter - 64
    return number
