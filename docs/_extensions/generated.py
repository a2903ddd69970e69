"""The pages that covertour itself tells: its commands, its HTTP API, its methods.

A page of the site gets what is made here after its own text, as Markdown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import typer
from sphinx.application import Sphinx

Json = dict[str, Any]


def commands() -> Iterator[str]:
    """Every verb with its arguments and options, panel by panel, as ``--help`` shows them."""
    from covertour.cli import app

    group = typer.main.get_command(app)
    for name, verb in group.commands.items():  # type: ignore[attr-defined]
        yield from _verb(f"covertour {name}", verb, 2)


def _verb(name: str, verb: Any, level: int) -> Iterator[str]:
    yield f"{'#' * level} {name}\n"
    first, *examples = [" ".join(part.split()) for part in (verb.help or "").split("\n\n")]
    yield f"{first}\n"
    for text in examples:
        yield f"```sh\n{text}\n```\n" if text.startswith("covertour ") else f"{text}\n"
    inner = getattr(verb, "commands", {})
    for part, other in inner.items():
        yield from _verb(f"{name} {part}", other, level + 1)
    if inner:
        return
    context = verb.make_context(name, [], resilient_parsing=True)
    panels: dict[str, list[str]] = {"Arguments": [], "Options": []}
    for parameter in verb.get_params(context):
        if getattr(parameter, "hidden", False) or parameter.name == "help":
            continue
        argument = parameter.param_type_name == "argument"
        usual = "Arguments" if argument else "Options"
        panel = getattr(parameter, "rich_help_panel", None) or usual
        panels.setdefault(panel, []).append(_row(parameter, argument))
    for panel, rows in panels.items():
        if rows:
            yield f"| {panel} | |\n|---|---|\n" + "\n".join(rows) + "\n"


def _row(parameter: Any, argument: bool) -> str:
    if argument:
        names = f"`{parameter.metavar or parameter.name.upper()}`"
    else:
        value = "" if parameter.is_flag else f" {parameter.metavar or 'TEXT'}"
        long, *short = parameter.opts
        names = ", ".join([f"`{long}{value}`", *(f"`{name}`" for name in short)])
    told = (parameter.help or "").replace("|", "\\|").replace("<", "&lt;")
    default = parameter.default
    shown = parameter.show_default
    if isinstance(shown, str):
        told += f" Default: {shown}."
    elif shown and default is not None and not isinstance(default, bool | list | tuple):
        told += f" Default: `{default}`."
    return f"| {names.replace('|', chr(92) + '|')} | {told} |"


def methods() -> Iterator[str]:
    """The methods, what each does, and what it handles beyond the plain problem."""
    from covertour import METHODS
    from covertour.problem.instance import FEATURES

    yield "| method | what it does | beyond the plain problem |\n|---|---|---|"
    for name, method in METHODS.items():
        beyond = [feature for feature in FEATURES if feature in method.handles]
        told = "everything" if len(beyond) == len(FEATURES) else ", ".join(beyond)
        yield f"| `{name}` | {method.summary} | {told} |"


def http() -> Iterator[str]:
    """Every request of the HTTP API, from the OpenAPI document that the server gives out."""
    from covertour.web.limits import Limits
    from covertour.web.openapi import document
    from covertour.web.problems import KINDS

    described = document(Limits(), needs_token=False)
    yield "## Requests\n"
    for path, verbs in described["paths"].items():
        shared = verbs.get("parameters", [])
        for verb, operation in verbs.items():
            if verb != "parameters":
                yield from _operation(path, verb, operation, shared)
    yield "## Problems\n"
    yield "Each is an `application/problem+json`, a [Problem](#schema-problem).\n"
    yield "| status | what it means |\n|---|---|"
    yield from (f"| {status} | {title} |" for status, (_, title) in KINDS.items())
    yield "\n## Values\n"
    for name, schema in described["components"]["schemas"].items():
        yield f"(schema-{name.lower()})=\n\n### {name}\n"
        yield from _schema(schema)


def _operation(path: str, verb: str, operation: Json, shared: list[Json]) -> Iterator[str]:
    yield f"### {verb.upper()} `{path}`\n"
    yield f"{operation['summary']}.\n"
    if "description" in operation:
        yield f"{operation['description']}\n"
    parameters = [*shared, *operation.get("parameters", [])]
    if parameters:
        yield "| parameter | where | type | what it is |\n|---|---|---|---|"
        for one in parameters:
            yield (
                f"| `{one['name']}` | {one['in']} | {_type(one['schema'])} "
                f"| {_line(one.get('description', ''))} |"
            )
        yield ""
    if "requestBody" in operation:
        yield f"Body: {_content(operation['requestBody']['content'])}.\n"
    yield "| status | answer | content |\n|---|---|---|"
    refused = [code for code in operation["responses"] if code >= "400"]
    for code, response in operation["responses"].items():
        if code not in refused:
            told = _line(response["description"])
            yield f"| {code} | {told} | {_content(response.get('content', {}))} |"
    yield f"\nRefused with {', '.join(refused)}: see [problems](#problems).\n"


def _content(content: Json) -> str:
    return ", ".join(
        f"`{kind}`" + (f": {_type(one['schema'])}" if one.get("schema") else "")
        for kind, one in content.items()
    )


def _schema(schema: Json) -> Iterator[str]:
    if "description" in schema:
        yield f"{schema['description']}\n"
    if "properties" not in schema:
        yield f"```json\n{json.dumps(schema, indent=1)[:4000]}\n```\n"
        return
    required = schema.get("required", [])
    yield "| field | type | what it is |\n|---|---|---|"
    for name, field in schema["properties"].items():
        must = " (required)" if name in required else ""
        yield f"| `{name}`{must} | {_type(field)} | {_line(field.get('description', ''))} |"
    yield ""


def _type(schema: Json) -> str:
    """A schema in a few words; values of their own are linked to."""
    if "$ref" in schema:
        path = schema["$ref"]
        name = path.rsplit("/", 1)[-1]
        if "$defs" in path:  # a small type, told by its name
            return name
        return f"[{name}](#schema-{name.lower()})"
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return " or ".join(_type(one) for one in schema[choice])
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    kind = schema.get("type", "")
    kind = " or ".join(kind) if isinstance(kind, list) else kind
    if kind == "array" and "items" in schema:
        return f"array of {_type(schema['items']) or 'values'}"
    return kind


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "reference/cli": commands,
    "reference/http": http,
    "reference/methods": methods,
}


def _read(app: Sphinx, document: str, source: list[str]) -> None:
    if document in PAGES:
        source[0] += "\n\n" + "\n".join(PAGES[document]())


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the text when a page is read, which is whenever the site is built."""
    app.connect("source-read", _read)
    app.connect("env-get-outdated", lambda *_: list(PAGES))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
