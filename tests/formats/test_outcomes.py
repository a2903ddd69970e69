"""Tours as workbooks, KML and GeoPackages, and the other columns of the file in every output."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from covertour import InputError, Instance, make_tour, read_tour, write
from covertour.formats import encode
from covertour.formats.manner import Manner
from covertour.formats.source import Source
from covertour.formats.xml import parse, text_of

COAST = Instance.from_coordinates(
    [[-17.44, 14.69], [-17.39, 14.76], [-16.93, 14.79], [-16.96, 14.42]],
    metric="haversine",
    radius=20,
    name="coast & more",
    labels=["Dakar", "Pikine", "Thiès", "Mbour <2>"],
    extra={
        "Région": ["DK", "DK", "TH", "TH"],
        "Code": ["01", "7", "2.5", ""],
        "stop": list("abcd"),
    },
)
TOUR = make_tour(COAST, [0, 2, 3])


def rows_of(data: bytes) -> list[list]:
    from python_calamine import load_workbook

    return load_workbook(io.BytesIO(data)).get_sheet_by_index(0).to_python()


def test_a_workbook_has_the_itinerary_and_the_other_columns(tmp_path: Path) -> None:
    write(tmp_path / "plan.xlsx", COAST, TOUR)
    rows = rows_of((tmp_path / "plan.xlsx").read_bytes())
    assert rows[0][:6] == ["stop", "place", "name", "leg", "distance", "covers"]
    assert rows[0][-3:] == ["Région", "Code", "extra stop"]
    assert [row[2] for row in rows[1:]] == ["Dakar", "Thiès", "Mbour <2>", "Dakar"]
    assert rows[1][0] == 1
    assert rows[4][0] == "return"
    assert rows[4][4] == TOUR.length
    assert [row[-2] for row in rows[1:]] == ["01", 2.5, "", "01"]
    assert read_tour(tmp_path / "plan.xlsx", COAST).places.tolist() == [0, 2, 3]


def test_csv_and_geojson_have_the_other_columns() -> None:
    header, first = encode(COAST, TOUR, "csv").decode().splitlines()[:2]
    assert header.endswith('latitude,longitude,Région,Code,"extra stop"')
    assert first.endswith("DK,01,a")
    features = json.loads(encode(COAST, TOUR, "geojson"))["features"]
    stops = [each["properties"] for each in features if each["properties"]["kind"] == "stop"]
    places = [each["properties"] for each in features if each["properties"]["kind"] == "place"]
    assert [(stop["stop"], stop["Région"], stop["extra stop"]) for stop in stops] == [
        (1, "DK", "a"),
        (2, "TH", "c"),
        (3, "TH", "d"),
    ]
    assert places[0]["Code"] == "7"


def test_kml_has_the_route_the_stops_and_the_places() -> None:
    root = parse(Source("a.kml"), encode(COAST, TOUR, "kml"))
    folders = {text_of(folder, "name"): folder for folder in root.iter("Folder")}
    assert list(folders) == ["Route", "Stops", "Places"]
    line = next(folders["Route"].iter("LineString"))
    assert text_of(line, "coordinates").split() == [
        "-17.44,14.69",
        "-16.93,14.79",
        "-16.96,14.42",
        "-17.44,14.69",
    ]
    names = [text_of(mark, "name") for mark in folders["Stops"].iter("Placemark")]
    assert names == ["1. Dakar", "2. Thiès", "3. Mbour <2>"]
    values = {data.get("name"): text_of(data, "value") for data in folders["Places"].iter("Data")}
    assert (values["label"], values["stop_name"], values["Région"]) == ("Pikine", "Dakar", "DK")


def test_a_geopackage_has_three_layers() -> None:
    data = encode(COAST, TOUR, "gpkg")
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        layers = database.execute(
            "SELECT table_name, geometry_type_name FROM gpkg_geometry_columns"
        )
        assert layers.fetchall() == [
            ("routes", "LINESTRING"),
            ("stops", "POINT"),
            ("places", "POINT"),
        ]
        stops = database.execute('SELECT stop, name, "Région", "extra stop" FROM stops').fetchall()
        assert stops[1] == (2, "Thiès", "TH", "c")
        assert database.execute("SELECT name, stop_name FROM places").fetchall() == [
            ("Pikine", "Dakar")
        ]


@pytest.mark.parametrize("format", ["kml", "gpkg"])
def test_maps_are_not_made_of_the_plane(format: str) -> None:
    plane = Instance.from_coordinates([[0, 0], [1, 1]], radius=2)
    with pytest.raises(InputError, match="needs longitude and latitude"):
        encode(plane, make_tour(plane, [0]), format)


def test_csv_for_excel_begins_with_a_mark(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", COAST, TOUR, excel=True)
    assert (tmp_path / "a.csv").read_bytes().startswith(b"\xef\xbb\xbfstop,place")
    assert read_tour(tmp_path / "a.csv", COAST).places.tolist() == [0, 2, 3]
    assert encode(COAST, None, "csv", Manner(excel=True)).startswith(b"\xef\xbb\xbfname,")
    assert not encode(COAST, TOUR, "json", Manner(excel=True)).startswith(b"\xef")
