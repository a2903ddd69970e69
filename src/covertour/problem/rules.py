"""Coverage rules as text, as configs and tables name them: "nearest 7", "radius 0-0.25"."""

from __future__ import annotations

import re
from typing import Any

from covertour.problem.errors import InputError, shown

_NUMBER = r"(\d{1,15}(?:\.\d*)?|\.\d+)"
_RULE = re.compile(rf"(nearest|radius)[ =]+{_NUMBER}(?:\s*-\s*{_NUMBER})?")


def parse_rule(text: str) -> dict[str, Any]:
    """The rule as an argument of :func:`covertour.random_instance`; a range is drawn from.

    >>> parse_rule("nearest 7"), parse_rule("radius 0-0.25")
    ({'nearest': 7}, {'radius': (0.0, 0.25)})
    """
    found = _RULE.fullmatch(" ".join(text.split()).lower())
    if found is None:
        raise InputError(
            f"rule: {shown(text)} is not understood; expected for example 'nearest 7', "
            "'nearest 2-15', 'radius 0.2' or 'radius 0-0.25'"
        )
    kind, *ends = (part for part in found.groups() if part is not None)
    if kind == "nearest" and any("." in end for end in ends):
        raise InputError(f"rule: {shown(text)}: nearest takes whole numbers")
    values = tuple(int(end) if kind == "nearest" else float(end) for end in ends)
    if values[0] > values[-1]:
        raise InputError(f"rule: {shown(text)}: expected the lower end first")
    return {kind: values if len(values) > 1 else values[0]}
