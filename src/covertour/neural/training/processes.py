"""Several processes that train together, started by torchrun; one alone needs none of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from covertour.problem.errors import InputError


@contextmanager
def processes() -> Iterator[tuple[int, int]]:
    """Rank and number of the processes that torchrun started; 0 and 1 alone."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count == 1:
        yield 0, 1
        return
    dist.init_process_group("gloo")
    try:
        yield dist.get_rank(), count
        dist.barrier()  # one that left early could be torn down while others still talk to it
    finally:
        dist.destroy_process_group()


def share(batch: int, rank: int, count: int) -> slice:
    """The part of the batch that is a process's own."""
    if batch % count:
        raise InputError(f"train.batch: {batch} instances cannot be shared by {count} processes")
    each = batch // count
    return slice(rank * each, (rank + 1) * each)


@dataclass(frozen=True)
class Average:
    """Means over the processes, and whether any of them was asked to end."""

    cost: float
    loss: float
    ending: bool


def average(
    weights: Sequence[Tensor], cost: float, loss: float, ending: bool, count: int
) -> Average:
    """Give the weights of all processes the mean of their gradients; the mean of cost and loss."""
    if count == 1:
        return Average(cost, loss, ending)
    parts = [
        weight.grad if weight.grad is not None else torch.zeros_like(weight) for weight in weights
    ]
    figures = parts[0].new_tensor([cost, loss, float(ending)])
    flat = torch.cat([*(part.flatten() for part in parts), figures])
    dist.all_reduce(flat)
    flat /= count
    begin = 0
    for weight in weights:
        weight.grad = flat[begin : begin + weight.numel()].view_as(weight)
        begin += weight.numel()
    cost, loss, end = flat[-3:].tolist()
    return Average(cost, loss, end > 0)


def agreed(total: Tensor, count: int) -> Tensor:
    """The first process's numbers, for all: they must come to the same verdict."""
    if count > 1:
        dist.broadcast(total, 0)
    return total
