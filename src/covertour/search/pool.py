"""pool: tours that were searched for apart from each other, and what is made of two of them.

Each tour of the pool in turn gets a part of another one, where that makes it shorter, until none
does: see recombine.py. Annealing leaves a tour with mistakes here and there, and two tours seldom
have the same ones; so a few tours together soon give a better one than annealing any of them on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np

from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray
from covertour.search.blocks import expected_stops
from covertour.search.construct import complete
from covertour.search.recombine import Room, combine, present, room_for
from covertour.search.state import State, make_state
from covertour.solving.clock import Clock

SURVIVORS = 4
"""How many of the tours are in the next pool too."""

POOL_FROM = 40
"""Tours of at least so many stops are searched for in pools; on shorter ones cycles of annealing
find all that there is to find."""

WORTH = 150
"""Iterations per stop of the tour that a search must be allowed to make for a pool to pay."""

USUAL_SPEED = 100_000.0
"""Iterations per second, where that has to be known before any is made."""

MOST_PARTS = 20
"""How many parts of one tour are tried in another, those that promise most first."""


class Member(NamedTuple):
    """A tour of the pool: its length, and its stops by the state's numbers, int64[t]."""

    length: float
    stops: IntArray


@dataclass
class Pool:
    """The tours so far, with the state in which new ones are made."""

    state: State
    random: np.random.Generator
    members: list[Member]
    room: Room
    places: IntArray

    @property
    def shortest(self) -> Member:
        """The shortest tour."""
        return min(self.members, key=lambda member: member.length)

    def member(self, s: State) -> Member:
        """The tour of a state."""
        size = present(s, self.places)
        return Member(float(s.tour["length"]), self.places[:size].copy())

    def add(self, s: State) -> None:
        """Add the tour of a state."""
        self.members.append(self.member(s))

    def forget(self) -> None:
        """Leave only the shortest tours, each once."""
        by_length = {round(member.length, 12): member for member in self.members}
        self.members = [by_length[length] for length in sorted(by_length)][:SURVIVORS]


def make_pool(s: State, seed: int) -> Pool:
    """An empty pool."""
    random = np.random.default_rng(seed)
    places = np.empty(len(s.at), dtype=np.int64)
    return Pool(s, random, [], room_for(s), places)


def may_have_pools(instance: Instance) -> bool:
    """Whether the tours of an instance may be searched for in pools, judged without any tour."""
    plain = not instance.features and instance.symmetric
    return plain and expected_stops(instance) >= POOL_FROM / 2


def load_kernels(instance: Instance) -> None:
    """Compile or load the kernels of pools for an instance of a kind."""
    pool = make_pool(make_state(instance, 0), 0)
    nobody = np.empty(0, dtype=np.int64)
    complete(pool.state, nobody, instance.must_visit, np.arange(instance.n))
    pool.add(pool.state)
    tour = pool.shortest.stops
    combine(pool.state, tour, tour, pool.shortest.length, 0, 0.0, pool.room)


def recombine(pool: Pool, clock: Clock, noise: float, ran: Callable[[int, float], None]) -> None:
    """Recombine the tours until that shortens none of them.

    ``ran`` is called with the number of tours that were made and the seconds that it took.
    """
    s, better = pool.state, True
    while better and not clock.over:
        better = False
        order = pool.random.permutation(len(pool.members))
        for mother, father in zip(order, np.roll(order, -1), strict=True):
            if clock.over:
                return
            begin = perf_counter()
            most = min(MOST_PARTS, clock.iterations_left)
            length, stops = pool.members[mother]
            size, tried = combine(
                s, stops, pool.members[father].stops, length, most, noise, pool.room
            )
            if size > 0:
                found = pool.room.found[:size].copy()
                pool.members[mother] = Member(float(s.tour["length"]), found)
                better = True
            ran(tried, perf_counter() - begin)


def absorb(
    pool: Pool, other: Member, clock: Clock, noise: float, ran: Callable[[int, float], None]
) -> None:
    """Add the shortest tour with all parts of another one that make it shorter, if there are any.

    ``ran`` is called as by :func:`recombine`.
    """
    s, better = pool.state, True
    while better and not clock.over:
        begin = perf_counter()
        most = min(MOST_PARTS, clock.iterations_left)
        length, stops = pool.shortest
        size, tried = combine(s, stops, other.stops, length, most, noise, pool.room)
        better = size > 0
        if better:
            found = pool.room.found[:size].copy()
            pool.members.append(Member(float(s.tour["length"]), found))
        ran(tried, perf_counter() - begin)
