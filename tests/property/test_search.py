"""lns keeps every rule of every mixture of demands, quotas, budgets, visit costs and open ends."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import brute_force
import definition
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import general_instances

from covertour import InputError, Instance, SolveError, solve
from covertour.exact import enumeration
from covertour.problem.metric import METRICS
from covertour.search import blocks, state
from covertour.solving.stop import MaxIterations

MAPS = tuple(name for name in METRICS if name != "matrix")


@pytest.fixture(autouse=True, scope="module")
def _search_however_few_stops() -> Iterator[None]:
    """Nothing is enumerated: these tests are about the search."""
    with patch.object(enumeration, "MOST_STOPS", 0):
        yield


def feasible(instance: Instance) -> None:
    """Pass over instances that cannot be solved: an error says so."""
    try:
        _ = instance.coverage
    except InputError:
        assume(False)


def check(instance: Instance, places: list[int]) -> None:
    """A tour keeps all rules and is no better than the best."""
    found = brute_force.value(instance, places)
    best = brute_force.best(instance)
    assert found is not None
    assert best is not None
    assert found >= best or found == pytest.approx(best, rel=1e-9, abs=1e-9)


@given(general_instances(most=6), st.booleans())
def test_a_tour_keeps_all_rules_and_the_same_seed_gives_the_same(
    instance: Instance, on_the_fly: bool
) -> None:
    feasible(instance)
    assume(not on_the_fly or instance.matrix is None)
    with (
        patch.object(state, "TABLE_UP_TO", 0 if on_the_fly else 1000),
        patch.object(blocks, "ONE_BLOCK_UP_TO", 0 if on_the_fly else 30),
    ):
        try:
            result = solve(instance, stop=MaxIterations(100), seed=3)
        except (InputError, SolveError):
            assert brute_force.best(instance) is None
            return
        check(instance, result.tour.places.tolist())
        again = solve(instance, stop=MaxIterations(100), seed=3)
    assert again.tour.places.tolist() == result.tour.places.tolist()


@settings(max_examples=max(10, settings().max_examples // 2))
@given(general_instances(most=6), st.data())
def test_any_list_of_places_is_a_start(instance: Instance, data: st.DataObject) -> None:
    feasible(instance)
    start = data.draw(st.lists(st.integers(0, instance.n - 1), max_size=8))
    for method in ("greedy", "lns"):
        try:
            result = solve(instance, method, start=start, stop=MaxIterations(20))
        except (InputError, SolveError):
            return
        check(instance, result.tour.places.tolist())


def mixed(seed: int) -> Instance | None:
    """A map of up to six places that asks for some of everything; None where that is impossible."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    order = rng.permutation(n).tolist()
    fields: dict[str, object] = {}
    if rng.random() < 0.4:
        fields["demand"] = rng.integers(0, 3, n)
    if rng.random() < 0.7:
        fields["weight"] = rng.integers(0, 6, n)
    if rng.random() < 0.4:
        fields["visit_cost"] = rng.integers(0, 20, n)
    if rng.random() < 0.4:
        fields["open"] = True
    if rng.random() < 0.5:
        fields["depot"] = order[0]
    if rng.random() < 0.2:
        fields["end"] = order[1]
    if n > 3 and rng.random() < 0.3:
        fields["forbidden"] = [order[3]]
    goal = rng.random()
    if goal < 0.4:
        fields["quota"] = float(rng.choice([0.3, 0.6, 0.9]))
    elif goal < 0.7:
        fields["budget"] = float(rng.choice([10, 30, 50, 80]))
    points = rng.integers(0, 30, (n, 2))
    try:
        instance = Instance.from_coordinates(points, radius=rng.uniform(0, 15, n), **fields)
        _ = instance.coverage
    except InputError:
        return None
    return instance if instance.features else None


def test_small_instances_of_all_mixtures_are_solved_to_the_optimum() -> None:
    tried = worse = 0
    for seed in range(150):
        instance = mixed(seed)
        best = None if instance is None else brute_force.best(instance)
        if instance is None or best is None:
            continue
        tried += 1
        result = solve(instance, stop=MaxIterations(600), seed=seed)
        found = brute_force.value(instance, result.tour.places.tolist())
        worse += found != pytest.approx(best, rel=1e-9, abs=1e-9)
    assert tried > 90
    assert worse <= 1


def test_places_that_must_be_visited_may_cost_more_than_the_budget() -> None:
    line = Instance.from_coordinates(
        [[i, 0] for i in range(12)], nearest=1, depot=0, required=[11], budget=21
    )
    with pytest.raises(SolveError, match=r"budget: .* costs 22"):
        solve(line, stop=MaxIterations(100))
    found = solve(line.with_changes(budget=22), stop=MaxIterations(300))
    assert found.covered_weight == 12
    assert definition.uncovered(line.with_changes(budget=None), found.tour.places.tolist()) == ()
