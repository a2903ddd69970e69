"""gapfill: an integer program that fills the gaps of a tour from which stops were removed.

The rest of the tour keeps its order, and its gaps are where places may go. A column is a sequence
of one or two places, put into a gap (a, b) at the cost d(a, first) + inside + d(last, b) - d(a, b).
A gap takes at most one column, a place is in at most one, and what the rest does not cover must be
covered. The removed sequences are columns too, so that this can be done at the cost it had.

Columns of one place are there from the start, those of two are priced by the linear relaxation.
When that is optimal, all whose reduced cost could still lead to a shorter tour are added before
HiGHS solves the integer program, so that nothing is missed among the NEAR_GAP places that are
looked at for each gap. Often the relaxation alone shows that there is nothing shorter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.solving.clock import Clock

BoolArray = npt.NDArray[np.bool_]

NEAR_GAP = 50
"""A gap takes places from this many that cost least there."""

PRICED = 4
"""Pairs that enter the relaxation for each gap in a round."""

MOST_ROUNDS, MOST_PAIRS, MOST_NODES, MOST_REPEATS = 40, 4_000, 200, 5
"""Limits: rounds of pricing, pairs added at the end, nodes of the tree, programs solved again as
they used a place twice."""

TOUR_SIZE = 10_000.0
"""Lengths are scaled so that the tour is this long, whatever the unit."""

SHORTER = 1e-6
"""Of scaled lengths: what counts as shorter, and as a negative reduced cost."""


class Gaps(NamedTuple):
    """Where places may go, and what that costs; lengths are scaled.

    ``begin``, ``end``: int64[g], the stops around each gap; ``before``: for each gap the sequence
    that was there, int64; ``places``: int64[m], the candidates; ``covers``: bool[m, u], which of
    the uncovered places each covers; ``near``: int64[g, w], the candidates of each gap by their
    row; ``single``: float64[g, w], what each costs alone; ``pair``: float64[g, w, w], what two cost
    in that order, infinite for a place twice and for the longer of the two orders.
    """

    begin: IntArray
    end: IntArray
    before: list[IntArray]
    places: IntArray
    covers: BoolArray
    near: IntArray
    single: FloatArray
    pair: FloatArray


class Columns:
    """The columns of the program in HiGHS: ``gap`` and ``sequence``, int64, of each."""

    def __init__(self, gaps: Gaps, needy: int) -> None:
        import highspy

        many = len(gaps.begin)
        self.gaps = gaps
        self.needy = needy
        self.gap: list[int] = []
        self.sequence: list[IntArray] = []
        self.highs: Any = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("random_seed", 0),
            ("presolve", "off"),
            ("mip_rel_gap", 0.0),
            ("mip_max_nodes", MOST_NODES),
        ):
            self.highs.setOptionValue(option, value)
        infinite = highspy.kHighsInf
        lower = np.concatenate([np.full(many, -infinite), np.ones(needy)])
        upper = np.concatenate([np.ones(many), np.full(needy, infinite)])
        none = np.empty(0, dtype=np.int32)
        self.highs.addRows(
            many + needy, lower, upper, 0, np.zeros(many + needy, np.int32), none, np.empty(0)
        )

    def add(
        self, cost: FloatArray, gap: IntArray, covers: BoolArray, sequences: list[IntArray]
    ) -> None:
        """Add columns: float64[c], int64[c], bool[c, u], and their places."""
        many = len(cost)
        dense = np.zeros((many, len(self.gaps.begin) + self.needy), dtype=np.bool_)
        dense[np.arange(many), gap] = True
        dense[:, len(self.gaps.begin) :] = covers
        column, row = np.nonzero(dense)
        start = np.searchsorted(column, np.arange(many)).astype(np.int32)
        self.highs.addCols(
            many,
            cost,
            np.zeros(many),
            np.ones(many),
            len(row),
            start,
            row.astype(np.int32),
            np.ones(len(row)),
        )
        self.gap += gap.tolist()
        self.sequence += sequences

    def add_pairs(self, chosen: IntArray) -> None:
        """Add pairs, int64[c], given by their place in the flat ``gaps.pair``."""
        gap, one, other = np.unravel_index(chosen, self.gaps.pair.shape)
        one, other = self.gaps.near[gap, one], self.gaps.near[gap, other]
        covers = self.gaps.covers[one] | self.gaps.covers[other]
        sequences = list(self.gaps.places[np.stack([one, other], axis=1)])
        self.add(self.gaps.pair.ravel()[chosen], gap, covers, sequences)


def fill_gaps(
    instance: Instance, clock: Clock, places: IntArray, removed: BoolArray, window: BoolArray
) -> IntArray | None:
    """A shorter tour than ``places``, int64[m], that differs in the removed stops only; or None.

    removed: bool[m], some stops but not all; window: bool[m], the stops whose gaps may be filled.
    """
    length = instance.length(places)
    scale = TOUR_SIZE / length if length > 0.0 else 0.0
    if not removed.any() or not 0.0 < scale < np.inf:
        return None
    kept = np.flatnonzero(~removed)
    uncovered = np.flatnonzero(~instance.covered(places[kept]))
    gaps = _gaps(instance, places, kept, window, uncovered, scale)
    columns = Columns(gaps, len(uncovered))
    now = _add_first_columns(columns, instance, uncovered, scale)
    if not _price(columns, clock, now):
        return None
    chosen = _solve(columns, clock, now)
    if chosen is None:
        return None
    filled = {int(gaps.begin[gap]): sequence for gap, sequence in chosen}
    parts = [[stop, *filled.get(stop, ())] for stop in places[kept].tolist()]
    found = np.array([stop for part in parts for stop in part], dtype=np.int64)
    return found if instance.length(found) < length * (1.0 - 1e-9) else None


def _gaps(
    instance: Instance,
    places: IntArray,
    kept: IntArray,
    window: BoolArray,
    uncovered: IntArray,
    scale: float,
) -> Gaps:
    """The gaps between the ``kept`` stops of a tour, int64, beside a stop in the window."""
    after = np.roll(kept, -1)
    inside = (after - kept - 1) % len(places)  # a single stop has a gap to itself
    used = window[kept] | window[after] | (inside > 0)
    kept, after, inside = kept[used], after[used], inside[used]
    before = [
        places[(first + 1 + np.arange(many)) % len(places)]
        for first, many in zip(kept, inside, strict=True)
    ]
    table = instance.coverage
    coverers = [
        table.covered_by[table.covered_by_start[j] : table.covered_by_start[j + 1]]
        for j in uncovered
    ]
    candidates = np.unique(np.concatenate([*coverers, np.empty(0, np.int32)])).astype(np.int64)
    covers = np.zeros((len(candidates), len(uncovered)), dtype=np.bool_)
    for column, those in enumerate(coverers):
        covers[np.searchsorted(candidates, those), column] = True
    begin, end = places[kept], places[after]
    there = scale * instance.distances(begin[:, None], candidates)
    back = scale * instance.distances(candidates, end[:, None])
    direct = scale * instance.distances(begin, end)
    single = there + back - direct[:, None]
    near = np.argsort(single, axis=1, kind="stable")[:, :NEAR_GAP]
    row = np.arange(len(begin))[:, None]
    one, other = near[:, :, None], near[:, None, :]
    pair = scale * instance.distances(candidates[one], candidates[other])
    pair += there[row, near][:, :, None] + back[row, near][:, None, :] - direct[:, None, None]
    turned = pair.transpose(0, 2, 1)
    longer = (one == other) | (pair > turned) | ((pair == turned) & (one > other))
    pair = np.where(longer, np.inf, pair)
    return Gaps(begin, end, before, candidates, covers, near, single[row, near], pair)


def _add_first_columns(
    columns: Columns, instance: Instance, uncovered: IntArray, scale: float
) -> float:
    """Add the removed sequences and the columns of one place; what the sequences cost together."""
    gaps = columns.gaps
    held = [gap for gap, sequence in enumerate(gaps.before) if len(sequence)]
    cost = np.array([_cost(instance, gaps, gap) for gap in held]) * scale
    covers = [instance.covered(gaps.before[gap])[uncovered] for gap in held]
    columns.add(cost, np.array(held), np.array(covers), [gaps.before[gap] for gap in held])
    wide = gaps.near.shape[1]
    gap = np.repeat(np.arange(len(gaps.begin)), wide)
    alone = gaps.near.ravel()
    if len(alone):
        sequences = list(gaps.places[alone][:, None])
        columns.add(gaps.single.ravel(), gap, gaps.covers[alone], sequences)
    return float(cost.sum())


def _cost(instance: Instance, gaps: Gaps, gap: int) -> float:
    """What the sequence that was in a gap costs there."""
    way = np.concatenate([gaps.begin[[gap]], gaps.before[gap], gaps.end[[gap]]])
    direct = instance.distances(gaps.begin[gap], gaps.end[gap])
    return float(instance.distances(way[:-1], way[1:]).sum() - direct)


def _price(columns: Columns, clock: Clock, now: float) -> bool:
    """Add the pairs that could make the tour shorter than it is ``now``; whether that can be."""
    import highspy

    gaps, highs = columns.gaps, columns.highs
    covers = gaps.covers.astype(np.float64)
    one, other = gaps.near[:, :, None], gaps.near[:, None, :]
    inside = np.zeros(gaps.pair.size, dtype=np.bool_)
    for _ in range(MOST_ROUNDS):
        if clock.over:
            return False
        highs.run()
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return False
        bound = highs.getInfo().objective_function_value
        dual = np.array(highs.getSolution().row_dual)
        gap_dual, cover_dual = dual[: len(gaps.begin)], dual[len(gaps.begin) :]
        worth = covers @ cover_dual
        both = np.einsum("iu,ju,u->ij", covers, covers, cover_dual)  # what two cover counts once
        reduced = gaps.pair - gap_dual[:, None, None] + both[one, other]
        reduced -= worth[one] + worth[other]
        flat = reduced.reshape(len(gaps.begin), -1)
        few = min(PRICED, flat.shape[1])
        if few == 0:
            break
        best = np.argpartition(flat, few - 1, axis=1)[:, :few]
        enter = (best + flat.shape[1] * np.arange(len(flat))[:, None]).ravel()
        enter = enter[flat.ravel()[enter] < -SHORTER]
        if len(enter) == 0:
            break
        inside[enter] = True
        columns.add_pairs(enter)
    if bound >= now - SHORTER:
        return False
    rest = np.flatnonzero((flat.ravel() < now - bound) & ~inside)
    rest = rest[np.argsort(flat.ravel()[rest], kind="stable")][:MOST_PAIRS]
    if len(rest):
        columns.add_pairs(rest)
    return True


def _solve(columns: Columns, clock: Clock, now: float) -> list[tuple[int, IntArray]] | None:
    """The columns of the cheapest choice, as gaps and sequences; None where it is not cheaper."""
    import highspy

    highs = columns.highs
    many = len(columns.gap)
    kind = np.full(many, highspy.HighsVarType.kInteger.value, dtype=np.uint8)
    highs.changeColsIntegrality(many, np.arange(many, dtype=np.int32), kind)
    highs.setOptionValue("objective_bound", now - SHORTER)
    highs.setOptionValue("presolve", "choose")
    for _ in range(MOST_REPEATS):
        if clock.over:
            return None
        if clock.seconds_left < float("inf"):
            highs.setOptionValue("time_limit", highs.getRunTime() + clock.seconds_left)
        highs.run()
        status = highs.getInfo().primal_solution_status
        if status != highspy.SolutionStatus.kSolutionStatusFeasible:
            return None
        used = np.flatnonzero(np.array(highs.getSolution().col_value) > 0.5)
        visited = np.concatenate([columns.sequence[column] for column in used])
        twice = np.flatnonzero(np.bincount(visited) > 1)
        if len(twice) == 0:
            return [(columns.gap[column], columns.sequence[column]) for column in used]
        for place in twice:  # this was left out so far
            those = [c for c in range(many) if place in columns.sequence[c]]
            highs.addRow(
                -highspy.kHighsInf,
                1.0,
                len(those),
                np.array(those, dtype=np.int32),
                np.ones(len(those)),
            )
    return None
