from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from covertour import Fleet, InputError, Instance, make_tour, read, verify

SHARED = Path(__file__).parents[3] / "shared" / "data" / "mctp"

SMALL = """small.ctp
2 2 2 3 40.5
 0 1 3.0
 0 2 4.0
 0 3 5.0
 1 2 5.0
 1 3 4.0
 2 3 3.0

 2   1 0
 3   0 1
 1 2

NODE_COORD_SECTION
1 0 0
2 0 3
3 4 0
4 4 3
5 5 0
6 5 3
EOF
"""


def small(tmp_path: Path, text: str = SMALL, **options: object) -> Instance:
    path = tmp_path / "small.ctp"
    path.write_text(text)
    return read(path, **options)


def test_a_file_becomes_an_instance_with_a_fleet(tmp_path: Path) -> None:
    found = small(tmp_path)
    assert (found.n, found.name, found.metric) == (6, "small", "matrix")
    assert (found.depot, found.required, found.forbidden) == (0, (1,), (4, 5))
    assert found.fleet == Fleet(max_stops=3, max_length=40.5)
    assert found.demand.tolist() == [0, 0, 0, 0, 1, 1]
    assert found.matrix[:4, :4].tolist() == [
        [0, 3, 4, 5],
        [3, 0, 5, 4],
        [4, 5, 0, 3],
        [5, 4, 3, 0],
    ]
    assert found.integral
    assert [members.tolist() for members in found.rule.sets] == [[], [], [4], [5], [], []]
    assert found.coordinates[4].tolist() == [5, 0]
    assert verify(found, make_tour(found, [0, 2, 3, 1])).ok
    assert not verify(found, make_tour(found, [0, 2, 1])).ok


def test_no_limit_is_written_as_nothing(tmp_path: Path) -> None:
    assert small(tmp_path, SMALL.replace("3 40.5", "0 0")).fleet == Fleet()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("2 2 2 3 40.5", "2 2"), ""),
        (("2 2 2 3 40.5", "2 2 0 3 40.5"), "has no depot"),
        (("2 2 2 3 40.5", "2 2 -2 3 40.5"), "the sizes are"),
        (("2 2 2 3 40.5", "9000 2 2 3 40.5"), "more than 5,000 places"),
        (("0 1 3.0", "0 2 3.0"), "not one for each pair of stops 0 to 3"),
        (("0 1 3.0", "0 9 3.0"), "not one for each pair of stops 0 to 3"),
        (("0 1 3.0", "0 1 far"), "the edges 'far' is not a number"),
        (("2   1 0", "2   1 7"), "numbers other than 0 and 1"),
        (("6 5 3", ""), "ends early, in NODE_COORD_SECTION"),
        (("6 5 3", "7 5 3"), "does not number the places from 1 to 6"),
    ],
)
def test_bad_files(tmp_path: Path, change: tuple[str, str], why: str) -> None:
    with pytest.raises(InputError) as caught:
        small(tmp_path, SMALL.replace(*change))
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "small.ctp"))
    assert why in message
    assert "\n" not in message


@pytest.mark.skipif(not SHARED.exists(), reason="the benchmark files are not here")
@pytest.mark.parametrize("name", ["A1-1-25-75-4-250", "A2-20-100-100-8-500", "D1-10-50-50-6-250"])
def test_the_benchmark(name: str) -> None:
    found = read(SHARED / f"{name}.ctp")
    with open(SHARED / "bounds_pq.csv", newline="") as file:
        row = next(row for row in csv.DictReader(file) if row["instance"] == name)
    optional, customers, mandatory = (
        int(row[key]) for key in ("optional_stops", "customers", "mandatory_stops")
    )
    assert found.n == optional + customers + mandatory
    assert len(found.required) == mandatory - 1
    assert found.fleet.max_stops == int(row["p_max_stops"])
    assert found.integral
    assert len(np.unique(found.coverage.covers)) == found.n
