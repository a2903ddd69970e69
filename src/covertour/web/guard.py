"""What stands before every request: hosts, origins, the token, sizes, times, headers, the log."""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from covertour.web.problems import Problem

LOG = logging.getLogger("covertour.web")

TILES = "https://tile.openstreetmap.org"
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        f"img-src 'self' data: blob: {TILES}",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Only scripts of the server; all that comes from elsewhere are map tiles, where asked for."""

HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "strict-origin-when-cross-origin",
    "cross-origin-resource-policy": "same-origin",
}

LOOPBACK = ("localhost", "127.0.0.1", "::1")
BODY_SECONDS = 30.0
"""How long the body of a request may take to come in."""

BODIES_AT_ONCE = 8
"""So many bodies of the largest size are held in memory at a time."""


def answer(problem: Problem) -> Response:
    """The response to a request that is refused."""
    headers = {}
    if problem.retry_after is not None:
        headers["retry-after"] = str(problem.retry_after)
    if problem.allow is not None:
        headers["allow"] = problem.allow
    if problem.status == 401:
        headers["www-authenticate"] = "Bearer"
    return JSONResponse(
        problem.to_dict(), problem.status, headers, media_type="application/problem+json"
    )


@dataclass(frozen=True)
class Access:
    """Who may come in: ``token`` if one is needed, ``origins`` other than the server's own.

    ``loopback``: whether only this machine is meant, so that requests must name it as their host;
    a web site that lets its own name point here gets no answer.
    """

    token: str | None = None
    origins: tuple[str, ...] = ()
    loopback: bool = True

    def check(self, path: str, headers: Headers) -> None:
        """Refuse requests from elsewhere and those without the token."""
        host = headers.get("host", "")
        if self.loopback and urlsplit(f"//{host}").hostname not in LOOPBACK:
            raise Problem(403, "host: expected this machine's own name, such as localhost", "host")
        origin = headers.get("origin")
        if origin and origin not in self.origins and "*" not in self.origins:
            try:
                same = urlsplit(origin).netloc == host
            except ValueError:
                same = False
            if not same:
                raise Problem(403, "origin: pages of other servers may not ask this one", "origin")
        if self.token is not None and path.startswith("/v1/") and path != "/v1/health":
            given = headers.get("authorization", "")
            if not hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode()):
                raise Problem(401, "authorization: expected the token of this server: Bearer ...")


class Guard:
    """Checks each request, adds the headers of safety to each answer, and writes the log."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app = app
        self.access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status = 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if "cache-control" not in headers:
                    headers["cache-control"] = "no-store"
            await send(message)

        try:
            self.access.check(scope["path"], Headers(scope=scope))
            await self.app(scope, receive, sent)
        except Problem as problem:
            await answer(problem)(scope, receive, sent)
        finally:
            # Neither the query nor the body: they hold the names of people's places.
            spent = 1000 * (time.perf_counter() - began)
            LOG.info("%s %s %d %.0f ms", scope["method"], scope["path"], status, spent)


class Bodies:
    """Reads the bodies of requests, never too much of them at a time."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held = 0

    async def read(self, request: Request) -> bytes:
        """The body, if it is not too large and does not take too long."""
        told = request.headers.get("content-length", "0")
        if told.isdigit() and int(told) > self.most:
            raise self._too_large()
        size = 0
        parts = []
        try:
            async with asyncio.timeout(BODY_SECONDS):
                async for part in request.stream():
                    size += len(part)
                    self.held += len(part)
                    if size > self.most:
                        raise self._too_large()
                    if self.held > BODIES_AT_ONCE * self.most:
                        raise Problem(429, "too many large requests at a time", retry_after=5)
                    parts.append(part)
        except TimeoutError:
            raise Problem(408, f"the body took more than {BODY_SECONDS:g} s to come") from None
        except ClientDisconnect:
            raise Problem(408, "the client left") from None
        finally:
            self.held -= size
        return b"".join(parts)

    def _too_large(self) -> Problem:
        return Problem(
            413, f"the body is larger than {self.most:,} bytes", "body", None, f"{self.most} bytes"
        )


def check_json(request: Request) -> None:
    """Refuse bodies that do not say that they are JSON."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise Problem(
            415,
            f"content-type: expected application/json, got {kind[:60] or 'none'}",
            "content-type",
            kind[:60] or None,
            "application/json",
        )
