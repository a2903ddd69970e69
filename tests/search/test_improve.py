"""2-opt and Or-opt never lengthen a tour and leave nothing to gain for a single move."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numba import njit

from covertour import Instance
from covertour.problem.metric import FloatArray
from covertour.search import changes
from covertour.search.improve import LONGEST_SEGMENT, improve
from covertour.search.state import LOG_SIZE, make_state


@njit(error_model="numpy")
def polish(s: Any, places: Any, undoable: bool, log: int) -> None:
    """Load a tour and improve it around all its stops, with some log entries already used."""
    changes.load_tour(s, places, len(places))
    s.tour.log = log
    for stop in places:
        changes.touch(s, stop)
    improve(s, undoable)


def polished(instance: Instance, stops: list[int], log: int | None = None) -> list[int]:
    """The improved tour, whose tracked length must be its true one; undoable where log is given."""
    s = make_state(instance, 0)
    polish(s, s.number[stops], log is not None, log or 0)
    found, stop = [], int(s.number[stops[0]])
    for _ in stops:
        found.append(int(s.order[stop]))
        stop = int(s.at["next"][stop])
    assert sorted(found) == sorted(stops)
    assert (s.tour["queue"], s.at["queued"].max()) == (0, 0)
    assert s.tour["log"] <= LOG_SIZE
    assert s.tour["length"] == pytest.approx(instance.length(found), rel=1e-9)
    assert instance.length(found) <= instance.length(stops) * (1 + 1e-12)
    return found


def turns(stops: list[int]) -> Iterator[list[int]]:
    """Every tour with one path reversed that leaves at least two stops as they are."""
    for first in range(len(stops)):
        turned = stops[first:] + stops[:first]
        for many in range(2, len(stops) - 1):
            yield turned[:many][::-1] + turned[many:]


def shifts(stops: list[int]) -> Iterator[list[int]]:
    """Every tour with a short segment moved elsewhere."""
    for first in range(len(stops)):
        turned = stops[first:] + stops[:first]
        for many in range(1, LONGEST_SEGMENT + 1):
            segment, rest = turned[:many], turned[many:]
            for at in range(1, len(rest)):
                yield rest[:at] + segment + rest[at:]


def assert_best(instance: Instance, stops: list[int], others: Iterator[list[int]]) -> None:
    own = instance.length(stops)
    assert min((instance.length(other) for other in others), default=own) >= own * (1 - 1e-8)


def alone(points: FloatArray | list[list[float]], metric: str = "euclidean") -> Instance:
    """An instance in which every stop of a tour is needed."""
    return Instance.from_coordinates(points, metric=metric, nearest=0)


@pytest.mark.parametrize("metric", ["euclidean", "euc_2d", "ceil_2d", "att", "geo", "haversine"])
@pytest.mark.parametrize("n", [5, 6, 9, 20])
def test_no_reversed_path_would_make_an_improved_tour_shorter(metric: str, n: int) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        instance = alone(rng.integers(0, 80, (n, 2)), metric)
        found = polished(instance, rng.permutation(n)[: rng.integers(5, n + 1)].tolist())
        assert_best(instance, found, turns(found))


def test_crossing_rows_of_collinear_stops_are_uncrossed() -> None:
    rising = [[float(i), float(i)] for i in range(8)]
    falling = [[float(i), 7.5 - i] for i in range(8)]
    instance = alone(rising + falling)
    found = polished(instance, list(range(16)))
    assert_best(instance, found, turns(found))


def test_stops_in_one_spot_and_in_a_row_are_left_in_peace() -> None:
    for points in ([[1.0, 1.0]] * 12, [[float(i % 5), 0.0] for i in range(12)]):
        instance = alone(points)
        found = polished(instance, list(range(12)))
        assert instance.length(found) == 2 * np.ptp(points, axis=0)[0]


@pytest.mark.parametrize("n", [3, 4, 5, 6, 12, 25])
def test_where_the_way_back_differs_improving_ends_where_no_move_gains(n: int) -> None:
    # A reversed path is priced stop by stop, so a change within it may open a move of a stop far
    # away that is not looked at again; a pass that changes nothing has looked at all.
    for seed in range(10):
        rng = np.random.default_rng(seed)
        instance = Instance.from_matrix(rng.random((n, n)), nearest=0)
        before, found = [], rng.permutation(n).tolist()
        while found != before:
            before, found = found, polished(instance, found)
        assert_best(instance, found, turns(found))
        assert_best(instance, found, shifts(found))


@pytest.mark.parametrize("directed", [False, True], ids=["symmetric", "directed"])
def test_an_improvement_that_can_be_undone_ends_when_the_log_is_full(directed: bool) -> None:
    rng = np.random.default_rng(5)
    stops = rng.permutation(60).tolist()
    instance = alone(rng.random((60, 2)))
    if directed:
        instance = Instance.from_matrix(rng.random((60, 60)), nearest=0)
    best = instance.length(polished(instance, stops, log=0))
    assert polished(instance, stops, log=LOG_SIZE) == stops
    some = instance.length(polished(instance, stops, log=LOG_SIZE - 75))
    assert best < some < instance.length(stops)


POLES = """
from covertour import Instance, solve
from covertour.solving.stop import MaxIterations

south = [[-45, -90], [-45, -90], [-135, -90], [-135, -90]]
places = [[78.6, -40.2], [7, 48], [78.6, -40.2], south[0], [78.6, -40.2], *south[1:]]
instance = Instance.from_coordinates(places, metric="haversine", nearest=0, required=[1])
print(len(solve(instance, "greedy", stop=MaxIterations(0), seed=5).tour))
"""
"""Stops a hair apart, whose moves gain nothing but the rounding of legs half around the globe."""


def test_gains_that_are_rounding_errors_do_not_run_in_a_circle() -> None:
    # In a process of its own, as a kernel that runs in a circle can only be ended from outside.
    arguments = [sys.executable, "-c", POLES]
    ran = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    assert ran.stdout == "8\n", ran.stderr[-500:]
