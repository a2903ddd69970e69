"""Rows: a line of a CSV file for each solved instance, written at once, so that runs go on."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from covertour import InputError, __version__

ALONE, BATCH, BESIDE = "alone", "batch", "beside"
"""How a run was timed: alone on one core, decoded together with others, or beside other runs, each
on a core of its own. A training is timed on a number of threads."""


@dataclass(frozen=True)
class Run:
    """Which run a row is of; runs that differ in anything here are never taken for each other.

    ``seed``: of the instance and of the method. ``settings``: limits and weights in words.
    """

    rule: str
    n: int
    seed: int
    method: str
    settings: str
    timing: str = ALONE
    version: str = __version__


@dataclass(frozen=True)
class Row:
    """What a run found: the length of its tour, checked by the referee, and what it proved."""

    run: Run
    length: float
    bound: float | None
    stops: int
    seconds: float


HEADER = (*(field.name for field in fields(Run)), "length", "bound", "stops", "seconds")


class RowFile:
    """The rows of a CSV file, by run and by instance; new ones are appended and flushed.

    ``grew``: whether any were added since it was opened. Whoever is interrupted in the middle of a
    line leaves half of it: it is dropped on reading.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._rows: dict[Run, Row] = {}
        self._of_instance: dict[tuple[str, int, int], list[Row]] = {}
        self._alike: dict[Run, Run] = {}
        self.grew = False
        text = _whole_lines(self.path)
        lines = csv.reader(text.splitlines())
        header = next(lines, None)
        if header is not None and tuple(header) != HEADER:
            raise InputError(
                f"{self.path}, line 1: expected {','.join(HEADER)}; "
                "rows of another covertour? Give another directory"
            )
        for line in lines:
            self._keep(_row(line, f"{self.path}, line {lines.line_num}"))
        self._new = header is None

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, run: Run) -> bool:
        return run in self._rows

    def __getitem__(self, run: Run) -> Row:
        return self._rows[run]

    def alike(self, run: Run) -> Run:
        """The last run like this one, however it was timed and whichever version made it.

        The run itself where there is none.
        """
        return self._alike.get(_without_timing(run), run)

    def of_instance(self, rule: str, n: int, seed: int) -> list[Row]:
        """All rows of an instance, whichever method and version made them."""
        return self._of_instance.get((rule, n, seed), [])

    def add(self, rows: Iterable[Row]) -> None:
        """Append rows of new runs; they are on disk when this returns."""
        new = [row for row in rows if row.run not in self._rows]
        if not new:
            return
        try:
            with open(self.path, "a", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                if self._new:
                    writer.writerow(HEADER)
                writer.writerows(_fields(row) for row in new)
        except OSError as error:
            raise InputError(f"{self.path}: {error.strerror or error}") from None
        self._new = False
        self.grew = True
        for row in new:
            self._keep(row)

    def _keep(self, row: Row) -> None:
        self._rows[row.run] = row
        run = row.run
        self._alike[_without_timing(run)] = run
        self._of_instance.setdefault((run.rule, run.n, run.seed), []).append(row)


def _without_timing(run: Run) -> Run:
    return replace(run, timing="", version="")


def _whole_lines(path: Path) -> str:
    """The text of the file; half a line at its end is cut off, in the file too."""
    try:
        data = path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.truncate(path, len(whole))
        return whole.decode("utf-8")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise InputError(f"{path}: expected a CSV file in UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _fields(row: Row) -> list[object]:
    """The values as text that reads back as the same numbers."""
    bound = "" if row.bound is None else repr(row.bound)
    return [*astuple(row.run), repr(row.length), bound, row.stops, repr(row.seconds)]


def _row(line: list[str], where: str) -> Row:
    try:
        rule, n, seed, method, settings, timing, version, length, bound, stops, seconds = line
        run = Run(rule, int(n), int(seed), method, settings, timing, version)
        proven = float(bound) if bound else None
        return Row(run, float(length), proven, int(stops), float(seconds))
    except ValueError:
        raise InputError(f"{where}: expected values for {','.join(HEADER)}") from None
