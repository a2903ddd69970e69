"""The table coverage: how methods do under variable numbers, a fixed radius and variable radii."""

from __future__ import annotations

from experiments.shared.comparison import Comparison, comparing
from experiments.shared.protocol import GENERALIZING, cells_of

RULES = ["nearest 2-15", "radius 0.2", "radius 0-0.25"]

EXPERIMENT = comparing(
    "variable numbers, a fixed radius, variable radii",
    Comparison(
        "Other rules of coverage",
        cells_of(RULES, [50, 100, 150, 200]),
        quick=cells_of(RULES, [50]),
        methods=GENERALIZING,
    ),
)
