"""Batch: several instances as tensors, of mixed sizes and coverage rules; drawn or converted.

Instances with fewer places than the largest are padded at the end; ``exists`` tells what is real.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from covertour.neural.config import RuleRange
from covertour.neural.inference.problem import unit_square
from covertour.problem.coverage import SAME
from covertour.problem.instance import Instance


@dataclass(frozen=True, eq=False)
class Batch:
    """b instances of up to n places.

    ``places``: float32[b, n, 2], positions in the unit square.
    ``distances``: float32[b, n, n], between those positions. ``scale``: float32[b], how long the
    side of the square is in the instance's own unit.
    ``covers``: bool[b, n, n], whether row i covers column j.
    ``factors``: float32[b, n, n], what a visit of row i multiplies the guidance of column j with.
    ``exists``, ``allowed``, ``required``: bool[b, n]; ``allowed`` places may be stops,
    ``required`` ones must be. ``depot``: int64[b], where the tour starts; -1 for anywhere.
    """

    places: Tensor
    distances: Tensor
    scale: Tensor
    covers: Tensor
    factors: Tensor
    exists: Tensor
    allowed: Tensor
    required: Tensor
    depot: Tensor

    def __len__(self) -> int:
        return len(self.places)

    @property
    def n(self) -> int:
        """Number of places of the largest instance."""
        return self.places.shape[1]

    @cached_property
    def padded(self) -> bool:
        """Whether some places are padding."""
        return not bool(self.exists.all())

    def part(self, rows: slice) -> Batch:
        """Some of the instances."""
        return Batch(*(getattr(self, field.name)[rows] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class Draw:
    """Random places and reaches, before it is worked out who covers whom.

    ``points``: float64[b, n, 2] in the unit square. ``nearest``: int64[b, n], how many others each
    place covers, -1 in instances with radii. ``radius``: float64[b, n], 0 in the other instances.
    """

    points: Tensor
    nearest: Tensor
    radius: Tensor

    def part(self, rows: slice) -> Draw:
        """Some of the instances."""
        return Draw(self.points[rows], self.nearest[rows], self.radius[rows])

    def instances(self) -> list[Instance]:
        """The same as instances of the domain."""
        return [
            Instance.from_coordinates(
                points.numpy(),
                **({"nearest": k.tolist()} if int(k[0]) >= 0 else {"radius": r.tolist()}),
            )
            for points, k, r in zip(self.points, self.nearest, self.radius, strict=True)
        ]


def draw(count: int, n: int, rules: Sequence[RuleRange], generator: torch.Generator) -> Draw:
    """``count`` random instances of n uniform places, each with one of the rules."""
    points = torch.rand(count, n, 2, dtype=torch.float64, generator=generator)
    which = torch.randint(len(rules), (count,), generator=generator)
    share = torch.rand(count, n, dtype=torch.float64, generator=generator)
    by_radius = torch.tensor([rule.kind == "radius" for rule in rules])[which][:, None]
    low = torch.tensor([rule.low for rule in rules], dtype=torch.float64)[which][:, None]
    high = torch.tensor([rule.high for rule in rules], dtype=torch.float64)[which][:, None]
    radius = torch.where(by_radius, low + share * (high - low), 0.0)
    # Whole numbers from low to high, both included, each as likely as the others.
    nearest = torch.where(by_radius, -1.0, torch.floor(low + share * (high - low + 1)))
    return Draw(points, nearest.long(), radius)


def batch_of(drawn: Draw, guidance: str) -> Batch:
    """The batch of random instances, with coverage as in :mod:`covertour.problem.coverage`.

    Like those of files they are scaled to the unit square, so that models see the same in both.
    ``guidance``: of the model, see :class:`covertour.neural.config.ModelConfig`.
    """
    count, n, _ = drawn.points.shape
    far = _distances(drawn.points)
    covers = coverage_matrix(far, drawn.nearest, drawn.radius)
    everyone = torch.ones(count, n, dtype=torch.bool)
    corner = drawn.points - drawn.points.amin(1, keepdim=True)
    scale = corner.amax((1, 2))[:, None, None]
    return Batch(
        places=(corner / scale).float(),
        distances=(far / scale).float(),
        scale=scale.flatten().float(),
        covers=covers,
        factors=guidance_factors(far, covers, guidance),
        exists=everyone,
        allowed=everyone,
        required=~everyone,
        depot=torch.full((count,), -1),
    )


def _distances(points: Tensor) -> Tensor:
    x, y = points[..., 0], points[..., 1]
    return torch.hypot(x[:, :, None] - x[:, None, :], y[:, :, None] - y[:, None, :])


def coverage_matrix(distances: Tensor, nearest: Tensor, radius: Tensor) -> Tensor:
    """Who covers whom, bool[b, n, n], from float64[b, n, n], int64[b, n] and float64[b, n].

    Where ``nearest`` is negative the radius counts. Ties as in :mod:`covertour.problem.coverage`.
    """
    n = distances.shape[-1]
    alone = torch.eye(n, dtype=torch.bool)
    others = distances.masked_fill(alone, -1.0)  # a place comes first in its own order
    most = min(max(int(nearest.max()), 0), n - 1)
    order = torch.topk(others, most + 1, largest=False, sorted=True).values
    farthest = order.gather(2, nearest.clamp(0, n - 1)[:, :, None])
    reach = torch.where(nearest[:, :, None] < 0, radius[:, :, None], farthest)
    return (others <= reach * SAME) | alone


def guidance_factors(distances: Tensor, covers: Tensor, guidance: str) -> Tensor:
    """c_i / N_C of the paper's guidance update, float32[b, n, n]; 1 where nothing changes.

    Row p is for a visit of place p: C(p) holds the places it covers, itself excluded, N_C their
    number, and c_i counts those of them that are no farther from p than i. So the nearest has
    c_i = 1 and, where distances are tied, the order of the places does not matter. With the
    ``guidance`` of the released code, (c - 1)/N, c_i counts only those that are nearer than i.
    """
    others = covers & ~torch.eye(covers.shape[-1], dtype=torch.bool)
    far = distances.masked_fill(~others, torch.inf)
    rank = torch.searchsorted(far.sort(-1).values, far, right=guidance == "c/N")
    return torch.where(others, rank / others.sum(-1, keepdim=True).clamp(min=1), 1.0).float()


def batch_from(instances: Sequence[Instance], guidance: str) -> Batch:
    """A batch of instances of any sizes, rules, metrics with coordinates, and demands on the tour.

    Who covers whom, and how near, is as in each instance; the lengths that a batch can tell are
    those of the positions in the plane.
    """
    n = max(instance.n for instance in instances)
    count = len(instances)
    points = torch.zeros(count, n, 2, dtype=torch.float64)
    scale = torch.ones(count)
    far = torch.zeros(count, n, n, dtype=torch.float64)
    covers = torch.zeros(count, n, n, dtype=torch.bool)
    exists, allowed, required = (torch.zeros(count, n, dtype=torch.bool) for _ in range(3))
    depot = torch.full((count,), -1)
    for row, instance in enumerate(instances):
        size, table = instance.n, instance.coverage
        square, side = unit_square(instance)
        points[row, :size] = torch.from_numpy(square)
        scale[row] = side
        everyone = np.arange(size)
        between = instance.distances(everyone[:, None], everyone[None, :])
        far[row, :size, :size] = torch.from_numpy(np.ascontiguousarray(between))
        owner = np.repeat(everyone, np.diff(table.covers_start))
        covers[row, torch.from_numpy(owner), torch.from_numpy(table.covers.astype(np.int64))] = True
        exists[row, :size] = True
        allowed[row, :size] = True
        allowed[row, list(instance.forbidden)] = False
        required[row, instance.must_visit.tolist()] = True
        if instance.depot is not None:
            depot[row] = instance.depot
    return Batch(
        places=points.float(),
        distances=_distances(points).float(),
        scale=scale,
        covers=covers,
        factors=guidance_factors(far, covers, guidance),
        exists=exists,
        allowed=allowed,
        required=required,
        depot=depot,
    )
