"""The table large: all methods on 150, 200 and 300 places, the rule of the paper."""

from __future__ import annotations

from experiments.shared.comparison import Comparison, comparing
from experiments.shared.protocol import METHODS_COMPARED, PAPER_RULE, cells_of

CELLS = cells_of([PAPER_RULE], [150, 200, 300])

EXPERIMENT = comparing(
    "all methods on 150, 200 and 300 places",
    Comparison("Large instances", CELLS, quick=CELLS[:2], methods=METHODS_COMPARED),
)
