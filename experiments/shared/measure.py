"""Measuring: what is missing is run, proofs on all cores first, then everything timed alone."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import current_thread, main_thread
from types import FrameType

from covertour import Decoding, Result, solve_many
from covertour.bench import timed_run
from experiments.shared.protocol import Cell, Limit, planned_seconds
from experiments.shared.rows import BATCH, BESIDE, Row, Run
from experiments.shared.study import Study
from experiments.shared.weights import as_called, network_of

BATCH_PLAN = 0.3
"""Of the time of runs alone, about what decoding together takes."""


@dataclass(frozen=True)
class Job:
    """A run that is to be made, and how long it is expected to take."""

    cell: Cell
    run: Run
    limit: Limit
    planned: float
    decoding: Decoding | None = None

    def make(self) -> Row:
        """Make the run."""
        instance, run = self.cell.instance(self.run.seed), self.run
        stop = self.limit.stop()
        method = as_called(run.method)
        return row_of(
            run, timed_run(instance, method, stop, run.seed, decoding=self.decoding).result
        )


def job_of(study: Study, cell: Cell, seed: int, method: str, limit: Limit | None = None) -> Job:
    """The run of a method on an instance, with its usual limit or another."""
    chosen = limit or study.limit(method, cell.n)
    return Job(
        cell,
        study.run(cell, seed, method, chosen),
        chosen,
        planned_seconds(method, cell.n, study.settings),
        study.decoding(method, cell.n),
    )


def jobs_of(study: Study, cells: Sequence[Cell], methods: Sequence[str]) -> list[Job]:
    """The runs of the methods in the cells that have no rows yet."""
    jobs = (
        job_of(study, cell, seed, method)
        for cell in cells
        for method in study.methods(methods, cell.n)
        for seed in study.settings.seeds
    )
    return [job for job in jobs if job.run not in study.rows]


def batches_of(study: Study, cells: Sequence[Cell], methods: Sequence[str]) -> list[list[Job]]:
    """The batches, all instances of a cell, that learned methods have not decoded yet."""
    batches = []
    for cell in cells:
        for method in study.methods(methods, cell.n):
            if network_of(method) is None:
                continue
            limit, decoding = study.limit(method, cell.n), study.decoding(method, cell.n)
            planned = planned_seconds(method, cell.n, study.settings) * BATCH_PLAN
            runs = batch_runs(study, cell, method)
            if any(run not in study.rows for run in runs):
                batches.append([Job(cell, run, limit, planned, decoding) for run in runs])
    return batches


def batch_runs(study: Study, cell: Cell, method: str) -> list[Run]:
    """The runs of a learned method on all instances of a cell at once."""
    settings = study.described(method, cell.n, study.limit(method, cell.n))
    together = f"{settings}, {study.settings.count} together"
    return [
        study.as_made(Run(cell.rule, cell.n, seed, method, together, BATCH))
        for seed in study.settings.seeds
    ]


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
        method = job.run.method
        study.meter.next(f"{job.cell}, seed {job.run.seed}: {method}")
        if (job.cell, method) not in warm:
            _warm_up(job)
            warm.add((job.cell, method))
        study.rows.add([job.make()])
        study.meter.made(job.planned)
    for batch in batches:
        _decode_together(study, batch)


def row_of(run: Run, result: Result) -> Row:
    """The row of a result."""
    return Row(run, result.length, result.bound, len(result.tour), round(result.seconds, 7))


def _warm_up(job: Job) -> None:
    """Load and compile what a method needs for such instances, off the clock."""
    short = job.limit if job.limit == Limit() else Limit(seconds=0.05)
    replace(job, limit=short).make()


def _decode_together(study: Study, batch: Sequence[Job]) -> None:
    first = batch[0]
    study.meter.next(f"{first.cell}: {first.run.method}, {len(batch)} instances together")
    results = solve_many(
        [job.cell.instance(job.run.seed) for job in batch],
        as_called(first.run.method),
        stop=first.limit.stop(),
        seed=first.run.seed,
        decoding=first.decoding,
    )
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
            waiting = {pool.submit(job.make): job for job in jobs}
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
    if not hasattr(signal, "pthread_sigmask") or current_thread() is not main_thread():
        yield
        return
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True

    handler = signal.signal(signal.SIGINT, press)  # a thread of numpy's may be interrupted for us
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if pressed:
        raise KeyboardInterrupt
