"""The covering salesman with one-way streets as an integer program, kept in HiGHS.

It has a variable y_i for every place (1 where it is a stop) and x_a for every arc from one allowed
place to another (1 where the tour runs along it):

    minimise    sum of c_a x_a + sum of v_i y_i
    subject to  x(δ+(i)) = x(δ-(i)) = y_i             for every place i,
                y(coverers of j) >= demand of j        for every place j,
                x(δ+(S)) >= y_i + y_j - 1              for every S with i in S and j not in S,
                x, y in {0, 1}.

The last row is stronger where every tour has a stop on one side of S, and asks for 1 where it has
one on both: see :func:`cut_around`. Where a quota lets places be left out, z_j tells whether j
counts as served. An open tour is one through a further node, ``outside``, that costs nothing to
leave for and to come from. Tours of one stop do not fit and are looked up.

Few arcs are in the program at first; the others are priced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.exact.cuts import Cut, make_cut
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

Side = npt.NDArray[np.bool_]
"""bool[nodes]: which nodes are on one side of a cut."""

NEIGHBOURS = 10
"""Arcs out of and into each place that the program starts with."""

TOUR_SIZE = 13
"""Costs are scaled by a power of two so that the first tour costs about 2 to the power of this."""

LARGEST_POWER = 1_000
"""Of two, to scale by; a little more would be infinite."""

TOLERANCE = 1e-9
"""Of the solver, for values and for reduced costs."""

WHOLE = 1e-6
"""A value this near to a whole number is one."""


class Program:
    """The linear program of an instance, and its solution.

    ``nodes``: the places and, of an open tour, ``outside``. ``cost``: float64[nodes, nodes],
    scaled, inf where no arc is. After :meth:`solve`: ``y`` float64[nodes], ``x`` float64[arcs]
    along ``tail`` and ``head``, int64[arcs], and the ``value``, scaled.
    """

    def __init__(self, instance: Instance, tour: IntArray) -> None:
        self.instance = instance
        self.outside = instance.n if instance.open else None
        self.nodes = instance.n + bool(instance.open)
        self.allowed = np.ones(self.nodes, dtype=bool)
        self.allowed[list(instance.forbidden)] = False
        self.forced = np.zeros(self.nodes, dtype=bool)
        self.forced[instance.must_visit] = True
        if self.outside is not None:
            self.forced[self.outside] = True
        best = instance.cost(tour)
        self.scale = 2.0 ** min(TOUR_SIZE - int(np.ceil(np.log2(best))), LARGEST_POWER)
        self.cost = self._costs(best) * self.scale
        self.visit_cost = np.zeros(self.nodes)
        self.visit_cost[: instance.n] = instance.visit_costs * self.scale
        self.hit = self._sets_to_hit()
        self.tail = self.head = np.empty(0, dtype=np.int64)
        self.inside = np.zeros((self.nodes, self.nodes), dtype=bool)
        self.cuts: list[Cut] = []
        self.values = self.x = np.empty(0)
        self.y = np.zeros(self.nodes)
        self.dual = np.empty(0)
        self.value = -np.inf
        self.feasible = True
        self.highs = self._base()
        self._add_arcs(*self._first_arcs(tour))

    def _costs(self, most: float) -> FloatArray:
        """What each arc costs, before it is scaled; no tour of cost ``most`` uses a dearer one."""
        n = self.instance.n
        cost = np.full((self.nodes, self.nodes), np.inf)
        everyone = np.arange(n)
        cost[:n, :n] = self.instance.distances(everyone[:, None], everyone)
        if self.outside is not None:
            depot, end = self.instance.depot, self.instance.end
            cost[n, everyone if depot is None else depot] = 0.0
            cost[everyone if end is None else end, n] = 0.0
        np.fill_diagonal(cost, np.inf)
        cost[~self.allowed] = np.inf
        cost[:, ~self.allowed] = np.inf
        cost[cost > most] = np.inf
        return cost

    def _sets_to_hit(self) -> npt.NDArray[np.bool_]:
        """bool[sets, nodes]: sets of which every tour has a stop."""
        instance, coverage = self.instance, self.instance.coverage
        rows = [np.eye(self.nodes, dtype=bool)[self.forced]]
        if not instance.partial:
            table = np.zeros((instance.n, self.nodes), dtype=bool)
            place = np.repeat(np.arange(instance.n), np.diff(coverage.covered_by_start))
            table[place, coverage.covered_by] = True
            rows.append(np.unique(table[instance.demands > 0], axis=0))
        return np.concatenate(rows)

    def _first_arcs(self, tour: IntArray) -> tuple[IntArray, IntArray]:
        """The cheapest arcs out of and into each node, and those of a tour."""
        on = np.zeros((self.nodes, self.nodes), dtype=bool)
        for cost, table in ((self.cost, on), (self.cost.T, on.T)):
            few = min(NEIGHBOURS, self.nodes - 1)
            nearest = np.argpartition(cost, few - 1, axis=1)[:, :few]
            table[np.arange(self.nodes)[:, None], nearest] = True
        ring = tour if self.outside is None else np.append(tour, self.outside)
        on[ring, np.roll(ring, -1)] = True
        tail, head = np.nonzero(on & np.isfinite(self.cost))
        return tail.astype(np.int64), head.astype(np.int64)

    def _base(self) -> Any:
        """HiGHS with the columns of places and the rows that are no cuts."""
        import highspy

        highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("solver", "simplex"),
            ("threads", 1),
            ("primal_feasibility_tolerance", TOLERANCE),
            ("dual_feasibility_tolerance", TOLERANCE),
        ):
            highs.setOptionValue(option, value)
        n, nodes = self.instance.n, self.nodes
        self.counted = n if self.instance.quota is not None else 0
        columns = nodes + self.counted
        none = np.empty(0, dtype=np.int32)
        highs.addCols(
            columns,
            np.concatenate([self.visit_cost, np.zeros(self.counted)]),
            np.concatenate([self.forced.astype(np.float64), np.zeros(self.counted)]),
            np.concatenate([self.allowed.astype(np.float64), np.ones(self.counted)]),
            0,
            np.zeros(columns, dtype=np.int32),
            none,
            np.empty(0),
        )
        for _ in ("out of", "into"):
            for node in range(nodes):
                highs.addRow(0.0, 0.0, 1, np.array([node], dtype=np.int32), np.array([-1.0]))
        coverage, demands = self.instance.coverage, self.instance.demands
        for place in range(n):
            by = coverage.covered_by_of(place)
            if demands[place] == 0:
                continue
            if self.counted:
                index = np.append(by, nodes + place).astype(np.int32)
                weight = np.append(np.ones(len(by)), -float(demands[place]))
                highs.addRow(0.0, np.inf, len(index), index, weight)
            else:
                index = by.astype(np.int32)
                highs.addRow(float(demands[place]), np.inf, len(index), index, np.ones(len(by)))
        if self.counted:
            index = np.arange(nodes, nodes + n, dtype=np.int32)
            least = self.instance.quota_weight * (1.0 - 1e-9)
            highs.addRow(least, np.inf, n, index, np.asarray(self.instance.weights))
        self.base_rows = highs.getNumRow()
        return highs

    def _add_arcs(self, tail: IntArray, head: IntArray) -> None:
        """Put arcs into the program."""
        from scipy.sparse import coo_matrix

        count = len(tail)
        if count == 0:
            return
        rows = [tail, self.nodes + head]
        arcs = [np.arange(count), np.arange(count)]
        weights = [np.ones(count), np.ones(count)]
        for number, cut in enumerate(self.cuts):
            for side, weight in self.sides(cut):
                within = np.flatnonzero(side[tail] & side[head])
                rows.append(np.full(len(within), self.base_rows + number))
                arcs.append(within)
                weights.append(np.full(len(within), -weight))
        table = coo_matrix(
            (np.concatenate(weights), (np.concatenate(rows), np.concatenate(arcs))),
            shape=(self.base_rows + len(self.cuts), count),
        ).tocsc()
        self.highs.addCols(
            count,
            self.cost[tail, head],
            np.zeros(count),
            np.ones(count),
            table.nnz,
            table.indptr[:-1].astype(np.int32),
            table.indices.astype(np.int32),
            table.data,
        )
        self.inside[tail, head] = True
        self.tail = np.concatenate([self.tail, tail])
        self.head = np.concatenate([self.head, head])

    def add_cut(self, cut: Cut) -> None:
        """Put a cut into the program."""
        arcs = np.zeros(len(self.tail))
        for side, weight in self.sides(cut):
            arcs[side[self.tail] & side[self.head]] -= weight
        within = np.flatnonzero(arcs)
        index = np.concatenate([cut.places, self.first_arc + within]).astype(np.int32)
        value = np.concatenate([cut.coefficients, arcs[within]])
        self.highs.addRow(cut.rhs, np.inf, len(index), index, value)
        self.cuts.append(cut)

    def sides(self, cut: Cut) -> Iterator[tuple[Side, float]]:
        """The sets of a cut and their weights."""
        for members, weight in zip(cut.sets, cut.weights, strict=True):
            side = np.zeros(self.nodes, dtype=bool)
            side[members] = True
            yield side, weight

    def drop_idle_cuts(self) -> None:
        """Take out the cuts that did not hold the last solution back."""
        dual = self.dual[self.base_rows :]
        idle = np.flatnonzero(dual == 0.0)
        self.highs.deleteRows(len(idle), (self.base_rows + idle).astype(np.int32))
        self.cuts = [cut for cut, price in zip(self.cuts, dual, strict=False) if price != 0.0]
        self.dual = np.concatenate([self.dual[: self.base_rows], dual[dual != 0.0]])

    @property
    def first_arc(self) -> int:
        """The column of the first arc."""
        return self.nodes + self.counted

    def solve(self, seconds: float) -> bool:
        """Solve the relaxation with its arcs; False where there is no solution, or no time."""
        import highspy

        end = self.highs.getRunTime() + max(seconds, 0.01)
        self.highs.setOptionValue("time_limit", end)
        self.highs.run()
        done = highspy.HighsModelStatus.kOptimal
        if self.highs.getModelStatus() != done and self.highs.getRunTime() < end:
            self.highs.clearSolver()  # the last basis may have led it astray
            self.highs.run()
        self.feasible = self.highs.getModelStatus() != highspy.HighsModelStatus.kInfeasible
        if self.highs.getModelStatus() != done:
            return False
        solution = self.highs.getSolution()
        self.values = np.array(solution.col_value)
        self.y, self.x = self.values[: self.nodes], self.values[self.first_arc :]
        self.value = float(self.highs.getInfo().objective_function_value)
        self.dual = np.array(solution.row_dual)
        return True

    @property
    def is_whole(self) -> bool:
        """Whether all values of the solution are whole numbers, but for rounding."""
        return bool(np.abs(self.values - np.round(self.values)).max() <= WHOLE)

    def fractional(self, most: int) -> list[int]:
        """Columns to branch on, those nearest to one half first; arcs only if there is no other."""
        away = np.abs(self.values - np.round(self.values))
        for columns in (slice(0, self.first_arc), slice(self.first_arc, None)):
            found = np.flatnonzero(away[columns] > WHOLE) + (columns.start or 0)
            if len(found):
                return found[np.argsort(-away[found], kind="stable")][:most].tolist()
        return []

    def reduced_costs(self) -> FloatArray:
        """float64[nodes, nodes]: by how much the bound grows with each arc, inf where none is."""
        nodes = self.nodes
        found = self.cost - self.dual[:nodes, None] - self.dual[nodes : 2 * nodes]
        for cut, dual in zip(self.cuts, self.dual[self.base_rows :], strict=True):
            if dual != 0.0:
                for members, weight in zip(cut.sets, cut.weights, strict=True):
                    found[np.ix_(members, members)] += dual * weight
        return found

    def price(self, most: int) -> int:
        """Put in the arcs that could lower the value, the best of them; how many there were."""
        reduced = np.where(self.inside, np.inf, self.reduced_costs())
        tail, head = np.nonzero(reduced < -1e-6)
        best = np.argsort(reduced[tail, head], kind="stable")[:most]
        self._add_arcs(tail[best], head[best])
        return len(best)

    def fix(self, columns: Mapping[int, float]) -> None:
        """Give these columns one value each, and all others their bounds back."""
        index = np.arange(self.highs.getNumCol(), dtype=np.int32)
        lower, upper = self.lower.copy(), self.upper.copy()
        for column, value in columns.items():
            lower[column] = upper[column] = value
        self.highs.changeColsBounds(len(index), index, lower, upper)

    def keep_only(self, wanted: npt.NDArray[np.bool_]) -> None:
        """Let the program have exactly these arcs, bool[nodes, nodes]."""
        tail, head = np.nonzero(wanted & ~self.inside)
        self._add_arcs(tail, head)
        counted = np.ones(self.counted)
        arcs = wanted[self.tail, self.head].astype(np.float64)
        self.upper = np.concatenate([self.allowed.astype(np.float64), counted, arcs])
        self.lower = np.zeros(len(self.upper))
        self.lower[: self.nodes] = self.forced
        self.fix({})


def cut_around(program: Program, side: Side, y: FloatArray) -> Cut:
    """The strongest inequality that holds for tours across the border of a side.

    Where every tour has a stop inside (it must hit a set that lies there) and one outside, it
    leaves at least once. With such a set only outside it leaves if it stops at i inside; with one
    only inside, if it stops at j outside; otherwise if it stops at both.
    """
    always_inside = bool(np.all(side | ~program.hit, axis=1).any())
    always_outside = bool(np.all(~side | ~program.hit, axis=1).any())
    if 2 * side.sum() > program.nodes:  # as many arcs leave a side as enter it
        side = ~side
        always_inside, always_outside = always_outside, always_inside
    members = np.flatnonzero(side)
    terms = [(members, 1.0)]  # x(δ+(S)) is y(S) - x(arcs within S)
    wanted = 1.0
    for always, here in ((always_inside, side), (always_outside, ~side)):
        if not always:
            among = np.flatnonzero(here)
            terms.append((among[[np.argmax(y[among])]], -1.0))
            wanted -= 1.0
    return make_cut(program.nodes, [members], [1.0], terms, wanted)


def violated(program: Program, cut: Cut, least: float) -> bool:
    """Whether the point of the program breaks a cut by more than this."""
    arcs = len(program.x)  # more may have been added since
    tail, head = program.tail[:arcs], program.head[:arcs]
    left = float(program.y[cut.places] @ cut.coefficients)
    for side, weight in program.sides(cut):
        left -= weight * float(program.x[side[tail] & side[head]].sum())
    return left < cut.rhs - least
