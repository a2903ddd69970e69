"""solve(): limits are kept, what it tells on the way is true, and bad calls get a clear line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from covertour import (
    Decoding,
    InputError,
    Instance,
    LnsParams,
    Result,
    SolveError,
    make_tour,
    random_instance,
    solve,
    verify,
)
from covertour.problem.metric import IntArray
from covertour.solving import clock as clocks
from covertour.solving.clock import Clock
from covertour.solving.method import Method, Outcome
from covertour.solving.methods import METHODS, default_stop
from covertour.solving.stop import (
    GapBelow,
    MaxIterations,
    MaxSeconds,
    NoImprovement,
    Progress,
    Stop,
    TargetLength,
)

VILLAGES = random_instance(60, nearest=4, seed=1)
ANYTIME = ["lns", "ls1", "ls2"]
"""Methods that count iterations and stop at a limit of them."""

AT_LAST = MaxSeconds(20)
"""Ends a search that would not end by itself; tests that use it see that it was not needed."""

each = pytest.mark.parametrize("method", ANYTIME)


@each
@pytest.mark.parametrize("iterations", [0, 1, 17, 500])
def test_an_iteration_limit_is_kept_exactly(method: str, iterations: int) -> None:
    assert solve(VILLAGES, method, stop=MaxIterations(iterations)).iterations == iterations


@pytest.mark.parametrize("iterations", [1, 2, 7, 400])
def test_workers_share_the_iterations_and_never_make_more(iterations: int) -> None:
    found = solve(VILLAGES, stop=MaxIterations(iterations) | AT_LAST, workers=2)
    assert iterations - 1 <= found.iterations <= iterations
    assert found.seconds < AT_LAST.seconds


@each
def test_a_target_ends_the_search(method: str) -> None:
    best = solve(VILLAGES, method, stop=MaxIterations(2000))
    first = best.trace[0][1]
    assert best.length < first
    target = (best.length + first) / 2
    found = solve(VILLAGES, method, stop=TargetLength(target) | MaxIterations(2000))
    assert found.length <= target
    assert found.iterations < 2000


@pytest.mark.parametrize("seed", range(8))
def test_the_length_of_a_known_tour_can_be_the_target(seed: int) -> None:
    instance = random_instance(40, nearest=3, seed=seed)
    known = solve(instance, stop=MaxIterations(3000))
    found = solve(instance, stop=TargetLength(known.length) | MaxIterations(3000))
    assert found.length == pytest.approx(known.length, rel=1e-12)
    assert found.iterations < 3000


@each
def test_a_search_without_improvement_ends(method: str) -> None:
    for seed in range(5):
        found = solve(VILLAGES, method, stop=NoImprovement(40) | AT_LAST, seed=seed)
        assert found.iterations >= 40
        assert found.seconds < AT_LAST.seconds


@pytest.mark.parametrize("seed", range(6))
def test_two_workers_without_improvement_end(seed: int) -> None:
    large = random_instance(100, nearest=4, seed=1)
    found = solve(large, stop=NoImprovement(5) | AT_LAST, seed=seed, workers=2)
    assert found.seconds < AT_LAST.seconds


def test_a_tour_of_one_stop_ends_the_search_at_once() -> None:
    everywhere = random_instance(40, radius=2.0)
    assert solve(everywhere, stop=MaxIterations(1000)).iterations == 0


@each
def test_the_trace_falls_to_the_length_of_the_result(method: str) -> None:
    found = solve(VILLAGES, method, stop=MaxIterations(1500), seed=3)
    seconds, lengths = zip(*found.trace, strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(lengths) == sorted(set(lengths), reverse=True)
    assert lengths[-1] == pytest.approx(found.length, rel=1e-9)


@each
@pytest.mark.parametrize("workers", [1, 2])
def test_every_improvement_that_is_told_is_a_valid_tour(method: str, workers: int) -> None:
    told: list[tuple[float, float, IntArray]] = []
    found = solve(
        VILLAGES.with_changes(depot=3, required=[4], forbidden=[8]),
        method,
        stop=MaxIterations(1000),
        workers=workers,
        on_improve=lambda *news: told.append(news),
    )
    assert [(seconds, length) for seconds, length, _ in told] == list(found.trace)
    instance = VILLAGES.with_changes(depot=3, required=[4], forbidden=[8])
    for _, length, places in told:
        tour = make_tour(instance, places)
        assert verify(instance, tour).problems(instance) == []
        assert tour.length == pytest.approx(length, rel=1e-9)
    assert np.array_equal(make_tour(instance, told[-1][2]).places, found.tour.places)


@each
def test_progress_tells_the_iterations_and_the_best_so_far(method: str) -> None:
    heard: list[Progress] = []
    with patch.object(clocks, "REPORT_EVERY", 0.0):
        found = solve(VILLAGES, method, stop=MaxIterations(300), on_progress=heard.append)
    assert heard[-1].iterations == 300
    assert heard[-1].length == pytest.approx(found.length, rel=1e-9)
    counts = [progress.iterations for progress in heard]
    lengths = [progress.length for progress in heard]
    assert counts == sorted(counts)
    assert lengths == sorted(lengths, reverse=True)


@each
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_returns_the_best_tour_so_far(method: str, workers: int) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.iterations >= 50:
            raise KeyboardInterrupt

    with patch.object(clocks, "REPORT_EVERY", 0.0):
        found = solve(VILLAGES, method, workers=workers, on_progress=interrupt)
    assert verify(VILLAGES, found.tour).ok
    assert found.iterations >= 50
    assert found.stopped == "interrupt"


@each
@pytest.mark.parametrize("at", [0, 1])
def test_ctrl_c_at_an_improvement_returns_that_tour(method: str, at: int) -> None:
    told: list[float] = []

    def interrupt(_: float, length: float, __: IntArray) -> None:
        told.append(length)
        if len(told) > at:
            raise KeyboardInterrupt

    try:
        found = solve(VILLAGES, method, stop=MaxIterations(5000), on_improve=interrupt)
    except KeyboardInterrupt:  # which would end the whole test run
        pytest.fail("solve() did not catch Ctrl-C")
    assert len(told) == at + 1
    assert found.length == pytest.approx(told[-1], rel=1e-9)


def test_a_start_tour_may_be_a_tour_a_list_or_an_array() -> None:
    known = solve(VILLAGES, stop=MaxIterations(2000)).tour
    for start in (known, known.places.tolist(), known.places):
        found = solve(VILLAGES, stop=MaxIterations(0), start=start)
        assert found.length <= known.length * (1 + 1e-12)


@pytest.mark.parametrize("start", [[-1, 2], [0, 60]])
def test_a_start_that_names_no_place_is_refused(start: list[int]) -> None:
    with pytest.raises(InputError, match="start: expected places 0 to 59"):
        solve(VILLAGES, stop=MaxIterations(0), start=start)


def test_an_unknown_method_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="did you mean 'lns'"):
        solve(VILLAGES, "lnss")
    with pytest.raises(InputError, match="there are lns, "):
        solve(VILLAGES, "?")


def test_an_instance_that_nobody_can_cover_is_refused() -> None:
    lonely = Instance.from_coordinates([[0, 0], [9, 9]], radius=1, forbidden=[1])
    with pytest.raises(InputError, match="no allowed place covers place 1"):
        solve(lonely)


def test_a_wrong_tour_never_reaches_the_caller() -> None:
    def lazy(instance: Instance, clock: Clock, seed: int, start: IntArray) -> Outcome:
        return Outcome(np.array([0]))

    def lost(instance: Instance, clock: Clock, seed: int, start: IntArray) -> Outcome:
        return Outcome(np.array([instance.n]))

    with pytest.raises(SolveError, match="lazy made a wrong tour: not covered"):
        solve(VILLAGES, Method("lazy", lazy))
    with pytest.raises(SolveError, match="lost made a wrong tour: tour: expected places 0 to 59"):
        solve(VILLAGES, Method("lost", lost))


def shuffle(instance: Instance, clock: Clock, seed: int, start: IntArray) -> Outcome:
    """A method of a user: random orders of all places."""
    rng = np.random.default_rng(seed)
    best = np.arange(instance.n)
    clock.improved(instance.length(best), best)
    while not clock.over:
        order = rng.permutation(instance.n)
        clock.ran(1, 0.0)
        clock.improved(instance.length(order), order)
        clock.report()
    assert clock.places is not None
    return Outcome(clock.places)


def test_a_method_of_ones_own_needs_no_change_of_covertour() -> None:
    mine = Method("shuffle", shuffle, limit=lambda instance: MaxIterations(instance.n))
    told: list[float] = []
    found = solve(VILLAGES, mine, seed=3, on_improve=lambda _, length, __: told.append(length))
    assert (found.method, found.iterations, found.stopped) == ("shuffle", 60, "limit")
    assert told == [length for _, length in found.trace]
    assert len(told) > 1
    assert found.length == pytest.approx(told[-1])
    target = solve(VILLAGES, mine, stop=TargetLength(told[0]))
    assert target.iterations == 0
    with pytest.raises(InputError, match="gap: shuffle proves nothing"):
        solve(VILLAGES, mine, stop=GapBelow(0.1))


def test_a_method_that_tells_nothing_still_has_a_trace() -> None:
    silent = Method("silent", lambda i, clock, seed, start: Outcome(np.arange(i.n)))
    found = solve(VILLAGES, silent)
    assert [length for _, length in found.trace] == [found.length]
    assert found.stopped == "done"


def test_an_interrupt_anywhere_in_a_method_leaves_the_best_tour_it_told_of() -> None:
    def interrupted(instance: Instance, clock: Clock, seed: int, start: IntArray) -> Outcome:
        clock.improved(instance.length(np.arange(60)), np.arange(60))
        raise KeyboardInterrupt

    def at_once(instance: Instance, clock: Clock, seed: int, start: IntArray) -> Outcome:
        raise KeyboardInterrupt

    found = solve(VILLAGES, Method("interrupted", interrupted))
    assert (len(found.tour), found.stopped) == (60, "interrupt")
    with pytest.raises(KeyboardInterrupt):
        solve(VILLAGES, Method("at once", at_once))


@pytest.mark.parametrize("method", ["greedy", "lns", "ls1", "ls2", "twophase", "exact"])
def test_each_improvement_is_told_and_traced_once(method: str) -> None:
    told: list[tuple[float, float]] = []
    found = solve(
        VILLAGES,
        method,
        stop=MaxIterations(50) | AT_LAST,
        on_improve=lambda seconds, length, _: told.append((seconds, length)),
    )
    assert list(found.trace) == told
    lengths = [length for _, length in told]
    assert lengths == sorted(set(lengths), reverse=True)
    assert lengths[-1] == pytest.approx(found.length)


def test_greedy_has_one_tour_to_tell_of() -> None:
    found = solve(VILLAGES, "greedy")
    assert (len(found.trace), found.iterations, found.stopped) == (1, 0, "done")


def test_why_it_stopped() -> None:
    assert solve(VILLAGES, iterations=10).stopped == "limit"
    assert solve(VILLAGES, stop=lambda progress: progress.iterations >= 10).stopped == "limit"
    proof = solve(random_instance(30, nearest=4), "exact")
    assert (proof.stopped, proof.optimal) == ("proven", True)
    everywhere = solve(random_instance(40, radius=2.0))
    assert (everywhere.stopped, everywhere.bound, everywhere.optimal) == ("proven", 0.0, True)


@pytest.mark.parametrize("method", ["lns", "exact"])
def test_few_places_are_answered_at_once_and_proven(method: str) -> None:
    square = Instance.from_coordinates([[0, 0], [0, 3], [4, 3], [4, 0]], nearest=0)
    told: list[float] = []
    found = solve(square, method, seconds=600, on_improve=lambda _, far, __: told.append(far))
    assert (found.length, found.bound, found.stopped) == (14.0, 14.0, "proven")
    assert (found.iterations, told) == (0, [14.0])
    one_of_many = random_instance(500, radius=2.0).with_changes(forbidden=range(3, 500))
    assert solve(one_of_many, method, seconds=600).length == 0


def test_few_places_need_no_compiler() -> None:
    code = (
        "import sys, covertour;"
        "covertour.solve(covertour.random_instance(4, nearest=1));"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_proof_stops_at_every_kind_of_limit() -> None:
    hard = random_instance(60, radius=0.15, seed=3)
    shortest = solve(hard, "exact")
    assert shortest.optimal
    first = shortest.trace[0][1]
    for stop in (
        MaxIterations(0),
        TargetLength(first),
        GapBelow(0.5),
        NoImprovement(seconds=0),
        MaxSeconds(0),
        lambda progress: progress.length < float("inf"),
    ):
        found = solve(hard, "exact", stop=stop)
        assert (found.stopped, found.optimal) == ("limit", False), stop
        assert found.bound is not None
        assert found.bound <= shortest.length


def test_ctrl_c_in_the_search_that_opens_a_proof_ends_the_proof_too() -> None:
    large = random_instance(150, nearest=7)

    def interrupt(seconds: float, length: float, places: IntArray) -> None:
        raise KeyboardInterrupt

    with patch("covertour.exact.branch_and_cut.prove") as prove:
        found = solve(large, "exact", on_improve=interrupt)
    prove.assert_not_called()
    assert (found.stopped, len(found.trace)) == ("interrupt", 1)


def test_a_gap_cannot_stop_what_proves_nothing() -> None:
    for stop in (GapBelow(0.1), GapBelow(0.1) | MaxSeconds(1), MaxSeconds(1) & GapBelow(0.1)):
        with pytest.raises(InputError, match="gap: lns proves nothing, so no gap can stop it"):
            solve(VILLAGES, stop=stop)


def test_seconds_and_iterations_are_the_short_way() -> None:
    by_rule = solve(VILLAGES, stop=MaxIterations(300), seed=2)
    short = solve(VILLAGES, iterations=300, seed=2)
    assert short.tour.places.tolist() == by_rule.tour.places.tolist()
    assert solve(VILLAGES, seconds=0).iterations == 0
    assert solve(VILLAGES, seconds=20, iterations=70, stop=NoImprovement(10_000)).iterations == 70
    assert solve(VILLAGES, seconds=20, iterations=70, stop=MaxIterations(7)).iterations == 7


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"instance": "x.csv"}, r"instance: expected an Instance, got 'x.csv'; covertour.read"),
        ({"instance": [[0, 1], [2, 3]]}, r"instance: expected an Instance, got \[\[0, 1\]"),
        ({"method": 3}, "method: expected a name such as 'lns', or a Method, got 3"),
        ({"stop": 2}, r"stop: expected a rule such as MaxSeconds\(2\), .* got 2"),
        ({"stop": MaxSeconds}, "stop: expected a rule"),
        ({"seconds": "2"}, "seconds: expected a number >= 0, got '2'"),
        ({"seconds": -1}, "seconds: expected a number >= 0, got -1"),
        ({"iterations": -1}, "iterations: expected a number >= 0, got -1"),
        ({"seed": -1}, "seed: expected a whole number >= 0, got -1"),
        ({"seed": 1.5}, "seed: expected a whole number >= 0, got 1.5"),
        ({"workers": 0}, "workers: expected 1 to 256 threads, got 0"),
        ({"workers": 100_000_000}, "workers: expected 1 to 256 threads, got 100000000"),
        ({"decoding": 32, "method": "am-gain"}, "decoding: expected a Decoding, got 32"),
        ({"params": {"noise": 0.2}}, "params: expected LnsParams, got {'noise': 0.2}"),
        ({"params": LnsParams(), "method": "ls1"}, "params: are those of lns; ls1 takes none"),
        ({"on_improve": 1}, "on_improve: expected a function, got 1"),
        ({"on_progress": []}, r"on_progress: expected a function, got \[\]"),
        ({"start": "abc"}, "start: expected places 0 to 59, got 'abc'"),
        ({"start": [[1, 2]]}, "start: expected places 0 to 59"),
        ({"start": 7}, "start: expected places 0 to 59, got 7"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused_with_what_was_expected(
    arguments: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        solve(**{"instance": VILLAGES, **arguments})  # type: ignore[arg-type]


def test_seeds_lead_to_different_searches() -> None:
    large = random_instance(300, nearest=4, seed=2)
    lengths = {solve(large, stop=MaxIterations(50), seed=seed).length for seed in range(4)}
    assert len(lengths) > 1


def test_larger_instances_get_more_time_and_own_limits_are_kept() -> None:
    assert default_stop(VILLAGES) == MaxSeconds(1)
    assert default_stop(random_instance(16_000, nearest=1)) == MaxSeconds(8)
    assert default_stop(VILLAGES, "ls1") == MaxIterations(3500)


def test_learned_methods_stop_by_themselves() -> None:
    assert default_stop(VILLAGES, "am-gain") == Stop()
    assert default_stop(VILLAGES, "am-gain+ls") == MaxIterations(50 * 80)


def test_a_learned_tour_is_told_and_the_search_after_it_is_limited_as_a_whole(
    weights: Callable[[str], Path],
) -> None:
    decoding = Decoding(samples=3, weights=weights("am-gain"), raw=True)
    told: list[float] = []
    found = solve(
        VILLAGES, "am-gain", decoding=decoding, on_improve=lambda _, far, __: told.append(far)
    )
    assert told == [length for _, length in found.trace]
    assert told[-1] == pytest.approx(found.length)
    call = {"stop": MaxIterations(300), "seed": 2, "decoding": decoding}
    searched = solve(VILLAGES, "am-gain+ls", **call)
    assert searched.iterations == 300
    assert searched.length < found.length
    again = solve(VILLAGES, "am-gain+ls", **call)
    assert again.tour.places.tolist() == searched.tour.places.tolist()


def drawn(**call: object) -> Result:
    """A learned solve that would draw tours for an hour; polished ones are too good to improve."""
    decoding = Decoding(samples=1_000_000, raw=True)
    return solve(VILLAGES, "am-gain", decoding=decoding, **call)  # type: ignore[arg-type]


def test_samples_end_with_the_clock() -> None:
    greedy = solve(VILLAGES, "am-gain", decoding=Decoding(raw=True))
    assert greedy.stopped == "done"
    at_once = drawn(seconds=0)
    assert (at_once.length, at_once.stopped) == (greedy.length, "limit")
    shorter = drawn(stop=TargetLength(greedy.length * 0.999))
    assert shorter.length < greedy.length
    assert [length for _, length in shorter.trace] == sorted(
        {length for _, length in shorter.trace}, reverse=True
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_keeps_the_best_of_the_samples_so_far(workers: int) -> None:
    told: list[float] = []

    def interrupt(_: float, length: float, __: IntArray) -> None:
        told.append(length)
        if len(told) == 2:
            raise KeyboardInterrupt

    found = drawn(on_improve=interrupt, workers=workers)
    assert found.stopped == "interrupt"
    assert found.length == pytest.approx(min(told))


def test_what_learned_methods_do_not_take(weights: Callable[[str], Path]) -> None:
    decoding = Decoding(weights=weights("am"))
    for method in ("am", "am+ls"):
        with pytest.raises(InputError, match=r"start: am.* makes its own tour"):
            solve(VILLAGES, method, start=[0, 1], decoding=decoding)
        with pytest.raises(InputError, match=r"at most 2,000 places, not 2,001; lns takes them"):
            solve(random_instance(2001, nearest=7), method, decoding=decoding)
    for samples in (-1, 1.5, 1_000_000_000, "32"):
        with pytest.raises(InputError, match=r"samples: expected a whole number from 0 to 1,000,0"):
            Decoding(samples=samples)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="raw: lns is not a learned method"):
        solve(VILLAGES, "lns", decoding=decoding)


def test_every_method_says_what_it_does_in_a_line() -> None:
    for name, method in METHODS.items():
        assert name == name.lower().strip()
        assert 10 < len(method.summary) <= 90
