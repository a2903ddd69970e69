"""Tables of results, and how they become CSV and Markdown files."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from covertour.bench.machine import Facts, machine
from covertour.problem.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Column:
    """A column: its name in a CSV file, its heading for people, and how they see a value.

    ``form``: a format for numbers, or a function that makes text; None is shown as a dash.
    ``detail``: may be left out where there is little room.
    """

    name: str
    heading: str
    form: str | Callable[[Any], str] = ""
    detail: bool = False

    @property
    def is_text(self) -> bool:
        """Whether values are words, to be set flush left."""
        return self.form == "s"

    def show(self, value: Any) -> str:
        """A value as people see it."""
        if value is None or value != value:
            return "-"
        return self.form(value) if callable(self.form) else format(value, self.form)


@dataclass(frozen=True)
class Table:
    """Rows under columns; a row has a plain value (number, text, bool or None) for each column."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]

    def shown(self) -> list[list[str]]:
        """The rows as people see them."""
        return [
            [column.show(value) for column, value in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def without(self, column: Column) -> Table:
        """The table without one of its columns."""
        index = self.columns.index(column)
        return Table(
            self.title,
            self.columns[:index] + self.columns[index + 1 :],
            tuple(row[:index] + row[index + 1 :] for row in self.rows),
        )

    def text(self, width: int | None = None) -> str:
        """The table in plain text.

        ``width``: letters of a line; where they are too few headings are broken into words, and
        then details are left out, the last first.
        """
        if width is None or sum(self._widths(broken=False)) <= width:
            return self._laid_out(broken=False)
        table = self
        for column in reversed(self.columns):
            if sum(table._widths(broken=True)) <= width:
                break
            if column.detail:
                table = table.without(column)
        return table._laid_out(broken=True)

    def _headings(self, broken: bool) -> list[list[str]]:
        """The lines of each heading."""
        return [column.heading.split() if broken else [column.heading] for column in self.columns]

    def _widths(self, broken: bool) -> list[int]:
        """How wide each column is, with the space after it."""
        cells = zip(*self.shown(), strict=True) if self.rows else [()] * len(self.columns)
        pairs = zip(self._headings(broken), cells, strict=True)
        return [2 + max(map(len, [*heading, *column])) for heading, column in pairs]

    def _laid_out(self, broken: bool) -> str:
        headings = zip_longest(*self._headings(broken), fillvalue="")
        widths = self._widths(broken)
        lines = []
        for row in [*headings, *self.shown()]:
            cells = (
                cell.ljust(width - 2) if column.is_text else cell.rjust(width - 2)
                for column, cell, width in zip(self.columns, row, widths, strict=True)
            )
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def csv(self) -> str:
        """The values in full as CSV; what is missing is empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([column.name for column in self.columns])
        writer.writerows(
            ["" if value is None else _plain(value) for value in row] for row in self.rows
        )
        return text.getvalue()

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = [
            _markdown_row([column.heading for column in self.columns]),
            _markdown_row(["---" if column.is_text else "---:" for column in self.columns]),
            *(_markdown_row(row) for row in self.shown()),
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Document:
    """What a benchmark has to say: the main table first, others, and sentences.

    ``loud``: sentences that must not be overlooked.
    """

    title: str
    tables: tuple[Table, ...]
    sentences: tuple[str, ...] = ()
    loud: tuple[str, ...] = ()

    def markdown(
        self, command: str, picture: str | None = None, measured_on: Facts | None = None
    ) -> str:
        """The document in Markdown, with the command that made it and the machine it ran on.

        ``measured_on``: that machine, where it is not this one.
        """
        parts = [f"# {self.title}", f"`{command}`"]
        parts += [f"**{sentence}**" for sentence in self.loud]
        if self.sentences:
            parts.append("\n".join(f"- {sentence}" for sentence in self.sentences))
        if picture is not None:
            parts.append(f"![{self.title}]({quote(picture)})")
        # What sums up comes first; the main table may be long.
        for table in (*self.tables[1:], self.tables[0]):
            parts += [f"## {table.title}", table.markdown()]
        facts = "\n".join(f"- {what}: {value}" for what, value in measured_on or machine())
        return "\n\n".join([*parts, "## Machine", facts]) + "\n"


def write_document(
    directory: str | Path,
    name: str,
    document: Document,
    command: str,
    ax: Axes | None = None,
    measured_on: Facts | None = None,
) -> list[Path]:
    """Write ``name.csv``, the main table, and ``name.md``, everything, into the directory.

    ``command``: what made it. ``ax``: a picture, written to ``name.png`` and shown in the Markdown.
    ``measured_on``: the machine, where it is not this one. Returns the paths written.
    """
    from covertour.storage import write_bytes, write_text

    folder = output_directory(directory)
    paths = [folder / f"{name}.csv", folder / f"{name}.md"]
    write_text(paths[0], document.tables[0].csv())
    picture = None if ax is None else f"{name}.png"
    write_text(paths[1], document.markdown(command, picture, measured_on))
    if ax is not None:
        image = io.BytesIO()
        ax.figure.savefig(image, format="png")  # type: ignore[union-attr]  # no subfigure
        paths.append(folder / f"{name}.png")
        write_bytes(paths[-1], image.getvalue())
    return paths


def output_directory(directory: str | Path) -> Path:
    """The directory, made where it is missing; an error where nothing can be written there."""
    from covertour.storage import check_writable

    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = "a file of that name exists" if folder.is_file() else error.strerror
        raise InputError(f"{directory}: cannot make this directory ({why})") from None
    check_writable(folder / "results.csv")
    return folder


def time_text(seconds: float) -> str:
    """A time with three digits that count, in ms, s, min or h.

    >>> time_text(0.01234), time_text(2.5), time_text(600)
    ('12.3 ms', '2.50 s', '10.0 min')
    """
    unit, factor = "s", 1.0
    if seconds < 0.9995:
        unit, factor = "ms", 1000.0
    elif seconds >= 7200:
        unit, factor = "h", 1 / 3600
    elif seconds >= 120:
        unit, factor = "min", 1 / 60
    value = seconds * factor
    decimals = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:,.{decimals}f} {unit}"


def percent_text(percent: float) -> str:
    """A gap in percent, three decimals, and a plain 0 where there is none."""
    return "0" if percent == 0 else f"{percent:.3f}"


def _plain(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.9g}" if isinstance(value, float) else value


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
