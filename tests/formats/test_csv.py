from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from covertour import InputError, Instance, Nearest, Radius, Sets, make_tour, read, read_tour, write


def table(tmp_path: Path, text: str | bytes, name: str = "villages.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def message(tmp_path: Path, text: str | bytes, **rule: object) -> str:
    path = table(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read(path, **(rule or {"nearest": 1}))
    return str(caught.value).replace(str(path), "villages.csv")


def test_latitude_and_longitude_make_an_instance_on_the_globe(tmp_path: Path) -> None:
    path = table(tmp_path, "Name,Lat,LNG,radius_km\nDakar,14.69,-17.44,20\nThiès,14.79,-16.93,5\n")
    instance = read(path)
    assert instance.metric == "haversine"
    assert instance.name == "villages"
    assert instance.labels == ("Dakar", "Thiès")
    assert instance.coordinates.tolist() == [[-17.44, 14.69], [-16.93, 14.79]]
    assert isinstance(instance.rule, Radius)
    assert instance.rule.r.tolist() == [20, 5]


def test_x_and_y_make_an_instance_in_the_plane(tmp_path: Path) -> None:
    instance = read(table(tmp_path, "Easting,Northing,k\n1,2,3\n4,5,3\n"))
    assert instance.metric == "euclidean"
    assert instance.coordinates.tolist() == [[1, 2], [4, 5]]
    assert isinstance(instance.rule, Nearest)
    assert instance.rule.k == 3


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffname,x,y\na,1,2\nb,3,4\n",
        "name;x;y\na;1;2\nb;3;4\n",
        "name\tx\ty\na\t1\t2\nb\t3\t4\n",
        "name,x,y\r\na,1,2\r\nb,3,4\r\n",
        "name,x,y\ra,1,2\rb,3,4",
        '\n\n"name", x, y\n\n"a", 1, 2\n,,\n"b", 3, 4\n\n',
    ],
    ids=["byte order mark", "semicolon", "tab", "windows", "old mac", "blank lines and spaces"],
)
def test_dialects(tmp_path: Path, text: str) -> None:
    instance = read(table(tmp_path, text), nearest=1)
    assert instance.labels == ("a", "b")
    assert instance.coordinates.tolist() == [[1, 2], [3, 4]]


def test_flags_say_depot_required_and_forbidden(tmp_path: Path) -> None:
    text = "x,y,must visit,avoid,start\n0,0,yes,,\n0,1,Y,no,0\n1,1,0,TRUE,n\n1,0,false,x,1\n"
    with pytest.raises(InputError, match="depot: place 3 is forbidden too"):
        read(table(tmp_path, text), nearest=1)
    instance = read(table(tmp_path, text.replace("x,1\n", "0,1\n")), nearest=1)
    assert (instance.required, instance.forbidden, instance.depot) == ((0, 1), (2,), 3)


def test_the_callers_rule_replaces_the_columns(tmp_path: Path) -> None:
    path = table(tmp_path, "x,y,radius,nearest\n0,0,oops,1\n1,1,,1\n")
    assert read(path, nearest=2).rule.k == 2
    assert read(path, radius=[1, 2]).rule.r.tolist() == [1, 2]


def test_covers_lists_places(tmp_path: Path) -> None:
    instance = read(table(tmp_path, "x,y,covers\n0,0,1 2\n1,1,\n2,2,0\n"))
    assert isinstance(instance.rule, Sets)
    assert [members.tolist() for members in instance.rule.sets] == [[1, 2], [], [0]]


def test_the_metric_decides_between_two_pairs_of_coordinates(tmp_path: Path) -> None:
    path = table(tmp_path, "x,y,lat,lon\n100,200,10,20\n")
    assert read(path, nearest=1).coordinates.tolist() == [[20, 10]]
    assert read(path, nearest=1, metric="euc_2d").coordinates.tolist() == [[100, 200]]
    assert read(path, nearest=1, metric="geo").coordinates.tolist() == [[10, 20]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "villages.csv: the file is empty"),
        ("\n \n", "villages.csv: the file is empty"),
        ("x,y\n", "villages.csv: the file has a header but no places"),
        ("lat,lon\n1,2\n97,5\n", "villages.csv, line 3: latitude 97 is outside ±90"),
        ("lat,lon\n1,2\n7,-500\n", "villages.csv, line 3: longitude -500 is outside ±360"),
        ("x,y\n1,2\n\n3,nan\n", "villages.csv, line 4: y 'nan' is not a finite number"),
        ("x,y\n1,2\n-inf,3\n", "villages.csv, line 3: x '-inf' is not a finite number"),
        ("x,y\n1,2\n3,\n", "villages.csv, line 3: y is missing"),
        ("x,y\n1,two\n", "villages.csv, line 2: y 'two' is not a number"),
        ("x,y\n1,2_0\n", "villages.csv, line 2: y '2_0' is not a number"),
        ("x;y\n1;2,5,1\n", "villages.csv, line 2: y '2,5,1' is not a number"),
        ("x,y\n1,2\n3\n", "villages.csv, line 3: expected 2 columns, found 1"),
        ("x,y\n1,2\n1,2,3\n", "villages.csv, line 3: expected 2 columns, found 3"),
        ('name,x,y\n"a\nb",1,2\nc,1,q\n', "villages.csv, line 4: y 'q' is not a number"),
        ("lat,name\n1,a\n", "villages.csv, line 1: found the latitude but no column for the long"),
        ("lat,LAT,lon\n1,1,2\n", "villages.csv, line 1: the columns 'lat' and 'LAT' both give"),
        (
            "foo,bar,baz\n1,2,3\n",
            "villages.csv, line 1: expected the columns x,y or lat,lon, or a square distance "
            "matrix; found the columns 'foo', 'bar', 'baz'",
        ),
        ("1,2,3\n4,5,6\n", "found 2 rows of 3 numbers without a header"),
        ("x,y,depot\n1,2,1\n3,4,yes\n", "villages.csv, line 3: a second depot"),
        ("x,y,avoid\n1,2,maybe\n", "villages.csv, line 2: forbidden 'maybe' is neither yes nor no"),
        ("x,y,metric\n1,2,warp\n", "villages.csv, line 2: metric: no 'warp'; there are euclidean"),
        ("x,y,metric\n1,2,att\n1,2,geo\n", "villages.csv, line 3: metric 'geo', but 'att' before"),
        ("stop,place,leg,x,y\n1,0,0,1,1\n", "villages.csv: this is an itinerary"),
        (b"name,x,y\nok,1,2\nThi\x8f\xe8s,1,2\n", "villages.csv, line 3: not UTF-8 text"),
        (
            b"name,x,y\nSaint-\xc3\xa9,1,2\nThi\xc3\xa8,3,4\n\xc3,4,4\n",
            "villages.csv, line 4: not UTF-8 text",
        ),
    ],
)
def test_bad_tables(tmp_path: Path, text: str | bytes, expected: str) -> None:
    found = message(tmp_path, text)
    assert expected in found
    assert "\n" not in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x,y\n1,2\n", "give nearest or radius (--nearest, --radius)"),
        ("x,y,radius\n1,2,5\n3,4,\n", "villages.csv, line 3: radius is missing"),
        ("x,y,radius\n1,2,5\n3,4,-1\n", "villages.csv, line 3: radius -1 is negative"),
        ("x,y,nearest\n1,2,-5\n", "villages.csv, line 2: nearest -5 is negative"),
        ("x,y,nearest\n1,2,2.5\n", "villages.csv, line 2: nearest 2.5 is not a whole number"),
        ("x,y,covers\n1,2,9\n", "villages.csv, line 2: covers place 9, which does not exist"),
        ("x,y,covers\n1,2,a\n", "villages.csv, line 2: covers 'a', expected place numbers"),
        (
            "x,y,nearest,radius\n1,2,1,1\n",
            "villages.csv, line 2: both nearest and radius are given",
        ),
    ],
)
def test_bad_rules(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in message(tmp_path, text, nearest=None)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("0,5\n7,0\n", None),
        ("a,b\n0,5\n7,0\n", ("a", "b")),
        ("a,0,5\nb,7,0\n", ("a", "b")),
        (",a,b\na,0,5\nb,7,0\n", ("a", "b")),
        ("place;x;y\nx;0;5\ny;7;0\n", ("x", "y")),
        (",1,2\n1,0,5\n2,7,0\n", ("1", "2")),
    ],
)
def test_a_square_of_numbers_is_a_matrix(
    tmp_path: Path, text: str, labels: tuple[str, ...] | None
) -> None:
    instance = read(table(tmp_path, text), nearest=1)
    assert instance.metric == "matrix"
    assert instance.matrix.tolist() == [[0, 5], [7, 0]]
    assert instance.labels == labels


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0,5\n-7,0\n", "villages.csv, line 2, column 1: distance -7 is negative"),
        ("0,5\nnan,0\n", "villages.csv, line 2, column 1: distance 'nan' is not a finite number"),
        ("a,b\n0,5\n7,?\n", "villages.csv, line 3, column 2: distance '?' is not a number"),
        ("0,5\n7\n", "villages.csv, line 2: expected 2 columns, found 1"),
        ("0,5\n7,0\n6,6\n", "found 3 rows of 2 numbers"),
        (
            ",a,b\na,0,5\nc,7,0\n",
            "villages.csv, line 3: the row is labelled 'c' but the column 'b'",
        ),
        ("1.5,2\n3,4\n", "villages.csv, line 1, column 1: expected the columns x,y or lat,lon"),
    ],
)
def test_bad_matrices(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in message(tmp_path, text)


def test_a_matrix_has_no_other_metric(tmp_path: Path) -> None:
    assert "the metric cannot be 'geo'" in message(tmp_path, "0,1\n1,0\n", nearest=1, metric="geo")


def test_a_matrix_that_would_lose_its_depot_is_not_written(tmp_path: Path) -> None:
    instance = Instance.from_matrix([[0, 1], [1, 0]], nearest=1, depot=0)
    with pytest.raises(InputError, match="a distance matrix cannot hold a depot"):
        write(tmp_path / "m.csv", instance)
    assert list(tmp_path.iterdir()) == []


def test_the_itinerary_tells_each_stop_and_the_way_back(tmp_path: Path) -> None:
    instance = Instance.from_coordinates(
        [[0, 0], [0, 1], [3, 0], [3, 1]], radius=1, labels=["a", "b, the 2nd", "c", "d"]
    )
    write(tmp_path / "plan.csv", instance, make_tour(instance, [0, 2]))
    assert (tmp_path / "plan.csv").read_text().splitlines() == [
        "stop,place,name,leg,distance,covers,covered,x,y",
        '1,0,a,0,0,1,"b, the 2nd",0.0,0.0',
        "2,2,c,3,3,1,d,3.0,0.0",
        'return,0,a,3,6.0,0,"",0.0,0.0',
    ]


def test_an_itinerary_keeps_its_mistakes_for_the_referee(tmp_path: Path) -> None:
    square = Instance.from_coordinates([[0, 0], [0, 1], [1, 1], [1, 0]], radius=1)
    path = table(tmp_path, "stop,place\n1,0\n2,0\n3,1\n")
    tour = read_tour(path, square)
    assert tour.places.tolist() == [0, 0, 1]
    assert tour.length == 2
    path = table(tmp_path, "stop,place,distance\n1,0,0\n2,2,1\nreturn,0,99\n")
    assert read_tour(path, square).length == 99


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x,y\n1,2\n", "line 1: expected an itinerary with the columns stop and place"),
        ("stop,place\n1,zero\n", "line 2: place 'zero' is not a place number"),
        ("stop,place,distance\n1,0,0\nreturn,0,far\n", "line 3: distance 'far' is not a number"),
        (
            "stop,place\n1,99999999999999999999999\n",
            "a place number or the length of the tour is too large",
        ),
    ],
)
def test_bad_itineraries(tmp_path: Path, text: str, expected: str) -> None:
    square = Instance.from_coordinates([[0, 0], [0, 1], [1, 1], [1, 0]], radius=1)
    with pytest.raises(InputError, match=expected):
        read_tour(table(tmp_path, text), square)


def test_a_stop_may_serve_more_places_than_a_cell_usually_holds(tmp_path: Path) -> None:
    points = np.zeros((30_000, 2))
    instance = Instance.from_coordinates(points, radius=0, labels=["village"] * len(points))
    instance = instance.with_changes(
        rule=Sets((np.arange(30_000), *[np.empty(0, dtype=np.int64)] * 29_999))
    )
    tour = make_tour(instance, [0])
    write(tmp_path / "plan.csv", instance, tour)
    assert read_tour(tmp_path / "plan.csv", instance).places.tolist() == [0]


def test_names_that_a_spreadsheet_would_run_are_written_so_that_it_does_not(tmp_path: Path) -> None:
    names = ["=1+1", "+cmd", "-rm", "@SUM(A1)", "'=x", "-5", "-1.5e3", "plain", "'s-Gravenhage"]
    places = Instance.from_coordinates(
        [[-place, place] for place in range(len(names))], nearest=8, labels=names
    )
    path = tmp_path / "a.csv"
    write(path, places)
    cells = [line.split(",")[:2] for line in path.read_text().splitlines()[1:]]
    assert cells[:3] == [["'=1+1", "0.0"], ["'+cmd", "-1.0"], ["'-rm", "-2.0"]]
    assert [name for name, _ in cells[4:]] == ["''=x", "-5", "-1.5e3", "plain", "'s-Gravenhage"]
    assert read(path).labels == tuple(names)
    write(path, places, make_tour(places, [0]))
    for line in path.read_text().splitlines()[1:]:
        assert not any(re.match(r'"?[=+@]|"?-\D', cell) for cell in line.split(","))
    assert read_tour(path, places).places.tolist() == [0]
