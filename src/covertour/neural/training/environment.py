"""The tour as it grows: what is visited and covered, the guidance, and where it may go next.

Every tensor has r rollouts of each of the b instances, so that they can share one encoding.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from covertour.neural.training.batch import Batch


@dataclass(frozen=True, eq=False)
class State:
    """r unfinished tours of each of b instances of n places.

    ``visited``, ``uncovered``: bool[b, r, n]. ``guidance``: float32[b, r, n], the g_i of the paper.
    ``gain``: float32[b, r, n], how many uncovered places each place would cover. ``first``,
    ``last``: int64[b, r], stops; 0 before the first step. ``begun``, ``done``: bool[b, r], whether
    there is a stop, and whether no more are needed.
    """

    visited: Tensor
    uncovered: Tensor
    guidance: Tensor
    gain: Tensor
    first: Tensor
    last: Tensor
    begun: Tensor
    done: Tensor


def begin(batch: Batch, rollouts: int) -> State:
    """The state before the first stop: nothing is covered, and g_i = 1 for all places."""
    shape = (len(batch), rollouts, batch.n)
    nowhere = torch.zeros(shape[:2], dtype=torch.long)
    uncovered = batch.exists[:, None].expand(shape)
    return State(
        visited=torch.zeros(shape, dtype=torch.bool),
        uncovered=uncovered,
        guidance=torch.ones(shape),
        gain=_gain(batch, uncovered),
        first=nowhere,
        last=nowhere,
        begun=nowhere > 0,
        done=nowhere > 0,
    )


def visit(batch: Batch, state: State, place: Tensor) -> State:
    """The state after a stop at ``place``, int64[b, r]; a tour that is done stays as it is."""
    row = torch.arange(len(batch))[:, None]
    visited = state.visited.scatter(2, place[:, :, None], True)
    uncovered = state.uncovered & ~batch.covers[row, place]
    # Section 'Encoder', eq. (guidance): g_i <- g_i · c_i / N_C for the places that the stop covers.
    guidance = state.guidance * batch.factors[row, place]
    missing = uncovered | (batch.required[:, None] & ~visited)
    return State(
        visited=visited,
        uncovered=uncovered,
        guidance=torch.where(state.done[:, :, None], state.guidance, guidance),
        gain=_gain(batch, uncovered),
        first=torch.where(state.begun, state.first, place),
        last=place,
        begun=torch.ones_like(state.begun),
        done=~missing.any(-1),
    )


def selectable(batch: Batch, state: State, useful: bool) -> Tensor:
    """Which places may be the next stop, bool[b, r, n]; at least one in every rollout.

    The paper masks the visited places (Section 'Compute Probability by Attention', eq. (mask));
    ``useful`` masks all that cover nothing new, which in a metric space loses nothing. Forbidden
    places are always masked. The depot comes first; once all is covered only required places are
    left. A tour that is done stays at its last stop, which adds nothing to its length.
    """
    required = batch.required[:, None] & ~state.visited
    free = batch.allowed[:, None] & ~state.visited
    if useful:
        free = free & (state.gain > 0)
    free = (free & state.uncovered.any(-1, keepdim=True)) | required
    waits = ~state.begun & (batch.depot >= 0)[:, None]
    stay = torch.where(waits, batch.depot[:, None], state.last)
    forced = state.done | waits
    only = torch.zeros_like(state.visited).scatter(2, stay[:, :, None], True)
    return torch.where(forced[:, :, None], only, free)


def _gain(batch: Batch, uncovered: Tensor) -> Tensor:
    return uncovered.float() @ batch.covers.float().transpose(1, 2)


def lengths(batch: Batch, tours: Tensor) -> Tensor:
    """Lengths of closed tours, float32[b, r], from int64[b, r, t]; the last stop may repeat.

    In the instance's own unit.
    """
    row = torch.arange(len(batch))[:, None, None]
    return batch.distances[row, tours, tours.roll(-1, dims=2)].sum(-1) * batch.scale[:, None]
