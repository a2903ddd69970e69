"""The tables in the repository are those of the rows in it."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

from experiments import command
from experiments.shared.machine import NAME as MACHINE

RESULTS = command.HOME / command.RESULTS
WITHOUT_WEIGHTS = ("ls1-paper", "ls2-paper", "ls1", "ls2", "lns", "exact")


def lines(path: Path) -> list[dict[str, str]]:
    """The rows of a table of methods that need no weights, which may be replaced by better ones."""
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row["method"] in WITHOUT_WEIGHTS]


def test_the_tables_are_made_of_the_rows(tmp_path: Path) -> None:
    for name in (command.ROWS, MACHINE):
        shutil.copy(RESULTS / name, tmp_path)
    methods = ("--methods", ",".join(WITHOUT_WEIGHTS))
    code = command.run(["small", "large", "--from-rows", *methods, "--output", str(tmp_path)])
    assert code == 0
    for name in ("small.csv", "large.csv"):
        assert lines(tmp_path / name) == lines(RESULTS / name)
        assert len(lines(tmp_path / name)) == 3 * len(WITHOUT_WEIGHTS)
