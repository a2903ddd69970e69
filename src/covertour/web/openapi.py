"""The OpenAPI document: every route, what it takes, how it answers; with the library's schemas."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from covertour import METHODS
from covertour.formats import INSTANCE_ENDINGS, OUTCOME_ENDINGS, PICTURE_ENDINGS
from covertour.problem.metric import METRICS
from covertour.version import __version__
from covertour.web.limits import Limits
from covertour.web.problems import KINDS

Json = dict[str, Any]


def formats_of(outcome: bool) -> list[str]:
    """What can be written: of a tour, or of an instance alone."""
    endings = OUTCOME_ENDINGS if outcome else INSTANCE_ENDINGS + PICTURE_ENDINGS
    return [ending.removeprefix(".") for ending in endings]


def document(limits: Limits, needs_token: bool) -> Json:
    """The description of the API, as OpenAPI 3.1."""
    value: Json = {
        "openapi": "3.1.0",
        "info": {
            "title": "covertour",
            "version": __version__,
            "description": "Plan round trips that pass near every place: the Covering Salesman "
            "Problem. Errors are RFC 9457 problems that name the field.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "paths": _paths(limits),
        "components": {"schemas": _schemas(limits)},
    }
    if needs_token:
        value["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        value["security"] = [{"token": []}]
    return value


def _ref(name: str) -> Json:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(schema: Json, description: str, headers: Json | None = None) -> Json:
    found: Json = {"description": description, "content": {"application/json": {"schema": schema}}}
    return found | ({"headers": headers} if headers else {})


def _problems(*codes: int) -> Json:
    found: Json = {}
    for code in sorted({401, 403, *codes}):
        found[str(code)] = {
            "description": KINDS[code][1],
            "content": {"application/problem+json": {"schema": _ref("Problem")}},
        }
        if code in (429, 503):
            found[str(code)]["headers"] = {"Retry-After": {"schema": {"type": "string"}}}
    return found


def _body(schema: str) -> Json:
    return {"required": True, "content": {"application/json": {"schema": _ref(schema)}}}


BODY = (400, 408, 413, 415, 422, 429, 500, 503)
"""How a request with a body can be refused."""

LOCATION = {"Location": {"description": "The job.", "schema": {"type": "string"}}}
JOB_ID = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "As the job's Location has it.",
    "schema": {"type": "string", "minLength": 1},
}


def _query(name: str, description: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _file_queries() -> list[Json]:
    return [
        _query(
            "name",
            "What the file is called; its ending tells the format, else its content does.",
            {"type": "string", "default": "places"},
        ),
        _query("nearest", "Each place covers so many.", {"type": "integer", "minimum": 0}),
        _query("radius", "Each place covers all within it.", {"type": "number", "minimum": 0}),
        _query("metric", "In place of the file's.", {"enum": list(METRICS)}),
    ]


def _paths(limits: Limits) -> Json:
    job = _json(_ref("Job"), "The job.")
    any_file: Json = {"application/octet-stream": {"schema": {}}, "text/csv": {"schema": {}}}
    return {
        "/v1/jobs": {
            "post": {
                "operationId": "startJob",
                "summary": "Start a job",
                "description": f"At most {limits.places:,} places and {limits.seconds:g} seconds.",
                "requestBody": _body("Order"),
                "responses": {
                    "202": _json(_ref("Job"), "Accepted.", LOCATION),
                    **_problems(*BODY),
                },
            }
        },
        "/v1/jobs/{id}": {
            "parameters": [JOB_ID],
            "get": {
                "operationId": "getJob",
                "summary": "State, best tour so far, trace; the result when it has ended",
                "responses": {"200": job, **_problems(404)},
            },
            "delete": {
                "operationId": "stopJob",
                "summary": "Stop a job; the answer has its best tour",
                "responses": {"200": job, **_problems(404)},
            },
        },
        "/v1/jobs/{id}/events": {
            "parameters": [JOB_ID],
            "get": {
                "operationId": "watchJob",
                "summary": "Server-sent events: improvement, bound, done",
                "description": "`improvement` has seconds, cost and stops; `bound` has seconds, "
                "bound and gap; `done` has the job, and ends the stream.",
                "responses": {
                    "200": {
                        "description": "Events as they come.",
                        "content": {"text/event-stream": {"schema": {"type": "string"}}},
                    },
                    **_problems(404),
                },
            },
        },
        "/v1/jobs/{id}/again": {
            "parameters": [JOB_ID],
            "post": {
                "operationId": "startAgain",
                "summary": "Start a job that has ended once more, from its best tour",
                "responses": {
                    "202": _json(_ref("Job"), "Accepted.", LOCATION),
                    **_problems(404, 409, 429, 503),
                },
            },
        },
        "/v1/jobs/{id}/instance": {
            "parameters": [JOB_ID],
            "get": {
                "operationId": "getInstance",
                "summary": "The instance that a job solves",
                "responses": {
                    "200": _json(_ref("Instance"), "As it was sent."),
                    **_problems(404),
                },
            },
        },
        "/v1/solve": {
            "post": {
                "operationId": "solve",
                "summary": "Solve a small instance at once",
                "description": f"At most {limits.quick_places:,} places and "
                f"{limits.quick_seconds:g} seconds.",
                "requestBody": _body("Order"),
                "responses": {"200": _json(_ref("Result"), "The result."), **_problems(*BODY)},
            }
        },
        "/v1/check": {
            "post": {
                "operationId": "check",
                "summary": "Ask the independent referee about a tour",
                "requestBody": _body("Check"),
                "responses": {"200": _json(_ref("Verdict"), "What it found."), **_problems(*BODY)},
            }
        },
        "/v1/convert": {
            "post": {
                "operationId": "convert",
                "summary": "An instance, a tour or a file in another format",
                "description": "A body of JSON has the instance and may have a tour; any other "
                "body is a file, which `name`, `nearest`, `radius`, `metric` and `to` tell about.",
                "parameters": [
                    *_file_queries(),
                    _query("to", "The format of the answer.", {"enum": formats_of(False)}),
                ],
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {"schema": _ref("Conversion")},
                        **any_file,
                    },
                },
                "responses": {
                    "200": {
                        "description": "The file.",
                        "content": {kind: {"schema": {}} for kind in sorted(set(TYPES.values()))},
                    },
                    **_problems(*BODY),
                },
            }
        },
        "/v1/read": {
            "post": {
                "operationId": "read",
                "summary": "The places in a file of any format that covertour reads",
                "parameters": _file_queries(),
                "requestBody": {"required": True, "content": any_file},
                "responses": {"200": _json(_ref("Read"), "The places."), **_problems(*BODY)},
            }
        },
        "/v1/methods": {
            "get": {
                "operationId": "listMethods",
                "summary": "The methods of solving",
                "responses": {
                    "200": _json({"type": "array", "items": _ref("Method")}, "All of them."),
                    **_problems(),
                },
            }
        },
        "/v1/examples": {
            "get": {
                "operationId": "listExamples",
                "summary": "Examples to start with",
                "responses": {
                    "200": _json({"type": "array", "items": _ref("Example")}, "What there is."),
                    **_problems(),
                },
            }
        },
        "/v1/examples/{name}": {
            "parameters": [JOB_ID | {"name": "name", "description": "As the list has it."}],
            "get": {
                "operationId": "getExample",
                "summary": "The instance of an example",
                "responses": {"200": _json(_ref("Instance"), "The instance."), **_problems(404)},
            },
        },
        "/v1/ground": {
            "get": {
                "operationId": "getGround",
                "summary": "Coasts, borders and names of countries in a part of the world",
                "parameters": [
                    _query(name, "In degrees.", {"type": "number", "minimum": -720, "maximum": 720})
                    | {"required": True}
                    for name in ("west", "south", "east", "north")
                ]
                + [
                    _query(
                        "finest",
                        "Details smaller than this, in degrees, are left out.",
                        {"type": "number", "minimum": 0.0005, "maximum": 90},
                    )
                    | {"required": True}
                ],
                "responses": {
                    "200": _json(_ref("Ground"), "Lines of longitudes and latitudes in turn."),
                    **_problems(422),
                },
            }
        },
        "/v1/health": {
            "get": {
                "operationId": "health",
                "summary": "Whether it works, what is going on, and its limits",
                "security": [],
                "responses": {"200": _json(_ref("Health"), "It works."), **_problems()},
            }
        },
    }


TYPES = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "geojson": "application/geo+json",
    "tsp": "text/plain; charset=utf-8",
    "tour": "text/plain; charset=utf-8",
    "gpx": "application/gpx+xml",
    "html": "text/html; charset=utf-8",
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "kml": "application/vnd.google-earth.kml+xml",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "gpkg": "application/geopackage+sqlite3",
    "ics": "text/calendar; charset=utf-8",
    "": "application/octet-stream",
}
"""The media types of formats; others are sent as bytes."""


def type_of(format: str) -> str:
    """The media type of a format, such as that of ``gpx``."""
    return TYPES.get(format, TYPES[""])


@cache
def _library_schema(name: str) -> Json:
    """A schema of the library, its references made to hold inside of this document."""
    text = (files("covertour.formats") / "schemas" / f"{name.lower()}.json").read_text("utf-8")
    schema: Json = json.loads(text.replace('"#/$defs/', f'"#/components/schemas/{name}/$defs/'))
    schema.pop("$schema")
    return schema


def _object(required: list[str], properties: Json, more: bool = False) -> Json:
    return {
        "type": "object",
        "required": required,
        "additionalProperties": more,
        "properties": properties,
    }


def _amount(text: str, kind: str = "number", **more: Any) -> Json:
    return {"type": kind, "minimum": 0, "description": text, **more}


def _schemas(limits: Limits) -> Json:
    place = {"type": "integer", "minimum": 0}
    tour = {"type": "array", "items": place, "description": "Place numbers in driving order."}
    text = {"type": "string"}
    maybe_text = {"type": ["string", "null"]}
    maybe_number = {"type": ["number", "null"]}
    given = {"anyOf": [_ref("Instance"), _ref("GeoJSON")]}
    stop = _object(
        [],
        {
            "seconds": _amount("Stop after so long."),
            "iterations": _amount("Stop after so many; makes a solve repeatable.", "integer"),
            "gap": _amount("Stop when proven to be within this share; with exact."),
            "length": _amount("Stop at a tour no longer than this."),
            "idle_seconds": _amount("Stop when nothing has improved for so long."),
        },
    )
    return {
        "Instance": _library_schema("Instance"),
        "Result": _library_schema("Result"),
        "GeoJSON": {
            "type": "object",
            "required": ["type", "features"],
            "properties": {"type": {"const": "FeatureCollection"}, "features": {"type": "array"}},
        },
        "Stop": stop | {"description": "When to stop; what comes first counts."},
        "Order": _object(
            ["instance"],
            {
                "instance": given,
                "method": {"enum": list(METHODS), "default": "lns"},
                "stop": _ref("Stop"),
                "seed": {"type": "integer", "minimum": 0, "maximum": 2**63 - 1, "default": 0},
                "start": tour | {"description": "A tour to improve."},
            },
        ),
        "Check": _object(
            ["instance", "tour"],
            {
                "instance": given,
                "tour": {"type": "array", "items": {"type": "integer"}},
                "length": _amount("What the tour claims to be long."),
            },
        ),
        "Conversion": _object(
            ["instance"],
            {
                "instance": given,
                "tour": tour,
                "to": {"enum": sorted({*formats_of(True), *formats_of(False)}), "default": "json"},
            },
        ),
        "Read": _object(
            ["instance", "notes"],
            {
                "instance": {
                    "type": "object",
                    "description": "The places; coverage is null where the file has no rule.",
                },
                "notes": {
                    "type": "array",
                    "items": text,
                    "description": "What of the file is not used.",
                },
            },
        ),
        "Verdict": _object(
            ["ok", "stops", "length", "claimed", "problems", "uncovered"],
            {
                "ok": {"type": "boolean"},
                "stops": place,
                "length": maybe_number,
                "claimed": maybe_number,
                "problems": {"type": "array", "items": text},
                "uncovered": {"type": "array", "items": place},
            },
            more=True,
        ),
        "Best": _object(
            ["seconds", "cost", "stops"],
            {"seconds": {"type": "number"}, "cost": {"type": "number"}, "stops": tour},
            more=True,
        ),
        "Job": _object(
            ["id", "state", "instance", "method", "created", "best", "trace", "result"],
            {
                "id": text,
                "state": {
                    "enum": ["waiting", "running", "done", "stopped", "failed", "interrupted"],
                    "description": "`interrupted`: the server ended while it ran or waited; start "
                    "it again.",
                },
                "instance": _object(["name", "places"], {"name": text, "places": place}),
                "method": text,
                "stop": _ref("Stop"),
                "seed": {"type": "integer"},
                "created": text,
                "started": maybe_text,
                "finished": maybe_text,
                "best": {"anyOf": [_ref("Best"), {"type": "null"}]},
                "bound": maybe_number,
                "gap": maybe_number,
                "trace": {
                    "type": "array",
                    "description": "Seconds and cost of each improvement.",
                    "items": {"type": "array", "items": {"type": "number"}},
                },
                "result": {"anyOf": [_ref("Result"), {"type": "null"}]},
                "problem": _ref("Problem"),
            },
        ),
        "Method": _object(
            ["name", "summary", "learned", "proves"],
            {
                "name": text,
                "summary": text,
                "learned": {"type": "boolean"},
                "proves": {"type": "boolean"},
                "handles": {"type": "array", "items": text},
            },
        ),
        "Example": _object(
            ["name", "title", "summary", "places", "instance"],
            {"name": text, "title": text, "summary": text, "places": place, "instance": text},
        ),
        "Ground": _object(
            ["land", "coasts", "borders", "names"],
            {
                **{
                    name: {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}
                    for name in ("land", "coasts", "borders")
                },
                "names": {"type": "array", "items": {"type": "array"}},
            },
        ),
        "Health": _object(
            ["status", "version", "running", "waiting", "limits"],
            {
                "status": {"enum": ["ok", "closing"]},
                "version": text,
                "seconds": {"type": "number"},
                "running": place,
                "waiting": place,
                "limits": _object(
                    list(limits.to_dict()),
                    {name: {"type": "number"} for name in limits.to_dict()},
                ),
                "formats": {"type": "object"},
            },
        ),
        "Problem": _object(
            ["type", "title", "status", "detail"],
            {
                "type": text,
                "title": text,
                "status": {"type": "integer"},
                "detail": text,
                "field": text | {"description": "Which field of the request is wrong."},
                "found": {"description": "What stands there."},
                "allowed": {"description": "What may stand there."},
            },
            more=True,
        ),
    }
