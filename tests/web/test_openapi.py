"""The OpenAPI document: has every route, is sound, and the server does what it says."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from jsonschema import Draft202012Validator
from starlette.routing import Route

from covertour.web.app import Handlers
from covertour.web.jobs import Jobs
from covertour.web.limits import Limits
from covertour.web.openapi import document
from covertour.web.problems import KINDS
from covertour.web.store import Store

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

NOT_DESCRIBED = {"/openapi.json", "/docs"}


@pytest.fixture(scope="module")
def openapi() -> dict:
    return document(Limits(), needs_token=False)


def test_every_route_is_described_and_every_description_has_a_route(openapi):
    jobs = Jobs(Limits(), Store(None))
    routes: set[tuple[str, str]] = set()
    for route in Handlers(jobs, openapi).routes():
        assert isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}:
            routes.add((route.path, method.lower()))
    jobs.store.close()
    described = {
        (path, verb)
        for path, verbs in openapi["paths"].items()
        for verb in verbs
        if verb != "parameters"
    }
    assert {route for route in routes if route[0] not in NOT_DESCRIBED} == described


def test_all_schemas_are_sound_and_all_references_lead_somewhere(openapi):
    schemas = openapi["components"]["schemas"]
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)

    def references(value):
        if isinstance(value, dict):
            if "$ref" in value:
                yield value["$ref"]
            for item in value.values():
                yield from references(item)
        elif isinstance(value, list):
            for item in value:
                yield from references(item)

    for reference in set(references(openapi)):
        here = openapi
        for part in reference.removeprefix("#/").split("/"):
            here = here[part]


def test_every_problem_has_its_place_in_the_documentation(client):
    page = client.get("/docs").text
    for name, _ in KINDS.values():
        assert f'id="problem-{name}"' in page


def test_the_document_is_served(client, openapi):
    served = client.get("/openapi.json").json()
    assert set(served["paths"]) == set(openapi["paths"])


def test_results_are_as_the_schema_says(client, openapi):
    order = {
        "instance": {"coordinates": [[0, 0], [0, 1], [3, 0]], "coverage": {"radius": 1}},
        "stop": {"iterations": 1},
    }
    for path, name in (("/v1/solve", "Result"), ("/v1/jobs", "Job")):
        answer = client.post(path, json=order).json()
        schema = {"$ref": f"#/components/schemas/{name}", "components": openapi["components"]}
        Draft202012Validator(schema).validate(answer)


def test_the_server_does_what_the_document_says(server):
    """Schemathesis makes up requests of every kind, and holds the answers against the document."""
    from schemathesis import GenerationMode, checks
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        negative_data_rejection,
        response_headers_conformance,
        response_schema_conformance,
        status_code_conformance,
        unsupported_method,
    )

    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    wanted = [
        checks.not_a_server_error,
        content_type_conformance,
        negative_data_rejection,
        response_headers_conformance,
        response_schema_conformance,
        status_code_conformance,
        unsupported_method,
    ]
    statuses: set[int] = set()
    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                strategy = operation.as_strategy(generation_mode=mode)
                statuses |= _hold(strategy, wanted)
            except Unsatisfiable:  # whatever is sent there makes sense
                assert mode is GenerationMode.NEGATIVE
    assert {200, 400, 404, 422} <= statuses


def _hold(strategy, checks) -> set[int]:
    """Send what a strategy makes up, check the answers, and return their statuses."""
    statuses: set[int] = set()

    @given(case=strategy)
    @settings(
        max_examples=6,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def hold(case):
        if isinstance(case.body, dict) and isinstance(case.body.get("stop"), dict):
            case.body["stop"] = {"iterations": 1}  # it is about answers, not about long searches
        response = case.call()
        case.validate_response(response, checks=checks)
        statuses.add(response.status_code)

    hold()
    return statuses
