from __future__ import annotations

import io
import zipfile

import pytest

from covertour import InputError, Instance, read

DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>Clinics</name>
<Folder><name>North</name>
<Placemark><name>Dakar</name><description>by the <b>sea</b></description>
<ExtendedData><Data name="population"><value>1000</value></Data></ExtendedData>
<Point><coordinates> -17.44,14.69,0 </coordinates></Point></Placemark>
<Placemark><name>A road</name><LineString><coordinates>1,2 3,4</coordinates></LineString>
</Placemark></Folder>
<Placemark><name>Thiès</name>
<ExtendedData><SchemaData><SimpleData name="population">50</SimpleData></SchemaData></ExtendedData>
<MultiGeometry><Point><coordinates>-16.93,14.79</coordinates></Point></MultiGeometry></Placemark>
</Document></kml>
"""


def load(text: str | bytes, format: str = "kml", **options: object) -> Instance:
    data = text if isinstance(text, bytes) else text.encode()
    return read(io.BytesIO(data), format=format, nearest=1, **options)


def refused(text: str | bytes, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        load(text, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def kmz(**members: str) -> bytes:
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return file.getvalue()


def test_placemarks_are_places() -> None:
    told: list[str] = []
    found = load(DOCUMENT, on_note=told.append)
    assert found.name == "Clinics"
    assert found.labels == ("Dakar", "Thiès")
    assert found.coordinates.tolist() == [[-17.44, 14.69], [-16.93, 14.79]]
    assert found.weight.tolist() == [1000, 50]
    assert found.extra == {"folder": ("North", ""), "description": ("by the sea", "")}
    assert told[0] == "the stream: 1 placemark that is no point is not used"


def test_a_zipped_document() -> None:
    data = kmz(**{"files/a.png": "x", "doc.kml": DOCUMENT})
    assert load(data, "kmz").labels == ("Dakar", "Thiès")
    assert load(data).n == 2
    assert read(io.BytesIO(data), nearest=1).n == 2
    assert "the archive has no .kml file" in refused(kmz(a="x"), format="kmz")


def test_bad_points_are_listed() -> None:
    assert refused(DOCUMENT.replace("-16.93,14.79", "here")) == (
        "the stream, placemark 2 'Thiès': coordinates 'here', expected longitude,latitude; "
        "skip_bad_rows (--skip-bad-rows) goes on without"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<kml><NetworkLink/></kml>", "found none, only 1 link to the network, not followed"),
        ("<kml/>", "expected placemarks with a point, found none"),
        ("<kml><Placemark>", "line 1: not XML: no element found"),
        ("nothing", "line 1: not XML: syntax error"),
        (
            '<!DOCTYPE k [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><kml>&b;</kml>',
            "XML with a document type (DOCTYPE) is refused",
        ),
        ('<!DOCTYPE k SYSTEM "file:///etc/passwd"><kml/>', "(DOCTYPE) is refused"),
        ("<a>" * 300 + "</a>" * 300, "elements too deep inside each other"),
    ],
)
def test_what_is_refused(text: str, why: str) -> None:
    assert why in refused(text)


def test_links_to_the_network_are_told_of() -> None:
    told: list[str] = []
    link = "<NetworkLink><Link><href>http://example.org/a.kml</href></Link></NetworkLink>"
    load(DOCUMENT.replace("<Folder>", f"{link}<Folder>", 1), on_note=told.append)
    assert told[0] == "the stream: 1 link to the network is not followed"
