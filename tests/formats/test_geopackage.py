from __future__ import annotations

import io
import sqlite3
from contextlib import closing

import pytest

from covertour import InputError, Instance, read
from covertour.formats.geopackage import as_line, as_point, encode, package, well_known_point

TOWNS = {"name": ["Dakar", "Thiès"], "population": [1000, 50.5], "note": ["x", None]}
POINTS = [as_point(-17.44, 14.69), as_point(-16.93, 14.79)]
LINE = ("LINESTRING", [as_line([[0, 0], [1, 1]])], {})


def load(data: bytes, **options: object) -> Instance:
    return read(io.BytesIO(data), format="gpkg", nearest=1, **options)


def refused(data: bytes, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        load(data, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def changed(data: bytes, *statements: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(data)
        for statement in statements:
            database.execute(statement)
        database.commit()
        return database.serialize()


def test_points_are_places() -> None:
    found = load(package({"roads": LINE, "towns": ("POINT", POINTS, TOWNS)}))
    assert found.labels == ("Dakar", "Thiès")
    assert found.coordinates.tolist() == [[-17.44, 14.69], [-16.93, 14.79]]
    assert found.weight.tolist() == [1000, 50.5]
    assert found.extra == {"note": ("x", "")}


def test_one_of_several_layers() -> None:
    data = package({"towns": ("POINT", POINTS, TOWNS), "Wells": ("POINT", POINTS[:1], {})})
    told: list[str] = []
    assert load(data, on_note=told.append).n == 2
    assert (
        told[0] == "the stream: read the layer 'towns'; there are 'towns' (point), 'Wells' (point)"
    )
    assert load(data, sheet="wells").n == 1
    assert "no layer 'x'; there are 'towns' (point), 'Wells' (point)" in refused(data, sheet="x")


def test_other_projections_are_named() -> None:
    data = package({"towns": ("POINT", POINTS, TOWNS)})
    utm = changed(
        data,
        "INSERT INTO gpkg_spatial_ref_sys VALUES "
        "('WGS 84 / UTM zone 28N', 32628, 'EPSG', 32628, 'PROJCS[]', '')",
        "UPDATE gpkg_geometry_columns SET srs_id = 32628",
    )
    assert refused(utm) == (
        "the stream: the coordinates are in WGS 84 / UTM zone 28N (EPSG:32628), expected longitude "
        "and latitude (EPSG:4326); convert them, in QGIS by Export > Save Features As, or by "
        "ogr2ogr -t_srs EPSG:4326"
    )
    told: list[str] = []
    load(changed(data, "UPDATE gpkg_geometry_columns SET srs_id = 0"), on_note=told.append)
    assert "taken for longitude and latitude" in told[0]


def test_what_is_refused() -> None:
    assert refused(package({"roads": LINE})) == (
        "the stream: has no layer of points; there are 'roads' (linestring)"
    )
    assert "not a GeoPackage (an SQLite file)" in refused(b"PK")
    assert "not a whole GeoPackage" in refused(b"SQLite format 3\0" + bytes(200))
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE a (b)")
        assert "an SQLite file without layers" in refused(database.serialize())
    empty = package({"towns": ("POINT", [], {"name": []})})
    assert "the layer 'towns' is empty" in refused(empty)
    mixed = package({"t": ("GEOMETRY", [POINTS[0], LINE[1][0]], {"name": ["a", "b"]})})
    assert "layer 't', feature 2: expected a point, got a line" in refused(mixed)
    assert load(mixed, skip_bad_rows=True).labels == ("a",)


def test_a_layer_that_computes_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("covertour.formats.geopackage.MOST_STEPS", 3)
    data = changed(
        package({"towns": ("POINT", POINTS, TOWNS)}),
        "ALTER TABLE towns RENAME TO t",
        "CREATE VIEW towns AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
        "SELECT * FROM t WHERE fid = (SELECT count(*) FROM c)",
    )
    assert "not a whole GeoPackage: interrupted" in refused(data)


def test_geometries() -> None:
    assert well_known_point(as_point(1, 2)) == (1, 2)
    several = b"\x01\x04\x00\x00\x00\x01\x00\x00\x00" + as_point(3, 4)
    assert well_known_point(several) == (3, 4)
    assert well_known_point(b"\x01\x01") == "has a geometry that is damaged"


def test_an_instance_in_the_plane_is_not_written() -> None:
    with pytest.raises(InputError, match="needs longitude and latitude"):
        encode(Instance.from_coordinates([[0, 0]], radius=1))
