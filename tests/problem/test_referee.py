"""The referee: what it says about tours, in fields and in sentences."""

from __future__ import annotations

import math

import numpy as np
import pytest

import covertour.problem.referee
from covertour import Instance, Tour, make_tour, random_instance, verify

SQUARE = Instance.from_coordinates(
    [[0, 0], [0, 1], [1, 1], [1, 0]],
    radius=1,
    depot=0,
    required=[2],
    forbidden=[3],
    labels=["market", "school", "well", "marsh"],
)


def problems(tour: Tour | list[int]) -> list[str]:
    return verify(SQUARE, tour).problems(SQUARE)


def test_a_good_tour_has_no_problem() -> None:
    verdict = verify(SQUARE, [0, 2])
    assert verdict.ok
    assert (verdict.stops, verdict.length) == (2, pytest.approx(8**0.5))
    assert verdict.problems(SQUARE) == []


@pytest.mark.parametrize(
    ("tour", "sentences"),
    [
        ([], ["the tour has no stop", "not covered (4): places market, school, well, marsh"]),
        ([2, 0], ["does not start at the depot, place market"]),
        ([0], ["not covered (1): place well"]),
        ([0, 2, 0], ["visited more than once (1): place market"]),
        ([0, 2, 3], ["forbidden but visited (1): place marsh"]),
        ([0, 2, 4, -1], ["no such place: -1, 4"]),
        (Tour(np.array([0, 2]), 2.0), ["claims length 2 but has 2.828427125"]),
    ],
)
def test_each_mistake_gets_its_sentence(tour: Tour | list[int], sentences: list[str]) -> None:
    found = problems(tour)
    assert found[: len(sentences)] == sentences
    assert not verify(SQUARE, tour).ok


def test_all_mistakes_are_reported_at_once() -> None:
    assert problems([1, 3, 1, 9]) == [
        "no such place: 9",
        "not covered (1): place marsh",
        "visited more than once (1): place school",
        "forbidden but visited (1): place marsh",
        "required but not visited (2): places market, well",
    ]


def test_a_forbidden_stop_covers_nothing() -> None:
    assert verify(SQUARE, [0, 3]).uncovered == (2,)


def test_the_length_of_a_tour_with_unknown_places_is_not_a_number() -> None:
    assert math.isnan(verify(SQUARE, [0, 17]).length)


def test_a_nan_is_no_claim() -> None:
    assert verify(SQUARE, Tour(np.array([0, 2]), math.nan)).ok


def test_one_place_two_places_and_one_spot() -> None:
    assert verify(Instance.from_coordinates([[3, 3]], nearest=7), [0]).ok
    assert verify(Instance.from_coordinates([[3, 3], [4, 4]], nearest=1), [1]).ok
    spot = Instance.from_coordinates([[2, 2]] * 50, nearest=7)
    assert verify(spot, [31]).ok
    assert verify(spot.with_changes(rule=covertour.Nearest(0)), [31]).uncovered == (
        *range(31),
        *range(32, 50),
    )


@pytest.mark.parametrize("layout", ["uniform", "clustered"])
@pytest.mark.parametrize(
    "rule", [{"nearest": 7}, {"nearest": (1, 30)}, {"radius": 0.03}, {"radius": (0.0, 0.3)}]
)
def test_referee_and_coverage_agree_on_larger_maps(layout: str, rule: dict) -> None:
    instance = random_instance(2000, layout=layout, seed=3, **rule)
    stops = np.random.default_rng(4).choice(2000, size=150, replace=False)
    covered = np.zeros(2000, dtype=bool)
    for stop in stops:
        covered[instance.coverage.covers_of(stop)] = True
    assert verify(instance, stops).uncovered == tuple(np.flatnonzero(~covered).tolist())


def test_referee_and_coverage_agree_on_the_globe() -> None:
    rng = np.random.default_rng(6)
    latitude = np.degrees(np.arcsin(rng.uniform(-1, 1, 1500)))
    places = np.column_stack([rng.uniform(-180, 180, 1500), latitude])
    for rule in ({"nearest": 9}, {"radius": 800}, {"radius": rng.uniform(0, 3000, 1500)}):
        instance = Instance.from_coordinates(places, metric="haversine", **rule)
        stops = rng.choice(1500, size=60, replace=False)
        covered = np.zeros(1500, dtype=bool)
        for stop in stops:
            covered[instance.coverage.covers_of(stop)] = True
        assert verify(instance, stops).uncovered == tuple(np.flatnonzero(~covered).tolist())


def test_checking_in_many_small_batches_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = random_instance(500, nearest=(0, 9), seed=8)
    stops = list(range(0, 500, 7))
    whole = verify(instance, stops)
    monkeypatch.setattr(covertour.problem.referee, "PAIRS_AT_A_TIME", 30)
    assert verify(instance, stops).uncovered == whole.uncovered


def test_a_tour_of_its_own_instance_claims_its_true_length() -> None:
    instance = random_instance(40, radius=0.0, seed=2)
    assert verify(instance, make_tour(instance, range(40))).ok
