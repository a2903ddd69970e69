"""Tours in two passes: the same tours and the same gradients as the loop of the specification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from covertour import random_instance
from covertour.neural.config import MODELS, ModelConfig
from covertour.neural.models import make_model
from covertour.neural.training.batch import Batch, batch_from
from covertour.neural.training.decoding import Rollout, greedy, sample
from covertour.neural.training.episodes import (
    Episodes,
    rules_of,
    score_episodes,
    tours_of,
)
from covertour.neural.training.objective import per_choice, weighted
from covertour.neural.training.recurrence import memories

SMALL = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32}
ROLLOUTS = 5

FORMS = [
    *(pytest.param(ModelConfig(name, **SMALL, mask="visited"), id=name) for name in MODELS),
    pytest.param(ModelConfig("am-dynamic", **SMALL, form="text"), id="text"),
    pytest.param(ModelConfig("am-dynamic", **SMALL, mask="useful"), id="useful"),
    pytest.param(ModelConfig("am-dynamic", **SMALL, guidance="(c-1)/N"), id="from-zero"),
    pytest.param(ModelConfig("am-dynamic", **SMALL, normalisation="layer"), id="layer"),
    pytest.param(
        ModelConfig("am-dynamic", **SMALL | {"heads": 4}, attention="coverage"), id="coverage"
    ),
    pytest.param(ModelConfig("am-gain", **SMALL), id="am-gain-useful"),
]


def batch_of_nine(config: ModelConfig) -> Batch:
    """Instances of one size, with all that may be asked of a tour."""
    rules: list[dict[str, Any]] = [{"nearest": 3}, {"radius": (0.2, 0.5)}, {"nearest": (1, 6)}]
    asked: list[dict[str, Any]] = [{}, {"depot": 4, "required": (1, 2)}, {"forbidden": (0, 5)}]
    return batch_from(
        [
            random_instance(14, **rule, seed=seed).with_changes(**change)
            for seed, (rule, change) in enumerate((r, a) for r in rules for a in asked)
        ],
        config.guidance,
    )


def noise_for(batch: Batch) -> torch.Tensor:
    shape = (len(batch), ROLLOUTS, batch.n)
    return torch.rand(shape, generator=torch.Generator().manual_seed(5))


def same_tours(rollout: Rollout, episodes: Episodes) -> bool:
    counts = rollout.stops.numpy()
    return bool((counts == episodes.counts).all()) and all(
        rollout.places(i, j) == episodes.stops[i, j, : counts[i, j]].tolist()
        for i in range(len(counts))
        for j in range(counts.shape[1])
    )


@pytest.mark.parametrize("config", FORMS)
def test_tours_and_gradients_are_those_of_the_loop(config: ModelConfig) -> None:
    model, batch = make_model(config, 3), batch_of_nine(config)
    noise, weights = noise_for(batch), np.random.default_rng(0).normal(size=(9, ROLLOUTS))
    expected = sample(model, batch, noise, useful=config.mask == "useful")
    (expected.log_probability * torch.from_numpy(weights)).sum().backward()
    wanted = {name: weight.grad.clone() for name, weight in model.named_parameters()}

    model.zero_grad()
    code, rules = model.encode(batch), rules_of(batch, config)
    episodes = tours_of(model, config, code, rules, noise, ROLLOUTS)
    assert same_tours(expected, episodes)
    scored = score_episodes(model, config, code, rules, episodes)
    weighted(scored, per_choice(scored.pairs, weights)).backward()
    largest = max(float(gradient.abs().max()) for gradient in wanted.values())
    for name, weight in model.named_parameters():
        # What normalisation takes out has a gradient of 0, of which rounding leaves something.
        torch.testing.assert_close(weight.grad, wanted[name], rtol=1e-4, atol=1e-5 * largest)
    real = torch.from_numpy(scored.pairs.tour >= 0)
    each = torch.zeros(9 * ROLLOUTS).index_add(
        0, torch.from_numpy(scored.pairs.tour)[real], scored.chosen.detach()[real]
    )
    torch.testing.assert_close(
        each.view(9, ROLLOUTS), expected.log_probability.detach(), rtol=1e-4, atol=1e-4
    )


@pytest.mark.parametrize("config", FORMS)
def test_the_best_stops_are_those_of_the_loop(config: ModelConfig) -> None:
    model, batch = make_model(config, 4), batch_of_nine(config)
    with torch.no_grad():
        expected = greedy(model, batch, useful=config.mask == "useful")
        code = model.encode(batch)
    assert same_tours(expected, tours_of(model, config, code, rules_of(batch, config), None, 1))


def test_the_recurrence_is_a_gru_and_so_is_its_gradient() -> None:
    gru = torch.nn.GRUCell(4, 6).double()
    generator = torch.Generator().manual_seed(1)
    sizes = [5, 5, 3, 1]
    inputs = torch.randn(sum(sizes), 4, generator=generator, dtype=torch.double, requires_grad=True)
    start = torch.randn(5, 6, generator=generator, dtype=torch.double, requires_grad=True)
    late = torch.randn(sum(sizes), 6, generator=generator, dtype=torch.double)

    made, memory, first = [], start, 0
    for size in sizes:
        memory = gru(inputs[first : first + size], memory[:size])
        made.append(memory)
        first += size
    expected = torch.cat(made)
    given = torch.nn.functional.linear(inputs, gru.weight_ih, gru.bias_ih)
    found = memories(given, start, gru, sizes)
    torch.testing.assert_close(found, expected)
    wanted = torch.autograd.grad((expected * late).sum(), [inputs, start, *gru.parameters()])
    got = torch.autograd.grad((found * late).sum(), [inputs, start, *gru.parameters()])
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other)
