"""The site loads nothing from elsewhere: a page that does is a warning, and so an error."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)
LOADED = re.compile(
    r"<(?:script|link|img|iframe|source|video|audio|object|embed)\b[^>]*?"
    r'\b(?:src|href|data|srcset)="\s*((?:https?:)?//[^"]+)"'
)
IN_STYLES = re.compile(r"(?:@import\s+|url\()\s*['\"]?((?:https?:)?//[^'\")\s]+)")


def outside(text: str) -> list[str]:
    """The addresses that a browser would load with a page or a style sheet."""
    return LOADED.findall(text) + IN_STYLES.findall(text)


def _look(app: Sphinx, error: Exception | None) -> None:
    if error is not None:
        return
    pages = [*Path(app.outdir).rglob("*.html"), *Path(app.outdir).rglob("*.css")]
    for page in pages:
        for address in outside(page.read_text(encoding="utf-8")):
            logger.warning("%s loads %s", page.relative_to(app.outdir), address)


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at all pages once they are written."""
    app.connect("build-finished", _look)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
