"""Whoever takes tasks: threads, processes, or machines behind a scheduler of dask.

Work is handed to a :class:`concurrent.futures.Executor`, whichever it is. What they do not agree on
is here: how many tasks they work on at a time, whether they are still there, and what it means when
a task fails. :func:`cluster` connects to a scheduler of dask.distributed, the extra ``cluster``.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import contextmanager, suppress
from pickle import PicklingError
from typing import Any, TypeVar
from urllib.parse import urlsplit

from covertour.problem.errors import InputError, SolveError, shown

A = TypeVar("A")
T = TypeVar("T")

CONNECT_SECONDS = 10
"""How long a scheduler may take to answer."""

LOOK_SECONDS = 0.1
"""How often somebody looks whether the others are still there."""

GONE = ("KilledWorker", "CommClosedError", "FutureCancelledError", "FuturesCancelledError")
"""Exceptions of dask, by name: no worker survives the task, or the scheduler is gone."""


class Lost(Exception):
    """Whoever took the tasks is gone, and their results with them."""


def check_executor(executor: object) -> None:
    """Refuse what takes no tasks."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise InputError(f"executor: expected an Executor, got {shown(executor)}")


def slots_of(executor: Executor) -> int:
    """How many tasks are worked on at a time, as far as it tells."""
    client = getattr(executor, "_client", None)
    if client is not None:
        with suppress(
            Exception
        ):  # no scheduler answers; whoever waits for a result will hear of it
            return max(1, sum(client.nthreads().values()))
    return max(1, getattr(executor, "_max_workers", None) or os.cpu_count() or 1)


def is_there(executor: Executor) -> bool:
    """Whether there is still somebody to wait for."""
    client = getattr(executor, "_client", None)
    return client is None or client.status == "running"


def result_of(future: Future[T]) -> T:
    """What a task returned; Lost where nobody is left who could, a SolveError where it failed."""
    try:
        return future.result()
    except (BrokenExecutor, CancelledError, OSError) as error:
        raise Lost(str(error) or type(error).__name__) from None
    except (InputError, SolveError):
        raise
    except Exception as error:
        if type(error).__name__ in GONE:
            raise Lost(str(error)) from None
        if isinstance(error, PicklingError) or "pickle" in str(error):
            raise InputError(f"executor: a task cannot be sent there: {error}") from None
        raise SolveError(f"executor: a task failed: {type(error).__name__}: {error}") from error


def forget(futures: Iterable[Future[Any]], executor: Executor | None) -> None:
    """Nobody waits for these any longer; what has not begun need not, if anybody is there."""
    if executor is None or is_there(executor):
        for future in futures:
            with suppress(Exception):  # whoever would have to be told may be gone by now
                future.cancel()


def take(executor: Executor, work: Callable[[A], T], things: Sequence[A]) -> Iterator[T]:
    """What work makes of each of the things, in their order; a SolveError where nobody is left."""
    futures = [executor.submit(work, thing) for thing in things]
    try:
        for future in futures:
            while not wait([future], timeout=LOOK_SECONDS).done:
                if not is_there(executor):
                    raise Lost("nobody answers")
            yield result_of(future)
    except Lost as error:
        raise SolveError(f"executor: whoever took the tasks is gone ({error})") from None
    finally:
        forget(futures, executor)


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """An executor on the workers of a dask scheduler, such as ``tcp://10.0.0.1:8786``.

    Refused where nobody answers, where there are no workers, and where theirs is another covertour.
    """
    try:
        import distributed
    except ImportError:
        raise InputError(
            "cluster: needs dask.distributed: pip install 'covertour[cluster]'"
        ) from None
    _check_address(address)
    _keep_quiet()
    connect: Any = distributed.Client
    try:
        client = connect(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "no answer"
        raise InputError(f"cluster: no scheduler at {address}: {reason}") from None
    try:
        _check_workers(client, address)
        # The same task twice is two tasks; one that died with its worker is given to another.
        yield client.get_executor(pure=False)
    finally:
        with suppress(Exception):
            client.close(timeout=2)


def _check_address(address: str) -> None:
    """Refuse an address where nobody listens; dask would try for long, and not end quietly."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port:
        raise InputError(
            f"cluster: expected an address such as tcp://10.0.0.1:8786, got {shown(address)}"
        )
    try:
        socket.create_connection((host, port), timeout=CONNECT_SECONDS).close()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(f"cluster: no scheduler at {address}: {reason}") from None


def _check_workers(client: Any, address: str) -> None:
    """Refuse a cluster that would not find what is found here."""
    from covertour.version import __version__

    if not client.nthreads():
        raise InputError(f"cluster: no workers at {address}; start some: dask worker {address}")
    try:
        versions: dict[str, str] = client.run(version_there)
    except Exception as error:
        raise InputError(
            f"cluster: the workers at {address} cannot run covertour: {error}"
        ) from None
    for worker, version in versions.items():
        if version != __version__:
            raise InputError(
                f"cluster: worker {worker} has covertour {version}, here it is {__version__}"
            )


def version_there() -> str:
    """The version of covertour, where this runs."""
    from covertour.version import __version__

    return __version__


def _keep_quiet() -> None:
    """What went wrong is said by covertour, in one line."""
    import logging

    for name in ("distributed", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
