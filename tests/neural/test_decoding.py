"""Tours of models: they cover, add up, and do not depend on order or company."""

from __future__ import annotations

import pytest
import torch

from covertour import Instance, make_tour, random_instance, verify
from covertour.neural.config import MODELS, ModelConfig
from covertour.neural.models import make_model
from covertour.neural.training.batch import batch_from
from covertour.neural.training.decoding import Rollout, greedy, sample, score

SMALL = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32}


def mixed() -> list[Instance]:
    """Instances of several sizes, rules and demands."""
    return [
        random_instance(12, nearest=3, seed=1),
        random_instance(17, radius=(0.0, 0.3), seed=2).with_changes(depot=4, required=(1, 2)),
        random_instance(9, nearest=(1, 5), seed=3).with_changes(forbidden=(0, 5)),
        random_instance(5, nearest=0, seed=4),
        random_instance(6, nearest=5, seed=5),
        random_instance(1, nearest=1, seed=6),
    ]


def model_of(name: str) -> torch.nn.Module:
    return make_model(ModelConfig(name, **SMALL), seed=2)


def uniform(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed))


def sampled(name: str, instances: list[Instance], rollouts: int, useful: bool) -> Rollout:
    batch = batch_from(instances, "c/N")
    return sample(model_of(name), batch, uniform(len(batch), rollouts, batch.n), useful=useful)


@pytest.mark.parametrize("useful", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_tours_cover_and_respect_depot_required_and_forbidden(name: str, useful: bool) -> None:
    rollout = sampled(name, mixed(), 3, useful)
    for row, instance in enumerate(mixed()):
        for column in range(3):
            places = rollout.places(row, column)
            verdict = verify(instance, make_tour(instance, places))
            assert verdict.ok, verdict.problems(instance)
            assert instance.depot in (None, places[0])


def test_lengths_are_those_of_the_tours() -> None:
    square = [[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.2], [0.3, 0.9]]
    instance = Instance.from_coordinates(square, nearest=1)
    rollout = sampled("am-dynamic", [instance], 5, False)
    for column in range(5):
        length = instance.length(rollout.places(0, column))
        assert float(rollout.lengths[0, column]) == pytest.approx(length, rel=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_a_rollout_scored_step_by_step_has_the_same_log_probability(name: str) -> None:
    batch = batch_from(mixed(), "c/N")
    model = model_of(name)
    drawn = sample(model, batch, uniform(len(batch), 4, batch.n, seed=1), useful=False)
    again = score(model, batch, drawn.tours, useful=False)
    assert torch.equal(again.tours, drawn.tours)
    torch.testing.assert_close(again.log_probability, drawn.log_probability)
    assert (drawn.log_probability <= 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_an_instance_decodes_the_same_alone_and_among_larger_ones(name: str) -> None:
    instances = mixed()
    noise = uniform(len(instances), 2, 17)
    model = model_of(name)
    together = sample(model, batch_from(instances, "c/N"), noise, useful=True)
    for row, instance in enumerate(instances):
        alone = sample(model, batch_from([instance], "c/N"), noise[row : row + 1], useful=True)
        assert [together.places(row, c) for c in (0, 1)] == [alone.places(0, c) for c in (0, 1)]
        torch.testing.assert_close(
            alone.log_probability[0], together.log_probability[row], atol=1e-4, rtol=1e-4
        )


@pytest.mark.parametrize("name", [name for name in MODELS if name != "pn"])
def test_permuting_the_places_permutes_the_tour(name: str) -> None:
    """Of all models but the pointer network, whose encoder reads the places in their order."""
    instance = random_instance(15, nearest=3, seed=8)
    order = torch.randperm(15, generator=torch.Generator().manual_seed(3))
    assert instance.coordinates is not None
    shuffled = Instance.from_coordinates(instance.coordinates[order.numpy()], nearest=3)
    model = model_of(name)
    first = greedy(model, batch_from([instance], "c/N"), useful=True)
    second = greedy(model, batch_from([shuffled], "c/N"), useful=True)
    assert [int(order[place]) for place in second.places(0)] == first.places(0)
    torch.testing.assert_close(second.log_probability, first.log_probability, atol=1e-4, rtol=1e-4)


def test_stops_are_drawn_with_their_probabilities() -> None:
    instance = random_instance(6, nearest=5, seed=9)  # any one place covers all
    rollout = sampled("am-dynamic", [instance], 20_000, True)
    shares = torch.bincount(rollout.tours[0, :, 0], minlength=6) / 20_000
    torch.testing.assert_close(shares, rollout.first[0, 0].exp(), atol=0.02, rtol=0)


def test_the_largest_noise_still_draws_a_place_that_may_be_drawn() -> None:
    batch = batch_from(mixed(), "c/N")
    noise = torch.full((len(batch), 2, batch.n), 1.0 - 2.0**-24)
    rollout = sample(model_of("am-gain"), batch, noise, useful=True)
    assert rollout.log_probability.isfinite().all()


@pytest.mark.parametrize("name", MODELS)
def test_every_weight_learns_and_finished_tours_spoil_no_gradient(name: str) -> None:
    batch = batch_from(mixed(), "c/N")
    model = model_of(name)
    rollout = sample(model, batch, uniform(len(batch), 4, batch.n), useful=False)
    rollout.log_probability.sum().backward()
    for key, weight in model.named_parameters():
        assert weight.grad is not None, key
        assert weight.grad.isfinite().all(), key
        assert weight.grad.any(), key
