"""Decoders without torch do what the models in torch do, step by step, for every model."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from covertour import Instance, random_instance
from covertour.neural.config import ModelConfig
from covertour.neural.inference.decoders import decoder_of
from covertour.neural.inference.problem import problem_of
from covertour.neural.inference.weights import SHIPPED, Network, load_network, shipped
from covertour.neural.models import make_model
from covertour.neural.training.batch import batch_from
from covertour.neural.training.checkpoint import load_model, save_weights
from covertour.neural.training.decoding import decode

SMALL: dict[str, Any] = {"width": 16, "heads": 4, "layers": 2, "feed_forward": 32}
SAMPLES = 4
ROUNDING = 1e-4
"""How much probabilities may differ; of places as near as that to each other either may be next."""

KINDS: list[tuple[str, dict[str, Any]]] = [
    ("am", {}),
    ("am", {"normalisation": "layer"}),
    ("am-gain", {}),
    ("am-gain", {"guidance": "(c-1)/N"}),
    ("am-gain", {"attention": "coverage"}),
    ("am-dynamic", {"attention": "coverage"}),
    ("pn", {}),
    ("pn-dynamic", {}),
    *(
        ("am-dynamic", {"form": form, "guidance": guidance})
        for form, guidance in product(("text", "released"), ("c/N", "(c-1)/N"))
    ),
]
FORMS = [
    pytest.param(
        ModelConfig(name, mask=mask, **more, **SMALL), id=" ".join([name, mask, *more.values()])
    )
    for name, more in KINDS
    for mask in ("visited", "useful")
]


def network_of(model: torch.nn.Module, config: ModelConfig, directory: Path) -> Network:
    save_weights(directory / "weights.safetensors", model, config, {})
    return load_network(directory)


def tours_of(network: Network, instance: Instance, noise: np.ndarray) -> np.ndarray:
    """Tours by the decoder, int64[r, t]; without noise one greedy tour."""
    problem = problem_of(instance, network.config)
    code = network.decoder.encode(network.weights, problem)
    tours = np.empty((max(1, len(noise)), instance.n), dtype=np.int64)
    useful = network.config.mask == "useful"
    most = network.decoder.decode(network.weights, code, problem, useful, noise, tours)
    assert (tours[:, most - 1 :] == tours[:, most - 1 : most]).all()
    return tours[:, :most]


def assert_chosen(
    model: Any, config: ModelConfig, instance: Instance, tours: np.ndarray, noise: np.ndarray
) -> None:
    """Each stop is one that the model in torch might have chosen, given those before it."""

    def check(step: int, log_p: Tensor) -> Tensor:
        stops = torch.from_numpy(tours[:, step])
        p = log_p[0].exp().double()
        chosen = p.gather(1, stops[:, None])[:, 0]
        if len(noise) == 0:
            assert bool((chosen > p.amax(1) - ROUNDING).all())
        else:
            below = p.cumsum(1).gather(1, stops[:, None])[:, 0]
            drawn = torch.from_numpy(noise[:, step]).double()
            assert bool((chosen > 0).all())
            assert bool((drawn < below + ROUNDING).all())
            assert bool((drawn > below - chosen - ROUNDING).all())
        return stops[None]

    batch = batch_from([instance], config.guidance)
    with torch.no_grad():
        rollout = decode(model, batch, len(tours), check, useful=config.mask == "useful")
    assert rollout.tours.shape[2] == tours.shape[1]  # they end where the model's do


@pytest.mark.parametrize("config", FORMS)
def test_stops_are_those_that_the_model_in_torch_chooses(
    config: ModelConfig, instances: list[Instance], tmp_path: Path
) -> None:
    model = make_model(config, seed=4)
    network = network_of(model, config, tmp_path)
    rng = np.random.default_rng(1)
    for instance in instances:
        for samples in (0, SAMPLES):
            noise = rng.random((samples, instance.n), dtype=np.float32)
            assert_chosen(model, config, instance, tours_of(network, instance, noise), noise)


@pytest.mark.parametrize("name", shipped())
def test_stops_of_trained_models_are_those_of_torch(name: str) -> None:
    model, config = load_model(SHIPPED / name / "weights.safetensors")
    network = load_network(SHIPPED / name)
    rng = np.random.default_rng(2)
    for seed in range(12):
        instance = random_instance(60, nearest=(2, 15), seed=seed)
        for samples in (0, SAMPLES):
            noise = rng.random((samples, 60), dtype=np.float32)
            assert_chosen(model, config, instance, tours_of(network, instance, noise), noise)


@pytest.mark.parametrize(("width", "heads", "feed_forward"), [(6, 3, 5), (10, 2, 7), (9, 1, 1)])
@pytest.mark.parametrize("name", ["am", "am-gain", "am-dynamic", "pn", "pn-dynamic"])
def test_widths_that_are_no_multiples_of_anything(
    name: str, width: int, heads: int, feed_forward: int, tmp_path: Path
) -> None:
    config = ModelConfig(name, width=width, heads=heads, layers=1, feed_forward=feed_forward)
    model = make_model(config, seed=2)
    network = network_of(model, config, tmp_path)
    for n in (1, 2, 3, 11):
        instance = random_instance(n, nearest=1, seed=n)
        for noise in (np.empty((0, n), np.float32), np.full((2, n), 0.7, np.float32)):
            assert_chosen(model, config, instance, tours_of(network, instance, noise), noise)


@pytest.mark.parametrize("config", FORMS)
def test_the_tensors_are_those_of_torch(config: ModelConfig) -> None:
    tensors = make_model(config).state_dict()
    expected = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    assert decoder_of(config.name).shapes(config) == expected


def test_inference_needs_no_torch(weights: Any) -> None:
    homes = [str(weights(name)) for name in ("am", "am-gain", "am-dynamic", "pn", "pn-dynamic")]
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pathlib import Path\n"
        "from covertour import random_instance\n"
        "from covertour.neural.inference.tours import best_tours\n"
        "from covertour.neural.inference.weights import load_network\n"
        f"for home in {homes!r}:\n"
        "    network = load_network(Path(home))\n"
        "    print(len(best_tours(network, [random_instance(20, nearest=7)], samples=2)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n" * 5
