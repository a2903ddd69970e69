from __future__ import annotations

from pathlib import Path

import pytest

from covertour import InputError
from covertour.bench.tables import (
    Column,
    Document,
    Table,
    output_directory,
    percent_text,
    time_text,
    write_document,
)

TABLE = Table(
    "Cases",
    (Column("name", "name", "s"), Column("seconds", "time", time_text), Column("ok", "ok", str)),
    (("a|b", 0.0123456789123, True), ("c,d", None, False)),
)
DOCUMENT = Document("Results", (TABLE,), ("Two cases.",), ("LOOK HERE",))


def test_csv_has_full_values_and_nothing_for_what_is_missing() -> None:
    assert TABLE.csv() == 'name,seconds,ok\na|b,0.0123456789,yes\n"c,d",,no\n'


def test_markdown_has_rounded_values_and_dashes() -> None:
    assert TABLE.markdown().splitlines() == [
        "| name | time | ok |",
        "| --- | ---: | ---: |",
        "| a/b | 12.3 ms | True |",
        "| c,d | - | False |",
    ]


def test_a_document_names_the_command_and_the_machine(tmp_path: Path) -> None:
    paths = write_document(tmp_path / "new" / "folder", "run", DOCUMENT, "covertour bench it")
    assert [path.name for path in paths] == ["run.csv", "run.md"]
    text = paths[1].read_text()
    for part in ("# Results", "`covertour bench it`", "**LOOK HERE**", "- Two cases."):
        assert part in text
    for fact in ("cores", "processor", "python", "covertour", "numpy", "numba", "highspy", "date"):
        assert f"- {fact}: " in text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.00012, "0.12 ms"),
        (0.0149, "14.9 ms"),
        (0.5, "500 ms"),
        (1, "1.00 s"),
        (60, "60.0 s"),
        (600, "10.0 min"),
        (7200, "2.00 h"),
    ],
)
def test_times_have_three_digits_and_a_unit(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def test_no_gap_is_a_plain_zero() -> None:
    assert (percent_text(0.0), percent_text(0.0004), percent_text(-1.25)) == (
        "0",
        "0.000",
        "-1.250",
    )


def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="a file of that name exists"):
        output_directory(tmp_path / "file")


WIDE = Table(
    "Wide",
    (
        Column("name", "name", "s"),
        Column("seconds", "mean time", time_text),
        Column("worst", "worst of all", ".1f", detail=True),
    ),
    (("lns", 0.5, 12.25), ("ls1-paper", 20, None)),
)


def test_text_has_columns_under_their_headings() -> None:
    assert WIDE.text().splitlines() == [
        "name       mean time  worst of all",
        "lns           500 ms          12.2",
        "ls1-paper     20.0 s             -",
    ]
    assert WIDE.text(width=36) == WIDE.text()


def test_text_for_a_narrow_terminal_breaks_headings_and_then_leaves_details_out() -> None:
    assert WIDE.text(width=28).splitlines() == [
        "name         mean  worst",
        "             time     of",
        "                     all",
        "lns        500 ms   12.2",
        "ls1-paper  20.0 s      -",
    ]
    assert WIDE.text(width=20).splitlines() == [
        "name         mean",
        "             time",
        "lns        500 ms",
        "ls1-paper  20.0 s",
    ]
    assert Table("Empty", WIDE.columns, ()).text() == "name  mean time  worst of all"
