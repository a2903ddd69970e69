"""Work that others take: processes and the machines of a cluster find what is found here."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from covertour import (
    InputError,
    Instance,
    Result,
    SolveError,
    random_instance,
    solve,
    solve_many,
    write,
)
from covertour.executors import cluster, slots_of
from covertour.problem.metric import IntArray
from covertour.solving.clock import Clock
from covertour.solving.method import Method, Outcome

distributed = pytest.importorskip("distributed", reason="the extra cluster is not installed")

LARGE = random_instance(6_000, nearest=3, seed=2)
"""A tour of some 2,000 stops, in five regions."""

MAPS = [random_instance(40 + seed, nearest=3, seed=seed) for seed in range(12)]

HERE = ("--host", "127.0.0.1")

CALL: dict[str, Any] = {"iterations": 30_000, "seed": 1, "workers": 5}


@pytest.fixture(scope="module")
def alone() -> Result:
    return solve(LARGE, **CALL)


@pytest.fixture(scope="module")
def local_cluster() -> Iterator[Any]:
    """Two processes on this machine, each replaced when it dies."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs="CRITICAL",
    ) as started:
        yield started


@pytest.fixture
def machines(local_cluster: Any) -> Iterator[Executor]:
    local_cluster.scheduler_info  # noqa: B018 (still there)
    with cluster(local_cluster.scheduler_address) as executor:
        yield executor


def stops(results: list[Result]) -> list[list[int]]:
    return [result.tour.places.tolist() for result in results]


def test_processes_find_the_same_tour(alone: Result) -> None:
    expected = solve_many(MAPS, iterations=200)
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        assert slots_of(executor) == 2
        found = solve(LARGE, **CALL, executor=executor)
        assert_array_equal(found.tour.places, alone.tour.places)
        assert found.iterations == alone.iterations
        many = solve_many(MAPS, iterations=200, executor=executor)
    assert stops(many) == stops(expected)
    assert [one.instance for one in many] == MAPS


def test_a_cluster_finds_the_same_tour(machines: Executor, alone: Result) -> None:
    assert slots_of(machines) == 2
    told: list[float] = []

    def tell(seconds: float, length: float, places: IntArray) -> None:
        told.append(length)

    found = solve(LARGE, **CALL, executor=machines, on_improve=tell)
    assert_array_equal(found.tour.places, alone.tour.places)
    assert (found.iterations, found.stopped) == (alone.iterations, "limit")
    assert told == [length for _, length in alone.trace]


def test_a_cluster_solves_many(machines: Executor) -> None:
    told: dict[int, Result] = {}
    found = solve_many(MAPS, iterations=300, seed=5, executor=machines, on_result=told.__setitem__)
    assert stops(found) == stops(solve_many(MAPS, iterations=300, seed=5))
    assert sorted(told) == list(range(len(MAPS)))
    assert all(told[index] is one for index, one in enumerate(found))
    assert not found[0].tour.places.flags.writeable


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(
    machines: Executor, local_cluster: Any, alone: Result
) -> None:
    killed: list[int] = []

    def kill(seconds: float, length: float, places: IntArray) -> None:
        if len(killed) < 1 and length < alone.trace[0][1]:
            pids = machines._client.run(os.getpid)  # type: ignore[attr-defined]
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    found = solve(LARGE, **CALL, executor=machines, on_improve=kill)
    assert len(killed) == 1
    assert_array_equal(found.tour.places, alone.tour.places)
    assert (found.iterations, found.stopped) == (alone.iterations, "limit")


def test_time_is_kept_on_a_cluster(machines: Executor) -> None:
    found = solve(LARGE, seconds=1.0, workers=5, executor=machines)
    assert found.iterations > 100
    assert found.length < solve(LARGE, "greedy").length


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A program of dask, ended with its children."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_scheduler_that_dies_ends_the_solve_with_the_best_tour_so_far(tmp_path: Path) -> None:
    where = tmp_path / "scheduler.json"
    common = ("--scheduler-file", str(where))
    with (
        started(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", *common
        ) as one,
        started("worker", *HERE, *common, "--nthreads", "1", "--no-dashboard", "--no-nanny"),
    ):
        client = distributed.Client(scheduler_file=str(where), set_as_default=False, timeout=60)
        client.wait_for_workers(1, timeout=60)
        address = client.scheduler.address
        client.close()

        told: list[float] = []

        def kill(seconds: float, length: float, places: IntArray) -> None:
            told.append(length)
            if len(told) == 2:  # after the first round
                os.kill(one.pid, signal.SIGKILL)
                one.wait()

        with cluster(address) as executor, pytest.warns(RuntimeWarning, match="best tour so far"):
            found = solve(
                LARGE, iterations=1_000_000, workers=5, executor=executor, on_improve=kill
            )
    assert found.stopped == "interrupt"
    assert found.iterations < 1_000_000
    assert found.length == pytest.approx(told[1])


def test_nobody_at_an_address_is_told_in_one_line() -> None:
    with pytest.raises(InputError, match="expected an address such as"), cluster("nowhere"):
        pass
    match = "cluster: no scheduler at tcp://127.0.0.1:1: "
    with pytest.raises(InputError, match=match) as error, cluster("tcp://127.0.0.1:1"):
        pass
    assert "\n" not in str(error.value)


def test_a_method_that_cannot_be_shared_out_says_so() -> None:
    with ProcessPoolExecutor(1) as executor, pytest.raises(InputError, match="lns can"):
        solve(MAPS[0], "exact", executor=executor)
    with pytest.raises(InputError, match="expected an Executor"):
        solve(MAPS[0], executor="here")  # type: ignore[arg-type]


def fail(instance: Instance, clock: Clock, seed: int, start: IntArray) -> Outcome:
    raise ZeroDivisionError("a mistake")


def test_a_method_that_fails_elsewhere_says_why(machines: Executor) -> None:
    with pytest.raises(SolveError, match="ZeroDivisionError: a mistake"):
        solve_many(MAPS, Method("mine", fail), executor=machines)


def test_an_instance_comes_back_from_a_pickle_as_it_was() -> None:
    points = np.random.default_rng(1).random((50, 2))
    for instance in (MAPS[0], Instance.from_coordinates(points, radius=0.2)):
        _ = instance.coverage
        back: Instance = pickle.loads(pickle.dumps(instance))
        assert back.coordinates is not None
        assert not back.coordinates.flags.writeable
        assert_array_equal(back.coordinates, instance.coordinates)
        assert_array_equal(back.coverage.covers, instance.coverage.covers)
        same = instance.coverage.covers is instance.coverage.covered_by
        assert (back.coverage.covers is back.coverage.covered_by) == same
        assert_array_equal(
            solve(back, iterations=300).tour.places, solve(instance, iterations=300).tour.places
        )


def test_arrays_that_came_read_only_can_be_searched() -> None:
    buffers: list[pickle.PickleBuffer] = []
    instance = MAPS[0]
    _ = instance.coverage
    data = pickle.dumps(instance, protocol=5, buffer_callback=buffers.append)
    back: Instance = pickle.loads(data, buffers=[bytes(buffer.raw()) for buffer in buffers])
    assert back.coverage.covers.flags.writeable
    assert_array_equal(
        solve(back, iterations=300).tour.places, solve(instance, iterations=300).tour.places
    )


def covertour(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "covertour", *arguments], capture_output=True, text=True, check=False
    )


def test_the_command_line_solves_and_measures_on_a_cluster(
    local_cluster: Any, tmp_path: Path
) -> None:
    there = ("--cluster", local_cluster.scheduler_address)
    file = str(tmp_path / "large.json")
    write(file, LARGE)
    limits = ("--iterations", "8000", "--seed", "3", "--workers", "5", "--json")
    apart, here = covertour("solve", file, *limits, *there), covertour("solve", file, *limits)
    assert apart.returncode == here.returncode == 0, apart.stderr
    assert json.loads(apart.stdout)["tour"] == json.loads(here.stdout)["tour"]
    small = ("bench", "random", "30", "--iterations", "50", "--count", "3")
    measured = covertour(*small, *there)
    assert measured.returncode == 0, measured.stderr
    assert "mean length" in measured.stdout


def test_the_example_runs(local_cluster: Any) -> None:
    script = Path(__file__).parents[1] / "examples" / "cluster" / "many.py"
    ran = subprocess.run(
        [sys.executable, str(script), local_cluster.scheduler_address],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("100 tours, ")


def test_an_address_where_nobody_is_ends_the_command_with_one_line(tmp_path: Path) -> None:
    file = str(tmp_path / "small.json")
    write(file, MAPS[0])
    ran = covertour("solve", file, "--cluster", "tcp://127.0.0.1:1")
    assert ran.returncode == 2
    assert len(ran.stderr.strip().splitlines()) == 1
    assert "no scheduler at tcp://127.0.0.1:1" in ran.stderr
