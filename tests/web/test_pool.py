"""The server's processes: held to their limits of time and memory, and replaced when they fail."""

from __future__ import annotations

import asyncio
import io
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from covertour.web.pool import Lost, Pool, Task
from covertour.web.problems import Problem

BOUNDS = {"places": 1_000_000, "seconds": 1.0, "what": "this test"}
READ = {"task": "read", "name": "a.csv", "bounds": BOUNDS}
SMALL = b"x,y\n0,0\n1,1\n"
LARGE = b"x,y\n" + b"".join(b"%d,%d\n" % (k % 977, k % 991) for k in range(400_000))


def with_pool(memory: int, work):
    """What some work with one process gives."""

    async def run():
        pool = Pool(1, {"searches": False, "memory": memory})
        await pool.start()
        try:
            return await work(pool)
        finally:
            await pool.close()

    with ThreadPoolExecutor(1) as thread:  # the browser's tests leave a loop in this one
        return thread.submit(asyncio.run, run()).result()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds processes to their memory")
def test_what_needs_too_much_memory_is_refused_and_the_process_goes_on():
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("doc.kml", b"<kml>" + b" " * 200_000_000)

    async def work(pool):
        (before,) = pool.pids
        with pytest.raises(Problem) as refused:
            await pool.perform(Task(READ | {"name": "a.kmz"}, archive.getvalue(), 60.0))
        await pool.perform(Task(READ, SMALL, 60.0))
        return refused.value.status, pool.pids == [before]

    assert with_pool(60, work) == (413, True)


def test_what_takes_too_long_is_ended_and_the_process_replaced():
    async def work(pool):
        (before,) = pool.pids
        with pytest.raises(Lost, match="more than"):
            await pool.perform(Task(READ, LARGE, 0.01))
        await pool.perform(Task(READ, SMALL, 60.0))
        return pool.pids != [before]

    assert with_pool(2_000, work)


def test_a_process_that_is_killed_is_replaced():
    async def work(pool):
        task = asyncio.ensure_future(pool.perform(Task(READ, LARGE, 60.0)))
        await asyncio.sleep(0)
        for process in list(pool._all):
            process.kill()
        with pytest.raises(Lost, match="died"):
            await task
        _, content = await pool.perform(Task(READ, SMALL, 60.0))
        return content

    assert b"coordinates" in with_pool(2_000, work)
