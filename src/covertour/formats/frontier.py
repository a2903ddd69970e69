"""Files of a frontier: its table, its picture, and the tours of its points."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from covertour.problem.errors import InputError
from covertour.problem.words import weight_word
from covertour.solving.tradeoff import Frontier
from covertour.storage import check_writable, encoded, write_bytes

ENDINGS = (".png", ".svg", ".csv", ".json")
"""What a frontier is written as."""

EACH = "{}"
"""What stands for the number of a point in the name of a file with its tour."""


def check_output(path: str) -> None:
    """An error where :func:`write` could not write there."""
    from covertour import formats

    if EACH in Path(path).name:
        formats.check_output(path.replace(EACH, "1"))
        return
    _ending(path)
    check_writable(Path(path))


def write(path: str, frontier: Frontier) -> list[str]:
    """Write a frontier, or with ``{}`` in the name the tours of its points; returns the files."""
    if EACH in Path(path).name:
        from covertour import formats

        digits = len(str(len(frontier.points)))
        names = []
        for number, point in enumerate(frontier.points, start=1):
            names.append(path.replace(EACH, f"{number:0{digits}d}"))
            formats.write(names[-1], point.result.instance, point.result)
        return names
    write_bytes(Path(path), encoded(encode(frontier, _ending(path))))
    return [path]


def encode(frontier: Frontier, ending: str) -> str | bytes:
    """The content of a file of a frontier."""
    match ending:
        case ".csv":
            return _table(frontier)
        case ".json":
            return frontier.to_json() + "\n"
    figure = frontier.plot().get_figure(root=True)
    assert figure is not None
    data = io.BytesIO()
    kind = ending.removeprefix(".")
    # A picture without its date is the same each time it is drawn.
    figure.savefig(data, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return data.getvalue()


def _table(frontier: Frontier) -> str:
    """A row for each point; numbers to the last digit, nothing where nothing is known."""
    data = io.StringIO()
    rows = csv.writer(data, lineterminator="\n")
    rows_of = [point.to_dict() for point in frontier.points]
    called = {"weight": weight_word(frontier.instance)}
    rows.writerow(["point", *(called.get(title, title) for title in rows_of[0])])
    for number, row in enumerate(rows_of, start=1):
        rows.writerow([number, *("" if cell is None else cell for cell in row.values())])
    return data.getvalue()


def _ending(path: str) -> str:
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f"{path}: a frontier is written as {' '.join(ENDINGS)}, or its tours as, for example, "
            f"tour-{EACH}.html"
        )
    return ending
