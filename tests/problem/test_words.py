"""The words for distances and rules."""

from __future__ import annotations

import numpy as np
import pytest

from covertour import Instance
from covertour.problem.errors import did_you_mean, shown
from covertour.problem.words import measure, rule_in_words


def test_lengths_are_written_with_their_unit_and_no_false_digits() -> None:
    plane = Instance.from_coordinates([[0, 0]], nearest=0)
    globe = Instance.from_coordinates([[0, 0]], metric="haversine", nearest=0)
    whole = Instance.from_coordinates([[0, 0]], metric="euc_2d", nearest=0)
    assert measure(plane, 4.638524) == "4.63852"
    assert measure(plane, 0.012, whole=3.5) == "0.01200"
    assert measure(plane, 1234567.8) == "1,234,568"
    assert measure(plane, 0.0) == "0"
    assert measure(plane, 1.5e-30) == "1.5e-30"
    assert measure(globe, 3620.54) == "3,620.5 km"
    assert measure(whole, 7542.0) == "7,542"


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"nearest": 7}, "a place covers its 7 nearest"),
        ({"nearest": [1, 3]}, "a place covers its 1 to 3 nearest"),
        ({"radius": 20}, "a place covers a radius of 20 km"),
        ({"sets": [[1], [0]]}, "a place covers a given set"),
    ],
)
def test_rules_in_words(rule: dict, words: str) -> None:
    instance = Instance.from_coordinates([[0, 0], [1, 1]], metric="haversine", **rule)
    assert rule_in_words(instance) == words


def test_what_was_meant() -> None:
    assert did_you_mean("lsn", ["lns", "exact"]) == "; did you mean 'lns'?"
    assert did_you_mean("qqq", ["lns", "exact"]) == "; there are lns, exact"
    assert did_you_mean("qqq", ["lns", "exact"], list_all=False) == ""


def test_a_value_in_a_message_is_short_and_on_one_line() -> None:
    assert shown("a" * 99) == "'" + "a" * 36 + "..."
    assert shown(np.zeros((3, 3)), most=20) == "array([[0., 0., 0..."
