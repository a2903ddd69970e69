"""Docstrings as they are written here: formulas set as they stand, or with their indices below."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.inspect import TypeAliasForwardRef

LITERAL = re.compile(r"(``.*?``|:\w+:`.*?`)")
INDEX = re.compile(r"\b([A-Za-z])_([a-z]{1,2}|\d)\b")
ROLE = re.compile(r":\w+:`(.*?)`")
MATHEMATICAL = ("covertour.exact.", "covertour.neural.")


def set_formulas(
    app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """What is indented after a paragraph is a literal block; in prose x_e gets its index."""
    set_lines: list[str] = []
    literal = False
    for number, line in enumerate(lines):
        if literal and (not line or line.startswith("    ")):
            set_lines.append(ROLE.sub(r"\1", line))
            continue
        literal = False
        rest = lines[number + 1 :]
        follower = next((other for other in rest if other), "")
        opens = bool(line and rest) and not rest[0] and follower.startswith("    ")
        set_lines.append(_prose(line, name.startswith(MATHEMATICAL)))
        if opens and not line.startswith((" ", "- ", ">>>")):
            literal = True
            if line.endswith(":"):
                set_lines[-1] += ":"
            else:
                set_lines += ["", "::"]
    lines[:] = set_lines


def _prose(line: str, mathematical: bool) -> str:
    """A line in which bars and backslashes mean themselves, and indices stand below."""
    parts = LITERAL.split(line)
    parts[::2] = [re.sub(r"([\\|])", r"\\\1", part) for part in parts[::2]]
    if mathematical and "  " not in line.strip():  # not in a table
        parts[::2] = [
            INDEX.sub(r"\1\\ :sub:`\2`\\ ", part).replace(">=", "≥").replace("<=", "≤")
            for part in parts[::2]
        ]
    return "".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every docstring before it is parsed; names of types for arrays stand unquoted."""
    app.connect("autodoc-process-docstring", set_formulas)
    TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # type: ignore[method-assign]
    return {"parallel_read_safe": True, "parallel_write_safe": True}
