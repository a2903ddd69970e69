"""Result: gap, proof, and the file it becomes."""

from __future__ import annotations

import json

import numpy as np
import pytest

from covertour import Result, Tour, __version__, random_instance

VILLAGES = random_instance(9, nearest=3).with_changes(name="villages")


def result(length: float = 110.0, bound: float | None = None) -> Result:
    return Result(
        instance=VILLAGES,
        method="search",
        tour=Tour(np.array([4, 1, 7]), length),
        seconds=1.25,
        seed=3,
        iterations=5000,
        bound=bound,
        trace=((0.1, 130.0), (0.7, 110.0)),
        stopped="limit",
    )


@pytest.mark.parametrize(
    ("length", "bound", "gap", "optimal"),
    [
        (110.0, None, None, False),
        (110.0, 100.0, 0.1, False),
        (110.0, 110.0, 0.0, True),
        (110.0, 110.00001, 0.0, True),  # a bound may exceed the length by rounding
        (110.0, 109.99999, 9.0909e-8, True),
        (0.0, 0.0, 0.0, True),
        (110.0, 0.0, None, False),  # no share of nothing
    ],
)
def test_the_gap_is_a_share_of_the_bound(
    length: float, bound: float | None, gap: float | None, optimal: bool
) -> None:
    found = result(length, bound)
    assert found.gap == (None if gap is None else pytest.approx(gap, rel=1e-3))
    assert found.optimal is optimal


def test_the_file_has_the_fields_in_order_and_null_where_nothing_is_proven() -> None:
    found = json.loads(result().to_json())
    assert [stop["place"] for stop in found["stops"]] == found["tour"]
    assert list(found)[-2:] == ["stops", "version"]
    del found["stops"]
    assert list(found.items()) == [
        ("instance", "villages"),
        ("method", "search"),
        ("tour", [4, 1, 7]),
        ("length", 110.0),
        ("bound", None),
        ("gap", None),
        ("seconds", 1.25),
        ("seed", 3),
        ("iterations", 5000),
        ("stopped", "limit"),
        ("version", __version__),
    ]


def test_a_length_survives_the_file_to_the_last_bit() -> None:
    assert json.loads(result(length=0.1 + 0.2).to_json())["length"] == 0.1 + 0.2


def test_printed_it_says_what_was_found_and_what_is_proven() -> None:
    assert str(result()).splitlines() == [
        "villages: 3 stops, length 110",
        "method search, seed 3, 5,000 iterations, 1.25 s, stopped: limit",
    ]
    assert str(result(bound=100.0)).endswith("no tour is shorter than 100: gap 10.0000%")
    assert str(result(bound=110.0)).endswith("no tour is shorter than 110: proven optimal")
    assert str(result(bound=0.0)).endswith("gap unknown")
