import numpy as np
import pytest

import covertour
from covertour import InputError, Instance, make_tour, random_instance
from covertour.formats import encode
from covertour.formats.manner import Manner
from covertour.plot.sheets import MOST_STOPS, sheets
from covertour.problem.goals import Fleet
from covertour.problem.times import Times
from covertour.problem.tour import Tour

TOWNS = Instance.from_coordinates(
    [[-17.4, 14.7], [-16.9, 14.8], [-15.9, 14.9], [-16.1, 14.2], [-17.0, 14.4], [-17.3, 14.7]],
    metric="haversine",
    radius=20,
    labels=["Dakar", "Thiès", "Touba", "Kaolack", "Mbour", "Rufisque"],
    weight=[100, 50, 40, 30, 20, 10],
    depot=0,
    fleet=Fleet(),
)
ROUTES = make_tour(TOWNS, [0, 1, 2, 0, 3, 4])


def texts(page):
    return [text.get_text() for text in page.texts]


def test_each_route_has_a_page_with_its_stops_times_and_who_is_served():
    first, second = sheets(TOWNS, ROUTES, Times(60, 30))
    assert {"Route 1, day 1", "Dakar", "Thiès", "Touba", "Rufisque", "back to Dakar"} <= set(
        texts(first)
    )
    assert "Mbour" not in texts(first)
    assert {"Route 2, day 2", "Kaolack", "Mbour", "2 of 2"} <= set(texts(second))
    reached = Times(60).clock(float(TOWNS.distances(0, 1)) / 60)
    assert reached in texts(first)
    assert any("2 stops" in text and "200 people" in text for text in texts(first))


def test_each_page_has_a_map_with_the_other_routes_behind():
    (ax,) = sheets(TOWNS, ROUTES)[0].axes
    assert [len(line.get_xydata()) for line in ax.get_lines()] == [4, 4]


def test_a_long_tour_goes_on_over_several_pages_and_loses_no_stop():
    many = random_instance(120, radius=0.0, seed=1)
    pages = sheets(many, make_tour(many, range(120)))
    assert len(pages) > 1
    names = [text for page in pages for text in texts(page) if text.isdigit()]
    assert set(names) >= {str(number) for number in range(1, 121)}
    assert [len(page.axes) for page in pages] == [1] + [0] * (len(pages) - 1)
    assert texts(pages[1])[0] == "places, continued" or "continued" in " ".join(texts(pages[1]))


def test_a_matrix_without_coordinates_has_sheets_without_a_map():
    bare = Instance.from_matrix([[0, 2], [3, 0]], nearest=0)
    (page,) = sheets(bare, make_tour(bare, [0, 1]))
    assert page.axes == []
    assert "back to 0" in texts(page)


def test_the_document_is_the_same_each_time(tmp_path):
    first, second = (encode(TOWNS, ROUTES, "pdf", Manner(times=Times(40))) for _ in range(2))
    assert first.startswith(b"%PDF")
    assert first == second
    covertour.write(tmp_path / "sheets.pdf", TOWNS, ROUTES)
    assert (tmp_path / "sheets.pdf").read_bytes().startswith(b"%PDF")


def test_too_many_stops_for_paper_are_refused():
    many = random_instance(MOST_STOPS + 1, nearest=0)
    with pytest.raises(InputError, match=r"sheets: 3,001 stops would fill hundreds of pages"):
        sheets(many, Tour(np.arange(many.n), 1.0))
