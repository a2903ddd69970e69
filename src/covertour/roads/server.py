"""Asking a routing server: requests with a timeout and retries, and tables asked for in tiles."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

import numpy as np

from covertour.problem.errors import InputError, shown
from covertour.problem.metric import FloatArray, IntArray

TIMEOUT = 60.0
"""Seconds in which an answer must be there, whole."""

PAUSES = (0.5, 1.0, 2.0)
"""Seconds of waiting before each further try, where a server is busy or away."""

BUSY = (429, 500, 502, 503, 504)
"""Answers after which one tries again."""

MOST_BYTES = 64_000_000
"""An answer of more than this is no table of a tile."""

CHUNK = 1 << 16


class TooBig(Exception):
    """The server refuses tables of so many places."""


@dataclass(frozen=True, eq=False)
class Server:
    """A routing server, by its address; the connection is kept between requests.

    ``timeout`` and ``pauses``: see TIMEOUT and PAUSES.
    """

    address: str
    timeout: float = field(default_factory=lambda: TIMEOUT)
    pauses: tuple[float, ...] = field(default_factory=lambda: PAUSES)
    _kept: list[http.client.HTTPConnection] = field(default_factory=list, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_kept": []}

    @property
    def parts(self) -> SplitResult:
        """The address in parts; an error where it is none."""
        parts = urlsplit(self.address)
        try:
            sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # a port that is no number
            sound = False
        if not sound or parts.query or parts.fragment:
            raise InputError(
                f"{self.address}: expected the address of a routing server, such as "
                "http://localhost:5000"
            )
        return parts

    def ask(self, path: str, body: Any = None) -> tuple[int, Any]:
        """The status and the JSON value that the server answers to a request.

        ``body``: posted as JSON. Tries again where the server is busy, slow or away; when that does
        not help it is an error of one line.
        """
        path = self.parts.path.rstrip("/") + path
        why = ""
        for pause in (*self.pauses, None):
            try:
                status, content = self._once(path, body)
                if status not in BUSY or pause is None:
                    return status, self._value(status, content)
                why = f"answers {status}"
            except TimeoutError:
                self.close()
                why = f"did not answer within {self.timeout:g} s"
            except (OSError, http.client.HTTPException) as error:
                self.close()
                why = f"cannot be reached ({_reason(error)})"
            if pause is not None:
                time.sleep(pause)
        raise InputError(f"{self.address}: the routing server {why}")

    def _once(self, path: str, body: Any) -> tuple[int, bytes]:
        """The status and content of one answer, which must be there before the time is over."""
        end = time.monotonic() + self.timeout
        answer = self._answer(path, None if body is None else json.dumps(body).encode())
        content = bytearray()
        while chunk := answer.read1(CHUNK):
            content += chunk
            if time.monotonic() > end:
                raise TimeoutError
            if len(content) > MOST_BYTES:
                self.close()
                raise InputError(
                    f"{self.address}: the routing server answers more than "
                    f"{MOST_BYTES / 1e6:.0f} MB, expected a table"
                )
        if answer.length:
            raise http.client.IncompleteRead(bytes(content), answer.length)
        answer.close()  # so that the connection takes the next request
        if answer.will_close:
            self.close()
        return answer.status, bytes(content)

    def _answer(self, path: str, data: bytes | None) -> http.client.HTTPResponse:
        """The beginning of an answer, on the connection that was kept or else on a new one."""
        headers = {"Accept": "application/json", "User-Agent": "covertour"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        method = "GET" if data is None else "POST"
        if self._kept:
            try:
                self._kept[0].request(method, path, data, headers)
                return self._kept[0].getresponse()
            except ConnectionError:  # servers end connections that were idle, or used often
                self.close()
        self._kept.append(self._connection())
        self._kept[0].request(method, path, data, headers)
        return self._kept[0].getresponse()

    def _connection(self) -> http.client.HTTPConnection:
        parts = self.parts
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        assert parts.hostname is not None
        return kind(parts.hostname, parts.port, timeout=self.timeout)

    def close(self) -> None:
        """Let go of the connection; the next request makes a new one."""
        while self._kept:
            self._kept.pop().close()

    def _value(self, status: int, content: bytes) -> Any:
        try:
            return json.loads(content, parse_constant=_no_number)
        except (ValueError, RecursionError):
            text = content[:200].decode("utf-8", errors="replace")
            raise InputError(
                f"{self.address}: expected JSON from a routing server, it answers "
                f"{status} with {shown(text)}"
            ) from None

    def nonsense(self, what: str) -> InputError:
        """The error to raise for an answer that makes no sense."""
        return InputError(f"{self.address}: the routing server answers nonsense: {what}")


def _no_number(text: str) -> None:
    raise ValueError(text)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, http.client.RemoteDisconnected | http.client.IncompleteRead):
        return "it breaks off its answer"
    return str(error) or type(error).__name__


def numbers(server: Server, what: str, value: Any, rows: int, columns: int) -> FloatArray:
    """A table of an answer, float64[rows, columns]; NaN where it says null: no way."""
    right_shape = (
        isinstance(value, list)
        and len(value) == rows
        and all(isinstance(row, list) and len(row) == columns for row in value)
    )
    if not right_shape:
        raise server.nonsense(f"{what}: expected {rows} rows of {columns} numbers")
    for row in value:
        for entry in row:
            if entry is not None and (type(entry) not in (int, float) or not 0 <= entry <= 1e12):
                raise server.nonsense(f"{what}: expected numbers >= 0, got {shown(entry)}")
    return np.array(value, dtype=np.float64)


def in_tiles(
    server: Server, n: int, largest: int, ask: Callable[[IntArray, IntArray], FloatArray]
) -> FloatArray:
    """A table of n places, float64[n, n], asked for in tiles of at most ``largest`` x ``largest``.

    ``ask(sources, targets)`` answers one tile, or raises TooBig; then tiles get half as large.
    """
    found = np.empty((n, n))
    side = min(largest, n)
    while True:
        try:
            for first in range(0, n, side):
                for second in range(0, n, side):
                    rows = np.arange(first, min(first + side, n))
                    columns = np.arange(second, min(second + side, n))
                    found[np.ix_(rows, columns)] = ask(rows, columns)
            return found
        except TooBig as refusal:
            if side == 1:
                raise InputError(
                    f"{server.address}: the routing server refuses even a single way: {refusal}"
                ) from None
            side = (side + 1) // 2
        finally:
            server.close()
