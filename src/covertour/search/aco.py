"""aco: ant colony with dynamic programming, in the manner of Salari, Reihaneh and Sabbagh (2015).

Theirs is known to us by a line only: ants, dynamic programming, and local searches. The rest is
ours. An ant goes from stop to stop: to one of the NEAR nearest places that cover something new,
drawn by the pheromone on the way there, and by how many places it newly covers for its distance.
Then each place is assigned to the first stop that covers it, and dynamic programming replaces all
stops at once, each by one of up to WIDTH places that cover all that is assigned to it, so that the
tour in this order is shortest. The local search of trials.py comes last. After ANTS ants the
pheromone evaporates, and the shortest of their tours and the best so far leave some, within limits
as in the max-min ant system of Stuetzle and Hoos (2000). An iteration is an ant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from covertour.kernel import entry, inner
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.search.changes import copy_tour, insert, load_tour
from covertour.search.construct import gain_of
from covertour.search.dropadd import nearest_allowed
from covertour.search.state import (
    FIXED,
    NOWHERE,
    STOPS,
    Place,
    distance,
    draw_unit,
)
from covertour.search.trials import (
    Made,
    Trials,
    first_tour,
    follow,
    load_with,
    next_stop,
    note_top,
    random_coverer,
    settled,
)
from covertour.solving.clock import Clock

NEAR = 40
"""Pheromone lies on the ways from each place to this many nearest ones."""

WIDTH = 8
"""Places among which dynamic programming chooses for each stop."""

ANTS = 10
EVAPORATION = 0.1
LEAST = 0.05
"""Pheromone is between this and 1."""


@inner
def _walk(s, must, near, trail, attraction, top, score):
    """Make the tour of an ant; attraction: float64[NEAR + 1], room for that of the candidates."""
    load_with(s, must, 0, must)
    last = s.at[s.lists[STOPS, 0]].prev if s.tour.size > 0 else NOWHERE
    while s.tour.uncovered > 0:
        place = random_coverer(s)
        if last != NOWHERE:
            total = 0.0
            for c in range(near.shape[1]):
                other = Place(near[last, c])
                attraction[c] = 0.0
                if other != NOWHERE and s.at[other].stop_at < 0:
                    gain = gain_of(s, other)
                    # A place in the same spot is as attractive as can be, but finitely so.
                    way = distance(s, last, other) + 1e-9 * s.tour.length + 1e-300
                    attraction[c] = trail[last, c] * (gain / way) ** 2
                total += attraction[c]
            if total > 0.0 and total < np.inf:
                mark = draw_unit(s) * total
                for c in range(near.shape[1]):
                    if attraction[c] > 0.0:
                        place = Place(near[last, c])
                        mark -= attraction[c]
                        if mark < 0.0:
                            break
            else:
                place = next_stop(s, last, False, 1, top, score)
        insert(s, place, last)
        s.tour.log = 0
        last = place


@inner
def _choices(s, places, size, owner, choices, many, top, score):
    """Find by which places each stop of places[:size] may be replaced; choices: int64[n, WIDTH].

    owner: int64[n], receives the stop by its position that each place is assigned to; many:
    int64[n], how many choices each stop has, none where nothing is assigned to it.
    """
    for place in range(len(s.at)):
        owner[place] = -1
    for layer in range(size):
        stop = Place(places[layer])
        needed = 0
        witness = NOWHERE
        for k in range(s.at[stop].covers_from, s.at[stop].covers_to):
            place = Place(s.who[k])
            if owner[place] < 0:
                owner[place] = layer
                needed += 1
                witness = place
        choices[layer, 0] = stop
        many[layer] = 1
        if s.at[stop].role == FIXED:
            continue
        if witness == NOWHERE:
            many[layer] = 0
            continue
        found = 0
        for k in range(s.at[witness].covered_from, s.at[witness].covered_to):
            other = Place(s.who[k])
            if s.at[other].stop_at >= 0:
                continue
            covered = 0
            for c in range(s.at[other].covers_from, s.at[other].covers_to):
                if owner[s.who[c]] == layer:
                    covered += 1
            if covered == needed:
                far = distance(s, stop, other)
                found = note_top(top, score, found, WIDTH - 1, other, -far)
        for c in range(found):
            choices[layer, c + 1] = top[c]
        many[layer] = found + 1


@inner
def _choose(s, places, size, choices, many, cost, back):
    """Dynamic programming over the choices; writes the best tour to ``places``, returns its size.

    cost: float64[n, WIDTH]; back: int64[n, WIDTH], room.
    """
    layers = 0  # stops to which nothing is assigned are dropped
    for layer in range(size):
        if many[layer] > 0:
            many[layers] = many[layer]
            for c in range(many[layer]):
                choices[layers, c] = choices[layer, c]
            layers += 1
    best = np.inf
    for first in range(many[0]):
        for c in range(many[0]):
            cost[0, c] = 0.0 if c == first else np.inf
        for layer in range(1, layers):
            for c in range(many[layer]):
                cost[layer, c] = np.inf
                back[layer, c] = 0
                for b in range(many[layer - 1]):
                    way = cost[layer - 1, b] + distance(
                        s, Place(choices[layer - 1, b]), Place(choices[layer, c])
                    )
                    if way < cost[layer, c]:
                        cost[layer, c] = way
                        back[layer, c] = b
        for c in range(many[layers - 1]):
            length = cost[layers - 1, c] + distance(
                s, Place(choices[layers - 1, c]), Place(choices[0, first])
            )
            if length < best:
                best = length
                chosen = c
                for layer in range(layers - 1, -1, -1):
                    places[layer] = choices[layer, chosen]
                    chosen = back[layer, chosen]
    return layers


@entry
def send_ant(
    s, must, near, trail, attraction, owner, choices, many, cost, back, places, top, score
):
    """Make the tour of an ant in the state, and choose its stops; see the kernels and ``Trials``.

    near: int64[n, NEAR + 1], the nearest places; trail: float64[n, NEAR + 1], the pheromone.
    """
    _walk(s, must, near, trail, attraction, top, score)
    size = copy_tour(s, places)
    _choices(s, places, size, owner, choices, many, top, score)
    size = _choose(s, places, size, choices, many, cost, back)
    distinct = 0  # two stops may have become the same place
    for index in range(size):
        owner[places[index]] = -2
    for index in range(size):
        place = places[index]
        if owner[place] == -2:
            owner[place] = -1
            places[distinct] = place
            distinct += 1
    load_tour(s, places, distinct)


def aco(instance: Instance, clock: Clock, seed: int, start: IntArray) -> IntArray:
    """Search until the clock is over; the stops of the best tour in order."""
    return follow(_tours, instance, clock, seed, start)


def _tours(trials: Trials, instance: Instance, seed: int, start: IntArray) -> Iterator[Made]:
    """The tours of one ant after the other, the first tour before all."""
    n = instance.n
    s = trials.s
    near = nearest_allowed(instance, NEAR)[s.order]
    near = np.where(near < 0, near, s.number[near])
    trail = np.ones(near.shape)
    room: tuple[Any, ...] = (
        np.empty(near.shape[1]),
        np.empty(n, dtype=np.int64),
        np.empty((n, WIDTH), dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty((n, WIDTH)),
        np.empty((n, WIDTH), dtype=np.int64),
    )
    best = first_tour(trials, instance, seed, start)
    yield best
    while True:
        shortest: Made | None = None
        for _ in range(ANTS):
            send_ant(s, trials.must, near, trail, *room, trials.places, trials.top, trials.score)
            tour = settled(trials)
            yield tour
            if shortest is None or tour.length < shortest.length:
                shortest = tour
        assert shortest is not None
        if shortest.length < best.length:
            best = shortest
        trail *= 1.0 - EVAPORATION
        np.maximum(trail, LEAST, out=trail)
        for tour in (shortest, best):
            _leave_pheromone(trail, near, tour.places, instance.symmetric)


def _leave_pheromone(trail: FloatArray, near: IntArray, places: IntArray, both_ways: bool) -> None:
    """Mark the legs of a tour, int64[m], as far as the lists of near places have them."""
    after = np.roll(places, -1)
    for one, other in ((places, after), (after, places))[: 2 if both_ways else 1]:
        at, column = np.nonzero(near[one] == other[:, None])
        marked = trail[one[at], column] + EVAPORATION
        trail[one[at], column] = np.minimum(marked, 1.0)
