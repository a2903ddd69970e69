"""A real server on this machine for all tests, and others for those that end theirs."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

pytest.importorskip("starlette", reason="the extra web is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")


@dataclass(frozen=True)
class Running:
    """A server: its process, where it answers, and a client to ask it with."""

    process: subprocess.Popen[str]
    url: str
    client: httpx.Client


@contextmanager
def started(*options: str) -> Iterator[Running]:
    """A server with these options, on a free port; it has ended afterwards."""
    command = [sys.executable, "-m", "covertour", "serve", "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            assert found is not None, f"the server did not start: {line!r}"
            with httpx.Client(base_url=found[0], timeout=300, trust_env=False) as client:
                yield Running(process, found[0], client)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


@pytest.fixture(scope="session")
def server() -> Iterator[Running]:
    """The server that most tests share."""
    with started("--jobs", "2") as running:
        yield running


TOKEN = "open sesame"
STRICT = ("--jobs", "1", "--waiting", "1", "--token", TOKEN, "--origin", "https://example.org")


@pytest.fixture(scope="session")
def strict() -> Iterator[Running]:
    """A server that asks for a token, lets one origin in, and has a short queue."""
    with started(*STRICT) as running:
        yield running


@pytest.fixture(scope="session")
def client(server: Running) -> httpx.Client:
    """Asks the server."""
    return server.client
