"""Pricing: reduced costs of all pairs, in the program or not, and the bound that they prove."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from covertour.exact.cuts import CutSets
from covertour.exact.relaxation import Relaxation
from covertour.kernel import entry
from covertour.problem.coverage import Int32Array
from covertour.problem.metric import FloatArray

SAFETY = 1e-10
"""Relative margin for the rounding of the sums in a bound."""


@dataclass(frozen=True, eq=False)
class Costs:
    """What the duals prove. ``bound``: a lower bound on the value of every tour of this node.

    ``places``: float64[switches] and ``pairs``: float64[p], reduced costs, scaled; those of pairs
    are exact below ``exact_below`` and lower bounds above it. ``value``: the scaled bound.
    """

    bound: float
    value: float
    places: FloatArray
    pairs: FloatArray


class Prices(NamedTuple):
    """Duals as the pairs see them.

    ``degree``: float64[n], of the degree equations; ``sets``: the sets of the cuts, and ``of_set``:
    float64[sets] >= 0, the dual of the cut times the weight of the set.
    """

    degree: FloatArray
    sets: CutSets
    of_set: FloatArray


def price(relaxation: Relaxation, exact_below: float = 0.0) -> Costs:
    """What the duals of the last solve prove about this node, over *all* pairs.

    Weak duality: for any prices of the rows, with the sign of their row, every tour of the
    node is at least as long as sum(price * right side) + sum over columns of the least that
    reduced cost * value can be within the column's bounds. This holds whether or not the
    solver's duals are optimal or even feasible, so no tolerance of the solver matters; what
    is left is the rounding of sums, for which SAFETY gives way. The elastic columns are 0 on
    every tour and do not count. A budget's row prices lengths: a pair costs its length times
    that price.
    """
    n, problem = relaxation.n, relaxation.problem
    dual = relaxation.row_dual
    if not np.isfinite(dual).all():
        dual = np.zeros(relaxation.base_rows + len(relaxation.rows))
    degree = dual[:n]
    hit = np.maximum(dual[n : n + problem.sets], 0.0)
    three = max(float(dual[n + problem.sets]), 0.0)
    cut = np.maximum(dual[relaxation.base_rows :], 0.0)
    flat = relaxation.flat_cuts()
    per_hit = np.repeat(hit, np.diff(problem.hit_start))
    places = relaxation.switch_cost.copy()
    places[:n] += 2.0 * degree - three - np.bincount(problem.hit, per_hit, n)
    places -= np.bincount(flat.place, flat.coefficient * cut[flat.place_row], len(places))
    terms = [relaxation.constant, (hit * relaxation.hit_right).sum(), 3.0 * three]
    terms.append(float(flat.rhs @ cut))
    sizes = [relaxation.constant, (hit * problem.need).sum(), np.abs(flat.rhs) @ cut]
    pair_cost, price_of_length = relaxation.pair_cost, 1.0
    if problem.switches > n:
        optional = np.flatnonzero(problem.optional)
        places[n + problem.z[optional]] += problem.need[optional] * hit[optional]
    if problem.least > 0:
        quota = max(float(dual[relaxation.quota_row]), 0.0)
        places[n:] -= quota * relaxation.quota_weight
        terms.append(quota * relaxation.quota_right)
        sizes.append(terms[-1])
    if problem.budget is not None:
        price_of_length = max(float(dual[relaxation.budget_row]), 0.0)
        places[:n] += price_of_length * relaxation.length_scale * problem.visit
        pair_cost = price_of_length * pair_cost
        terms.append(price_of_length * relaxation.budget_right)
        sizes.append(abs(terms[-1]))
    prices = Prices(degree, flat.sets, flat.set_weight * cut[flat.set_row])
    pairs = reduced_costs(relaxation.pair_u, relaxation.pair_v, pair_cost, prices, exact_below)
    lower, upper = relaxation.y_lower, relaxation.y_upper
    terms.append(float(np.where(places > 0, places * lower, places * upper).sum()))
    sizes.append(np.abs(places).sum())
    below = np.flatnonzero(pairs < 0)
    column = relaxation.pair_column[below]
    upper = np.where(
        column >= 0, relaxation.edge_upper[column] if len(relaxation.edge_u) else 1.0, 1.0
    )
    terms.append(float((pairs[below] * upper).sum()))
    used = np.flatnonzero(relaxation.edge_lower > 0)
    if len(used):
        # A pair that must be used adds its whole reduced cost, so here no lower bound on it
        # will do: without the sets' part a node keeps the bound of its parent.
        u, v = relaxation.edge_u[used], relaxation.edge_v[used]
        length = problem.distance[u, v] * relaxation.length_scale * price_of_length
        cost = reduced_costs(u, v, length, prices, np.inf)
        terms.append(float((np.maximum(cost, 0.0) * relaxation.edge_lower[used]).sum()))
    value = float(np.sum(terms) - SAFETY * np.sum(sizes))
    return Costs(value / relaxation.scale, value, places, pairs)


@entry(allocates=True)
def reduced_costs(
    u: Int32Array, v: Int32Array, cost: FloatArray, prices: Prices, exact_below: float
) -> FloatArray:
    """Reduced costs, float64[p], of the pairs u, v (int32[p]) with lengths ``cost`` (float64[p]).

    Sets only add to a reduced cost, so where it is not below ``exact_below`` without them, that
    lower bound is given instead.
    """
    degree, of_set = prices.degree, prices.of_set
    start, of_place, inside = prices.sets
    result = np.empty(len(u))
    for e in range(len(u)):
        i, j = u[e], v[e]
        value = cost[e] - degree[i] - degree[j]
        if value < exact_below:
            if start[i + 1] - start[i] > start[j + 1] - start[j]:
                i, j = j, i  # the place in fewer sets
            for index in range(start[i], start[i + 1]):
                k = of_place[index]
                if inside[k, j]:
                    value += of_set[k]
        result[e] = value
    return result
