"""Figures in the documentation, taken from the files in docs/results: `python docs/figures.py`.

A page marks what it takes, and this writes it there again; a test compares pages and files.

A table: the rows of a file that fit, under the columns asked for, each with a format and a heading.

    <!-- table results/small.csv | n = 100, rule = nearest 7 | method; length .3f as mean length -->
    ...
    <!-- end -->

A single figure: what stands right before the comment, up to a space or a bar.

    is 0.04<!-- figure results/random-100.csv; limit = 0.005 s; gap_percent .2f --> % above
    takes 4 s<!-- figure results/literature.csv; method = lns; mean of median_seconds time -->

Of several rows a figure is their mean, median, largest or sum. A bar would end the cell of a table,
so there is none in it.
The file is looked for beside this script. A format is that of Python, or `time` or `percent` as the
tables of covertour have them.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from statistics import fmean, median

from covertour.bench.tables import percent_text, time_text

DOCS = Path(__file__).parent
PAGES = (DOCS.parent / "README.md", *sorted(DOCS.glob("*.md")))

SUMMARIES = {"mean": fmean, "median": median, "largest": max, "sum": sum}

TABLE = re.compile(
    r"(<!-- table ([^|>]+)\|([^|>]*)\|([^>]+)-->\n)(.*?)(\n?<!-- end -->)", re.DOTALL
)
FIGURE = re.compile(r"([^ \t\n|>]+)(<!-- figure ([^;>]+);([^;>]*);([^;>]+)-->)")


def refreshed(text: str, home: Path = DOCS) -> str:
    """The page with all that it takes from files as they are now."""

    def table(match: re.Match[str]) -> str:
        opening, file, where, what, _, end = match.groups()
        columns = [_column(part) for part in what.split(";")]
        lines = [
            _line([heading for _, _, heading in columns]),
            _line(["---" if not form else "---:" for _, form, _ in columns]),
        ]
        for row in _rows(home / file.strip(), where):
            lines.append(_line([_shown(row, name, form, file) for name, form, _ in columns]))
        return opening + "\n".join(lines) + "\n" + end.lstrip("\n")

    def figure(match: re.Match[str]) -> str:
        _, comment, file, where, what = match.groups()
        how, of, column = what.strip().rpartition(" of ")
        name, form, _ = _column(column)
        rows = _rows(home / file.strip(), where)
        if of:
            if how not in SUMMARIES:
                raise ValueError(f"{comment}: no {how!r}; there are {', '.join(SUMMARIES)}")
            rows = [{name: str(SUMMARIES[how]([float(row[name]) for row in rows]))}]
        if len(rows) != 1:
            raise ValueError(f"{comment}: expected one row, found {len(rows)}")
        return _shown(rows[0], name, form, file).replace(" ", "\u00a0") + comment

    return FIGURE.sub(figure, TABLE.sub(table, text))


def _rows(path: Path, where: str) -> list[dict[str, str]]:
    """The rows of a file whose columns have the values asked for."""
    wanted = [
        [part.strip() for part in one.split("=", 1)] for one in where.split(",") if one.strip()
    ]
    with open(path, encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    for name, _ in wanted:
        if found and name not in found[0]:
            raise ValueError(f"{path}: no column {name!r}")
    rows = [row for row in found if all(row[name] == value for name, value in wanted)]
    if not rows:
        raise ValueError(f"{path}: no row where {where.strip()}")
    return rows


def _column(text: str) -> tuple[str, str, str]:
    """Name, format and heading of a column."""
    left, _, heading = text.strip().partition(" as ")
    name, _, form = left.strip().partition(" ")
    return name, form.strip(), heading.strip() or name


def _shown(row: dict[str, str], name: str, form: str, file: str) -> str:
    if name not in row:
        raise ValueError(f"{file.strip()}: no column {name!r}")
    value = row[name]
    if not form or not value:
        return value or "-"
    if form == "time":
        return time_text(float(value))
    return percent_text(float(value)) if form == "percent" else format(float(value), form)


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Write the pages again; 1 if any was not as the files have it."""
    stale = 0
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = refreshed(text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {page}")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main())
