"""The referee reports every planted mistake exactly, and nothing else."""

from __future__ import annotations

import definition
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import instances

from covertour import Instance, Tour, make_tour, verify


def check_all(instance: Instance, stops: list[int]) -> None:
    """Compare every field of the verdict with the definition."""
    verdict = verify(instance, stops)
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


@given(instances(labelled=True), st.data())
def test_any_list_of_numbers_is_judged_by_the_definition(
    instance: Instance, data: st.DataObject
) -> None:
    numbers = st.integers(-2, instance.n + 1)
    check_all(instance, data.draw(st.lists(numbers, max_size=instance.n + 2)))


@given(instances(), st.data())
def test_any_choice_of_places_is_judged_by_the_definition(
    instance: Instance, data: st.DataObject
) -> None:
    places = st.integers(0, instance.n - 1)
    check_all(instance, data.draw(st.lists(places, unique=True)))


def covering(instance: Instance) -> list[int]:
    stops = definition.covering_stops(instance)
    assume(stops is not None)
    assert stops is not None
    return stops


@given(instances())
def test_a_covering_tour_is_accepted_with_its_length(instance: Instance) -> None:
    tour = make_tour(instance, covering(instance))
    assert verify(instance, tour).problems(instance) == []


@given(instances(), st.data())
def test_a_dropped_stop_leaves_exactly_its_own_places_uncovered(
    instance: Instance, data: st.DataObject
) -> None:
    stops = covering(instance)
    dropped = data.draw(st.sampled_from(stops))
    left = [i for i in stops if i != dropped]
    verdict = verify(instance, left)
    assert verdict.uncovered == definition.uncovered(instance, left)
    assert verdict.missing == ((dropped,) if dropped in instance.must_visit else ())
    assert verdict.ok == (bool(left) and not verdict.uncovered and not verdict.missing)


@given(instances(), st.data())
def test_a_repeated_stop_is_named(instance: Instance, data: st.DataObject) -> None:
    stops = covering(instance)
    twice = data.draw(st.sampled_from(stops))
    verdict = verify(instance, [*stops, twice])
    assert (verdict.ok, verdict.repeated, verdict.uncovered) == (False, (twice,), ())


@given(instances(forbidden=True))
def test_a_forbidden_stop_is_named_and_covers_nothing(instance: Instance) -> None:
    stops = covering(instance)
    verdict = verify(instance, [*stops, instance.forbidden[0]])
    assert (verdict.ok, verdict.forbidden, verdict.uncovered) == (
        False,
        instance.forbidden[:1],
        (),
    )
    alone = verify(instance, instance.forbidden)
    assert alone.uncovered == tuple(range(instance.n))


@given(instances(depot=True))
def test_a_tour_turned_away_from_the_depot_is_reported(instance: Instance) -> None:
    stops = covering(instance)
    assume(len(stops) > 1)
    verdict = verify(instance, [*stops[1:], stops[0]])
    assert (verdict.ok, verdict.starts_elsewhere, verdict.missing) == (False, True, ())


@given(instances(depot=True))
def test_a_tour_without_the_depot_is_reported_as_missing_it(instance: Instance) -> None:
    stops = covering(instance)
    verdict = verify(instance, [i for i in stops if i != instance.depot])
    assert (verdict.ok, verdict.missing) == (False, (instance.depot,))
    assert not verdict.starts_elsewhere


@given(instances(), st.sampled_from((-0.01, 0.001, 1.0, float("inf"))))
def test_a_wrong_length_is_reported_with_the_true_one(instance: Instance, error: float) -> None:
    tour = make_tour(instance, covering(instance))
    wrong = Tour(tour.places, tour.length + error * (1 + tour.length))
    verdict = verify(instance, wrong)
    assert not verdict.ok
    assert not verdict.length_is_right
    assert verdict.length == pytest.approx(definition.length(instance, tour.places.tolist()))


@given(instances(), st.data())
def test_numbers_that_are_no_place_are_named(instance: Instance, data: st.DataObject) -> None:
    stops = covering(instance)
    strange = data.draw(st.sampled_from((-1, instance.n, 2**40)))
    verdict = verify(instance, [*stops, strange])
    assert (verdict.ok, verdict.unknown, verdict.uncovered) == (False, (strange,), ())
