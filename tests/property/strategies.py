"""Hypothesis strategies for instances: every metric and rule, with ties, doubles and extremes."""

from __future__ import annotations

from typing import Any

import definition
from hypothesis import strategies as st

from covertour import Instance, Quota
from covertour.problem.metric import METRICS

RULES = ("nearest", "radius", "sets")


def points(metric: str) -> st.SearchStrategy[list[float]]:
    """Coordinates of one place: coarse grids, where ties and doubles abound, and free ones."""
    if metric == "haversine":
        coarse = st.tuples(
            st.sampled_from(range(-180, 181, 45)), st.sampled_from((-90, -45, 0, 90))
        )
        free = st.tuples(st.integers(-1800, 1800), st.integers(-900, 900)).map(
            lambda p: (p[0] / 10, p[1] / 10)
        )
        town = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(
            lambda p: (7 + p[0] / 100_000, 48 + p[1] / 100_000)
        )
        opposite = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(
            lambda p: (p[0] / 1_000_000 - 173, p[1] / 1_000_000 - 48)
        )
        return st.one_of(coarse, free, town, opposite).map(list)
    if metric == "geo":
        minutes = st.integers(0, 59)
        return st.tuples(st.integers(-89, 89), minutes, st.integers(-179, 179), minutes).map(
            lambda p: [
                p[0] + (p[1] if p[0] >= 0 else -p[1]) / 100,
                p[2] + (p[3] if p[2] >= 0 else -p[3]) / 100,
            ]
        )
    grid = st.tuples(st.integers(0, 5), st.integers(0, 5))
    free = st.tuples(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
    return st.one_of(grid, free.map(lambda p: (p[0] / 1000, p[1] / 1000))).map(list)


def one_or_each(values: st.SearchStrategy[Any], n: int) -> st.SearchStrategy[Any]:
    """One value for all places, or one each."""
    return st.one_of(values, st.lists(values, min_size=n, max_size=n))


@st.composite
def instances(
    draw: st.DrawFn,
    metrics: tuple[str, ...] = METRICS,
    rules: tuple[str, ...] = RULES,
    most: int = 9,
    labelled: bool = False,
    depot: bool = False,
    forbidden: bool = False,
) -> Instance:
    """Instances of 1 to ``most`` places; some of them nobody can cover.

    ``depot`` and ``forbidden`` make sure that there is one; ``labelled`` names the places.
    """
    metric = draw(st.sampled_from(metrics))
    n = draw(st.integers(2 if depot or forbidden else 1, most))
    fields: dict[str, Any] = {}
    if metric == "matrix":
        entries = st.one_of(st.integers(0, 4), st.integers(0, 10**4).map(lambda v: v / 100))
        flat = draw(st.lists(entries, min_size=n * n, max_size=n * n))
        fields["matrix"] = [flat[i * n : (i + 1) * n] for i in range(n)]
        make = Instance.from_matrix
    else:
        fields["metric"] = metric
        places = draw(st.lists(points(metric), min_size=n, max_size=n))
        for copy in draw(st.lists(st.integers(0, n - 1), max_size=2)):
            places[copy] = places[0]
        fields["coordinates"] = places
        make = Instance.from_coordinates
    place = st.integers(0, n - 1)
    banned = draw(st.sets(place, min_size=int(forbidden), max_size=2 if n > 2 else n - 1))
    allowed = st.sampled_from(sorted(set(range(n)) - banned))
    fields["depot"] = draw(allowed if depot else st.one_of(st.none(), allowed))
    fields["required"] = sorted(draw(st.sets(allowed, max_size=2)))
    fields["forbidden"] = sorted(banned)
    if labelled:
        fields["labels"] = [f"village {i}" for i in range(n)]
    rule = draw(st.sampled_from(rules))
    if rule == "nearest":
        return make(**fields, nearest=draw(one_or_each(st.integers(0, n + 2), n)))
    if rule == "sets":
        sets = st.lists(st.lists(place, max_size=4), min_size=n, max_size=n)
        return make(**fields, sets=draw(sets))
    plain = make(**fields, nearest=0)
    rim = st.tuples(place, place).map(lambda pair: definition.distance(plain, *pair))
    radius = st.one_of(
        rim, st.sampled_from((0, 0.5, 1, 2, 3, 1e6)), st.integers(0, 10**5).map(lambda v: v / 7)
    )
    return make(**fields, radius=draw(one_or_each(radius, n)))


FEATURES = ("demand", "weight", "quota", "budget", "visit cost", "open", "end", "fleet")


@st.composite
def general_instances(
    draw: st.DrawFn,
    features: tuple[str, ...] = FEATURES[:-1],
    metrics: tuple[str, ...] = METRICS,
    most: int = 6,
    symmetric: bool = False,
) -> Instance:
    """Instances that ask for some of the features, in any mixture that makes sense.

    ``symmetric``: matrices are mirrored, so that the way back is as long as the way there.
    """
    wanted = draw(st.sets(st.sampled_from(features)))
    plain = draw(instances(metrics=metrics, most=most, depot="fleet" in wanted))
    n = plain.n
    fields: dict[str, Any] = {}
    if symmetric and plain.matrix is not None:
        fields["matrix"] = plain.matrix + plain.matrix.T
    if "demand" in wanted:
        fields["demand"] = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    if "weight" in wanted:
        counts = st.one_of(st.integers(0, 5), st.integers(0, 100).map(lambda v: v / 8))
        fields["weight"] = draw(st.lists(counts, min_size=n, max_size=n))
    if "visit cost" in wanted:
        prices = st.one_of(st.integers(0, 3), st.integers(0, 100).map(lambda v: v / 8))
        fields["visit_cost"] = draw(one_or_each(prices, n))
    if "open" in wanted:
        fields["open"] = True
    others = sorted(set(range(n)) - {plain.depot, *plain.forbidden})
    if "end" in wanted and others and "fleet" not in wanted:
        fields["end"] = draw(st.sampled_from(others))
    changed = plain.with_changes(**fields)
    if "quota" in wanted and changed.total_weight > 0:
        share = st.integers(1, 20).map(lambda v: v / 20)
        return changed.with_changes(quota=Quota(share=draw(share)))
    largest = max(
        (definition.distance(plain, i, j) for i in range(n) for j in range(n)), default=0.0
    )
    lengths = st.integers(0, 24).map(lambda v: v / 8 * largest)
    if "fleet" in wanted:
        limits: dict[str, Any] = {
            "vehicles": draw(st.one_of(st.none(), st.integers(1, 3))),
            "max_stops": draw(st.one_of(st.none(), st.integers(1, 4))),
            "max_length": draw(st.one_of(st.none(), lengths)),
            "objective": draw(st.sampled_from(("cost", "fewest", "balance"))),
        }
        return changed.with_changes(fleet=limits)
    if "budget" in wanted:
        return changed.with_changes(budget=draw(lengths))
    return changed
