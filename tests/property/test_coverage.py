"""The coverage table is what the definition says, both ways, for every metric and rule."""

from __future__ import annotations

import definition
import numpy as np
import pytest
from hypothesis import given
from strategies import instances

from covertour import InputError, Instance
from covertour.coverage import Coverage, build_coverage


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


@given(instances())
def test_each_place_covers_what_the_definition_says(instance: Instance) -> None:
    table = table_of(instance)
    assert [table.covers_of(i).tolist() for i in range(instance.n)] == expected(instance)


@given(instances())
def test_covered_by_is_the_same_table_read_the_other_way(instance: Instance) -> None:
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
