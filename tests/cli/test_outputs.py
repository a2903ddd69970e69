"""Options that say how tours are written: tiles, times, sheets."""

import csv
import json

import pytest

TOWNS = """name,lat,lon,population,depot
Dakar,14.69,-17.44,1000,1
Pikine,14.76,-17.39,500,0
Thiès,14.79,-16.93,300,0
Mbour,14.42,-16.96,200,0
"""
QUICK = ["--radius", "10", "--iterations", "50"]
TILES = "https://tiles.example.org/{z}/{x}/{y}.png"


@pytest.fixture(autouse=True)
def towns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "towns.csv").write_text(TOWNS)
    return tmp_path


def test_a_map_asks_a_tile_server_only_where_one_is_given(covertour, towns):
    assert covertour("solve", "towns.csv", *QUICK, "-o", "a.html", "-o", "a.json").code == 0
    assert "example.org" not in (towns / "a.html").read_text()
    assert covertour("solve", "towns.csv", *QUICK, "--tiles", TILES, "-o", "b.html").code == 0
    assert "https://tiles.example.org" in (towns / "b.html").read_text()
    drawn = ["plot", "towns.csv", "a.json", "-r", "10", "--tiles", TILES, "-o", "c.html"]
    assert covertour(*drawn).code == 0
    assert "https://tiles.example.org" in (towns / "c.html").read_text()


def test_a_speed_tells_when_each_stop_is_reached(covertour, towns):
    times = ["--speed", "40", "--service-minutes", "30", "--departure", "7:00"]
    ran = covertour("solve", "towns.csv", *QUICK, *times, "-o", "a.csv", "-o", "sheets.pdf")
    assert ran.code == 0, ran.err
    assert "arrives" in ran.out
    assert "time" in ran.out
    rows = list(csv.DictReader((towns / "a.csv").read_text().splitlines()))
    assert rows[0]["leaves"] == "07:00"
    assert rows[1]["arrives"] > "07:30"
    assert (towns / "sheets.pdf").read_bytes().startswith(b"%PDF")


def test_people_are_told_with_each_stop_and_in_all(covertour):
    ran = covertour("solve", "towns.csv", *QUICK)
    assert "2,000 of 2,000 people (100.0 %)" in ran.out
    assert "1,500" in ran.out  # Dakar and Pikine


def test_what_a_quota_leaves_out_is_told(covertour, towns):
    ran = covertour("solve", "towns.csv", *QUICK, "--quota", "75%", "-o", "a.json")
    assert "1,500 of 2,000 people (75.0 %)" in ran.out
    assert "left out" in ran.out
    assert json.loads((towns / "a.json").read_text())["uncovered"] == [2, 3]
    checked = covertour("check", "towns.csv", "a.json", "-r", "10", "--quota", "75%")
    assert "cover 1,500 of 2,000 people (75.0 %)" in checked.out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--tiles", "osm"], "tiles: expected an address such as https://tile.openstreetmap.org"),
        (["--day-hours", "8"], "--day-hours: needs --speed too"),
        (["--departure", "8:00"], "--departure: needs --speed too"),
        (["--speed", "0"], "--speed: expected a number above 0, got '0'"),
        (["--speed", "9", "--departure", "25:00"], "expected a time such as 07:30, got '25:00'"),
        (
            ["--speed", "9", "--day-hours", "8", "--max-length", "50"],
            "day hours and the length of a route: give only one of them",
        ),
    ],
)
def test_nonsense_is_refused(covertour, options, complaint):
    covertour("solve", "towns.csv", *QUICK, *options).assert_refused(complaint)
