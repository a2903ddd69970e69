from __future__ import annotations

import pytest

from covertour import InputError
from covertour.formats import titles


@pytest.mark.parametrize(
    "header",
    [
        ["Name", "Latitude", "Longitude", "Population", "Required"],
        ["Nom du village", "Latitude (°)", "Longitude (°)", "Nb habitants", "Obligatoire"],
        ["Nombre", "Latitud", "Longitud", "Población", "Obligatorio"],
        ["Localidade", "LATITUDE", "LONGITUDE", "População", "Obrigatório"],
        ["Ort", "Breitengrad", "Längengrad", "Einwohner", "Pflicht"],
        ["ortsname", "Breite", "Laenge", "Bevölkerung", "erforderlich"],
        ["village", "_gps_latitude", "_gps_longitude", "pop", "must-visit"],
        ["Site", "Lat (decimal degrees)", "Long. (WGS 84)", "people", "required"],
    ],
)
def test_titles_in_five_languages(header: list[str]) -> None:
    assert titles.find_columns(header, "a.csv") == {
        "name": 0,
        "latitude": 1,
        "longitude": 2,
        "weight": 3,
        "required": 4,
    }


def test_a_name_is_better_than_a_number() -> None:
    assert titles.find_columns(["id", "Ort", "x", "y"], "a.csv")["name"] == 1
    assert titles.find_columns(["id", "x", "y"], "a.csv")["name"] == 0


def test_two_columns_of_one_meaning_are_refused() -> None:
    with pytest.raises(InputError, match="'lat' and 'Breite' both give the latitude"):
        titles.find_columns(["lat", "Breite", "lon"], "a.csv")


def test_hxl_tags() -> None:
    tags = ["#adm1+name", "#loc +name", "#geo+lat", "#geo+lon", "#population+total", ""]
    assert titles.is_hxl(tags)
    assert titles.find_tagged(tags) == {"name": 1, "latitude": 2, "longitude": 3, "weight": 4}
    assert not titles.is_hxl(["#1", "#geo+lat"])
    assert not titles.is_hxl(["", " "])


@pytest.mark.parametrize(
    ("header", "sign"),
    [(["Ort", "lat"], 1.0), (["nom", "lat"], -1.0), (["name", "lat"], None)],
)
def test_the_language_tells_what_o_means(header: list[str], sign: float | None) -> None:
    assert titles.sign_of_o(header) == sign
