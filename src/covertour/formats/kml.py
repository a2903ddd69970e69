"""KML and KMZ, as Google Earth and its kin have them: places as placemarks, tours as lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from covertour.formats import archive, quantities
from covertour.formats.geojson import globe, outcome_features
from covertour.formats.places import Rows, instance_of
from covertour.formats.source import Given, Source
from covertour.formats.written import place_columns
from covertour.formats.xml import children, escaped, parse, text_of
from covertour.problem.errors import InputError, shown
from covertour.problem.instance import Instance
from covertour.problem.tour import Tour
from covertour.problem.words import count
from covertour.solving.result import Result

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LARGEST = 200_000_000
"""Bytes of a KML file."""

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<kml xmlns="http://www.opengis.net/kml/2.2">\n<Document>'
)
FOOT = "</Document>\n</kml>\n"


def read(source: Source, given: Given) -> Instance:
    """An instance from the placemarks that are points; data beside them are columns."""
    if given.metric in ("geo", "matrix"):
        raise InputError(
            f"{source}: KML has longitude and latitude, not the metric {given.metric!r}"
        )
    root = parse(source, _document(source))
    marks, others = [], 0
    for placemark, folder in _placemarks(root):
        point = next(iter(placemark.iter("Point")), None)
        if point is None:
            others += 1
        else:
            marks.append((placemark, folder, point))
    links = sum(1 for _ in root.iter("NetworkLink"))
    if not marks:
        hint = (
            f", only {count(links, 'link', 'links')} to the network, not followed" if links else ""
        )
        raise InputError(f"{source}: expected placemarks with a point, found none{hint}")
    if links:
        told = count(links, "link to the network is", "links to the network are")
        given.note(f"{source}: {told} not followed", False)
    if others:
        told = count(others, "placemark that is no point is", "placemarks that are no points are")
        given.note(f"{source}: {told} not used", False)
    title = next((text_of(document, "name") for document in root.iter("Document")), "")
    return instance_of(_rows(source, marks), given, name=title or None)


def encode(instance: Instance) -> str:
    """The text of an instance in longitude and latitude, each place a placemark with its data."""
    points = globe(instance).tolist()
    columns = place_columns(instance, coordinates=False)
    names = columns.pop("name", None)
    lines = [HEAD, f"<name>{escaped(instance.name)}</name>"]
    for place, point in enumerate(points):
        values = {title: values[place] for title, values in columns.items()}
        lines.append(placemark(None if names is None else names[place], point, values))
    return "\n".join([*lines, FOOT])


FOLDERS = {"route": "Route", "stop": "Stops", "place": "Places"}
"""What the folders of a tour are called, by the kind of what is in them."""

STYLES = (
    '<Style id="route"><LineStyle><color>ffb4541f</color><width>4</width></LineStyle></Style>'
    '<Style id="stop"><IconStyle><color>ff2222dd</color></IconStyle></Style>'
    '<Style id="place"><IconStyle><scale>0.6</scale></IconStyle>'
    "<LabelStyle><scale>0.7</scale></LabelStyle></Style>"
)
"""Colours, as KML writes them: opacity, blue, green, red."""


def encode_outcome(instance: Instance, outcome: Result | Tour) -> str:
    """The routes as lines, the stops in order, and the other places, each in a folder."""
    credit = "" if instance.roads is None else escaped(instance.roads.credit)
    about = f"<description>{credit}</description>" if credit else ""
    lines = [HEAD, f"<name>{escaped(instance.name)}</name>{about}", STYLES]
    features = outcome_features(instance, outcome)
    for kind, folder in FOLDERS.items():
        lines.append(f"<Folder><name>{folder}</name>")
        for feature in features:
            values = dict(feature["properties"])
            if values.pop("kind") == kind:
                lines.append(_outcome_placemark(kind, feature["geometry"], values))
        lines.append("</Folder>")
    return "\n".join([*lines, FOOT])


def _outcome_placemark(kind: str, geometry: dict[str, Any], about: dict[str, Any]) -> str:
    if kind == "route":
        points = " ".join(f"{x!r},{y!r}" for x, y, *_ in geometry["coordinates"])
        name = f"route {about.get('route', '')}".strip()
        line = f"<LineString><tessellate>1</tessellate><coordinates>{points}</coordinates>"
        return _placemark(name, f"{line}</LineString>", about, kind)
    name = about.pop("name")
    x, y = geometry["coordinates"][:2]
    shown_name = f"{about['stop']}. {name}" if kind == "stop" else name
    return placemark(shown_name, [x, y], {"label": name, **about}, kind)


def placemark(name: str | None, point: list[float], values: dict[str, Any], style: str = "") -> str:
    """A point with its name and the values that stand beside it, as XML."""
    where = f"<Point><coordinates>{point[0]!r},{point[1]!r}</coordinates></Point>"
    return _placemark(name, where, values, style)


def _placemark(name: str | None, geometry: str, values: dict[str, Any], style: str) -> str:
    data = "".join(
        f'<Data name="{escaped(title)}"><value>{escaped(_text(value))}</value></Data>'
        for title, value in values.items()
        if value is not None
    )
    return (
        "<Placemark>"
        + (f"<name>{escaped(name)}</name>" if name is not None else "")
        + (f"<styleUrl>#{style}</styleUrl>" if style else "")
        + (f"<ExtendedData>{data}</ExtendedData>" if data else "")
        + f"{geometry}</Placemark>"
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    return value if isinstance(value, str) else repr(value)


def _document(source: Source) -> bytes:
    """The bytes of the KML: the file, or the first .kml in the archive that it is."""
    data = source.raw()
    if not archive.is_zip(data):
        if len(data) > LARGEST:
            raise InputError(f"{source}: the file has more than {LARGEST // 10**6} MB")
        return data
    found = archive.members(source)
    names = sorted(
        (name for name in found if name.lower().endswith(".kml")),
        key=lambda name: (name.lower() != "doc.kml", name.count("/")),
    )
    if not names:
        raise InputError(f"{source}: the archive has no .kml file")
    return archive.member(source, found[names[0]])


def _placemarks(root: Element) -> Iterator[tuple[Element, str]]:
    """All placemarks in the order of the file, each with the name of the folder that it is in."""
    waiting = [(root, "")]
    while waiting:
        element, folder = waiting.pop()
        if element.tag == "Placemark":
            yield element, folder
            continue
        if element.tag == "Folder":
            folder = text_of(element, "name") or folder
        waiting += [(child, folder) for child in reversed(element)]


def _rows(source: Source, marks: list[tuple[Element, str, Element]]) -> Rows:
    points = np.zeros((len(marks), 2))
    reasons = {}
    records = []
    for at, (placemark, folder, point) in enumerate(marks):
        place = _coordinates(text_of(point, "coordinates"))
        if isinstance(place, str):
            reasons[at] = place
        else:
            points[at] = place
        record = {"name": text_of(placemark, "name")}
        if folder:
            record["folder"] = folder
        if text := text_of(placemark, "description"):
            record["description"] = text
        records.append(record | _data(placemark))
    titles = list(dict.fromkeys(title for record in records for title in record))
    cells = [[record.get(title, "") for title in titles] for record in records]

    def where(row: int) -> str:
        name = cells[row][0]
        return f"{source}, placemark {row + 1}" + (f" {shown(name)}" if name else "")

    if not any(row[0] for row in cells):
        titles, cells = titles[1:], [row[1:] for row in cells]
        return Rows(
            source, titles, cells, lambda row: f"{source}, placemark {row + 1}", points, reasons
        )
    return Rows(source, titles, cells, where, points, reasons)


def _coordinates(text: str) -> tuple[float, float] | str:
    """Longitude and latitude of a point, or why there are none."""
    parts = text.replace(" ", "").split(",")
    values = [quantities.number(part) for part in parts[:2]]
    if len(values) < 2 or values[0] is None or values[1] is None:
        return f"coordinates {shown(text)}, expected longitude,latitude"
    return values[0], values[1]


def _data(placemark: Element) -> dict[str, str]:
    """What a placemark says besides: the values of its data by their names."""
    found = {}
    for extended in children(placemark, "ExtendedData"):
        for data in children(extended, "Data"):
            found[data.get("name", "")] = text_of(data, "value")
        for schema in children(extended, "SchemaData"):
            for data in children(schema, "SimpleData"):
                found[data.get("name", "")] = "".join(data.itertext()).strip()
    found.pop("", None)
    return {title: text for title, text in found.items() if title != "name" or text}
