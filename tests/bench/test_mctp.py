from __future__ import annotations

from pathlib import Path

import pytest

from covertour import InputError
from covertour.bench import mctp, mctp_document, write_document

SHARED = Path(__file__).parents[3] / "shared" / "data" / "mctp"

SMALL = """small
2 2 2 2 13
 0 1 3.0
 0 2 4.0
 0 3 5.0
 1 2 5.0
 1 3 4.0
 2 3 3.0
 2   1 0
 3   0 1
NODE_COORD_SECTION
1 0 0
2 0 3
3 4 0
4 4 3
5 5 0
6 5 3
"""
"""Stops 1 to 3 must all be visited, at most two of them by a route of at most 13: the best routes
are 0-1-0 and 0-2-3-0 for 18; with two stops and any length there is none better."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small-13.ctp").write_text(SMALL)
    published(tmp_path, "18,18")
    return tmp_path


def published(folder: Path, bounds: str, without_length: str = "18,18") -> None:
    head = "instance,lower_bound,upper_bound"
    (folder / "bounds_pq.csv").write_text(f"{head}\nsmall-13,{bounds}\n")
    (folder / "bounds_p.csv").write_text(f"{head}\nsmall,{without_length}\n")


def test_the_published_lengths_are_reached(folder: Path, tmp_path: Path) -> None:
    report = mctp(folder, seconds=1)
    limited, free = report.rows
    assert (limited.case, limited.stops, limited.customers) == ("small-13", 4, 2)
    assert (limited.max_stops, limited.max_length) == (2, 13)
    assert (free.case, free.max_stops, free.max_length) == ("small", 2, None)
    for row in report.rows:
        assert (row.length, row.routes, row.gap_percent) == (18, 2, 0)
        assert row.reached
        assert not row.shorter
        assert not row.below
        assert row.seconds_to_published is not None
        assert row.processor_to_published is not None
    document = mctp_document(report)
    assert "As short as published or shorter: 2 of 2." in document.sentences
    assert not document.loud
    written = write_document(tmp_path / "results", "mctp", document, "covertour")
    assert [path.suffix for path in written] == [".csv", ".md"]


def test_a_length_below_a_lower_bound_is_shouted(folder: Path) -> None:
    published(folder, "19,20", "10,17")
    report = mctp(folder, seconds=0.2)
    document = mctp_document(report)
    assert document.loud == (
        "CONTRADICTION: small-13: the length 18 is below the published lower bound 19",
        "CONTRADICTION: small: the bound 18 is above the published 17",  # small ones are proven
    )
    text = " ".join(document.sentences)
    assert "Shorter than published (in brackets): small-13 18 (20)." in text
    assert "Longer: small (5.88 %)." in text


def test_a_case_without_a_plan_is_compared_with_its_lower_bound(folder: Path) -> None:
    published(folder, "18,")
    (row, _) = mctp(folder, seconds=1).rows
    assert (row.published, row.gap_percent, row.reached, row.shorter) == (None, 0, True, False)
    text = " ".join(mctp_document(mctp(folder, seconds=1, only=["small-13"])).sentences)
    assert "No plan was published, only a lower bound: small-13 18 (at least 18)." in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("instance,lower_bound\n", "bounds_pq.csv, line 1: no column upper_bound"),
        ("instance,lower_bound,upper_bound\nsmall-13,x,1\n", "line 2: lower_bound: expected a num"),
        (
            "instance,lower_bound,upper_bound\nsmall-13,9,8\n",
            "the upper bound 8 is below the lower",
        ),
        ("instance,lower_bound,upper_bound\n../small,9,8\n", "line 2: expected the name of a case"),
        ("instance,lower_bound,upper_bound\nlarge,9,9\n", "line 2: there is no file .*large.ctp"),
    ],
)
def test_bad_tables(folder: Path, text: str, expected: str) -> None:
    (folder / "bounds_pq.csv").write_text(text)
    with pytest.raises(InputError, match=expected):
        mctp(folder)


def test_bad_choices(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no case 'S9'"):
        mctp(folder, only=["S9"])
    with pytest.raises(InputError, match="expected the published table"):
        mctp(tmp_path / "nowhere")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the benchmark files are not here")
def test_published_cases_are_reached() -> None:
    names = ["A1-1-25-75-4-250", "B2-1-100-100-8-500", "A1-1-25-75-4"]
    assert all(row.reached for row in mctp(SHARED, seconds=20, only=names).rows)
