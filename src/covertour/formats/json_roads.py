"""Roads in covertour's JSON: unit, words and cover distances; where the roads run is not in it."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from covertour.problem.coverage import Rule, Sets
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.roads import UNITS, Roads

TEXTS = ("unit", "tour", "cover", "credit")
FIELDS = (*TEXTS, "distances")


def roads_to_value(roads: Roads, rule: Rule, n: int) -> dict[str, Any]:
    """What an instance knows of its roads; ``distances`` has those to the members of each set."""
    value: dict[str, Any] = {field: getattr(roads, field) for field in TEXTS}
    if roads.pair is not None and isinstance(rule, Sets):
        value["distances"] = [
            roads.cover_distances(n, place, members).tolist()
            for place, members in enumerate(rule.sets)
        ]
    return value


def roads_from_value(where: str, value: Any, rule: Rule) -> Roads:
    """The same from JSON; without the cover distances where the rule is another one now."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: roads: expected an object {{...}}, got {shown(value)}")
    for field in value:
        if field not in FIELDS:
            hint = did_you_mean(field, FIELDS)
            raise InputError(f"{where}: roads: unknown field {shown(field)}{hint}")
    texts = {field: value.get(field, "") for field in TEXTS}
    for field, text in texts.items():
        if not isinstance(text, str):
            raise InputError(f"{where}: roads: {field}: expected text, got {shown(text)}")
    if texts["unit"] not in UNITS.values():
        raise InputError(
            f"{where}: roads: unit: expected {' or '.join(UNITS.values())}, "
            f"got {shown(texts['unit'])}"
        )
    rows = value.get("distances")
    if rows is None or not isinstance(rule, Sets):
        return Roads(**(texts | {"cover": ""}))
    expected = [len(members) for members in rule.sets]
    if (
        not isinstance(rows, list)
        or not all(isinstance(row, list) for row in rows)
        or [len(row) for row in rows] != expected
    ):
        raise InputError(f"{where}: roads: distances: expected one for each member of each set")
    flat = list(chain.from_iterable(rows))
    if not all(type(far) in (int, float) and far >= 0 for far in flat):
        raise InputError(f"{where}: roads: distances: expected numbers >= 0")
    members = np.array(list(chain.from_iterable(rule.sets)), dtype=np.int64)
    pair = np.repeat(np.arange(len(expected)), expected) * len(expected) + members
    order = np.argsort(pair, kind="stable")
    return Roads(**texts, pair=pair[order], distance=np.array(flat, dtype=np.float64)[order])
