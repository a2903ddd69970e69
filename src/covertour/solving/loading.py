"""What a method needs before its clock runs: kernels compiled or loaded, networks read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache

import numpy as np

from covertour.exact.enumeration import can_enumerate
from covertour.problem.instance import Instance
from covertour.solving.clock import Clock
from covertour.solving.method import Decoding, Method
from covertour.solving.methods import METHODS, check_handles
from covertour.solving.stop import MaxIterations, MaxSeconds


def _telling(on_compile: Callable[[], None] | None) -> AbstractContextManager[None]:
    """A context that calls ``on_compile``, if there is one, before anything is compiled in it."""
    if on_compile is None:
        return nullcontext()
    from covertour import kernelcache

    return kernelcache.on_compile(on_compile)


def warmup(on_compile: Callable[[], None] | None = None, everything: bool = False) -> None:
    """Compile the default method for every kind of plain instance, and what decodes learned tours.

    ``on_compile`` is called before anything is compiled, if not all is in the cache.
    ``everything``: also for instances that ask for more, and for fleets.
    """
    from covertour.neural.inference.tours import load_kernels
    from covertour.neural.inference.weights import SHIPPED, load_network, shipped
    from covertour.search.state import GENERAL, KINDS, ROUTED

    with _telling(on_compile):
        for kind in (*KINDS, "regions"):
            _load("lns", kind)
        for kind in ("table", "points"):
            _load_pools(kind)
        for more in (GENERAL, ROUTED) if everything else ():
            for kind in KINDS:
                _load("lns", more + kind)
        for name in shipped():
            load_kernels(load_network(SHIPPED / name))


def load(
    method: str | Method,
    instance: Instance,
    decoding: Decoding | None = None,
    on_compile: Callable[[], None] | None = None,
) -> None:
    """Compile or load what a method needs for an instance, so that no solve's clock pays for it.

    ``on_compile`` is called before anything is compiled, if not all is in the cache.
    """
    chosen = METHODS[method] if isinstance(method, str) else method
    check_handles(chosen, instance)
    with _telling(on_compile):
        if chosen.model is not None:
            from covertour.neural.inference.problem import check_places
            from covertour.neural.inference.tours import load_kernels
            from covertour.neural.inference.weights import network_for

            check_places(instance)
            wanted = decoding.weights if decoding else None
            load_kernels(network_for(chosen.model, instance.n, wanted))
        if needs_search(chosen, instance):
            from covertour.search.blocks import load_tree
            from covertour.search.pool import may_have_pools
            from covertour.search.state import GENERAL, kind_of

            name = chosen.name if chosen.model is None else "lns"
            if name == "exact":  # searches first
                if instance.fleet is not None:
                    from covertour.exact.fleet import load_kernels as load_fleet_kernels

                    load_fleet_kernels()
                elif proves_by_kernels(instance):
                    from covertour.exact.maxflow import load_kernels as load_flows
                    from covertour.exact.odd_sets import load_kernels as load_odd_sets

                    _load("exact", "proof")
                    load_flows()
                    load_odd_sets()
                    if instance.features:
                        _load("lns", f"{GENERAL}table")  # so that the sample has time for its proof
                        _load("exact", f"{GENERAL}proof")
                name = "lns"
            _load(name, kind_of(instance))
            if instance.fleet is not None and kind_of(instance).endswith("points"):
                _load(name, kind_of(instance.with_changes(fleet=None)))  # of the first tour
            if name == "lns" and _may_be_divided(instance):
                _load(name, "regions")
            if name == "lns" and may_have_pools(instance):
                _load_pools(kind_of(instance))
            load_tree(instance)


def _may_be_divided(instance: Instance) -> bool:
    """Whether a tour may be so long that it is improved region by region."""
    from covertour.search.lns import REGIONS_FROM_TOGETHER
    from covertour.search.state import kind_of

    return kind_of(instance) == "points" and instance.n >= REGIONS_FROM_TOGETHER


def proves_by_kernels(instance: Instance) -> bool:
    """Whether proofs of an instance use compiled cuts; few places with one-way streets do not."""
    from covertour.exact.directed import uses_compiled_cuts

    return instance.symmetric or uses_compiled_cuts(instance)


def needs_search(method: Method, instance: Instance) -> bool:
    """Whether a method needs the compiled search for an instance."""
    return method.searches and not (method.enumerates and can_enumerate(instance))


@cache
def _load(method: str, kind: str) -> None:
    """Run a method once on an easy instance of a kind."""
    sample = _sample(kind)
    options = {"workers": 2} if kind == "regions" else {}
    clock = Clock(MaxIterations(2 if kind != "regions" else 16) | MaxSeconds(60))
    METHODS[method].run(sample, clock, 0, np.empty(0, dtype=np.int64), **options)


@cache
def _load_pools(kind: str) -> None:
    """Load what recombines the tours of a kind of instances."""
    from covertour.search.pool import load_kernels

    load_kernels(_sample(kind))


def _sample(kind: str) -> Instance:
    """An easy instance of a kind."""
    from covertour.problem.generate import random_instance
    from covertour.search.state import GENERAL, ROUTED, TABLE_UP_TO

    many = max(TABLE_UP_TO + 1, 16)  # places, of which two cover all: no cover to be looked for
    sets = [list(range(0, many, 2)), list(range(1, many, 2)), *([] for _ in range(2, many))]
    points = np.random.default_rng(0).random((many, 2))
    samples = {
        "table": random_instance(16, nearest=2),
        "points": Instance.from_coordinates(points, sets=sets),
        "directed": Instance.from_matrix(np.arange(256.0).reshape(16, 16), nearest=2),
        "regions": random_instance(many, nearest=0),  # stops everywhere, enough to be divided
        "proof": random_instance(40, nearest=4),  # enough places to have all kinds of cuts
    }
    sample = samples[kind.removeprefix(GENERAL).removeprefix(ROUTED)]
    if kind.startswith(GENERAL):
        sample = sample.with_changes(quota=0.5)
    elif kind.startswith(ROUTED):
        sample = sample.with_changes(depot=0, quota=0.5, fleet={"max_stops": 2})
    return sample
