"""Starting and ending the server: sockets, signals, slow clients."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from covertour.problem.errors import InputError
from covertour.web.app import make_app
from covertour.web.guard import Access
from covertour.web.jobs import Jobs
from covertour.web.limits import Limits
from covertour.web.store import Store

HEADER_SECONDS = 10
"""How long a client may take to say what it wants, and to say nothing between two requests."""

MOST_CONNECTIONS = 1_000
CLOSING_SECONDS = 8


class Patient(H11Protocol):
    """HTTP for clients that say what they want in good time; others are hung up on."""

    _hang_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Hear a part of a request."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._wait()
        super().on_response_complete()
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()  # it was there already

    def connection_lost(self, exc: Exception | None) -> None:
        """Nobody is there any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        self._hang_up = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._hang_up is not None:
            self._hang_up.cancel()
            self._hang_up = None


class Server(uvicorn.Server):
    """A server that refuses new work from the moment on that it is told to end."""

    def __init__(self, config: uvicorn.Config, jobs: Jobs, on_start: Callable[[int], None]) -> None:
        super().__init__(config)
        self.jobs = jobs
        self.on_start = on_start
        self.loop: asyncio.AbstractEventLoop | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end."""
        self.jobs.closing = True
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self.jobs.begin_to_close)
        super().handle_exit(sig, frame)

    async def startup(self, sockets: Any = None) -> None:
        """Begin to listen, and tell so."""
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            (address, *_) = [s.getsockname() for server in self.servers for s in server.sockets]
            self.on_start(address[1])


def serve(
    host: str,
    port: int,
    limits: Limits,
    access: Access,
    store: Path | None,
    on_start: Callable[[int], None],
    log: bool = False,
) -> None:
    """Serve until a signal ends it; ``on_start`` is called with the port when it listens."""
    jobs = Jobs(limits, Store(store))
    if log:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        logging.getLogger("covertour.web").addHandler(handler)
        logging.getLogger("covertour.web").setLevel(logging.INFO)
    config = uvicorn.Config(
        make_app(jobs, access),
        host,
        port,
        http=Patient,
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="critical",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=HEADER_SECONDS,
        timeout_graceful_shutdown=CLOSING_SECONDS,
    )
    server = Server(config, jobs, on_start)
    try:
        server.run()
    except KeyboardInterrupt:
        return  # how a server is meant to end
    except SystemExit:
        why = "is it in use, or not of this machine?"
        raise InputError(f"--port: cannot listen on {host}:{port}; {why}") from None
