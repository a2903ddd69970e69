"""GeoPackage: layers of points in an SQLite file, as QGIS has them."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np

from covertour.formats.geojson import globe, outcome_features
from covertour.formats.places import Rows, instance_of, not_longitude_latitude
from covertour.formats.source import Given, Source
from covertour.formats.written import place_columns
from covertour.problem.errors import InputError, shown, why
from covertour.problem.instance import Instance
from covertour.problem.tour import Tour
from covertour.solving.result import Result

MAGIC = b"SQLite format 3\0"
LONGITUDE_LATITUDE = 4326
UNDEFINED = (-1, 0)
"""Reference systems that a GeoPackage has for coordinates of which nothing is known."""

ENVELOPES = {0: 0, 1: 32, 2: 48, 3: 48, 4: 64}
"""Bytes of the box around a geometry, by its kind."""

POINTS = ("POINT", "MULTIPOINT", "GEOMETRY", "GEOMETRYCOLLECTION")
"""Kinds of layers that may have points."""

STEPS, MOST_STEPS = 1_000_000, 200
"""A layer may be a view that computes without end: it is stopped after so many times so many steps
of SQLite's machine."""


@dataclass(frozen=True)
class Layer:
    """A layer: its table, the column with the geometries and their kind, the reference system."""

    table: str
    column: str
    kind: str
    system: int


def read(source: Source, given: Given) -> Instance:
    """An instance from the layer of points that is asked for, else from the first."""
    if given.metric in ("geo", "matrix"):
        raise InputError(f"{source}: has longitude and latitude, not the metric {given.metric!r}")
    data = source.raw()
    if not data.startswith(MAGIC):
        raise InputError(f"{source}: not a GeoPackage (an SQLite file)")
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(data)
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA query_only = ON")
            steps = iter(range(MOST_STEPS))
            database.set_progress_handler(lambda: int(next(steps, None) is None), STEPS)
            database.text_factory = lambda text: text.decode("utf-8", errors="replace")
            layers = _layers(source, database)
            layer = _chosen(source, layers, given)
            _check_system(source, database, layer, given)
            rows = _rows(source, database, layer)
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
        raise InputError(f"{source}: not a whole GeoPackage: {why(error)}") from None
    return instance_of(rows, given)


def _layers(source: Source, database: sqlite3.Connection) -> list[Layer]:
    names = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
    if "gpkg_geometry_columns" not in names:
        raise InputError(f"{source}: an SQLite file without layers, so not a GeoPackage")
    found = database.execute(
        "SELECT table_name, column_name, geometry_type_name, srs_id FROM gpkg_geometry_columns"
    )
    return [
        Layer(str(table), str(column), str(kind).upper(), int(system))
        for table, column, kind, system in found
        if isinstance(system, int)
    ]


def _chosen(source: Source, layers: list[Layer], given: Given) -> Layer:
    listed = ", ".join(f"{shown(layer.table)} ({layer.kind.lower()})" for layer in layers)
    points = [layer for layer in layers if layer.kind in POINTS]
    if given.sheet is not None:
        wanted = given.sheet.strip().lower()
        for layer in layers:
            if layer.table.lower() == wanted:
                points = [layer]
                break
        else:
            raise InputError(f"{source}: no layer {shown(given.sheet)}; there are {listed}")
    if not points or points[0].kind not in POINTS:
        raise InputError(
            f"{source}: has no layer of points" + (f"; there are {listed}" if listed else "")
        )
    exact = [layer for layer in points if layer.kind == "POINT"]
    layer = (exact or points)[0]
    if len(points) > 1:
        given.note(f"{source}: read the layer {shown(layer.table)}; there are {listed}", False)
    return layer


def _check_system(source: Source, database: sqlite3.Connection, layer: Layer, given: Given) -> None:
    """An error where coordinates are not longitude and latitude."""
    if layer.system == LONGITUDE_LATITUDE:
        return
    if layer.system in UNDEFINED:
        given.note(
            f"{source}: does not say which coordinates it has; taken for longitude and latitude",
            False,
        )
        return
    row = database.execute(
        "SELECT srs_name, organization, organization_coordsys_id FROM gpkg_spatial_ref_sys "
        "WHERE srs_id = ?",
        (layer.system,),
    ).fetchone()
    code = f"EPSG:{layer.system}" if row is None else f"{row[1]}:{row[2]}"
    if code.upper() in ("EPSG:4326", "OGC:CRS84"):
        return
    name = code if row is None else f"{row[0]} ({code})"
    raise InputError(f"{source}: {not_longitude_latitude(name)}")


def _rows(source: Source, database: sqlite3.Connection, layer: Layer) -> Rows:
    cursor = database.execute(f"SELECT * FROM {_quoted(layer.table)}")
    titles = [entry[0] for entry in cursor.description]
    at = next((at for at, title in enumerate(titles) if title == layer.column), None)
    if at is None:
        raise InputError(f"{source}: the layer {shown(layer.table)} has no geometries")
    # Numbers that only the database needs are not for the outputs.
    shown_at = [
        other
        for other, title in enumerate(titles)
        if other != at and title.lower() not in ("fid", "ogc_fid")
    ]
    places, cells = [], []
    reasons = {}
    for row, record in enumerate(cursor):
        place = point(record[at])
        if isinstance(place, str):
            reasons[row] = place
            place = (0.0, 0.0)
        places.append(place)
        cells.append([_text(record[other]) for other in shown_at])
    if not places:
        raise InputError(f"{source}: the layer {shown(layer.table)} is empty")
    return Rows(
        source,
        [titles[other] for other in shown_at],
        cells,
        lambda row: f"{source}, layer {shown(layer.table)}, feature {row + 1}",
        np.array(places),
        reasons,
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: Any) -> str:
    """A value of a table as CSV would have it."""
    if value is None or isinstance(value, bytes):
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def point(blob: Any) -> tuple[float, float] | str:
    """Longitude and latitude of a geometry as a GeoPackage has it, or why there are none."""
    if not isinstance(blob, bytes) or len(blob) < 8 or blob[:2] != b"GP":
        return "has no geometry"
    if blob[3] & 16:
        return "has an empty geometry"
    size = ENVELOPES.get((blob[3] >> 1) & 7)
    if size is None:
        return "has a geometry that is damaged"
    return well_known_point(blob[8 + size :])


def well_known_point(blob: bytes) -> tuple[float, float] | str:
    """Longitude and latitude of a point as well-known binary, or why there are none."""
    try:
        order = "<" if blob[0] else ">"
        (kind,) = struct.unpack_from(f"{order}I", blob, 1)
        kind = (kind & 0x0FFFFFFF) % 1000
        if kind == 4 and struct.unpack_from(f"{order}I", blob, 5) == (1,):
            return well_known_point(blob[9:])
        if kind != 1:
            return f"expected a point, got {KINDS.get(kind, 'something else')}"
        x, y = struct.unpack_from(f"{order}dd", blob, 5)
        return x, y
    except (struct.error, IndexError, RecursionError):
        return "has a geometry that is damaged"


KINDS = {
    2: "a line",
    3: "a polygon",
    4: "several points",
    5: "several lines",
    6: "several polygons",
    7: "a collection",
}


ID = 0x47504B47
VERSION = 10300
EPOCH = "1970-01-01T00:00:00.000Z"
"""When the content changed, so that the same content is the same file."""

SCHEMA = """
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY,
    organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL,
    definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL,
    identifier TEXT UNIQUE, description TEXT DEFAULT '', last_change DATETIME NOT NULL,
    min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER);
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL PRIMARY KEY,
    column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL,
    z TINYINT NOT NULL, m TINYINT NOT NULL);
"""

WGS84 = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],'
    'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]'
)
SYSTEMS = (
    ("WGS 84", 4326, "EPSG", 4326, WGS84, None),
    ("Undefined cartesian", -1, "NONE", -1, "undefined", None),
    ("Undefined geographic", 0, "NONE", 0, "undefined", None),
)


def encode(instance: Instance) -> bytes:
    """An instance in longitude and latitude as a layer of points, with its columns."""
    columns = place_columns(instance, coordinates=False)
    points = globe(instance).tolist()
    return package({"places": ("POINT", [as_point(*point) for point in points], columns)})


LAYERS = {"route": "LINESTRING", "stop": "POINT", "place": "POINT"}
"""The kinds of features of a tour, each in a layer of its own."""


def encode_outcome(instance: Instance, outcome: Result | Tour) -> bytes:
    """The routes as lines, the stops, and the other places, each a layer."""
    features = outcome_features(instance, outcome)
    layers: dict[str, Table] = {}
    for kind, shape in LAYERS.items():
        own = [feature for feature in features if feature["properties"]["kind"] == kind]
        titles = dict.fromkeys(title for feature in own for title in feature["properties"])
        columns = {
            title: [_flat(feature["properties"].get(title)) for feature in own]
            for title in titles
            if title != "kind"
        }
        places = [feature["geometry"]["coordinates"] for feature in own]
        shapes = [as_line(at) if kind == "route" else as_point(*at[:2]) for at in places]
        layers[f"{kind}s"] = (shape, shapes, columns)
    return package(layers, "" if instance.roads is None else instance.roads.credit)


def _flat(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, list) else value


def as_point(x: float, y: float) -> bytes:
    """A point as well-known binary."""
    return struct.pack("<BIdd", 1, 1, x, y)


def as_line(points: Sequence[Sequence[float]]) -> bytes:
    """A line as well-known binary."""
    flat = [number for point in points for number in point[:2]]
    return struct.pack(f"<BII{len(flat)}d", 1, 2, len(points), *flat)


Table = tuple[str, Sequence[bytes], Mapping[str, Sequence[Any]]]
"""A layer to write: the kind of its geometries, these as well-known binary, and its columns."""


def package(layers: Mapping[str, Table], credit: str = "") -> bytes:
    """The bytes of a GeoPackage with layers in longitude and latitude.

    ``credit``: whom the lines are owed to, told in the description of each layer.
    """
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"PRAGMA application_id = {ID}")
        database.execute(f"PRAGMA user_version = {VERSION}")
        database.executescript(SCHEMA)
        database.executemany("INSERT INTO gpkg_spatial_ref_sys VALUES (?,?,?,?,?,?)", SYSTEMS)
        for name, layer in layers.items():
            _put(database, name, *layer)
        database.execute("UPDATE gpkg_contents SET description = ?", (credit,))
        database.commit()
        return database.serialize()


def _put(
    database: sqlite3.Connection,
    name: str,
    kind: str,
    shapes: Sequence[bytes],
    columns: Mapping[str, Sequence[Any]],
) -> None:
    """Add a layer."""
    titles = _different(columns)
    typed = [
        f"{_quoted(title)} {_type(values)}"
        for title, values in zip(titles, columns.values(), strict=True)
    ]
    fields = ", ".join([f"fid INTEGER PRIMARY KEY, geom {kind}", *typed])
    database.execute(f"CREATE TABLE {_quoted(name)} ({fields})")
    marks = ",".join("?" * (len(titles) + 2))
    head = b"GP\x00\x01" + struct.pack("<i", LONGITUDE_LATITUDE)
    rows = zip(*columns.values(), strict=True) if columns else ((),) * len(shapes)
    database.executemany(
        f"INSERT INTO {_quoted(name)} VALUES ({marks})",
        (
            (number, head + shape, *map(_storable, row))
            for number, (shape, row) in enumerate(zip(shapes, rows, strict=True), start=1)
        ),
    )
    database.execute(
        "INSERT INTO gpkg_contents VALUES (?,'features',?,'',?,NULL,NULL,NULL,NULL,?)",
        (name, name, EPOCH, LONGITUDE_LATITUDE),
    )
    database.execute(
        "INSERT INTO gpkg_geometry_columns VALUES (?,'geom',?,?,0,0)",
        (name, kind, LONGITUDE_LATITUDE),
    )


def _different(titles: Iterable[str]) -> list[str]:
    """Titles that differ also where capitals do not count, without those that have a meaning."""
    taken = {"fid", "geom"}
    found = []
    for title in titles:
        free = title.replace("\0", " ")
        while free.lower() in taken:
            free = f"{free}_"
        taken.add(free.lower())
        found.append(free)
    return found


def _type(values: Sequence[Any]) -> str:
    kinds = {type(value) for value in values if value is not None}
    if kinds and kinds <= {bool}:
        return "BOOLEAN"
    if kinds and kinds <= {bool, int}:
        return "INTEGER"
    return "DOUBLE" if kinds and kinds <= {int, float} else "TEXT"


def _storable(value: Any) -> Any:
    """A value that SQLite can hold."""
    if isinstance(value, str):
        return value.encode("utf-8", errors="replace").decode("utf-8")
    return value
