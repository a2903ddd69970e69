import csv
import json

import pytest

VILLAGES = """name,lat,lon,population
Dakar,14.7,-17.4,1000
Mbour,14.4,-17.0,300
Touba,14.9,-15.9,200
Louga,15.6,-16.2,100
Matam,15.7,-13.3,10
"""
QUICK = ["--radius", "20", "--seconds", "0.5", "--points", "5"]


@pytest.fixture(autouse=True)
def villages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "villages.csv").write_text(VILLAGES)
    return tmp_path


def test_a_frontier_is_a_table_a_picture_and_a_tour_for_each_point(covertour, villages):
    outputs = ["-o", "f.png", "-o", "f.csv", "-o", "tour-{}.json", "-o", "tour-{}.html"]
    ran = covertour("frontier", "villages.csv", *QUICK, *outputs)
    assert ran.code == 0, ran.err
    rows = list(csv.DictReader((villages / "f.csv").read_text().splitlines()))
    assert 3 <= len(rows) <= 5
    assert [float(row["people"]) for row in rows][-1] == 1610
    assert float(rows[0]["length"]) == 0
    assert (villages / "f.png").read_bytes().startswith(b"\x89PNG")
    for number, row in enumerate(rows, start=1):
        tour = json.loads((villages / f"tour-{number}.json").read_text())
        assert tour["covered_weight"] == float(row["people"])
        assert tour["length"] == pytest.approx(float(row["length"]))
        assert (villages / f"tour-{number}.html").exists()
    assert "100.0 %" in ran.out
    assert "wrote tour-1.html" in ran.out


def test_it_is_printed_as_one_object(covertour):
    ran = covertour("frontier", "villages.csv", *QUICK, "--json")
    value = json.loads(ran.out)
    assert value["total_weight"] == 1610
    assert value["points"][-1]["share"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["-o", "f.docx"], "f.docx: a frontier is written as .png .svg .csv .json"),
        (["-o", "f.html"], "or its tours as, for example, tour-{}.html"),
        (["-o", "tour-{}.docx"], "cannot write a tour to the ending '.docx'"),
        (["-o", "f.csv", "-o", "f.csv"], "f.csv: given twice as output"),
        (["-o", "-"], "--output: a frontier goes to files"),
        (["--quota", "90%"], "--quota: a frontier has tours for every quota; leave it out"),
        (["--points", "1"], "--points: expected a whole number >= 2, got '1'"),
        (["--seconds", "0"], "seconds: expected a number above 0, got 0"),
    ],
)
def test_nonsense_is_refused_before_the_search(covertour, options, complaint):
    covertour("frontier", "villages.csv", "--radius", "20", *options).assert_refused(complaint)
