"""The table nc: how methods do where places cover their 7, 11 or 15 nearest."""

from __future__ import annotations

from experiments.shared.comparison import Comparison, comparing
from experiments.shared.protocol import GENERALIZING, PAPER_RULE, cells_of

RULES = [PAPER_RULE, "nearest 11", "nearest 15"]

EXPERIMENT = comparing(
    "places that cover their 7, 11 or 15 nearest",
    Comparison(
        "Other numbers of covered places",
        cells_of(RULES, [100, 150, 200, 300]),
        quick=cells_of(RULES, [100]),
        methods=GENERALIZING,
    ),
)
