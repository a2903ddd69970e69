"""Kernels for the routes of a fleet: cheapest paths with limits, and lists of good routes.

Stops are numbered from 0 to m - 1 here; the depot is none of them. A leg uses up some *room*, its
length rounded down to whole units, so that paths of at most ``room`` units hold all those that keep
the limit of length, and a few more. A path may visit a stop again once it has forgotten it: at
stop i it remembers only which of the ``near`` stops of i it has been to (ng-routes; Baldacci,
Mingozzi and Roberti 2011), as bits of its *memory*.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from covertour.kernel import entry
from covertour.problem.coverage import Int32Array
from covertour.problem.metric import FloatArray, IntArray

Int16Array = npt.NDArray[np.int16]

NEVER = -1
"""In place of a memory: a step that is not allowed."""

FULL = -1
"""In place of a number of routes: there are too many to list."""


@entry
def remember(near: IntArray, turn: Int16Array) -> None:
    """Fill in ``turn``, int16[m, m, memories]: the memory at j after a step from i, or NEVER.

    ``near``: int64[m, g], the stops that each remembers; memories are 2^g.
    """
    m, g = near.shape
    for i in range(m):
        for j in range(m):
            for memory in range(turn.shape[2]):
                been = i == j
                for bit in range(g):
                    been |= near[i, bit] == j and memory >> bit & 1 == 1
                kept = 0
                for bit in range(g):
                    stop = near[j, bit]
                    known = stop == i
                    for other in range(g):
                        known |= near[i, other] == stop and memory >> other & 1 == 1
                    if known:
                        kept |= 1 << bit
                turn[i, j, memory] = NEVER if been else kept


@entry
def cheapest_paths(
    first: FloatArray,
    first_room: IntArray,
    step: FloatArray,
    step_room: IntArray,
    turn: Int16Array,
    least: FloatArray,
    before: Int32Array,
) -> None:
    """The cheapest paths from the depot by stops, room, last stop and memory.

    ``first``: float64[m], what it costs to begin at a stop, and the room that this takes, int64[m];
    ``step``: float64[m, m], the same from stop to stop. ``least``: float64[most, room + 1, m,
    memories], what the cheapest path costs that has k + 1 stops and takes exactly so much room, or
    infinite; ``before``: int32 of the same shape, stop * memories + memory that it came from. Paths
    that another one beats in cost, room and with the same memory are not followed any further.
    """
    most, rooms, m, memories = least.shape
    for k in range(most):
        for room in range(rooms):
            for i in range(m):
                for memory in range(memories):
                    least[k, room, i, memory] = np.inf
    for i in range(m):
        if first_room[i] < rooms:
            least[0, first_room[i], i, 0] = first[i]
    for k in range(most - 1):
        for i in range(m):
            for memory in range(memories):
                beaten = np.inf
                for room in range(rooms):
                    cost = least[k, room, i, memory]
                    if cost >= beaten:
                        continue
                    beaten = cost
                    for j in range(m):
                        then = turn[i, j, memory]
                        taken = room + step_room[i, j]
                        if then < 0 or taken >= rooms:
                            continue
                        value = cost + step[i, j]
                        if value < least[k + 1, taken, j, then]:
                            least[k + 1, taken, j, then] = value
                            before[k + 1, taken, j, then] = i * memories + memory


@entry(allocates=True)
def list_routes(
    first: FloatArray,
    step: FloatArray,
    last: FloatArray,
    leave: FloatArray,
    between: FloatArray,
    home: FloatArray,
    visit: FloatArray,
    rest: FloatArray,
    room: int,
    limits: FloatArray,
    routes: Int16Array,
    real: FloatArray,
) -> int:
    """List all routes that keep the limits and whose reduced cost is at most a limit.

    ``first``: float64[m], ``step``: float64[m, m] and ``last``: float64[m], what it costs to begin
    at a stop, to go from one to another and to end there; ``leave``, ``between`` and ``home`` are
    the lengths of these ways, ``visit``: float64[m] what a stop adds to them. ``rest``:
    float64[most, room + 1, m], at least what it still costs from a stop on with k more stops and so
    much room. ``limits``: float64[4]: reduced costs of at most so much count, at most so many steps
    are made, the most that a route may be long, and the unit of room. ``routes``: int16[capacity,
    most], filled with stops, -1 behind the last; ``real``: float64[capacity], lengths with visits.
    Returns how many, or FULL.
    """
    capacity, most = routes.shape
    m = len(leave)
    path = np.empty(most, dtype=np.int64)
    tried = np.zeros(most + 1, dtype=np.int64)  # the next stop to try at each depth
    cost = np.zeros(most + 1)
    length = np.zeros(most + 1)
    on = np.zeros(m, dtype=np.uint8)
    depth = 0
    many = 0
    steps = 0.0
    while depth >= 0:
        if depth == most or tried[depth] == m:
            depth -= 1
            if depth >= 0:
                on[path[depth]] = 0
            continue
        j = tried[depth]
        tried[depth] += 1
        if on[j]:
            continue
        steps += 1.0
        if steps > limits[1]:
            return FULL
        if depth == 0:
            now, far = first[j], leave[j] + visit[j]
        else:
            i = path[depth - 1]
            now, far = cost[depth] + step[i, j], length[depth] + between[i, j] + visit[j]
        if far > limits[2]:
            continue
        left = min(int((limits[2] - far) / limits[3] + 1e-6), room) if room > 0 else 0
        if now + rest[most - 1 - depth, left, j] > limits[0]:
            continue
        path[depth] = j
        depth += 1
        cost[depth] = now
        length[depth] = far
        on[j] = 1
        if now + last[j] <= limits[0] and far + home[j] <= limits[2]:
            if many == capacity:
                return FULL
            for index in range(most):
                routes[many, index] = path[index] if index < depth else -1
            real[many] = far + home[j]
            many += 1
        if depth < most:
            tried[depth] = 0
    return many
