"""What is known of the routes of a fleet stays right through changes and when they are undone."""

from __future__ import annotations

import numpy as np

from covertour import random_instance
from covertour.kernel import entry
from covertour.search.changes import load_tour, undo
from covertour.search.moves import swap_paths
from covertour.search.routes import refresh_all
from covertour.search.state import State, make_state


@entry
def swap_some(s, times):
    for _ in range(times):
        swap_paths(s, 3)


@entry
def take_back(s, length):
    undo(s, length)


@entry
def look_at_all(s):
    refresh_all(s)


@entry
def load(s, places):
    load_tour(s, places, len(places))


def known(s: State) -> dict[str, object]:
    """What the state holds of its routes; of places, of those that are stops."""
    routes = s.goal.routes
    stops = np.flatnonzero(s.at["stop_at"] >= 0)
    starts = np.array(routes.starts, dtype=np.int64)
    return {
        "route": np.array(routes.route)[stops].tolist(),
        "rank": np.array(routes.rank)[stops].tolist(),
        "load": np.array(routes.load)[starts].tolist(),
        "total": np.round(np.array(routes.total)[starts], 9).tolist(),
        "over": (round(float(routes.limits["over_length"]), 9), int(routes.limits["over_stops"])),
    }


def test_routes_are_known_after_swaps_and_after_they_are_undone() -> None:
    instance = random_instance(12, nearest=0, seed=1)
    instance = instance.with_changes(depot=0, fleet={"max_length": 3.0, "max_stops": 3})
    for seed in range(200):
        s = make_state(instance, seed, 5)
        rng = np.random.default_rng(seed)
        ring = np.array([*s.goal.routes.starts, *s.number[1:]], dtype=np.int64)
        load(s, rng.permutation(ring))
        length, before = float(s.tour["length"]), known(s)
        swap_some(s, 1 + seed % 3)
        swapped = known(s)
        look_at_all(s)
        assert swapped == known(s)
        take_back(s, length)
        assert known(s) == before
