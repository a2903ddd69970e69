"""covertour check, plot, convert, info and generate."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from covertour import random_instance, read, write


def facts(text: str) -> dict[str, str]:
    """The rows that ``info`` printed: what to value."""
    rows = (line.split("   ", maxsplit=1) for line in text.splitlines()[1:])
    return {what: value.strip() for what, value in rows}


def write_tour(path: Path, tour: list[int], length: float | None = None) -> None:
    result = {"tour": tour} if length is None else {"tour": tour, "length": length}
    path.write_text(json.dumps(result))


def test_check_accepts_a_right_tour(covertour: Any, villages: str, tmp_path: Path) -> None:
    write_tour(tmp_path / "t.json", [0, 2, 3, 4], 14)
    ran = covertour("check", villages, "t.json", "--radius", "1")
    assert ran.code == 0
    assert ran.out == "t.json: right, 4 stops cover all 5 places, length 14.0000\n"


def test_check_names_every_problem_on_a_line(covertour: Any, villages: str, tmp_path: Path) -> None:
    write_tour(tmp_path / "t.json", [0, 2, 2], 3)
    options = ("--radius", "1", "--forbidden", "Cori", "--required", "Esk")
    ran = covertour("check", villages, "t.json", *options)
    assert (ran.code, ran.err) == (1, "")
    lines = ran.out.splitlines()
    assert all(line.startswith("t.json: ") for line in lines)
    for words in ("not covered", "more than once", "forbidden", "Esk", "claims length 3"):
        assert any(words in line for line in lines), words


@pytest.mark.parametrize(
    ("tour", "ok"), [([0, 2, 3, 4], True), ([0], False)], ids=["right", "wrong"]
)
def test_check_as_json(
    covertour: Any, villages: str, tmp_path: Path, tour: list[int], ok: bool
) -> None:
    write_tour(tmp_path / "t.json", tour)
    ran = covertour("check", villages, "t.json", "--radius", "1", "--json")
    report = json.loads(ran.out)
    assert (ran.code == 0, report["ok"]) == (ok, ok)
    assert report["stops"] == len(tour)
    assert (report["problems"] == []) == ok
    assert (report["uncovered"] == []) == ok


@pytest.mark.parametrize(
    ("ending", "with_tour"),
    [("png", False), ("svg", False), ("png", True), ("svg", True), ("html", True)],
    ids=["places-png", "places-svg", "tour-png", "tour-svg", "tour-html"],
)
def test_plot(covertour: Any, villages: str, tmp_path: Path, ending: str, with_tour: bool) -> None:
    write_tour(tmp_path / "t.json", [0, 2, 3, 4])
    tour = ["t.json"] if with_tour else []
    ran = covertour("plot", villages, *tour, "--radius", "1", "--output", f"p.{ending}")
    assert (ran.code, ran.out) == (0, f"wrote p.{ending}\n"), ran
    start = (tmp_path / f"p.{ending}").read_bytes()[:200].lower()
    assert {"png": b"\x89png", "svg": b"<?xml", "html": b"<!doctype html"}[ending] in start


def test_convert_an_instance(covertour: Any, villages: str, tmp_path: Path) -> None:
    ran = covertour("convert", villages, "v.json", "--radius", "1", "--depot", "Cori")
    assert (ran.code, ran.out) == (0, "wrote v.json\n")
    converted = read(tmp_path / "v.json")
    assert (converted.n, converted.depot, converted.rule.r) == (5, 2, 1.0)
    assert converted.labels == ("Alba", "Bree", "Cori", "Dorn", "Esk")


def test_convert_a_tour(covertour: Any, towns: str, tmp_path: Path) -> None:
    write_tour(tmp_path / "t.json", [0, 2, 3])
    ran = covertour("convert", towns, "t.gpx", "--tour", "t.json", "--radius", "20")
    assert (ran.code, ran.out) == (0, "wrote t.gpx\n"), ran
    assert covertour("check", towns, "t.gpx", "--radius", "20").code == 0


def test_info_tells_what_is_in_a_file(covertour: Any, villages: str) -> None:
    ran = covertour(
        "info",
        villages,
        "--radius",
        "3",
        "--depot",
        "Bree",
        "--required",
        "0",
        "--forbidden",
        "Esk",
    )
    assert (ran.code, ran.err) == (0, "")
    found = facts(ran.out)
    assert found["places"] == "5"
    assert found["metric"] == "euclidean"
    assert (found["x"], found["y"]) == ("0 to 4", "0 to 3")
    assert found["coverage"] == "a place covers a radius of 3"
    assert found["others covered"] == "1 to 2, mean 1.8"
    assert found["coverable"] == "yes"
    assert (found["depot"], found["required"], found["forbidden"]) == (
        "Bree",
        "1: place Alba",
        "1: place Esk",
    )


def test_info_without_a_rule_says_how_to_give_one(covertour: Any, villages: str) -> None:
    found = facts(covertour("info", villages).out)
    assert found["places"] == "5"
    assert "--nearest" in found["coverage"]


def test_info_on_places_nobody_can_cover(covertour: Any, villages: str) -> None:
    ran = covertour("info", villages, "--radius", "1", "--forbidden", "Dorn")
    assert ran.code == 2
    assert facts(ran.out)["coverable"] == "no: nobody can cover place Dorn"


def test_info_counts_duplicates(covertour: Any, tmp_path: Path) -> None:
    (tmp_path / "same.csv").write_text("x,y\n1,1\n1,1\n1,1\n2,2\n")
    found = facts(covertour("info", "same.csv", "--nearest", "1").out)
    assert found["duplicates"] == "2 places share a spot with another"


def test_info_on_a_matrix(covertour: Any, tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text("0,1,2\n3,0,4\n5,6,0\n")
    found = facts(covertour("info", "matrix.csv", "--radius", "1").out)
    assert (found["metric"], found["symmetric"], found["distances"]) == ("matrix", "no", "1 to 6")


def test_info_on_latitudes(covertour: Any, towns: str) -> None:
    found = facts(covertour("info", towns, "--radius", "20").out)
    assert found["metric"].startswith("haversine")
    assert (found["longitude"], found["latitude"]) == ("-17.44 to -16.93", "14.42 to 14.79")
    assert found["coverage"] == "a place covers a radius of 20 km"


def test_generate_prints_json(covertour: Any, tmp_path: Path) -> None:
    ran = covertour("generate", 20, "--seed", "4")
    assert (ran.code, ran.err) == (0, "")
    (tmp_path / "again.json").write_text(ran.out)
    again = read(tmp_path / "again.json")
    same = random_instance(20, nearest=7, seed=4)
    assert (again.coordinates == same.coordinates).all()
    assert again.rule.k == 7


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--nearest", "3"], {"nearest": 3}),
        (["--nearest", "2-15"], {"nearest": (2, 15)}),
        (["--radius", "0.2"], {"radius": 0.2}),
        (["--radius", "0-0.25"], {"radius": (0, 0.25)}),
        (["--radius", "1e-3-0.25"], {"radius": (0.001, 0.25)}),
        (["--layout", "clustered"], {"nearest": 7, "layout": "clustered"}),
    ],
    ids=["nearest", "nearest-range", "radius", "radius-range", "small-radius", "clustered"],
)
def test_generate_writes_what_the_api_makes(
    covertour: Any, tmp_path: Path, options: list[str], rule: dict[str, Any]
) -> None:
    ran = covertour("generate", "30", *options, "--output", "g.json")
    assert (ran.code, ran.out) == (0, "wrote g.json\n")
    write(tmp_path / "expected.json", random_instance(30, **rule))
    made, expected = (json.loads((tmp_path / f).read_text()) for f in ("g.json", "expected.json"))
    for field in ("coordinates", "coverage"):
        assert made[field] == expected[field]


def test_a_tour_is_matched_by_name(covertour: Any, villages: str, tmp_path: Path) -> None:
    assert covertour("solve", villages, "-r", "1", "--iterations", "50", "-o", "t.csv").code == 0
    rows = (tmp_path / villages).read_text().splitlines(keepends=True)
    (tmp_path / "moved.csv").write_text("".join([rows[0], *rows[:0:-1]]))
    assert covertour("plot", "moved.csv", "t.csv", "-r", "1", "-o", "a.svg").code == 0
    (tmp_path / "fewer.csv").write_text("".join(row for row in rows if "Dorn" not in row))
    covertour("plot", "fewer.csv", "t.csv", "-r", "1", "-o", "a.svg").assert_refused(
        "t.csv", "'Dorn'", "no place of fewer"
    )


@pytest.mark.parametrize("verb", ["plot a t.json -o a.svg", "convert a b.csv --tour t.json"])
def test_a_tour_of_another_length_is_refused(
    covertour: Any, villages: str, tmp_path: Path, verb: str
) -> None:
    write_tour(tmp_path / "t.json", [0, 2, 3, 4], 15)
    arguments = verb.replace(" a ", f" {villages} ").split()
    covertour(*arguments, "--radius", "1").assert_refused("t.json", "claims length 15", "is 14")
    covertour("solve", villages, "-r", "1", "--start", "t.json").assert_refused("claims length 15")


@pytest.mark.parametrize("tour", ["[]", "[0, 99]", "[0, -1]", '{"tour": [0, 99]}'])
def test_a_tour_of_places_that_do_not_exist(
    covertour: Any, villages: str, tmp_path: Path, tour: str
) -> None:
    (tmp_path / "t.json").write_text(tour)
    for verb in ("check", "plot", "convert"):
        more = {"plot": ["-o", "a.html"], "convert": []}.get(verb, [])
        named = ["a.html", "--tour", "t.json"] if verb == "convert" else ["t.json"]
        ran = covertour(verb, villages, *named, *more, "--radius", "1")
        ran.assert_refused("t.json: tour: expected")


def test_standard_input_and_output(
    covertour: Any, villages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    text = (tmp_path / villages).read_text()
    give(text)
    found = covertour("info", "-")
    assert (found.code, facts(found.out)["places"]) == (0, "5")
    give(text)
    tour = covertour("solve", "-", "-r", "1", "--iterations", "50", "-o", "-", "--format", "csv")
    assert tour.out.startswith("stop,place,name,leg")
    give(tour.out)
    assert covertour("check", villages, "-", "-r", "1").code == 0
    give(tour.out)
    drawn = covertour("plot", villages, "-", "-r", "1", "-o", "-", "--format", "svg")
    assert drawn.out.startswith("<?xml")
    give(text)
    assert read(io.StringIO(covertour("convert", "-", "-", "-r", "1").out)).n == 5
    assert covertour("generate", 4, "-o", "-", "--format", "csv").out.startswith("x,y")
    give(text)
    covertour("check", "-", "-", "-r", "1").assert_refused("standard input can be read only once")
    give("x,y\n1,a\n")
    covertour("info", "-", "-r", "1").assert_refused("standard input, line 2: y 'a'")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("solve villages.csv -r 1 -o a.csv --format json", ["--format", "ending decides"]),
        ("solve villages.csv -r 1 -o - --format xls", ["format", "'xls'", "geojson"]),
        ("solve villages.csv -r 1 -o - --format gpx", ["latitudes"]),
        ("plot villages.csv -r 1 -o - --format csv", ["png"]),
        ("convert villages.csv - -r 1 --format gpx", ["an instance is not written as 'gpx'"]),
        ("generate 5 -o a.csv --format csv", ["--format"]),
    ],
)
def test_standard_output_has_one_use_and_a_known_format(
    covertour: Any, villages: str, command: str, words: list[str]
) -> None:
    covertour(*command.split()).assert_refused(*words)


def test_columns_that_are_not_used_are_told_of(covertour: Any, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,requierd,size\n0,0,1,5\n1,1,0,6\n")
    ran = covertour("info", "a.csv", "-r", "1")
    assert ran.code == 0
    assert ran.err.splitlines() == [
        "a.csv: the column 'requierd' is not used; did you mean 'required'?",
        "a.csv: columns that are not used: 'size'",
    ]
    assert covertour("info", "a.csv", "-r", "1", "--json").err == ""
    assert covertour("solve", "a.csv", "-r", "1", "--iterations", "1", "--quiet").err == ""


def test_info_reports_what_solve_would(covertour: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("x,y,nearest\n0,0,1\n1,1,two\n")
    (tmp_path / "alone.csv").write_text("x,y\n0,0\n9,9\n")
    for command in (["bad.csv"], ["alone.csv", "-r", "1", "--forbidden", "1"]):
        solved, told = covertour("solve", *command), covertour("info", *command)
        assert (told.code, told.err) == (solved.code, solved.err) == (2, solved.err)
    assert "nobody can cover place 1" in told.out


def test_info_as_json(covertour: Any, towns: str) -> None:
    found = json.loads(covertour("info", towns, "--radius", "20", "--json").out)
    assert (found["places"], found["metric"], found["unit"]) == (4, "haversine", "km")
    assert found["coverage"] == {"rule": "radius", "least": 20.0, "most": 20.0}
    assert found["others_covered"] == {"least": 0, "most": 1, "mean": 0.5}
    assert found["extent"]["latitude"] == [14.42, 14.79]
    assert found["uncoverable"] == []
    assert json.loads(covertour("info", towns, "--json").out)["coverage"] is None


def test_methods_as_json(covertour: Any) -> None:
    found = {method["name"]: method for method in json.loads(covertour("methods", "--json").out)}
    assert found["exact"]["proves"]
    assert not found["lns"]["proves"]
    assert found["am-gain"]["learned"]


def test_errors_are_json_where_json_is_asked_for(covertour: Any, villages: str) -> None:
    refused = covertour("solve", villages, "-r", "1", "--json", "--output", "-")
    assert json.loads(refused.err)["error"].startswith("--json and --output -: both")
    for arguments in (["solve", villages], ["info", "none.csv"], ["solve", villages, "--fast"]):
        ran = covertour(*arguments, "--json")
        assert (ran.code, ran.out) == (2, "")
        plain = covertour(*arguments)
        assert json.loads(ran.err) == {
            "error": plain.err.removeprefix("covertour: ").strip(),
            "code": 2,
        }
