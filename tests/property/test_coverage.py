"""The coverage table is what the definition says, both ways, for every metric and rule."""

from __future__ import annotations

from unittest.mock import patch

import definition
import numpy as np
import pytest
from hypothesis import given
from strategies import instances

from covertour import InputError, Instance, random_instance
from covertour.problem import neighbours
from covertour.problem.coverage import Coverage
from covertour.problem.neighbours import build_coverage

BY_TREE = {"DENSE_UP_TO": 0, "DENSE_SHARE": 2.0}
"""Limits under which every instance goes through the k-d tree."""

COMPARED = {"DENSE_UP_TO": neighbours.DENSE_UP_TO}

either_way = pytest.mark.parametrize("limits", [BY_TREE, COMPARED], ids=["tree", "compared"])


def table_of(instance: Instance) -> Coverage:
    return build_coverage(
        instance.metric,
        instance.coordinates,
        instance.matrix,
        instance.rule,
        instance.forbidden,
    )


def expected(instance: Instance) -> list[list[int]]:
    return [
        [] if i in instance.forbidden else sorted(definition.covers(instance, i))
        for i in range(instance.n)
    ]


@either_way
@given(instances())
def test_each_place_covers_what_the_definition_says(limits: dict, instance: Instance) -> None:
    with patch.multiple(neighbours, **limits):
        table = table_of(instance)
    assert [table.covers_of(i).tolist() for i in range(instance.n)] == expected(instance)


@either_way
@given(instances())
def test_covered_by_is_the_same_table_read_the_other_way(limits: dict, instance: Instance) -> None:
    with patch.multiple(neighbours, **limits):
        table = table_of(instance)
    rows = expected(instance)
    back = [[i for i in range(instance.n) if j in rows[i]] for j in range(instance.n)]
    assert [table.covered_by_of(j).tolist() for j in range(instance.n)] == back


@given(instances())
def test_an_instance_refuses_exactly_when_someone_has_no_coverer(instance: Instance) -> None:
    rows = expected(instance)
    alone = [j for j in range(instance.n) if not any(j in row for row in rows)]
    if not alone:
        assert instance.coverage.n == instance.n
        return
    with pytest.raises(InputError) as refusal:
        _ = instance.coverage
    assert instance.describe(alone) in str(refusal.value)


@given(instances(metrics=("euclidean", "haversine", "att"), rules=("nearest", "radius")))
def test_the_order_of_the_file_does_not_matter(instance: Instance) -> None:
    assert instance.coordinates is not None
    if np.ndim(getattr(instance.rule, "k", getattr(instance.rule, "r", None))):
        return
    backwards = Instance(
        metric=instance.metric, rule=instance.rule, coordinates=instance.coordinates[::-1]
    )
    forwards = instance.with_changes(depot=None, required=(), forbidden=())
    n = instance.n
    turned = [sorted(n - 1 - table for table in row) for row in expected(backwards)[::-1]]
    assert [table_of(forwards).covers_of(i).tolist() for i in range(n)] == turned


def same(one: Coverage, other: Coverage) -> bool:
    """Whether two tables are equal, to the types of their numbers."""
    return all(
        np.array_equal(a, b) and a.dtype == b.dtype
        for a, b in zip(vars(one).values(), vars(other).values(), strict=True)
    )


@given(instances(most=25))
def test_comparing_all_pairs_gives_what_the_tree_gives(instance: Instance) -> None:
    compared = table_of(instance)
    with patch.multiple(neighbours, **BY_TREE):
        assert same(compared, table_of(instance))


@pytest.mark.parametrize("metric", ["euclidean", "euc_2d", "ceil_2d", "att", "geo", "haversine"])
@pytest.mark.parametrize("grid", [False, True], ids=["scattered", "grid"])
@pytest.mark.parametrize(
    "rule",
    [{"nearest": 7}, {"nearest": range(400)}, {"radius": 3}, {"radius": np.arange(400) / 40}],
    ids=["nearest", "nearest each", "radius", "radius each"],
)
def test_hundreds_of_places_are_covered_as_the_tree_says(
    metric: str, grid: bool, rule: dict
) -> None:
    points = random_instance(400, nearest=1, seed=3).coordinates
    assert points is not None
    places = np.floor(points * 20) if grid else points * 20
    instance = Instance.from_coordinates(places, metric=metric, forbidden=[9, 99], **rule)
    with patch.object(neighbours, "COMPARED_AT_A_TIME", 10_000):  # in several batches
        compared = table_of(instance)
    with patch.multiple(neighbours, **BY_TREE):
        assert same(compared, table_of(instance))
