from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from covertour import InputError
from covertour.bench import gctsp, gctsp_document, read_gctsp_rows, write_document

SHARED = Path(__file__).parents[3] / "shared" / "data" / "gctsp"

SMALL = """1
6
2
3
2
0   0  0
1   3  0
2   0  4
3   3  1
4   1  4
5   9  9
1  1  3
2  2  3  4
"""
"""Facility 2 covers two customers, so the best tour goes from the depot to it and back: 8."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "1S.txt").write_text(SMALL)
    (tmp_path / "1M.txt").write_text(SMALL)
    published(tmp_path, 8, 8)
    return tmp_path


def published(folder: Path, *lengths: object) -> None:
    rows = zip(("S1,1S", "M1,1M"), lengths, strict=True)
    lines = [f"{names}.txt,{length},yes" for names, length in rows]
    text = "\n".join(["name,file,best_published,proven_by_cplex", *lines])
    (folder / "small_medium.csv").write_text(text + "\n")


def test_the_published_length_is_reached_and_proven(folder: Path) -> None:
    report = gctsp(folder, method="exact", seconds=60)
    row = report.rows[0]
    assert (row.case, row.stops, row.customers, row.enough) == ("S1", 3, 3, 2)
    assert (row.length, row.bound, row.proven, row.cplex) == (8, 8, True, True)
    assert row.reached
    assert not row.better
    assert row.seconds_to_published is not None
    document = gctsp_document(report)
    assert [total[0] for total in document.tables[1].rows] == ["small", "medium"]
    assert "Proven optimal: 2 of 2." in document.sentences
    assert not document.loud


def test_published_lengths_are_rounded(folder: Path) -> None:
    published(folder, 8.004, 7.996)
    assert all(row.reached and not row.better for row in gctsp(folder).rows)


def test_better_and_worse_tours_are_listed_and_contradictions_shouted(folder: Path) -> None:
    published(folder, 9, 7)
    document = gctsp_document(gctsp(folder, method="exact", seconds=60))
    text = " ".join(document.sentences)
    assert "Shorter than published (in brackets): S1 8.00 (9.00)." in text
    assert "Longer than published: M1." in text
    assert document.loud == ("CONTRADICTION: M1: the bound 8 is above the published 7",)


def test_what_was_proven_before_stands(folder: Path, tmp_path: Path) -> None:
    first = gctsp(folder, method="exact", seconds=60, only=["S1"])
    write_document(tmp_path / "results", "gctsp", gctsp_document(first), "covertour")
    (before,) = read_gctsp_rows(tmp_path / "results" / "gctsp.csv")
    assert before == replace(first.rows[0], **seconds_of(before))
    marked = replace(before, seconds=123.0)
    report = gctsp(folder, method="exact", seconds=60, only=["M1"], before=[marked])
    assert [row.case for row in report.rows] == ["S1", "M1"]
    assert report.rows[0] == marked
    again = gctsp(folder, method="exact", seconds=60, before=[replace(marked, proven=False)])
    assert again.rows[0].proven
    assert again.rows[0].seconds != 123.0
    assert read_gctsp_rows(tmp_path / "nothing.csv") == ()


def seconds_of(row: object) -> dict[str, object]:
    """Times, which a file has with fewer digits."""
    return {name: getattr(row, name) for name in ("seconds", "seconds_to_published")}


def test_each_case_is_told_of_as_it_ends(folder: Path) -> None:
    told: list[list[str]] = []
    report = gctsp(folder, on_report=lambda so_far: told.append([r.case for r in so_far.rows]))
    assert told == [["S1"], ["S1", "M1"]]
    assert len(report.rows) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name,file\n", "small_medium.csv, line 1: no column best_published"),
        ("name,file,best_published\nS1,1S.txt,x\n", "line 2: best_published: expected a number"),
        ("name,file,best_published\nS1,../1S.txt,8\n", "line 2: expected the name of a case"),
        ("name,file,best_published\nS1,2S.txt,8\n", "2S.txt: no such file, but a table names 'S1'"),
    ],
)
def test_bad_tables(folder: Path, text: str, expected: str) -> None:
    (folder / "small_medium.csv").write_text(text)
    with pytest.raises(InputError, match=expected):
        gctsp(folder)


def test_bad_choices(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no case 'S9'"):
        gctsp(folder, only=["S9"])
    with pytest.raises(InputError, match="expected the published table"):
        gctsp(tmp_path / "nowhere")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="not a table of this benchmark"):
        read_gctsp_rows(tmp_path / "other.csv")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the benchmark files are not here")
def test_cases_that_brute_force_has_confirmed_are_proven() -> None:
    report = gctsp(SHARED, method="exact", seconds=60, only=["S1", "S2", "S3"])
    assert [round(row.length, 2) for row in report.rows] == [71.33, 105.98, 172.36]
    assert all(row.proven for row in report.rows)
