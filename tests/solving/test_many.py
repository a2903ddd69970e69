"""solve_many(): every instance as solve() would, in order, with every result checked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Semaphore

import numpy as np
import pytest

from covertour import (
    Decoding,
    InputError,
    Instance,
    Result,
    random_instance,
    solve,
    solve_many,
    verify,
)
from covertour.problem.metric import IntArray
from covertour.solving.clock import Clock
from covertour.solving.method import Method, Outcome
from covertour.solving.stop import MaxIterations, MaxSeconds, Stop

MAPS = [random_instance(12 + 5 * (seed % 3), nearest=3, seed=seed) for seed in range(10)]
SHORT = MaxIterations(40)


def stops(results: list[Result]) -> list[list[int]]:
    return [result.tour.places.tolist() for result in results]


@pytest.mark.parametrize("workers", [1, 3])
def test_searches_give_what_solve_gives(workers: int) -> None:
    told: list[tuple[int, Result]] = []
    found = solve_many(
        MAPS, stop=SHORT, seed=4, workers=workers, on_result=lambda *news: told.append(news)
    )
    assert stops(found) == stops([solve(one, stop=SHORT, seed=4) for one in MAPS])
    assert told == list(enumerate(found))
    assert [one.instance for one in found] == MAPS
    assert all(one.iterations <= 40 for one in found)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("method", ["am-gain", "pn-dynamic", "am+ls"])
def test_learned_methods_give_what_solve_gives(
    method: str, workers: int, weights: Callable[[str], Path]
) -> None:
    decoding = Decoding(samples=2, weights=weights(method.removesuffix("+ls")))
    told: list[tuple[int, Result]] = []
    call = {"stop": SHORT, "seed": 3, "decoding": decoding}
    found = solve_many(
        MAPS, method, **call, workers=workers, on_result=lambda *news: told.append(news)
    )
    alone = [solve(one, method, **call) for one in MAPS]
    assert stops(found) == stops(alone)
    assert told == list(enumerate(found))
    for instance, result in zip(MAPS, found, strict=True):
        assert verify(instance, result.tour).ok
        assert (result.instance, result.method, result.seed) == (instance, method, 3)
        assert result.trace[-1][1] == pytest.approx(result.length)
        assert result.seconds > 0


def test_a_time_limit_holds_for_each_instance(weights: Callable[[str], Path]) -> None:
    decoding = Decoding(weights=weights("am"))
    found = solve_many(MAPS, "am+ls", stop=MaxSeconds(0), decoding=decoding)
    assert [one.iterations for one in found] == [0] * len(MAPS)


def test_no_instances_no_results() -> None:
    assert solve_many([]) == []


def test_bad_calls_are_refused_before_any_work(weights: Callable[[str], Path]) -> None:
    told: list[int] = []
    lonely = Instance.from_coordinates([[0, 0], [9, 9]], radius=1, forbidden=[1])
    flat = Instance.from_matrix(np.zeros((3, 3)), nearest=1)
    decoding = Decoding(weights=weights("am"))
    for instances, call, words in (
        ([*MAPS, lonely], {}, "no allowed place covers"),
        (MAPS, {"method": "lnss"}, "did you mean 'lns'"),
        (MAPS, {"workers": 0}, "workers: expected 1 to 256 threads"),
        (MAPS, {"decoding": Decoding()}, "lns is not a learned method"),
        ([*MAPS, flat], {"method": "am", "decoding": decoding}, "needs coordinates"),
    ):
        with pytest.raises(InputError, match=words):
            solve_many(instances, **call, on_result=lambda index, _: told.append(index))
    assert told == []


def test_ctrl_c_ends_all_of_it_and_keeps_what_there_is() -> None:
    told: list[int] = []

    def interrupt(index: int, _: Result) -> None:
        told.append(index)
        if index == 1:
            raise KeyboardInterrupt

    maps = [random_instance(60, nearest=3, seed=seed) for seed in range(50)]
    found = solve_many(maps, stop=SHORT, on_result=interrupt)
    assert told == list(range(len(found)))
    assert 2 <= len(found) < 50
    assert [one.instance for one in found] == maps[: len(found)]


def test_ctrl_c_leaves_the_best_tours_of_the_searches_that_run() -> None:
    maps = [random_instance(9, nearest=3, seed=seed) for seed in range(50)]
    running = Semaphore(0)

    def run(instance: Instance, clock: Clock, seed: int, start: IntArray) -> Outcome:
        """The first waits until two others run, and those run until they are interrupted."""
        everyone = np.arange(instance.n)
        clock.improved(instance.length(everyone), everyone)
        if instance is maps[0]:
            running.acquire()
            running.acquire()
        else:
            running.release()
            while not clock.over:
                pass
        return Outcome(everyone)

    def interrupt(index: int, _: Result) -> None:
        if index == 0:
            raise KeyboardInterrupt

    method = Method("run", run, limit=lambda _: Stop())
    found = solve_many(maps, method, workers=3, on_result=interrupt)
    assert 3 <= len(found) < 50
    assert {one.stopped for one in found[1:]} == {"interrupt"}
