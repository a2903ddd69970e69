"""Instances with everything that may be asked of a tour."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from covertour import InputError, Instance, random_instance


@pytest.fixture(scope="session")
def instances() -> list[Instance]:
    """Of several sizes and all rules, with and without a depot, required and forbidden places."""
    rules: list[dict[str, Any]] = [
        {"nearest": 3},
        {"nearest": 0},
        {"nearest": (1, 6)},
        {"radius": 0.3},
        {"radius": (0.0, 0.4)},
    ]
    asked: list[dict[str, Any]] = [
        {},
        {"depot": 4, "required": (1, 2)},
        {"forbidden": (0, 3)},
        {"depot": 2, "required": (2, 5), "forbidden": (1,)},
    ]
    grid = Instance.from_coordinates([[x, y] for x in range(4) for y in range(3)], nearest=3)
    found = [grid]
    for seed, (n, rule, change) in enumerate(product((6, 13, 31), rules, asked)):
        one = random_instance(n, **rule, seed=seed).with_changes(**change)
        try:
            _ = one.coverage
        except InputError:  # a forbidden place that nobody else covers
            one = one.with_changes(forbidden=())
        found.append(one)
    return found
