"""Relaxation: the linear program of the proof, kept in HiGHS.

Columns are the switches (y of the places, in order, then z), an elastic one for each place (see
below), and the pairs that the program has so far (x). Rows are the degrees, the sets of coverers,
"at least three stops", the quota and the budget where there are such, and the cuts. All lengths are
scaled by a power of two, which rounds nothing, so that the tolerances of the solver mean the same
on every instance.

The elastic column of place i satisfies its degree without any pair, at a price no tour would pay.
With it the program stays feasible whatever pairs are missing and whatever branching has fixed, so a
node without a tour shows up as one with a high bound, and that bound is proven like any other. A
budget has an elastic column too, which spends more.
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np

from covertour.exact.basis import (
    BASIC,
    LOWER,
    TOLERANCE,
    Basis,
    is_optimal,
    new_solver,
    set_states,
    states,
)
from covertour.exact.cuts import Cut, CutPool, FlatCuts, flatten, sets_around_pairs
from covertour.exact.formulation import BUDGET_SLACK, Pairs, Problem
from covertour.exact.point import Point, make_point
from covertour.problem.metric import FloatArray, IntArray

TOUR_SIZE = 13
"""Values are scaled so that that of the first tour is about 2 to the power of this."""

BUDGET_SIZE = 4
"""Where a budget limits them, lengths are scaled so that it is about 2 to the power of this."""

LARGEST_POWER = 1_000
"""Of two, to scale by; a little more would be infinite."""

MOST_STEPS = 2_000_000
"""Steps of the simplex method that no solve should need."""

LEAST_SECONDS = 0.01
"""A solve is given this much time at least."""

RETRY_FROM = 0.1
"""With less time left than this a solve that failed is not tried again."""

ELASTIC_GROWTH = 16.0
"""The cost of elastic columns is raised by this factor."""

ATTRACTIVE = -1e-6
"""A missing pair enters when its reduced cost is below this, in scaled lengths."""


class Relaxation:
    """The linear program and its solution.

    It begins with some ``edges``; ``longest``: the value of a tour (see
    :mod:`covertour.exact.incumbent`), by which values are scaled. After :meth:`solve`: ``y``
    float64[switches], ``x`` float64[edges] along the pairs ``edge_u``, ``edge_v`` int32[edges],
    ``elastic`` the sum of the elastic columns, ``objective`` the scaled value, ``optimal`` whether
    the solver says so. ``pair_u``, ``pair_v``, ``pair_cost``, ``pair_column`` describe all pairs
    still possible; their cost is the length times ``length_scale``, which is ``scale`` unless a
    budget limits lengths; the column is -1 for those not in the program. ``pool`` has all cuts;
    ``rows``: the numbers of those that are in the program, in the order of their rows; ``idle``:
    for how many solves each of them has not been tight.
    """

    def __init__(self, problem: Problem, edges: Pairs, longest: float) -> None:
        self.problem = problem
        n = self.n = problem.n
        self.scale = self.length_scale = power_of_two(TOUR_SIZE, longest)
        if problem.budget is not None:
            finite = problem.distance[np.isfinite(problem.distance)]
            self.length_scale = power_of_two(BUDGET_SIZE, problem.budget or finite.max() or 1.0)
        self.constant = 0.0
        if problem.budget is not None:
            self.constant = (float(problem.weight.sum()) + problem.lost) * self.scale
        self.elastic_cost = longest * self.scale
        optional = len(problem.weight)
        self.y_lower = np.append(problem.forced.astype(np.float64), np.zeros(optional))
        self.y_upper = np.append(problem.allowed.astype(np.float64), np.ones(optional))
        self.first_elastic = problem.switches
        self.first_edge = self.first_elastic + n + (problem.budget is not None)
        self.edge_u = np.empty(0, dtype=np.int32)
        self.edge_v = np.empty(0, dtype=np.int32)
        self.edge_lower = np.empty(0)
        self.edge_upper = np.empty(0)
        # There may be millions of pairs, so half as much memory counts.
        places = np.flatnonzero(problem.allowed).astype(np.int32)
        later = [places[first:] for first in range(1, len(places) + 1)]
        self.pair_u = np.repeat(places, [len(others) for others in later])
        self.pair_v = np.concatenate(later)
        self.pair_cost = np.concatenate(
            [problem.distance[u, others] for u, others in zip(places, later, strict=True)]
        )
        self.pair_cost *= self.length_scale
        self.pair_column = np.full(len(self.pair_u), -1, dtype=np.int32)
        self.pool = CutPool()
        self.rows: list[int] = []
        self.idle: list[int] = []
        self.quota_row = n + problem.sets + 1
        self.budget_row = self.quota_row + (problem.least > 0)
        self.base_rows = self.budget_row + (problem.budget is not None)
        self._flat: FlatCuts | None = None

        self.highs: Any = new_solver()
        self.row_dual = np.zeros(self.base_rows)
        self._build_base()
        impossible = ~np.isfinite(self.pair_cost)
        if impossible.any():
            self.forget_pairs(impossible)
        keys = self.pair_u.astype(np.int64) * n + self.pair_v
        self.add_pairs(np.searchsorted(keys, np.sort(edges[0] * n + edges[1])))

    def _build_base(self) -> None:
        """The columns of switches, elastic ones, and the rows that are no cuts."""
        problem, n, switches = self.problem, self.n, self.problem.switches
        none = np.empty(0, dtype=np.int32)
        overrun = int(problem.budget is not None)
        cost = np.concatenate([self.switch_cost, np.full(n + overrun, self.elastic_cost)])
        lower = np.concatenate([self.y_lower, np.zeros(n + overrun)])
        upper = np.concatenate([self.y_upper, np.ones(n), np.full(overrun, np.inf)])
        start = np.zeros(len(cost), dtype=np.int32)
        self.highs.addCols(len(cost), cost, lower, upper, 0, start, none, np.empty(0))
        self.highs.changeObjectiveOffset(self.constant)

        optional = np.flatnonzero(problem.optional)
        in_place = np.arange(n)
        row = [np.repeat(in_place, 2), n + problem.set_of_hit, n + optional]
        row += [np.full(n, n + problem.sets)]
        column = [np.stack([in_place, switches + in_place], axis=1).ravel(), problem.hit]
        column += [n + problem.z[optional], in_place]
        value = [np.tile([-2.0, 2.0], n), np.ones(len(problem.hit))]
        value += [-problem.need[optional].astype(np.float64), np.ones(n)]
        right = [np.zeros(n), self.hit_right, np.array([3.0])]
        if problem.least > 0:
            row.append(np.full(len(problem.weight), self.quota_row))
            column.append(n + np.arange(len(problem.weight)))
            value.append(self.quota_weight)
            right.append(np.array([self.quota_right]))
        if problem.budget is not None:
            row.append(np.full(n + 1, self.budget_row))
            column.append(np.append(in_place, self.first_edge - 1))
            value.append(np.append(-problem.visit * self.length_scale, 1.0))
            right.append(np.array([self.budget_right]))
        from scipy.sparse import coo_matrix

        table = coo_matrix(
            (np.concatenate(value), (np.concatenate(row), np.concatenate(column))),
            shape=(self.base_rows, len(cost)),
        ).tocsr()
        row_lower = np.concatenate(right)
        row_upper = np.concatenate([np.zeros(n), np.full(self.base_rows - n, np.inf)])
        self.highs.addRows(
            len(row_lower),
            row_lower,
            row_upper,
            table.nnz,
            table.indptr[:-1].astype(np.int32),
            table.indices.astype(np.int32),
            table.data,
        )

    @cached_property
    def switch_cost(self) -> FloatArray:
        """float64[switches]: what each switch adds to the objective, scaled."""
        problem = self.problem
        if problem.budget is not None:
            return np.concatenate([np.zeros(self.n), -problem.weight * self.scale])
        return np.concatenate([problem.visit * self.scale, np.zeros(len(problem.weight))])

    @cached_property
    def hit_right(self) -> FloatArray:
        """float64[sets]: the right sides of the rows of the sets."""
        return np.where(self.problem.optional, 0.0, self.problem.need)

    @cached_property
    def _quota_scale(self) -> float:
        return power_of_two(0, float(self.problem.weight.max()))

    @cached_property
    def quota_weight(self) -> FloatArray:
        """float64[m]: the coefficients of the quota's row."""
        return self.problem.weight * self._quota_scale

    @property
    def quota_right(self) -> float:
        """The right side of the quota's row."""
        return self.problem.least * self._quota_scale

    @property
    def budget_right(self) -> float:
        """The right side of the budget's row, which says: minus the cost is at least this."""
        assert self.problem.budget is not None
        return -self.problem.budget * (1.0 + BUDGET_SLACK) * self.length_scale

    # --- columns ---------------------------------------------------------------------------

    def add_pairs(self, which: IntArray) -> None:
        """Put the pairs with these numbers into the program."""
        if len(which) == 0:
            return
        u, v = self.pair_u[which], self.pair_v[which]
        self.pair_column[which] = len(self.edge_u) + np.arange(len(which))
        edge = np.arange(len(which))
        of_edge, of_row, weight = [edge, edge], [u, v], [np.ones(len(which))] * 2
        if self.problem.budget is not None:
            of_edge.append(edge)
            of_row.append(np.full(len(which), self.budget_row))
            weight.append(-self.pair_cost[which])
        if self.rows:
            flat = self.flat_cuts()
            e, k = sets_around_pairs(u, v, flat.sets)
            of_edge.append(e)
            of_row.append(self.base_rows + flat.set_row[k])
            weight.append(-flat.set_weight[k])
        from scipy.sparse import coo_matrix

        rows = self.base_rows + len(self.rows)
        table = coo_matrix(
            (np.concatenate(weight), (np.concatenate(of_row), np.concatenate(of_edge))),
            shape=(rows, len(which)),
        ).tocsc()
        table.sum_duplicates()
        count = len(which)
        counts = self.problem.budget is None
        self.highs.addCols(
            count,
            self.pair_cost[which] if counts else np.zeros(count),
            np.zeros(count),
            np.ones(count),
            table.nnz,
            table.indptr[:-1].astype(np.int32),
            table.indices.astype(np.int32),
            table.data,
        )
        self.edge_u = np.concatenate([self.edge_u, u])
        self.edge_v = np.concatenate([self.edge_v, v])
        self.edge_lower = np.concatenate([self.edge_lower, np.zeros(count)])
        self.edge_upper = np.concatenate([self.edge_upper, np.ones(count)])

    def set_bounds(
        self, y_lower: FloatArray, y_upper: FloatArray, edge: dict[int, tuple[float, float]]
    ) -> None:
        """Bounds of all columns: of switches, and of pairs by column where they are not 0 and 1."""
        lower = np.zeros(len(self.edge_u))
        upper = np.ones(len(self.edge_u))
        for column, (low, high) in edge.items():
            lower[column], upper[column] = low, high
        changed = np.flatnonzero((y_lower != self.y_lower) | (y_upper != self.y_upper))
        edges = np.flatnonzero((lower != self.edge_lower) | (upper != self.edge_upper))
        self.y_lower, self.y_upper = y_lower.copy(), y_upper.copy()
        self.edge_lower, self.edge_upper = lower, upper
        index = np.concatenate([changed, self.first_edge + edges]).astype(np.int32)
        if len(index):
            self.highs.changeColsBounds(
                len(index),
                index,
                np.concatenate([y_lower[changed], lower[edges]]),
                np.concatenate([y_upper[changed], upper[edges]]),
            )

    def forget_pairs(self, excluded: np.ndarray) -> None:
        """Remove pairs, bool[p], for good: no tour that is better than the best one uses them."""
        columns = self.pair_column[excluded]
        columns = columns[columns >= 0]
        if len(columns):
            gone = np.zeros(len(self.edge_u), dtype=bool)
            gone[columns] = True
            index = (self.first_edge + np.flatnonzero(gone)).astype(np.int32)
            self.highs.deleteCols(len(index), index)
            self.edge_u, self.edge_v = self.edge_u[~gone], self.edge_v[~gone]
            self.edge_lower, self.edge_upper = self.edge_lower[~gone], self.edge_upper[~gone]
            renumber = np.cumsum(~gone) - 1
            inside = self.pair_column >= 0
            self.pair_column[inside] = renumber[self.pair_column[inside]]
        keep = ~excluded
        self.pair_u, self.pair_v = self.pair_u[keep], self.pair_v[keep]
        self.pair_cost, self.pair_column = self.pair_cost[keep], self.pair_column[keep]

    def raise_elastic_cost(self) -> None:
        """Make it cost more to satisfy a degree without pairs, or to overrun the budget."""
        self.elastic_cost *= ELASTIC_GROWTH
        index = np.arange(self.first_elastic, self.first_edge, dtype=np.int32)
        self.highs.changeColsCost(len(index), index, np.full(len(index), self.elastic_cost))

    # --- rows ------------------------------------------------------------------------------

    def add_cuts(self, cuts: list[Cut]) -> int:
        """Put cuts into the pool and the program; how many of them were not there yet."""
        present = set(self.rows)
        numbers = dict.fromkeys(self.pool.add(cut) for cut in cuts)
        fresh = [number for number in numbers if number not in present]
        self._add_rows(fresh)
        return len(fresh)

    def _add_rows(self, numbers: list[int]) -> None:
        if not numbers:
            return
        index: list[IntArray] = []
        value: list[FloatArray] = []
        start = np.zeros(len(numbers), dtype=np.int32)
        mask = np.zeros(self.n, dtype=bool)
        total = 0
        for row, number in enumerate(numbers):
            cut = self.pool[number]
            start[row] = total
            index.append(cut.places)
            value.append(cut.coefficients)
            total += len(cut.places)
            if len(cut.sets) == 1:
                mask[cut.sets[0]] = True
                edges = np.flatnonzero(mask[self.edge_u] & mask[self.edge_v])
                mask[cut.sets[0]] = False
                weight = np.full(len(edges), -cut.weights[0])
            else:
                sums = np.zeros(len(self.edge_u))
                for members, w in zip(cut.sets, cut.weights, strict=True):
                    mask[members] = True
                    sums[mask[self.edge_u] & mask[self.edge_v]] -= w
                    mask[members] = False
                edges = np.flatnonzero(sums)
                weight = sums[edges]
            index.append(self.first_edge + edges)
            value.append(weight)
            total += len(edges)
        self.highs.addRows(
            len(numbers),
            np.array([self.pool[number].rhs for number in numbers]),
            np.full(len(numbers), np.inf),
            total,
            start,
            np.concatenate(index).astype(np.int32),
            np.concatenate(value),
        )
        self.rows.extend(numbers)
        self.row_dual = np.concatenate([self.row_dual, np.zeros(len(numbers))])
        self.idle.extend([0] * len(numbers))
        self._flat = None

    def drop_idle_cuts(self, most: int) -> None:
        """Take cuts out of the program, not the pool, that were idle for over ``most`` solves."""
        basic = states(self.highs)[1][self.base_rows :] == BASIC
        gone = (np.array(self.idle, dtype=np.int64) > most) & basic
        if gone.any():
            index = (self.base_rows + np.flatnonzero(gone)).astype(np.int32)
            self.highs.deleteRows(len(index), index)
            self.row_dual = np.delete(self.row_dual, index)
            kept = np.flatnonzero(~gone).tolist()
            self.rows = [self.rows[row] for row in kept]
            self.idle = [self.idle[row] for row in kept]
            self._flat = None

    # --- solving ---------------------------------------------------------------------------

    def solve(self, seconds: float = np.inf) -> None:
        """Solve from the present basis, within a time; see the class for what it leaves behind."""
        begun = perf_counter()
        self.optimal = self._run(MOST_STEPS, seconds)
        left = seconds - (perf_counter() - begun)
        if not self.optimal and left > RETRY_FROM:
            # Numerical trouble: once more, without the old factors.
            self.highs.clearSolver()
            self.optimal = self._run(MOST_STEPS, left)
        solution = self.highs.getSolution()
        value = np.array(solution.col_value)
        dual = np.array(solution.row_dual)
        if len(dual) == self.base_rows + len(self.rows):
            self.row_dual = dual
        self.objective = self.highs.getInfo().objective_function_value
        self.y = np.clip(value[: self.first_elastic], 0.0, 1.0)
        self.elastic = float(value[self.first_elastic : self.first_edge].sum())
        self.x = np.clip(value[self.first_edge :], 0.0, 1.0)
        if self.optimal:
            tight = self.row_dual[self.base_rows :] > TOLERANCE
            self.idle = [0 if t else k + 1 for t, k in zip(tight, self.idle, strict=True)]

    def objective_after(self, steps: int) -> float:
        """The objective after some steps of the simplex method; no solution is kept."""
        self._run(steps, np.inf)
        return float(self.highs.getInfo().objective_function_value)

    def _run(self, steps: int, seconds: float) -> bool:
        """Let the solver run; whether it ended with an optimal solution."""
        highs = self.highs
        highs.setOptionValue("simplex_iteration_limit", steps)
        highs.setOptionValue("time_limit", highs.getRunTime() + max(seconds, LEAST_SECONDS))
        highs.run()
        return is_optimal(highs)

    @property
    def point(self) -> Point:
        """The fractional solution of the last solve; pairs added since then are not in it."""
        u, v = (ends[: len(self.x)].astype(np.int64) for ends in (self.edge_u, self.edge_v))
        return make_point(self.problem, self.y[: self.n], u, v, self.x, self.y[self.n :])

    def add_attractive(self, costs: FloatArray, most: int) -> int:
        """Add missing pairs of least reduced ``costs``, float64[p]; how many were attractive."""
        missing = np.flatnonzero((costs < ATTRACTIVE) & (self.pair_column < 0))
        if len(missing) > most:
            chosen = np.argpartition(costs[missing], most)[:most]
            self.add_pairs(missing[chosen])
        else:
            self.add_pairs(missing)
        return len(missing)

    def flat_cuts(self) -> FlatCuts:
        """The cuts of the program, in the order of their rows."""
        if self._flat is None:
            self._flat = flatten([self.pool[number] for number in self.rows], self.n)
        return self._flat

    # --- bases -----------------------------------------------------------------------------

    def basis(self) -> Basis:
        """The present basis, to come back to later."""
        columns, rows = states(self.highs)
        of_pairs, of_cuts = columns[self.first_edge :], rows[self.base_rows :]
        away = np.flatnonzero(of_pairs != LOWER)
        tight = np.flatnonzero(of_cuts != BASIC)
        return Basis(
            columns[: self.first_edge],
            rows[: self.base_rows],
            self._edge_keys()[away],
            of_pairs[away],
            np.array(self.rows, dtype=np.int64)[tight],
            of_cuts[tight],
        )

    def restore(self, basis: Basis) -> None:
        """Go back to a basis, with its tight cuts; rows and pairs since then stay out of it.

        Where it has a pair that has been excluded since, the present basis is as good.
        """
        if not self._add_missing(basis.pairs):
            return
        present = set(self.rows)
        self._add_rows([int(number) for number in basis.tight if int(number) not in present])
        rows = np.full(self.base_rows + len(self.rows), BASIC, dtype=np.int8)
        rows[: self.base_rows] = basis.rows
        row_of = {number: row for row, number in enumerate(self.rows)}
        for number, state in zip(basis.tight.tolist(), basis.states, strict=True):
            rows[self.base_rows + row_of[number]] = state
        columns = np.full(self.first_edge + len(self.edge_u), LOWER, dtype=np.int8)
        columns[: self.first_edge] = basis.columns
        keys = self._edge_keys()
        order = np.argsort(keys)
        columns[self.first_edge + order[np.searchsorted(keys[order], basis.pairs)]] = (
            basis.pair_states
        )
        set_states(self.highs, columns, rows)

    def _edge_keys(self) -> IntArray:
        """u n + v of the pairs in the program."""
        return self.edge_u.astype(np.int64) * self.n + self.edge_v

    def _add_missing(self, keys: IntArray) -> bool:
        """Put pairs, given by u n + v, into the program; False where some are not possible."""
        missing = np.setdiff1d(keys, self._edge_keys())
        if len(missing) == 0:
            return True
        possible = self.pair_u.astype(np.int64) * self.n + self.pair_v
        if not np.isin(missing, possible).all():
            return False
        self.add_pairs(np.searchsorted(possible, missing))
        return True

    def copy(self) -> Relaxation:
        """The same program in a solver of its own, for another thread; the pool is common."""
        other = copy(self)
        other.highs = new_solver()
        other.highs.passModel(self.highs.getLp())
        other.pair_column = self.pair_column.copy()
        other.rows, other.idle = list(self.rows), list(self.idle)
        return other


def power_of_two(power: int, of: float) -> float:
    """The power of two by which ``of`` becomes about 2 to the ``power``."""
    return float(2.0 ** min(power - int(np.ceil(np.log2(of))), LARGEST_POWER))
