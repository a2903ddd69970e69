from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from covertour import InputError, Instance, Tour, make_tour, read, read_tour, verify, write

LIBRARY = Path(__file__).parents[3] / "shared" / "data" / "tsplib"
needs_library = pytest.mark.skipif(
    not LIBRARY.is_dir(), reason="the TSPLIB files are not beside the project (../shared/data)"
)

SMALL = """NAME: small
TYPE : TSP
COMMENT: three nodes
DIMENSION :3
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3.0e+00 4E0
 3 0 8.
EOF
"""


def problem(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "small.tsp"
    path.write_text(text)
    return path


def message(tmp_path: Path, text: str) -> str:
    path = problem(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read(path, nearest=1)
    return str(caught.value).replace(str(path), "small.tsp")


@needs_library
@pytest.mark.parametrize("path", sorted(LIBRARY.glob("*.tsp")), ids=lambda path: path.stem)
def test_the_whole_library_is_read(path: Path) -> None:
    instance = read(path, nearest=7)
    assert instance.name == path.stem
    assert instance.n == int("".join(filter(str.isdigit, path.stem)))


@needs_library
@pytest.mark.parametrize(("name", "length"), [("berlin52", 22205), ("pcb442", 221440)])
def test_known_lengths_of_the_tour_in_order_of_the_file(name: str, length: int) -> None:
    instance = read(LIBRARY / f"{name}.tsp", nearest=7)
    assert instance.length(np.arange(instance.n)) == length


@pytest.mark.parametrize(
    "text",
    [
        SMALL,
        SMALL.replace("EOF\n", ""),
        SMALL.replace("\n", "\r\n"),
        SMALL.replace("\n", " \n"),
        SMALL.replace("1 0 0\n", "").replace("EOF", "1 0 0\nEOF"),
        SMALL.replace("1 0 0", "0 0 0").replace("2 3", "1 3").replace(" 3 0", "2 0"),
        SMALL.replace("three", "three\nCOMMENT : more"),
    ],
    ids=["plain", "no EOF", "windows", "trailing space", "any order", "from 0", "two comments"],
)
def test_nodes(tmp_path: Path, text: str) -> None:
    instance = read(problem(tmp_path, text), nearest=1)
    assert (instance.name, instance.metric) == ("small", "euc_2d")
    assert instance.coordinates.tolist() == [[0, 0], [3, 4], [0, 8]]


def test_a_comment_need_not_be_utf8(tmp_path: Path) -> None:
    path = tmp_path / "small.tsp"
    path.write_bytes(SMALL.replace("three", "Grötschel").encode("latin-1"))
    assert read(path, nearest=1).n == 3


def test_the_metric_can_be_replaced(tmp_path: Path) -> None:
    assert read(problem(tmp_path, SMALL), nearest=1, metric="euclidean").metric == "euclidean"


@pytest.mark.parametrize(
    ("layout", "numbers"),
    [
        ("FULL_MATRIX", "9999 1 2\n1 9999 3\n2 3 9999"),
        ("UPPER_ROW", "1 2\n3"),
        ("LOWER_ROW", "1\n2 3"),
        ("UPPER_DIAG_ROW", "0 1 2 0 3\n0"),
        ("LOWER_DIAG_ROW", "0\n1 0\n2 3 0"),
        ("UPPER_COL", "1 2 3"),
        ("LOWER_COL", "1 2 3"),
    ],
)
def test_explicit_distances(tmp_path: Path, layout: str, numbers: str) -> None:
    text = (
        f"NAME: m\nTYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
        f"EDGE_WEIGHT_FORMAT: {layout}\nEDGE_WEIGHT_SECTION\n{numbers}\nEOF\n"
    )
    instance = read(problem(tmp_path, text), nearest=1)
    assert instance.matrix.tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    assert ", found " in message(tmp_path, text.replace(numbers, f"{numbers} 4"))
    assert "the file is cut short" in message(tmp_path, text.replace(numbers, "1"))
    negative = numbers.replace("\n", " ").replace("1", "-1", 1)
    assert "line 7: distance -1 is negative" in message(tmp_path, text.replace(numbers, negative))


def test_asymmetric_distances_with_places_to_draw(tmp_path: Path) -> None:
    text = (
        "NAME: a\nTYPE: ATSP\nDIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\n"
        "EDGE_WEIGHT_FORMAT: FULL_MATRIX\nDISPLAY_DATA_TYPE: TWOD_DISPLAY\n"
        "EDGE_WEIGHT_SECTION\n0 1\n2 0\nDISPLAY_DATA_SECTION\n1 5.0 6.0\n2 7.0 8.0\nEOF\n"
    )
    instance = read(problem(tmp_path, text), nearest=1)
    assert instance.matrix.tolist() == [[0, 1], [2, 0]]
    assert instance.coordinates.tolist() == [[5, 6], [7, 8]]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (SMALL, "", "small.tsp: the file is empty"),
        (SMALL, "1 2 3\n", "small.tsp, line 1: not a TSPLIB file"),
        (SMALL, "some words\n", "small.tsp: DIMENSION is missing"),
        (" 3 0 8.\n", "", "expected 3 nodes as DIMENSION says, found 2; the file is cut short"),
        ("8.\nEOF\n", "", "expected 3 nodes as DIMENSION says, found 2; the file is cut short"),
        ("EOF", "4 1 1\nEOF", "NODE_COORD_SECTION: expected 3 nodes as DIMENSION says, found 4"),
        ("1 0 0", "1 0", "small.tsp, line 7: expected a node number and two coordinates, found 2"),
        ("1 0 0", "1 0 zero", "small.tsp, line 7: coordinate 'zero' is not a number"),
        ("4E0", "nan", "small.tsp, line 8: coordinate 'nan' is not a finite number"),
        ("4E0", "1e999", "small.tsp, line 8: coordinate '1e999' is not a finite number"),
        ("2 3", "1 3", "small.tsp, line 8: node 1 comes twice, expected the numbers 1 to 3"),
        ("2 3", "7 3", "small.tsp, line 8: node 7 does not exist, expected the numbers 1 to 3"),
        ("EUC_2D", "XRAY1", "small.tsp, line 5: EDGE_WEIGHT_TYPE 'XRAY1' is not supported"),
        ("EDGE_WEIGHT_TYPE : EUC_2D\n", "", "small.tsp: EDGE_WEIGHT_TYPE is missing"),
        ("EUC_2D", "EXPLICIT", "small.tsp: EDGE_WEIGHT_SECTION is missing"),
        (":3", ":three", "small.tsp, line 4: DIMENSION 'three', expected a whole number"),
        (":3", ": 0", "small.tsp, line 4: DIMENSION '0', expected a whole number of at least 1"),
        ("TYPE : TSP", "TYPE : CVRP", "small.tsp, line 2: TYPE 'CVRP' is not supported"),
        ("EOF", "FIXED_EDGES_SECTION\n1 2\n-1\nEOF", "line 10: 'FIXED_EDGES_SECTION' with data"),
        ("NAME: small", "NAME: a\nNAME: b", "small.tsp, line 2: NAME is given twice"),
        ("three nodes", 'covertour {"depot": "a"}', "line 3: depot: expected a place number"),
        ("three nodes", "covertour {", "small.tsp, line 3: not JSON"),
    ],
)
def test_bad_problems(tmp_path: Path, old: str, new: str, expected: str) -> None:
    text = SMALL.replace(old, new)
    assert text != SMALL
    found = message(tmp_path, text)
    assert expected in found
    assert "\n" not in found


def test_latitudes_are_checked_line_by_line(tmp_path: Path) -> None:
    text = SMALL.replace("EUC_2D", "GEO").replace("2 3.0e+00", "2 95.30")
    assert message(tmp_path, text) == "small.tsp, line 8: latitude 95.3 is outside ±90"


def test_a_problem_without_rule_asks_for_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"give nearest or radius \(--nearest, --radius\)"):
        read(problem(tmp_path, SMALL))


def test_other_programs_can_read_what_is_written(tmp_path: Path) -> None:
    instance = read(problem(tmp_path, SMALL), nearest=1)
    write(tmp_path / "again.tsp", instance)
    assert (tmp_path / "again.tsp").read_text().splitlines() == [
        "NAME : small",
        "TYPE : TSP",
        'COMMENT : covertour {"coverage": {"nearest": 1}}',
        "DIMENSION : 3",
        "EDGE_WEIGHT_TYPE : EUC_2D",
        "NODE_COORD_SECTION",
        "1 0 0",
        "2 3 4",
        "3 0 8",
        "EOF",
    ]


def test_metrics_that_tsplib_lacks_are_not_written(tmp_path: Path) -> None:
    instance = Instance.from_coordinates([[0, 0]], radius=1)
    with pytest.raises(InputError, match="TSPLIB has no metric 'euclidean'"):
        write(tmp_path / "a.tsp", instance)


def test_tours_count_from_one(tmp_path: Path) -> None:
    instance = read(problem(tmp_path, SMALL), nearest=1)
    write(tmp_path / "a.tour", instance, make_tour(instance, [0, 1]))
    assert (tmp_path / "a.tour").read_text().splitlines() == [
        "NAME : small",
        "COMMENT : Length = 10",
        "TYPE : TOUR",
        "DIMENSION : 2",
        "TOUR_SECTION",
        "1",
        "2",
        "-1",
        "EOF",
    ]


def test_a_tour_keeps_its_mistakes_for_the_referee(tmp_path: Path) -> None:
    instance = read(problem(tmp_path, SMALL), nearest=0)
    path = tmp_path / "a.tour"
    path.write_text("TYPE: TOUR\nDIMENSION: 3\nTOUR_SECTION\n1 1 2\n-1\nEOF\n")
    tour = read_tour(path, instance)
    assert tour.places.tolist() == [0, 0, 1]
    verdict = verify(instance, tour)
    assert (verdict.repeated, verdict.uncovered) == ((0,), (2,))
    path.write_text("COMMENT : Length = 7\nTOUR_SECTION\n1\n2\n-1\n")
    assert verify(instance, read_tour(path, instance)).claimed == 7


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NAME: x\n", "TOUR_SECTION is missing"),
        (
            "DIMENSION: 4\nTOUR_SECTION\n1\n2\n",
            "expected 4 stops as DIMENSION says, found 2; the file is cut",
        ),
        ("TOUR_SECTION\n1\n2.5\n", "line 3: '2.5' is not a node number"),
    ],
)
def test_bad_tours(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "a.tour"
    path.write_text(text)
    with pytest.raises(InputError, match=expected):
        read_tour(path, Instance.from_coordinates([[0, 0]], radius=1))


def test_a_tour_of_unknown_places_is_not_written(tmp_path: Path) -> None:
    instance = read(problem(tmp_path, SMALL), nearest=1)
    for stops, expected in (([5], "there is no place 5"), ([], "at least one place")):
        with pytest.raises(InputError, match=expected):
            write(tmp_path / "a.tour", instance, Tour(np.array(stops, dtype=np.int64), 0.0))
    assert not (tmp_path / "a.tour").exists()
