"""Tours per second of a training step: the loop of the specification and the two passes.

Both make the gradient of the same tours on one thread, in turns, so that a slow moment of the
machine hits both; times are processor time, the table shows the median ratio.

    python benchmarks/training_step.py --sizes 20,50,100,200 --models am-dynamic,am-gain
"""

from __future__ import annotations

import argparse
from statistics import median
from time import process_time

import torch

from covertour.neural.config import MODELS, Config, config_from
from covertour.neural.models import make_model
from covertour.neural.training.batch import batch_of
from covertour.neural.training.decoding import sample
from covertour.neural.training.objective import Networks, reinforce
from covertour.neural.training.processor import use_well
from covertour.neural.training.train import draw_step


def loop_gradient(config: Config, model: torch.nn.Module, step: int) -> None:
    """A step as the specification makes it, with a graph from stop to stop."""
    drawn, noise = draw_step(config, config.stage[0], step)
    batch = batch_of(drawn, config.model.guidance)
    tours = sample(model, batch, noise, useful=config.model.mask == "useful")
    above = tours.lengths - tours.lengths.mean(1, keepdim=True)
    (above * tours.log_probability).mean().backward()


def two_pass_gradient(config: Config, model: torch.nn.Module, step: int) -> None:
    """A step as the training makes it."""
    drawn, noise = draw_step(config, config.stage[0], step)
    reinforce(config, Networks(model), drawn, noise)


def seconds_of(function, config: Config, model: torch.nn.Module, step: int) -> float:
    model.zero_grad()
    began = process_time()
    function(config, model, step)
    return process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="20,50,100,200")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rollouts", type=int, default=16)
    parser.add_argument("--mask", default="useful", help="useful: tours as short as trained ones")
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    use_well(threads=1)
    tours = asked.batch * asked.rollouts
    print("| model | places | loop, tours/s | two passes, tours/s | ratio |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for name in asked.models.split(","):
        for n in map(int, asked.sizes.split(",")):
            config = config_from(
                {
                    "model": {"name": name, "mask": asked.mask, "polish": "no"},
                    "stage": [{"sizes": [n, n]}],
                    "train": {"batch": asked.batch, "rollouts": asked.rollouts},
                }
            )
            model = make_model(config.model, 1)
            pairs = [
                [seconds_of(one, config, model, step) for one in (loop_gradient, two_pass_gradient)]
                for step in range(asked.repeats + 1)
            ][1:]  # the first compiles
            loop, two = (median(times) for times in zip(*pairs, strict=True))
            ratio = median(slow / fast for slow, fast in pairs)
            print(f"| {name} | {n} | {tours / loop:,.0f} | {tours / two:,.0f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
