"""The table of methods: the one place where solvers meet."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from importlib import import_module

import numpy as np

from covertour.exact.enumeration import can_enumerate
from covertour.problem.errors import InputError
from covertour.problem.instance import FEATURES, Instance
from covertour.problem.metric import IntArray
from covertour.search.params import LnsParams
from covertour.solving.clock import Clock
from covertour.solving.method import Decoding, Method, Outcome
from covertour.solving.stop import MaxIterations, MaxSeconds, NoImprovement, Stop, StoppingRule

SEARCH_SHARE = 0.2
"""``exact`` searches for n² iterations before it proves, and at most this share of its time."""

ONE_TOUR_SHARE, LONGEST_ONE_TOUR = 0.3, 200.0
"""For a fleet, the share of the time that is left, of so many seconds at most, for one tour."""

SEARCHES, SEARCHES_FROM = 5, 500
"""From so many places on it makes several such searches: they end in different tours."""

LEARNED = {
    "am-gain": "learned, ours: attention that sees what a stop would gain; made in milliseconds",
    "am-dynamic": "learned: Attention-dynamic, the paper's model, with heads that see coverage",
    "am": "learned: the attention model of Kool et al. (2019); give --weights",
    "pn-dynamic": "learned: the pointer network of Nazari et al. (2018), guided; give --weights",
    "pn": "learned: the pointer network of Vinyals et al. (2015); give --weights",
}
"""The learned methods, named after their models."""

POSTERIOR = 50
"""The search after a learned tour, the paper's posterior local search: iterations per place."""


IDLE_CHILDREN, IDLE_SHAKES = 100 * 54, 1_000 * 30
"""When ``ma`` and ``vns`` give up: 100 generations of 54 children, 1,000 rounds of 30 shakes."""

IDLE_TOURS = 2_000
"""When ``msils``, ``aco``, ``abc`` and ``hga`` give up: after so many tours of no use."""

PLAIN: frozenset[str] = frozenset()
"""What a method handles that knows the plain problem only."""

ONE_TOUR = frozenset(FEATURES) - {"fleet"}
"""What a method handles that knows all but several routes."""


def _search(
    instance: Instance,
    clock: Clock,
    seed: int,
    start: IntArray,
    workers: int = 1,
    params: LnsParams | None = None,
    executor: Executor | None = None,
) -> IntArray:
    """The stops of the best tour that the large-neighbourhood search finds."""
    from covertour.search.lns import lns

    return lns(instance, clock, seed, start, workers, params, executor)


def _enumerate(instance: Instance) -> Outcome:
    """A best tour of an instance with few possible stops, which needs no search."""
    from covertour.exact.enumeration import shortest_tour

    places = shortest_tour(instance)
    cost = instance.cost(places)
    if instance.budget is None:
        return Outcome(places, cost)
    return Outcome(places, instance.covered_weight(places), cost)


def _lns(
    instance: Instance,
    clock: Clock,
    seed: int,
    start: IntArray,
    workers: int = 1,
    params: LnsParams | None = None,
    executor: Executor | None = None,
) -> Outcome:
    if can_enumerate(instance):
        return _enumerate(instance)
    return Outcome(_search(instance, clock, seed, start, workers, params, executor))


def _greedy(instance: Instance, clock: Clock, seed: int, start: IntArray) -> Outcome:
    return Outcome(_search(instance, clock.part(MaxIterations(0)), seed, start))


def _ls1(
    instance: Instance, clock: Clock, seed: int, start: IntArray, as_in_paper: bool = False
) -> Outcome:
    from covertour.search.ls1 import ls1

    return Outcome(ls1(instance, clock, seed, start, as_in_paper))


def _ls2(
    instance: Instance, clock: Clock, seed: int, start: IntArray, as_in_paper: bool = False
) -> Outcome:
    from covertour.search.ls2 import ls2

    return Outcome(ls2(instance, clock, seed, start, as_in_paper))


def _twophase(instance: Instance, clock: Clock, seed: int, start: IntArray) -> Outcome:
    from covertour.search.twophase import twophase

    return Outcome(twophase(instance, clock, seed))


def _of_literature(name: str) -> Callable[..., Outcome]:
    """The method in the file of its name in ``search``, imported when it is used."""

    def run(instance: Instance, clock: Clock, seed: int, start: IntArray) -> Outcome:
        method = getattr(import_module(f"covertour.search.{name}"), name)
        return Outcome(method(instance, clock, seed, start))

    return run


def _exact(
    instance: Instance, clock: Clock, seed: int, start: IntArray, workers: int = 1
) -> Outcome:
    """Search for a while, then prove; the search helps the proof on its way."""
    from covertour.exact.branch_and_cut import prove
    from covertour.exact.fleet import check_fleet, prove_fleet
    from covertour.exact.formulation import check_provable

    if can_enumerate(instance):
        return _enumerate(instance)
    check = check_provable if instance.fleet is None else check_fleet
    check(instance)
    opening = MaxSeconds(SEARCH_SHARE * clock.limits.seconds) | MaxIterations(instance.n**2)
    often = instance.n >= SEARCHES_FROM and instance.fleet is None
    searches = SEARCHES if often else 1
    first = searches if workers == 1 else 1  # with several workers the others run beside the proof
    for again in range(first):
        part = clock.part(opening | (lambda _: clock.over))
        places = _search(instance, part, seed + again, start, workers)
        if clock.over or clock.seconds >= opening.limits.seconds:
            break
    if clock.places is not None and instance.fleet is None:
        places = clock.places  # of all the searches
    if clock.over:
        return Outcome(places, 0.0 if instance.budget is None else instance.total_weight)
    if instance.fleet is not None:
        least = _one_tour_bound(instance, clock, seed, places, workers)
        planned = prove_fleet(instance, places, clock, least)
        return Outcome(planned.places, planned.bound)

    def improve(places: IntArray) -> IntArray:
        short = Clock(MaxIterations(10 * (20 + len(places))), interruption=clock.interruption)
        return _search(instance, short, seed, allowed(instance, places))

    def another(number: int, enough: Callable[[], bool]) -> IntArray | None:
        if number >= searches:
            return None
        beside = MaxIterations(instance.n**2) | (lambda _: enough())
        part = Clock(beside, interruption=clock.interruption)
        return _search(instance, part, seed + number, start)

    proof = prove(
        instance, places, clock, seed=seed, improve=improve, another=another, workers=workers
    )
    for warning in proof.warnings:
        warnings.warn(warning, RuntimeWarning, stacklevel=3)
    return Outcome(proof.places, proof.bound, proof.cost_bound)


def _one_tour_bound(
    instance: Instance, clock: Clock, seed: int, plan: IntArray, workers: int
) -> float:
    """What a plan of a fleet costs at least, as one tour would; 0 where that is not proven."""
    from covertour.exact.branch_and_cut import prove
    from covertour.exact.fleet import at_least_one_tour
    from covertour.exact.formulation import check_provable

    if not at_least_one_tour(instance):
        return 0.0
    alone = instance.with_changes(fleet=None)
    check_provable(alone)
    until = clock.seconds + ONE_TOUR_SHARE * min(clock.seconds_left, LONGEST_ONE_TOUR)
    rule = MaxSeconds(until - clock.seconds) | (lambda _: clock.over)
    stops = plan[np.sort(np.unique(plan, return_index=True)[1])]
    short = Clock(rule | MaxIterations(instance.n**2), interruption=clock.interruption)
    tour = _search(alone, short, seed, stops, workers)
    rest = MaxSeconds(max(until - clock.seconds, 0.0)) | (lambda _: clock.over)
    bound = prove(alone, tour, Clock(rest, interruption=clock.interruption), seed=seed).bound
    return 0.0 if bound is None else bound


def _learned(
    instance: Instance,
    clock: Clock,
    seed: int,
    start: IntArray,
    model: str,
    decoding: Decoding,
    workers: int,
) -> Outcome:
    """The best tour that a model decodes; the greedy one at least, when the clock is over."""
    from covertour.neural.inference.tours import best_tours
    from covertour.neural.inference.weights import network_for

    def go_on() -> bool:
        clock.report()
        return not clock.over

    (places,) = best_tours(
        network_for(model, instance.n, decoding.weights),
        [instance],
        samples=decoding.samples,
        symmetries=decoding.symmetries,
        raw=decoding.raw,
        seed=seed,
        workers=workers,
        go_on=go_on,
        on_tour=lambda _, tour: clock.improved(instance.length(tour), tour),
    )
    return Outcome(places)


def _learned_then_searched(
    instance: Instance,
    clock: Clock,
    seed: int,
    start: IntArray,
    model: str,
    decoding: Decoding,
    workers: int,
) -> Outcome:
    """The learned tour, improved by lns for the rest of the time."""
    learned = _learned(instance, clock, seed, start, model, decoding, workers)
    return _lns(instance, clock, seed, learned.places, workers)


def allowed(instance: Instance, places: IntArray) -> IntArray:
    """The places, int64[m], without repeated and forbidden ones, but for the depot of routes."""
    _, first = np.unique(places, return_index=True)
    if instance.fleet is not None:
        first = np.union1d(first, np.flatnonzero(places == instance.depot))
    distinct = places[np.sort(first)]
    return distinct[~np.isin(distinct, instance.forbidden)]


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "lns",
            _lns,
            "large-neighbourhood search; the default, best at any time limit",
            takes=("workers", "params", "executor"),
            searches=True,
            handles=frozenset(FEATURES),
            enumerates=True,
        ),
        Method(
            "exact",
            _exact,
            "branch-and-cut from an lns tour: the shortest tour, or a proven gap",
            lambda _: MaxSeconds(600),
            takes=("workers",),
            searches=True,
            enumerates=True,
            proves=True,
        ),
        Method(
            "greedy",
            _greedy,
            "greedy construction with 2-opt and Or-opt; the first tour of lns",
            searches=True,
            handles=ONE_TOUR,
        ),
        Method(
            "ls1",
            _ls1,
            "local search 1 of Golden et al. (2012), 3,500 iterations",
            lambda _: MaxIterations(3_500),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "ls2",
            _ls2,
            "local search 2 of Golden et al. (2012), 25 x 300 iterations",
            lambda _: MaxIterations(7_500),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "ls1-paper",
            partial(_ls1, as_in_paper=True),
            "ls1 as the Attention-dynamic paper ran it: 500 iterations, from a cover",
            lambda _: MaxIterations(500) | NoImprovement(50),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "ls2-paper",
            partial(_ls2, as_in_paper=True),
            "ls2 as the Attention-dynamic paper ran it: 25 x 150 iterations, single replacements",
            lambda _: MaxIterations(3_750),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "twophase",
            _twophase,
            "smallest covers by HiGHS, then tours of them (Current and Schilling 1989)",
            lambda _: MaxSeconds(60),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "ma",
            _of_literature("ma"),
            "memetic algorithm of Shaelaie et al. (2014), until 100 idle generations",
            lambda _: NoImprovement(IDLE_CHILDREN),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "vns",
            _of_literature("vns"),
            "variable neighbourhood search of Shaelaie et al. (2014), until 1,000 idle rounds",
            lambda _: NoImprovement(IDLE_SHAKES),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "sn",
            _of_literature("sn"),
            "integer-programming search after Salari and Naji-Azimi (2012), a reconstruction",
            lambda _: MaxIterations(500) | NoImprovement(100),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "msils",
            _of_literature("msils"),
            "multi-start iterated local search, in the manner of Venkatesh et al. (2019)",
            lambda _: NoImprovement(IDLE_TOURS),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "aco",
            _of_literature("aco"),
            "ant colony with dynamic programming, in the manner of Salari et al. (2015)",
            lambda _: NoImprovement(IDLE_TOURS),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "abc",
            _of_literature("abc"),
            "artificial bee colony, in the manner of Pandiri and Singh (2019)",
            lambda _: NoImprovement(IDLE_TOURS),
            searches=True,
            handles=PLAIN,
        ),
        Method(
            "hga",
            _of_literature("hga"),
            "hybrid genetic algorithm, in the manner of Pandiri et al. (2020)",
            lambda _: NoImprovement(IDLE_TOURS),
            searches=True,
            handles=PLAIN,
        ),
        *(
            Method(
                name,
                partial(_learned, model=name),
                summary,
                lambda _: Stop(),
                takes=("workers", "decoding"),
                model=name,
                handles=PLAIN,
            )
            for name, summary in LEARNED.items()
        ),
        *(
            Method(
                f"{name}+ls",
                partial(_learned_then_searched, model=name),
                f"the tour of {name}, then lns for {POSTERIOR} (20 + n) iterations",
                lambda instance: MaxIterations(POSTERIOR * (20 + instance.n)),
                takes=("workers", "decoding"),
                model=name,
                searches=True,
                handles=PLAIN,
            )
            for name in LEARNED
        ),
    )
}
"""The methods by name."""


def default_stop(instance: Instance, method: str = "lns") -> StoppingRule:
    """When a method of the table stops by itself."""
    return METHODS[method].limit(instance)


def check_handles(method: Method, instance: Instance) -> None:
    """Refuse an instance that asks for what a method cannot do."""
    beyond = sorted(instance.features - method.handles)
    if beyond:
        able = [name for name, other in METHODS.items() if instance.features <= other.handles]
        hint = f"; {' and '.join(able)} can" if able else ""
        raise InputError(f"{method.name} cannot handle {' and '.join(beyond)}{hint}")
