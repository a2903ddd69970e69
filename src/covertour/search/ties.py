"""ties: legs of a ring that must stay, as they stand for the way of a longer tour outside a region.

Such a leg has a length far below 0, so that no change that takes it away can pay; it counts nothing
in the length of the tour.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry, inner
from covertour.search.changes import load_tour
from covertour.search.state import STOPS, Place

STAYS = -1e30
"""The length of a leg that must stay: no change that would take it away can pay."""

NO_TIES = np.empty((0, 2), dtype=np.int64)
"""No legs that must stay: they are given by their two stops, int64[k, 2]."""


@inner
def hold(s, ties):
    """Let the legs of a tour between stops that are tied, int64[k, 2], stay and count nothing."""
    at = s.at
    for index in range(len(ties)):
        stop = Place(ties[index, 0])
        other = Place(ties[index, 1])
        if at[stop].next != other:
            stop = other
        s.tour.length -= max(at[stop].leg, 0.0)
        at[stop].leg = STAYS


@inner
def holds(s, ties):
    """Whether all that is tied, int64[k, 2], is side by side on the tour."""
    at = s.at
    for index in range(len(ties)):
        stop = Place(ties[index, 0])
        other = Place(ties[index, 1])
        if at[stop].stop_at < 0 or (at[stop].next != other and at[stop].prev != other):
            return False
    return True


@entry
def load_tied(s, stops, size, ties):
    """Make the state hold the tour stops[:size] (int64), and hold what is tied."""
    load_tour(s, stops, size)
    hold(s, ties)


@entry
def copy_tied(s, ties, found):
    """Write the stops in order to ``found``, int64[t]; whether it covers all and holds the ties.

    An insertion into a leg that stays, where no other leg is near, leaves it unprotected.
    """
    stop = s.lists[STOPS, 0]
    for index in range(s.tour.size):
        found[index] = stop
        stop = s.at[stop].next
    return s.tour.uncovered == 0 and holds(s, ties)
