"""Every method solves every kind of instance: referees accept it, seeds repeat it, starts help."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import definition
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import instances

from covertour import (
    Decoding,
    Instance,
    Result,
    make_tour,
    random_instance,
    solve,
    verify,
)
from covertour.exact import enumeration
from covertour.problem.metric import METRICS
from covertour.search import blocks, state
from covertour.solving.methods import METHODS
from covertour.solving.stop import MaxIterations

IGNORES_START = {"twophase"}
"""Methods that build their tours from covers of their own."""

MAPS = tuple(name for name in METRICS if name != "matrix")

LEARNED = [name for name, method in METHODS.items() if method.model is not None]
SEARCHES = [name for name in METHODS if name not in LEARNED]

every_method = pytest.mark.parametrize("method", SEARCHES)
some = settings(max_examples=max(10, settings().max_examples // 2))


@pytest.fixture(autouse=True, scope="module")
def _search_however_few_stops() -> Iterator[None]:
    """Nothing is enumerated: these tests are about the searches."""
    with patch.object(enumeration, "MOST_STOPS", 0):
        yield


def solved(instance: Instance, method: str, **more: Any) -> Result:
    """A short solve, by iterations and not by the clock."""
    assume(definition.covering_stops(instance) is not None)
    call = {"stop": MaxIterations(60), "seed": 5, **more}
    return solve(instance, method, **call)


def check(instance: Instance, result: Result) -> None:
    """The tour keeps all rules, by the referee and by the definition."""
    stops = result.tour.places.tolist()
    assert verify(instance, result.tour).problems(instance) == []
    assert definition.uncovered(instance, stops) == ()
    assert set(instance.must_visit.tolist()) <= set(stops)
    assert not set(instance.forbidden) & set(stops)
    length = definition.length(instance, stops)
    assert result.length == pytest.approx(length, rel=1e-9, abs=1e-6)
    if result.bound is not None:
        assert result.bound <= length * (1 + 1e-6) + 1e-6


@every_method
@some
@given(instances(most=14))
def test_any_instance_gets_a_valid_tour_and_the_same_seed_the_same_tour(
    method: str, instance: Instance
) -> None:
    result = solved(instance, method)
    check(instance, result)
    again = solved(instance, method)
    assert again.tour.places.tolist() == result.tour.places.tolist()
    assert again.length == result.length


@every_method
@some
@given(instances(metrics=MAPS, most=25))
def test_large_instances_are_solved_by_blocks_and_distances_on_the_fly(
    method: str, instance: Instance
) -> None:
    with patch.object(state, "TABLE_UP_TO", 0), patch.object(blocks, "ONE_BLOCK_UP_TO", 0):
        check(instance, solved(instance, method))


@every_method
@some
@given(instances(most=14), st.data())
def test_any_list_of_places_is_a_start(
    method: str, instance: Instance, data: st.DataObject
) -> None:
    places = st.integers(0, instance.n - 1)
    start = data.draw(st.lists(places, max_size=2 * instance.n))
    check(instance, solved(instance, method, start=start))


@pytest.mark.parametrize("method", [name for name in SEARCHES if name not in IGNORES_START])
@some
@given(instances(most=14), st.data())
def test_a_valid_start_is_never_made_longer(
    method: str, instance: Instance, data: st.DataObject
) -> None:
    least = definition.covering_stops(instance)
    assume(least is not None)
    assert least is not None
    allowed = [i for i in range(instance.n) if i not in instance.forbidden]
    more = data.draw(st.sets(st.sampled_from(allowed)))
    start = make_tour(instance, data.draw(st.permutations(sorted({*least, *more}))))
    assert verify(instance, start).ok
    for iterations in (0, 30):
        result = solved(instance, method, start=start, stop=MaxIterations(iterations))
        check(instance, result)
        assert result.length <= start.length * (1 + 1e-9)


@every_method
@some
@given(instances(most=14), st.sampled_from((0, 2, 20, 60)))
def test_two_workers_give_the_same_tour_every_time(
    method: str, instance: Instance, iterations: int
) -> None:
    call = {"workers": 2, "stop": MaxIterations(iterations)}
    result = solved(instance, method, **call)
    check(instance, result)
    again = solved(instance, method, **call)
    assert again.tour.places.tolist() == result.tour.places.tolist()


SPECIAL = {
    "one place": Instance.from_coordinates([[3, 3]], nearest=7),
    "two places": Instance.from_coordinates([[0, 0], [3, 4]], nearest=0),
    "one spot": Instance.from_coordinates([[1, 1]] * 9, radius=0),
    "one spot, every place a stop": Instance.from_coordinates([[1, 1]] * 9, sets=[[]] * 9),
    "collinear": Instance.from_coordinates([[i, 0] for i in range(12)], nearest=2),
    "duplicates": Instance.from_coordinates([[i % 5, i % 3] for i in range(20)], radius=1),
    "k >= n": Instance.from_coordinates([[i, i * i] for i in range(8)], nearest=50),
    "radius 0": random_instance(12, radius=0.0),
    "radius larger than the map": random_instance(12, radius=9.0),
    "all required": random_instance(9, nearest=3).with_changes(depot=4, required=range(9)),
    "one allowed": Instance.from_coordinates(
        [[i, 0] for i in range(6)], nearest=9, forbidden=[0, 1, 2, 4, 5]
    ),
    "far apart": Instance.from_coordinates([[0, 0], [1e100, 0], [0, -1e100], [1, 1]], nearest=1),
    "no distance at all": Instance.from_matrix(np.zeros((6, 6)), sets=[[]] * 6),
    "no triangle inequality": Instance.from_matrix(
        [[0, 1, 9, 9], [1, 0, 1, 9], [9, 1, 0, 1], [9, 9, 1, 0]], sets=[[2], [], [0], []]
    ),
}


@every_method
@pytest.mark.parametrize("special", SPECIAL)
def test_special_cases_are_solved(method: str, special: str) -> None:
    result = solve(SPECIAL[special], method, stop=MaxIterations(200))
    check(SPECIAL[special], result)
    if special in ("one place", "one spot", "k >= n", "radius larger than the map", "one allowed"):
        assert result.length == 0


@every_method
@pytest.mark.parametrize("layout", ["uniform", "clustered"])
def test_a_middling_instance_is_solved_the_same_way_twice(method: str, layout: str) -> None:
    instance = random_instance(70, nearest=(0, 12), layout=layout, seed=4)
    instance = instance.with_changes(depot=9, required=[0, 5], forbidden=[7, 8])
    call = {"stop": MaxIterations(100), "seed": 2}
    result = solve(instance, method, **call)
    check(instance, result)
    assert solve(instance, method, **call).tour.places.tolist() == result.tour.places.tolist()


@every_method
def test_a_middling_asymmetric_instance_is_solved_the_same_way_twice(method: str) -> None:
    matrix = np.random.default_rng(6).random((30, 30))
    instance = Instance.from_matrix(matrix, nearest=5, depot=9, required=[0], forbidden=[7])
    call = {"stop": MaxIterations(100), "seed": 2}
    result = solve(instance, method, **call)
    check(instance, result)
    assert solve(instance, method, **call).tour.places.tolist() == result.tour.places.tolist()


@pytest.mark.parametrize("method", LEARNED)
@settings(max_examples=max(5, settings().max_examples // 5))
@given(instances(metrics=MAPS, most=14))
def test_learned_methods_make_a_valid_tour_of_any_map_and_the_same_with_the_same_seed(
    method: str, weights: Callable[[str], Path], instance: Instance
) -> None:
    decoding = Decoding(samples=2, symmetries=True, weights=weights(method.removesuffix("+ls")))
    result = solved(instance, method, decoding=decoding)
    check(instance, result)
    again = solved(instance, method, decoding=decoding)
    assert again.tour.places.tolist() == result.tour.places.tolist()


@pytest.mark.parametrize("method", LEARNED)
def test_learned_methods_solve_special_maps(method: str, weights: Callable[[str], Path]) -> None:
    decoding = Decoding(weights=weights(method.removesuffix("+ls")))
    for special in SPECIAL.values():
        if special.coordinates is not None:
            check(special, solve(special, method, stop=MaxIterations(50), decoding=decoding))
