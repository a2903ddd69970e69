"""covertour bench: its tables, its files, and what it refuses."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

SQUARE = """NAME : square
TYPE : TSP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 0 10
3 10 10
4 10 0
EOF
"""


@pytest.fixture
def square(tmp_path: Path) -> tuple[str, str]:
    """A directory with square.tsp, whose shortest tour is 40, and its best-known file."""
    (tmp_path / "tsp").mkdir()
    (tmp_path / "tsp" / "square.tsp").write_text(SQUARE)
    (tmp_path / "best.csv").write_text("instance,nearest,best_known\nsquare,0,40\n")
    return "tsp", "best.csv"


def test_literature_prints_a_table_and_writes_files(
    covertour: Command, square: tuple[str, str], tmp_path: Path
) -> None:
    ran = covertour(
        "bench", "literature", *square, "--seeds", 2, "--seconds", 1, "--output", "results"
    )
    assert (ran.code, ran.err) == (0, "")
    assert "all seeds reached the best known on 1 of 1 cases" in ran.out
    with open(tmp_path / "results" / "literature.csv") as file:
        (row,) = csv.DictReader(file)
    assert (row["instance"], row["best"], row["reached"]) == ("square", "40", "2")
    assert "## Machine" in (tmp_path / "results" / "literature.md").read_text()


def test_literature_shouts_about_better_tours(
    covertour: Command, square: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "best.csv").write_text("instance,nearest,best_known\nsquare,0,41\n")
    ran = covertour("bench", "literature", *square, "--seeds", 1, "--seconds", 0.05)
    assert ran.code == 0
    assert "*** BETTER THAN THE BEST KNOWN: square, nearest 0" in ran.out


def test_literature_proves(covertour: Command, square: tuple[str, str], tmp_path: Path) -> None:
    ran = covertour("bench", "literature", *square, "--prove", "--seconds", 20, "-o", "results")
    assert (ran.code, ran.err) == (0, "")
    assert "Proven optimal: 1 of 1 cases" in ran.out
    with open(tmp_path / "results" / "literature-proofs.csv") as file:
        (row,) = csv.DictReader(file)
    assert (row["proven"], row["bound"]) == ("yes", "40")


def test_random_draws_a_picture(covertour: Command, tmp_path: Path) -> None:
    ran = covertour(
        *("bench", "random", 20, "--rule", "nearest 2-5", "--count", 2, "--methods", "lns,greedy"),
        *("--seconds", "0.002,0.01", "--output", "results", "--name", "small"),
    )
    assert (ran.code, ran.err) == (0, "")
    written = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert written == ["small.csv", "small.md", "small.png"]
    assert (tmp_path / "results" / "small.png").read_bytes().startswith(b"\x89PNG")
    assert "(small.png)" in (tmp_path / "results" / "small.md").read_text()
    assert len((tmp_path / "results" / "small.csv").read_text().splitlines()) == 5


def test_scale_measures_each_size(covertour: Command) -> None:
    ran = covertour("bench", "scale", "--sizes", "20", "--seconds", "0.02", "--separate")
    assert (ran.code, ran.err) == (0, "")
    assert "peak GB" in ran.out
    assert "each limit has a run of its own" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("random", 20), ("--seconds, --iterations",)),
        (("random", 20, "--seconds", ""), ("--seconds", "expected numbers")),
        (("random", 20, "--seconds", "0.1,fast"), ("--seconds", "'0.1,fast'")),
        (("random", 20, "--iterations", "1.5"), ("--iterations", "whole numbers")),
        (("random", 20, "--seconds", "1", "--rule", "some"), ("rule", "'some'", "nearest 7")),
        (("random", 20, "--seconds", "1", "--methods", "magic"), ("methods", "'magic'")),
        (("random", 20, "--seconds", "1", "--methods", ","), ("--methods", "names")),
        (("random", 20, "--seconds", "1", "--name", "a/b"), ("--name", "'a/b'")),
        (("random", 0, "--seconds", "1"), ("N", "whole number")),
        (("random", 20, "--seconds", "1", "--budget", "500"), ("--budget", "50%", "500")),
        (("random", 20, "--seconds", "1", "--quota", "most"), ("--quota", "95%", "most")),
        (("scale", "--sizes", "10,many"), ("--sizes", "whole numbers")),
        (("scale", "--sizes", "-5"), ("sizes", "> 0")),
        (("literature", "tsp", "none.csv"), ("none.csv", "No such file")),
        (("literature", "elsewhere", "best.csv"), ("square.tsp", "no such file", "best.csv")),
        (("literature", "tsp", "best.csv", "--only", "mars"), ("'mars'",)),
        (("literature", "tsp", "best.csv", "--prove", "-m", "lns"), ("--prove", "--methods")),
        (("literature", "tsp", "best.csv", "--output", "best.csv"), ("best.csv", "directory")),
    ],
)
def test_bad_input_is_refused(
    covertour: Command,
    square: tuple[str, str],
    arguments: tuple[object, ...],
    words: tuple[str, ...],
) -> None:
    covertour("bench", *arguments).assert_refused(*words)


def test_bench_without_a_benchmark_says_which_there_are(covertour: Command) -> None:
    ran = covertour("bench", "--help")
    for benchmark in ("literature", "random", "scale"):
        assert benchmark in ran.out
    covertour("bench").assert_refused("bench --help")


def test_gctsp_proves_and_resumes(covertour: Command, tmp_path: Path) -> None:
    numbers = "1 4 1 2 2  0 0 0  1 3 4  2 3 5  3 4 4  1 2 2 3"
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "1S.txt").write_text(numbers)
    table = "name,file,best_published\nS1,1S.txt,10.00\n"
    (tmp_path / "cases" / "small_medium.csv").write_text(table)
    ran = covertour("bench", "gctsp", "cases", "--prove", "--seconds", 20, "--output", "results")
    assert (ran.code, ran.err) == (0, "")
    assert "Proven optimal: 1 of 1." in ran.out
    written = tmp_path / "results" / "gctsp-proofs.csv"
    written.write_text(written.read_text().replace("S1,2,2,2,10,", "S1,2,2,2,11,"))
    ran = covertour("bench", "gctsp", "cases", "--prove", "--resume", "--output", "results")
    assert "S1 10.00 (11.00)" in ran.out  # the row of the file, not a new one


def test_gtsp_refuses_what_makes_no_sense(covertour: Command) -> None:
    ran = covertour("bench", "gtsp", ".")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "expected TSPLIB's files" in ran.err
    ran = covertour("bench", "gtsp", ".", "--seconds", "0")
    assert "seconds: expected numbers > 0" in ran.err
    ran = covertour("bench", "gtsp", ".", "--only", "nowhere")
    assert "no best length of 'nowhere' is known" in ran.err


def test_gctsp_refuses_options_that_make_no_sense(covertour: Command, tmp_path: Path) -> None:
    ran = covertour("bench", "gctsp", ".", "--prove", "--method", "lns")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "--prove and --method: give one of them" in ran.err
    ran = covertour("bench", "gctsp", ".", "--resume")
    assert "--resume: give --output too" in ran.err
    ran = covertour("bench", "gctsp", ".")
    assert "expected the published table small_medium.csv or large.csv" in ran.err


def test_mctp_writes_its_tables(covertour: Command, tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    folder.mkdir()
    edges = "0 1 3 0 2 4 0 3 5 1 2 5 1 3 4 2 3 3"
    points = "1 0 0 2 0 3 3 4 0 4 4 3 5 5 0 6 5 3"
    text = f"small\n2 2 2 2 13 {edges}\n2 1 0 3 0 1\nNODE_COORD_SECTION {points}\n"
    (folder / "small.ctp").write_text(text)
    (folder / "bounds_pq.csv").write_text("instance,lower_bound,upper_bound\nsmall,18,18\n")
    ran = covertour("bench", "mctp", "cases", "--output", "results")
    assert ran.code == 0
    assert "As short as published or shorter: 1 of 1." in ran.out
    assert "small,4,2,2,13,18,18,18,2,0," in (tmp_path / "results" / "mctp.csv").read_text()
    ran = covertour("bench", "mctp", "cases", "--prove", "--method", "lns")
    assert ran.code == 2
    assert "--prove and --method: give one of them, not both" in ran.err
