"""Stopping rules: what each waits for, how they combine, and what they tell ahead."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np
import pytest

from covertour import InputError
from covertour.solving.stop import (
    NEVER,
    GapBelow,
    Limits,
    MaxIterations,
    MaxSeconds,
    NoImprovement,
    Progress,
    Stop,
    TargetLength,
    limits_of,
    needs_bound,
    relative_gap,
)

HERE = Progress(
    seconds=2.0,
    iterations=100,
    idle_seconds=0.5,
    idle_iterations=30,
    length=110.0,
    bound=100.0,
)


@pytest.mark.parametrize(
    ("rule", "at", "before"),
    [
        (MaxSeconds(2), {}, {"seconds": 1.9}),
        (MaxIterations(100), {}, {"iterations": 99}),
        (NoImprovement(30), {}, {"idle_iterations": 29}),
        (NoImprovement(seconds=0.5), {}, {"idle_seconds": 0.4}),
        (NoImprovement(40, seconds=0.5), {}, {"idle_seconds": 0.4}),
        (NoImprovement(30, seconds=9), {}, {"idle_iterations": 29}),
        (TargetLength(110), {}, {"length": 110.001}),
        (TargetLength(110), {"length": 110 * (1 + 1e-13)}, {"length": inf}),
        (GapBelow(0.1), {}, {"length": 111.0}),
        (GapBelow(0.1), {"bound": 120.0}, {"bound": None}),
        (GapBelow(0.1), {"length": 0.0, "bound": 0.0}, {"bound": 0.0}),
        (MaxSeconds(9) | MaxIterations(100), {}, {"iterations": 99}),
        (MaxSeconds(2) & MaxIterations(100), {}, {"iterations": 99}),
        (MaxSeconds(2) & MaxIterations(100), {}, {"seconds": 1.0}),
        (MaxSeconds(9) | (TargetLength(110) & NoImprovement(30)), {}, {"length": 120.0}),
    ],
    ids=str,
)
def test_a_rule_stops_there_and_not_before(
    rule: Stop, at: dict[str, Any], before: dict[str, Any]
) -> None:
    assert rule(HERE._replace(**at)) is True
    assert rule(HERE._replace(**before)) is False


def test_nothing_stops_without_a_rule() -> None:
    assert Stop()(HERE) is False
    assert Stop().limits == Limits(inf, NEVER, NEVER, -inf)


def test_a_plain_function_combines_from_either_side() -> None:
    def short(progress: Progress) -> bool:
        return progress.length < 120

    for both in (MaxSeconds(2) & short, short & MaxSeconds(2)):
        assert both(HERE)
        assert not both(HERE._replace(length=130.0))
        assert both.limits == Limits()
    for either in (MaxSeconds(9) | short, short | MaxSeconds(9)):
        assert either(HERE)
        assert not either(HERE._replace(length=130.0))
        assert either.limits == Limits(seconds=9)


def test_what_a_rule_tells_ahead() -> None:
    assert limits_of(MaxSeconds(2)) == Limits(seconds=2)
    assert limits_of(MaxIterations(7)) == Limits(iterations=7)
    assert limits_of(NoImprovement(7)) == Limits(idle_iterations=7)
    assert limits_of(NoImprovement(seconds=7)) == Limits()
    assert limits_of(TargetLength(7.5)) == Limits(length=7.5)
    assert limits_of(lambda progress: False) == Limits()


def test_together_they_tell_the_first_limit_and_where_both_must_hold_the_last() -> None:
    either = MaxSeconds(5) | MaxIterations(10) | MaxSeconds(2) | TargetLength(3) | TargetLength(4)
    assert either.limits == Limits(seconds=2, iterations=10, length=4)
    both = (MaxSeconds(5) | TargetLength(3)) & (MaxSeconds(2) | TargetLength(4))
    assert both.limits == Limits(seconds=5, length=3)
    assert (MaxSeconds(5) & MaxIterations(10)).limits == Limits()


def test_an_infinite_limit_is_none() -> None:
    assert (MaxSeconds(inf) | MaxIterations(inf) | NoImprovement(inf)).limits == Limits()  # type: ignore[arg-type]


def test_only_a_gap_needs_a_bound() -> None:
    assert needs_bound(MaxSeconds(1) | (MaxIterations(1) & GapBelow(0.1)))
    assert not needs_bound(MaxSeconds(1) | TargetLength(1))
    assert not needs_bound(lambda progress: False)


def test_equal_rules_are_equal_and_print_as_they_are_written() -> None:
    assert MaxSeconds(2) | TargetLength(3) == MaxSeconds(2) | TargetLength(3)
    assert MaxSeconds(2) != MaxIterations(2)
    assert repr(MaxSeconds(2)) == "MaxSeconds(seconds=2)"


@pytest.mark.parametrize(
    ("length", "bound", "gap"),
    [
        (110.0, None, None),
        (110.0, 100.0, 0.1),
        (110.0, 110.0, 0.0),
        (0.0, 0.0, 0.0),
        (9.0, 0.0, None),
    ],
)
def test_the_gap_is_a_share_of_the_bound(
    length: float, bound: float | None, gap: float | None
) -> None:
    assert relative_gap(length, bound) == pytest.approx(gap)
    assert HERE._replace(length=length, bound=bound).gap == pytest.approx(gap)


@pytest.mark.parametrize("make", [MaxSeconds, MaxIterations, NoImprovement, TargetLength, GapBelow])
@pytest.mark.parametrize("value", [-1, nan, "2", True, [3]])
def test_what_is_no_limit_is_refused(make: type, value: object) -> None:
    with pytest.raises(InputError, match=r": expected a number >= 0, got "):
        make(value)


def test_numbers_of_numpy_are_limits() -> None:
    assert MaxIterations(np.int64(3))(HERE)
    assert MaxSeconds(np.float32(1.5))(HERE)


@pytest.mark.parametrize("wrong", [2, None, "2 s", MaxSeconds])
def test_rules_combine_with_rules_only(wrong: Any) -> None:
    for combine in (lambda: MaxSeconds(1) | wrong, lambda: MaxSeconds(1) & wrong):
        with pytest.raises(InputError, match=r"stop: expected a rule such as MaxSeconds\(2\)"):
            combine()


def test_no_improvement_needs_to_know_for_how_long() -> None:
    with pytest.raises(InputError, match="expected iterations, seconds or both"):
        NoImprovement()
