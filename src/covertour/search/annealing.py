"""annealing: attempts to improve a tour, kept by simulated annealing.

An attempt removes a few stops and serves again what they served, drops what became redundant,
improves the surroundings, and is undone where the tour became too long for the temperature.
"""

from __future__ import annotations

import numpy as np

from covertour.kernel import entry, inner
from covertour.search.changes import (
    clear_queue,
    clear_spare,
    copy_tour,
    insert,
    least_length,
    load_tour,
    undo,
)
from covertour.search.construct import (
    cheapest_position,
    drop_spare,
    gain_of,
    gather_legs,
    shortage,
)
from covertour.search.goal import DEAR
from covertour.search.improve import LOG_RESERVE, UNDOABLE, improve
from covertour.search.moves import begin, destroy, exchange, lacks, serve, swap_paths
from covertour.search.routes import refresh_all
from covertour.search.state import (
    LOG_SIZE,
    NOWHERE,
    QUEUE,
    STOPS,
    UNCOVERED,
    Place,
    draw_below,
    draw_unit,
    for_both,
)

PRICED_EVERY, PRICE_STEP = 64, 0.1
"""Where places may be left out, what is missing has a price, which is changed after so many
iterations, by this share."""

LEAST_PRICE, ANY_PRICE = 1e-12, 1e12
"""The lowest price, as a share of the highest: one of 0 would let every plan pass. And the highest
one where there is no other."""

LEAST_ENOUGH, MOST_ENOUGH = 0.3, 0.6
"""Of those so many are to end with a tour that serves enough."""

BALANCE_PRICE, SLIGHT = 20.0, 0.01
"""The highest such price where the longest route is to be short: it seldom is short enough. Where
it aims at one that is shorter by less than a share SLIGHT, the price may be any."""

MOST_FILLED = 200
"""Places that are looked at to spend what is left of a budget, at a time."""


def _energy_with_routes(s):
    limits = s.goal.routes.limits
    exceeded = limits.over_length * limits.price_length
    if limits.over_stops > 0:
        exceeded += limits.over_stops * limits.price_stops
    return s.tour.length + shortage(s, 0.0) + exceeded


energy = for_both(
    lambda s: s.tour.length, lambda s: s.tour.length + shortage(s, 0.0), _energy_with_routes
)
"""What is to be minimised: the length, and the price of what is missing or exceeded."""


def _adapt_plain(s):
    pass


def _adapt_with_goal(s):
    tally = s.goal.tally
    if tally.partial == 0:
        return
    tally.tries += 1
    tally.enough += tally.served >= tally.need
    if tally.tries == PRICED_EVERY:
        tally.price = _new_price(tally.price, tally.enough, tally.most_price)
        tally.tries = 0
        tally.enough = 0


@inner
def _new_price(price, kept, most):
    """A price after so many of PRICED_EVERY iterations kept the limit that it is for."""
    if kept == 0:
        return min(price * 2.0, most)
    if kept < LEAST_ENOUGH * PRICED_EVERY:
        return min(price * (1.0 + PRICE_STEP), most)
    if kept > MOST_ENOUGH * PRICED_EVERY:
        return max(price / (1.0 + PRICE_STEP), LEAST_PRICE * most)
    return price


_adapt_quota = inner(_adapt_with_goal)


def _adapt_with_routes(s):
    _adapt_quota(s)
    limits = s.goal.routes.limits
    limits.tries += 1
    limits.kept_length += limits.over_length <= 1e-12 * s.tour.length
    limits.kept_stops += limits.over_stops == 0
    if limits.tries == PRICED_EVERY:
        most = DEAR
        if limits.balance != 0:
            most = BALANCE_PRICE if limits.aim == 0.0 or limits.aim >= SLIGHT else ANY_PRICE
        limits.price_length = _new_price(limits.price_length, limits.kept_length, most)
        most = limits.most_price_stops
        limits.price_stops = _new_price(limits.price_stops, limits.kept_stops, most)
        limits.tries = 0
        limits.kept_length = 0
        limits.kept_stops = 0


adapt = for_both(_adapt_plain, _adapt_with_goal, _adapt_with_routes)
"""Raise the price of missing weight where the search seldom has enough, lower it if often; and so
with the prices of what routes exceed their limits by."""

TUNED = (
    ("most_removed", "i8"),
    ("swaps", "f8"),
    ("swaps_from", "i8"),
    ("longest_swapped", "i8"),
    ("noise", "f8"),
    ("hopeless", "f8"),
    ("abandoned", "f8"),
)
"""The fields of LnsParams that kernels use."""

ANNEAL = np.dtype(
    [
        ("iterations", "i8"),  # made so far
        ("position", "i8"),  # where in the cycle, of how many iterations
        ("span", "i8"),
        ("hot", "f8"),  # temperature at the start of a cycle
        ("target", "f8"),  # stop at a tour of this length
        ("idle_limit", "i8"),  # stop after so many iterations without improvement
        ("improved", "i8"),  # iteration of the last improvement
        ("best", "f8"),  # length of the best tour and how many stops it has
        ("best_size", "i8"),
        ("look_every", "i8"),  # iterations between two looks whether the tour is the best so far
        *TUNED,
    ]
)


def _keep_plain(s, anneal, best):
    """Copy the tour to ``best`` if it is shorter; its length is summed anew, without drift."""
    if s.tour.length < anneal[0].best * (1.0 - 1e-12):
        size = copy_tour(s, best)
        length = least_length(s)
        for index in range(size):
            length += max(s.at[best[index]].leg, 0.0)  # but for legs that must stay
        s.tour.length = length
        anneal[0].best = length
        anneal[0].best_size = size
        anneal[0].improved = anneal[0].iterations


_keep_if_shorter = inner(_keep_plain)


def _keep_with_goal(s, anneal, best):
    """The same; with a budget the tour that serves most within it, and now more must be served."""
    tally = s.goal.tally
    if tally.served < tally.need and tally.best < 0.0:
        return
    if tally.limit == np.inf:
        _keep_if_shorter(s, anneal, best)
        return
    if s.tour.length > tally.limit:
        if tally.best < 0.0:  # no tour is cheap enough so far
            _keep_if_shorter(s, anneal, best)
        return
    if tally.served > tally.best:
        anneal[0].best = np.inf
        fill(s)
    elif tally.served < tally.best:
        return
    _keep_if_shorter(s, anneal, best)
    if tally.served > tally.best:
        tally.best = tally.served
        tally.need = min(tally.served + 1.0, tally.total)


def _keep_with_routes(s, anneal, best):
    """The same if all routes keep to the limits; before that, the tour that exceeds them least."""
    tally = s.goal.tally
    routes = s.goal.routes
    limits = routes.limits
    if tally.served < tally.need:
        return
    longest = 0.0
    excess = 0.0
    for index in range(len(routes.starts)):
        start = routes.starts[index]
        length = routes.total[start]
        longest = max(longest, length)
        excess += max(length - limits.hard, 0.0) + routes.too_many[start] * limits.most_price_stops
    if excess > 0.0:
        if limits.best == np.inf and excess < limits.violation:
            limits.violation = excess
            anneal[0].best_size = copy_tour(s, best)
        return
    if limits.balance == 0:
        _keep_if_shorter(s, anneal, best)
    elif longest < limits.best * (1.0 - 1e-9):
        anneal[0].best = np.inf
        _keep_if_shorter(s, anneal, best)
        limits.best = longest
        limits.longest = longest * (1.0 - limits.aim)
        refresh_all(s)
    elif longest <= limits.best * (1.0 + 1e-12):
        _keep_if_shorter(s, anneal, best)
    if limits.best == np.inf:
        limits.best = longest


_keep_best = for_both(_keep_plain, _keep_with_goal, _keep_with_routes)


@inner
def fill(s):
    """Add stops, those with the least cost for what they serve first, as the budget allows."""
    tally = s.goal.tally
    need = tally.need
    tally.need = tally.total
    while tally.served < tally.total:
        best = np.inf
        best_stop = NOWHERE
        best_after = NOWHERE
        tries = min(s.tour.uncovered, MOST_FILLED)
        for t in range(tries):
            at = t if tries == s.tour.uncovered else draw_below(s, s.tour.uncovered)
            place = s.lists[UNCOVERED, at]
            legs = gather_legs(s, place)
            for k in range(s.at[place].covered_from, s.at[place].covered_to):
                coverer = Place(s.who[k])
                if s.at[coverer].stop_at >= 0:
                    continue
                after, cost = cheapest_position(s, coverer, legs)
                if after == NOWHERE or s.tour.length + cost > tally.limit:
                    continue
                score = (cost + tally.tiny) / gain_of(s, coverer)
                if score < best:
                    best = score
                    best_stop = coverer
                    best_after = after
        if best_stop == NOWHERE:
            break
        insert(s, best_stop, best_after)
    tally.need = need


@inner(inlined=True)
def _attempt(s, a, touched, temperature):
    """One iteration; a: an ANNEAL."""
    saved = s.tour.length
    before = energy(s)
    s.tour.log = 0
    begin(s)
    if s.tour.size >= a.swaps_from and draw_unit(s) < a.swaps:
        swap_paths(s, a.longest_swapped)
        improve(s, UNDOABLE)
    else:
        destroy(s, a.most_removed)
    # Metropolis: accept a longer tour with probability exp(-difference / temperature).
    limit = before - temperature * np.log(draw_unit(s) + 1e-300)
    leg = saved / s.tour.size if s.tour.size > 0 else np.inf
    last = s.lists[STOPS, 0] if s.tour.size > 0 else NOWHERE
    while lacks(s):
        if s.tour.length > limit + a.abandoned * leg and s.tour.log <= LOG_SIZE:
            undo(s, saved)
            return
        last = serve(s, a.noise, last)
        if last == NOWHERE:
            break
    drop_spare(s)
    same = abs(s.tour.length - saved) <= 1e-12 * saved
    if same and abs(energy(s) - before) <= 1e-12 * before:  # most likely the same tour
        s.tour.length = saved
        clear_spare(s)
        clear_queue(s)
        return
    if energy(s) < limit + a.hopeless * leg:
        many = s.tour.queue
        for index in range(many):
            touched[index] = s.lists[QUEUE, index]
        improve(s, UNDOABLE)
        for index in range(many):
            stop = touched[index]
            if (
                s.at[stop].stop_at >= 0
                and s.tour.log < LOG_SIZE - LOG_RESERVE
                and exchange(s, stop)
            ):
                drop_spare(s)
        improve(s, UNDOABLE)
        if energy(s) <= limit:
            clear_spare(s)
            return
    if s.tour.log <= LOG_SIZE:
        undo(s, saved)
    else:
        clear_spare(s)
        clear_queue(s)


@entry
def anneal_for(s, anneal, touched, best, iterations):
    """Make some iterations; returns early at the end of a cycle, at the target or when idle.

    s: State with a covering tour; anneal: ANNEAL[1]; touched: uint64[n], room for the queue;
    best: int64[n], receives the best tour.
    """
    a = anneal[0]
    if a.best_size == 0:
        _keep_best(s, anneal, best)
    for _ in range(iterations):
        if a.position >= a.span or a.best <= a.target or a.iterations - a.improved >= a.idle_limit:
            break
        temperature = a.hot * (1.0 - a.position / a.span)
        a.position += 1
        a.iterations += 1
        _attempt(s, a, touched, temperature)
        adapt(s)
        if a.iterations % a.look_every == 0 or a.position == a.span:
            _keep_best(s, anneal, best)


@entry
def restart(s, anneal, best):
    """Go back to the best tour."""
    load_tour(s, best, anneal[0].best_size)
