"""The figures in README and docs are those of the files of results."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from experiments import figures
from experiments.figures import refreshed


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text(
        "method,n,length,seconds,paper\nlns,100,3.50014,0.1013,\nls1,100,3.6,0.5,3.58\nlns,20,1,1,\n"
    )
    return tmp_path


def figure(text: str, value: str, where: str = "") -> dict[str, list[dict[str, str]]]:
    return {"figure": [{"text": text, "file": "a.csv", "where": where, "value": value}]}


def test_pages_hold_what_the_files_hold_and_no_marks() -> None:
    found = figures.pages(tomllib.loads(figures.SOURCES.read_text(encoding="utf-8")))
    assert "README.md" in found
    for page, sources in found.items():
        text = (figures.ROOT / page).read_text(encoding="utf-8")
        assert refreshed(text, sources) == text, "run python -m experiments.figures"
        assert "<!--" not in text


def test_a_figure_is_written_between_its_words(results: Path) -> None:
    source = figure("it is {} long", "length .1f", "method = ls1, n = 100")
    assert refreshed("| it is 9.9 long |", source, results) == "| it is 3.6 long |"
    source = figure("within {}, as it", "seconds time", "method = ls1")
    once = refreshed("within\n2 s, as\nit", source, results)
    assert once == "within\n500 ms, as\nit"
    assert refreshed(once, source, results) == once


def test_a_figure_of_several_rows_is_their_mean_or_another_summary(results: Path) -> None:
    for how, expected in (
        ("mean", "0.53"),
        ("median", "0.50"),
        ("largest", "1.00"),
        ("sum", "1.60"),
    ):
        source = figure("a {} b", f"{how} of seconds .2f")
        assert refreshed("a 9 b", source, results) == f"a {expected} b"


def test_a_table_is_written_under_its_heading(results: Path) -> None:
    source = {
        "table": [
            {
                "heading": "| method | mean length | paper | time |",
                "file": "a.csv",
                "where": "n = 100",
                "columns": ["method", "length .3f", "paper .2f", "seconds time"],
            }
        ]
    }
    top = "before\n\n| method | mean length | paper | time |\n| --- | ---: | ---: | ---: |\n"
    rows = "| lns | 3.500 | - | 101 ms |\n| ls1 | 3.600 | 3.58 | 500 ms |\n"
    page = f"{top}{rows}\nafter\n"
    for old in ("", "| lns | 1 | 2 | 3 |\n", rows):
        assert refreshed(f"{top}{old}\nafter\n", source, results) == page
    with pytest.raises(ValueError, match="0 times, expected once"):
        refreshed("another page", source, results)


@pytest.mark.parametrize(
    ("text", "value", "where", "message"),
    [
        ("a {} b", "length .1f", "n = 100", "expected one row, found 2"),
        ("a {} b", "length .1f", "n = 7", "no row where n = 7"),
        ("a {} b", "length .1f", "size = 7", "no column 'size'"),
        ("a {} b", "width .1f", "n = 20", "no column 'width'"),
        ("a {} c", "length .1f", "n = 20", "0 times, expected once"),
        ("a {}", "length .1f", "n = 20", "expected words"),
    ],
)
def test_a_source_that_fits_nothing_is_an_error(
    results: Path, text: str, value: str, where: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        refreshed("a 9 b", figure(text, value, where), results)
    with pytest.raises(ValueError, match="2 times"):
        refreshed("a 9 b, a 9 b", figure("a {} b", value, where), results)
