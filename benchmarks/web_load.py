"""The server under load: many requests at once, jobs in a row, and a kill in the midst of them.

    python benchmarks/web_load.py             1,000 requests of 50 places, 50 at a time
    python benchmarks/web_load.py --kill      20 jobs, kill -9, a restart
    python benchmarks/web_load.py --threads   how long an event loop would wait beside a solve

Starts servers of its own on this machine and ends them.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from covertour import Instance, random_instance, solve, verify, write

PLACES, ITERATIONS = 50, 200


def body_of(instance: Instance, **more: object) -> bytes:
    stream = io.BytesIO()
    write(stream, instance)
    return json.dumps({"instance": json.loads(stream.getvalue()), **more}).encode()


@contextmanager
def server(*options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "covertour", "serve", "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+:\d+", process.stdout.readline())
        assert found is not None
        try:
            yield process, found[0]
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait()


def memory(process: subprocess.Popen[str]) -> float:
    """The resident memory of a server and its processes, in megabytes."""
    parents: dict[int, int] = {}
    resident: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = (folder / "status").read_text()
        except OSError:
            continue
        facts = dict(re.findall(r"^(PPid|VmRSS):\s+(\d+)", status, re.MULTILINE))
        parents[int(folder.name)] = int(facts["PPid"])
        resident[int(folder.name)] = int(facts.get("VmRSS", 0))
    ours = {process.pid}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(resident[pid] for pid in ours) / 1e3


async def ask_all(url: str, requests: int, at_once: int) -> tuple[list[float], int, int]:
    """The seconds of each answer, how many were lost and how many wrong."""
    instances = [random_instance(PLACES, nearest=5, seed=seed) for seed in range(20)]
    stop = {"iterations": ITERATIONS}
    bodies = [body_of(instance, stop=stop) for instance in instances]
    seconds: list[float] = []
    lost = wrong = 0
    waiting = iter(range(requests))
    headers = {"content-type": "application/json"}
    async with httpx.AsyncClient(base_url=url, timeout=120, trust_env=False) as client:

        async def one_after_another() -> None:
            nonlocal lost, wrong
            for number in waiting:
                which = number % len(instances)
                began = time.perf_counter()
                try:
                    answer = await client.post("/v1/solve", content=bodies[which], headers=headers)
                except httpx.HTTPError:
                    lost += 1
                    continue
                seconds.append(time.perf_counter() - began)
                if answer.status_code != 200:
                    lost += 1
                elif not verify(instances[which], answer.json()["tour"]).ok:
                    wrong += 1

        await asyncio.gather(*(one_after_another() for _ in range(at_once)))
    return seconds, lost, wrong


def share(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def load(requests: int, at_once: int) -> None:
    with server() as (process, url):
        asyncio.run(ask_all(url, 20, 1))
        alone, _, _ = asyncio.run(ask_all(url, 50, 1))
        lone = statistics.median(alone)
        before = memory(process)
        half, *bad = asyncio.run(ask_all(url, requests // 2, at_once))
        middle = memory(process)
        rest, lost, wrong = asyncio.run(ask_all(url, requests - requests // 2, at_once))
        after = memory(process)
        both = half + rest
        asked = f"{len(both)} answers of {PLACES} places, {at_once} at a time"
        print(f"{asked}: {lost + bad[0]} lost, {wrong + bad[1]} wrong")
        print(f"alone:  p50 {1e3 * lone:.1f} ms")
        print(
            f"loaded: p50 {1e3 * share(both, 0.5):.0f} ms, p95 {1e3 * share(both, 0.95):.0f} ms; "
            f"3 x lone p50 x {at_once} = {3e3 * lone * at_once:.0f} ms"
        )
        print(f"memory: {before:.0f} MB before, {middle:.0f} MB half way, {after:.0f} MB after")


def asking(url: str) -> httpx.Client:
    headers = {"content-type": "application/json"}
    return httpx.Client(base_url=url, trust_env=False, headers=headers, timeout=60)


def kill() -> None:
    body = body_of(random_instance(PLACES, nearest=5), stop={"seconds": 0.3})
    with tempfile.TemporaryDirectory() as folder:
        store = ("--store", str(Path(folder) / "jobs.sqlite"))
        with server(*store) as (process, url), asking(url) as client:
            places = [client.post("/v1/jobs", content=body).headers["location"] for _ in range(20)]

            def done() -> dict[str, object]:
                jobs = {place: client.get(place).json() for place in places}
                return {place: job for place, job in jobs.items() if job["state"] == "done"}

            while len(known := done()) < 6:
                time.sleep(0.05)
            process.kill()
            process.wait()
        with server(*store) as (process, url), asking(url) as client:
            same = sum(client.get(place).json() == job for place, job in known.items())
            states = [client.get(place).json()["state"] for place in places]
            counted = {state: states.count(state) for state in sorted(set(states))}
            print(f"20 jobs, killed when {len(known)} were done: {same} are there; {counted}")


def threads() -> None:
    for n, method, seconds in (
        (150, "lns", 2),
        (5_000, "lns", 3),
        (200, "exact", 5),
        (300, "twophase", 3),
    ):
        instance = random_instance(n, nearest=7)
        solve(instance, method, seconds=0.1)
        gaps: list[float] = []
        over = threading.Event()

        def tick(gaps: list[float] = gaps, over: threading.Event = over) -> None:
            last = time.perf_counter()
            while not over.wait(0.002):
                now = time.perf_counter()
                gaps.append(now - last)
                last = now

        beside = threading.Thread(target=tick)
        beside.start()
        solve(instance, method, seconds=seconds)
        over.set()
        beside.join()
        print(
            f"{method} on {n} places: a thread beside it that wakes every 2 ms waits "
            f"{1e3 * share(gaps, 0.5):.1f} ms at the median, {1e3 * max(gaps):.0f} ms at worst"
        )


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--requests", type=int, default=1_000)
    parser.add_argument("--at-once", type=int, default=50)
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--threads", action="store_true")
    given = parser.parse_args()
    if given.kill:
        kill()
    elif given.threads:
        threads()
    else:
        load(given.requests, given.at_once)


if __name__ == "__main__":
    main()
