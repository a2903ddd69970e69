"""The JSON Schemas that ship describe what is written, and refuse what is refused."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator
from strategies import instances

from covertour import InputError, Instance, make_tour, read, solve
from covertour.formats import encode
from covertour.formats.json import FIELDS
from covertour.problem.metric import METRICS


def schema(name: str) -> Draft202012Validator:
    text = (files("covertour.formats") / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    value = json.loads(text)
    Draft202012Validator.check_schema(value)
    return Draft202012Validator(value)


INSTANCE, RESULT = schema("instance"), schema("result")


@given(instances(labelled=True))
def test_every_instance_that_is_written_fits(instance: Instance) -> None:
    INSTANCE.validate(json.loads(encode(instance, None, "json")))


def test_the_schema_knows_the_same_fields_and_metrics() -> None:
    assert set(INSTANCE.schema["properties"]) == set(FIELDS)
    assert set(INSTANCE.schema["properties"]["metric"]["enum"]) == set(METRICS)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"coordinates": []},
        {"coordinates": [[1, "2"]]},
        {"coordinates": [[1, True]]},
        {"coordinates": [[1, 2, 3]]},
        {"coordinates": [[1, 2]], "coverage": {"nearest": 1, "radius": 1}},
        {"coordinates": [[1, 2]], "coverage": {"nearest": -1}},
        {"coordinates": [[1, 2]], "coverage": {"nearest": 1.5}},
        {"coordinates": [[1, 2]], "coverage": {"k": 1}},
        {"coordinates": [[1, 2]], "metric": "taxi"},
        {"coordinates": [[1, 2]], "requierd": [0]},
        {"coordinates": [[1, 2]], "depot": "a"},
        {"matrix": [[0, -1], [1, 0]]},
    ],
)
def test_what_the_schema_refuses_is_refused(value: dict[str, Any]) -> None:
    assert not INSTANCE.is_valid(value)
    with pytest.raises(InputError):
        read(value, **({} if "coverage" in value else {"radius": 1}))


@pytest.mark.parametrize("method", ["lns", "exact", "greedy"])
def test_results_fit(method: str) -> None:
    line = Instance.from_coordinates([[0, 0], [1, 0], [4, 0], [5, 0]], radius=1, labels="abcd")
    result = solve(line, method, iterations=20)
    RESULT.validate(result.to_dict())
    RESULT.validate(json.loads(encode(line, result, "json")))
    RESULT.validate(json.loads(encode(line, make_tour(line, [0, 2]), "json")))
    assert not RESULT.is_valid(result.to_dict() | {"stopped": "somehow"})
