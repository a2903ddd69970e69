"""What an experiment is: a table or figure of the paper, how long it takes, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from covertour.bench import Document
from experiments.shared.protocol import Cell, Settings
from experiments.shared.study import Plan, Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Report:
    """What an experiment leads to: a document and its picture, or why it was left out."""

    document: Document | None
    draw: Callable[[], Axes] | None = None
    left_out: str = ""


@dataclass(frozen=True)
class Experiment:
    """A table or figure: what it shows, how long it will take, and the function that makes it.

    ``cells``: those that it has under some settings, for an experiment whose cells can be left out.
    """

    summary: str
    planned: Callable[[Study], Plan]
    run: Callable[[Study], Report]
    cells: Callable[[Settings], Sequence[Cell]] | None = None


def report_of(made: Document | str, draw: Callable[[], Axes] | None = None) -> Report:
    """A document, or the sentence that stands for it."""
    return Report(None, None, made) if isinstance(made, str) else Report(made, draw)
