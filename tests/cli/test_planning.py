"""What planners ask of the command line: warnings, units, places to keep, to drop and to prefer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

TOWNS = """name,lat,lon,population,region
Dakar,14.69,-17.44,1000,DK
Pikine,14.76,-17.39,600,DK
Thiès,14.79,-16.93,300,TH
Mbour,14.42,-16.96,200,TH
Joal,14.17,-16.85,40,TH
Fatick,14.34,-16.41,45,FK
"""


@pytest.fixture
def planner(tmp_path: Path) -> str:
    (tmp_path / "towns.csv").write_text(TOWNS, encoding="utf-8")
    return "towns.csv"


def solved(ran: Any) -> list[str]:
    assert ran.code == 0, ran
    return [stop["name"] for stop in json.loads(ran.out)["stops"]]


def test_odd_places_are_warned_of(covertour: Any, planner: str, tmp_path: Path) -> None:
    text = TOWNS.replace("14.34,-16.41", "-16.41,14.34") + "Null,0,0,5,\n"
    (tmp_path / "odd.csv").write_text(text, encoding="utf-8")
    for verb in (["info"], ["solve", "--iterations", "5"]):
        ran = covertour(*verb, "odd.csv", "-r", "20")
        assert ran.code == 0
        lines = [line for line in ran.err.splitlines() if line.startswith("warning: ")]
        assert lines[0].startswith("warning: Fatick (place 5) is 4,")
        assert lines[0].endswith("km from all others; are its latitude and longitude swapped?")
        assert lines[1] == "warning: Null (place 6) is at latitude 0, longitude 0"
    found = json.loads(covertour("info", "odd.csv", "-r", "20", "--json").out)["odd"]
    assert [(odd["place"], odd["kind"]) for odd in found] == [(5, "swapped"), (6, "zero")]
    assert covertour("solve", "odd.csv", "-r", "20", "-q", "--iterations", "5").err == ""
    assert "warning" not in covertour("info", planner, "-r", "20").err


def test_units(covertour: Any, planner: str) -> None:
    texts = ("12mi", "19.312128", "19.312128km", "19312.128m")
    tours = {tuple(solved(covertour("solve", planner, "-r", text, "--json"))) for text in texts}
    assert len(tours) == 1
    covertour("solve", planner, "-r", "12 parsec").assert_refused("--radius: ", "no unit 'parsec'")
    covertour("solve", planner, "-r", "-2km").assert_refused("--radius: expected a number >= 0")


def test_a_unit_needs_the_globe(covertour: Any, villages: str) -> None:
    covertour("solve", villages, "-r", "12mi").assert_refused("radius: 12mi has a unit, but")


def test_keep_adds_to_the_required_places(covertour: Any, tmp_path: Path) -> None:
    rows = TOWNS.replace("region", "required").replace(",DK", ",").replace(",TH", ",")
    (tmp_path / "must.csv").write_text(rows.replace(",FK", ",yes"), encoding="utf-8")
    stops = solved(covertour("solve", "must.csv", "-r", "500", "--keep", "Joal", "--json"))
    assert set(stops) == {"Fatick", "Joal"}
    stops = solved(
        covertour("solve", "must.csv", "-r", "500", "--required", "0", "--keep", "Joal", "--json")
    )
    assert set(stops) == {"Dakar", "Joal"}
    covertour("solve", "must.csv", "-r", "9", "--keep", "Nowhere").assert_refused(
        "--keep: no place"
    )


def test_hamlets_are_left_out(covertour: Any, planner: str, tmp_path: Path) -> None:
    ran = covertour("solve", planner, "-r", "20", "--drop-under", "50", "--json", "-o", "map.html")
    assert set(solved(ran)) == {"Dakar", "Thiès", "Mbour"} or set(solved(ran)) == {
        "Pikine",
        "Thiès",
        "Mbour",
    }
    assert "Fatick" in (tmp_path / "map.html").read_text(encoding="utf-8")
    told = covertour("solve", planner, "-r", "20", "--drop-under", "50", "--iterations", "5").err
    assert "towns: 2 places with fewer than 50 people may be left out" in told
    ran = covertour("solve", planner, "-r", "20", "--drop-under", "5000")
    assert ran.code == 2
    assert "covertour: --drop-under: all places weigh less than 5000" in ran.err


def test_hamlets_need_people(covertour: Any, towns: str) -> None:
    covertour("solve", towns, "-r", "20", "--drop-under", "50").assert_refused(
        "--drop-under: the places have no weights; give a column population"
    )


def test_an_old_plan_is_kept_where_that_costs_little(
    covertour: Any, planner: str, tmp_path: Path
) -> None:
    (tmp_path / "plan.csv").write_text("stop,place,name\n1,9,Pikine\n2,9,Gone\n3,9,Mbour\n")
    without = covertour("solve", planner, "-r", "20", "--json")
    near = covertour("solve", planner, "-r", "20", "--near", "plan.csv", "--json")
    assert "Pikine" in solved(near)
    result = json.loads(near.out)
    assert result["visit_cost"] == 0
    assert result["length"] == result["cost"] >= json.loads(without.out)["length"]
    ran = covertour("solve", planner, "-r", "20", "--near", "plan.csv", "--near-cost", "2")
    assert "plan.csv: 1 stop of it not found: Gone" in ran.err
    line = next(line for line in ran.out.splitlines() if line.startswith("Keeps"))
    assert line.startswith("Keeps 2 of 2 stops of plan.csv and has ")
    assert line.endswith("each new one counts as 2.0 km more, proven to be best so")
    free = covertour(
        "solve", planner, "-r", "20", "--near", "plan.csv", "--near-cost", "0", "--json"
    )
    assert solved(free) == solved(without)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--near-cost", "3"], "--near-cost: goes with --near PLAN"),
        (["--near", "none.csv"], "none.csv: no such file"),
        (["--near", "odd.csv"], "expected an itinerary with the columns stop and place"),
        (["--near", "other.csv"], "other.csv: no stop of it is a place of towns"),
        (["--near", "plan.csv", "--budget", "100"], "--near: the cost of new stops would count"),
    ],
)
def test_old_plans_that_are_refused(
    covertour: Any, planner: str, tmp_path: Path, options: list[str], why: str
) -> None:
    (tmp_path / "plan.csv").write_text("stop,place,name\n1,0,Dakar\n")
    (tmp_path / "other.csv").write_text("stop,place,name\n1,0,Paris\n")
    (tmp_path / "odd.csv").write_text("x,y\n1,0\n")
    rows = [line.rpartition(",")[0] for line in TOWNS.splitlines()]
    (tmp_path / "towns.csv").write_text("\n".join(rows), encoding="utf-8")
    covertour("solve", planner, "-r", "20", *options).assert_refused(why)


def test_places_are_listed_with_their_numbers(covertour: Any, tmp_path: Path) -> None:
    (tmp_path / "same.csv").write_text("name,lat,lon,required\nAldea,1,2,\nAldea,1.5,2,yes\n")
    ran = covertour("info", "same.csv", "-r", "5", "--places")
    table = [line.split() for line in ran.out.splitlines()[-3:]]
    assert table == [
        ["place", "name", "latitude", "longitude", "required"],
        ["0", "Aldea", "1", "2"],
        ["1", "Aldea", "1.5", "2", "yes"],
    ]
    listed = json.loads(covertour("info", "same.csv", "-r", "5", "--places", "--json").out)["list"]
    assert listed[1] == {
        "place": 1,
        "name": "Aldea",
        "latitude": 1.5,
        "longitude": 2.0,
        "required": True,
    }
    refused = covertour("solve", "same.csv", "-r", "5", "--keep", "Aldea")
    refused.assert_refused("--keep: 2 places are called 'Aldea'; give a number instead")
    assert covertour("solve", "same.csv", "-r", "500", "--keep", "0", "--json").code == 0


def test_tables_for_excel(covertour: Any, planner: str, tmp_path: Path) -> None:
    ran = covertour("solve", planner, "-r", "20", "-o", "a.csv", "-o", "a.xlsx", "--excel", "-q")
    assert ran.code == 0
    assert (tmp_path / "a.csv").read_bytes().startswith(b"\xef\xbb\xbfstop")
    for name in ("a.csv", "a.xlsx"):
        assert covertour("check", planner, name, "-r", "20").code == 0
    assert "region" in (tmp_path / "a.csv").read_text(encoding="utf-8-sig").splitlines()[0]


def test_bad_rows_are_skipped_and_doubles_merged(covertour: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("name,x,y\na,0,0\nb,?,1\nc,5,5\na,0,0\n")
    covertour("info", "bad.csv", "-r", "1").assert_refused("bad.csv, line 3: x '?' is not a number")
    ran = covertour("info", "bad.csv", "-r", "1", "--skip-bad-rows", "--merge-duplicates", "--json")
    assert json.loads(ran.out)["places"] == 2
    told = covertour("info", "bad.csv", "-r", "1", "--skip-bad-rows").err.splitlines()
    assert told[0].startswith("bad.csv: 1 row is the same as another; merge_duplicates")
    assert "skipped: bad.csv, line 3: x '?' is not a number" in told
