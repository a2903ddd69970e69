"""How much the gradient of a training step varies, by instances and by tours of each.

    python benchmarks/gradient_noise.py experiments/weights/am-dynamic-paper-50 --places 50 \\
        --steps 12 32x32 32x8 128x8

Steps are made with the weights and the model of a training, without changing them; the critic
learns for a while first. The table shows the seconds of processor time per step, the variance of
its gradient, summed over all weights, and the product of the two: what variance costs. Where the
instances make most of it, more tours of each hardly help. The last two columns tell what is left to
learn at these weights: the square of the mean gradient, estimated without bias and so below 0 where
it drowns in the noise, and how many instances a step would need for its noise to be no larger.
"""

from __future__ import annotations

import argparse
import tomllib
from pathlib import Path
from time import process_time

import torch
from safetensors.torch import load_file
from torch import Tensor

from covertour.neural.config import Config, config_from, rule_range
from covertour.neural.models import make_model
from covertour.neural.training.batch import draw
from covertour.neural.training.critic import make_critic
from covertour.neural.training.objective import Networks, reinforce
from covertour.neural.training.optimiser import CRITIC_RATE
from covertour.neural.training.processor import use_well

CRITIC_STEPS = 60


def read_training(folder: Path) -> tuple[Config, torch.nn.Module]:
    """The config and the model of an exported training."""
    told = tomllib.loads((folder / "config.toml").read_text())
    config = config_from({"model": told["model"], "train": {"baseline": "critic", "trace": 0.9}})
    model = make_model(config.model, 0)
    weights = load_file(folder / "weights.safetensors")
    model.load_state_dict({name: weight.float() for name, weight in weights.items()})
    return config, model


class Steps:
    """Gradients of steps on fresh instances."""

    def __init__(self, folder: Path, places: int) -> None:
        self.config, self.model = read_training(folder)
        self.places = places
        self.critic = make_critic(0)
        self.generator = torch.Generator().manual_seed(0)
        self.train_critic()

    def gradient(self, instances: int, tours: int) -> Tensor:
        """The gradient of a step, all weights in one row."""
        rules = [rule_range("nearest 7")]
        drawn = draw(instances, self.places, rules, self.generator)
        noise = torch.rand(instances, tours, self.places, generator=self.generator)
        self.model.zero_grad()
        reinforce(self.config, Networks(self.model, None, self.critic), drawn, noise)
        given = [weight.grad for weight in self.model.parameters()]
        return torch.cat([grad.flatten() for grad in given if grad is not None])

    def train_critic(self) -> None:
        """A new critic corrects nothing: let it learn from some steps."""
        adam = torch.optim.Adam(self.critic.parameters(), lr=CRITIC_RATE)
        for _ in range(CRITIC_STEPS):
            adam.zero_grad()
            self.gradient(16, 16)
            adam.step()


def main() -> None:
    """Measure the batches that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("training", type=Path, help="the output of a training")
    parser.add_argument("batches", nargs="+", metavar="INSTANCESxTOURS")
    parser.add_argument("--places", type=int, default=50)
    parser.add_argument("--steps", type=int, default=12)
    asked = parser.parse_args()
    use_well(threads=1)
    steps = Steps(asked.training, asked.places)
    print("| instances x tours | seconds | variance | seconds x variance | signal | instances |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for batch in asked.batches:
        instances, tours = map(int, batch.split("x"))
        began = process_time()
        gradients = torch.stack([steps.gradient(instances, tours) for _ in range(asked.steps)])
        seconds = (process_time() - began) / asked.steps
        variance = float(gradients.var(dim=0).sum())
        signal = float(gradients.mean(dim=0).square().sum()) - variance / asked.steps
        enough = f"{instances * variance / signal:,.0f}" if signal > 0 else "-"
        print(
            f"| {batch} | {seconds:.2f} | {variance:.2f} | {seconds * variance:.2f} "
            f"| {signal:.4f} | {enough} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
