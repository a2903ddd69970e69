"""The clock ends a search at its limits, and tells of every improvement."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pytest

from covertour.problem.metric import IntArray
from covertour.solving import clock as clocks
from covertour.solving.clock import Clock, Interruption, Stretch, heeding
from covertour.solving.stop import (
    MaxIterations,
    MaxSeconds,
    NoImprovement,
    Progress,
    Stop,
    StoppingRule,
    TargetLength,
)

PLACES: IntArray = np.array([4, 2])


class Counter:
    """A search whose tour gets shorter at given iterations; improves nothing in between."""

    def __init__(self, *improvements: tuple[int, float]) -> None:
        self.improvements = improvements
        self.made = 0

    def advance(self, iterations: int) -> Stretch:
        self.made += iterations
        at, length = [entry for entry in self.improvements if entry[0] <= self.made][-1]
        return Stretch(self.made, at, length, PLACES)


def drive(stop: StoppingRule, search: Counter, **callbacks: object) -> Clock:
    clock = Clock(stop, **callbacks)
    clock.drive(search.advance)
    return clock


@pytest.mark.parametrize("iterations", [0, 1, 7, 1000])
def test_the_iteration_limit_is_kept_exactly(iterations: int) -> None:
    clock = drive(MaxIterations(iterations), Counter((0, 9.0)))
    assert (clock.iterations, clock.best) == (iterations, 9.0)


def test_the_first_tour_is_told_before_the_first_iteration() -> None:
    told: list[tuple[float, list[int]]] = []
    drive(
        MaxIterations(0),
        Counter((0, 9.0)),
        on_improve=lambda _, length, places: told.append((length, places.tolist())),
    )
    assert told == [(9.0, [4, 2])]


def test_a_tour_of_the_target_length_or_of_length_zero_ends_the_search() -> None:
    assert drive(TargetLength(5), Counter((0, 9.0), (40, 5.0))).best == 5.0
    assert drive(TargetLength(5), Counter((0, 4.0))).iterations == 0
    assert drive(Stop(), Counter((0, 9.0), (3, 0.0))).best == 0.0


def test_idling_is_counted_from_the_iteration_of_the_improvement() -> None:
    clock = drive(NoImprovement(100), Counter((0, 9.0)))
    assert clock.iterations == 100
    clock = drive(NoImprovement(100), Counter((0, 9.0), (70, 8.0), (150, 7.0)))
    assert (clock.iterations, clock.best) == (250, 7.0)


def test_no_time_at_all_still_leaves_the_first_tour() -> None:
    clock = drive(MaxSeconds(0), Counter((0, 9.0)))
    assert (clock.iterations, clock.best) == (0, 9.0)
    assert drive(NoImprovement(seconds=0), Counter((0, 9.0))).iterations == 0


def test_the_trace_is_every_improvement_in_order() -> None:
    told: list[tuple[float, float]] = []
    clock = drive(
        MaxIterations(5000),
        Counter((0, 9.0), (1, 8.0), (4999, 7.5)),
        on_improve=lambda seconds, length, _: told.append((seconds, length)),
    )
    assert [length for _, length in clock.trace] == [9.0, 8.0, 7.5]
    assert clock.trace == told
    seconds = [second for second, _ in clock.trace]
    assert seconds == sorted(seconds)


def test_progress_is_told_now_and_then_only() -> None:
    never: list[Progress] = []
    with patch.object(clocks, "REPORT_EVERY", 1e9):
        drive(MaxIterations(300), Counter((0, 9.0)), on_progress=never.append)
    assert never == []
    often: list[Progress] = []
    with patch.object(clocks, "REPORT_EVERY", 0.0):
        drive(MaxIterations(300), Counter((0, 9.0), (100, 6.0)), on_progress=often.append)
    assert (often[-1].iterations, often[-1].length, often[-1].bound) == (300, 6.0, None)
    counts = [progress.iterations for progress in often]
    assert counts == sorted(counts)


@pytest.mark.parametrize("who", ["on_improve", "on_progress"])
def test_ctrl_c_ends_the_search_quietly(who: str) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with patch.object(clocks, "REPORT_EVERY", 0.0):
        clock = drive(Stop(), Counter((0, 9.0)), **{who: interrupt})
    assert (clock.best, clock.interruption.happened) == (9.0, True)


def test_a_rule_of_ones_own_is_asked_between_stretches() -> None:
    asked: list[Progress] = []

    def rule(progress: Progress) -> bool:
        asked.append(progress)
        return progress.length < 6.0

    clock = drive(rule, Counter((0, 9.0), (40, 5.0)))
    assert (clock.best, clock.reached) == (5.0, True)
    assert [progress.length for progress in asked] == [9.0] * (len(asked) - 1) + [5.0]
    assert clock.iterations >= 40


def test_a_part_tells_the_whole_of_better_tours_and_counts_for_itself() -> None:
    told: list[float] = []
    whole = Clock(MaxIterations(5), on_improve=lambda _, length, __: told.append(length))
    whole.improved(8.0, PLACES)
    for limit in (30, 50):
        part = whole.part(MaxIterations(limit))
        part.drive(Counter((0, 9.0), (10, 8.5), (20, 7.0)).advance)
        assert (part.iterations, part.best, part.reached) == (limit, 7.0, True)
    assert (whole.iterations, whole.best, whole.reached) == (0, 7.0, False)
    assert told == [length for _, length in whole.trace] == [8.0, 7.0]


def test_an_interruption_of_the_whole_ends_a_part() -> None:
    whole = Clock()
    whole.interruption.happened = True
    part = whole.part(Stop())
    part.drive(Counter((0, 9.0)).advance)
    assert (part.iterations, whole.best) == (0, 9.0)


def test_the_same_tour_summed_otherwise_is_no_improvement() -> None:
    clock = Clock()
    clock.improved(0.1 + 0.2, PLACES)
    clock.improved(0.3, PLACES)
    assert len(clock.trace) == 1


def test_what_comes_before_the_cost_decides() -> None:
    clock = Clock()
    for first, cost in ((3.0, 5.0), (2.0, 9.0), (3.0, 1.0), (2.0, 8.0), (2.0, 8.5)):
        clock.improved(cost, PLACES, first=first)
    assert [cost for _, cost in clock.trace] == [5.0, 9.0, 8.0]
    assert clock.best == 8.0


@pytest.fixture
def _usual_handlers() -> Iterator[None]:
    """Both signals raise KeyboardInterrupt, as on the command line."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_usual_handlers")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_noted_once_and_raised_the_second_time(number: int) -> None:
    interruption = Interruption()
    with heeding(interruption):
        assert not interruption.happened
        signal.raise_signal(number)
        assert interruption.happened
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


@pytest.mark.usefixtures("_usual_handlers")
def test_a_signal_that_somebody_handles_is_left_to_them() -> None:
    theirs: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: theirs.append(number))
    interruption = Interruption()
    with heeding(interruption):
        signal.raise_signal(signal.SIGINT)
    assert (theirs, interruption.happened) == ([signal.SIGINT], False)


def test_a_stretch_never_goes_beyond_a_limit() -> None:
    clock = Clock(MaxIterations(10) | NoImprovement(6))
    clock.improved(9.0, PLACES)
    assert 1 <= clock.stretch() <= 6
    clock.ran(5, 1e-9)  # as fast as that, a stretch would be long
    assert clock.stretch() == 1
    clock.improved(8.0, PLACES, 5)
    assert clock.stretch() == 5
    assert clock.counted
    assert not Clock(MaxSeconds(1)).counted
