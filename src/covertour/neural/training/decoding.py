"""Decoding step by step: tours from a model, greedily, by sampling, or as given.

This loop is the specification. :mod:`covertour.neural.training.episodes` makes the same tours and
the same gradients faster; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from covertour.neural.models import Model
from covertour.neural.models.attention_dynamic import of_stop
from covertour.neural.training.batch import Batch
from covertour.neural.training.environment import State, begin, lengths, selectable, visit

Choose = Callable[[int, Tensor], Tensor]
"""From the step, counted from 0, and log-probabilities float32[b, r, n]: the stops int64[b, r]."""


@dataclass(frozen=True, eq=False)
class Rollout:
    """r tours of each of b instances.

    ``tours``: int64[b, r, t]; a tour that is done before the longest repeats its last stop.
    ``lengths``: float32[b, r], in the instances' own units. ``stops``: int64[b, r], how many
    each tour has. ``log_probabilities``: float32[b, r, t], of each stop given those before it; 0
    once the tour is done. ``first``: float32[b, r, n], the log-probabilities of the first stop.
    """

    tours: Tensor
    lengths: Tensor
    stops: Tensor
    log_probabilities: Tensor
    first: Tensor

    @property
    def log_probability(self) -> Tensor:
        """log p(π | s) = Σ_t log p(π_t | s, π_1 … π_{t-1}), float32[b, r]."""
        return self.log_probabilities.sum(-1)

    def places(self, instance: int, rollout: int = 0) -> list[int]:
        """The stops of one tour."""
        count = int(self.stops[instance, rollout])
        return self.tours[instance, rollout, :count].tolist()


def decode(model: Model, batch: Batch, rollouts: int, choose: Choose, *, useful: bool) -> Rollout:
    """Tours whose stops are chosen step by step until all is covered; ``useful``: the mask."""
    code = model.encode(batch)
    memory = model.start(code, rollouts)
    state = begin(batch, rollouts)
    tours: list[Tensor] = []
    chosen: list[Tensor] = []
    first = stops = None
    while not bool(state.done.all()):
        memory = remember(model, code, memory, state)
        scores = model.scores(code, memory, state)
        log_p = log_probabilities(scores, selectable(batch, state, useful))
        first = log_p if first is None else first
        place = choose(len(tours), log_p)
        tours.append(place)
        chosen.append(log_p.gather(2, place[:, :, None]).squeeze(2))
        stops = (~state.done).long() + (0 if stops is None else stops)
        state = visit(batch, state, place)
    assert first is not None
    assert stops is not None
    tour = torch.stack(tours, dim=2)
    return Rollout(tour, lengths(batch, tour), stops, torch.stack(chosen, dim=2), first)


def remember(model: Model, code: Any, memory: Tensor, state: State) -> Tensor:
    """The memory, float32[b, r, d], after it has read the last stop."""
    read = model.read(code)
    if read is None:
        return memory
    places, first = read
    if bool(state.begun.all()):
        given = of_stop(places, state.last)
    elif first is not None:
        given = first.expand_as(memory)
    else:
        return memory
    return model.gru(given.flatten(0, 1), memory.flatten(0, 1)).view_as(memory)


def log_probabilities(scores: Tensor, free: Tensor) -> Tensor:
    """Section 'Compute Probability by Attention', eqs. (mask) and (softmax), as logarithms."""
    return scores.masked_fill(~free, -torch.inf).log_softmax(-1)


def greedy(model: Model, batch: Batch, *, useful: bool) -> Rollout:
    """The most probable stop at every step: one tour an instance."""
    return decode(model, batch, 1, lambda _, log_p: log_p.argmax(-1), useful=useful)


def sample(model: Model, batch: Batch, noise: Tensor, *, useful: bool) -> Rollout:
    """Stops drawn with their probabilities.

    ``noise``: float32[b, r, n], uniform in [0, 1), one number for each step of each rollout, so
    that what is drawn depends on nothing else, such as how instances are put into batches.
    """

    def choose(step: int, log_p: Tensor) -> Tensor:
        below = log_p.detach().exp().cumsum(-1)
        drawn = noise[:, :, step, None] * below[..., -1:]  # less than the sum, as the noise is < 1
        return (below <= drawn).sum(-1)

    return decode(model, batch, noise.shape[1], choose, useful=useful)


def score(model: Model, batch: Batch, tours: Tensor, *, useful: bool) -> Rollout:
    """Given tours, int64[b, r, t], step by step; a tour that is done must repeat its last stop."""
    return decode(model, batch, tours.shape[1], lambda step, _: tours[:, :, step], useful=useful)
