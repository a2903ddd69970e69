"""Whatever an instance asks for, every format writes its tours, and reads back what it wrote."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import FEATURES, general_instances

from covertour import Fleet, Instance, read_tour, write
from covertour.formats.html import html_map
from covertour.formats.manner import Manner
from covertour.problem.errors import InputError
from covertour.problem.itinerary import itinerary
from covertour.problem.metric import METRICS
from covertour.problem.times import Times
from covertour.problem.tour import Tour

COMMON = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def outcomes(draw: st.DrawFn, metrics: tuple[str, ...]) -> tuple[Instance, Tour]:
    """An instance with any wishes, and a tour that need not fulfil them."""
    instance = draw(general_instances(FEATURES, metrics))
    stops = list(draw(st.permutations(range(instance.n))))[: draw(st.integers(1, instance.n))]
    if instance.fleet is not None:
        assert instance.depot is not None
        places = [place for place in stops if place != instance.depot]
        cuts = sorted(draw(st.sets(st.integers(1, max(len(places) - 1, 1)))))
        routes = [part.tolist() for part in np.split(np.array(places, dtype=np.int64), cuts)]
        stops = [place for route in routes for place in (instance.depot, *route)]
    try:
        _ = instance.coverage
    except InputError:  # nobody could serve all of it; what cannot be solved is not written
        fleet = None if instance.fleet is None else Fleet()
        instance = instance.with_changes(demand=None, forbidden=(), quota=None, fleet=fleet)
    return instance, Tour(np.array(stops, dtype=np.int64), instance.length(stops))


@COMMON
@given(case=outcomes(METRICS), ending=st.sampled_from([".json", ".csv", ".tour"]))
def test_files_keep_any_tour(tmp_path: Path, case: tuple, ending: str) -> None:
    instance, tour = case
    write(tmp_path / f"a{ending}", instance, tour)
    found = read_tour(tmp_path / f"a{ending}", instance)
    assert found.places.tolist() == tour.places.tolist()
    assert found.length == pytest.approx(tour.length)


@COMMON
@given(case=outcomes(("haversine",)), ending=st.sampled_from([".geojson", ".gpx"]))
def test_map_files_keep_any_tour(tmp_path: Path, case: tuple, ending: str) -> None:
    instance, tour = case
    write(tmp_path / f"a{ending}", instance, tour)
    found = read_tour(tmp_path / f"a{ending}", instance)
    assert found.places.tolist() == tour.places.tolist()
    assert found.length == pytest.approx(tour.length)


@settings(COMMON, max_examples=15)
@given(case=outcomes(("haversine", "euclidean")), timed=st.booleans())
def test_the_map_shows_any_tour(case: tuple, timed: bool) -> None:
    instance, tour = case
    page = html_map(instance, tour, Manner(times=Times(50, 10) if timed else None))
    assert page.count('class="stop"') == len(tour)
    plan = itinerary(instance, tour)
    assert page.count('class="lost"') == (len(plan.lacking) if instance.partial else 0)


@COMMON
@given(case=outcomes(METRICS))
def test_the_routes_of_an_itinerary_are_the_whole_tour(case: tuple) -> None:
    instance, tour = case
    plan = itinerary(instance, tour)
    assert sum(route.length for route in plan.routes) == pytest.approx(tour.length)
    cost = sum(route.cost for route in plan.routes)
    assert cost == pytest.approx(instance.cost(tour.places))
    assert np.concatenate([route.places for route in plan.routes]).tolist() == tour.places.tolist()
    served = float(instance.weights[plan.met & (plan.stop_of >= 0)].sum())
    assert sum(route.weight for route in plan.routes) == pytest.approx(served)
