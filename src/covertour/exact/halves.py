"""Rounded cuts: half the sum of some rows, with all its coefficients rounded to whole numbers.

Take rows that every tour satisfies, written with whole numbers as

    sum of a_i y_i  -  sum of q_e x_e  >=  r,

and add them up. A handle H stands for the degree equations of its places, which add 2 y_i for every
place i in H, and |e ∩ H| to q_e. If r is odd and all a_i are even, then every tour satisfies

    sum of (a_i / 2) y_i  -  sum of floor(q_e / 2) x_e  >=  (r + 1) / 2.

Valid: divide by two; x_e >= 0, so q_e / 2 may be rounded down; now the left side is a whole number
on every tour, and at least r / 2. An odd a_i is made even before: by y_i >= 0, which adds 1 to
it, or by -y_i >= -1, which takes 1 away from it and from r. Likewise x_e <= 1 adds 1 to q_e and
takes 1 away from r. These are Chvátal-Gomory cuts with multipliers 0 and 1/2 (Caprara and Fischetti
1996). They hold the blossoms, the odd holes of set covering and much that combs do not say where
sets of coverers overlap or need several stops.

Separation: a sum of rows is violated by (1 - its slack - the sum of min(value, 1 - value) over its
odd variables) / 2. Modulo 2 rows are words of bits, and sums of them with few odd variables are
found by Gaussian elimination, the variables that would cost most first, each with the row that
has the least slack (Koster, Zymolka and Kutschka 2009).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from covertour.exact.cuts import Cut, Violated
from covertour.exact.point import SUPPORT, Point
from covertour.kernel import entry
from covertour.problem.metric import FloatArray, IntArray

LEAST_VIOLATION = 0.02
"""Cuts that are violated by less are not worth a row."""

MOST_SLACK = 0.1
"""Rows with more slack than this are not added up."""

PIVOT_SLACK = 1e-6
"""A row may serve to eliminate a variable if it has no more slack than this."""

ORDERS = 4
"""So many orders of elimination are tried."""

MOST_ROWS = 40
"""No more rows than this are added up: the fewer, the fewer coefficients a cut has."""

MOST_SUMS = 1_000
"""No more sums than this are found in one order."""

LOOK_AT = 3
"""Of the sums found, the best are made into cuts: so many times more than are wanted."""

SAME_DIRECTION = 0.8
"""A cut is not kept beside a better one with which its normal has a larger cosine than this."""

Words = npt.NDArray[np.uint64]


def rounded_cuts(
    point: Point,
    program: list[Cut],
    rng: np.random.Generator,
    most: int,
    least: float = LEAST_VIOLATION,
) -> list[Cut]:
    """Violated rounded cuts, at most ``most``; ``program``: the cuts that the program has."""
    rows = [*_sets_to_hit(point), *_tight_links(point), *_halved(program)]
    n, values = len(point.y), np.concatenate([point.switches, point.x])
    first_pair = len(point.switches)
    odd = np.zeros((len(rows) + len(point.active), len(values)), dtype=bool)
    slack, right = np.zeros(len(odd)), np.zeros(len(odd), dtype=np.int64)
    for row, cut in enumerate(rows):
        of_pairs = cut.of_pairs(point.u, point.v, n)
        odd[row, cut.places] = cut.coefficients % 2
        odd[row, first_pair:] = of_pairs % 2
        slack[row] = cut.coefficients @ values[cut.places] + of_pairs @ point.x - cut.rhs
        right[row] = int(cut.rhs)
    at = first_pair + np.arange(len(point.x))
    odd[len(rows) + point.local[point.u], at] = True
    odd[len(rows) + point.local[point.v], at] = True
    usable = np.flatnonzero(slack < MOST_SLACK)
    odd, slack = odd[usable], np.maximum(slack[usable], 0.0)
    odd_right = (right[usable] + (odd & (values > 0.5)).sum(axis=1)) % 2 == 1
    cost = np.minimum(values, 1.0 - values)
    counts = np.flatnonzero(cost > SUPPORT)
    bits, cost = _as_words(odd[:, counts]), cost[counts]
    seen: dict[bytes, tuple[float, npt.NDArray[np.bool_]]] = {}
    for _ in range(ORDERS):
        order = np.argsort(-cost * rng.uniform(0.5, 1.0, len(cost)), kind="stable")
        sums, values_of_sums = _small_sums(bits, odd_right, slack, cost, order, 1.0 - 2.0 * least)
        for chosen, value in zip(sums, values_of_sums, strict=True):
            seen[chosen.tobytes()] = ((1.0 - value) / np.sqrt(chosen.sum()), chosen)
    found: Violated = []
    for _, chosen in sorted(seen.values(), key=lambda item: -item[0])[: LOOK_AT * most]:
        numbers = usable[np.flatnonzero(chosen)]
        handle = point.active[numbers[numbers >= len(rows)] - len(rows)]
        made = _rounded(point, handle, [rows[k] for k in numbers if k < len(rows)])
        if made is not None:
            found.append((point.violation(made), made))
    return _spread(found, most, least, point)


def _sets_to_hit(point: Point) -> list[Cut]:
    """The rows y(T) >= need z of the sets of coverers."""
    problem = point.problem
    cuts = []
    for members, need, z in zip(problem.hit_sets, problem.need, problem.z, strict=True):
        ones = np.ones(len(members))
        if z < 0:
            cuts.append(Cut((), (), members, ones, float(need)))
        else:
            terms = np.append(members, problem.n + z), np.append(ones, -float(need))
            cuts.append(Cut((), (), *terms, 0.0))
    return cuts


def _tight_links(point: Point) -> list[Cut]:
    """The rows x_e <= y_i that have little slack."""
    cuts = []
    for end, other in ((point.u, point.v), (point.v, point.u)):
        tight = (point.x > point.y[end] - MOST_SLACK) & (point.x < 1.0 - SUPPORT)
        for e in np.flatnonzero(tight):
            pair = np.sort(np.array([end[e], other[e]]))
            cuts.append(Cut((pair,), (1.0,), end[e : e + 1], np.ones(1), 0.0))
    return cuts


def _halved(program: list[Cut]) -> list[Cut]:
    """Cuts with whole numbers, divided by two where that leaves them whole."""
    cuts = []
    for cut in program:
        if cut.rounded:
            continue
        numbers = np.array([*cut.weights, *cut.coefficients, cut.rhs])
        if (numbers % 2 == 0).all():
            halves = tuple(0.5 * weight for weight in cut.weights)
            cuts.append(Cut(cut.sets, halves, cut.places, 0.5 * cut.coefficients, 0.5 * cut.rhs))
        elif (numbers % 1 == 0).all():
            cuts.append(cut)
    return cuts


def _rounded(point: Point, handle: IntArray, rows: list[Cut]) -> Cut | None:
    """The rounded cut of a handle, given by its active places, and rows; None if r is even."""
    n = len(point.y)
    inside = np.zeros(len(point.active), dtype=bool)
    inside[point.local[handle]] = True
    handle = np.flatnonzero(inside[point.nearest_active])
    if 2 * len(handle) > n:
        handle = np.flatnonzero(~inside[point.nearest_active])
    total = np.zeros(len(point.switches))
    total[handle] = 2.0
    right = 0.0
    sets, weights = [handle], [1.0]
    for cut in rows:
        np.add.at(total, cut.places, cut.coefficients)
        right += cut.rhs
        sets += cut.sets
        weights += cut.weights
    odd = total % 2 == 1
    down = odd & (point.switches > 0.5)
    total += np.where(down, -1.0, odd)
    right -= down.sum()
    sum_of_pairs = Cut(tuple(sets[1:]), tuple(weights[1:]), handle[:0], total[:0], 0.0).of_pairs(
        point.u, point.v, n
    )
    in_handle = np.zeros(n, dtype=np.int64)
    in_handle[handle] = 1
    odd = (in_handle[point.u] + in_handle[point.v] - sum_of_pairs) % 2 == 1
    for e in np.flatnonzero(odd & (point.x > 0.5)):
        sets.append(np.sort(np.array([point.u[e], point.v[e]])))
        weights.append(1.0)
        right -= 1.0
    if right % 2 == 0:
        return None
    places = np.flatnonzero(total)
    return Cut(
        tuple(sets), tuple(weights), places, 0.5 * total[places], 0.5 * (right + 1.0), rounded=True
    )


def _spread(found: Violated, most: int, least: float, point: Point) -> list[Cut]:
    """The deepest cuts, passing over those that are nearly parallel to deeper ones."""
    n, first_pair = len(point.y), len(point.switches)
    normals = np.zeros((len(found), first_pair + len(point.x)))
    for row, (_, cut) in enumerate(found):
        normals[row, cut.places] = cut.coefficients
        normals[row, first_pair:] = cut.of_pairs(point.u, point.v, n)
    normals[:, :first_pair] *= point.switches > SUPPORT
    size = np.maximum(np.linalg.norm(normals, axis=1), 1e-9)
    normals /= size[:, None]
    violation = np.array([violated for violated, _ in found])
    kept: list[int] = []
    for k in np.argsort(-violation / size, kind="stable").tolist():
        if len(kept) == most:
            break
        if violation[k] < least or (normals[kept] @ normals[k]).max(initial=0) > SAME_DIRECTION:
            continue
        kept.append(k)
    return [found[k][1] for k in kept]


def _as_words(table: npt.NDArray[np.bool_]) -> Words:
    """One bit per entry: uint64[rows, words]."""
    rows, columns = table.shape
    padded = np.zeros((rows, -(-max(columns, 1) // 64) * 64), dtype=bool)
    padded[:, :columns] = table
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def _small_sums(
    bits: Words,
    odd_right: npt.NDArray[np.bool_],
    slack: FloatArray,
    cost: FloatArray,
    order: IntArray,
    limit: float,
) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Sums of rows with an odd right side, slack and costs of odd variables below the limit.

    bool[sums, rows]: which rows are added up; float64[sums]: slack and costs.
    """
    rows = len(bits)
    made_of = _as_words(np.eye(rows, dtype=bool))
    sums = np.zeros((MOST_SUMS, made_of.shape[1]), dtype=np.uint64)
    values = np.zeros(MOST_SUMS)
    count = _eliminate(
        bits.copy(),
        made_of,
        odd_right.astype(np.uint8),
        slack.copy(),
        cost,
        order,
        limit,
        np.ones(rows, dtype=np.int64),
        sums,
        values,
    )
    unpacked = np.unpackbits(sums[:count].view(np.uint8), axis=1, bitorder="little")
    return unpacked[:, :rows].astype(bool), values[:count]


@entry
def _eliminate(
    bits: Words,
    made_of: Words,
    odd_right: npt.NDArray[np.uint8],
    slack: FloatArray,
    cost: FloatArray,
    order: IntArray,
    limit: float,
    parts: IntArray,
    sums: Words,
    values: FloatArray,
) -> int:
    """Eliminate variables in the given order; write what is below the limit to ``sums``.

    ``made_of``: uint64[rows, words], which rows each row is the sum of; ``parts``: ones, how many
    they are, and 0 for rows that are used up. Returns how many sums were written.
    """
    one = np.uint64(1)
    found = 0
    for at in range(len(order)):
        j = order[at]
        word, shift = j // 64, np.uint64(j % 64)
        pivot = -1
        for r in range(len(bits)):
            if parts[r] == 0 or slack[r] > PIVOT_SLACK or (bits[r, word] >> shift) & one == 0:
                continue
            if pivot < 0 or parts[r] < parts[pivot]:
                pivot = r
        if pivot < 0:
            continue
        parts[pivot] = 0
        for r in range(len(bits)):
            if parts[r] == 0 or (bits[r, word] >> shift) & one == 0:
                continue
            for w in range(bits.shape[1]):
                bits[r, w] ^= bits[pivot, w]
            count = 0
            for w in range(made_of.shape[1]):
                made_of[r, w] ^= made_of[pivot, w]
                left = made_of[r, w]
                while left:
                    left &= left - one
                    count += 1
            odd_right[r] ^= odd_right[pivot]
            slack[r] += slack[pivot]
            parts[r] = count if count <= MOST_ROWS else 0
            if odd_right[r] == 0 or parts[r] == 0 or found == len(sums):
                continue
            total = slack[r]
            for w in range(bits.shape[1]):
                left = bits[r, w]
                k = 64 * w
                while left and total < limit:
                    if left & one:
                        total += cost[k]
                    left >>= one
                    k += 1
            if total < limit:
                for w in range(made_of.shape[1]):
                    sums[found, w] = made_of[r, w]
                values[found] = total
                found += 1
    return found
