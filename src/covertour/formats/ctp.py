"""The benchmark files (.ctp) of the multi-vehicle covering tour problem.

Routes from a depot, each with at most p stops and at most q long; every customer must be covered by
a stop of some route. A file has its name on a line; then the number of optional stops, of customers
and of mandatory stops (the depot is the first of them), p and q; then the cost of each edge between
two stops as ``i j cost``; then for each optional stop its number and for each customer 1 where it
covers it, else 0. What stands between that and NODE_COORD_SECTION is for another problem, in which
customers are covered several times, and passed over. Last come the coordinates, stops first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from covertour.formats import table
from covertour.formats.source import Given, Source, build
from covertour.problem.coverage import Sets
from covertour.problem.errors import InputError, shown
from covertour.problem.goals import Fleet
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

NOT_THIS = "expected a benchmark file of the multi-vehicle covering tour problem"
SECTION = "NODE_COORD_SECTION"
MOST_PLACES = 5000
"""More than this would be a mistake: the largest of the benchmark has 200."""


def read(source: Source, given: Given) -> Instance:
    """An instance with a matrix: stops need no cover themselves, customers are no stops.

    The caller's coverage rule replaces the file's.
    """
    if given.metric not in (None, "matrix"):
        raise InputError(f"{source}: has its own distances, not the metric {given.metric!r}")
    first, _, rest = source.text().lstrip().partition("\n")
    head, _, tail = rest.partition(SECTION)
    words = head.split()
    optional, customers, mandatory, most, longest = _sizes(source, words)
    stops, n = optional + mandatory, optional + mandatory + customers
    edges = stops * (stops - 1) // 2
    begin = 5 + 3 * edges
    costs = _square(source, words[5:begin], stops, edges)
    covers = _covers(source, words[begin : begin + optional * (customers + 1)], optional, customers)
    points = _points(source, tail.split(), n)
    between = points[:, None, :] - points[None, :, :]
    matrix = np.rint(np.hypot(between[..., 0], between[..., 1]))
    matrix[:stops, :stops] = costs
    nothing = np.empty(0, dtype=np.int64)
    sets = (
        *(nothing for _ in range(mandatory)),
        *(stops + members for members in covers),
        *(nothing for _ in range(customers)),
    )
    fields: dict[str, Any] = {} if given.has_rule else {"demand": np.arange(n) >= stops}
    if fields:
        fields["demand"] = fields["demand"].astype(np.int64)
    return build(
        source,
        metric="matrix",
        rule=given.rule(source, Sets(sets)),
        matrix=matrix,
        coordinates=points,
        name=first.strip().removesuffix(".ctp") or source.stem,
        depot=0,
        required=range(1, mandatory),
        forbidden=range(stops, n),
        fleet=Fleet(max_stops=most, max_length=longest),
        **fields,
    )


def _numbers(source: Source, words: Sequence[str], what: str, count: int) -> FloatArray:
    """So many numbers, float64[count]."""
    if len(words) < count:
        raise InputError(f"{source}: ends early, in {what}; {NOT_THIS}")
    return table.numbers(words[:count], what, lambda _: str(source))


def _sizes(source: Source, words: Sequence[str]) -> tuple[int, int, int, int | None, float | None]:
    """Optional stops, customers, mandatory stops, and the limits p and q, None for no limit."""
    values = _numbers(source, words, "the sizes", 5).tolist()
    if any(value != int(value) or value < 0 for value in values[:4]) or values[4] < 0:
        raise InputError(f"{source}: the sizes are {shown(words[:5])}; {NOT_THIS}")
    optional, customers, mandatory, most = map(int, values[:4])
    if mandatory < 1:
        raise InputError(f"{source}: has no depot, as there are no mandatory stops")
    if optional + mandatory + customers > MOST_PLACES:
        raise InputError(f"{source}: more than {MOST_PLACES:,} places; {NOT_THIS}")
    return optional, customers, mandatory, most or None, values[4] or None


def _square(source: Source, words: Sequence[str], stops: int, edges: int) -> FloatArray:
    """The costs between stops, float64[stops, stops]; every pair must be there once."""
    triples = _numbers(source, words, "the edges", 3 * edges).reshape(edges, 3)
    ends = triples[:, :2].astype(np.int64)
    pairs = {(min(i, j), max(i, j)) for i, j in ends.tolist()}
    inside = bool(np.all((ends >= 0) & (ends < max(stops, 1)) & (ends == triples[:, :2])))
    if not inside or len(pairs) != edges or any(i == j for i, j in pairs):
        raise InputError(f"{source}: the edges are not one for each pair of stops 0 to {stops - 1}")
    square = np.zeros((stops, stops))
    square[ends[:, 0], ends[:, 1]] = square[ends[:, 1], ends[:, 0]] = triples[:, 2]
    return square


def _covers(
    source: Source, words: Sequence[str], optional: int, customers: int
) -> tuple[IntArray, ...]:
    """The customers that each optional stop covers, counted from 0."""
    width = customers + 1
    table_of_all = _numbers(source, words, "the coverage matrix", optional * width)
    rows = table_of_all.reshape(optional, width)[:, 1:]
    if not np.all((rows == 0) | (rows == 1)):
        raise InputError(f"{source}: the coverage matrix has numbers other than 0 and 1")
    return tuple(np.flatnonzero(row) for row in rows)


def _points(source: Source, words: Sequence[str], n: int) -> FloatArray:
    """The coordinates of all places, float64[n, 2]."""
    triples = _numbers(source, words, f"{SECTION}", 3 * n).reshape(n, 3)
    if triples[:, 0].tolist() != list(range(1, n + 1)):
        raise InputError(f"{source}: {SECTION} does not number the places from 1 to {n}")
    return np.ascontiguousarray(triples[:, 1:])
