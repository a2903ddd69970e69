"""Tables as people make them."""

from __future__ import annotations

import io

import numpy as np
import pytest

from covertour import InputError, Instance, Radius, read


def table(text: str | bytes, **options: object) -> Instance:
    options = options if {"nearest", "radius"} & set(options) else {"nearest": 1, **options}
    content = text if isinstance(text, bytes) else text.encode()
    return read(io.BytesIO(content), format="csv", **options)


def refused(text: str | bytes, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        table(text, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace("the stream", "a.csv")


def notes(text: str | bytes, **options: object) -> list[str]:
    told: list[str] = []
    table(text, on_note=told.append, **options)
    return [line.replace("the stream", "a.csv") for line in told]


DAKAR = [[-17.44, 14.69], [-16.93, 14.79]]


@pytest.mark.parametrize(
    "text",
    [
        "nom;latitude;longitude\nDakar;14,69;-17,44\nThiès;14,79;-16,93\n".encode("cp1252"),
        "name\tlat\tlon\nDakar\t14,69\t-17,44\nThiès\t14,79\t-16,93\n".encode("utf-16"),
        'name,lat,lon\nDakar,"14,69","-17,44"\nThiès,"14,79","-16,93"\n',
        "name;lat;lon\nDakar;14.69;-17,44\nThiès;14,79;-16.93\n",
        "name;position\nDakar;14.69, -17.44\nThiès;14.79, -16.93\n",
        "name;lat,lon\nDakar;14.69,-17.44\nThiès;14.79,-16.93\n",
        'name,"lat, lon"\nDakar,"14.69, -17.44"\nThiès,"14.79, -16.93"\n',
        'name,lon_lat\nDakar,"-17.44, 14.69"\nThiès,-16.93 14.79\n',
        "name,wkt\nDakar,POINT (-17.44 14.69)\nThiès,POINT (-16.93 14.79)\n",
        "name,lat,lon\nDakar,14°41'24\"N,17°26'24\"W\nThiès,14 47 24,-16 55 48\n",
        "nom,lat,lon\nDakar,14.69 N,17.44 O\nThiès,14.79 N,16.93 O\n",
        "sep=;\nname;lat;lon\nDakar;14,69;-17,44\nThiès;14,79;-16,93\n",
        "Villages, 2024\n\nname,lat,lon\nDakar,14.69,-17.44\nThiès,14.79,-16.93\n,,\n , ,\n",
        "Dorfliste;;\n\nOrt;Breite;Länge\nDakar;14,69;-17,44\nThiès;14,79;-16,93\n",
        "a,b,c\n#loc+name,#geo+lat,#geo+lon\nDakar,14.69,-17.44\nThiès,14.79,-16.93\n",
        "#loc+name,#geo+lat,#geo+lon\nDakar,14.69,-17.44\nThiès,14.79,-16.93\n",
        "name,lat,lon\n#loc+name,#geo+lat,#geo+lon\nDakar,14.69,-17.44\nThiès,14.79,-16.93\n",
        "name,lat,lon,,\nDakar,14.69,-17.44,,\nThiès,14.79,-16.93,,\n",
    ],
    ids=lambda text: (text if isinstance(text, str) else text.decode("latin-1"))[:40],
)
def test_tables_as_people_save_them(text: str | bytes) -> None:
    found = table(text)
    assert found.metric == "haversine"
    assert found.labels == ("Dakar", "Thiès")
    assert found.coordinates == pytest.approx(np.array(DAKAR))


def test_a_table_with_decimal_commas_has_them_in_all_columns() -> None:
    found = table("x;y;population;radius\n1,5;2,5;1.234;0,5\n3,5;4;12,5;2,5\n", radius=None)
    assert found.coordinates.tolist() == [[1.5, 2.5], [3.5, 4]]
    assert found.weight.tolist() == [1234, 12.5]
    assert isinstance(found.rule, Radius)
    assert found.rule.r.tolist() == [0.5, 2.5]


def test_thousands_have_commas_where_coordinates_have_points() -> None:
    found = table('lat,lon,population\n1.5,2,"1,234"\n3,4,12 500\n')
    assert found.weight.tolist() == [1234, 12500]


@pytest.mark.parametrize(
    ("text", "radii"),
    [
        ("lat,lon,radius (m)\n1,2,500\n1,3,1500\n", [0.5, 1.5]),
        ("lat,lon,rayon_km\n1,2,5\n1,3,7\n", [5, 7]),
        ("lat,lon,radius\n1,2,500 m\n1,3,2mi\n", [0.5, 3.218688]),
    ],
)
def test_radii_have_units(text: str, radii: list[float]) -> None:
    assert table(text, radius=None).rule.r.tolist() == radii


def test_a_radius_has_a_unit_only_on_the_globe() -> None:
    assert table("lat,lon\n1,2\n", radius="12mi").rule.r == pytest.approx(19.312128)
    assert table("x,y\n1,2\n", radius="12").rule.r == 12
    assert refused("x,y\n1,2\n", radius="12mi").startswith("radius: 12mi has a unit, but")
    assert "no unit 'parsec'" in refused("lat,lon\n1,2\n", radius="1 parsec")
    assert "'far' is not a distance" in refused("lat,lon\n1,2\n", radius="far")


def test_yes_and_no_in_five_languages() -> None:
    words = ["oui", "non", "Sí", "no", "sim", "não", "JA", "nein", "x", "", "1", "0", "1.0", "✓"]
    text = "x,y,required\n" + "".join(f"{i},0,{word}\n" for i, word in enumerate(words))
    assert table(text).required == (0, 2, 4, 6, 8, 10, 12, 13)


def test_all_bad_rows_are_listed() -> None:
    text = "name,lat,lon,required\na,1,2,yes\nb,north,2,\nc,97,2,\nd,,3,\ne,4\nf,1,2,maybe\n"
    assert refused(text) == (
        "a.csv: 5 bad rows: line 3: latitude 'north' is not a number; line 4: latitude 97 is "
        "outside ±90; are latitude and longitude swapped?; line 5: latitude is missing; line 6: "
        "expected 4 columns, found 2; line 7: required 'maybe' is neither yes nor no; "
        "skip_bad_rows (--skip-bad-rows) goes on without"
    )


def test_twenty_bad_rows_and_how_many_more() -> None:
    message = refused("lat,lon\n1,2\n" + "x,1\n" * 25)
    assert message.count("latitude 'x' is not a number") == 20
    assert "line 22: latitude 'x' is not a number; and 5 more; skip_bad_rows" in message
    assert message.startswith("a.csv: 25 bad rows: line 3: ")


def test_bad_rows_are_skipped_where_that_is_wished() -> None:
    text = "name,lat,lon,required\na,1,2,\nb,north,2,\nc,3,4,yes\nTotal\n"
    found = table(text, skip_bad_rows=True)
    assert found.labels == ("a", "c")
    assert found.required == (1,)
    assert notes(text, skip_bad_rows=True) == [
        "skipped: a.csv: 2 bad rows: line 3: latitude 'north' is not a number; line 5: expected 4 "
        "columns, found 1"
    ]
    assert refused("lat,lon\nx,1\n", skip_bad_rows=True) == (
        "a.csv, line 2: latitude 'x' is not a number"
    )
    assert "covers has places by their numbers" in refused(
        "x,y,covers\n1,2,\nq,2,0\n", skip_bad_rows=True, radius=None
    )


def test_rows_that_are_the_same_are_merged_where_that_is_wished() -> None:
    text = "name,x,y\na,1,2\nb,3,4\na,1,2\na,1,3\na,1,2\n"
    assert table(text).n == 5
    assert notes(text) == [
        "a.csv: 2 rows are the same as another; merge_duplicates (--merge-duplicates) makes one "
        "place of them"
    ]
    assert table(text, merge_duplicates=True).labels == ("a", "b", "a")
    assert notes(text, merge_duplicates=True) == [
        "a.csv: 2 rows are the same as another and merged with it"
    ]


def test_tags_count_also_where_rows_are_skipped() -> None:
    text = "lat,lon,Menschen,Wer\n,,#population,#loc+name\n1,2,30,a\nx,2,40,b\n1,2,30,a\n3,4,50,c\n"
    found = table(text, skip_bad_rows=True)
    assert found.labels == ("a", "a", "c")
    assert found.weight.tolist() == [30, 30, 50]
    assert len([line for line in notes(text, skip_bad_rows=True) if "the same as" in line]) == 1


def test_a_position_beside_latitude_and_longitude_is_only_carried() -> None:
    found = table('gps,lat,lon,location\n"1, 2",1,2,here\n"3, 4",3,4,there\n')
    assert found.extra == {"gps": ("1, 2", "3, 4")}
    assert found.labels == ("here", "there")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name,lat,lon\nA,17 W,5\n", "line 2: latitude '17 W' is a longitude"),
        ("name,lat,lon\nA,17,5 O\n", "O may be west (ouest, oeste) or east (Ost); write W or E"),
        ("name,gps\nA,14.69\nB,\n", "found the columns 'name', 'gps'"),
        ('gps\n"1, 2"\nfar\n', "line 3: the position 'far' is not a latitude and a longitude"),
        ("a,b\n#loc+name,#geo+lat\nx,1\n", "found the columns 'a', 'b'"),
    ],
)
def test_what_is_wrong_is_told(text: str, why: str) -> None:
    assert why in refused(text)


def test_o_is_told_by_the_other_longitudes() -> None:
    assert table("lat,lon\n1,5 O\n1,6 W\n").coordinates[:, 0].tolist() == [5, -6]
    assert table("lat,lon\n1,5 O\n1,6 E\n").coordinates[:, 0].tolist() == [-5, 6]


def test_a_text_file_of_excel_is_a_table(tmp_path) -> None:
    path = tmp_path / "villages.txt"
    path.write_bytes("name\tlat\tlon\nThiès\t14,79\t-16,93\n".encode("utf-16"))
    assert read(path, nearest=1).labels == ("Thiès",)
    path.rename(tmp_path / "villages.tsv")
    assert read(tmp_path / "villages.tsv", nearest=1).labels == ("Thiès",)
