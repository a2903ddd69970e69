from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from covertour import InputError
from covertour.bench import literature, literature_document, proof_document, prove_literature
from covertour.bench.cases import read_cases

GRID = """NAME : grid9
TYPE : TSP
DIMENSION : 9
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 10 0
3 20 0
4 0 10
5 10 10
6 20 10
7 0 20
8 10 20
9 20 20
EOF
"""
SHORTEST = 94
"""Of the tours of all nine places: as nine is odd, eight legs of 10 and a diagonal of 14."""

SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    (tmp_path / "grid9.tsp").write_text(GRID)
    return tmp_path


def best_known(folder: Path, length: object = SHORTEST) -> Path:
    file = folder / "best.csv"
    file.write_text(f"instance,nearest,best_known\ngrid9,0,{length}\n")
    return file


def test_the_best_known_is_reached_by_every_seed(grid: Path) -> None:
    report = literature(grid, best_known(grid), seeds=[0, 1, 2], seconds=5)
    (row,), (total,) = report.rows, report.totals
    assert (row.instance, row.nearest, row.method) == ("grid9", 0, "lns")
    assert (row.best, row.reached, row.seeds) == (SHORTEST, 3, 3)
    assert (row.best_gap_percent, row.mean_gap_percent, row.worst_gap_percent) == (0, 0, 0)
    assert row.median_seconds is not None
    assert (total.cases, total.all_reached, total.without_median) == (1, 1, 0)
    assert total.mean_median_seconds == row.median_seconds
    assert not literature_document(report).loud


def test_what_is_not_reached_has_no_median_and_counts_with_the_limit(grid: Path) -> None:
    report = literature(grid, best_known(grid, SHORTEST / 2), seeds=[0, 1], seconds=0.01)
    (row,), (total,) = report.rows, report.totals
    assert (row.reached, row.median_seconds) == (0, None)
    assert row.worst_gap_percent >= 100
    assert (total.all_reached, total.without_median) == (0, 1)
    assert total.mean_median_seconds == 0.01
    assert ">= 10.0 ms" in literature_document(report).markdown("covertour")


def test_a_better_tour_is_told_loudly(grid: Path) -> None:
    report = literature(grid, best_known(grid, 120), seeds=[0], seconds=0.3, full_time=True)
    document = literature_document(report)
    assert report.rows[0].best_gap_percent < 0
    assert "BETTER THAN THE BEST KNOWN: grid9, nearest 0: lns found 94" in document.loud[0]
    assert "**BETTER THAN" in document.markdown("covertour")


def test_methods_are_compared_case_by_case(grid: Path) -> None:
    report = literature(grid, best_known(grid), methods=["lns", "greedy"], seeds=[0], seconds=1)
    assert [row.method for row in report.rows] == ["lns", "greedy"]
    assert [total.method for total in report.totals] == ["lns", "greedy"]


def test_published_results_stand_beside(grid: Path) -> None:
    (grid / "theirs.csv").write_text("instance,nearest,MA_best,MA_avg,MA_sec\ngrid9,0,94,95.5,3\n")
    report = literature(
        grid, best_known(grid), seeds=[0, 1], seconds=5, published=grid / "theirs.csv"
    )
    (row,) = report.rows
    assert (row.mean, row.mean_seconds > 0) == (SHORTEST, True)
    tables = {table.title: table for table in literature_document(report).tables}
    means = tables["Beside published results"].rows
    assert means[0][:3] == ("lns", SHORTEST, SHORTEST)
    assert means[1] == ("MA (published)", 94, 95.5, 3)
    assert tables["Mean lengths by case"].rows == (("grid9", 0, SHORTEST, SHORTEST, 95.5),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("instance,nearest,MA_best,MA_avg\n", "line 1: expected the columns"),
        ("instance,nearest,MA_best,MA_avg,MA_sec\ngrid9,0,94,?,3\n", "line 2: .* numbers for MA"),
        ("instance,nearest,MA_best,MA_avg,MA_sec\ngrid9,7,94,95,3\n", "no results of MA for grid9"),
        (None, "No such file"),
    ],
)
def test_bad_published_results_are_refused(grid: Path, text: str | None, message: str) -> None:
    file = grid / "theirs.csv"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=rf"theirs\.csv.*{message}"):
        literature(grid, best_known(grid), seeds=[0], published=file)


def test_steps_are_told_from_none_to_all(grid: Path) -> None:
    told: list[tuple[float, float]] = []
    literature(
        grid,
        best_known(grid),
        seeds=[0, 1],
        seconds=1,
        on_step=lambda done, whole, what: told.append((done, whole)),
    )
    assert told == [(0, 2), (0, 2), (1, 2), (2, 2)]


def test_a_proof_says_that_the_best_known_is_shortest(grid: Path) -> None:
    report = prove_literature(grid, best_known(grid), seconds=20)
    (row,) = report.rows
    assert (row.length, row.bound, row.proven, row.gap_percent) == (SHORTEST, SHORTEST, True, 0)
    document = proof_document(report)
    assert "1 of 1" in document.sentences[0]
    assert not document.loud


def test_a_proof_that_contradicts_the_file_is_told_loudly(grid: Path) -> None:
    report = prove_literature(grid, best_known(grid, 90), seconds=20)
    assert "CONTRADICTION: grid9, nearest 0" in proof_document(report).loud[0]
    better = replace(report, rows=(replace(report.rows[0], best_known=100.0),))
    assert "BETTER THAN THE BEST KNOWN" in proof_document(better).loud[0]


def test_an_unknown_method_of_proof_is_refused(grid: Path) -> None:
    with pytest.raises(InputError, match="prove: there is no method 'magic'"):
        prove_literature(grid, best_known(grid), method="magic")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no column instance, nearest, best_known"),
        ("instance,nearest\ngrid9,7\n", "line 1: no column best_known"),
        ("instance,nearest,best_known\n", "at least one case"),
        ("instance,nearest,best_known\ngrid9,7,5\nmars9,7,5\n", r"mars9\.tsp: no such file"),
        ("instance,nearest,best_known\n../grid9,7,5\n", "line 2: expected the name"),
        ("instance,nearest,best_known\ngrid9,seven,5\n", "line 2: nearest: .* got 'seven'"),
        ("instance,nearest,best_known\ngrid9,7,-5\n", "line 2: best_known: .* got '-5'"),
        ("instance,nearest,best_known\ngrid9,7\n", "line 2: best_known: .* got ''"),
    ],
)
def test_a_bad_file_of_cases_is_refused(grid: Path, text: str, message: str) -> None:
    (grid / "best.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_cases(grid, grid / "best.csv")


def test_a_missing_file_of_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: No such file"):
        read_cases(tmp_path, tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": []}, "methods: expected at least one"),
        ({"methods": ["magic"]}, "methods: no 'magic'; there are lns"),
        ({"seeds": []}, "seeds: expected at least one"),
        ({"seconds": 0}, "seconds: expected numbers > 0"),
        ({"only": ["mars9"]}, "has no case 'mars9'"),
    ],
)
def test_bad_arguments_are_refused(grid: Path, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        literature(grid, best_known(grid), **arguments)  # type: ignore[arg-type]


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"needs the TSPLIB files in {SHARED}")
def test_a_real_case_of_the_literature_is_reached() -> None:
    cases = read_cases(SHARED / "tsplib", SHARED / "literature_best.csv")
    assert len(cases) == 48
    report = literature(
        SHARED / "tsplib",
        SHARED / "literature_best.csv",
        only=["eil51"],
        seeds=[0],
        seconds=5,
    )
    assert [(row.nearest, row.reached) for row in report.rows] == [(7, 1), (9, 1), (11, 1)]
