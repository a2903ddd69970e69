"""The critic: what each choice of a tour is credited with."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from covertour import random_instance
from covertour.neural.config import ModelConfig
from covertour.neural.models import make_model
from covertour.neural.training.batch import Batch, batch_from
from covertour.neural.training.critic import Credit, credit_of, make_critic
from covertour.neural.training.episodes import Scored, rules_of, score_episodes, tours_of
from covertour.neural.training.kernels import OUTLOOK, look_ahead
from covertour.neural.training.objective import entropies, lengths_of, per_choice
from covertour.problem.metric import FloatArray

CONFIG = ModelConfig("am-dynamic", width=16, heads=2, layers=1, feed_forward=16)
TOURS = 4


@pytest.fixture
def made() -> tuple[Batch, Scored, FloatArray]:
    """A batch, its tours scored, and what they cost."""
    batch = batch_from([random_instance(12, nearest=2, seed=seed) for seed in range(3)], "c/N")
    model, rules = make_model(CONFIG, 1), rules_of(batch, CONFIG)
    noise = torch.rand(3, TOURS, 12, generator=torch.Generator().manual_seed(2))
    code = model.encode(batch)
    episodes = tours_of(model, CONFIG, code, rules, noise, TOURS)
    scored = score_episodes(model, CONFIG, code, rules, episodes)
    return batch, scored, lengths_of(batch, episodes.stops)


def choices(scored: Scored) -> list[list[tuple[int, int]]]:
    """Where the choices of each tour stand, in their order."""
    tour = scored.pairs.tour
    return [list(zip(*np.nonzero(tour == t), strict=True)) for t in range(int(tour.max()) + 1)]


def test_a_critic_that_corrects_nothing_is_the_shared_baseline(made) -> None:
    batch, scored, costs = made
    credit = credit_of(make_critic(1), batch, scored.pairs, costs, trace=1.0)
    shared = per_choice(scored.pairs, costs - costs.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(credit.advantages, shared, atol=1e-6)


def test_advantages_are_the_traced_sums_of_surprises(made) -> None:
    batch, scored, costs = made
    critic = make_critic(1)
    torch.nn.init.normal_(critic.layers[-1].weight, generator=torch.Generator().manual_seed(3))
    values, spent = expected_values(critic, batch, scored, costs)
    trace = 0.6
    credit = credit_of(critic, batch, scored.pairs, costs, trace)
    squares = 0.0
    for tour, places in enumerate(choices(scored)):
        cost = costs.ravel()[tour]
        before = [spent[at] for at in places] + [cost]
        value = [values[at] for at in places] + [0.0]
        surprise = [before[t + 1] - before[t] + value[t + 1] - value[t] for t in range(len(places))]
        for t, at in enumerate(places):
            traced = sum(trace**k * one for k, one in enumerate(surprise[t:]))
            assert credit.advantages[at] == pytest.approx(traced, abs=1e-5)
            if t > 0:
                squares += (cost - before[t] - value[t]) ** 2
    assert credit.loss.item() == pytest.approx(squares, rel=1e-4)


def expected_values(critic, batch: Batch, scored: Scored, costs: FloatArray):
    """V and what is spent before each choice, by the definition."""
    pairs = scored.pairs
    distances = (batch.distances * batch.scale[:, None, None]).double().numpy()
    spent = np.zeros(pairs.tour.shape)
    for places in choices(scored):
        for before, at in pairwise(places):
            row = at[0]
            leg = distances[row, pairs.last[before], pairs.chosen[before]]
            spent[at] = spent[before] + (leg if pairs.begun[before] else 0.0)
    seen = np.zeros((*pairs.tour.shape, OUTLOOK), dtype=np.float32)
    mean = costs.mean(axis=1)
    look_ahead(pairs, distances, batch.places.numpy(), spent, mean, seen)
    correction = critic(torch.from_numpy(seen)).detach().numpy() * pairs.begun
    return mean[:, None] - spent + correction, spent


def test_it_learns_what_is_to_come(made) -> None:
    batch, scored, costs = made
    critic = make_critic(1)
    optimiser = torch.optim.Adam(critic.parameters(), lr=1e-2)

    def losses() -> Credit:
        return credit_of(critic, batch, scored.pairs, costs, trace=1.0)

    before = losses().loss.item()
    for _ in range(300):
        optimiser.zero_grad()
        losses().loss.backward()
        optimiser.step()
    assert losses().loss.item() < 0.5 * before


def test_the_outlook_is_what_it_says(made) -> None:
    batch, scored, costs = made
    pairs = scored.pairs
    distances = (batch.distances * batch.scale[:, None, None]).double().numpy()
    spent = np.full(pairs.tour.shape, 0.25)
    seen = np.zeros((*pairs.tour.shape, OUTLOOK), dtype=np.float32)
    look_ahead(pairs, distances, batch.places.numpy(), spent, costs.mean(axis=1), seen)
    row, at = next(zip(*np.nonzero(pairs.begun), strict=True))
    open_places = pairs.uncovered[row, at]
    ways = distances[row, [pairs.last[row, at], pairs.first[row, at]]][:, open_places]
    expected = [
        0.25,
        costs[row].mean() - 0.25,
        distances[row, pairs.last[row, at], pairs.first[row, at]],
        open_places.mean(),
        *ways.min(axis=1),
        *ways.mean(axis=1),
        *ways.max(axis=1),
        *batch.places[row].numpy()[open_places].std(axis=0),
    ]
    np.testing.assert_allclose(seen[row, at], expected, rtol=1e-4, atol=1e-5)
    assert not seen[~pairs.begun].any()


def test_entropies_are_those_of_the_distributions(made) -> None:
    _, scored, _ = made
    for places in choices(scored):
        for at in places:
            p = scored.log_p[at].exp()
            p = p[p > 0]
            expected = -(p * p.log()).sum()
            torch.testing.assert_close(entropies(scored)[at], expected, rtol=1e-4, atol=1e-5)
    assert not entropies(scored)[torch.from_numpy(scored.pairs.tour < 0)].any()
