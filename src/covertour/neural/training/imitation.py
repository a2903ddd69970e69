"""Imitation: the loss of a model against tours of the search, any of whose stops may come first."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from covertour.neural.models import Model
from covertour.neural.training.batch import Batch, Draw, batch_of
from covertour.neural.training.decoding import Rollout, score
from covertour.problem.instance import Instance
from covertour.problem.metric import IntArray

Teach = Callable[[Sequence[Instance]], Sequence[IntArray]]
"""Good tours of instances, int64[m] each. Passed in, as ``neural`` knows no search."""


def imitation_loss(
    model: Model, drawn: Draw, teach: Teach, turns: Tensor, *, useful: bool
) -> tuple[Tensor, Rollout]:
    """Mean over instances and turns of -log p of the teacher's tour, and the tours as a rollout.

    ``turns``: float32[b, r], uniform in [0, 1): each turns the tour to another start and, every
    other time, the other way round. As a closed tour has no first stop, the first choice is right
    if it is any stop of the tour.
    """
    batch = batch_of(drawn)
    tours = [
        without_idle_stops(covers.numpy(), tour)
        for covers, tour in zip(batch.covers, teach(drawn.instances()), strict=True)
    ]
    device = next(iter(model.parameters())).device  # type: ignore[attr-defined]
    turned = _turned(tours, turns)
    rollout = score(model, batch.to(device), turned.to(device), useful=useful)
    stops = _members(batch, tours).to(device)
    first = rollout.first.masked_fill(~stops[:, None], -torch.inf).logsumexp(-1)
    return -(first + rollout.log_probabilities[:, :, 1:].sum(-1)).mean(), rollout


def without_idle_stops(covers: np.ndarray, tour: IntArray) -> IntArray:
    """The tour without stops that it does not need, which a model with that mask cannot make.

    ``covers``: bool[n, n]. Stops are tried in the order of the tour.
    """
    count = covers[tour].sum(axis=0)
    kept = []
    for place in tour:
        if (count[covers[place]] > 1).all():
            count = count - covers[place]
        else:
            kept.append(place)
    return np.array(kept, dtype=np.int64)


def _turned(tours: Sequence[IntArray], turns: Tensor) -> Tensor:
    """Each tour from r starts, int64[b, r, t]; shorter ones repeat their last stop."""
    longest = max(len(tour) for tour in tours)
    rows = np.empty((len(tours), turns.shape[1], longest), dtype=np.int64)
    for row, tour in enumerate(tours):
        for column, turn in enumerate(turns[row].tolist()):
            start = int(turn * 2 * len(tour))
            way = np.roll(tour if start % 2 else tour[::-1], start // 2)
            rows[row, column, : len(way)] = way
            rows[row, column, len(way) :] = way[-1]
    return torch.from_numpy(rows)


def _members(batch: Batch, tours: Sequence[IntArray]) -> Tensor:
    stops = torch.zeros_like(batch.exists)
    for row, tour in enumerate(tours):
        stops[row, torch.from_numpy(tour)] = True
    return stops
