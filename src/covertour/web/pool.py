"""The server's processes: kept warm, given tasks, replaced when they overrun or die."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from covertour.web import frames
from covertour.web.problems import Problem, from_dict

Answer = tuple[dict[str, Any], bytes]
OnEvent = Callable[[dict[str, Any]], None]

GRACE = 2.0
"""Seconds that a process has to heed a call to stop, before it is ended."""


class Lost(Exception):
    """The process that worked on a task has died or had to be ended."""


@dataclass(eq=False)
class Task:
    """Something for a process to do, within so many ``seconds``; ``on_event`` hears its news."""

    header: dict[str, Any]
    content: bytes
    seconds: float
    on_event: OnEvent = lambda event: None
    stopping: bool = False
    _process: Process | None = None

    def stop(self) -> None:
        """Ask for what there is by now; a task that no process has begun is told when it does."""
        self.stopping = True
        if self._process is not None:
            self._process.stop_soon()


@dataclass(eq=False)
class Process:
    """One worker process and its pipes."""

    child: asyncio.subprocess.Process
    number: int = 0
    _reaper: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int:
        """Its process number."""
        return self.child.pid

    @classmethod
    async def start(cls, settings: dict[str, Any]) -> Process:
        """A process that is ready for its first task."""
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "covertour.web.worker",
            json.dumps(settings),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the server, which ends them in order
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        process = cls(child)
        assert child.stdout is not None
        if await frames.receive(child.stdout) is None:
            await child.wait()
            raise Lost("a process of the server could not start")
        return process

    async def perform(self, task: Task) -> Answer:
        """Do a task; its process is of no further use where this raises :class:`Lost`."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        self.number += 1
        task._process = self
        try:
            self.child.stdin.write(frames.pack(task.header | {"number": self.number}, task.content))
            if task.stopping:
                self.stop_soon()
            await self.child.stdin.drain()
            while True:
                message = await frames.receive(self.child.stdout)
                if message is None:
                    raise Lost("the process died")
                value, content = message
                if "event" in value:
                    task.on_event(value)
                elif "done" in value:
                    return value["done"], content
                else:
                    raise from_dict(value["problem"])
        except (ConnectionError, OSError):
            raise Lost("the process died") from None
        finally:
            task._process = None
            if self._reaper is not None:
                self._reaper.cancel()
                self._reaper = None

    def stop_soon(self) -> None:
        """Ask the present task to end, and end the process if it does not listen."""
        if self._reaper is None and self.child.stdin is not None:
            self.child.stdin.write(frames.pack({"task": "stop", "number": self.number}))
            self._reaper = asyncio.get_running_loop().call_later(GRACE, self.kill)

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            self.child.kill()

    async def close(self) -> None:
        """Let it go: without input it ends by itself."""
        if self.child.stdin is not None:
            self.child.stdin.close()
        try:
            await asyncio.wait_for(self.child.wait(), GRACE)
        except TimeoutError:
            self.kill()
            await self.child.wait()


@dataclass(eq=False)
class Pool:
    """So many processes of one kind; tasks wait for a free one, first come first served."""

    size: int
    settings: dict[str, Any]
    _idle: asyncio.Queue[Process] = field(default_factory=asyncio.Queue)
    _all: set[Process] = field(default_factory=set)
    _starting: set[asyncio.Task[None]] = field(default_factory=set)
    _closing: bool = False

    async def start(self) -> None:
        """Start one process, which compiles what is not compiled yet, then the others."""
        await self._add()
        for _ in range(self.size - 1):
            self._add_soon()

    async def _add(self) -> None:
        process = await Process.start(self.settings)
        if self._closing:
            await process.close()
            return
        self._all.add(process)
        self._idle.put_nowait(process)

    def _add_soon(self) -> None:
        starting = asyncio.get_running_loop().create_task(self._add())
        self._starting.add(starting)
        starting.add_done_callback(self._started)

    def _started(self, starting: asyncio.Task[None]) -> None:
        self._starting.discard(starting)
        if not starting.cancelled() and starting.exception() is not None and not self._closing:
            asyncio.get_running_loop().call_later(1.0, self._add_soon)

    async def perform(self, task: Task, began: Callable[[], None] = lambda: None) -> Answer:
        """Do a task in the next free process; ``began`` is called when there is one.

        A :class:`Problem` where the task cannot be done, :class:`Lost` where its process dies.
        """
        process = await self._idle.get()
        began()
        healthy = False
        try:
            async with asyncio.timeout(task.seconds):
                answer = await process.perform(task)
            healthy = True
            return answer
        except Problem:
            healthy = True
            raise
        except TimeoutError:
            raise Lost(f"took more than {task.seconds:g} s and was ended") from None
        finally:
            if healthy and process.child.returncode is None:
                self._idle.put_nowait(process)
            else:
                self._all.discard(process)
                process.kill()
                if not self._closing:
                    self._add_soon()

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [process.pid for process in self._all]

    async def close(self) -> None:
        """End all processes."""
        self._closing = True
        for starting in list(self._starting):
            starting.cancel()
        await asyncio.gather(*(process.close() for process in self._all))
