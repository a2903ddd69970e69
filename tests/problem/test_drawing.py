"""Where places are drawn, and the sketch that notebooks show."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from covertour import Instance, random_instance
from covertour.problem.drawing import MOST_DOTS, drawn_at, sketch

SVG = "{http://www.w3.org/2000/svg}"


def test_places_on_both_sides_of_the_date_line_are_drawn_together() -> None:
    fiji = Instance.from_coordinates(
        [[177.4, -17.6], [-179.9, -16.8], [179.3, -16.4]], metric="haversine", radius=1
    )
    assert np.ptp(drawn_at(fiji)[:, 0]) < 3


def test_tsplib_degrees_and_minutes_are_drawn_as_longitude_and_latitude() -> None:
    ithaca = Instance.from_coordinates([[38.24, 20.42]], metric="geo", radius=1)
    assert drawn_at(ithaca)[0] == pytest.approx([20.7, 38.4], abs=1e-4)


def test_a_notebook_shows_the_places_of_an_instance() -> None:
    towns = Instance.from_coordinates(
        [[0, 0], [4, 0], [4, 3]], radius=2, depot=1, forbidden=[2], labels="abc", name="towns"
    )
    shown = towns._repr_html_()
    for words in ("towns", "3 places", "radius of 2", "depot b", "1 forbidden"):
        assert words in shown
    drawn = ElementTree.fromstring(sketch(towns))
    assert len(drawn.findall(f".//{SVG}circle")) == 4  # three places, and the depot once more


def test_a_sketch_draws_the_tour_within_its_frame() -> None:
    instance = random_instance(30, nearest=7, seed=4)
    drawn = ElementTree.fromstring(sketch(instance, np.array([3, 1, 2])))
    (tour,) = drawn.findall(f"{SVG}polygon")
    corners = np.array([pair.split(",") for pair in tour.attrib["points"].split()], dtype=float)
    assert len(corners) == 3
    assert (corners >= 0).all()
    assert (corners <= [float(drawn.attrib["width"]), float(drawn.attrib["height"])]).all()


def test_a_sketch_is_drawn_of_one_spot_and_of_very_many_places() -> None:
    assert "<circle" in sketch(Instance.from_coordinates([[7, 7], [7, 7]], radius=0))
    assert sketch(random_instance(3 * MOST_DOTS, radius=0)).count("<circle") == MOST_DOTS


def test_a_name_cannot_add_to_the_page() -> None:
    label = "<script>alert(1)</script>"
    instance = Instance.from_coordinates([[0, 0], [1, 1]], radius=1, name=label, labels=[label] * 2)
    assert "<script" not in instance.with_changes(depot=0)._repr_html_()


def test_a_matrix_without_coordinates_is_shown_in_words_alone() -> None:
    shown = Instance.from_matrix([[0, 1], [1, 0]], nearest=1)._repr_html_()
    assert "2 places" in shown
    assert "<svg" not in shown
