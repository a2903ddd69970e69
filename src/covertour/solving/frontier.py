"""frontier(): what it costs to reach more people, as tours between the shortest and the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from covertour.problem.coverage import SAME
from covertour.problem.errors import InputError, shown
from covertour.problem.goals import Quota
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.solving.growing import grown
from covertour.solving.method import Method
from covertour.solving.result import Result
from covertour.solving.solve import check_instance, checked_method, solve
from covertour.solving.tradeoff import Frontier, Point

FEWEST, MOST = 2, 200
"""How many points may be asked for."""

TRIES, NARROW = 3, 0.004
"""How often a point is looked for on average, and the share of the weight in which none is."""

ROUND = (10, 20, 50, 100)
"""Shares that planners ask for: tenths first, then finer ones."""

NEARLY_NOTHING = Quota(share=1e-12)

SHARES = (0.4, 0.6)
"""The shares of the time for finding the points and for improving each from its neighbours."""

OnPoint = Callable[[Point], None]
"""Is told of each point as it is found."""


def frontier(
    instance: Instance,
    points: int = 15,
    *,
    seconds: float = 10.0,
    prove: bool = False,
    proof_seconds: float = 5.0,
    method: str | Method = "lns",
    seed: int = 0,
    on_point: OnPoint | None = None,
) -> Frontier:
    """The trade-off between what a tour costs and how much of the weight it serves.

    It begins with the whole tour and goes on where two neighbours are farthest apart, with a quota
    between theirs, from the neighbour's tour; then each point is tried again from the tours on both
    sides. ``points``: about how many; fewer where there is nothing between. ``seconds``: for all of
    them together. ``prove``: prove for each what it must cost at least, in ``proof_seconds`` each.
    A quota or a budget of the instance is left aside. ``on_point`` is told of each point.

    >>> line = Instance.from_coordinates([[0, 0], [1, 0], [9, 0]], radius=1, weight=[5, 3, 2])
    >>> [(point.share, point.cost) for point in frontier(line, points=2, seconds=0.1).points]
    [(0.8, 0.0), (1.0, 16.0)]
    """
    _check(points, seconds, proof_seconds)
    began = perf_counter()
    plain = instance.with_changes(quota=None, budget=None)
    search = _Search(plain, method, seed, seconds, points)
    for name in (method, *(["exact"] if prove else [])):  # before anything takes time
        check_instance(search.goal(_reachable(plain) / SAME), checked_method(name))
    found = _spread(search, points, on_point)
    for number, order in enumerate((range(len(found))[::-1], range(len(found)))):
        for at in order:
            found[at] = _improved(search, found, at, seed + 2 * number + 1)
    best = _undominated(found)
    if prove:
        best = _undominated([_proven(search, point, proof_seconds, on_point) for point in best])
        best = _with_bounds(best)
    return Frontier(plain, tuple(best), perf_counter() - began)


def _check(points: int, seconds: float, proof_seconds: float) -> None:
    if not isinstance(points, int | np.integer) or not FEWEST <= points <= MOST:
        raise InputError(
            f"points: expected a whole number from {FEWEST} to {MOST}, got {shown(points)}"
        )
    for name, value in (("seconds", seconds), ("proof_seconds", proof_seconds)):
        if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
            raise InputError(f"{name}: expected a number above 0, got {shown(value)}")


@dataclass(frozen=True, eq=False)
class _Search:
    """What all searches share: the instance without a quota, the method, the seed, the time."""

    instance: Instance
    method: str | Method
    seed: int
    seconds: float
    points: int

    def run(
        self, asked: float, start: IntArray | None, share: float, seed: int | None = None
    ) -> Result:
        """Search for a tour that serves a weight, within a share of the time of one point."""
        limit = max(self.seconds * share / self.points, 0.01)
        seed = self.seed if seed is None else seed
        return solve(self.goal(asked), self.method, seconds=limit, seed=seed, start=start)

    def goal(self, asked: float) -> Instance:
        return self.instance.with_changes(quota=Quota(weight=asked))


def _spread(search: _Search, points: int, on_point: OnPoint | None) -> list[Point]:
    """Points from the cheapest to the whole tour, by ascending weight."""
    instance = search.instance
    reachable = _reachable(instance)
    whole = Point(reachable / SAME, search.run(reachable / SAME, None, SHARES[0]))
    _tell(on_point, whole)
    # What must be visited anyway; without that, the stop that alone serves most.
    least = Point(_least(instance), search.run(_least(instance), None, SHARES[0]))
    found = [least, whole]
    _tell(on_point, least)
    ceiling: dict[float, float] = {}  # between a weight and this one more can lie, above it not
    for _ in range(TRIES * points):
        gaps = [
            (_apart(found, at), at)
            for at in range(len(found) - 1)
            if _room(found, at, ceiling) > NARROW * instance.total_weight
        ]
        if not gaps or len(found) >= points:
            break
        at = max(gaps)[1]
        low, high = found[at], found[at + 1]
        asked = _about_the_middle(low.weight, _room(found, at, ceiling), instance.total_weight)
        point = Point(asked, search.run(asked, high.result.tour.places, SHARES[0]))
        between = _undominated([*found, point])
        if len(between) == len(found) and point not in between:
            ceiling[low.weight] = asked  # it costs as much as the next point to serve that
            continue
        found = between
        _tell(on_point, point)
    return found


def _room(found: list[Point], at: int, ceiling: dict[float, float]) -> float:
    """How much weight lies between a point and the next that costs more."""
    low, high = found[at].weight, found[at + 1].weight
    return min(high, ceiling.get(low, high)) - low


def _about_the_middle(low: float, room: float, total: float) -> float:
    """A weight in the middle half of the room above another: a round share of the total, if any."""
    least, most = (low + room / 4.0) / total, (low + room * 3.0 / 4.0) / total
    middle = (least + most) / 2.0
    for parts in ROUND:
        share = round(middle * parts) / parts
        if least <= share <= most:
            return share * total
    return middle * total


def _reachable(instance: Instance) -> float:
    """The weight that all possible stops together serve."""
    anyhow = instance.with_changes(quota=NEARLY_NOTHING)
    stops = np.setdiff1d(np.arange(instance.n), instance.forbidden)
    reachable = anyhow.covered_weight(stops)
    if reachable <= 0:
        raise InputError(f"{instance.name}: no place has a weight that a tour could serve")
    return reachable


def _least(instance: Instance) -> float:
    """The weight that the places serve which must be visited, or else the best single place."""
    anyhow = instance.with_changes(quota=NEARLY_NOTHING)
    if len(instance.must_visit):
        least = anyhow.covered_weight(instance.must_visit)
        if least > 0:
            return least
    table, weights = anyhow.coverage, instance.weights * (instance.demands <= 1)
    sums = np.concatenate([[0.0], np.cumsum(weights[table.covers])])
    alone = sums[table.covers_start[1:]] - sums[table.covers_start[:-1]]
    best = float(np.max(alone)) if len(alone) else 0.0
    return best if best > 0 else float(np.min(instance.weights[instance.weights > 0]))


def _apart(found: list[Point], at: int) -> float:
    """How far apart two neighbours are on paper, where the whole frontier is a square."""
    first, last = found[0], found[-1]
    wide = max(last.cost - first.cost, 1e-300)
    tall = max(last.weight - first.weight, 1e-300)
    low, high = found[at], found[at + 1]
    return float(np.hypot((high.cost - low.cost) / wide, (high.weight - low.weight) / tall))


def _undominated(found: list[Point]) -> list[Point]:
    """The points of which none serves as much as another for less, by ascending cost."""
    best: list[Point] = []
    for point in sorted(found, key=lambda point: (point.cost, -point.weight)):
        if not best or point.weight > best[-1].weight * SAME:
            best.append(point)
    return best


def _improved(search: _Search, found: list[Point], at: int, seed: int) -> Point:
    """A point, searched again from the tours of its neighbours; the cheapest counts."""
    best = found[at]
    starts = _starts(search.goal(best.asked), found, at)
    for number, start in enumerate(starts):
        result = search.run(best.asked, start, SHARES[1] / 4.0, seed + number)
        again = Point(best.asked, result)
        best = min(best, again, key=lambda point: (point.cost, -point.weight))
    return best


def _starts(goal: Instance, found: list[Point], at: int) -> Iterator[IntArray]:
    """Tours that serve enough, made of the neighbours'."""
    if at + 1 < len(found):
        yield found[at + 1].result.tour.places
    if at > 0 and goal.fleet is None:
        more = grown(goal, found[at - 1].result.tour.places)
        if more is not None:
            yield more


def _proven(search: _Search, point: Point, seconds: float, on_point: OnPoint | None) -> Point:
    """A point with a proof of what its weight must cost at least."""
    goal = search.goal(point.asked)
    start = point.result.tour.places
    result = solve(goal, "exact", seconds=seconds, seed=search.seed, start=start)
    kept = result if result.cost < point.cost / SAME else point.result
    proven = Point(point.asked, kept, result.bound)
    _tell(on_point, proven)
    return proven


def _with_bounds(found: list[Point]) -> list[Point]:
    """Points with the best of their bounds: who serves more, costs at least as much."""
    return [
        Point(
            point.asked,
            point.result,
            max(other.bound or 0.0 for other in found if other.asked <= point.asked),
        )
        for point in found
    ]


def _tell(on_point: OnPoint | None, point: Point) -> None:
    if on_point is not None:
        on_point(point)
