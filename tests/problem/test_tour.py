"""Tours in their normal form, and who serves whom."""

from __future__ import annotations

import numpy as np
import pytest

from covertour import InputError, Instance, Tour, make_tour, service

PENTAGON = [[0, 0], [4, 0], [5, 3], [2, 5], [-1, 3]]


def test_equal_tours_look_equal() -> None:
    instance = Instance.from_coordinates(PENTAGON, nearest=0)
    tours = ([2, 3, 4, 0, 1], [1, 0, 4, 3, 2], [0, 1, 2, 3, 4], [0, 4, 3, 2, 1])
    assert {tuple(make_tour(instance, places).places.tolist()) for places in tours} == {
        (0, 1, 2, 3, 4)
    }


def test_a_tour_starts_at_the_depot() -> None:
    instance = Instance.from_coordinates(PENTAGON, nearest=1, depot=3)
    assert make_tour(instance, [0, 3, 2]).places.tolist() == [3, 0, 2]


def test_an_asymmetric_tour_keeps_its_direction() -> None:
    instance = Instance.from_matrix([[0, 1, 9], [9, 0, 1], [1, 9, 0]], nearest=0)
    tour = make_tour(instance, [2, 1, 0])
    assert tour.places.tolist() == [0, 2, 1]
    assert tour.length == 27


def test_a_tour_knows_its_length_and_size_and_cannot_be_written() -> None:
    instance = Instance.from_coordinates(PENTAGON, nearest=0)
    tour = make_tour(instance, (0, 1))
    assert (tour.length, len(tour), tour.places.dtype) == (8, 2, np.int64)
    with pytest.raises(ValueError, match="read-only"):
        tour.places[0] = 1
    assert make_tour(instance, [4]).length == 0


@pytest.mark.parametrize("places", [[], [[0, 1]], [0, 5], [-1, 0]])
def test_what_is_no_list_of_places_is_refused(places: list) -> None:
    instance = Instance.from_coordinates(PENTAGON, nearest=0)
    with pytest.raises(InputError, match=r"^tour: expected"):
        make_tour(instance, places)


def test_each_place_is_served_by_its_nearest_covering_stop() -> None:
    line = Instance.from_coordinates([[0, 0], [1, 0], [2, 0], [4, 0], [9, 0]], radius=3)
    served = service(line, make_tour(line, [0, 3]))
    assert served.stop.tolist() == [0, 0, 0, 1, -1]  # place 2 is tied: the earlier stop has it
    assert served.distance.tolist() == [0, 1, 2, 0, np.inf]


def test_a_near_stop_that_does_not_cover_does_not_serve() -> None:
    instance = Instance.from_coordinates([[0, 0], [1, 0], [5, 0]], radius=[9, 9, 0.5])
    served = service(instance, Tour(np.array([2, 0]), 10.0))
    assert served.stop.tolist() == [1, 1, 0]


def test_distances_of_service_run_from_the_stop() -> None:
    instance = Instance.from_matrix([[0, 3], [8, 0]], nearest=1)
    assert service(instance, make_tour(instance, [0])).distance.tolist() == [0, 3]


def test_a_stop_serves_itself_even_in_a_shared_spot() -> None:
    twins = Instance.from_coordinates([[0, 0], [0, 0]], radius=0)
    assert service(twins, make_tour(twins, [0, 1])).stop.tolist() == [0, 1]
