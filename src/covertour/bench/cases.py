"""The cases of the literature: TSPLIB files, how many nearest are covered, the best known tour."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from covertour.formats import read
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance

COLUMNS = ("instance", "nearest", "best_known")


@dataclass(frozen=True)
class Case:
    """A file, the number of nearest others that each place covers, and the best known length."""

    name: str
    nearest: int
    best_known: float
    path: Path

    @property
    def title(self) -> str:
        """The case in words."""
        return f"{self.name}, nearest {self.nearest}"

    def load(self) -> Instance:
        """The instance, with its coverage built."""
        instance = read(self.path, nearest=self.nearest)
        _ = instance.coverage
        return instance


def read_cases(
    directory: str | Path, best_known_csv: str | Path, only: Sequence[str] = ()
) -> tuple[Case, ...]:
    """The cases of a CSV file with the columns instance, nearest and best_known, in its order.

    The places of instance X are in ``X.tsp`` in the directory. ``only``: names of the instances to
    take; by default all.
    """
    file = Path(best_known_csv)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{file}: expected a CSV file in UTF-8") from None
    rows = csv.DictReader(text.splitlines(), skipinitialspace=True)
    missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
    if missing:
        raise InputError(
            f"{file}, line 1: no column {', '.join(missing)}; expected {','.join(COLUMNS)}"
        )
    cases = [_case(row, f"{file}, line {rows.line_num}", Path(directory)) for row in rows]
    if not cases:
        raise InputError(f"{file}: expected at least one case after the first line")
    names = {case.name for case in cases}
    for name in only:
        if name not in names:
            raise InputError(f"only: {file} has no instance {name!r}")
    chosen = tuple(case for case in cases if not only or case.name in only)
    for case in chosen:
        if not case.path.is_file():
            raise InputError(f"{case.path}: no such file, but {file} names {case.name!r}")
    return chosen


def _case(row: dict[str, str | None], where: str, directory: Path) -> Case:
    name = (row["instance"] or "").strip()
    if not name or "/" in name or "\\" in name:
        raise InputError(f"{where}: expected the name of an instance, got {name!r}")
    try:
        nearest = int(row["nearest"] or "")
    except ValueError:
        nearest = -1
    if nearest < 0:
        raise InputError(
            f"{where}: nearest: expected a whole number >= 0, got {row['nearest'] or ''!r}"
        )
    try:
        best_known = float(row["best_known"] or "")
    except ValueError:
        best_known = 0.0
    if not 0 < best_known < float("inf"):
        raise InputError(
            f"{where}: best_known: expected a number > 0, got {row['best_known'] or ''!r}"
        )
    return Case(name, nearest, best_known, directory / f"{name}.tsp")
