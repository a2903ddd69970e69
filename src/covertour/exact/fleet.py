"""The proof for a fleet: a bound by column generation, and small gaps closed by listing all routes.

The relaxation of :mod:`covertour.exact.route_program` is solved with routes that are found when
they are needed, as cheapest paths (:mod:`covertour.exact.route_paths`): first coarsely, then with
more memory and finer lengths. Its prices prove a bound, whatever they are (Lagrange):

    cost of a plan >= value of the prices + vehicles * min(0, least reduced cost of a path),

for a plan has at most so many routes, each of them is a path, and what prices ask of the rows is
paid for by their signs. By the same sum, a route of a plan that is cheaper than the best one has a
reduced cost of at most what the best plan is above the bound. Where those routes are not too many
they are listed, and HiGHS chooses among them; that settles it.

Where there are to be few routes, their number is proven first, and then the cost with so many.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from covertour.exact.route_cuts import add_entries
from covertour.exact.route_paths import FULL, cheapest_paths, list_routes, remember
from covertour.exact.route_program import Entry, Master, Routes, make_routes, new_highs
from covertour.exact.serving import MUST
from covertour.problem.errors import InputError
from covertour.problem.goals import Fleet
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.referee import verify
from covertour.problem.tour import before_cost, make_tour, routes_of
from covertour.solving.clock import Clock

MOST_PLACES = 1_000
"""With more possible stops than this, a table of paths takes too long."""

COARSE_ROOM, FINE_ROOM, MOST_MEMORY = 20, 100, 7
"""Units of a route's length, first and then; and how many stops a path remembers at most."""

MOST_WORK = 6e7
"""Steps of a table of paths: with more, less is remembered and lengths are coarser."""

NEW_ROUTES = 200
"""So many routes at most enter the relaxation in a round."""

ATTRACTIVE = -1e-6
"""A route enters when its reduced cost is below this, in scaled costs."""

SAFETY = 1e-9
"""Relative margin for the rounding of the sums in a bound."""

ROUNDING = 1e-13
"""Relative error of a distance worked out from positions."""

SAME_COST = 2e-7
"""Plans within this share of the best one are not told apart."""

MOST_LISTED, MOST_STEPS = 100_000, 4e7
"""Routes that are listed at most, and steps made for that."""

INTEGER_SAFETY = 1e-6
"""The share by which the solver of integer programs may be wrong."""


@dataclass(frozen=True, eq=False)
class FleetProof:
    """The best plan, ``places`` int64[m], and the ``bound``: no plan costs less.

    Where there are to be few routes, no plan with as few costs less, and none has fewer; the bound
    is None where that is not proven.
    """

    places: IntArray
    bound: float | None


def check_fleet(instance: Instance) -> None:
    """An error where nothing can be proven of a fleet."""
    assert instance.fleet is not None
    if instance.fleet.objective == "balance":
        raise InputError(
            f"{instance.name}: the exact method proves the cost and the number of routes, not how "
            "short the longest can be; lns can balance"
        )
    stops = instance.n - len(instance.forbidden)
    if stops > MOST_PLACES:
        raise InputError(
            f"{instance.name}: the exact method takes at most {MOST_PLACES:,} places that may be "
            f"stops of a fleet, not {stops:,}"
        )


def at_least_one_tour(instance: Instance) -> bool:
    """Whether no plan of a fleet costs less than one tour without limits.

    The routes of a plan, one after the other, are a closed way that serves as much as one tour with
    the same stops. It is a tour once the returns to the depot between routes are left out, and that
    makes nothing longer where no way between two places is longer than the one by the depot. Visits
    of the depot cost at least 0. Where routes are open there are no returns to leave out.
    """
    if instance.open or not instance.symmetric:
        return False
    every = np.arange(instance.n)
    direct = instance.distances(every[:, None], every)
    home = instance.distances(every, np.full_like(every, instance.depot))
    return bool((direct <= (home[:, None] + home) * (1.0 + ROUNDING)).all())


def prove_fleet(
    instance: Instance, start: IntArray, clock: Clock, least: float = 0.0
) -> FleetProof:
    """Prove how cheap a plan can be, from the plan ``start``, int64[m].

    ``least``: what is known already, no plan costs less.

    The clock counts tables of paths as iterations and hears of every better plan and of the bound.
    When it is over, what is proven so far is returned.
    """
    check_fleet(instance)
    fleet, depot = instance.fleet, instance.depot
    assert fleet is not None
    alone = np.array([depot], dtype=np.int64)
    if verify(instance, make_tour(instance, alone)).ok:  # every route costs at least as much
        clock.improved(instance.cost(alone), alone)
        return FleetProof(alone, instance.cost(alone))
    vehicles = None
    if fleet.objective == "fewest":
        number = _Proof(instance, start, clock, count_routes=True)
        with suppress(_Over):
            number.run()
        start, vehicles = number.places, len(routes_of(instance, number.places))
        if number.bound < vehicles:
            return FleetProof(start, None)
    cost = _Proof(instance, start, clock, count_routes=False, vehicles=vehicles)
    cost.prove(least * (1.0 - SAFETY))
    with suppress(_Over):
        cost.run()
    return FleetProof(cost.places, cost.bound)


def load_kernels() -> None:
    """Compile or load what proofs of fleets use, so that no clock pays for it."""
    places = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0], [1.0, 2.0]])
    fleet = Fleet(max_stops=2, max_length=9.0)
    sample = Instance.from_coordinates(places, nearest=0, depot=0, fleet=fleet)
    proof = _Proof(sample, np.array([0, 1, 0, 2, 0, 3, 0, 4]), Clock(), count_routes=False)
    paths = Paths(proof.program, 2, 4)
    prices = paths.prices(1.0, np.zeros(4), np.zeros((4, 4)), 0.0)
    paths.fill(prices)
    proof.list_all(paths, prices, np.inf)


class _Over(Exception):
    """The caller's clock is over."""


@dataclass(frozen=True, eq=False)
class Prices:
    """What paths cost: ``first`` float64[m] from the depot to a stop, ``step`` float64[m, m]
    between stops, ``last`` float64[m] back to the depot, and ``fixed``, all of it reduced.
    """

    first: FloatArray
    step: FloatArray
    last: FloatArray
    fixed: float


class Paths:
    """Tables of cheapest paths, with so many stops remembered and units of length."""

    def __init__(self, program: Routes, memory: int, room: int) -> None:
        m = len(program.stops)
        self.program = program
        self.longest = program.longest - program.start
        self.room = room if np.isfinite(self.longest) else 0
        self.unit = max(self.longest, 1e-300) / self.room if self.room else 1.0
        apart = program.between + program.between.T + np.diag(np.full(m, np.inf))
        memory = min(memory, m - 1)
        near = np.argsort(apart, axis=1, kind="stable")[:, :memory].astype(np.int64)
        self.turn = np.empty((m, m, 1 << memory), dtype=np.int16)
        remember(np.ascontiguousarray(near), self.turn)
        shape = (program.most, self.room + 1, m, 1 << memory)
        self.least = np.empty(shape)
        self.before = np.empty(shape, dtype=np.int32)

    def prices(
        self, scale: float, worth_first: FloatArray, worth_step: FloatArray, of_route: float
    ) -> Prices:
        """The prices of paths, from what their steps are worth; see :meth:`Master.prices`."""
        program = self.program
        of_length = scale * program.price
        return Prices(
            of_length * (program.leave + program.visit) - worth_first,
            np.ascontiguousarray(of_length * (program.between + program.visit) - worth_step),
            of_length * program.home,
            scale * program.each + of_length * program.start - of_route,
        )

    def fill(self, prices: Prices, backwards: bool = False) -> None:
        """Find the cheapest paths from the depot; ``backwards``: those to it, by where they begin.

        What a visit costs and the room that it takes belong to the step to it, in either direction.
        """
        program = self.program
        step_room = self._units(program.between + program.visit)
        first_room = self._units(program.home if backwards else program.leave + program.visit)
        cheapest_paths(
            prices.last if backwards else prices.first,
            first_room,
            np.ascontiguousarray(prices.step.T) if backwards else prices.step,
            np.ascontiguousarray(step_room.T) if backwards else step_room,
            self.turn,
            self.least,
            self.before,
        )

    def _units(self, length: FloatArray) -> IntArray:
        if not self.room:
            return np.zeros(length.shape, dtype=np.int64)
        units = np.floor(np.minimum(length / self.unit, self.room + 1.0))
        return np.ascontiguousarray(units.astype(np.int64))

    def routes(self, prices: Prices, most: int) -> tuple[float, list[IntArray]]:
        """The least reduced cost of a route, and some of the routes that are attractive."""
        program, m = self.program, len(self.program.stops)
        memories = self.least.shape[3]
        back = prices.fixed + prices.last
        by_end = self.least.transpose(0, 2, 1, 3).reshape(program.most, m, -1)
        at = by_end.argmin(axis=2)
        reduced = np.take_along_axis(by_end, at[..., None], axis=2)[..., 0] + back
        order = np.argsort(reduced, axis=None, kind="stable")[:most]
        found = []
        for flat in order[reduced.ravel()[order] < ATTRACTIVE].tolist():
            k, stop = divmod(flat, m)
            found.append(self._path(k, stop, *divmod(int(at[k, stop]), memories)))
        return float(reduced.min()), found

    def _path(self, k: int, stop: int, room: int, memory: int) -> IntArray:
        """The stops of a path in order, by what is known of its end."""
        visit, between = self.program.visit, self.program.between
        path = [stop]
        for step in range(k, 0, -1):
            came = int(self.before[step, room, stop, memory])
            earlier, memory = divmod(came, self.least.shape[3])
            if self.room:
                leg = between[earlier, stop] + visit[stop]
                room -= int(np.floor(min(leg / self.unit, self.room + 1.0)))
            stop = earlier
            path.append(stop)
        return np.array(path[::-1], dtype=np.int64)

    def rest(self, prices: Prices) -> FloatArray:
        """At least what it costs to go on from a stop, float64[most, room + 1, m].

        By how many more stops there may be, and the room that is left.
        """
        self.fill(prices, backwards=True)
        least = np.minimum.accumulate(self.least.min(axis=3), axis=0)
        return np.ascontiguousarray(np.minimum.accumulate(least, axis=1))


class _Proof:
    """The state of one proof: the best plan, its value, which is minimised, and the bound."""

    def __init__(
        self,
        instance: Instance,
        start: IntArray,
        clock: Clock,
        count_routes: bool,
        vehicles: int | None = None,
    ) -> None:
        self.instance = instance
        self.clock = clock
        self.count_routes = count_routes
        self.program = make_routes(instance, count_routes, vehicles)
        self.places = start
        self.value = self.value_of(start)
        self.bound = 0.0

    def value_of(self, places: IntArray) -> float:
        """What is minimised."""
        if self.count_routes:
            return float(len(routes_of(self.instance, places)))
        return self.instance.cost(places)

    @property
    def cutoff(self) -> float:
        """Plans of this value or more are no better than the best one."""
        if self.program.integral:
            return self.value - 1.0 + 1e-6
        return self.value * (1.0 - SAME_COST)

    def prove(self, bound: float) -> None:
        """Raise the bound; one above all better plans proves the best one."""
        if self.program.integral:
            bound = float(np.ceil(bound - 1e-6))
        self.bound = max(self.bound, min(bound, self.value))
        if not self.count_routes:
            self.clock.bound = self.bound

    def look_at_clock(self) -> None:
        """Count a table and stop where the clock is over."""
        self.clock.iterations += 1
        self.clock.report()
        if self.clock.over:
            raise _Over

    def run(self) -> None:
        """Raise the bound, to the value of the best plan if that can be done."""
        if self.value <= 0.0 or len(self.program.stops) == 0:
            self.prove(self.value)
            return
        number = np.full(self.instance.n, -1)
        number[self.program.stops] = np.arange(len(self.program.stops))
        known = [number[route[1:]] for route in routes_of(self.instance, self.places)]
        known += [np.array([stop]) for stop in range(len(self.program.stops))]
        cuts: list[Entry] = []
        for memory, room in ((0, COARSE_ROOM), _detail(self.program)):
            master = Master(self.program, self.value)
            for cut in cuts:
                master.add_cut(cut)
            for route in known:
                if self._is_route(route):
                    master.add(route)
            paths = Paths(self.program, memory, room)
            prices, value = self._generate(master, paths)
            if self.bound >= self.cutoff:
                return
            known, cuts = master.columns, master.cuts
        limit = self.cutoff * master.scale - value
        listed = self.list_all(paths, prices, limit)
        if listed is not None:
            self._choose(*listed)

    def _is_route(self, route: IntArray) -> bool:
        """Whether a path visits no stop twice and keeps the limits."""
        if len(route) == 0 or len(np.unique(route)) < len(route):
            return False
        return (
            len(route) <= self.program.most and self.program.length(route) <= self.program.longest
        )

    def _generate(self, master: Master, paths: Paths) -> tuple[Prices, float]:
        """Solve the relaxation over all paths: its last prices, and what they are worth."""
        while True:
            if not master.solve(self.clock.seconds_left):
                raise _Over
            worth_first, worth_step, of_route, value = master.prices()
            prices = paths.prices(master.scale, worth_first, worth_step, of_route)
            paths.fill(prices)
            least, found = paths.routes(prices, NEW_ROUTES)
            size = self.value * master.scale + np.abs(worth_first).sum()
            value += self.program.vehicles * min(0.0, least) - SAFETY * size
            self.prove(value / master.scale)
            self.look_at_clock()
            if self.bound >= self.cutoff:
                return prices, value
            new = sum([master.add(route) for route in found])
            if new == 0 and not add_entries(master):
                return prices, value

    def list_all(
        self, paths: Paths, prices: Prices, limit: float
    ) -> tuple[np.ndarray, FloatArray] | None:
        """All routes whose reduced cost is at most a limit, None where they are too many.

        Of those with the same stops the shortest: int16[r, most], -1 behind the last stop, and
        their lengths, float64[r].
        """
        program = self.program
        routes = np.empty((MOST_LISTED, program.most), dtype=np.int16)
        real = np.empty(MOST_LISTED)
        many = list_routes(
            prices.first,
            prices.step,
            prices.last,
            program.leave,
            program.between,
            program.home,
            program.visit,
            paths.rest(prices),
            paths.room,
            np.array([limit - prices.fixed, MOST_STEPS, paths.longest, paths.unit]),
            routes,
            real,
        )
        if many == FULL:
            return None
        routes, real = routes[:many], real[:many] + program.start
        order = np.lexsort((real, *np.sort(routes, axis=1).T))
        ranked = np.sort(routes, axis=1)[order]
        new = np.ones(many, dtype=bool)
        new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
        return routes[order[new]], real[order[new]]

    def _choose(self, routes: np.ndarray, lengths: FloatArray) -> None:
        """Choose the best plan of these routes, which holds every plan that is better."""
        if len(routes) == 0:
            self.prove(self.value)
            return
        import highspy

        highs = self._integer_program(routes, lengths)
        highs.setOptionValue("time_limit", max(self.clock.seconds_left, 0.01))
        highs.cbMipInterrupt += lambda event: event.interrupt(self.clock.interruption.happened)
        highs.run()
        status = highs.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            self.prove(self.value)
            return
        info = highs.getInfo()
        bound = float(info.mip_dual_bound)
        if status == highspy.HighsModelStatus.kOptimal:
            bound = float(info.objective_function_value)
            values = np.array(highs.getSolution().col_value)[len(self.program.weight) :]
            self._offer([routes[r][routes[r] >= 0] for r in np.flatnonzero(values > 0.5)])
        if np.isfinite(bound):
            self.prove(min(bound, self.value) * (1.0 - INTEGER_SAFETY / 2.0))

    def _offer(self, routes: list[np.ndarray]) -> None:
        """Take a plan if it is right and better."""
        depot, stops = self.instance.depot, self.program.stops
        if not routes:
            return
        places = np.concatenate([[depot, *stops[route].tolist()] for route in routes])
        tour = make_tour(self.instance, places)
        value = self.value_of(tour.places)
        if value < self.value and verify(self.instance, tour).ok:
            self.places, self.value = tour.places, value
            first = before_cost(self.instance, tour.places)
            self.clock.improved(self.instance.cost(tour.places), tour.places, first=first)

    def _integer_program(self, routes: np.ndarray, lengths: FloatArray) -> Any:
        """The program of route_program over these routes."""
        import highspy
        from scipy.sparse import csc_matrix, hstack, vstack

        program = self.program
        sets, m, q = len(program.need), len(program.stops), len(program.weight)
        many = len(routes)
        route, position = np.nonzero(routes >= 0)
        stop = routes[route, position].astype(np.int64)
        visits = csc_matrix((np.ones(len(stop)), (stop, route)), shape=(m, many))
        member = csc_matrix(program.member.astype(np.float64))
        within = (member @ visits).minimum(csc_matrix(program.need[:, None] * np.ones(many)))
        of_routes = vstack([within, csc_matrix((1, many)), visits, csc_matrix(np.ones((1, many)))])
        optional = np.flatnonzero(program.z != MUST)
        weight = float(program.weight.max()) if q else 1.0
        of_z = np.zeros((sets + 2 + m, q))
        of_z[optional, program.z[optional]] = -program.need[optional]
        of_z[sets] = program.weight / weight
        table = hstack([csc_matrix(of_z), of_routes]).tocsc()
        infinite = highspy.kHighsInf
        right = np.where(program.z == MUST, program.need, 0).astype(np.float64)
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = q + many, sets + m + 2
        cost = program.each + program.price * lengths
        model.col_cost_ = np.concatenate([np.zeros(q), cost])
        model.col_lower_, model.col_upper_ = np.zeros(q + many), np.ones(q + many)
        model.row_lower_ = np.concatenate(
            [right, [max(program.least, 0.0) / weight * (1.0 - SAFETY)], np.full(m + 1, -infinite)]
        )
        model.row_upper_ = np.concatenate(
            [np.full(sets + 1, infinite), np.ones(m), [program.vehicles]]
        )
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = table.indptr
        model.a_matrix_.index_ = table.indices
        model.a_matrix_.value_ = table.data
        model.integrality_ = [highspy.HighsVarType.kInteger] * (q + many)
        highs = new_highs()
        highs.passModel(model)
        return highs


def _detail(program: Routes) -> tuple[int, int]:
    """How many stops a path can remember, and units of length, with tables of MOST_WORK steps."""
    memory, room = MOST_MEMORY, FINE_ROOM if np.isfinite(program.longest) else 0

    def work() -> float:
        return float(program.most * (room + 1) * len(program.stops) ** 2 * 2**memory)

    while work() > MOST_WORK and (memory > 0 or room > COARSE_ROOM):
        if memory > 4 or room <= COARSE_ROOM:
            memory -= 1
        else:
            room = max(COARSE_ROOM, room // 2)
            memory -= room == COARSE_ROOM and memory > 0
    return memory, room
