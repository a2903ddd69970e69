from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from covertour import InputError, Instance, Tour, make_tour, read_tour, write
from covertour.formats.gpx import GPX

COAST = Instance.from_coordinates(
    [[0, 0], [0, 0.1], [190, 0], [190, 0.1]],
    metric="haversine",
    radius=20,
    labels=["a & <b>", "b", "bell\a", "d"],
)


def test_the_route_goes_round_and_places_are_waypoints(tmp_path: Path) -> None:
    write(tmp_path / "a.gpx", COAST, make_tour(COAST, [0, 2]))
    root = ElementTree.parse(tmp_path / "a.gpx").getroot()
    names = [point.findtext(f"{{{GPX}}}name") for point in root.iter(f"{{{GPX}}}rtept")]
    assert names == ["a & <b>", "bell\ufffd", "a & <b>"]
    assert [point.findtext(f"{{{GPX}}}name") for point in root.iter(f"{{{GPX}}}wpt")] == ["b", "d"]
    about = root.findtext(f"{{{GPX}}}wpt/{{{GPX}}}desc")
    assert about == "served by stop 1, a & <b>, 11.120 km away"
    east = [float(point.get("lon", "0")) for point in root.iter()]
    assert -180 <= min(east) <= max(east) <= 180


def test_a_tour_keeps_its_claim(tmp_path: Path) -> None:
    write(tmp_path / "a.gpx", COAST, Tour(make_tour(COAST, [2]).places, 0.1))
    tour = read_tour(tmp_path / "a.gpx", COAST)
    assert tour.places.tolist() == [2]
    assert tour.length == 0.1


def test_only_places_on_the_globe_have_gpx(tmp_path: Path) -> None:
    plane = Instance.from_coordinates([[0, 0]], radius=1)
    with pytest.raises(InputError, match=r"needs longitude and latitude \(metric haversine\)"):
        write(tmp_path / "a.gpx", plane, make_tour(plane, [0]))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<gpx>", "line 1: not XML"),
        ('<?xml version="1.0" encoding="nonsense"?><gpx/>', "not XML"),
        ("<gpx/>", r"expected a GPX file with a route \(rte\)"),
        (
            f'<gpx xmlns="{GPX}"><rte><rtept lat="0" lon="0"/></rte></gpx>',
            "route point 1: expected covertour's place number, got None",
        ),
    ],
)
def test_bad_files(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "a.gpx").write_text(text)
    with pytest.raises(InputError, match=expected):
        read_tour(tmp_path / "a.gpx", COAST)
