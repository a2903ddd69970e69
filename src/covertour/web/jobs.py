"""Jobs: accepted, queued, run, watched, stopped, kept, and started again after a sudden end."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from covertour.web.limits import Limits
from covertour.web.pool import GRACE, Lost, Pool, Task
from covertour.web.problems import Problem
from covertour.web.store import Store, Stored

LOADING_SECONDS = 300.0
"""What a process may take beyond the time of the search: to read a large instance, and on a new
machine to compile a method."""

SAVE_EVERY = 1.0
"""Seconds between two times that the best tour of a running job is kept."""

FORGET_EVERY = 600.0
WAIT_TO_STOP = GRACE + 1.0

FINISHED = ("done", "stopped", "failed", "interrupted")

Event = tuple[str, dict[str, Any]]


@dataclass(eq=False)
class Job:
    """An order on its way to a result.

    ``best``: the best tour so far, with its cost and the seconds that it took. ``trace``: pairs of
    seconds and cost of all improvements.
    """

    id: str
    order: dict[str, Any]
    created: float
    state: str = "waiting"
    started: float | None = None
    finished: float | None = None
    best: dict[str, Any] | None = None
    bound: dict[str, Any] | None = None
    trace: list[list[float]] = field(default_factory=list)
    problem: dict[str, Any] | None = None
    result: bytes | None = None
    task: Task | None = None
    stopping: bool = False
    listeners: set[asyncio.Event] = field(default_factory=set)
    saved_at: float = 0.0

    def facts(self) -> dict[str, Any]:
        """What is kept of it besides its instance and its result."""
        return {
            "order": self.order,
            "created": self.created,
            "started": self.started,
            "best": self.best,
            "bound": self.bound,
            "trace": self.trace,
            "problem": self.problem,
        }

    def tell(self) -> None:
        """Wake whoever watches."""
        for listener in self.listeners:
            listener.set()

    def to_dict(self) -> dict[str, Any]:
        """The job as a client sees it."""
        order = self.order
        bound = self.bound or {}
        result = None if self.result is None else json.loads(self.result)
        known = result or bound
        value: dict[str, Any] = {
            "id": self.id,
            "state": self.state,
            "instance": {"name": order["name"], "places": order["places"]},
            "method": order["method"],
            "stop": order["stop"],
            "seed": order["seed"],
            "created": _stamp(self.created),
            "started": _stamp(self.started),
            "finished": _stamp(self.finished),
            "best": self.best,
            "bound": known.get("bound"),
            "gap": known.get("gap"),
            "trace": self.trace,
            "result": result,
        }
        if self.problem is not None:
            value["problem"] = self.problem
        return value


def _stamp(seconds: float | None) -> str | None:
    """A time as RFC 3339 has it."""
    if seconds is None:
        return None
    whole, part = divmod(seconds, 1)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{int(part * 1000):03d}Z"


def _from_store(stored: Stored) -> Job:
    facts = stored.facts
    return Job(
        id=stored.id,
        order=facts["order"],
        created=facts["created"],
        state=stored.state,
        started=facts["started"],
        finished=stored.finished,
        best=facts["best"],
        bound=facts["bound"],
        trace=facts["trace"],
        problem=facts["problem"],
        result=stored.result,
    )


class Jobs:
    """All jobs of a server, and the processes that do them."""

    def __init__(self, limits: Limits, store: Store) -> None:
        self.limits = limits
        self.store = store
        self.closing = False
        self.began = time.time()
        self._active: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = asyncio.Semaphore(limits.jobs)
        self._quick_waiting = 0
        # One more process than jobs: whoever wants a quick answer never waits for a long search.
        self._solvers = Pool(limits.jobs + 1, {"searches": True, "memory": limits.memory})
        self._readers = Pool(2, {"searches": False, "memory": limits.memory})

    async def start(self) -> None:
        """Start the processes; jobs that ran when the server was last heard of are marked so."""
        for id in self.store.unfinished():
            stored = self.store.get(id)
            assert stored is not None
            self.store.update(id, "interrupted", stored.facts, time.time())
        await self._readers.start()
        self._spawn(self._solvers.start())
        self._spawn(self._forget_old_ones())

    def begin_to_close(self) -> None:
        """Take on nothing new, and ask all jobs to end, which ends the streams of their events."""
        self.closing = True
        for job in list(self._active.values()):
            job.stopping = True
            if job.task is not None:
                job.task.stop()
            else:
                self._finish(job, "interrupted")

    async def close(self) -> None:
        """Stop all jobs; what they have found by then is kept."""
        self.begin_to_close()
        with suppress(TimeoutError):
            async with asyncio.timeout(WAIT_TO_STOP):
                while any(job.state == "running" for job in self._active.values()):
                    await asyncio.sleep(0.02)
        for task in list(self._tasks):
            task.cancel()
        for job in list(self._active.values()):
            self._finish(job, "interrupted")
        await asyncio.gather(self._solvers.close(), self._readers.close())
        self.store.close()

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _forget_old_ones(self) -> None:
        while True:
            self.store.forget(time.time() - 3600 * self.limits.kept_hours)
            await asyncio.sleep(FORGET_EVERY)

    @property
    def running(self) -> int:
        """How many jobs run."""
        return sum(job.state == "running" for job in self._active.values())

    @property
    def waiting(self) -> int:
        """How many jobs, and requests to solve at once, wait for a process."""
        return self._quick_waiting + sum(job.state == "waiting" for job in self._active.values())

    def check_room(self) -> None:
        """Refuse where the queue is full or the server is about to end."""
        if self.closing:
            raise Problem(503, "the server is shutting down", retry_after=5)
        if self.waiting >= self.limits.waiting:
            raise Problem(
                429,
                f"{self.waiting} requests wait already, as many as may; try again later",
                found=self.waiting,
                allowed=f"at most {self.limits.waiting} waiting",
                retry_after=min(60, 1 + self.waiting // self.limits.jobs),
            )

    def _bounds(self, quick: bool) -> dict[str, Any]:
        limits = self.limits
        if quick:
            what = "/v1/solve"
            return {"places": limits.quick_places, "seconds": limits.quick_seconds, "what": what}
        return {"places": limits.places, "seconds": limits.seconds, "what": "this server"}

    async def read(self, header: dict[str, Any], content: bytes) -> tuple[dict[str, Any], bytes]:
        """A task that reads, checks or writes, in a process of its own."""
        if self.closing:
            raise Problem(503, "the server is shutting down", retry_after=5)
        seconds = self.limits.reading_seconds
        task = Task(header | {"bounds": self._bounds(quick=False)}, content, seconds)
        try:
            return await self._readers.perform(task)
        except Lost as error:
            help = "fewer places or a smaller reach help"
            raise Problem(413, f"too much to be read: the process {_why(error)}; {help}") from None

    async def solve(self, content: bytes) -> bytes:
        """The result of an order, as JSON, at once."""
        self.check_room()
        seconds = self.limits.quick_seconds + LOADING_SECONDS
        task = Task({"task": "solve", "bounds": self._bounds(quick=True)}, content, seconds)
        self._quick_waiting += 1
        waits = True

        def began() -> None:
            nonlocal waits
            self._quick_waiting -= 1
            waits = False

        try:
            _, result = await self._solvers.perform(task, began)
            return result
        except Lost as error:
            raise Problem(500, f"could not be solved: the process {_why(error)}") from None
        finally:
            if waits:
                self._quick_waiting -= 1

    async def submit(self, content: bytes) -> Job:
        """Accept an order, which then runs when its turn comes."""
        self.check_room()
        order, instance = await self.read({"task": "accept"}, content)
        self.check_room()  # others came meanwhile
        return self._add(order, instance)

    def again(self, id: str) -> Job:
        """The order of a finished job once more, from its best tour."""
        old = self.get(id)
        if old.state not in FINISHED:
            raise Problem(409, f"job {id} is {old.state}; only one that has ended starts again")
        self.check_room()
        best = old.best
        order = old.order | ({} if best is None else {"start": best["stops"]})
        return self._add(order, self.store.instance(id))

    def _add(self, order: dict[str, Any], instance: bytes) -> Job:
        job = Job(secrets.token_urlsafe(12), order, time.time())
        self.store.add(job.id, job.state, job.facts(), instance)
        self._active[job.id] = job
        self._spawn(self._run(job, instance))
        return job

    async def _run(self, job: Job, instance: bytes) -> None:
        async with self._running:
            if job.state in FINISHED:  # stopped while it waited
                return
            limit = min(job.order["stop"].get("seconds", self.limits.seconds), self.limits.seconds)
            job.task = Task(
                {"task": "run", "order": job.order, "bounds": self._bounds(quick=False)},
                instance,
                limit + LOADING_SECONDS,
                lambda event: self._hear(job, event),
            )

            def began() -> None:
                job.state, job.started = "running", time.time()
                if job.stopping and job.task is not None:
                    job.task.stop()
                self.store.update(job.id, job.state, job.facts())
                job.tell()

            try:
                found, job.result = await self._solvers.perform(job.task, began)
                job.trace = found["trace"]
                result = json.loads(job.result)
                job.best = _best_of(result, job.best)
                self._finish(job, self._ended(job, "done"))
            except Problem as problem:
                job.problem = problem.to_dict()
                self._finish(job, "failed")
            except Lost as error:
                job.problem = Problem(500, f"the process that solved it {_why(error)}").to_dict()
                self._finish(job, self._ended(job, "failed"))

    def _ended(self, job: Job, otherwise: str) -> str:
        if not job.stopping:
            return otherwise
        return "interrupted" if self.closing else "stopped"

    def _hear(self, job: Job, event: dict[str, Any]) -> None:
        """Note news of a running job."""
        if event.pop("event") == "improvement":
            job.trace += event.pop("trace")
            job.best = event
        else:
            job.bound = event
        job.tell()
        now = time.monotonic()
        if now - job.saved_at >= SAVE_EVERY:
            job.saved_at = now
            self.store.update(job.id, job.state, job.facts())

    def _finish(self, job: Job, state: str) -> None:
        job.state, job.finished, job.task = state, time.time(), None
        self.store.update(job.id, state, job.facts(), job.finished, job.result)
        self._active.pop(job.id, None)
        job.tell()

    def get(self, id: str) -> Job:
        """A job, of which there must be one."""
        if id in self._active:
            return self._active[id]
        stored = self.store.get(id)
        if stored is None:
            raise Problem(404, f"there is no job {id[:40]!r}; finished jobs are kept for a while")
        return _from_store(stored)

    def instance(self, id: str) -> bytes:
        """The instance of a job, as JSON."""
        return self.store.instance(id)

    async def stop(self, id: str) -> Job:
        """End a job; what it has found by then is its answer."""
        job = self.get(id)
        if job.state in FINISHED:
            return job
        job.stopping = True
        if job.state == "waiting" and job.task is None:
            self._finish(job, "stopped")
            return job
        if job.task is not None:
            job.task.stop()
        async for _ in self._wakings(job):
            if job.state in FINISHED:
                break
        return job

    async def _wakings(self, job: Job, every: float = 1.0) -> AsyncIterator[bool]:
        """Comes back whenever there is news of a job, with False where there was none for long."""
        listener = asyncio.Event()
        job.listeners.add(listener)
        try:
            yield True
            while True:
                try:
                    async with asyncio.timeout(every):
                        await listener.wait()
                    listener.clear()
                    yield True
                except TimeoutError:
                    yield False
        finally:
            job.listeners.discard(listener)

    async def watch(self, id: str, every: float) -> AsyncIterator[Event | None]:
        """The news of a job: what is known at once, then as it comes; None where there is none."""
        job = self.get(id)
        best = bound = None
        async for news in self._wakings(job, every):
            if not news:
                yield None
            if job.best is not None and job.best is not best:
                best = job.best
                yield "improvement", best
            if job.bound is not None and job.bound is not bound:
                bound = job.bound
                yield "bound", bound
            if job.state in FINISHED:
                yield "done", job.to_dict()
                return


def _best_of(result: dict[str, Any], best: dict[str, Any] | None) -> dict[str, Any]:
    """The tour of a result, in the form that improvements have."""
    stops = result.get("tour")
    if stops is None:
        stops = [place for route in result["routes"] for place in route["tour"]]
    return {
        "seconds": result["seconds"] if best is None else best["seconds"],
        "cost": result["cost"],
        "stops": stops,
    }


def _why(error: Lost) -> str:
    return str(error).removeprefix("the process ")
