"""The choice of format by the ending of the file."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from covertour import InputError, Instance, make_tour, read, read_tour, write
from covertour.formats import OUTCOME_ENDINGS, check_output, encode

COAST = Instance.from_coordinates([[0, 0], [0, 1], [1, 1]], metric="haversine", nearest=1)
TOUR = make_tour(COAST, [0, 1])


def assert_same(found: Instance, expected: Instance) -> None:
    assert found.coordinates.tolist() == expected.coordinates.tolist()
    assert (found.metric, found.rule.k) == (expected.metric, expected.rule.k)


def test_unknown_endings_list_the_known_ones(tmp_path: Path) -> None:
    known = ".json .geojson .gpx .csv .xlsx .kml .gpkg .tour .html .pdf .png .svg"
    for attempt in (lambda path: write(path, COAST, TOUR), check_output):
        with pytest.raises(InputError) as caught:
            attempt(tmp_path / "a.docx")
        assert str(caught.value).endswith(
            f"cannot write a tour to the ending '.docx'; known: {known}"
        )
    with pytest.raises(
        InputError, match=r"cannot read an instance from the ending '.docx'; known: "
    ):
        read("a.docx")
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


def test_a_stream_is_known_by_its_name_or_its_content(tmp_path: Path) -> None:
    for ending in (".json", ".csv", ".geojson"):
        path = tmp_path / f"coast{ending}"
        write(path, COAST)
        with path.open("rb") as file:
            assert read(file).name == "coast" or ending != ".csv"
        with path.open(encoding="utf-8") as file:
            text = file.read()
        assert_same(read(io.StringIO(text)), COAST)
        assert_same(read(io.BytesIO(b"\xef\xbb\xbf" + text.encode())), COAST)
    square = Instance.from_matrix([[0, 1], [1, 0]], nearest=1)
    for ending in ("tsp", "npy"):
        data = io.BytesIO(encode(square, None, ending))
        assert read(data, nearest=1).matrix.tolist() == [[0, 1], [1, 0]]


def test_a_tour_is_read_from_a_stream() -> None:
    for ending in ("json", "geojson", "gpx", "csv", "tour"):
        stream = io.BytesIO(encode(COAST, TOUR, ending))
        assert read_tour(stream, COAST).places.tolist() == [0, 1]


def test_a_tour_is_written_to_a_stream() -> None:
    text, raw = io.StringIO(), io.BytesIO()
    write(text, COAST, TOUR, format="csv")
    write(raw, COAST, TOUR, format="csv")
    assert text.getvalue().encode() == raw.getvalue() == encode(COAST, TOUR, "csv")
    json_by_default = io.StringIO()
    write(json_by_default, COAST)
    assert json_by_default.getvalue().startswith('{"name"')
    with pytest.raises(InputError, match="needs a stream of bytes"):
        write(io.StringIO(), COAST, TOUR, format="png")


def test_a_dict_is_read_as_its_json_would_be() -> None:
    places = {"coordinates": np.array([[0, 0], [0, 1]]), "coverage": {"radius": np.float64(1)}}
    assert read(places | {"labels": ("a", "b")}).labels == ("a", "b")
    point = {"type": "Point", "coordinates": (5, 50)}
    assert read({"type": "Feature", "geometry": point}, radius=1).metric == "haversine"
    with pytest.raises(InputError, match=r"^the dict: unknown field 'coords'"):
        read({"coords": []}, radius=1)
    loop: list = []
    loop.append(loop)
    with pytest.raises(InputError, match="nested too deeply"):
        read({"coordinates": loop}, radius=1)


@pytest.mark.parametrize("source", [5, None, [[0, 0]], np.zeros((2, 2))])
def test_what_cannot_be_read_is_named(source: object) -> None:
    with pytest.raises(InputError, match="expected a path, a stream, a dict or a frame, got"):
        read(source, radius=1)
    with pytest.raises(InputError, match="expected a path or a stream, got"):
        read_tour(source, COAST)
    with pytest.raises(InputError, match="expected a path or a stream, got"):
        write(source, COAST)


def test_unused_columns_are_told_of_and_misspelt_ones_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y,requierd,remarks,id\n1,2,yes,5,7\n")
    notes: list[str] = []
    read(path, radius=1, on_note=notes.append)
    assert notes == [
        f"{path}: the column 'requierd' is not used; did you mean 'required'?",
        f"{path}: columns that are not used: 'remarks'",
    ]
    with pytest.warns(UserWarning, match="'requierd' is not used"):
        read(path, radius=1)
    path.write_text("x,y,population\n1,2,5\n")
    read(path, radius=1)  # without a warning
