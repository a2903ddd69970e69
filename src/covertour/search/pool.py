"""pool: tours that were searched for apart from each other, and what is made of two of them.

Each tour of the pool in turn gets a part of another one, where that makes it shorter, until none
does: see recombine.py. Annealing leaves a tour with mistakes here and there, and two tours seldom
have the same ones; so a few tours together soon give a better one than annealing any of them on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.search.blocks import expected_stops
from covertour.search.construct import complete
from covertour.search.params import LnsParams
from covertour.search.parts import REMEMBERED, Room, Tours, room_for
from covertour.search.recombine import keep_tour, recombine_pairs
from covertour.search.state import State, make_state
from covertour.search.ties import NO_TIES
from covertour.solving.clock import Clock
from covertour.solving.stop import NEVER

SURVIVORS = 4
"""How many of the tours are in the next pool too."""

POOL_FROM = 40
"""Tours of at least so many stops are searched for in pools; on shorter ones cycles of annealing
find all that there is to find."""

PATIENCE = 6
"""So many times each tour is tried with another one in vain before they are left alone."""

WORTH = 150
"""Iterations per stop of the tour that a search must be allowed to make for a pool to pay."""

USUAL_SPEED = 100_000.0
"""Iterations per second, where that has to be known before any is made."""

ANNEALED = 0.4
"""The share of a pool's iterations in which its members are annealed; the others are for
recombining them and for warm cycles from the best tour."""

FEWEST_MEMBERS, MEMBERS = 6, 2.5
"""A pool has at least so many members; and so many times the square root of the iterations per stop
in which they are annealed, so that more iterations make for more members and for better ones."""

WARM_CYCLE, WARM_HEAT = 25, 0.3
"""The iterations of a warm cycle per stop, and the temperature at its start, in mean legs."""

PAIRS_AT_ONCE = 8
"""After so many pairs of tours somebody looks at the clock."""


@dataclass
class Pool:
    """The tours so far, the first ``many`` rows of ``tours``, with the state to make new ones in.

    There is a row more than the pool may have members, for a guest.
    """

    state: State
    random: np.random.Generator
    tours: Tours
    room: Room
    many: int = 0

    @property
    def lengths(self) -> FloatArray:
        """The lengths of the tours, float64[many]."""
        return self.tours.length[: self.many]

    @property
    def shortest(self) -> int:
        """The row of the shortest tour."""
        return int(np.argmin(self.lengths))

    def stops(self, row: int) -> IntArray:
        """The stops of a tour in order, by the state's numbers, int64[t]."""
        return self.tours.places[row, : self.tours.size[row]]

    def add(self, s: State) -> None:
        """Add the tour of a state."""
        keep_tour(s, self.tours, self.many)
        self.tours.tried[self.many] = 0
        self.many += 1

    def put(self, row: int, length: float, stops: IntArray) -> None:
        """Write a tour to a row."""
        self.tours.places[row, : len(stops)] = stops
        self.tours.size[row], self.tours.length[row] = len(stops), length

    def forget(self) -> None:
        """Leave only the shortest tours, each once."""
        _, rows = np.unique(np.round(self.lengths, 12), return_index=True)
        rows = rows[:SURVIVORS]
        for old, new in zip(self.tours, (array[rows] for array in self.tours), strict=True):
            old[: len(rows)] = new
        self.many = len(rows)


def members_for(iterations: float, params: LnsParams) -> int:
    """How many members a pool of so many iterations per stop has."""
    return int(min(params.members, max(MEMBERS * (ANNEALED * iterations) ** 0.5, FEWEST_MEMBERS)))


def make_pool(s: State, seed: int | Sequence[int], members: int, ties: IntArray = NO_TIES) -> Pool:
    """An empty pool, for so many members beside the survivors.

    ties: int64[k, 2], stops whose leg must stay, see ties.py.
    """
    rows, n = members + SURVIVORS + 1, len(s.at)
    tours = Tours(
        places=np.empty((rows, n), dtype=np.int64),
        size=np.zeros(rows, dtype=np.int64),
        length=np.empty(rows),
        tried=np.zeros((rows, REMEMBERED), dtype=np.uint64),
    )
    return Pool(s, np.random.default_rng(seed), tours, room_for(s, ties))


def may_have_pools(instance: Instance) -> bool:
    """Whether the tours of an instance may be searched for in pools, judged without any tour."""
    plain = not instance.features and instance.symmetric
    return plain and expected_stops(instance) >= POOL_FROM / 2


def load_kernels(instance: Instance) -> None:
    """Compile or load the kernels of pools for an instance of a kind."""
    pool = make_pool(make_state(instance, 0), 0, 1)
    nobody = np.empty(0, dtype=np.int64)
    complete(pool.state, nobody, instance.must_visit, np.arange(instance.n))
    pool.add(pool.state)
    rows = np.zeros(1, dtype=np.int64)
    recombine_pairs(pool.state, pool.tours, rows, rows, 0, 0, 0, 0.0, pool.room)


def recombine(pool: Pool, clock: Clock, noise: float, ran: Callable[[int, float], None]) -> None:
    """Recombine the tours until that has shortened none of them for a while.

    ``ran`` is called with the number of tours that were made and the seconds that it took.
    """
    failed = 0
    while failed < PATIENCE and not clock.over:
        mothers = pool.random.permutation(pool.many)
        fathers = np.roll(mothers, -1)
        better = 0
        for first in range(0, pool.many, PAIRS_AT_ONCE):
            if clock.over:
                return
            last = min(first + PAIRS_AT_ONCE, pool.many)
            better += _pair(pool, mothers, fathers, first, last, clock, noise, ran)
        failed = 0 if better else failed + 1


def absorb(
    pool: Pool, s: State, clock: Clock, noise: float, ran: Callable[[int, float], None]
) -> None:
    """Let the shortest tour have all parts of the tour of a state that make it shorter.

    ``ran`` is called as by :func:`recombine`.
    """
    mothers, fathers = np.array([pool.shortest]), np.array([pool.many])
    keep_tour(s, pool.tours, pool.many)
    while not clock.over and _pair(pool, mothers, fathers, 0, 1, clock, noise, ran):
        pass


def _pair(
    pool: Pool,
    mothers: IntArray,
    fathers: IntArray,
    first: int,
    last: int,
    clock: Clock,
    noise: float,
    ran: Callable[[int, float], None],
) -> int:
    """Recombine some pairs of tours; how many tours became shorter."""
    begin = perf_counter()
    most = min(clock.iterations_left, NEVER)
    better, tried = recombine_pairs(
        pool.state, pool.tours, mothers, fathers, first, last, most, noise, pool.room
    )
    ran(int(tried), perf_counter() - begin)
    return int(better)
