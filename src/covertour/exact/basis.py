"""The solver of linear programs, HiGHS, and the bases that it is told to go on from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from covertour.problem.metric import IntArray

BASIC, LOWER = 1, 0
"""States of a column or row in a basis, as HiGHS numbers them."""

TOLERANCE = 1e-9
"""Of the solver, for values and for reduced costs."""


@dataclass(frozen=True, eq=False)
class Basis:
    """A basis that survives added and dropped cuts and pairs, and fits every copy of the program.

    ``columns``: int8, states of the columns that are no pairs; ``rows``: int8, of the rows that are
    no cuts; ``pairs``: u n + v of the pairs that are not at their lower bounds, int64, with
    ``pair_states``: int8; ``tight``: the cuts whose rows are not basic, by number in the pool, with
    ``states``: int8.
    """

    columns: np.ndarray
    rows: np.ndarray
    pairs: IntArray
    pair_states: np.ndarray
    tight: IntArray
    states: np.ndarray


def new_solver() -> Any:
    """HiGHS as a proof uses it: the dual simplex method on one thread, from the last basis."""
    import highspy

    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, bool | int | float | str] = {
        "output_flag": False,
        "presolve": "off",
        "solver": "simplex",
        "threads": 1,
        "simplex_strategy": 1,
        "primal_feasibility_tolerance": TOLERANCE,
        "dual_feasibility_tolerance": TOLERANCE,
    }
    for option, value in options.items():
        highs.setOptionValue(option, value)
    return highs


def is_optimal(highs: Any) -> bool:
    """Whether the last run ended with an optimal solution."""
    import highspy

    return bool(highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def states(highs: Any) -> tuple[np.ndarray, np.ndarray]:
    """The states of all columns and of all rows in the present basis, int8 each."""
    found = highs.getBasis()
    columns = np.array([int(s) for s in found.col_status], dtype=np.int8)
    return columns, np.array([int(s) for s in found.row_status], dtype=np.int8)


def set_states(highs: Any, columns: np.ndarray, rows: np.ndarray) -> None:
    """Make a basis of these states the present one."""
    names = _names()
    found = highs.getBasis()
    found.col_status = [names[s] for s in columns.tolist()]
    found.row_status = [names[s] for s in rows.tolist()]
    found.valid = True
    highs.setBasis(found)


@cache
def _names() -> tuple[Any, ...]:
    """The states as HiGHS names them, by number."""
    from highspy import HighsBasisStatus as Status

    return (Status.kLower, Status.kBasic, Status.kUpper, Status.kZero, Status.kNonbasic)
