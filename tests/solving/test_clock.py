"""The watch ends a search at its limits, and tells of every improvement."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from covertour.problem.metric import IntArray
from covertour.solving import clock as watching
from covertour.solving.clock import Stretch, Watch
from covertour.solving.result import Progress
from covertour.solving.stop import MaxIterations, MaxSeconds, NoImprovement, Stop, TargetLength

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


def drive(stop: Stop, search: Counter, **callbacks: object) -> Watch:
    watch = Watch(stop, **callbacks)
    watch.drive(search.advance)
    return watch


@pytest.mark.parametrize("iterations", [0, 1, 7, 1000])
def test_the_iteration_limit_is_kept_exactly(iterations: int) -> None:
    watch = drive(MaxIterations(iterations), Counter((0, 9.0)))
    assert (watch.iterations, watch.best) == (iterations, 9.0)


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
    watch = drive(NoImprovement(100), Counter((0, 9.0)))
    assert watch.iterations == 100
    watch = drive(NoImprovement(100), Counter((0, 9.0), (70, 8.0), (150, 7.0)))
    assert (watch.iterations, watch.best) == (250, 7.0)


def test_no_time_at_all_still_leaves_the_first_tour() -> None:
    watch = drive(MaxSeconds(0), Counter((0, 9.0)))
    assert (watch.iterations, watch.best) == (0, 9.0)
    assert drive(NoImprovement(seconds=0), Counter((0, 9.0))).iterations == 0


def test_the_trace_is_every_improvement_in_order() -> None:
    told: list[tuple[float, float]] = []
    watch = drive(
        MaxIterations(5000),
        Counter((0, 9.0), (1, 8.0), (4999, 7.5)),
        on_improve=lambda seconds, length, _: told.append((seconds, length)),
    )
    assert [length for _, length in watch.trace] == [9.0, 8.0, 7.5]
    assert watch.trace == told
    seconds = [second for second, _ in watch.trace]
    assert seconds == sorted(seconds)


def test_progress_is_told_now_and_then_only() -> None:
    never: list[Progress] = []
    with patch.object(watching, "REPORT_EVERY", 1e9):
        drive(MaxIterations(300), Counter((0, 9.0)), on_progress=never.append)
    assert never == []
    often: list[Progress] = []
    with patch.object(watching, "REPORT_EVERY", 0.0):
        drive(MaxIterations(300), Counter((0, 9.0), (100, 6.0)), on_progress=often.append)
    assert (often[-1].iterations, often[-1].length, often[-1].bound) == (300, 6.0, None)
    counts = [progress.iterations for progress in often]
    assert counts == sorted(counts)


@pytest.mark.parametrize("who", ["on_improve", "on_progress"])
def test_ctrl_c_ends_the_search_quietly(who: str) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with patch.object(watching, "REPORT_EVERY", 0.0):
        watch = drive(Stop(), Counter((0, 9.0)), **{who: interrupt})
    assert watch.best == 9.0


def test_a_stretch_never_goes_beyond_a_limit() -> None:
    watch = Watch(MaxIterations(10) | NoImprovement(6))
    watch.improved(9.0, PLACES)
    assert 1 <= watch.stretch() <= 6
    watch.ran(5, 1e-9)  # as fast as that, a stretch would be long
    assert watch.stretch() == 1
    watch.improved(8.0, PLACES, 5)
    assert watch.stretch() == 5
    assert watch.counted
    assert not Watch(MaxSeconds(1)).counted
