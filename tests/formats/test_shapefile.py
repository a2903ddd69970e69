from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
import shapefile

from covertour import InputError, Instance, read

WGS84 = 'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]]]'
UTM = f'PROJCS["WGS_1984_UTM_Zone_28N",{WGS84},PROJECTION["Transverse_Mercator"]]'


def parts(encoding: str = "utf-8", kind: int = shapefile.POINT) -> dict[str, bytes]:
    """The files of a shapefile of two towns."""
    files = {part: io.BytesIO() for part in ("shp", "shx", "dbf")}
    with shapefile.Writer(**files, shapeType=kind, encoding=encoding) as writer:
        writer.field("NAME", "C", 40)
        writer.field("POP", "N", 12)
        writer.field("NOTE", "C", 10)
        for point, name, people in (
            ((-17.44, 14.69), "Dakar", 1000),
            ((-16.93, 14.79), "Thiès", 5),
        ):
            if kind == shapefile.POINT:
                writer.point(*point)
            else:
                writer.poly([[point, (0, 0), (1, 1), point]])
            writer.record(name, people, "x")
    return {part: file.getvalue() for part, file in files.items()} | {"prj": WGS84.encode()}


def zipped(files: dict[str, bytes], name: str = "towns") -> bytes:
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        for part, content in files.items():
            archive.writestr(f"data/{name}.{part}", content)
    return file.getvalue()


def load(data: bytes, **options: object) -> Instance:
    return read(io.BytesIO(data), format="zip", nearest=1, **options)


def refused(data: bytes, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        load(data, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def assert_towns(found: Instance) -> None:
    assert found.labels == ("Dakar", "Thiès")
    assert found.coordinates.tolist() == [[-17.44, 14.69], [-16.93, 14.79]]
    assert found.weight.tolist() == [1000, 5]
    assert found.extra == {"NOTE": ("x", "x")}


def test_points_with_their_table(tmp_path: Path) -> None:
    for part, content in parts().items():
        (tmp_path / f"towns.{part.upper() if part == 'dbf' else part}").write_bytes(content)
    assert_towns(read(tmp_path / "towns.shp", nearest=1))
    (tmp_path / "towns.shx").unlink()
    assert_towns(read(tmp_path / "towns.shp", nearest=1))
    (tmp_path / "towns.DBF").unlink()
    with pytest.raises(InputError, match=r"towns.shp: its .dbf is missing; a shapefile is"):
        read(tmp_path / "towns.shp", nearest=1)


def test_in_an_archive() -> None:
    assert_towns(load(zipped(parts())))
    assert_towns(read(io.BytesIO(zipped(parts())), nearest=1))


@pytest.mark.parametrize("said", [b"", b"UTF-8", b"1252", b"ANSI 1252", b"nonsense"])
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_encodings(encoding: str, said: bytes) -> None:
    if b"1252" in said and encoding == "utf-8":
        return
    if said == b"UTF-8" and encoding == "cp1252":
        return
    assert_towns(load(zipped(parts(encoding) | {"cpg": said})))


def test_one_of_several() -> None:
    with zipfile.ZipFile(file := io.BytesIO(zipped(parts())), "a") as archive:
        for part, content in parts().items():
            archive.writestr(f"other/wells.{part}", content)
    told: list[str] = []
    load(file.getvalue(), on_note=told.append)
    assert told[0] == "the stream: read the layer 'towns'; there are 'towns', 'wells'"
    assert_towns(load(file.getvalue(), sheet="Wells"))
    assert "no layer 'x'; there are 'towns', 'wells'" in refused(file.getvalue(), sheet="x")


def test_projections() -> None:
    utm = refused(zipped(parts() | {"prj": UTM.encode()}))
    assert "the coordinates are in WGS 1984 UTM Zone 28N, expected longitude and" in utm
    old = refused(zipped(parts() | {"prj": b'GEOGCS["Clarke 1880"]'}))
    assert "the coordinates are in Clarke 1880" in old
    assert "its .prj is not understood: 'hello'" in refused(zipped(parts() | {"prj": b"hello"}))
    files = parts()
    del files["prj"]
    told: list[str] = []
    assert_towns(load(zipped(files), on_note=told.append))
    assert "has no .prj; taken for longitude and latitude" in told[0]


def test_what_is_refused() -> None:
    assert "expected points, got polygons" in refused(zipped(parts(kind=shapefile.POLYGON)))
    files = parts()
    assert "its .dbf is missing" in refused(zipped({"shp": files["shp"], "prj": files["prj"]}))
    assert "the archive has no .shp; it has 'towns.txt'" in refused(zipped({"txt": b"x"}))
    cut = files | {"shp": files["shp"][:110]}
    assert "the stream" in refused(zipped(cut))
    assert "not a shapefile" in refused(zipped(files | {"shp": b"x" * 200}))
    with pytest.raises(InputError, match=r"the stream: its .dbf is missing"):
        read(io.BytesIO(files["shp"]), nearest=1)


def test_without_the_library_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "shapefile", None)
    assert "reading shapefiles needs pyshp, which is not installed: pip install" in refused(
        zipped(parts())
    )
