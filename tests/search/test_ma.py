"""How the memetic algorithm crosses tours, and who survives."""

from __future__ import annotations

import numpy as np

from covertour.search.ma import cross, survivors
from covertour.search.trials import Made


def made(length: float, *places: int) -> Made:
    return Made(length, np.array(places))


def test_children_have_every_place_once_and_begin_like_one_parent() -> None:
    rng = np.random.default_rng(1)
    one, other = np.array([1, 2, 3, 4, 5]), np.array([9, 3, 8, 1])
    for _ in range(50):
        for child, parent in zip(cross(one, other, rng), (one, other), strict=True):
            assert len(set(child.tolist())) == len(child)
            assert set(child.tolist()) <= {*one.tolist(), *other.tolist()}
            if len(child) and child[0] in parent:
                head = int(np.argmin([*(np.isin(child, parent)), False]))
                assert head > 0


def test_children_replace_the_worst_parents_of_their_part() -> None:
    parents = [made(10.0 + index, index) for index in range(10)]
    children = [made(1.0, 20), made(30.0, 21)]
    kept = survivors(parents, children)
    assert [tour.length for tour in kept] == [
        1.0,
        10.0,
        11.0,
        12.0,
        13.0,
        15.0,
        16.0,
        18.0,
        19.0,
        30.0,
    ]


def test_children_that_are_there_already_are_left_out() -> None:
    parents = [made(10.0 + index, index, index + 1) for index in range(10)]
    children = [made(10.0, 1, 0), made(9.0, 30), made(9.0, 30)]
    kept = survivors(parents, children)
    assert len(kept) == 10
    assert sorted(tour.length for tour in kept)[:2] == [9.0, 10.0]
