"""Whatever is wrong with the input: exit code 2, one line that says what, nothing written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

TSP = """NAME : three
TYPE : TSP
DIMENSION : 3
EDGE_WEIGHT_TYPE : {kind}
NODE_COORD_SECTION
1 0 0
2 3 0
"""

BAD_FILES = {
    "empty": ("a.csv", "", [], ["a.csv"]),
    "header-only": ("a.csv", "x,y\n", [], ["a.csv", "place"]),
    "wrong-header": ("a.csv", "foo,bar\n1,2\n", [], ["a.csv"]),
    "ragged-rows": ("a.csv", "x,y\n1,2\n3\n", [], ["a.csv", "3"]),
    "nan": ("a.csv", "x,y\n1,2\nnan,4\n", [], ["a.csv", "3"]),
    "infinite": ("a.csv", "x,y\n1,2\n3,inf\n", [], ["a.csv", "3"]),
    "not-a-number": ("a.csv", "x,y\n1,2\n3,four\n", [], ["a.csv", "3", "four"]),
    "latitude": ("a.csv", "lat,lon\n91,2\n", [], ["a.csv", "91"]),
    "negative-radius-column": ("a.csv", "x,y,radius\n1,2,-1\n", None, ["a.csv", "radius", "-1"]),
    "negative-nearest-column": ("a.csv", "x,y,nearest\n1,2,-1\n", None, ["a.csv", "nearest", "-1"]),
    "nearest-not-whole": ("a.csv", "x,y,nearest\n1,2,1.5\n", None, ["a.csv", "nearest"]),
    "no-rule": ("a.csv", "x,y\n1,2\n3,4\n", None, ["a.csv", "nearest", "radius"]),
    "not-json": ("a.json", "{", [], ["a.json"]),
    "zero-places": (
        "a.json",
        '{"metric": "euclidean", "coordinates": [], "coverage": {"nearest": 1}}',
        None,
        ["a.json", "place"],
    ),
    "sets-name-strangers": (
        "a.json",
        '{"metric": "euclidean", "coordinates": [[0, 0], [1, 1]], '
        '"coverage": {"sets": [[0], [5]]}}',
        None,
        ["a.json", "sets", "5"],
    ),
    "depot-forbidden": (
        "a.json",
        '{"metric": "euclidean", "coordinates": [[0, 0], [1, 1]], "coverage": {"nearest": 1}, '
        '"depot": 1, "forbidden": [1]}',
        None,
        ["a.json", "depot", "forbidden"],
    ),
    "unknown-metric-in-file": (
        "a.json",
        '{"metric": "taxi", "coordinates": [[0, 0]], "coverage": {"nearest": 1}}',
        None,
        ["a.json", "taxi", "euclidean"],
    ),
    "matrix-not-square": ("a.csv", "0,1\n1,0\n2,2\n", [], ["a.csv"]),
    "matrix-negative": ("a.csv", "0,-1\n1,0\n", [], ["a.csv", "-1"]),
    "matrix-nan": ("a.csv", "0,nan\n1,0\n", [], ["a.csv", "nan"]),
    "uncoverable": (
        "a.csv",
        "name,x,y,forbidden\nnear,0,0,no\nremote,9,9,yes\n",
        ["--radius", "1"],
        ["remote"],
    ),
    "tsplib-truncated": ("a.tsp", TSP.format(kind="EUC_2D"), [], ["a.tsp", "3"]),
    "tsplib-unsupported": ("a.tsp", TSP.format(kind="XRAY1"), [], ["a.tsp", "XRAY1", "EUC_2D"]),
    "binary": ("a.csv", "\x00\x01\x02", [], ["a.csv"]),
    "unknown-ending": ("a.xyz", "x,y\n1,2\n", [], ["a.xyz"]),
}


@pytest.mark.parametrize(
    ("name", "text", "rule", "words"), BAD_FILES.values(), ids=BAD_FILES.keys()
)
def test_a_bad_file(
    covertour: Any, tmp_path: Path, name: str, text: str, rule: list[str] | None, words: list[str]
) -> None:
    (tmp_path / name).write_text(text)
    options = [] if rule is None else rule or ["--nearest", "1"]
    covertour("solve", name, *options, "--output", "out.json").assert_refused(*words)
    assert [path.name for path in tmp_path.iterdir()] == [name]


BAD_OPTIONS = {
    "missing-file": ("solve nowhere.csv --nearest 1", ["nowhere.csv"]),
    "directory-as-file": ("solve . --nearest 1", ["."]),
    "negative-seconds": ("solve villages.csv --nearest 1 --seconds -1", ["--seconds", "'-1'"]),
    "seconds-nan": ("solve villages.csv --nearest 1 --seconds nan", ["--seconds", "nan"]),
    "negative-iterations": ("solve villages.csv --nearest 1 --iterations -5", ["--iterations"]),
    "target-nan": ("solve villages.csv --nearest 1 --target nan", ["--target", "nan"]),
    "seed-not-a-number": ("solve villages.csv --nearest 1 --seed x", ["--seed", "'x'"]),
    "no-workers": ("solve villages.csv --nearest 1 --workers 0", ["--workers", "'0'"]),
    "two-rules": ("solve villages.csv --nearest 1 --radius 2", ["nearest and radius"]),
    "negative-nearest": ("solve villages.csv --nearest -1", ["--nearest", "'-1'"]),
    "nearest-not-whole": ("solve villages.csv --nearest 1.5", ["--nearest", "'1.5'"]),
    "negative-radius": ("solve villages.csv --radius -0.5", ["--radius", "'-0.5'"]),
    "radius-nan": ("solve villages.csv --radius nan", ["--radius", "nan"]),
    "no-rule": ("solve villages.csv", ["villages.csv", "nearest", "radius"]),
    "unknown-metric": ("solve villages.csv --nearest 1 --metric haversin", ["did you mean 'haver"]),
    "unknown-method-like-none": ("solve villages.csv -k 1 --method qqq", ["there are lns"]),
    "unknown-method": ("solve villages.csv --nearest 1 --method lnss", ["did you mean 'lns"]),
    "unknown-depot": ("solve villages.csv --nearest 1 --depot Brea", ["--depot", "mean 'Bree"]),
    "depot-out-of-range": ("solve villages.csv --nearest 1 --depot 5", ["--depot", "0 to 4"]),
    "unknown-required": ("solve villages.csv --nearest 1 --required Alba,Zoe", ["'Zoe'"]),
    "depot-and-forbidden": (
        "solve villages.csv --nearest 1 --depot Bree --forbidden 1",
        ["Bree", "forbidden"],
    ),
    "missing-start": ("solve villages.csv --nearest 1 --start none.tour", ["none.tour"]),
    "unknown-output": ("solve villages.csv --nearest 1 --output a.xyz", ["a.xyz", ".html"]),
    "output-without-ending": ("solve villages.csv --nearest 1 --output map", ["map", ".html"]),
    "output-directory-missing": ("solve villages.csv -k 1 --output no/a.json", ["no", "exist"]),
    "output-over-input": ("solve villages.csv -k 1 --output ./villages.csv", ["overwritten"]),
    "output-twice": ("solve villages.csv -k 1 -o a.json -o a.json", ["a.json", "twice"]),
    "output-needs-latitudes": ("solve villages.csv -k 1 -o a.gpx", ["a.gpx", "haversine"]),
    "unknown-option": ("solve villages.csv --fast", ["--fast"]),
    "no-file": ("solve", ["INSTANCE", "solve --help"]),
    "unknown-verb": ("slove villages.csv", ["'slove'", "'solve'"]),
    "option-without-value": ("solve villages.csv --nearest", ["--nearest"]),
    "check-missing-tour": ("check villages.csv none.json --nearest 1", ["none.json"]),
    "check-no-tour": ("check villages.csv", ["TOUR"]),
    "plot-no-output": ("plot villages.csv", ["--output"]),
    "plot-unknown-ending": ("plot villages.csv -k 1 --output a.csv", ["a.csv", ".png"]),
    "plot-map-without-tour": ("plot villages.csv -k 1 --output a.html", ["a.html", "tour"]),
    "convert-unknown-ending": ("convert villages.csv a.xyz --nearest 1", ["a.xyz", ".json"]),
    "convert-onto-itself": ("convert villages.csv villages.csv -k 1", ["overwritten"]),
    "info-missing-file": ("info nowhere.csv", ["nowhere.csv"]),
    "generate-nothing": ("generate 0", ["N", "'0'"]),
    "generate-too-many": ("generate 100000000", ["100,000,000", "10,000,000"]),
    "depot-of-many-digits": (f"solve villages.csv -k 1 --depot {'1' * 5000}", ["--depot", "'111"]),
    "nearest-of-many-digits": (f"solve villages.csv -k {'1' * 5000}", ["--nearest", "'111"]),
    "nearest-too-large": ("solve villages.csv -k 9223372036854775808", ["nearest", "9.22337e+18"]),
    "generate-not-a-number": ("generate many", ["N", "'many'"]),
    "generate-two-rules": ("generate 5 --nearest 1 --radius 0.1", ["nearest and radius"]),
    "generate-nearest-not-whole": ("generate 5 --nearest 1.5-2", ["--nearest", "1.5"]),
    "generate-range-upside-down": ("generate 5 --radius 0.5-0.1", ["--radius", "0.5-0.1"]),
    "generate-layout": ("generate 5 --layout ring", ["ring", "uniform"]),
    "generate-unknown-ending": ("generate 5 --output a.gpx", ["a.gpx", ".json"]),
    "demo-directory-is-a-file": ("demo --directory villages.csv", ["villages.csv"]),
}


@pytest.mark.parametrize(("command", "words"), BAD_OPTIONS.values(), ids=BAD_OPTIONS.keys())
def test_a_bad_option(
    covertour: Any, villages: str, tmp_path: Path, command: str, words: list[str]
) -> None:
    before = (tmp_path / villages).read_bytes()
    covertour(*command.split()).assert_refused(*words)
    assert [path.name for path in tmp_path.iterdir()] == [villages]
    assert (tmp_path / villages).read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="needs a directory that nobody may write to")
@pytest.mark.parametrize(
    "command",
    [
        "solve villages.csv --nearest 1 --output {closed}/a.json",
        "generate 5 --output {closed}/a.json",
        "demo --directory {closed}/demo",
        "demo --directory {closed}",
    ],
    ids=["solve", "generate", "demo-inside", "demo"],
)
def test_a_directory_that_is_not_writable(
    covertour: Any, villages: str, tmp_path: Path, command: str
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    if os.access(closed, os.W_OK):  # root may write anywhere, but not to /proc
        closed = Path("/proc")
    covertour(*command.format(closed=closed).split()).assert_refused(str(closed))


def test_a_matrix_without_coordinates_has_no_map(covertour: Any, tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text("0,1\n1,0\n")
    ran = covertour("solve", "matrix.csv", "--nearest", "1", "--output", "map.html")
    ran.assert_refused("map.html", "coordinates")


def test_a_name_that_several_places_have_is_refused(covertour: Any, tmp_path: Path) -> None:
    (tmp_path / "twins.csv").write_text("name,x,y\nTwin,0,0\nTwin,1,1\nSolo,2,2\n")
    ran = covertour("solve", "twins.csv", "--nearest", "1", "--depot", "Twin")
    ran.assert_refused("--depot", "2 places", "'Twin'")
