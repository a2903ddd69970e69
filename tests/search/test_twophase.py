"""twophase stops where the clock says so, also while HiGHS looks for a smallest cover."""

from __future__ import annotations

import subprocess
import sys

from covertour import random_instance, solve
from covertour.problem.metric import IntArray
from covertour.solving.stop import Progress

LARGE = random_instance(400, nearest=7, seed=1)


def test_the_solver_of_covers_is_interrupted() -> None:
    asked: list[Progress] = []

    def third_time(progress: Progress) -> bool:
        asked.append(progress)
        return len(asked) >= 3

    found = solve(LARGE, "twophase", stop=third_time)
    assert found.stopped == "limit"
    assert found.iterations <= 1


def test_a_tour_is_there_before_any_cover() -> None:
    told: list[IntArray] = []
    found = solve(LARGE, "twophase", seconds=0, on_improve=lambda *news: told.append(news[2]))
    assert (found.iterations, found.stopped, len(told)) == (0, "limit", 1)


def test_loading_it_for_many_places_asks_for_no_hard_cover() -> None:
    code = """
from covertour import random_instance
from covertour.search import twophase
from covertour.solving.loading import load

covers = twophase._smallest_covers

def counted(instance, clock):
    for cover in covers(instance, clock):
        assert len(cover) == 2
        yield cover

twophase._smallest_covers = counted
load("twophase", random_instance(1_001, nearest=7))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
