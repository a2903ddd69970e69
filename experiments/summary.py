"""The page that sums up several experiments: what came out of each, with links to the tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from covertour.bench import Document
from covertour.storage import write_text
from experiments.shared.claims import headlines

NAME = "summary.md"


def summary(documents: Mapping[str, Document | str], command: str) -> str:
    """The page in Markdown; a text stands for an experiment that was left out."""
    parts = ["# The experiments of the Attention-dynamic paper, measured again", f"`{command}`"]
    for name, document in documents.items():
        if isinstance(document, str):
            parts += [f"## {name}", document]
            continue
        parts.append(f"## [{document.title}]({name}.md)")
        said = headlines(document)
        if said:
            parts.append("\n".join(f"- {sentence}" for sentence in said))
    return "\n\n".join(parts) + "\n"


def write_summary(directory: Path, documents: Mapping[str, Document | str], command: str) -> Path:
    """Write the page into the directory; its path."""
    path = directory / NAME
    write_text(path, summary(documents, command))
    return path
