"""--roads, --roads-by and --cover, on the verbs that read places."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from maps import ORDINO

pytest.importorskip("osmium", reason="needs the extra roads: pip install 'covertour[roads]'")

PLACES = """name,latitude,longitude
Ordino,42.55615,1.5334945
Sornás,42.5649323,1.5274027
el Serrat,42.6188902,1.5413399
Ansalonga,42.5690218,1.5221532
Llorts,42.5962642,1.5261846
la Cortinada,42.5755678,1.5193446
Arans,42.5825312,1.5180695
Segudet,42.5570637,1.5380568
"""

ANDORRA = Path(__file__).parents[3] / "shared" / "data" / "roads" / "andorra.osm.pbf"
KINDS = ("town", "village", "hamlet")


@pytest.fixture
def ordino(tmp_path: Path) -> str:
    """Places and roads of a valley, © OpenStreetMap contributors, where ``covertour`` runs."""
    (tmp_path / "places.csv").write_text(PLACES, encoding="utf-8")
    shutil.copyfile(ORDINO, tmp_path / "ordino.osm.pbf")
    return "places.csv"


ROADS = ("--roads", "ordino.osm.pbf", "--radius", 3, "--cover", "foot")


def test_a_tour_by_road_is_proven_and_drawn_along_the_roads(covertour, ordino, tmp_path):
    names = [f"tour{ending}" for ending in (".html", ".gpx", ".geojson", ".csv", ".json", ".png")]
    outputs = [word for name in names for word in ("--output", name)]
    ran = covertour("solve", ordino, *ROADS, "--prove", *outputs)
    assert ran.code == 0
    assert "proven optimal" in ran.out
    assert "the nearest road is" in ran.err
    assert [name for name in names if not (tmp_path / name).exists()] == []
    route = json.loads((tmp_path / "tour.geojson").read_text(encoding="utf-8"))
    assert route["attribution"] == "© OpenStreetMap contributors (ODbL)"
    assert len(route["features"][0]["geometry"]["coordinates"]) > 100
    gpx = (tmp_path / "tour.gpx").read_text(encoding="utf-8")
    assert gpx.count("<trkpt") > 100
    assert "OpenStreetMap contributors" in gpx
    page = (tmp_path / "tour.html").read_text(encoding="utf-8")
    assert "A place covers all within 3 km on foot by road." in page
    assert "Kilometres are by car, the shortest way, along real roads." in page
    assert "OpenStreetMap contributors (ODbL)" in page


@pytest.mark.parametrize("ending", [".csv", ".json", ".geojson", ".gpx"])
def test_a_tour_by_road_is_checked_again(covertour, ordino, ending):
    by_time = (*ROADS, "--roads-by", "time")
    covertour("solve", ordino, *by_time, "--iterations", 50, "--output", f"tour{ending}")
    ran = covertour("check", ordino, f"tour{ending}", *by_time)
    assert ran.code == 0
    assert re.search(r"length [0-9.]+ min", ran.out)
    wrong = covertour("check", ordino, f"tour{ending}", *ROADS)
    assert (wrong.code, "claims length" in wrong.out) == (1, True)


def test_info_tells_of_the_roads(covertour, ordino):
    ran = covertour("info", ordino, *ROADS)
    assert ran.code == 0
    found = dict(re.split(r"\s{2,}", line) for line in ran.out.splitlines()[1:])
    assert found["metric"] == "matrix, in kilometres"
    assert found["roads"] == "by car, the shortest way"
    assert found["coverage"] == "a place covers all within 3 km on foot by road"
    assert "latitude" in found


def test_the_matrix_is_written_and_solved_without_the_roads(covertour, ordino):
    assert covertour("convert", ordino, "matrix.json", *ROADS).code == 0
    covertour("solve", ordino, *ROADS, "--iterations", 50, "--output", "tour.csv")
    ran = covertour("check", "matrix.json", "tour.csv")
    assert ran.code == 0
    assert ran.out.rstrip().endswith("km")
    assert covertour("convert", ordino, "matrix.csv", *ROADS).code == 0
    assert covertour("info", "matrix.csv", "--radius", 3).code == 0


def test_a_map_is_drawn_of_a_tour_and_the_roads(covertour, ordino, tmp_path):
    covertour("solve", ordino, *ROADS, "--iterations", 50, "--output", "tour.csv")
    assert covertour("plot", ordino, "tour.csv", *ROADS, "--output", "map.html").code == 0
    data = re.search(r'"ways":\{"step":1e-05,"lines":\[\[', (tmp_path / "map.html").read_text())
    assert data is not None


def test_times_come_from_the_roads(covertour, ordino):
    by_time = (*ROADS, "--roads-by", "time")
    ran = covertour("solve", ordino, *by_time, "--speed", 30)
    ran.assert_refused("--speed", "known from the roads")
    plan = ("--service-minutes", 20, "--departure", "9:00", "--output", "tour.csv")
    assert covertour("solve", ordino, *by_time, "--iterations", 50, *plan).code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--roads-by", "time"), ("--roads-by", "goes with --roads")),
        (("--cover", "foot"), ("--cover", "goes with --roads")),
        (("--roads", "ordino.osm.pbf", "--cover", "bike"), ("'bike'", "car, foot, air")),
        (("--roads", "ordino.osm.pbf", "--roads-by", "tim"), ("did you mean 'time'?",)),
        (("--roads", "nosuch.osm.pbf"), ("nosuch.osm.pbf: no such file",)),
        (("--roads", "places.csv"), ("places.csv", "expected an OpenStreetMap extract")),
        (("--roads", "cut.osm.pbf"), ("cut.osm.pbf", "cannot be read")),
        (("--roads", "empty.osm"), ("empty.osm", "has no roads")),
        (("--roads", "http://host:port"), ("expected the address of a routing server",)),
    ],
)
def test_what_makes_no_sense_is_one_line(covertour, ordino, tmp_path, options, words):
    (tmp_path / "cut.osm.pbf").write_bytes(ORDINO.read_bytes()[:9_000])
    (tmp_path / "empty.osm").write_text('<?xml version="1.0"?><osm version="0.6"></osm>')
    ran = covertour("solve", ordino, "--radius", 3, *options, "--output", "map.html")
    ran.assert_refused(*words)
    assert not (tmp_path / "map.html").exists()


def test_roads_and_a_matrix_exclude_each_other(covertour, ordino, tmp_path):
    (tmp_path / "matrix.csv").write_text("0,1\n1,0\n")
    ran = covertour("solve", "matrix.csv", *ROADS)
    ran.assert_refused("not a distance matrix")


def test_a_dead_server_leaves_nothing_behind(covertour, ordino, tmp_path, monkeypatch):
    monkeypatch.setattr("covertour.roads.server.PAUSES", ())
    address = "http://127.0.0.1:1"
    ran = covertour("solve", ordino, "--radius", 3, "--roads", address, "--output", "map.html")
    ran.assert_refused(address, "cannot be reached")
    assert not (tmp_path / "map.html").exists()


@pytest.mark.skipif(not ANDORRA.exists(), reason="Andorra is not beside the project (../shared)")
def test_the_villages_of_andorra(covertour, tmp_path):
    """59 places, 5 km on foot by road, the tour by car: proven, on a map along the roads."""
    import osmium

    roads = shutil.copyfile(ANDORRA, tmp_path / "andorra.osm.pbf")
    nodes = osmium.FileProcessor(str(roads), osmium.osm.NODE)
    places = [
        f'"{node.tags["name"]}",{node.lat},{node.lon}'
        for node in nodes.with_filter(osmium.filter.KeyFilter("place"))
        if node.tags["place"] in KINDS
    ]
    assert len(places) == 59
    (tmp_path / "places.csv").write_text("\n".join(["name,latitude,longitude", *places]))
    asked = ("places.csv", "--roads", "andorra.osm.pbf", "--radius", 5, "--cover", "foot")
    ran = covertour("solve", *asked, "--prove", "--json", "--output", "map.html")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert found["gap"] <= 1e-6
    assert found["length"] == pytest.approx(124.976, abs=0.01)
    assert '"ways":{' in (tmp_path / "map.html").read_text(encoding="utf-8")
