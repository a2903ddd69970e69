"""Reading a workbook in a process of its own, which :mod:`covertour.formats.workbook` starts.

The library that reads workbooks ends its process, or takes all memory, on some damaged files. So it
works in one that is given little, and this file imports nothing of covertour. It gets the workbook
on standard input and the wanted sheet, or null, as its argument in JSON; it answers in JSON.
"""

from __future__ import annotations

import datetime
import io
import json
import sys
from typing import Any

MEMORY = 3_000_000_000
"""Bytes that the process may use."""


def main() -> None:
    """Answer with the names of all sheets, and the rows of those that are wanted as texts."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, OSError, ValueError):  # not on this system
        pass
    wanted = json.loads(sys.argv[1])
    try:
        answer = _read(sys.stdin.buffer.read(), wanted)
    except BaseException as error:  # panics of the library are no ordinary exceptions
        kind = "password" if type(error).__name__ == "PasswordError" else "broken"
        answer = {kind: str(error) or type(error).__name__}
    sys.stdout.buffer.write(json.dumps(answer).encode("utf-8"))


def _read(data: bytes, wanted: str | None) -> dict[str, Any]:
    from python_calamine import SheetTypeEnum, SheetVisibleEnum, load_workbook

    workbook = load_workbook(io.BytesIO(data))
    sheets = [each for each in workbook.sheets_metadata if each.typ == SheetTypeEnum.WorkSheet]
    names = [each.name for each in sheets]
    seen = [each.name for each in sheets if each.visible == SheetVisibleEnum.Visible] or names
    if wanted is not None:
        alike = [name for name in names if name.strip().lower() == wanted.strip().lower()]
        seen = [wanted] if wanted in alike else alike[:1]
    rows = {
        name: [
            [text_of(cell) for cell in row]
            for row in workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
        ]
        for name in seen
    }
    return {"names": names, "sheets": rows}


def text_of(cell: Any) -> str:
    """A cell as CSV would have it."""
    match cell:
        case bool():
            return "yes" if cell else "no"
        case float():
            return f"{cell:.0f}" if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
        case datetime.datetime() if cell.time() == datetime.time():
            return cell.date().isoformat()
        case datetime.datetime() | datetime.date() | datetime.time():
            return cell.isoformat()
    return str(cell)


if __name__ == "__main__":
    main()
