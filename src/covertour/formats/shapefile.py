"""Shapefiles, also zipped: points with the columns of their .dbf. Reading needs pyshp."""

from __future__ import annotations

import datetime
import io
import re
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from covertour.formats import archive
from covertour.formats.places import Rows, instance_of, not_longitude_latitude
from covertour.formats.source import Given, Source
from covertour.problem.errors import InputError, shown, why
from covertour.problem.instance import Instance

MAGIC = b"\x00\x00\x27\x0a"
PARTS = (".shp", ".dbf", ".shx", ".prj", ".cpg")
NULL, POINT, MULTIPOINT = (0,), (1, 11, 21), (8, 18, 28)
"""Kinds of shapes: none, a point, several points; each also with heights and measures."""

KINDS = {3: "lines", 5: "polygons", 13: "lines", 15: "polygons", 23: "lines", 25: "polygons"}

GEOGRAPHIC = re.compile("WGS|ETRS|NAD_?(19)?83|RGF93|SIRGAS|GDA|ITRF", re.IGNORECASE)
"""Names of systems of longitude and latitude that are the same within a few metres."""

LARGEST = 400_000_000
"""Bytes of a .shp or .dbf file."""


def read(source: Source, given: Given) -> Instance:
    """An instance from the points of a shapefile, which is a .shp beside its .dbf, or in a .zip."""
    if given.metric in ("geo", "matrix"):
        raise InputError(f"{source}: has longitude and latitude, not the metric {given.metric!r}")
    zipped = archive.is_zip(source.raw())
    parts = _from_archive(source, given) if zipped else _beside(source)
    for part in (".shp", ".dbf"):
        if part not in parts:
            raise InputError(
                f"{source}: its {part} is missing; a shapefile is a .shp and a .dbf, and a .prj "
                "that says the projection"
            )
    _check_projection(source, parts.get(".prj"), given)
    return instance_of(_rows(source, parts), given)


def _beside(source: Source) -> dict[str, bytes]:
    """The parts of a shapefile: the file itself, and those of the same name beside it."""
    parts = {".shp": source.raw()}
    if source.path is None:
        return parts
    folder = source.path.parent
    try:
        names = [name for name in folder.iterdir() if name.stem == source.path.stem]
        for file in names:
            part = file.suffix.lower()
            if part in PARTS and part not in parts and file.stat().st_size <= LARGEST:
                parts[part] = file.read_bytes()
    except OSError as error:
        raise InputError(f"{source}: cannot read what is beside it: {error.strerror}") from None
    return parts


def _from_archive(source: Source, given: Given) -> dict[str, bytes]:
    """The parts of the shapefile in an archive that is asked for, else of the first."""
    found = archive.members(source)
    names = [Path(name) for name in found if not name.startswith("__MACOSX")]
    shapes = [name for name in names if name.suffix.lower() == ".shp"]
    if given.sheet is not None:
        wanted = given.sheet.strip().lower()
        listed = ", ".join(shown(name.stem) for name in shapes) or "none"
        shapes = [name for name in shapes if name.stem.lower() == wanted]
        if not shapes:
            raise InputError(f"{source}: no layer {shown(given.sheet)}; there are {listed}")
    if not shapes:
        inside = ", ".join(shown(PurePosixPath(name).name) for name in list(found)[:8])
        raise InputError(f"{source}: the archive has no .shp; it has {inside or 'nothing'}")
    if len(shapes) > 1:
        listed = ", ".join(shown(name.stem) for name in shapes)
        given.note(f"{source}: read the layer {shown(shapes[0].stem)}; there are {listed}", False)
    parts = {}
    for name in names:
        if name.with_suffix("") == shapes[0].with_suffix("") and name.suffix.lower() in PARTS:
            parts[name.suffix.lower()] = archive.member(source, found[name.as_posix()])
    return parts


def _check_projection(source: Source, described: bytes | None, given: Given) -> None:
    """An error where the .prj says that coordinates are not longitude and latitude."""
    if described is None:
        given.note(f"{source}: has no .prj; taken for longitude and latitude", False)
        return
    text = described.decode("utf-8", errors="replace")
    name = re.search(r'\b(PROJCS|PROJCRS|GEOGCS|GEOGCRS|GEODCRS)\s*\[\s*"([^"]*)"', text)
    if name is None:
        raise InputError(f"{source}: its .prj is not understood: {shown(text, 60)}")
    if name[1].startswith("PROJ") or not GEOGRAPHIC.search(name[2]):
        raise InputError(f"{source}: {not_longitude_latitude(name[2].replace('_', ' '))}")


def _rows(source: Source, parts: dict[str, bytes]) -> Rows:
    try:
        import shapefile
    except ImportError:
        raise InputError(
            f"{source}: reading shapefiles needs pyshp, which is not installed: "
            "pip install 'covertour[files]'"
        ) from None
    if not parts[".shp"].startswith(MAGIC):
        raise InputError(f"{source}: not a shapefile")
    try:
        with shapefile.Reader(
            shp=io.BytesIO(parts[".shp"]),
            dbf=io.BytesIO(parts[".dbf"]),
            shx=io.BytesIO(parts[".shx"]) if ".shx" in parts else None,
            encoding=_encoding(parts),
            encodingErrors="replace",
        ) as reader:
            if reader.shapeType not in (*NULL, *POINT, *MULTIPOINT):
                kind = KINDS.get(reader.shapeType, "something else")
                raise InputError(f"{source}: expected points, got {kind}")
            titles = [field[0] for field in reader.fields[1:]]
            shapes = list(reader.iterShapes())
            cells = [[_text(value) for value in record] for record in reader.iterRecords()]
    except InputError:
        raise
    except Exception as error:  # the library has many ways to say that a file is damaged
        raise InputError(f"{source}: not a whole shapefile: {why(error)}") from None
    if len(shapes) != len(cells):
        raise InputError(f"{source}: has {len(shapes)} points, but {len(cells)} rows in its .dbf")
    if not shapes:
        raise InputError(f"{source}: the shapefile is empty")
    points = np.zeros((len(shapes), 2))
    reasons = {}
    for row, shape in enumerate(shapes):
        found = list(getattr(shape, "points", ()))
        if len(found) == 1:
            points[row] = found[0][:2]
        else:
            reasons[row] = f"expected a point, got {len(found)}" if found else "has no point"

    def where(row: int) -> str:
        return f"{source}, shape {row + 1}"

    return Rows(source, titles, cells, where, points, reasons)


def _encoding(parts: dict[str, bytes]) -> str:
    """The encoding of the texts: as the .cpg says, else UTF-8 where all of them can be that."""
    import codecs

    said = parts.get(".cpg", b"").decode("ascii", errors="replace").strip()
    said = f"cp{said}" if re.fullmatch(r"(ANSI )?\d{3,4}", said) else said
    try:
        return codecs.lookup(said.replace("ANSI ", "")).name if said else _guessed(parts[".dbf"])
    except LookupError:
        return _guessed(parts[".dbf"])


def _guessed(table: bytes) -> str:
    begin = int.from_bytes(table[8:10], "little")
    try:
        table[begin:].decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        return "cp1252"


def _text(value: Any) -> str:
    """A value of a record as CSV would have it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
        case datetime.date():
            return value.isoformat()
    return str(value).strip("\0 ")
