"""Methods that make one tour after the other: they find shortest tours of some places."""

from __future__ import annotations

import pytest

from covertour import random_instance, solve

METHODS = ["ma", "vns", "sn", "msils", "aco", "abc", "hga"]
VILLAGES = random_instance(40, nearest=4, seed=3)


@pytest.fixture(scope="module")
def shortest() -> float:
    proof = solve(VILLAGES, "exact")
    assert proof.optimal
    return proof.length


@pytest.mark.parametrize("method", METHODS)
def test_a_shortest_tour_of_some_places_is_found(method: str, shortest: float) -> None:
    found = solve(VILLAGES, method, iterations=600, seed=1)
    assert found.length == pytest.approx(shortest)
