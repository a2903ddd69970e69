"""The figures in README and docs are those of the files in docs/results."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "figures.py"


@pytest.fixture(scope="module")
def figures() -> Any:
    spec = importlib.util.spec_from_file_location("figures", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def results(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text(
        "method,n,length,seconds,paper\nlns,100,3.50014,0.1013,\nls1,100,3.6,0.5,3.58\nlns,20,1,1,\n"
    )
    return tmp_path


def test_the_pages_hold_what_the_files_hold(figures: Any) -> None:
    assert SCRIPT.parents[1] / "README.md" in figures.PAGES
    for page in figures.PAGES:
        text = page.read_text(encoding="utf-8")
        assert figures.refreshed(text) == text, f"{page}: python docs/figures.py"
        assert len(figures.FIGURE.findall(text)) == text.count("<!-- figure ")
        assert len(figures.TABLE.findall(text)) == text.count("<!-- table ")


def test_a_table_is_written_from_its_file(figures: Any, results: Path) -> None:
    columns = "method; length .3f as mean length; paper .2f; seconds time"
    marker = f"<!-- table a.csv | n = 100 | {columns} -->"
    page = f"before\n{marker}\nold\n<!-- end -->\nafter\n"
    expected = (
        f"before\n{marker}\n"
        "| method | mean length | paper | seconds |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| lns | 3.500 | - | 101 ms |\n"
        "| ls1 | 3.600 | 3.58 | 500 ms |\n"
        "<!-- end -->\nafter\n"
    )
    assert figures.refreshed(page, results) == expected
    assert figures.refreshed(expected, results) == expected


def test_a_figure_is_written_before_its_comment(figures: Any, results: Path) -> None:
    comment = "<!-- figure a.csv; method = ls1, n = 100; length .1f -->"
    page = f"| it is 9.9{comment} long |"
    assert figures.refreshed(page, results) == f"| it is 3.6{comment} long |"
    comment = "<!-- figure a.csv; method = ls1; seconds time -->"
    once = figures.refreshed(f"in 1{comment}", results)
    assert once == f"in 500\u00a0ms{comment}"
    assert figures.refreshed(once, results) == once


def test_a_figure_of_several_rows_is_their_mean_or_another_summary(
    figures: Any, results: Path
) -> None:
    for how, expected in (
        ("mean", "0.53"),
        ("median", "0.50"),
        ("largest", "1.00"),
        ("sum", "1.60"),
    ):
        comment = f"<!-- figure a.csv;; {how} of seconds .2f -->"
        assert figures.refreshed(f"9{comment}", results) == f"{expected}{comment}"


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("9<!-- figure a.csv; n = 100; least of length .1f -->", "no 'least'; there are mean"),
        ("9<!-- figure a.csv; n = 100; length .1f -->", "expected one row, found 2"),
        ("9<!-- figure a.csv; n = 7; length .1f -->", "no row where n = 7"),
        ("9<!-- figure a.csv; size = 7; length .1f -->", "no column 'size'"),
        ("9<!-- figure a.csv; n = 20; width .1f -->", "no column 'width'"),
    ],
)
def test_a_marker_that_fits_nothing_is_an_error(
    figures: Any, results: Path, comment: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        figures.refreshed(comment, results)
