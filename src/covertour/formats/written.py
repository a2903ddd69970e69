"""The columns of a table of places as it is written, for each format with cells or properties."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from covertour.formats.titles import may_be_carried, plain
from covertour.problem.coverage import Nearest, Radius, Sets
from covertour.problem.instance import Instance


def place_columns(
    instance: Instance, coordinates: bool = True, one_for_all: bool = True
) -> dict[str, Sequence[Any]]:
    """Texts, numbers and truth values, n of each, by the titles under which they read back.

    ``coordinates``: whether they are among them. ``one_for_all``: whether a rule that is the same
    for all places, or sets, is; there are formats that have room for it elsewhere.
    """
    n = instance.n
    columns: dict[str, Sequence[Any]] = {}
    if instance.labels is not None:
        columns["name"] = instance.labels
    if coordinates:
        assert instance.coordinates is not None
        first, second = (column.tolist() for column in instance.coordinates.T)
        globe = instance.metric == "haversine"
        columns |= {"latitude": second, "longitude": first} if globe else {"x": first, "y": second}
        if instance.metric not in ("euclidean", "haversine"):
            columns["metric"] = [instance.metric] * n
    match instance.rule:
        case Nearest(k) if one_for_all or not isinstance(k, int):
            columns["nearest"] = np.broadcast_to(k, n).tolist()
        case Radius(r) if one_for_all or not isinstance(r, float):
            columns["radius"] = np.broadcast_to(r, n).tolist()
        case Sets(sets) if one_for_all:
            columns["covers"] = [" ".join(map(str, members.tolist())) for members in sets]
    marks = {"required": instance.required, "forbidden": instance.forbidden}
    marks |= {"depot": () if instance.depot is None else (instance.depot,)}
    marks |= {"end": () if instance.end is None else (instance.end,)}
    for what, places in marks.items():
        if places:
            chosen = set(places)
            columns[what] = [place in chosen for place in range(n)]
    for what in ("weight", "demand", "visit_cost"):
        if getattr(instance, what) is not None:
            columns[what] = getattr(instance, what).tolist()
    return columns | carried(instance, columns)


def carried(instance: Instance, taken: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The other columns of an instance, under titles that are not mistaken for those taken."""
    columns: dict[str, tuple[str, ...]] = {}
    used = set(map(plain, taken))
    for title, texts in (instance.extra or {}).items():
        free = title
        while free in columns or plain(free) in used or not may_be_carried(free, used):
            free = f"extra {free}"
        columns[free] = texts
    return columns
