from __future__ import annotations

import pytest

from covertour import InputError
from covertour.problem.rules import parse_rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("nearest 7", {"nearest": 7}),
        ("nearest 2-15", {"nearest": (2, 15)}),
        ("nearest 2 - 15", {"nearest": (2, 15)}),
        ("radius 0.2", {"radius": 0.2}),
        ("  Radius  0-0.25 ", {"radius": (0.0, 0.25)}),
        ("nearest 0", {"nearest": 0}),
    ],
)
def test_rules_are_read_from_text(text: str, rule: dict[str, object]) -> None:
    assert parse_rule(text) == rule


@pytest.mark.parametrize(
    "text",
    [
        *("", "nearest", "7", "farthest 7", "nearest -7", "nearest 2-3-4", "radius x", "radius2"),
        "nearest " + "7" * 5000,
    ],
)
def test_an_unknown_rule_is_refused_with_examples(text: str) -> None:
    with pytest.raises(InputError, match=r"rule: .*'nearest 7'"):
        parse_rule(text)


def test_nearest_takes_whole_numbers_and_ranges_ascend() -> None:
    with pytest.raises(InputError, match="whole numbers"):
        parse_rule("nearest 2.5")
    with pytest.raises(InputError, match="lower end first"):
        parse_rule("radius 0.3-0.2")
