"""The figures in README and docs, from the files of results: ``python -m experiments.figures``.

figures.toml tells which figure stands on which page and where it comes from; this writes them all
again, and a test compares the pages with the files. The pages themselves hold no marks.

A figure is found by the words around it, a table by its first line. ``file`` is a CSV file, seen
from the root of the repository; ``where`` picks its rows; a value is a column, a format of Python
or ``time`` or ``percent`` as covertour's tables have them, and for several rows their ``mean of``,
``median of``, ``largest of`` or ``sum of``.
"""

from __future__ import annotations

import csv
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from covertour.bench import percent_text, time_text

ROOT = Path(__file__).parents[1]
README = "README.md"
SOURCES = Path(__file__).with_name("figures.toml")

SUMMARIES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "median": median,
    "largest": max,
    "sum": sum,
}


def pages(sources: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The figures and tables of each page, by its path; README's where none is named."""
    found: dict[str, dict[str, Any]] = {}
    for kind in ("figure", "table"):
        for one in sources.get(kind, []):
            page = found.setdefault(one.get("page", README), {})
            page.setdefault(kind, []).append(one)
    return found


def refreshed(text: str, sources: dict[str, Any], root: Path = ROOT) -> str:
    """A page with all its figures as the files have them now."""
    for figure in sources.get("figure", []):
        text = _with_figure(text, figure, root)
    for table in sources.get("table", []):
        text = _with_table(text, table, root)
    return text


def _with_figure(text: str, figure: dict[str, str], root: Path) -> str:
    """The page with one figure: it stands where ``text`` has {}, between words that may wrap."""
    words = figure["text"]
    if words.count("{}") != 1 or words.startswith("{}") or words.endswith("{}"):
        raise ValueError(f"{words!r}: expected words, {{}}, and words")
    before, after = (_anywhere_broken(part) for part in words.split("{}"))
    pattern = re.compile(f"({before})(.{{1,20}}?)({after})", re.DOTALL)
    found = len(pattern.findall(text))
    if found != 1:
        raise ValueError(f"the page has {words!r} {found} times, expected once")
    return pattern.sub(lambda match: match[1] + _figure(figure, root) + match[3], text)


def _anywhere_broken(text: str) -> str:
    """A pattern of the text, with its lines broken anywhere."""
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))


def _figure(figure: dict[str, str], root: Path) -> str:
    how, several, column = figure["value"].rpartition(" of ")
    name, _, form = column.partition(" ")
    rows = _rows(root / figure["file"], figure.get("where", ""))
    if several:
        rows = [{name: str(SUMMARIES[how]([float(row[name]) for row in rows]))}]
    if len(rows) != 1:
        raise ValueError(f"{figure['text']!r}: expected one row, found {len(rows)}")
    return _shown(rows[0], name, form)


def _with_table(text: str, table: dict[str, Any], root: Path) -> str:
    """The page with one table, all lines after its first two written anew."""
    heading = table["heading"]
    pattern = re.compile(rf"({re.escape(heading)}\n\|[-:| ]+\|\n)((?:\|.*\|\n)*)")
    found = pattern.findall(text)
    if len(found) != 1:
        raise ValueError(f"the page has {heading!r} {len(found)} times, expected once")
    columns = [column.partition(" ")[::2] for column in table["columns"]]
    lines = "".join(
        f"| {' | '.join(_shown(row, name, form) for name, form in columns)} |\n"
        for row in _rows(root / table["file"], table.get("where", ""))
    )
    return pattern.sub(lambda match: match[1] + lines, text)


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
        raise ValueError(f"{path}: no row where {where}")
    return rows


def _shown(row: dict[str, str], name: str, form: str) -> str:
    if name not in row:
        raise ValueError(f"no column {name!r} among {', '.join(row)}")
    value = row[name]
    if not form or not value:
        return value or "-"
    if form == "time":
        return time_text(float(value))
    return percent_text(float(value)) if form == "percent" else format(float(value), form)


def main() -> int:
    """Write the pages again; 1 if one was not as the files have it."""
    changed = 0
    for name, sources in pages(tomllib.loads(SOURCES.read_text(encoding="utf-8"))).items():
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        new = refreshed(text, sources)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {page}")
            changed = 1
    return changed


if __name__ == "__main__":
    sys.exit(main())
