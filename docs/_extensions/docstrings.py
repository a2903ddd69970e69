"""Docstrings as they are written here: what is indented after a colon is set as it stands."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.*?``|:\w+:`.*?`)")


def set_formulas(
    app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Make literal blocks of indented formulas, and keep bars and backslashes elsewhere."""
    literal, started = False, False
    for number, line in enumerate(lines):
        if literal:
            started |= line.startswith("    ")
            if not line or line.startswith("    "):
                continue
            literal = False
        follower = next((other for other in lines[number + 1 :] if other), "")
        opens = number + 1 < len(lines) and not lines[number + 1] and follower.startswith("    ")
        parts = LITERAL.split(line)
        parts[::2] = [re.sub(r"([\\|])", r"\\\1", part) for part in parts[::2]]
        lines[number] = "".join(parts)
        if opens and line and not line.startswith((" ", "- ")):
            literal, started = True, False
            if line.endswith(":"):
                lines[number] += ":"
            else:
                lines[number + 1 : number + 1] = ["", "::"]


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every docstring before it is parsed."""
    app.connect("autodoc-process-docstring", set_formulas)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
