"""The choice of format by the ending of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from covertour import InputError, Instance, make_tour, read, read_tour, write
from covertour.formats import OUTCOME_ENDINGS, check_output

COAST = Instance.from_coordinates([[0, 0], [0, 1], [1, 1]], metric="haversine", nearest=1)
TOUR = make_tour(COAST, [0, 1])


def test_unknown_endings_list_the_known_ones(tmp_path: Path) -> None:
    known = ".json .geojson .gpx .csv .tour .html .png .svg"
    for attempt in (lambda path: write(path, COAST, TOUR), check_output):
        with pytest.raises(InputError) as caught:
            attempt(tmp_path / "a.docx")
        assert str(caught.value).endswith(
            f"cannot write a tour to the ending '.docx'; known: {known}"
        )
    with pytest.raises(
        InputError, match=r"cannot read an instance from the ending '.xlsx'; known: "
    ):
        read("a.xlsx")
    with pytest.raises(InputError, match="cannot read a tour from a name without ending"):
        read_tour("tour", COAST)
    with pytest.raises(InputError, match=r"cannot write an instance to the ending '.gpx'"):
        write(tmp_path / "a.gpx", COAST)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".json", ".csv", ".tsp", ".geojson", ".npy"])
def test_files_that_are_missing_empty_or_directories(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"places{ending}"
    with pytest.raises(InputError, match=f"places{ending}: no such file"):
        read(path, nearest=1)
    path.touch()
    with pytest.raises(InputError, match=f"places{ending}: the file is empty"):
        read(path, nearest=1)
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match=f"places{ending}: is a directory, expected a file"):
        read(path, nearest=1)


def test_two_rules_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nearest and radius are given"):
        read(tmp_path / "a.csv", nearest=1, radius=1)


def test_endings_in_capitals_and_paths_as_text(tmp_path: Path) -> None:
    write(str(tmp_path / "A.JSON"), COAST)
    assert read(str(tmp_path / "A.JSON")).n == 3


@pytest.mark.parametrize("ending", OUTCOME_ENDINGS)
def test_every_ending_writes_a_tour(tmp_path: Path, ending: str) -> None:
    write(tmp_path / f"tour{ending}", COAST, TOUR)
    content = (tmp_path / f"tour{ending}").read_bytes()
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".gpx": b"<?xml", ".html": b"<!"}
    assert content.startswith(starts.get(ending, b""))
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_an_instance_is_drawn(tmp_path: Path, ending: str) -> None:
    write(tmp_path / f"places{ending}", COAST)
    assert (tmp_path / f"places{ending}").stat().st_size > 1000
