"""A tour in a file belongs to the places by their names, also when their rows have changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from covertour import InputError, Instance, make_tour, read_tour, write

NAMES = ["Alba", "Bree", "Cori", "Dorn", "Esk"]
PLACES = [[0, 0], [1, 0], [4, 0], [4, 3], [0, 3]]
TOWNS = Instance.from_coordinates(PLACES, metric="haversine", nearest=1, labels=NAMES)
TOUR = make_tour(TOWNS, [0, 2, 4])
NAMED = [".json", ".geojson", ".gpx", ".csv"]


def without(*gone: int) -> Instance:
    kept = [place for place in range(5) if place not in gone]
    return Instance.from_coordinates(
        [PLACES[place] for place in kept],
        metric="haversine",
        nearest=1,
        labels=[NAMES[place] for place in kept],
        name="fewer",
    )


@pytest.mark.parametrize("ending", NAMED)
def test_stops_are_found_by_name_where_a_row_was_removed(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"tour{ending}"
    write(path, TOWNS, TOUR)
    tour = read_tour(path, without(1))
    assert tour.places.tolist() == [0, 1, 3]
    assert tour.length == pytest.approx(without(1).length([0, 1, 3]))


@pytest.mark.parametrize("ending", NAMED)
def test_a_stop_that_is_gone_is_named(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"tour{ending}"
    write(path, TOWNS, TOUR)
    with pytest.raises(InputError, match="stop 2 is 'Cori', but no place of fewer is called so"):
        read_tour(path, without(2))


def test_places_of_one_name_are_told_apart_by_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "tour.csv"
    twins = TOWNS.with_changes(labels=["Alba", "Bree", "Alba", "Dorn", "Esk"])
    write(path, twins, TOUR)
    assert read_tour(path, twins).places.tolist() == [0, 2, 4]
    moved = TOWNS.with_changes(labels=["Bree", "Alba", "Dorn", "Alba", "Esk"])
    with pytest.raises(InputError, match="stop 1 is 'Alba', place 0, but there are 2 other places"):
        read_tour(path, moved)


def test_a_tour_without_names_goes_by_numbers(tmp_path: Path) -> None:
    nameless = TOWNS.with_changes(labels=None)
    for ending in [*NAMED, ".tour"]:
        path = tmp_path / f"tour{ending}"
        write(path, nameless, TOUR)
        assert read_tour(path, TOWNS).places.tolist() == [0, 2, 4]
        write(path, TOWNS, TOUR)
        assert read_tour(path, nameless).places.tolist() == [0, 2, 4]


@pytest.mark.parametrize("ending", [*NAMED, ".tour"])
def test_a_place_that_does_not_exist_is_named_with_its_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"tour{ending}"
    nameless = TOWNS.with_changes(labels=None)
    write(path, nameless, TOUR)
    few = Instance.from_coordinates(PLACES[:3], metric="haversine", nearest=1)
    with pytest.raises(InputError, match=f"tour{ending}: tour: .*there is no place 4"):
        read_tour(path, few)
