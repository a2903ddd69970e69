"""worker: one annealing search of lns, with a first tour."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.annealing import ANNEAL, TUNED, anneal_for
from covertour.search.construct import complete
from covertour.search.fleet import keeps_limits, most_routes, split
from covertour.search.goal import DEAR
from covertour.search.params import LnsParams
from covertour.search.state import Place, State, kind_of, make_state, places_of, read_tour
from covertour.solving.clock import Clock

AIMS = (0.1, 0.3, 1e-6, 0.03, 0.0)
"""Where the longest route is to be short, the share by which a cycle aims at a shorter one; or, at
last, at one as long for less."""

FIRST_PRICE_LENGTH = 2.0
"""What a unit of length above the limit of a route costs at first, beside itself."""

FIRST_PRICE = 1.5
"""The first price, in costs of the first tour per weight that it serves."""

FEWEST_STARTS = 8
"""Where the longest route is to be short there may be so many routes at least, if it is allowed."""

SPARE_ROUTES = 3
"""So many more routes are allowed than the first tour has, or more where it has many."""


class Worker(NamedTuple):
    """One annealing search: its state, ANNEAL[1], room for the queue, and its best tour.

    The tour is held by the state's numbers.
    """

    state: State
    anneal: Any
    touched: IntArray
    best: IntArray

    @property
    def tour(self) -> IntArray:
        """The stops of the best tour in order, by the instance's numbers."""
        return places_of(self.state, self.ring)

    @property
    def ring(self) -> IntArray:
        """The stops of the best tour in order, by the state's numbers; an array of its own."""
        return self.best[: self.anneal["best_size"][0]].copy()

    @property
    def length(self) -> float:
        """What the best tour costs."""
        return float(self.anneal["best"][0])

    @property
    def weight(self) -> float:
        """What the best tour within a budget serves, as a whole number; -1 where there is none."""
        return -1.0 if self.state.goal is None else float(self.state.goal.tally["best"])

    @property
    def longest(self) -> float:
        """The longest route, where it is to be short; else 0."""
        goal = self.state.goal
        if goal is None or goal.routes is None or not goal.routes.limits["balance"]:
            return 0.0
        return float(goal.routes.limits["best"])


def hire(
    instance: Instance,
    clock: Clock,
    seed: int,
    start: IntArray,
    params: LnsParams,
    most: int | None,
) -> Worker:
    """A worker with a first covering tour; see :func:`_search`."""
    if instance.fleet is None:
        s = make_state(instance, seed)
    else:
        s, start = _routed(instance, seed, start, most)
    _complete(s, instance, seed, start)
    size, length = int(s.tour["size"]), float(s.tour["length"])
    if s.goal is not None and s.goal.routes is not None:
        limits = s.goal.routes.limits
        limits["price_length"], limits["price_stops"] = FIRST_PRICE_LENGTH, length / size
        limits["most_price_stops"] = DEAR * length / size
        limits["aim"] = AIMS[0]
    if s.goal is not None and s.goal.tally["partial"]:
        tally = s.goal.tally
        tally["price"] = FIRST_PRICE * max(length, tally["tiny"]) / max(tally["served"], 1.0)
        tally["most_price"] = 1e6 * tally["price"]
    anneal = np.zeros(1, dtype=ANNEAL)
    for name, _ in TUNED:
        anneal[name] = getattr(params, name)
    hot = params.hot if size <= params.short_tour else params.hot_long
    anneal["hot"] = hot * length / size
    by_cost = instance.fleet is None or instance.fleet.objective != "balance"
    anneal["target"] = clock.target if instance.budget is None and by_cost else -1.0
    anneal["idle_limit"] = clock.limits.idle_iterations
    anneal["best"] = np.inf
    anneal["look_every"] = max(1, size // 64)
    room = len(s.at)
    worker = Worker(s, anneal, np.empty(room, Place), np.empty(room, np.int64))
    anneal_worker(worker, 0)
    return worker


def _complete(s: State, instance: Instance, seed: int, start: IntArray) -> None:
    """Make the first tour of a state."""
    serving = s.order[: instance.n]  # along the curve, or at random where all stops are looked at
    if len(s.blocks) == 1:
        serving = np.random.default_rng(seed).permutation(instance.n)
    complete(s, start, instance.must_visit, serving)


def first_length(worker: Worker, instance: Instance, seed: int) -> float:
    """How long a tour is that is made from nothing; the worker's present one is forgotten."""
    _complete(worker.state, instance, seed, np.empty(0, dtype=np.int64))
    return float(worker.state.tour["length"])


def _routed(
    instance: Instance, seed: int, start: IntArray, most: int | None
) -> tuple[State, IntArray]:
    """A state for a fleet, and routes to begin with.

    There may be ``most`` routes or, if that is None, some more than those need.
    """
    fleet = instance.fleet
    assert fleet is not None
    routes = most_routes(instance) if most is None else most
    if not len(start) or not keeps_limits(instance, start):
        start = split(instance, _one_tour(instance, seed, start), routes)
    if most is None:
        used = int(np.count_nonzero(start == instance.depot))
        spare = max(SPARE_ROUTES, used // 8)
        routes = min(
            routes, max(FEWEST_STARTS, 2 * used) if fleet.objective == "balance" else used + spare
        )
    return make_state(instance, seed, routes), start


def _one_tour(instance: Instance, seed: int, start: IntArray) -> IntArray:
    """The stops of one tour that serves all, from the depot on but without it.

    Where there are many places, by the kernels for single tours: a long route is slow to change.
    """
    stops = start[start != instance.depot]
    if kind_of(instance).endswith("points"):
        instance = instance.with_changes(fleet=None)
        whole = make_state(instance, seed)
    else:
        whole = make_state(instance, seed)
        limits = whole.goal.routes.limits
        limits["longest"] = limits["hard"] = np.inf
        limits["most_stops"] = instance.n
    _complete(whole, instance, seed, stops)
    tour = read_tour(whole)
    return np.roll(tour, -int(np.flatnonzero(tour == instance.depot)[0]))[1:]


def anneal_worker(worker: Worker, iterations: int) -> None:
    """Go on with the search for so many iterations."""
    anneal_for(*worker, iterations)


def best_of(team: list[Worker]) -> Worker:
    """Who has the best tour."""
    return min(team, key=lambda worker: (-worker.weight, worker.longest, worker.length))
