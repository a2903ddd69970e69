"""Whole tours in two passes: sampled without a graph, then all their steps scored at once.

The same tours and the same gradients as the loop in :mod:`covertour.neural.training.decoding`, the
specification, in a fraction of its time. While tours are drawn, dense products run in torch and
masks, coverage, guidance and the draw in compiled kernels; finished tours leave the batch. To score
them, one recurrence makes the memories of all tours, and every pair of a tour and a step is a query
of its instance, so that there is one attention and one softmax for all steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as f

from covertour.neural.config import ModelConfig
from covertour.neural.inference.environment import Rules, Tours, make_tours
from covertour.neural.models import Model
from covertour.neural.models.attention_dynamic import of_stop
from covertour.neural.training.batch import Batch
from covertour.neural.training.environment import State
from covertour.neural.training.kernels import (
    Pairs,
    advance,
    begin_all,
    make_pairs,
    replay,
)
from covertour.neural.training.recurrence import gru_step, memories
from covertour.problem.metric import IntArray

SHRINK = 0.8
"""Finished tours leave when no more than this share of a batch is unfinished."""


@dataclass(frozen=True, eq=False)
class Episodes:
    """r tours of each of b instances: ``stops``, int64[b, r, t]; ``counts``, int64[b, r], of them.

    After its last stop a tour repeats it.
    """

    stops: IntArray
    counts: IntArray


def rules_of(batch: Batch, config: ModelConfig) -> Rules:
    """What the instances of a batch ask for, as the kernels are told it."""
    b, n = batch.exists.shape
    nothing = np.empty((b, 0, n), dtype=np.float32)
    covered_by = batch.covers.transpose(1, 2).float().contiguous().numpy()
    return Rules(
        covers=batch.covers.contiguous().numpy(),
        covered_by=covered_by if config.gains else nothing,
        factors=batch.factors.contiguous().numpy() if config.guided else nothing,
        allowed=batch.allowed.contiguous().numpy(),
        required=batch.required.contiguous().numpy(),
        depot=batch.depot.contiguous().numpy(),
    )


# --- Tours, without a graph -----------------------------------------------------------------------


@torch.no_grad()
def tours_of(
    model: Model, config: ModelConfig, code: Any, rules: Rules, noise: Tensor | None, rollouts: int
) -> Episodes:
    """Tours drawn by the noise, float32[b, r, n], uniform in [0, 1); without it, the best stops."""
    b, n = rules.allowed.shape
    r = rollouts
    useful = config.mask == "useful"
    code = _detached(code)
    places, first_given = _read(model, code)
    memory = model.start(code, r).reshape(b * r, -1)
    instance = np.repeat(np.arange(b), r)
    drawn = np.empty((b * r, 0), np.float32)
    if noise is not None:
        drawn = noise.contiguous().numpy().reshape(b * r, n)
    tours = make_tours(b * r, n)
    begin_all(rules, instance, tours)
    done, last = np.zeros(b * r, dtype=np.bool_), np.zeros(b * r, dtype=np.int64)
    first = last
    stops = np.zeros((b * r, n), dtype=np.int64)
    whole, counts = np.zeros((b * r, n), dtype=np.int64), np.zeros(b * r, dtype=np.int64)
    who = np.arange(b * r)  # which tour each row is
    rows = np.arange(b)  # which instance each group of rows is
    step = 0
    while True:
        shape = (len(rows), -1)
        if step == 0:
            if first_given is not None:
                memory = _step(model, first_given.expand(len(memory), -1), memory)
        elif places is not None:
            given = of_stop(places, torch.from_numpy(last).view(shape)).flatten(0, 1)
            memory = _step(model, given, memory)
        state = _state(tours, first, last, step > 0, done, shape)
        scores = model.scores(code, memory.view(*shape, memory.shape[1]), state)
        flat = scores.reshape(len(who), n).numpy()
        local = np.repeat(np.arange(len(rows)), len(who) // len(rows))
        unfinished = advance(rules, local, tours, flat, drawn, step, useful, done, last, stops)
        if step == 0:
            first = last.copy()
        step += 1
        if unfinished == 0:
            whole[who], counts[who] = stops, np.where(counts[who] > 0, counts[who], step)
            break
        counts[who[done & (counts[who] == 0)]] = step
        if unfinished > SHRINK * len(who):
            continue
        keep, kept_rows = _unfinished(done, len(rows))
        if len(keep) > SHRINK * len(who):
            continue
        whole[who] = stops
        who, last, first, done, stops = who[keep], last[keep], first[keep], done[keep], stops[keep]
        drawn, tours = drawn[keep], Tours._make(value[keep] for value in tours)
        memory = memory[torch.from_numpy(keep)]
        if len(kept_rows) < len(rows):
            rows = rows[kept_rows]
            rules = Rules._make(value[kept_rows] for value in rules)
            chosen = torch.from_numpy(kept_rows)
            code = type(code)(*(None if part is None else part[chosen] for part in code))
            places = None if places is None else places[chosen]
    longest = int(counts.max())
    whole = whole[:, :longest]
    ended = np.minimum(np.arange(longest), counts[:, None] - 1)
    whole = np.take_along_axis(whole, ended, axis=1)
    return Episodes(whole.reshape(b, r, longest), counts.reshape(b, r))


def _detached(code: Any) -> Any:
    return type(code)(*(None if part is None else part.detach() for part in code))


def _read(model: Model, code: Any) -> tuple[Tensor | None, Tensor | None]:
    """What the GRU makes of what it reads, W_ih I + b_ih: of the places, [b, n, 3 d], and first."""
    read = model.read(code)
    if read is None:
        return None, None
    places, first = read
    weight, bias = model.gru.weight_ih, model.gru.bias_ih
    return f.linear(places, weight, bias), None if first is None else f.linear(first, weight, bias)


def _step(model: Model, given: Tensor, memory: Tensor) -> Tensor:
    return gru_step(given, memory, model.gru.weight_hh, model.gru.bias_hh)


def _state(
    tours: Tours, first: IntArray, last: IntArray, begun: bool, done: Any, shape: tuple[int, int]
) -> State:
    """The growing tours as tensors that share their memory, [b, r, n] and [b, r]."""
    n = tours.visited.shape[1]

    def rows(values: Any) -> Tensor:
        return torch.from_numpy(values).view(*shape, n)

    finished = torch.from_numpy(done).view(shape)
    return State(
        visited=rows(tours.visited),
        uncovered=rows(tours.uncovered),
        guidance=rows(tours.guidance),
        gain=rows(tours.gain),
        first=torch.from_numpy(first).view(shape),
        last=torch.from_numpy(last).view(shape),
        begun=torch.full_like(finished, begun),
        done=finished,
    )


def _unfinished(done: Any, instances: int) -> tuple[IntArray, IntArray]:
    """Rows to go on with, as many for each instance that has any; and those instances."""
    ended = done.reshape(instances, -1)
    left = ended.shape[1] - ended.sum(axis=1)
    rows = np.flatnonzero(left)
    order = np.argsort(ended[rows], axis=1, kind="stable")[:, : int(left.max())]
    return (rows[:, None] * ended.shape[1] + order).ravel(), rows


# --- All steps at once ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scored:
    """The log-probabilities of all steps of some tours.

    ``log_p``: float32[b, q, n], of every place at every pair of a tour and a step; ``chosen``:
    float32[b, q], those of the stops; ``pairs``: what the pairs are.
    """

    log_p: Tensor
    chosen: Tensor
    pairs: Pairs


def score_episodes(
    model: Model, config: ModelConfig, code: Any, rules: Rules, episodes: Episodes
) -> Scored:
    """The log-probabilities of given tours, with their graph."""
    pairs = _pairs(config, rules, episodes)
    memory = _memories(model, code, episodes, pairs)
    b, q, _ = pairs.free.shape
    state = State(
        visited=torch.from_numpy(pairs.visited),
        uncovered=torch.from_numpy(pairs.uncovered),
        guidance=torch.from_numpy(pairs.guidance),
        gain=torch.from_numpy(pairs.gain),
        first=torch.from_numpy(pairs.first),
        last=torch.from_numpy(pairs.last),
        begun=torch.from_numpy(pairs.begun),
        done=torch.zeros(b, q, dtype=torch.bool),
    )
    scores = model.scores(code, memory, state)
    log_p = scores.masked_fill(~torch.from_numpy(pairs.free), -torch.inf).log_softmax(-1)
    chosen = log_p.gather(2, torch.from_numpy(pairs.chosen)[:, :, None]).squeeze(2)
    return Scored(log_p, chosen, pairs)


def _pairs(config: ModelConfig, rules: Rules, episodes: Episodes) -> Pairs:
    b, n = rules.allowed.shape
    q = int(episodes.counts.sum(axis=1).max())
    pairs = make_pairs(b, q, n, guided=config.guided, gains=config.gains)
    useful = config.mask == "useful"
    replay(rules, episodes.stops, episodes.counts, useful, make_tours(1, n), pairs)
    return pairs


def _memories(model: Model, code: Any, episodes: Episodes, pairs: Pairs) -> Tensor:
    """The memory at each pair, float32[b, q, d]."""
    b, r, _ = episodes.stops.shape
    memory = model.start(code, r).reshape(b * r, -1)
    places, first = _read(model, code)
    tour = np.maximum(pairs.tour, 0)
    if places is None:
        return f.embedding(torch.from_numpy(tour), memory)
    counts = episodes.counts.ravel()
    order = np.argsort(-counts, kind="stable")  # the longest first
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    begins = np.concatenate([[0], np.cumsum(counts)])  # of each tour among all pairs
    sizes = [int((counts > step).sum()) for step in range(int(counts.max()))]
    starts = np.concatenate([[0], np.cumsum(sizes)])  # of each step among the memories

    # What is read before each step but the first: the stop before it, as a row of all places.
    n = places.shape[1]
    flat = episodes.stops.reshape(b * r, -1) + (np.arange(b).repeat(r) * n)[:, None]
    read = [flat[order[:size], step] for step, size in enumerate(sizes[1:])]
    last = np.concatenate([*read, np.empty(0, dtype=np.int64)])
    given = f.embedding(torch.from_numpy(last), places.reshape(b * n, -1))
    begin = memory[torch.from_numpy(order)]
    if first is not None:
        given = torch.cat([first.expand(b * r, -1), given])
        made = memories(given, begin, model.gru, sizes)
    elif len(sizes) > 1:  # nothing is read before the first stop
        made = torch.cat([begin, memories(given, begin[: sizes[1]], model.gru, sizes[1:])])
    else:
        made = begin
    # Pair (tour, step) lies at starts[step] + rank[tour].
    step = np.maximum(_steps(pairs.tour, begins, r), 0)
    return f.embedding(torch.from_numpy(starts[step] + rank[tour]), made)


def _steps(tour: IntArray, begins: IntArray, r: int) -> IntArray:
    """Which step of its tour each pair, int64[b, q], is; less than 0 for padding."""
    b, q = tour.shape
    first = begins[np.arange(b) * r]  # the first pair of each instance
    return np.where(tour < 0, -1, first[:, None] + np.arange(q) - begins[np.maximum(tour, 0)])
