"""Links of pages that are read in the repository too: made to fit the site.

A page may be included from elsewhere (README, CHANGELOG, the tables of experiments), and links to
files that the site shows under another name, or not at all. Links to the former are turned to where
the site has them; of the latter the path is told.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")
CODE = re.compile(r"^(```|~~~|:::).*?^\1\s*$", re.DOTALL | re.MULTILINE)
HOMES = {
    "README.md": "/index.md",
    "CHANGELOG.md": "/changelog.md",
    "CONTRIBUTING.md": "/contributing.md",
    "docs/results": "/results/index.md",
    "experiments": "/results/paper/index.md",
    "experiments/results": "/results/paper/index.md",
    "experiments/results/summary.md": "/results/paper/index.md",
    "examples/cluster": "/guide/cluster.md",
}
"""Where the site has what lies elsewhere in the repository."""


def fitted(text: str, page: Path) -> str:
    """The text of a page with links that hold on the site; ``page``: the file it was read from."""

    def change(found: re.Match[str]) -> str:
        picture, words, target, anchor = found[1], found[2], found[3], found[4] or ""
        if re.match(r"[a-z+]+:", target) or target.startswith("/"):
            return found[0]
        path = Path(os.path.normpath(page.parent / target))
        if not path.exists() or not path.is_relative_to(ROOT):
            return found[0]  # Sphinx will complain
        name = path.relative_to(ROOT).as_posix()
        if picture:
            return f"![{words}](/{os.path.relpath(path, DOCS)})"
        if name in HOMES:
            return f"[{words}]({HOMES[name]}{anchor})"
        if name.startswith("experiments/results/") and path.suffix == ".md":
            return f"[{words}](/results/paper/{path.name}{anchor})"
        if path.is_relative_to(DOCS) and path.is_file():
            return f"[{words}](/{path.relative_to(DOCS).as_posix()}{anchor})"
        return f"{words} (`{name}`)"

    kept: list[str] = []
    at = 0
    for block in CODE.finditer(text):
        if block[1] == ":::":
            continue
        kept += [LINK.sub(change, text[at : block.start()]), block[0]]
        at = block.end()
    return "".join([*kept, LINK.sub(change, text[at:])])


def _read(app: Sphinx, document: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(document))
    if page.suffix == ".md":
        source[0] = fitted(source[0], page)


def _included(app: Sphinx, path: Path, document: str, source: list[str]) -> None:
    file = Path(os.path.normpath(DOCS / path))
    if file.suffix == ".md":
        source[0] = fitted(source[0], file)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at every page, and at what it includes, before it is parsed."""
    app.connect("source-read", _read)
    app.connect("include-read", _included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
