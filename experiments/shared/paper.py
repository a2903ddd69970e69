"""The figures that the Attention-dynamic paper reports, as data to stand beside ours."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TRAINING = "training-100-batches"
"""The table of seconds for 100 batches of training."""

SAME_COST = "same-cost"

NAMES = {
    "ls1-paper": "LS1",
    "ls2-paper": "LS2",
    "pn": "PN",
    "pn-dynamic": "PN-dynamic",
    "am": "AM",
    "am-dynamic-paper": "AM-dynamic",
    "am-dynamic+ls": "AM-dynamic (LS)",
}
"""Our methods and what the paper calls them; its LS1 and LS2 are those with its own settings."""


FIGURES = ("cost", "gap_percent", "seconds")


@dataclass(frozen=True)
class Figure:
    """What the paper reports of a method: mean cost, gap to its best heuristic, seconds."""

    cost: float | None
    gap_percent: float | None
    seconds: float | None


@cache
def _figures() -> dict[tuple[str, str, int, str], Figure]:
    text = Path(__file__).with_name("paper.csv").read_text(encoding="utf-8")
    return {
        (row["table"], row["task"], int(row["n"]), row["method"]): Figure(
            *(float(row[key]) if row[key] else None for key in FIGURES)
        )
        for row in csv.DictReader(text.splitlines())
    }


def paper_figure(rule: str, n: int, method: str, table: str | None = None) -> Figure | None:
    """What the paper reports for a rule, n places and one of our methods; None where nothing.

    ``table``: same-cost or the training table; by default the comparisons of methods.
    """
    for (name, task, size, whose), figure in _figures().items():
        special = name in (SAME_COST, TRAINING)
        if (name == table if table is not None else not special) and (task, size, whose) == (
            rule,
            n,
            NAMES.get(method),
        ):
            return figure
    return None
