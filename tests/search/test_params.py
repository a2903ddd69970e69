"""The parameters of lns change its search, and what makes no sense is refused."""

from __future__ import annotations

from dataclasses import fields

import pytest

from covertour import InputError, LnsParams, random_instance, solve, solve_many, verify

VILLAGES = random_instance(120, nearest=2, seed=3)


@pytest.mark.parametrize(
    "params",
    [
        LnsParams(most_removed=1),
        LnsParams(swaps=0.0),
        LnsParams(swaps=1.0, swaps_from=6, longest_swapped=1_000),
        LnsParams(noise=0.0),
        LnsParams(hopeless=0.0, abandoned=0.0),
        LnsParams(hot=0.0),
        LnsParams(first_cycle=1),
        LnsParams(first_cycle=1, growth=3.0, last_cycle=0.0),
        LnsParams(short_tour=0, hot_long=0.1),
    ],
    ids=str,
)
def test_a_parameter_changes_the_search_and_the_tour_stays_right(params: LnsParams) -> None:
    usual = solve(VILLAGES, iterations=3_000)
    tuned = solve(VILLAGES, iterations=3_000, params=params)
    assert tuned.trace[0][1] == usual.trace[0][1]  # the first tour needs no search
    assert [length for _, length in tuned.trace] != [length for _, length in usual.trace]
    assert verify(VILLAGES, tuned.tour).ok
    assert tuned.iterations == 3_000


def test_the_defaults_are_the_search_without_parameters() -> None:
    usual = solve(VILLAGES, iterations=500)
    assert solve(VILLAGES, iterations=500, params=LnsParams()).length == usual.length


def test_many_instances_take_parameters_too() -> None:
    maps, params = [random_instance(60, nearest=2, seed=9)] * 2, LnsParams(most_removed=1)
    alone = solve(maps[0], iterations=300, params=params)
    found = solve_many(maps, iterations=300, params=params)
    assert [one.tour.places.tolist() for one in found] == [alone.tour.places.tolist()] * 2


@pytest.mark.parametrize("name", [field.name for field in fields(LnsParams)])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "1", True, None])
def test_what_is_no_number_or_too_small_is_refused(name: str, value: object) -> None:
    with pytest.raises(InputError, match=rf"^{name}: expected a (whole )?number >= .*, got "):
        LnsParams(**{name: value})


def test_shares_are_at_most_one_and_counts_are_whole() -> None:
    with pytest.raises(InputError, match=r"swaps: expected a number >= 0 and <= 1, got 1\.5"):
        LnsParams(swaps=1.5)
    with pytest.raises(InputError, match=r"most_removed: expected a whole number >= 1, got 2\.5"):
        LnsParams(most_removed=2.5)  # type: ignore[arg-type]
