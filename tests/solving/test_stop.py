"""Stopping rules and how they combine."""

from __future__ import annotations

from math import inf, nan

import pytest

from covertour import InputError
from covertour.solving.stop import (
    NEVER,
    GapBelow,
    MaxIterations,
    MaxSeconds,
    NoImprovement,
    Stop,
    TargetLength,
)


def test_each_rule_sets_its_own_limit_and_no_other() -> None:
    assert MaxSeconds(2.5) == Stop(seconds=2.5)
    assert MaxIterations(100) == Stop(iterations=100)
    assert NoImprovement(50) == Stop(idle_iterations=50)
    assert NoImprovement(seconds=3) == Stop(idle_seconds=3)
    assert TargetLength(7.5) == Stop(length=7.5)
    assert GapBelow(0.01) == Stop(gap=0.01)


def test_rules_together_stop_where_the_first_of_them_does() -> None:
    both = MaxSeconds(5) | MaxIterations(10) | MaxSeconds(2) | MaxIterations(30)
    assert both == Stop(seconds=2, iterations=10)
    assert TargetLength(5) | TargetLength(9) == TargetLength(9)
    assert GapBelow(0.1) | GapBelow(0.01) == GapBelow(0.1)
    assert NoImprovement(9, seconds=4) | NoImprovement(5) == NoImprovement(5, seconds=4)


def test_combining_is_commutative_associative_and_idempotent() -> None:
    a, b, c = MaxSeconds(1) | GapBelow(0.5), TargetLength(3), NoImprovement(8) | MaxSeconds(9)
    assert a | b == b | a
    assert (a | b) | c == a | (b | c)
    assert a | a == a
    assert a | Stop() == a


def test_nothing_stops_without_a_rule() -> None:
    never = Stop()
    assert (never.seconds, never.iterations, never.length, never.gap) == (inf, NEVER, -inf, -inf)
    assert repr(never) == "Stop()"


def test_printed_it_shows_only_what_is_set() -> None:
    assert repr(MaxSeconds(2) | TargetLength(100)) == "Stop(seconds=2, length=100)"


def test_an_infinite_limit_is_none() -> None:
    assert MaxSeconds(inf) | MaxIterations(inf) | NoImprovement(inf) == Stop()


def test_zero_is_a_limit() -> None:
    assert MaxIterations(0).iterations == 0
    assert GapBelow(0).gap == 0


@pytest.mark.parametrize("make", [MaxSeconds, MaxIterations, NoImprovement, TargetLength, GapBelow])
@pytest.mark.parametrize("value", [-1, nan])
def test_negative_limits_are_refused(make: type, value: float) -> None:
    with pytest.raises(InputError, match=r": expected a number >= 0, got (-1|nan)$"):
        make(value)
