"""Sets of stops that routes must enter more often than a fractional plan does."""

from __future__ import annotations

import numpy as np

from covertour.exact.route_program import Entry, Master
from covertour.exact.serving import MUST
from covertour.problem.metric import FloatArray

LEAST_VIOLATION = 0.01
"""A cut that is broken by less than this is not worth adding."""

CAPACITY = 1_000_000
"""Flows are computed in whole numbers: so many make 1."""

EVERYTHING = 2_000_000_000
"""More than any flow."""


def add_entries(master: Master) -> int:
    """Add cuts that the last solution breaks; how many.

    Of all sets that hold a set T and not the depot, the one that is entered least is the side of a
    minimum cut between the depot and T.
    """
    program = master.program
    first, between = master.flows()
    served = master.served()
    seen = {(cut.inside.tobytes(), cut.least, cut.z) for cut in master.cuts}
    added = 0
    everyone = np.ones(len(program.stops), dtype=bool)
    candidates = [(everyone, MUST, 1.0)]
    for row in range(len(program.need)):
        if program.member[row].any() and served[row] > LEAST_VIOLATION:
            inside = _entered_least(first, between, program.member[row])
            candidates.append((inside, int(program.z[row]), float(served[row])))
    for inside, z, need in candidates:
        entered = float(first[inside].sum() + between[np.ix_(~inside, inside)].sum())
        least = float(-(-_stops_needed(master, inside) // program.most))
        if least > 1.0 or z == MUST:
            cut, need = Entry(inside, max(least, 1.0)), max(least, 1.0)
        else:
            cut = Entry(inside, 1.0, z)
        key = (cut.inside.tobytes(), cut.least, cut.z)
        if entered < need - LEAST_VIOLATION and key not in seen:
            seen.add(key)
            master.add_cut(cut)
            added += 1
    return added


def _stops_needed(master: Master, inside: np.ndarray) -> int:
    """At least so many stops of a set are on every plan: one for each T in it, none in common."""
    program = master.program
    held = (program.z == MUST) & ~(program.member & ~inside).any(axis=1)
    rows = np.flatnonzero(held & program.member.any(axis=1))
    taken = np.zeros(len(inside), dtype=bool)
    needed = 0
    for row in rows[np.argsort(program.member[rows].sum(axis=1), kind="stable")]:
        if not (program.member[row] & taken).any():
            taken |= program.member[row]
            needed += int(program.need[row])
    return needed


def _entered_least(first: FloatArray, between: FloatArray, target: np.ndarray) -> np.ndarray:
    """The stops, bool[m], of the set around ``target`` that is entered least."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    m = len(first)
    depot, sink = m, m + 1
    capacity = np.zeros((m + 2, m + 2), dtype=np.int32)
    capacity[:m, :m] = np.round(between * CAPACITY)
    capacity[depot, :m] = np.round(first * CAPACITY)
    capacity[:m, sink][target] = EVERYTHING
    graph = csr_matrix(capacity)
    flow = maximum_flow(graph, depot, sink).flow
    left = csr_matrix(graph - flow)
    left.data[left.data < 0] = 0
    left.eliminate_zeros()
    reached = breadth_first_order(left, depot, return_predecessors=False)
    inside = np.ones(m + 2, dtype=bool)
    inside[reached] = False
    return inside[:m] | target
