"""The table small: all methods on 20, 50 and 100 places, the rule of the paper."""

from __future__ import annotations

from experiments.shared.comparison import Comparison, comparing
from experiments.shared.protocol import METHODS_COMPARED, PAPER_RULE, cells_of

CELLS = cells_of([PAPER_RULE], [20, 50, 100])

EXPERIMENT = comparing(
    "all methods on 20, 50 and 100 places",
    Comparison("Small instances", CELLS, quick=CELLS, methods=METHODS_COMPARED),
)
