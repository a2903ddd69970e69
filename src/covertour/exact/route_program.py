"""A fleet as an integer program of whole routes, and its linear relaxation in HiGHS.

A column λ_r says whether route r is driven; a_ir is how often it visits stop i. With the sets T of
coverers and z of :mod:`covertour.exact.serving`, what the depot covers taken off:

    minimise    sum of c_r λ_r
    subject to  sum over i in T of a_ir λ_r >= need, or need z      for every set T,
                sum of w z >= least                                 where there is a quota,
                sum of a_ir λ_r <= 1                                for every stop i,
                sum of λ_r <= vehicles,
                λ, z in {0, 1}.

Every plan is a point of it: routes keep their limits, and no stop is on two of them. A plan of the
depot alone, the only one without a route, is looked up beforehand.

A route that visits three stops of T counts three times in its row, so a third of it would do. What
is missing is that T must be entered; see :class:`Entry`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from covertour.exact.serving import MUST, make_service
from covertour.problem.feasibility import visitable
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

LENGTH_SLACK = 1e-9
"""A route may exceed its limit of length by this share."""

TOLERANCE = 1e-9
"""Of the solver, for values and for reduced costs."""

PLAN_SIZE = 13
"""Costs are scaled so that those of the first plan are about 2 to the power of this."""


@dataclass(frozen=True, eq=False)
class Routes:
    """A fleet as its proof sees it; ``stops`` int64[m] are the places that may be, but the depot.

    ``leave``, ``between``, ``home``: float64[m], float64[m, m] and float64[m], lengths from the
    depot, among stops and back; ``visit``: float64[m], visit costs, ``start``: that of the depot.
    ``longest``: the most that a route may be long, visits included, infinite for any; ``most``: how
    many stops it can have. ``vehicles``: how many routes there can be. ``price``: 1 where costs
    are minimised, 0 where the number of routes is, each of which costs ``each``.

    ``member``: bool[sets, m], the sets of coverers, with ``need`` and ``z`` as in ``Service``;
    ``weight``: float64[q] of each z, which must be ``least`` together. ``integral``: whether what
    is minimised is whole.
    """

    stops: IntArray
    leave: FloatArray
    between: FloatArray
    home: FloatArray
    visit: FloatArray
    start: float
    longest: float
    most: int
    vehicles: int
    price: float
    each: float
    member: np.ndarray
    need: IntArray
    z: IntArray
    weight: FloatArray
    least: float
    integral: bool

    def cost(self, route: IntArray) -> float:
        """What a route through these stops, by their numbers here, adds to the objective."""
        return self.each + self.price * self.length(route)

    def length(self, route: IntArray) -> float:
        """How long a route is, visits included."""
        legs = self.between[route[:-1], route[1:]].sum()
        way = self.leave[route[0]] + legs + self.home[route[-1]]
        return float(self.start + way + self.visit[route].sum())


def make_routes(instance: Instance, count_routes: bool, vehicles: int | None) -> Routes:
    """The program of a fleet: of its cost or, with ``count_routes``, of the number of its routes.

    ``vehicles``: at most so many, where it is known that there need be no more.
    """
    fleet, depot = instance.fleet, instance.depot
    assert fleet is not None
    assert depot is not None
    may = visitable(instance)
    may[[depot, *instance.forbidden]] = False
    stops = np.flatnonzero(may)
    m = len(stops)
    home = np.full(m, depot)
    leave = instance.distances(home, stops)
    back = np.zeros(m) if instance.open else instance.distances(stops, home)
    between = instance.distances(stops[:, None], stops)
    visit, start = instance.visit_costs[stops], float(instance.visit_costs[depot])
    longest = np.inf
    if fleet.max_length is not None:
        longest = fleet.max_length * (1.0 + LENGTH_SLACK)
    most = m if fleet.max_stops is None else min(m, fleet.max_stops)
    most = min(most, _stops_within(longest - start, leave, between, visit))
    if fleet.vehicles is not None:
        vehicles = fleet.vehicles if vehicles is None else min(vehicles, fleet.vehicles)
    service = make_service(instance, instance.quota_weight if instance.partial else None)
    number = np.full(instance.n, -1)
    number[stops] = np.arange(m)
    rows = []
    for row in range(len(service.need)):
        members = service.member[service.start[row] : service.start[row + 1]]
        if depot not in members:  # which is visited anyway
            rows.append((row, number[members[number[members] >= 0]]))
    member = np.zeros((len(rows), m), dtype=bool)
    for at, (_, members) in enumerate(rows):
        member[at, members] = True
    chosen = np.array([row for row, _ in rows], dtype=np.int64)
    return Routes(
        stops=stops,
        leave=leave,
        between=between,
        home=back,
        visit=visit,
        start=start,
        longest=longest,
        most=most,
        vehicles=max(m, 1) if vehicles is None else min(vehicles, max(m, 1)),
        price=0.0 if count_routes else 1.0,
        each=1.0 if count_routes else 0.0,
        member=member,
        need=service.need[chosen],
        z=service.z[chosen],
        weight=service.weight,
        least=service.least,
        integral=count_routes or instance.integral,
    )


def _stops_within(longest: float, leave: FloatArray, between: FloatArray, visit: FloatArray) -> int:
    """At least as many stops as a route of this length can have, but one at least.

    Every stop of a route is entered, over a leg that is no shorter than the shortest one that
    leads there: the k stops that are entered most cheaply take no more than any k stops do.
    """
    if len(leave) == 0 or not np.isfinite(longest):
        return max(len(leave), 1)
    others = between + np.where(np.eye(len(leave), dtype=bool), np.inf, 0.0)
    enter = np.minimum(leave, others.min(axis=0)) + visit
    return max(1, int(np.searchsorted(np.cumsum(np.sort(enter)), longest * (1.0 + 1e-12), "right")))


@dataclass(frozen=True, eq=False)
class Entry:
    """Routes enter a set of stops at least so often: ``inside`` bool[m], ``least``, or z times.

    A route enters it where it comes from the depot or another stop outside. Valid: the plan has a
    stop in the set, by the row of a set T that lies in it (where that has a z, if z is 1), and the
    route of that stop comes from the depot, so it enters. Where sets T in it have no stop in common
    each has its own stops, as many as it needs; a route has at most ``most`` of them however often
    it enters, so at least (stops / most) routes do, a whole number of them.
    """

    inside: np.ndarray
    least: float
    z: int = MUST

    def entries(self, route: IntArray) -> float:
        """How often a route, int64[k] of stops in order, enters the set."""
        inside = self.inside[route]
        return float(inside[0]) + float(np.count_nonzero(inside[1:] & ~inside[:-1]))


class Master:
    """The relaxation over the routes that it has so far, ``columns``, by their stops in order."""

    def __init__(self, program: Routes, known: float) -> None:
        """``known``: the value of a plan, by which costs are scaled."""
        import highspy

        self.program = program
        self.scale = float(2.0 ** (PLAN_SIZE - int(np.ceil(np.log2(known)))))
        self.columns: list[IntArray] = []
        self.cuts: list[Entry] = []
        self._known: set[bytes] = set()
        sets, m, q = len(program.need), len(program.stops), len(program.weight)
        self.quota_scale = 1.0 / float(program.weight.max()) if q else 1.0
        must = program.z == MUST
        self.right = np.where(must, program.need, 0).astype(np.float64)
        self.least = max(program.least, 0.0) * self.quota_scale
        self.z_most = np.ones(q)
        poor = ~must & (program.member.sum(axis=1) < program.need)
        self.z_most[program.z[poor]] = 0.0
        infinite = highspy.kHighsInf
        lower = np.concatenate([self.right, [self.least], np.full(m + 1, -infinite)])
        upper = np.concatenate([np.full(sets + 1, infinite), np.ones(m), [program.vehicles]])
        self.highs: Any = new_highs()
        none = np.empty(0, dtype=np.int32)
        count = len(lower)
        self.highs.addRows(count, lower, upper, 0, np.zeros(count, np.int32), none, np.empty(0))
        for k in range(q):
            row = np.append(np.flatnonzero(program.z == k), sets).astype(np.int32)
            value = np.append(-program.need[row[:-1]], program.weight[k] * self.quota_scale)
            self.highs.addCol(0.0, 0.0, self.z_most[k], len(row), row, value)

    def add(self, route: IntArray) -> bool:
        """Add a route, int64[k] of stops in order; whether it was not there yet."""
        if route.tobytes() in self._known:
            return False
        self._known.add(route.tobytes())
        self.columns.append(route)
        self._add_column(route)
        return True

    def _add_column(self, route: IntArray) -> None:
        program = self.program
        visits = np.bincount(route, minlength=len(program.stops)).astype(np.float64)
        column = np.concatenate([program.member @ visits, [0.0], visits, [1.0]])
        column = np.concatenate([column, [cut.entries(route) for cut in self.cuts]])
        row = np.flatnonzero(column).astype(np.int32)
        cost = program.cost(route) * self.scale
        self.highs.addCol(cost, 0.0, np.inf, len(row), row, column[row])

    def add_cut(self, cut: Entry) -> None:
        """Add a cut."""
        import highspy

        self.cuts.append(cut)
        q = len(self.program.weight)
        value = np.array([cut.entries(route) for route in self.columns])
        column = np.flatnonzero(value)
        index, value = q + column, value[column]
        least = cut.least
        if cut.z != MUST:
            index, value, least = np.append(index, cut.z), np.append(value, -1.0), 0.0
        self.highs.addRow(least, highspy.kHighsInf, len(index), index.astype(np.int32), value)

    def flows(self) -> tuple[FloatArray, FloatArray]:
        """How much the last solution drives from the depot to each stop, and between them."""
        m = len(self.program.stops)
        first, between = np.zeros(m), np.zeros((m, m))
        amounts = np.array(self.highs.getSolution().col_value)[len(self.program.weight) :]
        for column in np.flatnonzero(amounts > 1e-9):
            route = self.columns[column]
            first[route[0]] += amounts[column]
            np.add.at(between, (route[:-1], route[1:]), amounts[column])
        return first, between

    def served(self) -> FloatArray:
        """Of each set of coverers how far it must be served in the last solution: 1, or its z."""
        z = np.array(self.highs.getSolution().col_value)[: len(self.program.weight)]
        must = self.program.z == MUST
        return np.where(must, 1.0, np.append(z, 0.0)[self.program.z])

    def solve(self, seconds: float) -> bool:
        """Solve; whether that went well in so many seconds."""
        import highspy

        self.highs.setOptionValue("time_limit", self.highs.getRunTime() + max(seconds, 0.01))
        self.highs.run()
        return bool(self.highs.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def prices(self) -> tuple[FloatArray, FloatArray, float, float]:
        """What the duals of the last solve say, scaled, and with the signs that they must have.

        What coming to each stop from the depot, float64[m], and from each other stop, float64[m,
        m], is worth; what a route is; and the value of the duals over all but the routes:
        Σ dual * right side + Σ over z of the least that they can add.
        """
        program = self.program
        sets, m = len(program.need), len(program.stops)
        dual = np.array(self.highs.getSolution().row_dual)
        dual = np.where(np.isfinite(dual), dual, 0.0)
        of_sets, of_quota = np.maximum(dual[:sets], 0.0), max(float(dual[sets]), 0.0)
        of_stops = np.minimum(dual[sets + 1 : sets + 1 + m], 0.0)
        of_route = min(float(dual[sets + 1 + m]), 0.0)
        of_cuts = np.maximum(dual[sets + m + 2 :], 0.0)
        optional = program.z != MUST
        reduced = -of_quota * program.weight * self.quota_scale
        np.add.at(reduced, program.z[optional], (program.need * of_sets)[optional])
        value = of_sets @ self.right + of_quota * self.least + of_stops.sum()
        inside = np.zeros((len(self.cuts), m))
        for k, cut in enumerate(self.cuts):
            inside[k] = cut.inside
            if cut.z == MUST:
                value += of_cuts[k] * cut.least
            else:
                reduced[cut.z] += of_cuts[k]
        coming = of_sets @ program.member + of_stops
        value += of_route * program.vehicles + float(np.minimum(reduced, 0.0) @ self.z_most)
        from_depot = coming + of_cuts @ inside
        between = coming + ((1.0 - inside) * of_cuts[:, None]).T @ inside
        return from_depot, between, of_route, float(value)


def new_highs() -> Any:
    """A silent solver of linear and integer programs, the same on every run."""
    import highspy

    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, bool | int | float | str] = {
        "output_flag": False,
        "threads": 1,
        "random_seed": 0,
        "primal_feasibility_tolerance": TOLERANCE,
        "dual_feasibility_tolerance": TOLERANCE,
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
    }
    for option, value in options.items():
        highs.setOptionValue(option, value)
    return highs
