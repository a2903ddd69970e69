"""The referee reports every planted mistake exactly, and nothing else.

Every test runs both ways of the referee: all pairs, as it looks at so few, and by cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import definition
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import FEATURES, general_instances, instances

from covertour import Instance, Tour, make_tour
from covertour.problem import referee
from covertour.problem.metric import IntArray

both_ways = pytest.mark.parametrize(
    "few_pairs", [referee.FEW_PAIRS, 0], ids=["all pairs", "by cells"]
)


def verify(
    few_pairs: int, instance: Instance, tour: Tour | Sequence[int] | IntArray
) -> referee.Verdict:
    with patch.object(referee, "FEW_PAIRS", few_pairs):
        return referee.verify(instance, tour)


def check_all(few_pairs: int, instance: Instance, stops: list[int]) -> None:
    """Compare every field of the verdict with the definition."""
    verdict = verify(few_pairs, instance, stops)
    known = [i for i in stops if 0 <= i < instance.n]
    unknown = tuple(sorted(set(stops) - set(known)))
    must = set(instance.required) | ({instance.depot} - {None})
    assert verdict.stops == len(stops)
    assert verdict.unknown == unknown
    assert verdict.uncovered == definition.uncovered(instance, stops)
    assert verdict.repeated == tuple(sorted({i for i in known if known.count(i) > 1}))
    assert verdict.forbidden == tuple(sorted(set(known) & set(instance.forbidden)))
    assert verdict.missing == tuple(sorted(must - set(known)))
    assert verdict.starts_elsewhere == (instance.depot in known and stops[0] != instance.depot)
    if not unknown:
        assert verdict.length == pytest.approx(definition.length(instance, stops), abs=1e-6)
    assert verdict.ok == (verdict.problems(instance) == [])


@both_ways
@given(instances(labelled=True), st.data())
def test_any_list_of_numbers_is_judged_by_the_definition(
    few_pairs: int, instance: Instance, data: st.DataObject
) -> None:
    numbers = st.integers(-2, instance.n + 1)
    check_all(few_pairs, instance, data.draw(st.lists(numbers, max_size=instance.n + 2)))


@both_ways
@given(instances(), st.data())
def test_any_choice_of_places_is_judged_by_the_definition(
    few_pairs: int, instance: Instance, data: st.DataObject
) -> None:
    places = st.integers(0, instance.n - 1)
    check_all(few_pairs, instance, data.draw(st.lists(places, unique=True)))


@both_ways
@given(general_instances(features=FEATURES), st.data())
def test_every_wish_is_judged_by_the_definition(
    few_pairs: int, instance: Instance, data: st.DataObject
) -> None:
    places = st.integers(0, instance.n - 1)
    stops = data.draw(st.lists(places, min_size=1, unique=True))
    if instance.depot is not None and data.draw(st.booleans()):
        stops = [instance.depot, *(stop for stop in stops if stop != instance.depot)]
        if instance.fleet is not None:
            for _ in range(data.draw(st.integers(0, 2))):
                stops.insert(data.draw(st.integers(1, len(stops))), instance.depot)
    if instance.end is not None and data.draw(st.booleans()):
        stops = [*(stop for stop in stops if stop != instance.end), instance.end]
    verdict = verify(few_pairs, instance, stops)
    assert verdict.uncovered == definition.uncovered(instance, stops)
    assert verdict.ok == definition.is_tour(instance, stops), verdict.problems(instance)
    assert verdict.ok == (verdict.problems(instance) == [])
    if instance.fleet is None or stops[0] == instance.depot:
        price = definition.cost(instance, stops)
        assert verdict.cost == pytest.approx(price, abs=1e-6)
        assert instance.cost(stops) == pytest.approx(price, abs=1e-6)
    assert verdict.covered_weight == pytest.approx(definition.served_weight(instance, stops))


def covering(instance: Instance) -> list[int]:
    stops = definition.covering_stops(instance)
    assume(stops is not None)
    assert stops is not None
    return stops


@both_ways
@given(instances())
def test_a_covering_tour_is_accepted_with_its_length(few_pairs: int, instance: Instance) -> None:
    tour = make_tour(instance, covering(instance))
    assert verify(few_pairs, instance, tour).problems(instance) == []


@both_ways
@given(instances(), st.data())
def test_a_dropped_stop_leaves_exactly_its_own_places_uncovered(
    few_pairs: int, instance: Instance, data: st.DataObject
) -> None:
    stops = covering(instance)
    dropped = data.draw(st.sampled_from(stops))
    left = [i for i in stops if i != dropped]
    verdict = verify(few_pairs, instance, left)
    assert verdict.uncovered == definition.uncovered(instance, left)
    assert verdict.missing == ((dropped,) if dropped in instance.must_visit else ())
    assert verdict.ok == (bool(left) and not verdict.uncovered and not verdict.missing)


@both_ways
@given(instances(), st.data())
def test_a_repeated_stop_is_named(few_pairs: int, instance: Instance, data: st.DataObject) -> None:
    stops = covering(instance)
    twice = data.draw(st.sampled_from(stops))
    verdict = verify(few_pairs, instance, [*stops, twice])
    assert (verdict.ok, verdict.repeated, verdict.uncovered) == (False, (twice,), ())


@both_ways
@given(instances(forbidden=True))
def test_a_forbidden_stop_is_named_and_covers_nothing(few_pairs: int, instance: Instance) -> None:
    stops = covering(instance)
    verdict = verify(few_pairs, instance, [*stops, instance.forbidden[0]])
    assert (verdict.ok, verdict.forbidden, verdict.uncovered) == (
        False,
        instance.forbidden[:1],
        (),
    )
    alone = verify(few_pairs, instance, instance.forbidden)
    assert alone.uncovered == tuple(range(instance.n))


@both_ways
@given(instances(depot=True))
def test_a_tour_turned_away_from_the_depot_is_reported(few_pairs: int, instance: Instance) -> None:
    stops = covering(instance)
    assume(len(stops) > 1)
    verdict = verify(few_pairs, instance, [*stops[1:], stops[0]])
    assert (verdict.ok, verdict.starts_elsewhere, verdict.missing) == (False, True, ())


@both_ways
@given(instances(depot=True))
def test_a_tour_without_the_depot_is_reported_as_missing_it(
    few_pairs: int, instance: Instance
) -> None:
    stops = covering(instance)
    verdict = verify(few_pairs, instance, [i for i in stops if i != instance.depot])
    assert (verdict.ok, verdict.missing) == (False, (instance.depot,))
    assert not verdict.starts_elsewhere


@both_ways
@given(instances(), st.sampled_from((-0.01, 0.001, 1.0, float("inf"))))
def test_a_wrong_length_is_reported_with_the_true_one(
    few_pairs: int, instance: Instance, error: float
) -> None:
    tour = make_tour(instance, covering(instance))
    wrong = Tour(tour.places, tour.length + error * (1 + tour.length))
    verdict = verify(few_pairs, instance, wrong)
    assert not verdict.ok
    assert not verdict.length_is_right
    assert verdict.length == pytest.approx(definition.length(instance, tour.places.tolist()))


@both_ways
@given(instances(), st.data())
def test_numbers_that_are_no_place_are_named(
    few_pairs: int, instance: Instance, data: st.DataObject
) -> None:
    stops = covering(instance)
    strange = data.draw(st.sampled_from((-1, instance.n, 2**40)))
    verdict = verify(few_pairs, instance, [*stops, strange])
    assert (verdict.ok, verdict.unknown, verdict.uncovered) == (False, (strange,), ())
