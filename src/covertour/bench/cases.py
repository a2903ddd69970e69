"""The cases of the literature: TSPLIB files, how many nearest are covered, the best known tour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from covertour.bench.listed import Listed, chosen_of, read_listed
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
    _, rows = read_listed(best_known_csv, COLUMNS)
    cases = [_case(row, Path(directory)) for row in rows]
    chosen = chosen_of(cases, only, best_known_csv)
    for case in chosen:
        if not case.path.is_file():
            raise InputError(f"{case.path}: no such file, but {best_known_csv} names {case.name!r}")
    return chosen


def _case(row: Listed, directory: Path) -> Case:
    name = row.text("instance")
    if not name or "/" in name or "\\" in name:
        raise InputError(f"{row.where}: expected the name of an instance, got {name!r}")
    try:
        nearest = int(row.text("nearest"))
    except ValueError:
        nearest = -1
    if nearest < 0:
        raise InputError(
            f"{row.where}: nearest: expected a whole number >= 0, got {row.text('nearest')!r}"
        )
    return Case(name, nearest, row.positive("best_known"), directory / f"{name}.tsp")
