"""The gradient of a step: REINFORCE with a baseline, or imitation of the search.

Section 'Train with REINFORCE Algorithm' of the paper. Instances are taken a few at a time, which
changes nothing but the memory that is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from covertour.neural.config import Config, ModelConfig, StageConfig
from covertour.neural.inference.environment import Rules
from covertour.neural.inference.polish import Tables, polish
from covertour.neural.training.batch import Batch, Draw, batch_of
from covertour.neural.training.critic import Critic, credit_of
from covertour.neural.training.episodes import (
    Episodes,
    Scored,
    rules_of,
    score_episodes,
    tours_of,
)
from covertour.neural.training.kernels import Pairs
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

NUMBERS_AT_ONCE = 2_000_000
"""Instances are scored so many at a time that their tours times places squared is about this."""

Teach = Callable[[Sequence[Instance]], Sequence[IntArray]]
"""Good tours of instances, int64[m] each. Passed in, as ``neural`` knows no search."""


@dataclass(frozen=True)
class Sums:
    """Over the tours of a step: how many, their cost, and the loss, each times the count."""

    tours: int
    cost: float
    loss: float


def parts_of(drawn: Draw, rollouts: int) -> Iterator[slice]:
    """Instances that fit into memory, and into the processor's cache, together."""
    count, n, _ = drawn.points.shape
    most = max(1, NUMBERS_AT_ONCE // (rollouts * n * n))
    for first in range(0, count, most):
        yield slice(first, min(first + most, count))


@dataclass(frozen=True)
class Networks:
    """What learns, and what it is compared with.

    ``best_policy``: θ*, whose greedy tours are the ``greedy`` baseline; ``critic``: what a
    training with that baseline has.
    """

    model: Any
    best_policy: Any = None
    critic: Critic | None = None


def reinforce(
    config: Config, networks: Networks, drawn: Draw, noise: Tensor, entropy: float = 0.0
) -> Sums:
    """Add the gradient of line 7 of the training algorithm over the number of tours.

    (L(π) - b(s)) ∇ log p(π | s), where L is the cost of a tour and b(s) that of the baseline
    policy's greedy tour or, with the shared baseline, the mean over the rollouts of the instance;
    with a critic each choice has an advantage of its own in the place of L(π) - b(s). ``entropy``:
    how much the entropy of a choice counts against the cost.
    """
    model, rollouts = networks.model, noise.shape[1]
    tours = noise.shape[:2].numel()
    total_cost = total_loss = 0.0
    for part in parts_of(drawn, rollouts):
        batch = batch_of(drawn.part(part), config.model.guidance)
        rules = rules_of(batch, config.model)
        code = model.encode(batch)
        episodes = tours_of(model, config.model, code, rules, noise[part], rollouts)
        costs = costs_of(config, batch, episodes)
        scored = score_episodes(model, config.model, code, rules, episodes)
        if networks.critic is not None:
            credit = credit_of(networks.critic, batch, scored.pairs, costs, config.train.trace)
            (credit.loss / tours).backward()  # type: ignore[no-untyped-call]
            advantages = credit.advantages
        else:
            baseline = costs.mean(axis=1, keepdims=True)
            if networks.best_policy is not None:
                baseline = costs_of(
                    config, batch, greedy_tours(networks.best_policy, config.model, batch, rules)
                )
            advantages = per_choice(scored.pairs, costs - baseline)
        loss = weighted(scored, advantages) / tours
        total_loss += float(loss.detach())
        if entropy > 0:
            loss = loss - entropy * entropies(scored).sum() / tours
        loss.backward()  # type: ignore[no-untyped-call]
        total_cost += float(costs.sum())
    return Sums(tours, total_cost, total_loss)


@torch.no_grad()
def greedy_tours(policy: Any, config: ModelConfig, batch: Batch, rules: Rules) -> Episodes:
    """The greedy tour of each instance of a batch."""
    return tours_of(policy, config, policy.encode(batch), rules, None, 1)


def per_choice(pairs: Pairs, weights: FloatArray) -> FloatArray:
    """Weights of tours, float64[b, r], for all of their choices, float64[b, q]."""
    each: FloatArray = weights.ravel()[np.maximum(pairs.tour, 0)] * (pairs.tour >= 0)
    return each


def weighted(scored: Scored, weights: FloatArray) -> Tensor:
    """Σ of the choices' log-probabilities times their weights, float64[b, q]."""
    return (scored.chosen * torch.from_numpy(weights.astype(np.float32))).sum()


def entropies(scored: Scored) -> Tensor:
    """-Σ p log p of each choice, float32[b, q]; 0 for padding."""
    p = scored.log_p.exp()
    every = -(p * scored.log_p.masked_fill(p == 0, 0.0)).sum(-1)
    return every * torch.from_numpy(scored.pairs.tour >= 0)


def costs_of(config: Config, batch: Batch, episodes: Episodes) -> FloatArray:
    """What each tour costs, float64[b, r]: its length or, where tours are polished, mostly that."""
    lengths = lengths_of(batch, episodes.stops)
    if config.model.polish == "no":
        return lengths
    after = lengths_of(batch, polished(batch, episodes.stops))
    return after + config.train.raw_share * (lengths - after)


def lengths_of(batch: Batch, stops: IntArray) -> FloatArray:
    """Lengths of closed tours, float64[b, r], from int64[b, r, t]; the last stop may repeat."""
    row = np.arange(len(stops))[:, None, None]
    legs = batch.distances.numpy()[row, stops, np.roll(stops, -1, axis=2)]
    return legs.sum(axis=2, dtype=np.float64) * batch.scale.double().numpy()[:, None]


def polished(batch: Batch, stops: IntArray) -> IntArray:
    """Tours, int64[b, r, t], polished as in inference; stops may repeat."""
    b, r, t = stops.shape
    known = (batch.distances.double(), batch.covers, batch.allowed, batch.required)
    tables = Tables(*(value.numpy() for value in known))
    return polish(stops.reshape(b * r, t), np.repeat(np.arange(b), r), tables).reshape(b, r, t)


def imitate(config: ModelConfig, model: Any, drawn: Draw, teach: Teach, turns: Tensor) -> Sums:
    """Add the gradient of the mean over instances and turns of -log p of the teacher's tour.

    ``turns``: float32[b, r], uniform in [0, 1): each turns the tour to another start and, every
    other time, the other way round. As a closed tour has no first stop, the first choice is right
    if it is any stop of the tour.
    """
    total_cost = total_loss = 0.0
    for part in parts_of(drawn, turns.shape[1]):
        some = drawn.part(part)
        batch = batch_of(some, config.guidance)
        tours = [
            without_idle_stops(covers.numpy(), tour)
            for covers, tour in zip(batch.covers, teach(some.instances()), strict=True)
        ]
        episodes = turned(tours, turns[part])
        rules = rules_of(batch, config)
        scored = score_episodes(model, config, model.encode(batch), rules, episodes)
        members = torch.zeros(len(tours), batch.n, dtype=torch.bool)
        for row, tour in enumerate(tours):
            members[row, torch.from_numpy(tour)] = True
        real = torch.from_numpy(scored.pairs.tour >= 0)
        first = real & ~torch.from_numpy(scored.pairs.begun)
        stop = torch.nn.functional.one_hot(torch.from_numpy(scored.pairs.chosen), batch.n).bool()
        accepted = torch.where(first[:, :, None], members[:, None], stop)
        right = scored.log_p.masked_fill(~accepted, -torch.inf).logsumexp(-1)
        loss = -right.masked_fill(~real, 0.0).sum() / turns.numel()
        loss.backward()  # type: ignore[no-untyped-call]
        total_cost += float(lengths_of(batch, episodes.stops).sum())
        total_loss += float(loss.detach())
    return Sums(turns.numel(), total_cost, total_loss)


def turned(tours: Sequence[IntArray], turns: Tensor) -> Episodes:
    """Each tour from r starts; shorter ones repeat their last stop."""
    r = turns.shape[1]
    counts = np.repeat([len(tour) for tour in tours], r).reshape(len(tours), r)
    stops = np.empty((len(tours), r, int(counts.max())), dtype=np.int64)
    for row, tour in enumerate(tours):
        for column, turn in enumerate(turns[row].tolist()):
            start = int(turn * 2 * len(tour))
            way = np.roll(tour if start % 2 else tour[::-1], start // 2)
            stops[row, column, : len(way)] = way
            stops[row, column, len(way) :] = way[-1]
    return Episodes(stops, counts)


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


def step_gradient(
    config: Config,
    stage: StageConfig,
    networks: Networks,
    drawn: Draw,
    noise: Tensor,
    rate: float,
    teach: Teach | None,
) -> Sums:
    """Add the gradient of a step of this stage, at this share of the learning rate, to the rest."""
    if stage.learn == "imitate":
        assert teach is not None
        return imitate(config.model, networks.model, drawn, teach, noise[:, :, 0])
    return reinforce(config, networks, drawn, noise, config.train.entropy * rate)
