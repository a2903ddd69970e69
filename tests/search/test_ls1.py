"""ls1 looks at the clock within an iteration, which changes nothing about its tours."""

from __future__ import annotations

from unittest.mock import patch

from covertour import random_instance, solve
from covertour.search import ls1
from covertour.solving.stop import Progress

VILLAGES = random_instance(150, nearest=3, seed=2)


def test_the_tours_do_not_depend_on_how_often_it_looks() -> None:
    usual = solve(VILLAGES, "ls1", iterations=300, seed=4)
    with patch.object(ls1, "WORK", 1):
        often = solve(VILLAGES, "ls1", iterations=300, seed=4)
    assert often.iterations == usual.iterations == 300
    assert often.tour.places.tolist() == usual.tour.places.tolist()


def test_it_stops_within_an_iteration() -> None:
    looks: list[Progress] = []

    def after_some_looks(progress: Progress) -> bool:
        looks.append(progress)
        return len(looks) >= 10

    with patch.object(ls1, "WORK", 1):
        found = solve(VILLAGES, "ls1", stop=after_some_looks)
    assert found.iterations == 0
    assert found.stopped == "limit"
