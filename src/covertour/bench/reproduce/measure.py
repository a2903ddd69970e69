"""Measuring: what is missing is run, proofs on all cores first, then everything timed alone."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass

from covertour.bench.reproduce.protocol import Cell, planned_seconds, stop_of
from covertour.bench.reproduce.rows import BATCH, BESIDE, Row, Run
from covertour.bench.reproduce.study import Study
from covertour.bench.runs import timed_run
from covertour.problem.instance import Instance
from covertour.solving.many import solve_many
from covertour.solving.methods import METHODS
from covertour.solving.result import Result
from covertour.solving.stop import MaxIterations, MaxSeconds, StoppingRule

BATCH_PLAN = 0.3
"""Of the time of runs alone, about what decoding together takes."""


@dataclass(frozen=True)
class Job:
    """A run that is to be made, and how long it is expected to take."""

    cell: Cell
    run: Run
    stop: StoppingRule
    planned: float


def jobs_of(study: Study, cells: Sequence[Cell], methods: Sequence[str]) -> list[Job]:
    """The runs of the methods in the cells that have no rows yet."""
    jobs = []
    for cell in cells:
        for method in study.methods(methods, cell.n):
            stop = stop_of(method, cell.instance(study.settings.seed), study.settings)
            planned = planned_seconds(method, cell.n, study.settings)
            for seed in study.settings.seeds:
                run = study.run(cell, seed, method, stop)
                if run not in study.rows:
                    jobs.append(Job(cell, run, stop, planned))
    return jobs


def batches_of(study: Study, cells: Sequence[Cell], methods: Sequence[str]) -> list[list[Job]]:
    """The batches, all instances of a cell, that learned methods have not decoded yet."""
    batches = []
    for cell in cells:
        for method in study.methods(methods, cell.n):
            if METHODS[method].model is None:
                continue
            stop = stop_of(method, cell.instance(study.settings.seed), study.settings)
            planned = planned_seconds(method, cell.n, study.settings) * BATCH_PLAN
            jobs = [Job(cell, run, stop, planned) for run in batch_runs(study, cell, method, stop)]
            if any(job.run not in study.rows for job in jobs):
                batches.append(jobs)
    return batches


def batch_runs(study: Study, cell: Cell, method: str, stop: StoppingRule) -> list[Run]:
    """The runs of a learned method on all instances of a cell at once."""
    settings = study.described(method, cell.n, stop)
    together = f"{settings}, {study.settings.count} together"
    return [Run(cell.rule, cell.n, seed, method, together, BATCH) for seed in study.settings.seeds]


def measure(study: Study, jobs: Sequence[Job], batches: Sequence[Sequence[Job]] = ()) -> None:
    """Make the runs, if any are to be made at all.

    Those timed alone begin when no other process of ours is at work.
    """
    if study.settings.from_rows:
        return
    beside = [job for job in jobs if job.run.timing == BESIDE]
    _prove_side_by_side(study, beside)
    warm: set[tuple[Cell, str]] = set()
    for job in jobs:
        if job.run.timing == BESIDE or job.run in study.rows:
            continue
        run = job.run
        study.meter.next(f"{job.cell}, seed {run.seed}: {run.method}")
        instance = job.cell.instance(run.seed)
        if (job.cell, run.method) not in warm:
            _warm_up(instance, run.method)
            warm.add((job.cell, run.method))
        made = timed_run(instance, run.method, job.stop, run.seed)
        study.rows.add([row_of(run, made.result, made.seconds)])
        study.meter.made(job.planned)
    for batch in batches:
        _decode_together(study, batch)


def row_of(run: Run, result: Result, seconds: float | None = None) -> Row:
    """The row of a result."""
    took = result.seconds if seconds is None else seconds
    return Row(run, result.length, result.bound, len(result.tour), round(took, 7))


def _warm_up(instance: Instance, method: str) -> None:
    """Load and compile what a method needs for such instances, off the clock."""
    timed_run(instance, method, MaxIterations(20) | MaxSeconds(0.05), seed=0)


def _decode_together(study: Study, batch: Sequence[Job]) -> None:
    first = batch[0]
    study.meter.next(f"{first.cell}: {first.run.method}, {len(batch)} instances together")
    instances = [job.cell.instance(job.run.seed) for job in batch]
    results = solve_many(instances, first.run.method, stop=first.stop, seed=first.run.seed)
    study.rows.add(row_of(job.run, found) for job, found in zip(batch, results, strict=True))
    study.meter.made(sum(job.planned for job in batch))


def _prove_side_by_side(study: Study, jobs: Sequence[Job]) -> None:
    """Make runs in several processes at once; rows are kept as they come."""
    if not jobs:
        return
    total = len(jobs)
    study.meter.next(f"{jobs[0].cell}: starting {study.settings.cores} processes for proofs")
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(study.settings.cores, multiprocessing.get_context("spawn"))
    try:
        with _without_ctrl_c():  # the processes are started here, and keep it so
            waiting = {pool.submit(_prove, job): job for job in jobs}
        for number, future in enumerate(as_completed(waiting), 1):
            job = waiting[future]
            study.rows.add([future.result()])
            study.meter.made(job.planned)
            study.meter.next(f"{job.cell}: {number} of {total} runs of {job.run.method} made")
    except BaseException:
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()  # proofs may go on for minutes, and nobody waits for them
        raise
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Put Ctrl-C off until the end of this, and keep it from processes started here for good.

    Ctrl-C reaches all processes of a terminal, and a solve answers it with its best tour so far;
    but only the first process may decide what happens.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prove(job: Job) -> Row:
    """A run in a process of its own."""
    run = job.run
    made = timed_run(job.cell.instance(run.seed), run.method, job.stop, run.seed)
    return row_of(run, made.result, made.seconds)
