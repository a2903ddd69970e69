"""The covering salesman with one-way streets as an integer program, kept in HiGHS.

The variables are those of :mod:`covertour.exact.formulation`, but x_a for every arc from one
allowed place to another (1 where the tour runs along it) instead of every pair:

    minimise    sum of c_a x_a + sum of v_i y_i
    subject to  x(δ+(i)) = x(δ-(i)) = y_i             for every place i,
                y(T) >= need or need z                for every set T of coverers,
                y(all places) >= 3,
                sum of w_k z_k >= least               where there is a quota,
                x(δ+(S)) >= y_i + y_j - 1             for every S with i in S and j not in S,
                x, y, z in {0, 1}.

With a budget B the weight left out, the sum of w_k (1 - z_k), is minimised instead, subject to

                sum of c_a x_a + sum of v_i y_i <= B.

The cuts are stronger where every tour has a stop on one side of S, and ask for 1 where it has one
on both: see :func:`cut_around`. An open tour is one through the joint, which costs nothing to leave
for and to come from. Tours of one and two stops are looked up.

Few arcs are in the program at first; the others are priced. As in
:mod:`covertour.exact.relaxation` elastic columns keep it feasible whatever arcs are missing: a loop
at each place, and one that overruns the budget, each at a price no tour would pay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from covertour.exact.basis import new_solver
from covertour.exact.cuts import Cut, make_cut
from covertour.exact.formulation import BUDGET_SLACK, Problem
from covertour.exact.incumbent import Incumbent
from covertour.exact.relaxation import BUDGET_SIZE, TOUR_SIZE, power_of_two
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

Side = npt.NDArray[np.bool_]
"""bool[nodes]: which nodes are on one side of a cut."""

NEIGHBOURS = 10
"""Arcs out of and into each place that the program starts with."""

WHOLE = 1e-6
"""A value this near to a whole number is one."""

ATTRACTIVE = -1e-6
"""A missing arc enters when its reduced cost is below this, scaled."""


ELASTIC = 1e-6
"""A program that uses less than this of its elastic columns uses none."""

ELASTIC_GROWTH, MOST_ELASTIC_COST = 16.0, 1e9
"""The cost of elastic columns is raised by this factor, and not above this, scaled."""


class Program:
    """The linear program of an instance, and its solution.

    ``problem``: the instance as tours without direction see it. Values are scaled by ``scale``,
    lengths by ``length_scale``, which is another one where a budget limits them. ``cost``:
    float64[nodes, nodes], scaled lengths, inf where no arc is. Columns are the switches, the
    elastic ones and the arcs. After :meth:`solve`: ``y`` float64[nodes], ``z``, ``x`` float64[arcs]
    along ``tail`` and ``head``, int64[arcs], ``elastic``, the sum of those columns, and the
    ``value``, scaled.
    """

    def __init__(self, instance: Instance, problem: Problem, incumbent: Incumbent) -> None:
        self.instance, self.problem = instance, problem
        self.nodes, self.allowed, self.forced = problem.n, problem.allowed, problem.forced
        self.hit = problem.in_sure_set
        self.scale = self.length_scale = power_of_two(TOUR_SIZE, incumbent.value)
        most, self.constant = incumbent.cost, 0.0
        if problem.budget is not None:
            most = problem.budget * (1.0 + BUDGET_SLACK)
            self.length_scale = power_of_two(BUDGET_SIZE, most or 1.0)
            self.constant = (float(problem.weight.sum()) + problem.lost) * self.scale
        self.cost = self._lengths(most) * self.length_scale
        self.elastic_cost = incumbent.value * self.scale
        self.first_elastic = problem.switches
        self.first_arc = self.first_elastic + self.nodes + (problem.budget is not None)
        self.tail = self.head = np.empty(0, dtype=np.int64)
        self.inside = np.zeros((self.nodes, self.nodes), dtype=bool)
        self.cuts: list[Cut] = []
        self.values = self.x = np.empty(0)
        self.y, self.z = np.zeros(self.nodes), np.zeros(len(problem.weight))
        self.dual = np.empty(0)
        self.value, self.elastic = -np.inf, 0.0
        self.feasible = True
        self.highs = new_solver()
        self._build_base()
        self._add_arcs(*self._first_arcs(problem.closed(incumbent.places)))

    def _lengths(self, most: float) -> FloatArray:
        """The length of each arc; no tour that costs at most ``most`` uses a longer one."""
        n, joint = self.instance.n, self.problem.joint
        length = np.full((self.nodes, self.nodes), np.inf)
        everyone = np.arange(n)
        length[:n, :n] = self.instance.distances(everyone[:, None], everyone)
        if joint is not None:
            begin, end = self.problem.begin, self.problem.end
            length[joint, everyone if begin is None else begin] = 0.0
            length[everyone if end is None else end, joint] = 0.0
        np.fill_diagonal(length, np.inf)
        length[~self.allowed] = np.inf
        length[:, ~self.allowed] = np.inf
        length[length > most] = np.inf
        return length

    def _first_arcs(self, tour: IntArray) -> tuple[IntArray, IntArray]:
        """The cheapest arcs out of and into each node, and those of a closed tour."""
        on = np.zeros((self.nodes, self.nodes), dtype=bool)
        for cost, table in ((self.cost, on), (self.cost.T, on.T)):
            few = min(NEIGHBOURS, self.nodes - 1)
            nearest = np.argpartition(cost, few - 1, axis=1)[:, :few]
            table[np.arange(self.nodes)[:, None], nearest] = True
        on[tour, np.roll(tour, -1)] = True
        tail, head = np.nonzero(on & np.isfinite(self.cost))
        return tail.astype(np.int64), head.astype(np.int64)

    def _build_base(self) -> None:
        """The columns that are no arcs, and the rows that are no cuts."""
        from scipy.sparse import coo_matrix

        problem, nodes, sets = self.problem, self.nodes, self.problem.sets
        counted, overrun = len(problem.weight), int(problem.budget is not None)
        switch_cost = np.concatenate([problem.visit * self.scale, np.zeros(counted)])
        if overrun:
            switch_cost = np.concatenate([np.zeros(nodes), -problem.weight * self.scale])
        none = np.empty(0, dtype=np.int32)
        self.highs.addCols(
            self.first_arc,
            np.concatenate([switch_cost, np.full(nodes + overrun, self.elastic_cost)]),
            self._lower(0),
            self._upper(np.empty(0)),
            0,
            np.zeros(self.first_arc, dtype=np.int32),
            none,
            np.empty(0),
        )
        self.highs.changeObjectiveOffset(self.constant)
        node, loop = np.arange(nodes), self.first_elastic + np.arange(nodes)
        optional = np.flatnonzero(problem.optional)
        first_set, three = 2 * nodes, 2 * nodes + sets
        row = [node, node, nodes + node, nodes + node, first_set + problem.set_of_hit]
        column = [node, loop, node, loop, problem.hit]
        value = [-np.ones(nodes), np.ones(nodes)] * 2 + [np.ones(len(problem.hit))]
        row += [first_set + optional, np.full(nodes, three)]
        column += [nodes + problem.z[optional], node]
        value += [-problem.need[optional].astype(np.float64), np.ones(nodes)]
        right = [
            np.zeros(2 * nodes),
            np.where(problem.optional, 0.0, problem.need),
            np.array([3.0]),
        ]
        rows = three + 1
        if problem.least > 0:
            scale = power_of_two(0, float(problem.weight.max()))
            row.append(np.full(counted, rows))
            column.append(nodes + np.arange(counted))
            value.append(problem.weight * scale)
            right.append(np.array([problem.least * scale]))
            rows += 1
        self.budget_row = rows
        if problem.budget is not None:
            row.append(np.full(nodes + 1, rows))
            column.append(np.append(node, self.first_arc - 1))
            value.append(np.append(-problem.visit * self.length_scale, 1.0))
            right.append(np.array([-problem.budget * (1.0 + BUDGET_SLACK) * self.length_scale]))
            rows += 1
        self.base_rows = rows
        table = coo_matrix(
            (np.concatenate(value), (np.concatenate(row), np.concatenate(column))),
            shape=(rows, self.first_arc),
        ).tocsr()
        self.highs.addRows(
            rows,
            np.concatenate(right),
            np.concatenate([np.zeros(2 * nodes), np.full(rows - 2 * nodes, np.inf)]),
            table.nnz,
            table.indptr[:-1].astype(np.int32),
            table.indices.astype(np.int32),
            table.data,
        )

    def _lower(self, arcs: int) -> FloatArray:
        """Lower bounds of all columns, of which so many are arcs."""
        return np.append(
            self.forced.astype(np.float64), np.zeros(self.first_arc - self.nodes + arcs)
        )

    def _upper(self, arcs: FloatArray) -> FloatArray:
        """Upper bounds of all columns, with those of the arcs."""
        ones = np.ones(len(self.problem.weight) + self.nodes)
        overrun = np.full(int(self.problem.budget is not None), np.inf)
        return np.concatenate([self.allowed.astype(np.float64), ones, overrun, arcs])

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
        cost = self.cost[tail, head]
        if self.problem.budget is not None:
            rows.append(np.full(count, self.budget_row))
            arcs.append(np.arange(count))
            weights.append(-cost)
            cost = np.zeros(count)
        table = coo_matrix(
            (np.concatenate(weights), (np.concatenate(rows), np.concatenate(arcs))),
            shape=(self.base_rows + len(self.cuts), count),
        ).tocsc()
        self.highs.addCols(
            count,
            cost,
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
        self.y = self.values[: self.nodes]
        self.z = self.values[self.nodes : self.first_elastic]
        self.x = self.values[self.first_arc :]
        self.elastic = float(self.values[self.first_elastic : self.first_arc].sum())
        self.value = float(self.highs.getInfo().objective_function_value)
        self.dual = np.array(solution.row_dual)
        return True

    def raise_elastic_cost(self) -> bool:
        """Make elastic columns cost more where they are used; False where they cost enough."""
        if self.elastic <= ELASTIC or self.elastic_cost > MOST_ELASTIC_COST:
            return False
        self.elastic_cost *= ELASTIC_GROWTH
        index = np.arange(self.first_elastic, self.first_arc, dtype=np.int32)
        self.highs.changeColsCost(len(index), index, np.full(len(index), self.elastic_cost))
        return True

    @property
    def is_whole(self) -> bool:
        """Whether all values of the solution are whole numbers, but for rounding."""
        return self.elastic <= ELASTIC and not self.fractional(1)

    def fractional(self, most: int) -> list[int]:
        """Columns to branch on, those nearest to one half first: places, else z's, else arcs."""
        away = np.abs(self.values - np.round(self.values))
        kinds = ((0, self.nodes), (self.nodes, self.first_elastic), (self.first_arc, len(away)))
        for first, end in kinds:
            found = np.flatnonzero(away[first:end] > WHOLE) + first
            if len(found):
                return found[np.argsort(-away[found], kind="stable")][:most].tolist()
        return []

    def undecided(self, fixed: Mapping[int, float]) -> list[int]:
        """A column that is not ``fixed`` yet, to branch on where none is fractional."""
        free = self.lower < self.upper
        free[list(fixed)] = False
        free[self.first_elastic : self.first_arc] = False
        return np.flatnonzero(free)[:1].tolist()

    def reduced_costs(self) -> FloatArray:
        """float64[nodes, nodes]: by how much the bound grows with each arc, inf where none is."""
        nodes = self.nodes
        found = self.cost
        if self.problem.budget is not None:  # its row prices lengths
            price = max(float(self.dual[self.budget_row]), 0.0)
            found = np.where(np.isfinite(self.cost), self.cost, 0.0) * price
            found[~np.isfinite(self.cost)] = np.inf
        found = found - self.dual[:nodes, None] - self.dual[nodes : 2 * nodes]
        for cut, dual in zip(self.cuts, self.dual[self.base_rows :], strict=True):
            if dual != 0.0:
                for members, weight in zip(cut.sets, cut.weights, strict=True):
                    found[np.ix_(members, members)] += dual * weight
        return found

    def price(self, most: int) -> int:
        """Put in the arcs that could lower the value, the best of them; how many there were.

        Where there are none, the value is lowered by what those could lower it that are within
        ATTRACTIVE of it: a tour has one arc out of each place at most.
        """
        reduced = self.reduced_costs()
        tail, head = np.nonzero(~self.inside & (reduced < ATTRACTIVE))
        best = np.argsort(reduced[tail, head], kind="stable")[:most]
        self._add_arcs(tail[best], head[best])
        if len(best) == 0:
            self.value += float(np.minimum(reduced.min(axis=1), 0.0).sum())
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
        self.upper = self._upper(wanted[self.tail, self.head].astype(np.float64))
        self.lower = self._lower(len(self.tail))
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
    return make_cut(program.problem.switches, [members], [1.0], terms, wanted)


def violated(program: Program, cut: Cut, least: float) -> bool:
    """Whether the point of the program breaks a cut by more than this."""
    arcs = len(program.x)  # more may have been added since
    tail, head = program.tail[:arcs], program.head[:arcs]
    left = float(program.values[cut.places] @ cut.coefficients)
    for side, weight in program.sides(cut):
        left -= weight * float(program.x[side[tail] & side[head]].sum())
    return left < cut.rhs - least
