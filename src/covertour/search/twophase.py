"""twophase: the heuristic of Current and Schilling (1989): a smallest cover, then a tour of it.

HiGHS finds a cover with the fewest stops; that solution is cut off and the next one asked for,
until they need more stops or enough were found. Each is put in order by cheapest insertion and the
tour improver; the shortest tour wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.construct import complete
from covertour.search.state import make_state, read_tour
from covertour.solving.clock import Clock

MOST_COVERS = 20
"""So many smallest covers are turned into tours."""


def twophase(instance: Instance, clock: Clock, seed: int) -> IntArray:
    """Make tours of smallest covers until the clock is over; the stops of the best in order."""
    rng = np.random.default_rng(seed)
    s = make_state(instance, seed)
    nothing = np.empty(0, dtype=np.int64)
    # A first tour without any proof of smallness: there is one even if HiGHS finds none in time.
    complete(s, nothing, instance.must_visit, rng.permutation(instance.n))
    fallback, length = read_tour(s), float(s.tour["length"])
    best = None
    for cover in _smallest_covers(instance, clock):
        complete(s, nothing, rng.permutation(cover), np.arange(instance.n))
        clock.ran(1, 0.0)
        if float(s.tour["length"]) < clock.best:
            best = read_tour(s)
            clock.improved(float(s.tour["length"]), best)
        clock.report()
        if clock.over:
            break
    if best is None:
        clock.improved(length, fallback)
    return fallback if best is None else best


def _smallest_covers(instance: Instance, clock: Clock) -> Iterator[IntArray]:
    """Covers with the fewest stops, each an int64 array, one after the other."""
    import highspy

    n = instance.n
    coverage = instance.coverage
    lower, upper = np.zeros(n), np.ones(n)
    lower[instance.must_visit] = 1.0
    upper[list(instance.forbidden)] = 0.0
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = n, n
    model.col_cost_ = np.ones(n)
    model.col_lower_, model.col_upper_ = lower, upper
    model.integrality_ = [highspy.HighsVarType.kInteger] * n
    model.row_lower_, model.row_upper_ = np.ones(n), np.full(n, highspy.kHighsInf)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = coverage.covered_by_start.astype(np.int32)
    model.a_matrix_.index_ = coverage.covered_by
    model.a_matrix_.value_ = np.ones(len(coverage.covered_by))
    solver = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("random_seed", 0)):
        solver.setOptionValue(option, value)
    solver.passModel(model)

    def look_at_clock(kind: Any, message: str, seen: Any, answer: Any, more: Any) -> None:
        answer.user_interrupt = clock.over

    solver.setCallback(look_at_clock, None)
    for interrupt in ("kCallbackMipInterrupt", "kCallbackSimplexInterrupt"):
        solver.startCallback(getattr(highspy.cb.HighsCallbackType, interrupt))
    fewest = n
    for _ in range(MOST_COVERS):
        if clock.seconds_left < float("inf"):
            # HiGHS counts the time of all its runs together.
            limit = solver.getRunTime() + max(clock.seconds_left, 0.0)
            solver.setOptionValue("time_limit", limit)
        solver.run()
        if (
            solver.getInfo().primal_solution_status
            != highspy.SolutionStatus.kSolutionStatusFeasible
        ):
            return
        cover = np.flatnonzero(np.array(solver.getSolution().col_value) > 0.5)
        if len(cover) > fewest:
            return
        yield cover
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return
        fewest = len(cover)
        # The next cover must leave out at least one of these stops.
        solver.addRow(
            -highspy.kHighsInf, fewest - 1.0, fewest, cover.astype(np.int32), np.ones(fewest)
        )
