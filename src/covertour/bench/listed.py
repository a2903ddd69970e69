"""Published tables: CSV files that list cases, and the choice of some of them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from covertour.problem.errors import InputError


class Listed(NamedTuple):
    """A row of a table: its cells by column, None where the line ends early, and where it is."""

    cells: dict[str, str | None]
    where: str

    def text(self, column: str) -> str:
        """A cell without the spaces around it."""
        return (self.cells[column] or "").strip()

    def positive(self, column: str) -> float:
        """A cell that must be a number above 0."""
        try:
            value = float(self.text(column))
        except ValueError:
            value = 0.0
        if not 0 < value < float("inf"):
            raise InputError(
                f"{self.where}: {column}: expected a number > 0, got {self.text(column)!r}"
            )
        return value


def read_listed(path: str | Path, columns: Sequence[str]) -> tuple[tuple[str, ...], list[Listed]]:
    """All columns of a CSV file, which must have the given ones, and its rows."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: expected a CSV file in UTF-8") from None
    rows = csv.DictReader(text.splitlines(), skipinitialspace=True)
    found = tuple(rows.fieldnames or ())
    missing = [column for column in columns if column not in found]
    if missing:
        raise InputError(
            f"{path}, line 1: no column {', '.join(missing)}; expected {','.join(columns)}"
        )
    return found, [Listed(row, f"{path}, line {rows.line_num}") for row in rows]


class Named(Protocol):
    """A case of a table."""

    @property
    def name(self) -> str:
        """What the table calls it."""


C = TypeVar("C", bound=Named)


def chosen_of(cases: Sequence[C], only: Sequence[str], source: str | Path) -> tuple[C, ...]:
    """The cases of these names, all if there are none; ``source``: where the cases are listed."""
    if not cases:
        raise InputError(f"{source}: expected at least one case after the first line")
    names = {case.name for case in cases}
    for name in only:
        if name not in names:
            raise InputError(f"only: {source} has no case {name!r}")
    return tuple(case for case in cases if not only or case.name in only)
