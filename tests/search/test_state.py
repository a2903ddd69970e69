"""The state of a tour in the making agrees with brute force after any sequence of changes."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import definition
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numba import njit
from strategies import instances

from covertour import Instance, random_instance
from covertour.problem.metric import METRICS, FloatArray, IntArray
from covertour.search import blocks, changes, construct, state
from covertour.search.blocks import NEAR_BLOCKS
from covertour.search.state import (
    FIRST_NEAR,
    NOWHERE,
    QUEUE,
    SPARE,
    STOPS,
    UNCOVERED,
    Place,
    State,
    make_state,
)

INSERT, REMOVE, MOVE, REVERSE, UNDO, FORGET = range(6)


@njit(error_model="numpy")
def change(s: Any, kind: int, place: int, other: int, length: float) -> None:
    """One change through the kernels of the search; -1 is nowhere."""
    a, b = Place(place), Place(other)
    if kind == INSERT:
        changes.insert(s, a, b)
    elif kind == REMOVE:
        changes.remove(s, a)
    elif kind == MOVE:
        changes.move(s, a, b)
        changes.touch_neighbours(s, a)
    elif kind == REVERSE:
        changes.reverse(s, a, b)
    elif kind == UNDO:
        changes.undo(s, length)
    else:
        s.tour.log = 0


@njit(error_model="numpy")
def reload(s: Any, places: Any, between: Any) -> Any:
    """Load a tour and copy it back; the distances of all pairs go to ``between``."""
    for i in range(len(between)):
        for j in range(len(between)):
            between[i, j] = state.distance(s, i, j)
    changes.load_tour(s, places, len(places))
    copied = np.empty(len(places), np.int64)
    changes.copy_tour(s, copied)
    return copied


@njit(error_model="numpy")
def near_legs(s: Any, place: int) -> Any:
    """How many legs near a place are noted in the state."""
    return construct.gather_legs(s, Place(place))


@njit(error_model="numpy")
def draws(s: Any, limit: int, whole: Any, unit: Any) -> None:
    for index in range(len(whole)):
        whole[index] = state.draw_below(s, limit)
        unit[index] = state.draw_unit(s)


def make(instance: Instance, on_the_fly: bool = False, seed: int = 0) -> State:
    """A state; ``on_the_fly`` as if the instance were large: no table, several blocks."""
    if not on_the_fly:
        return make_state(instance, seed)
    with patch.object(state, "TABLE_UP_TO", 0), patch.object(blocks, "ONE_BLOCK_UP_TO", 0):
        return make_state(instance, seed)


class Model:
    """A tour as a plain list, and a state to which the same changes are made; its numbers."""

    def __init__(self, instance: Instance, on_the_fly: bool = False, seed: int = 0) -> None:
        self.instance = instance
        self.s = make(instance, on_the_fly)
        self.rng = np.random.default_rng(seed)
        self.stops: list[int] = []
        self.saved: list[int] = []
        self.covers = [
            set(self.s.number[list(definition.covers(instance, i))].tolist())
            for i in self.s.order.tolist()
        ]
        self.allowed = [i for i in range(instance.n) if self.s.order[i] not in instance.forbidden]

    def length(self, stops: list[int]) -> float:
        return self.instance.length(self.s.order[stops].tolist())

    def do(self, kind: int, a: int = -1, b: int = -1) -> None:
        """Make one change in both; the callers of move and reverse account for the length."""
        if kind == INSERT:
            self.stops.insert(self.stops.index(b) + 1 if self.stops else 0, a)
        elif kind == REMOVE:
            self.stops.remove(a)
        elif kind == MOVE:
            self.stops.remove(a)
            self.stops.insert(self.stops.index(b) + 1, a)
        elif kind == REVERSE:
            first = self.stops.index(a)
            turned = self.stops[first:] + self.stops[:first]
            last = turned.index(b) + 1
            self.stops = turned[:last][::-1] + turned[last:]
        elif kind == UNDO:
            self.stops = list(self.saved)
        else:
            self.saved = list(self.stops)
        change(self.s, kind, a, b, self.length(self.saved))
        if kind in (MOVE, REVERSE):
            self.s.tour["length"] = self.length(self.stops)

    def step(self) -> None:
        """Some change that a search could make."""
        size = len(self.stops)
        off = np.setdiff1d(self.allowed, self.stops)
        kind = int(self.rng.choice([INSERT, INSERT, REMOVE, MOVE, REVERSE]))
        if kind == INSERT and len(off):
            near = int(self.rng.choice(self.stops)) if size else -1
            self.do(INSERT, int(self.rng.choice(off)), near)
        elif kind == REMOVE and size:
            self.do(REMOVE, int(self.rng.choice(self.stops)))
        elif kind == MOVE and size > 2:
            self.do(MOVE, *(int(i) for i in self.rng.choice(self.stops, 2, replace=False)))
        elif kind == REVERSE and size > 2:
            first, more = int(self.rng.integers(size)), int(self.rng.integers(size - 1))
            self.do(REVERSE, self.stops[first], self.stops[(first + more) % size])

    def check(self) -> None:
        self.check_ring()
        self.check_coverage()
        self.check_blocks()

    def check_ring(self) -> None:
        at, tour, size = self.s.at, self.s.tour, len(self.stops)
        following = np.roll(self.stops, -1).astype(int)
        assert tour["size"] == size
        assert at["next"][self.stops].tolist() == following.tolist()
        assert at["prev"][following].tolist() == self.stops
        order = self.s.order
        legs = self.instance.distances(order[self.stops], order[following]) if size else []
        assert at["leg"][self.stops] == pytest.approx(legs, rel=1e-9, abs=1e-9)
        assert tour["length"] == pytest.approx(self.length(self.stops), abs=1e-9)
        drops = at["label"][following] <= at["label"][self.stops]
        assert np.count_nonzero(drops) == min(size, 1)
        listed = self.s.lists[STOPS, :size]
        assert sorted(listed) == sorted(self.stops)
        where = np.full(self.instance.n, -1)
        where[listed] = np.arange(size)
        assert at["stop_at"].tolist() == where.tolist()

    def check_coverage(self) -> None:
        at, served, n = self.s.at, self.s.served, self.instance.n
        owners = [[i for i in self.stops if j in self.covers[i]] for j in range(n)]
        assert served["count"].tolist() == [len(mine) for mine in owners]
        folded = [int(np.bitwise_xor.reduce(mine)) if mine else 0 for mine in owners]
        assert served["owner"].tolist() == folded
        alone = [mine[0] for mine in owners if len(mine) == 1]
        assert at["unique"].tolist() == [alone.count(i) for i in range(n)]
        uncovered = [j for j in range(n) if not owners[j]]
        many = self.s.tour["uncovered"]
        listed = self.s.lists[UNCOVERED, :many]
        assert sorted(listed) == uncovered
        where = np.full(n, -1)
        where[listed] = np.arange(many)
        assert at["uncovered_at"].tolist() == where.tolist()

    def check_blocks(self) -> None:
        at = self.s.at
        for block, first in enumerate(self.s.blocks[:, 0]):
            inside, stop, before = [], int(first), int(NOWHERE)
            while stop != NOWHERE and len(inside) <= len(self.stops):
                inside.append(stop)
                assert at["in_prev"][stop] == before
                stop, before = int(at["in_next"][stop]), stop
            assert sorted(inside) == sorted(i for i in self.stops if at["block"][i] == block)
        for row, count, flag in ((QUEUE, "queue", "queued"), (SPARE, "spare", "spared")):
            listed = self.s.lists[row, : self.s.tour[count]]
            assert sorted(listed) == np.flatnonzero(at[flag]).tolist()


def problem(kind: str, n: int = 30, seed: int = 1) -> Instance:
    """Directed coverage, some places in one spot, some forbidden."""
    rng = np.random.default_rng(seed)
    reach = rng.uniform(0, 0.4, n)
    if kind == "directed":
        reach[n - 1] = 3.0  # the last place covers all
        return Instance.from_matrix(rng.random((n, n)), radius=reach / 3, forbidden=[2])
    points = rng.random((n, 2))
    points[: n // 6] = points[0]
    return Instance.from_coordinates(points, radius=reach, forbidden=[2, 5])


few = settings(max_examples=max(10, settings().max_examples // 3))
every_kind = pytest.mark.parametrize("kind", ["table", "on the fly", "directed"])


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_random_changes_leave_everything_right_and_undo_takes_them_back(
    kind: str, seed: int
) -> None:
    model = Model(problem(kind), kind == "on the fly", seed)
    for _ in range(25):
        for _ in range(int(model.rng.integers(1, 12))):
            model.step()
            model.check()
        if model.rng.random() < 0.5:
            model.do(UNDO)
            model.check()
            tour = model.s.tour
            assert (tour["log"], tour["queue"], tour["spare"]) == (0, 0, 0)
            assert tour["length"] == model.length(model.saved)
        else:
            model.do(FORGET)


def test_the_tour_may_be_emptied_and_all_of_it_taken_back() -> None:
    model = Model(problem("table", 7).with_changes(forbidden=()))
    for place in (3, 1, 4):
        model.do(INSERT, place, model.stops[-1] if model.stops else -1)
    model.do(FORGET)
    for place in (1, 3, 4):
        model.do(REMOVE, place)
        model.check()
    model.do(INSERT, 6)
    model.do(UNDO)
    model.check()


@every_kind
def test_order_labels_survive_many_insertions_behind_the_same_stop(kind: str) -> None:
    model = Model(problem(kind, 90), kind == "on the fly")
    first, *others = model.allowed
    model.do(INSERT, first)
    for place in others:
        model.do(INSERT, place, first)
        model.check_ring()
    model.do(UNDO)
    model.check()


def test_order_labels_that_grew_too_high_are_given_anew() -> None:
    model = Model(problem("table"))
    for place in range(6, 15):
        model.do(INSERT, place, model.stops[-1] if model.stops else -1)
    model.s.at["label"][14] = model.s.tour["top"] = changes.HIGHEST + 1
    model.do(INSERT, 20, 14)
    model.check()
    assert 0 <= model.s.at["label"].max() <= 2 * model.instance.n * changes.STEP


def test_a_stop_whose_last_unique_place_gets_a_second_coverer_is_listed_as_spare() -> None:
    line = Instance.from_coordinates([[0, 0], [1, 0], [2, 0], [3, 0]], radius=1)
    model = Model(line)
    model.do(INSERT, 1)
    model.do(INSERT, 3, 1)
    assert model.s.tour["spare"] == 0
    model.do(INSERT, 0, 1)
    model.do(INSERT, 2, 1)
    assert set(model.s.lists[SPARE, : model.s.tour["spare"]].tolist()) == {1, 3}


@every_kind
def test_a_loaded_tour_replaces_the_one_before(kind: str) -> None:
    model = Model(problem(kind), kind == "on the fly")
    for picked in ([7, 9, 11, 0], [20], [8, 7, 6, 10, 27, 26], [26, 7, 5, 8, 10], []):
        stops = [model.allowed[index] for index in picked]
        for _ in range(5):
            model.step()
        model.stops = stops
        copied = reload(model.s, np.array(stops, dtype=np.int64), np.empty((0, 0)))
        model.check()
        at = stops.index(copied[0]) if stops else 0
        assert copied.tolist() == stops[at:] + stops[:at]
        assert model.s.tour["log"] == 0


def coverable(data: st.DataObject, metric: str) -> Instance:
    instance = data.draw(instances(metrics=(metric,)))
    assume(definition.covering_stops(instance) is not None)
    return instance


def between(s: State) -> FloatArray:
    """The distances as the state has them, by the instance's numbers."""
    table = np.empty((len(s.at), len(s.at)))
    reload(s, np.empty(0, dtype=np.int64), table)
    return table[np.ix_(s.number, s.number)]


@pytest.mark.parametrize("metric", METRICS)
@few
@given(st.data())
def test_distances_from_a_table_are_those_of_the_instance(metric: str, data: st.DataObject) -> None:
    instance = coverable(data, metric)
    everyone = np.arange(instance.n)
    expected = instance.distances(everyone[:, None], everyone[None, :])
    assert between(make(instance)).tolist() == expected.tolist()


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "matrix"])
@few
@given(st.data())
def test_distances_on_the_fly_are_those_of_the_instance(metric: str, data: st.DataObject) -> None:
    instance = coverable(data, metric)
    everyone = np.arange(instance.n)
    expected = instance.distances(everyone[:, None], everyone[None, :])
    s = make(instance, on_the_fly=True)
    assert s.table.ndim == 1
    found = between(s)
    if metric == "geo":
        # TSPLIB's arc cosine is short of digits where places are close or opposite, so a distance
        # just below or above a whole kilometre may become the next one.
        for i, j in zip(*np.nonzero(found != expected), strict=True):
            exact = definition.distance(instance, int(i), int(j), rounded=False)
            assert abs(exact - round(exact)) < 1e-3
            assert abs(found[i, j] - expected[i, j]) <= 1
    else:
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-3 if metric == "haversine" else 0)


@few
@given(instances(most=30, metrics=tuple(name for name in METRICS if name != "matrix")))
def test_every_block_is_near_itself_first_and_near_no_block_twice(instance: Instance) -> None:
    assume(definition.covering_stops(instance) is not None)
    s = make(instance, on_the_fly=True)
    near = s.blocks[:, FIRST_NEAR:]
    assert near[:, 0].tolist() == list(range(len(near)))
    assert [len(set(row)) for row in near.tolist()] == [near.shape[1]] * len(near)
    assert sorted(s.order) == s.number[s.order].tolist() == list(range(instance.n))
    assert sorted(set(s.at["block"].tolist())) == list(range(len(near)))


def test_blocks_of_places_in_one_spot_and_of_a_matrix() -> None:
    spot = make(Instance.from_coordinates([[1, 1]] * 60, sets=[[]] * 60), on_the_fly=True)
    near = spot.blocks[:, FIRST_NEAR:]
    assert len(near) > NEAR_BLOCKS
    assert near[:, 0].tolist() == list(range(len(near)))
    assert [len(set(row)) for row in near.tolist()] == [NEAR_BLOCKS] * len(near)
    assert make(problem("directed"), on_the_fly=True).blocks.tolist() == [[NOWHERE, 0, 0]]


def test_the_legs_near_a_place_are_those_that_begin_or_end_there_each_once() -> None:
    instance = random_instance(400, nearest=2, seed=1)
    s = make(instance, on_the_fly=True)
    stops = np.random.default_rng(0).permutation(400)[:90]
    reload(s, stops, np.empty((0, 0)))
    followers = dict(zip(stops.tolist(), np.roll(stops, -1).tolist(), strict=True))
    for place in range(0, 400, 7):
        near = set(s.blocks[s.at["block"][place], FIRST_NEAR:].tolist())
        expected = {
            (stop, after)
            for stop, after in followers.items()
            if s.at["block"][stop] in near or s.at["block"][after] in near
        }
        legs = s.legs[: near_legs(s, place)]
        found = list(zip(legs["stop"].tolist(), legs["next"].tolist(), strict=True))
        assert len(found) == len(set(found)) < 90
        assert set(found) == expected
        ends = s.order[legs["stop"]], s.order[legs["next"]]
        assert legs["length"] == pytest.approx(instance.distances(*ends))


def test_random_numbers_follow_the_seed_and_stay_in_range() -> None:
    def drawn(seed: int) -> tuple[IntArray, FloatArray]:
        whole, unit = np.empty(2000, dtype=np.int64), np.empty(2000)
        draws(make(problem("table"), seed=seed), 7, whole, unit)
        return whole, unit

    whole, unit = drawn(3)
    assert set(whole.tolist()) == set(range(7))
    assert 0 <= unit.min() < 0.01 < 0.99 < unit.max() < 1
    assert np.bincount(whole).min() > 200
    assert np.array_equal(whole, drawn(3)[0])
    assert not np.array_equal(whole, drawn(4)[0])


def test_a_coverage_table_that_is_its_own_reverse_is_not_copied() -> None:
    instance = random_instance(1100, radius=0.5, seed=1)
    s = make_state(instance, 0)
    assert s.who is instance.coverage.covers
    for place in (0, 7, 1099):
        covers = s.who[s.at["covers_from"][place] : s.at["covers_to"][place]]
        covered_by = s.who[s.at["covered_from"][place] : s.at["covered_to"][place]]
        assert covers.tolist() == instance.coverage.covers_of(place).tolist()
        assert covered_by.tolist() == instance.coverage.covered_by_of(place).tolist()
