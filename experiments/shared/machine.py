"""On which machine the rows of a directory were measured: kept beside them, for tables made later.

Where rows were added on several machines, it is the last of them.
"""

from __future__ import annotations

import csv
import io

from covertour.bench import machine
from covertour.storage import write_text
from experiments.shared.rows import RowFile

NAME = "machine.csv"


def measured_on(rows: RowFile) -> list[tuple[str, str]]:
    """The facts about the machine: this one, if anything was measured on it just now."""
    path = rows.path.with_name(NAME)
    if not rows.grew and path.is_file():
        lines = csv.reader(path.read_text(encoding="utf-8").splitlines()[1:])
        return [(what, value) for what, value in lines]
    facts = machine()
    if rows.grew:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([("what", "value"), *facts])
        write_text(path, text.getvalue())
    return facts
