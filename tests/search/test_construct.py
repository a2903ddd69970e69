"""The first tour covers everything, and keeps the rules."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest

from covertour import Instance, make_tour, random_instance, verify
from covertour.search import blocks, state
from covertour.search.construct import complete
from covertour.search.state import State, make_state, read_tour


def first_tour(instance: Instance, start: list[int] | None = None, seed: int = 0) -> list[int]:
    s = make_state(instance, seed)
    complete(s, np.array(start or [], dtype=np.int64), instance.must_visit, s.order)
    return stops_of(instance, s)


def stops_of(instance: Instance, s: State) -> list[int]:
    """The stops in order, after a check of what the search relies on."""
    tour = s.tour
    assert (tour["uncovered"], tour["queue"], tour["spare"]) == (0, 0, 0)
    stops: list[int] = read_tour(s).tolist()
    assert tour["length"] == pytest.approx(instance.length(stops), rel=1e-9, abs=1e-9)
    assert verify(instance, make_tour(instance, stops)).problems(instance) == []
    return stops


@pytest.mark.parametrize("layout", ["uniform", "clustered"])
@pytest.mark.parametrize("on_the_fly", [False, True], ids=["table", "on the fly"])
def test_the_first_tour_keeps_all_rules(layout: str, on_the_fly: bool) -> None:
    few = 0 if on_the_fly else 1000
    with patch.object(state, "TABLE_UP_TO", few), patch.object(blocks, "ONE_BLOCK_UP_TO", few):
        for seed in range(5):
            instance = random_instance(300, nearest=(1, 12), layout=layout, seed=seed)
            ruled = instance.with_changes(depot=7, required=[1, 2, 3], forbidden=[0, 299])
            stops = set(first_tour(ruled))
            assert stops >= {1, 2, 3, 7}
            assert not stops & {0, 299}


def test_an_asymmetric_instance_gets_a_first_tour() -> None:
    matrix = np.random.default_rng(2).random((60, 60))
    stops = first_tour(Instance.from_matrix(matrix, nearest=3, required=[4], forbidden=[5]))
    assert 4 in stops
    assert 5 not in stops


def test_a_place_that_covers_all_makes_a_tour_of_one_stop() -> None:
    assert first_tour(Instance.from_coordinates([[0, 0], [5, 0], [0, 5]], sets=[[0], [0, 2], [2]]))
    alone = Instance.from_coordinates([[3, 3], [5, 0], [0, 5]], radius=[9, 0, 0], forbidden=[1, 2])
    assert first_tour(alone) == [0]


def test_a_start_is_completed_and_a_covering_one_never_made_longer() -> None:
    instance = random_instance(80, nearest=5, seed=4)
    first_tour(instance, [3, 60])
    rng = np.random.default_rng(0)
    for _ in range(10):
        start = rng.permutation(80).tolist()
        assert instance.length(first_tour(instance, start)) <= instance.length(start)
