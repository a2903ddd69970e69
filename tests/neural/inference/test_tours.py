"""Tours of networks: more decoding shortens them, company changes nothing, and all can be ended."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from covertour import Instance, make_tour, random_instance, verify
from covertour.neural.config import MODELS
from covertour.neural.inference import tours
from covertour.neural.inference.tours import best_tours
from covertour.neural.inference.weights import Network, load_network, network_for


@pytest.fixture(params=MODELS)
def network(request: pytest.FixtureRequest, weights: Callable[[str], Path]) -> Network:
    return load_network(weights(request.param))


def length_of(instances: list[Instance], found: list[np.ndarray]) -> float:
    for one, tour in zip(instances, found, strict=True):
        assert verify(one, make_tour(one, tour)).ok
    return sum(one.length(tour) for one, tour in zip(instances, found, strict=True))


def test_more_samples_and_symmetries_give_shorter_tours_that_cover(
    network: Network, instances: list[Instance]
) -> None:
    greedy, sampled, turned = (
        length_of(instances, best_tours(network, instances, seed=1, **more))
        for more in ({}, {"samples": 8}, {"samples": 8, "symmetries": True})
    )
    assert turned < sampled < greedy


def test_polish_shortens_tours_where_the_model_has_it(
    network: Network, instances: list[Instance]
) -> None:
    raw, usual = best_tours(network, instances, raw=True), best_tours(network, instances)
    if network.config.polish == "yes":
        assert length_of(instances, usual) < length_of(instances, raw)
    else:
        assert all(map(np.array_equal, usual, raw))


@pytest.mark.parametrize("more", [{}, {"samples": 5}, {"samples": 3, "symmetries": True}])
def test_chunks_threads_and_company_change_nothing(
    network: Network, more: dict[str, Any], instances: list[Instance], monkeypatch: Any
) -> None:
    some = instances[::7]
    alone = [best_tours(network, [one], seed=3, **more)[0] for one in some]
    for pairs in (1, 500, 10**9):
        monkeypatch.setattr(tours, "PAIRS_AT_ONCE", pairs)
        for workers in (1, 3):
            found = best_tours(network, some, seed=3, workers=workers, **more)
            assert all(map(np.array_equal, found, alone))
    assert np.array_equal(best_tours(network, some[:1], seed=3, workers=3, **more)[0], alone[0])


def test_another_seed_draws_other_tours(network: Network) -> None:
    one = random_instance(30, nearest=4)
    drawn = {
        tuple(best_tours(network, [one], samples=20, seed=seed, raw=True)[0]) for seed in range(9)
    }
    assert len(drawn) > 1


def test_what_is_told_gets_shorter_and_ends_with_the_answer() -> None:
    some = [random_instance(120, nearest=4, seed=seed) for seed in range(3)]
    told: dict[int, list[float]] = {0: [], 1: [], 2: []}
    last: dict[int, np.ndarray] = {}

    def tell(index: int, tour: np.ndarray) -> None:
        told[index].append(some[index].length(tour))
        last[index] = tour

    found = best_tours(
        network_for("am-gain", 120), some, samples=40, symmetries=True, workers=2, on_tour=tell
    )
    for index, tour in enumerate(found):
        assert told[index] == sorted(told[index], reverse=True)
        assert len(set(told[index])) == len(told[index]) > 1
        assert some[index].length(last[index]) == pytest.approx(some[index].length(tour))


@pytest.mark.parametrize("workers", [1, 3])
def test_decoding_ends_when_it_is_told_to_but_not_before_the_greedy_tour(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tours, "PAIRS_AT_ONCE", 1)  # asked after every tour
    some = [random_instance(120, nearest=4, seed=seed) for seed in range(4)]
    network = network_for("am-gain", 120)
    endless: dict[str, Any] = {"samples": 10**15, "symmetries": True, "workers": workers}
    at_once = best_tours(network, some, **endless, go_on=lambda: False)
    greedy = best_tours(network, some)
    assert all(map(np.array_equal, at_once, greedy))
    # How many tours each thread has drawn when it is asked depends on its pace: so it is told to go
    # on until one of them has found a shorter tour, which a few dozen tours of each will.
    told: list[float] = []
    asked: list[int] = []

    def until_it_is_shorter() -> bool:
        asked.append(threading.get_ident())
        assert len(asked) < 100_000
        return len(asked) < 40 or told[-1] >= length_of(some[:1], greedy[:1])

    later = best_tours(
        network,
        some[:1],
        **endless,
        go_on=until_it_is_shorter,
        on_tour=lambda _, tour: told.append(length_of(some[:1], [tour])),
    )
    assert len(asked) >= 40
    assert length_of(some[:1], later) == pytest.approx(told[-1])
    assert told[-1] < length_of(some[:1], greedy[:1])


@pytest.mark.parametrize("workers", [1, 3])
def test_an_interrupt_ends_all_threads_and_the_best_so_far_was_told(workers: int) -> None:
    some = [random_instance(30, nearest=4, seed=seed) for seed in range(4)]
    best: dict[int, np.ndarray] = {}
    asked: list[bool] = []

    def interrupted() -> bool:
        asked.append(True)
        if len(asked) == 20:
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt):
        best_tours(
            network_for("am-gain", 30),
            some,
            samples=10**15,
            workers=workers,
            go_on=interrupted,
            on_tour=best.__setitem__,
        )
    assert best
    assert len(asked) == 20
    for index, tour in best.items():
        assert verify(some[index], make_tour(some[index], tour)).ok
