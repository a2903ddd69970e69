"""The runtime without torch does what the models in torch do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from covertour import InputError, Instance, make_tour, random_instance, verify
from covertour.neural.config import MODELS, ModelConfig
from covertour.neural.inference import runtime
from covertour.neural.inference.network import Network, load_network
from covertour.neural.inference.places import unit_square
from covertour.neural.inference.problem import problem_of, turn
from covertour.neural.inference.runtime import best_tours, encode, rollouts
from covertour.neural.inference.shipped import network_for
from covertour.neural.models import make_model
from covertour.neural.training.batch import batch_from
from covertour.neural.training.decoding import greedy, sample
from covertour.neural.training.export import export

SMALL = {"width": 16, "heads": 2, "layers": 2, "feed_forward": 32}


def instances(n: int) -> list[Instance]:
    plain = random_instance(n, nearest=3, seed=1)
    return [
        plain,
        random_instance(n, radius=(0.0, 0.3), seed=2).with_changes(depot=4, required=(1, 2)),
        random_instance(n, nearest=(1, 5), seed=3).with_changes(forbidden=(0, 5)),
        random_instance(n, nearest=0, seed=4),
    ]


@pytest.fixture(scope="module", params=MODELS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple:
    """A model in torch, and the same exported."""
    config = ModelConfig(request.param, **SMALL)
    model = make_model(config, seed=4)
    directory = tmp_path_factory.mktemp("model")
    export(model, config, directory)
    return model, load_network(directory)


@pytest.mark.parametrize("n", [6, 13])
def test_exported_models_draw_the_same_tours(both: tuple[torch.nn.Module, Network], n: int) -> None:
    model, network = both
    useful = network.config.mask == "useful"
    noise = torch.rand(4, 5, n, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = sample(model, batch_from(instances(n)), noise, useful=useful)
        best = greedy(model, batch_from(instances(n)), useful=useful)
    tours, log_probability = rollouts(network, problem_of(instances(n)), noise.numpy(), scored=True)
    assert np.array_equal(tours, expected.tours.numpy())
    assert_allclose(log_probability, expected.log_probability.numpy(), atol=1e-4)
    tours, log_probability = rollouts(network, problem_of(instances(n)), scored=True)
    assert np.array_equal(tours, best.tours.numpy())
    assert_allclose(log_probability, best.log_probability.numpy(), atol=1e-4)


@pytest.mark.parametrize("mask", ["useful", "visited"])
def test_the_loop_of_am_gain_makes_the_tours_of_its_graphs(mask: str, tmp_path: Path) -> None:
    config = ModelConfig("am-gain", mask=mask, **SMALL)
    export(make_model(config, seed=4), config, tmp_path)
    network = load_network(tmp_path)
    for n in (6, 13, 40):
        problem = problem_of(instances(n))
        code = encode(network, problem)
        for r in (0, 1, 7):
            noise = np.random.default_rng(r).random((1, r, n), dtype=np.float32) if r else None
            expected, _ = rollouts(network, problem, noise, code=code)
            assert np.array_equal(runtime._tours(network, problem, code, noise), expected)


def test_the_shipped_loop_and_graphs_agree() -> None:
    same = [random_instance(60, nearest=7, seed=seed) for seed in range(10)]
    network = network_for("am-gain", 60)
    problem = problem_of(same)
    code = encode(network, problem)
    noise = np.random.default_rng(1).random((10, 10, 60), dtype=np.float32)
    graphs, loop = (
        rollouts(network, problem, noise, code=code)[0],
        runtime._tours(network, problem, code, noise),
    )
    short = min(graphs.shape[2], loop.shape[2])
    # Of two places that are nearly as good, rounding may decide.
    assert (graphs[:, :, :short] == loop[:, :, :short]).all(axis=2).mean() > 0.95


def test_problems_of_the_runtime_are_those_of_torch() -> None:
    grid = Instance.from_coordinates([[x, y] for x in range(4) for y in range(4)], nearest=3)
    for one in [*instances(16), grid]:
        problem, batch = problem_of([one]), batch_from([one])
        for name in ("places", "distances", "covers", "factors", "allowed", "required", "depot"):
            assert_allclose(getattr(problem, name), getattr(batch, name).numpy(), rtol=1e-6)
    corner = Instance.from_coordinates([[0, 0], [1, 0], [0, 1]], nearest=2)
    assert problem_of([corner]).factors[0].tolist() == [[1, 1, 1], [0.5, 1, 1], [0.5, 1, 1]]


def test_more_samples_and_symmetries_give_shorter_tours_that_cover(
    both: tuple[torch.nn.Module, Network],
) -> None:
    _, network = both
    mixed = [*instances(8), *instances(15)]
    means = []
    for more in ({}, {"samples": 8}, {"samples": 8, "symmetries": True}):
        tours = best_tours(network, mixed, seed=1, **more)
        assert len(tours) == len(mixed)
        for one, tour in zip(mixed, tours, strict=True):
            assert verify(one, make_tour(one, tour)).ok
        means.append(np.mean([one.length(tour) for one, tour in zip(mixed, tours, strict=True)]))
    assert means[2] <= means[1] <= means[0]
    assert means[2] < means[0]


def test_raw_tours_are_those_of_the_network(both: tuple[torch.nn.Module, Network]) -> None:
    _, network = both
    same = instances(15)
    (made, _), polished = rollouts(network, problem_of(same)), best_tours(network, same)
    for one, tour, raw, better in zip(
        same, made[:, 0], best_tours(network, same, raw=True), polished, strict=True
    ):
        assert raw.tolist() == list(dict.fromkeys(tour.tolist()))
        assert one.length(better) <= one.length(raw) + 1e-9


def test_symmetries_are_eight_and_keep_distances() -> None:
    places = np.random.default_rng(1).random((1, 5, 2)).astype(np.float32)
    ways = [turn(places, way) for way in range(8)]
    assert len({way.tobytes() for way in ways}) == 8
    for way in ways:
        assert_allclose(
            np.linalg.norm(way[:, :1] - way, axis=2),
            np.linalg.norm(places[:, :1] - places, axis=2),
            rtol=1e-5,
        )


def test_sizes_are_not_mixed() -> None:
    with pytest.raises(InputError, match="same number of places"):
        problem_of([random_instance(3, nearest=1), random_instance(4, nearest=1)])


@pytest.mark.parametrize("more", [{}, {"samples": 5}, {"samples": 3, "symmetries": True}])
def test_batches_threads_and_company_change_nothing(
    both: tuple[torch.nn.Module, Network], more: dict, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, network = both
    mixed = [*instances(8), *instances(15)]
    alone = [best_tours(network, [one], seed=3, **more)[0] for one in mixed]
    for numbers, share in ((8_000_000, 0.75), (150, 0.0), (300, 1.0)):
        monkeypatch.setattr(runtime, "NUMBERS_AT_ONCE", numbers)
        monkeypatch.setattr(runtime, "SHRINK", share)
        for workers in (1, 3):
            found = best_tours(network, mixed, seed=3, workers=workers, **more)
            for one, a, b in zip(mixed, found, alone, strict=True):
                assert one.length(a) == pytest.approx(one.length(b))


def test_places_on_the_globe_keep_their_distances_in_the_square() -> None:
    towns = [[179.9, -17.0], [-179.8, -17.2], [179.6, -16.8]]
    for metric in ("haversine", "geo"):
        places = towns if metric == "haversine" else [town[::-1] for town in towns]
        globe = Instance.from_coordinates(places, metric=metric, nearest=1)
        square, side = unit_square(globe)
        assert square.min() >= 0
        assert square.max() == 1
        for i, j in ((0, 1), (1, 2), (0, 2)):
            flat = side * np.linalg.norm(square[i] - square[j])
            assert flat == pytest.approx(globe.distances(i, j), rel=0.03)


def test_the_runtime_needs_no_torch(tmp_path: Path) -> None:
    config = ModelConfig("am-gain", **SMALL)
    export(make_model(config), config, tmp_path)
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from covertour import random_instance\n"
        "from covertour.neural.inference.network import load_network\n"
        "from covertour.neural.inference.runtime import best_tours\n"
        f"network = load_network({str(tmp_path)!r})\n"
        "print(len(best_tours(network, [random_instance(20, nearest=7)])))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
