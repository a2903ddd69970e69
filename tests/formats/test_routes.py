"""What every format does with several routes, open ends, people, and places that are left out."""

import csv
import json
from xml.etree import ElementTree

import numpy as np
import pytest

import covertour
from covertour import Instance, Result, make_tour, read_tour, verify
from covertour.formats.html import html_map
from covertour.formats.manner import Manner
from covertour.problem.goals import Fleet, Quota
from covertour.problem.times import Times
from covertour.problem.tour import Tour

NAMES = ["Dakar", "Thiès", "Touba", "Kaolack", "Mbour", "Louga"]
PEOPLE = [100, 50, 40, 30, 20, 10]
TOWNS = Instance.from_coordinates(
    [[-17.4, 14.7], [-16.9, 14.8], [-15.9, 14.9], [-16.1, 14.2], [-17.0, 14.4], [-16.2, 15.6]],
    metric="haversine",
    radius=20,
    labels=NAMES,
    weight=PEOPLE,
    depot=0,
    name="towns",
)
FLEET = TOWNS.with_changes(fleet=Fleet(max_length=900))
ROUTES = make_tour(FLEET, [0, 1, 2, 5, 0, 3, 4])
PART = TOWNS.with_changes(quota=Quota(share=0.8))
SOME = make_tour(PART, [0, 1, 2, 3])
OPEN = TOWNS.with_changes(open=True, end=5)
ONE_WAY = make_tour(OPEN, [0, 4, 3, 2, 1, 5])
CASES = {"fleet": (FLEET, ROUTES), "quota": (PART, SOME), "open": (OPEN, ONE_WAY)}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ending", [".json", ".geojson", ".gpx", ".csv", ".tour"])
def test_a_tour_reads_back_as_it_was(tmp_path, case, ending):
    instance, tour = CASES[case]
    path = tmp_path / f"tour{ending}"
    covertour.write(path, instance, tour)
    again = read_tour(path, instance)
    assert again.places.tolist() == tour.places.tolist()
    assert again.length == pytest.approx(tour.length)
    assert verify(instance, again).ok


@pytest.mark.parametrize("ending", [".geojson", ".gpx", ".csv"])
def test_a_wrong_length_is_kept_for_the_referee(tmp_path, ending):
    path = tmp_path / f"tour{ending}"
    covertour.write(path, PART, Tour(SOME.places, 1.0))
    assert read_tour(path, PART).length == 1.0
    # Routes tell how long each of them is, and that is what the whole then claims.
    covertour.write(path, FLEET, Tour(ROUTES.places, 1.0))
    assert read_tour(path, FLEET).length == pytest.approx(ROUTES.length)


def itinerary_of(tmp_path, instance, tour, **manner):
    covertour.write(tmp_path / "tour.csv", instance, tour, **manner)
    with open(tmp_path / "tour.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_itinerary_of_a_fleet_has_routes_days_and_ways_back(tmp_path):
    rows = itinerary_of(tmp_path, FLEET, ROUTES)
    assert [(row["route"], row["day"], row["stop"], row["name"]) for row in rows] == [
        ("1", "1", "start", "Dakar"),
        ("1", "1", "1", "Thiès"),
        ("1", "1", "2", "Touba"),
        ("1", "1", "3", "Louga"),
        ("1", "1", "return", "Dakar"),
        ("2", "2", "start", "Dakar"),
        ("2", "2", "1", "Kaolack"),
        ("2", "2", "2", "Mbour"),
        ("2", "2", "return", "Dakar"),
    ]
    ways = [float(row["distance"]) for row in rows if row["stop"] == "return"]
    assert ways == pytest.approx([FLEET.length([0, 1, 2, 5]), FLEET.length([0, 3, 4])])
    assert [row["people"] for row in rows[:3]] == ["100", "50", "40"]


def test_vehicles_drive_on_one_day(tmp_path):
    two = FLEET.with_changes(fleet=Fleet(vehicles=2))
    rows = itinerary_of(tmp_path, two, make_tour(two, ROUTES.places))
    assert {(row["route"], row["day"]) for row in rows} == {("1", "1"), ("2", "1")}


def test_times_are_told_where_a_speed_is_given(tmp_path):
    rows = itinerary_of(tmp_path, FLEET, ROUTES, times=Times(60, 30))
    leg = float(FLEET.distances(0, 1))
    assert (rows[0]["arrives"], rows[0]["leaves"]) == ("", "08:00")
    assert rows[1]["arrives"] == f"08:{round(leg):02d}"
    assert rows[1]["leaves"] == Times(60).clock(leg / 60 + 0.5)


def test_what_is_left_out_ends_the_itinerary(tmp_path):
    rows = itinerary_of(tmp_path, PART, SOME)
    assert [(row["stop"], row["name"], row["people"]) for row in rows[-2:]] == [
        ("uncovered", "Mbour", "20"),
        ("uncovered", "Louga", "10"),
    ]


def test_an_open_itinerary_has_no_way_back(tmp_path):
    rows = itinerary_of(tmp_path, OPEN, ONE_WAY)
    assert [row["stop"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert float(rows[-1]["distance"]) == pytest.approx(ONE_WAY.length)


def test_geojson_has_a_line_for_each_route_and_marks_what_is_covered(tmp_path):
    covertour.write(tmp_path / "a.geojson", FLEET, ROUTES)
    features = json.loads((tmp_path / "a.geojson").read_text())["features"]
    lines = [f for f in features if f["geometry"]["type"] == "LineString"]
    assert [line["properties"]["route"] for line in lines] == [1, 2]
    assert [len(line["geometry"]["coordinates"]) for line in lines] == [5, 4]
    assert [line["properties"]["weight"] for line in lines] == [200, 50]
    covertour.write(tmp_path / "b.geojson", PART, SOME)
    places = json.loads((tmp_path / "b.geojson").read_text())["features"]
    left = {p["properties"]["name"]: p["properties"]["covered"] for p in places[-2:]}
    assert left == {"Mbour": False, "Louga": False}
    covertour.write(tmp_path / "c.geojson", OPEN, ONE_WAY)
    line = json.loads((tmp_path / "c.geojson").read_text())["features"][0]
    assert line["geometry"]["coordinates"][-1] == [-16.2, 15.6]


def test_gpx_has_a_route_each_and_says_who_is_not_covered(tmp_path):
    covertour.write(tmp_path / "a.gpx", FLEET, ROUTES)
    space = "{http://www.topografix.com/GPX/1/1}"
    routes = ElementTree.parse(tmp_path / "a.gpx").getroot().findall(f"{space}rte")
    assert [route.findtext(f"{space}name") for route in routes] == [
        "towns, route 1",
        "towns, route 2",
    ]
    assert [len(route.findall(f"{space}rtept")) for route in routes] == [5, 4]
    covertour.write(tmp_path / "b.gpx", PART, SOME)
    spots = ElementTree.parse(tmp_path / "b.gpx").getroot().findall(f"{space}wpt")
    assert [spot.findtext(f"{space}desc") for spot in spots] == [
        "not covered; 20 people",
        "not covered; 10 people",
    ]


def test_the_map_lists_each_route_with_a_switch():
    page = html_map(FLEET, ROUTES, Manner(times=Times(60, 30)))
    assert page.count("data-switch=") == 2
    assert page.count('class="stop"') == 7
    assert "<span>Route 2 <small>day 2</small></span>" in page
    assert "3 stops, 200 people" in page
    assert "with 30 minutes at each stop" in page
    one = html_map(TOWNS, make_tour(TOWNS, range(6)))
    assert "data-switch=" not in one


def test_the_map_tells_who_is_left_out_and_how_many_people_are_reached():
    page = html_map(PART, SOME)
    assert "220 of 250 people (88.0 %)" in page
    assert "Not covered: 2 places, 30 people" in page
    budget = TOWNS.with_changes(budget=2_000.0)
    result = Result(budget, "exact", make_tour(budget, range(6)), 1.0, bound=250.0)
    assert "no tour of this budget covers more" in html_map(budget, result)


def test_an_open_tour_ends_on_the_map():
    page = html_map(OPEN, ONE_WAY)
    assert "back to" not in page
    assert '"closed":false' in page


def test_pictures_draw_each_route_and_no_way_back_of_an_open_one():
    from covertour.plot import plot_tour

    ax = plot_tour(FLEET, ROUTES)
    drawn = [line.get_xydata() for line in ax.get_lines()]
    assert [len(line) for line in drawn] == [5, 4]
    assert len({line.get_color() for line in ax.get_lines()}) == 2
    (way,) = (line.get_xydata() for line in plot_tour(OPEN, ONE_WAY).get_lines())
    assert np.allclose(way[-1], OPEN.coordinates[5])
    title = plot_tour(PART, SOME).get_title()
    assert "covers 220 of 250 people (88.0 %)" in title


def test_a_place_that_needs_no_cover_is_not_called_uncovered():
    free = TOWNS.with_changes(demand=[1, 1, 1, 1, 1, 0])
    tour = make_tour(free, range(5))
    assert verify(free, tour).ok
    page = html_map(free, tour)
    assert "Not covered" not in page
    assert "Some places need no cover." in page
    assert "several stops" not in page
    assert '"lacking":[]' in page


def test_a_notebook_sketches_routes_and_open_tours():
    from covertour.problem.drawing import sketch

    assert sketch(FLEET, ROUTES.places).count("<polygon") == 2
    assert sketch(OPEN, ONE_WAY.places).count("<polyline") == 1
