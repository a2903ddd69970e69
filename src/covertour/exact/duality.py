"""Duality: the bound and the reduced costs that the duals of a relaxation prove, over all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from covertour.exact.pricing import reduced_costs
from covertour.exact.relaxation import Relaxation
from covertour.problem.metric import FloatArray

SAFETY = 1e-10
"""Relative margin for the rounding of the sums in a bound."""


@dataclass(frozen=True, eq=False)
class Costs:
    """What the duals prove. ``bound``: a lower bound, in true lengths, on every tour of this node.

    ``places``: float64[n] and ``pairs``: float64[p], reduced costs, scaled; those of pairs are
    exact below ``exact_below`` and lower bounds above it. ``value``: the scaled bound.
    """

    bound: float
    value: float
    places: FloatArray
    pairs: FloatArray


def costs_of(relaxation: Relaxation, exact_below: float = 0.0) -> Costs:
    """What the duals of the last solve prove about this node, over *all* pairs.

    Weak duality: for any prices of the rows, with the sign of their row, every tour of the
    node is at least as long as sum(price * right side) + sum over columns of the least that
    reduced cost * value can be within the column's bounds. This holds whether or not the
    solver's duals are optimal or even feasible, so no tolerance of the solver matters; what
    is left is the rounding of sums, for which SAFETY gives way. The elastic columns are 0 on
    every tour and do not count.
    """
    n, problem = relaxation.n, relaxation.problem
    dual = relaxation.row_dual
    if not np.isfinite(dual).all():
        dual = np.zeros(relaxation.base_rows + len(relaxation.cuts))
    degree = dual[:n]
    hit = np.maximum(dual[n : n + problem.sets], 0.0)
    three = max(float(dual[n + problem.sets]), 0.0)
    cut = np.maximum(dual[relaxation.base_rows :], 0.0)
    flat = relaxation.flat_cuts()
    per_hit = np.repeat(hit, np.diff(problem.hit_start))
    places = 2.0 * degree - three - np.bincount(problem.hit, per_hit, n)
    places -= np.bincount(flat.place, flat.coefficient * cut[flat.place_row], n)
    sets = (
        degree,
        flat.of_place_start,
        flat.of_place,
        flat.inside,
        flat.set_weight * cut[flat.set_row],
    )
    pairs = reduced_costs(
        relaxation.pair_u, relaxation.pair_v, relaxation.pair_cost, *sets, exact_below
    )
    terms = [
        hit.sum(),
        3.0 * three,
        float(flat.rhs @ cut),
        float(np.where(places > 0, places * relaxation.y_lower, places * relaxation.y_upper).sum()),
    ]
    sizes = [np.abs(hit).sum(), np.abs(flat.rhs) @ cut, np.abs(places).sum()]
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
        cost = reduced_costs(u, v, relaxation.distance[u, v], *sets, np.inf)
        terms.append(float((np.maximum(cost, 0.0) * relaxation.edge_lower[used]).sum()))
    value = float(np.sum(terms) - SAFETY * np.sum(sizes))
    return Costs(value / relaxation.scale, value, places, pairs)
