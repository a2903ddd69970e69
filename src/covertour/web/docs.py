"""The page ``/docs``: the OpenAPI document as people read it, made once, without any script."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from covertour.web.problems import KINDS

Json = dict[str, Any]

START = """
curl -s localhost:8000/v1/solve -H 'Content-Type: application/json' -d '{
  "instance": {"coordinates": [[0, 0], [0, 1], [3, 0], [3, 1]], "coverage": {"radius": 1}},
  "stop": {"seconds": 0.1}}'
"""


def as_html(document: Json) -> str:
    """The page."""
    sections = "".join(
        _operation(path, verb, operation)
        for path, verbs in document["paths"].items()
        for verb, operation in verbs.items()
        if verb != "parameters"
    )
    schemas = "".join(
        f'<section id="schema-{escape(name)}"><h3>{escape(name)}</h3>{_schema(schema)}</section>'
        for name, schema in document["components"]["schemas"].items()
    )
    problems = "".join(
        f'<tr id="problem-{name}"><td>{status}</td><td>{escape(title)}</td></tr>'
        for status, (name, title) in KINDS.items()
    )
    info = document["info"]
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>The API of covertour</title>"
        '<link rel="icon" href="/page/icon.svg" type="image/svg+xml">'
        '<link rel="stylesheet" href="/page/docs.css"></head><body><main>'
        f"<h1>The API of covertour</h1><p>{escape(info['description'])} Version "
        f'{escape(info["version"])}. <a href="/">The page for planners</a> · '
        '<a href="/openapi.json">OpenAPI document</a></p>'
        f'<pre tabindex="0">{escape(START.strip())}</pre>'
        f"<h2>Requests</h2>{sections}<h2>Problems</h2><p>Whatever is refused is answered as "
        "<code>application/problem+json</code>, with the status, the <code>field</code>, what was "
        "<code>found</code> there and what is <code>allowed</code>.</p>"
        f"<table><thead><tr><th>status</th><th>what it means</th></tr></thead>"
        f"<tbody>{problems}</tbody></table><h2>Values</h2>{schemas}</main></body></html>"
    )


def _operation(path: str, verb: str, operation: Json) -> str:
    rows = "".join(
        f"<tr><td>{escape(code)}</td><td>{escape(response['description'])}</td>"
        f"<td>{_content(response.get('content', {}))}</td></tr>"
        for code, response in operation["responses"].items()
        if code not in ("401", "403")
    )
    queries = "".join(
        f"<li><code>{escape(query['name'])}</code> {_text(query['description'])}</li>"
        for query in operation.get("parameters", ())
    )
    takes = operation.get("requestBody", {}).get("content", {})
    more = operation.get("description", "")
    return (
        f'<section id="{escape(operation["operationId"])}"><h3><span class="verb">{verb.upper()}'
        f"</span> {escape(path)}</h3><p>{_text(operation['summary'])}. {_text(more)}</p>"
        + (f"<p>Takes {_content(takes)}</p>" if takes else "")
        + (f"<ul>{queries}</ul>" if queries else "")
        + f"<details><summary>Answers</summary><table><tbody>{rows}</tbody></table></details>"
        "</section>"
    )


def _text(text: str) -> str:
    """A description, in which names stand between backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _content(content: Json) -> str:
    return ", ".join(
        f"{escape(kind)}{' ' + _name(part['schema']) if part.get('schema') else ''}"
        for kind, part in content.items()
    )


def _name(schema: Json) -> str:
    """What a value is, in a word or a link to its schema."""
    if "$ref" in schema:
        name = schema["$ref"].split("/")[3]
        return f'<a href="#schema-{escape(name)}">{escape(name)}</a>'
    if "anyOf" in schema:
        return " or ".join(_name(part) for part in schema["anyOf"])
    if "enum" in schema:
        return escape("one of " + ", ".join(str(value) for value in schema["enum"]))
    kind = schema.get("type", "anything")
    if kind == "array" and "items" in schema:
        return f"list of {_name(schema['items'])}"
    return escape(" or ".join(kind) if isinstance(kind, list) else kind)


def _schema(schema: Json) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{_name(part)}</td>"
        f"<td>{_text(part.get('description', ''))}</td></tr>"
        for name, part in schema.get("properties", {}).items()
    )
    told = f"<p>{_text(schema['description'])}</p>" if "description" in schema else ""
    return f"{told}<table><tbody>{rows}</tbody></table>" if rows else told
