"""The routes: what comes in by HTTP, and what is answered."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from covertour import METHODS
from covertour.formats import READ_ENDINGS
from covertour.version import __version__
from covertour.web import examples
from covertour.web.docs import as_html
from covertour.web.ground import outlines
from covertour.web.guard import Access, Bodies, Guard, answer, check_json
from covertour.web.jobs import Job, Jobs
from covertour.web.openapi import document, formats_of, type_of
from covertour.web.problems import Problem, wrong

PING_EVERY = 15.0
"""Seconds of silence after which a stream of events says that it is still there."""

READ = tuple(ending for ending in READ_ENDINGS if ending != ".shp")
"""What can be uploaded; a shapefile is several files, and comes as a .zip."""

LARGEST_RADIUS = 1e100

PAGE = files("covertour.web") / "page"


def make_app(jobs: Jobs, access: Access) -> ASGIApp:
    """The application around the jobs of a server."""
    handlers = Handlers(jobs, document(jobs.limits, access.token is not None))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await jobs.start()
        await run_in_threadpool(examples.listed)
        loading = asyncio.create_task(run_in_threadpool(outlines, -180.0, -85.0, 180.0, 85.0, 1.0))
        yield
        await loading
        await jobs.close()

    app = Starlette(
        routes=[*handlers.routes(), *_static()],
        lifespan=lifespan,
        middleware=_cors(access),
        exception_handlers={
            Problem: _refuse,  # type: ignore[dict-item]  # what Starlette hands over is one
            HTTPException: _refuse_otherwise,  # type: ignore[dict-item]
            Exception: _fail,
        },
    )
    app.router.redirect_slashes = False
    return Guard(app, access)


def _static() -> list[Mount | Route]:
    async def page(request: Request) -> Response:
        return FileResponse(str(PAGE / "index.html"), headers={"cache-control": "no-cache"})

    formats = files("covertour.formats")
    return [
        Route("/", page),
        Mount("/page", StaticFiles(directory=str(PAGE))),
        Mount("/leaflet", StaticFiles(directory=str(formats / "leaflet"))),
    ]


def _cors(access: Access) -> list[Middleware]:
    """Leave for pages of other servers, where the server was started so."""
    if not access.origins:
        return []
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(access.origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["authorization", "content-type"],
            expose_headers=["location", "retry-after"],
        )
    ]


async def _refuse(request: Request, problem: Problem) -> Response:
    return answer(problem)


async def _refuse_otherwise(request: Request, error: HTTPException) -> Response:
    path = request.url.path[:80]
    allow = (error.headers or {}).get("Allow")
    detail = {
        404: f"there is nothing at {path}; see /docs",
        405: f"{request.method} is not for {path}" + (f"; {allow} is" if allow else ""),
    }.get(error.status_code, error.detail)
    return answer(Problem(error.status_code, detail, allow=allow))


async def _fail(request: Request, error: Exception) -> Response:
    return answer(Problem(500, f"unexpected {type(error).__name__}; this is a bug of covertour"))


class Handlers:
    """What answers each route."""

    def __init__(self, jobs: Jobs, openapi: dict[str, Any]) -> None:
        self.jobs = jobs
        self.bodies = Bodies(jobs.limits.body)
        self.description = openapi
        self.documentation = as_html(openapi)

    def routes(self) -> list[Route]:
        """The routes of the API."""
        return [
            Route("/v1/jobs", self.start, methods=["POST"]),
            Route("/v1/jobs/{id}", self.look, methods=["GET"]),
            Route("/v1/jobs/{id}", self.stop, methods=["DELETE"]),
            Route("/v1/jobs/{id}/events", self.events, methods=["GET"]),
            Route("/v1/jobs/{id}/again", self.again, methods=["POST"]),
            Route("/v1/jobs/{id}/instance", self.instance, methods=["GET"]),
            Route("/v1/solve", self.solve, methods=["POST"]),
            Route("/v1/check", self.check, methods=["POST"]),
            Route("/v1/convert", self.convert, methods=["POST"]),
            Route("/v1/read", self.read, methods=["POST"]),
            Route("/v1/methods", self.methods, methods=["GET"]),
            Route("/v1/examples", self.examples, methods=["GET"]),
            Route("/v1/examples/{name}", self.example, methods=["GET"]),
            Route("/v1/ground", self.ground, methods=["GET"]),
            Route("/v1/health", self.health, methods=["GET"]),
            Route("/openapi.json", self.openapi, methods=["GET"]),
            Route("/docs", self.docs, methods=["GET"]),
        ]

    async def _json_body(self, request: Request) -> bytes:
        check_json(request)
        return await self.bodies.read(request)

    async def start(self, request: Request) -> Response:
        """Accept a job."""
        self.jobs.check_room()
        job = await self.jobs.submit(await self._json_body(request))
        return _accepted(job)

    async def again(self, request: Request) -> Response:
        """Start a job again from its best tour."""
        return _accepted(self.jobs.again(request.path_params["id"]))

    async def look(self, request: Request) -> Response:
        """Tell about a job."""
        return JSONResponse(self.jobs.get(request.path_params["id"]).to_dict())

    async def stop(self, request: Request) -> Response:
        """Stop a job."""
        return JSONResponse((await self.jobs.stop(request.path_params["id"])).to_dict())

    async def instance(self, request: Request) -> Response:
        """Tell what a job solves."""
        job = self.jobs.get(request.path_params["id"])
        return Response(self.jobs.instance(job.id), media_type="application/json")

    async def events(self, request: Request) -> Response:
        """Stream the news of a job."""
        id = self.jobs.get(request.path_params["id"]).id
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")

        async def stream() -> AsyncIterator[str]:
            yield ": hello\n\n"
            async for event in self.jobs.watch(id, PING_EVERY):
                if event is None:
                    yield ": still here\n\n"
                else:
                    yield f"event: {event[0]}\ndata: {json.dumps(event[1])}\n\n"

        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)

    async def solve(self, request: Request) -> Response:
        """Solve at once."""
        self.jobs.check_room()
        result = await self.jobs.solve(await self._json_body(request))
        return Response(result, media_type="application/json")

    async def check(self, request: Request) -> Response:
        """Ask the referee."""
        _, verdict = await self.jobs.read({"task": "check"}, await self._json_body(request))
        return Response(verdict, media_type="application/json")

    async def convert(self, request: Request) -> Response:
        """Write in another format."""
        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind == "application/json":
            found, content = await self.jobs.read(
                {"task": "convert"}, await self.bodies.read(request)
            )
        else:
            header = _file_header(request, ("to",)) | {"task": "convert file"}
            header.setdefault("to", "json")
            found, content = await self.jobs.read(header, await self._file(request))
        name = f'attachment; filename="covertour.{found["format"]}"'
        return Response(
            content,
            headers={"content-type": type_of(found["format"]), "content-disposition": name},
        )

    async def read(self, request: Request) -> Response:
        """Read a file."""
        header = _file_header(request) | {"task": "read"}
        _, content = await self.jobs.read(header, await self._file(request))
        return Response(content, media_type="application/json")

    async def _file(self, request: Request) -> bytes:
        content = await self.bodies.read(request)
        if not content:
            raise Problem(422, "body: the file is empty", "body")
        return content

    async def methods(self, request: Request) -> Response:
        """List the methods."""
        return JSONResponse(
            [
                {
                    "name": name,
                    "summary": method.summary,
                    "learned": method.model is not None,
                    "proves": method.proves,
                    "handles": sorted(method.handles),
                }
                for name, method in METHODS.items()
            ]
        )

    async def examples(self, request: Request) -> Response:
        """List the examples."""
        return JSONResponse(examples.listed())

    async def example(self, request: Request) -> Response:
        """Hand out an example."""
        name = request.path_params["name"]
        if name not in {example.name for example in examples.EXAMPLES}:
            known = ", ".join(example.name for example in examples.EXAMPLES)
            raise Problem(404, f"there is no example {name[:40]!r}; there are {known}")
        return Response(examples.instance_of(name), media_type="application/json")

    async def ground(self, request: Request) -> Response:
        """Outline the countries in a part of the world."""
        box = [
            number_in(request, name, -720.0, 720.0) for name in ("west", "south", "east", "north")
        ]
        finest = number_in(request, "finest", 0.0005, 90.0)
        if not (box[0] < box[2] and box[1] < box[3]):
            raise Problem(422, "east: expected west < east and south < north", "east")
        content = await run_in_threadpool(outlines, *box, finest)
        headers = {"cache-control": "max-age=86400"}
        return Response(content, media_type="application/json", headers=headers)

    async def health(self, request: Request) -> Response:
        """Tell how it goes."""
        jobs = self.jobs
        return JSONResponse(
            {
                "status": "closing" if jobs.closing else "ok",
                "version": __version__,
                "seconds": round(time.time() - jobs.began, 1),
                "running": jobs.running,
                "waiting": jobs.waiting,
                "limits": jobs.limits.to_dict(),
                "formats": {
                    "read": [ending.removeprefix(".") for ending in READ],
                    "instance": formats_of(False),
                    "tour": formats_of(True),
                },
            }
        )

    async def openapi(self, request: Request) -> Response:
        """Describe the API for programs."""
        return JSONResponse(self.description)

    async def docs(self, request: Request) -> Response:
        """Describe the API for people."""
        return HTMLResponse(self.documentation)


def _accepted(job: Job) -> Response:
    return JSONResponse(job.to_dict(), 202, {"location": f"/v1/jobs/{job.id}"})


def number_in(request: Request, field: str, least: float, most: float) -> float:
    """A number of the query between two others."""
    text = request.query_params.get(field)
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if text is None or "_" in text or not least <= value <= most:
        raise wrong(field, f"a number from {least:g} to {most:g}", text)
    return value


def _file_header(request: Request, more: tuple[str, ...] = ()) -> dict[str, Any]:
    """What the query says about a file."""
    query = request.query_params
    header: dict[str, Any] = {"name": query.get("name") or "places"}
    for field in ("metric", *more):
        if field in query:
            header[field] = query[field]
    for field in query:
        if field not in ("name", "nearest", "radius", "metric", *more):
            allowed = f"one of name, nearest, radius, metric{''.join(', ' + f for f in more)}"
            raise wrong(field[:40], allowed, field)
    if "nearest" in query and "radius" in query:
        raise Problem(422, "nearest: both nearest and radius are given", "nearest")
    if "nearest" in query:
        if not (query["nearest"].isascii() and query["nearest"].isdigit()):
            raise wrong("nearest", "a whole number >= 0", query["nearest"])
        header["nearest"] = int(query["nearest"][:18])
    if "radius" in query:
        header["radius"] = number_in(request, "radius", 0.0, LARGEST_RADIUS)
    return header
