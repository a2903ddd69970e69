"""What goes wrong, as RFC 9457 problems: which field, what was found, what is allowed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from covertour.problem.errors import InputError, shown

KINDS = {
    400: ("not-json", "The body is not JSON"),
    401: ("token", "A token is needed"),
    403: ("origin", "Not from here"),
    404: ("not-found", "There is no such thing"),
    405: ("method", "Not in this way"),
    408: ("slow", "The request came too slowly"),
    409: ("state", "Not in this state"),
    411: ("length", "The length is not told"),
    413: ("too-large", "Too large"),
    415: ("media-type", "Not this type of content"),
    422: ("invalid", "Something in the request makes no sense"),
    429: ("busy", "The queue is full"),
    500: ("failed", "It could not be done"),
    503: ("closing", "The server is shutting down"),
}
"""For each status the name under which ``/docs`` explains the problem, and its title."""

FIELD = re.compile(r"(?:the dict: )?(?P<field>[a-z_]+): (?P<rest>.*)", re.DOTALL)
EXPECTED = re.compile(r"expected (?P<allowed>.*?), got (?P<found>.*)", re.DOTALL)


@dataclass(eq=False)  # not frozen: Python notes on an exception where it came from
class Problem(Exception):
    """A refusal: its status, a sentence, and where known the field, what was found and allowed."""

    status: int
    detail: str
    field: str | None = None
    found: Any = None
    allowed: Any = None
    retry_after: int | None = None
    allow: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The problem as its JSON has it; what is not known is left out."""
        name, title = KINDS.get(self.status, (None, HTTPStatus(self.status).phrase))
        value: dict[str, Any] = {
            "type": f"/docs#problem-{name}" if name else "about:blank",
            "title": title,
            "status": self.status,
            "detail": self.detail,
        }
        for key in ("field", "found", "allowed"):
            if getattr(self, key) is not None:
                value[key] = getattr(self, key)
        return value


def from_dict(value: dict[str, Any]) -> Problem:
    """The problem that another process told."""
    return Problem(
        value["status"],
        value["detail"],
        value.get("field"),
        value.get("found"),
        value.get("allowed"),
    )


def wrong(field: str, allowed: str, found: object) -> Problem:
    """A field that does not hold what it should."""
    text = shown(found)
    return Problem(422, f"{field}: expected {allowed}, got {text}", field, text, allowed)


def of_input(error: InputError, field: str) -> Problem:
    """What the library refused, in the given ``field`` of the request."""
    message = " ".join(str(error).split()).removeprefix("the dict: ")
    named = FIELD.fullmatch(message)
    if named is None:
        return Problem(422, message, field or None)
    inner, rest = named["field"], named["rest"]
    name = inner if inner == field or field == "" else f"{field}.{inner}"
    told = EXPECTED.fullmatch(rest)
    if told is None:
        return Problem(422, message, name)
    return Problem(422, message, name, told["found"], told["allowed"])
