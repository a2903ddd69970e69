"""Trials of the recipe: variants of a training at equal processor time.

    python benchmarks/recipe.py --places 20 --seconds 100 adam muon entropy

Each variant differs from ``adam`` or ``muon`` in the one point that its name tells. It is trained
by REINFORCE for so many seconds of processor time on one thread, the learning rate falling to 0
with a cosine, and prints the gap of its greedy tours on 200 fixed instances to those of the search.
What came of them is in docs/results/recipe.md; what won is in the configs of the weights.
"""

from __future__ import annotations

import argparse
import copy
import math
from dataclasses import dataclass, replace
from time import process_time

import numpy as np
import torch
from torch import Tensor

from covertour import MaxIterations, random_instance, solve
from covertour.neural.config import Config, config_from, rule_range
from covertour.neural.models import make_model
from covertour.neural.training.batch import Draw, batch_of, draw
from covertour.neural.training.critic import credit_of, make_critic
from covertour.neural.training.episodes import rules_of, score_episodes, tours_of
from covertour.neural.training.objective import (
    Networks,
    entropies,
    lengths_of,
    per_choice,
    weighted,
)
from covertour.neural.training.optimiser import Optimiser, clip, follow
from covertour.neural.training.processor import use_well
from covertour.neural.training.validation import greedy_length


@dataclass(frozen=True)
class Variant:
    """What is varied. Of the rest the defaults of :class:`covertour.neural.config.Config` hold.

    ``entropy``: how much the entropy of each choice counts, falling to 0. ``mean``:
    log-probabilities are averaged over the stops of a tour instead of summed. ``deviation``: a
    tour's advantage is divided by the deviation over its instance. ``symmetries``: so many of an
    instance's eight symmetric copies share a baseline. ``stratified``: the first stops of an
    instance's tours are drawn from equal shares of the distribution. ``trace``: λ of a critic.
    """

    model: str = "am-dynamic"
    form: str = "released"
    attention: str = "all"
    guidance: str = "(c-1)/N"
    mask: str = "visited"
    normalisation: str = "instance"
    optimiser: str = "adam"
    learning_rate: float = 1e-3
    muon_rate: float = 0.005
    batch: int = 16
    rollouts: int = 32
    baseline: str = "shared"
    average: float = 0.0
    clip_norm: float = 1.0
    entropy: float = 0.0
    mean: bool = False
    deviation: bool = False
    symmetries: int = 1
    stratified: bool = False
    trace: float = 0.9


ADAM, MUON = Variant(), Variant(optimiser="muon")
CRITIC = replace(MUON, baseline="critic")
OPEN = replace(CRITIC, entropy=0.03, average=0.99)
FEW = replace(OPEN, batch=32, rollouts=8, muon_rate=0.01)
COVERAGE = replace(FEW, attention="coverage")
SHARED = replace(COVERAGE, baseline="shared")
GAIN = replace(FEW, model="am-gain", mask="useful", guidance="c/N")
VARIANTS = {
    "adam": ADAM,
    "adam-5e-4": replace(ADAM, learning_rate=5e-4),
    "adam-2e-3": replace(ADAM, learning_rate=2e-3),
    "guidance-c": replace(ADAM, guidance="c/N"),
    "text": replace(ADAM, form="text"),
    "layer": replace(ADAM, normalisation="layer"),
    "useful": replace(ADAM, mask="useful"),
    "entropy": replace(ADAM, entropy=0.03),
    "32x16": replace(ADAM, batch=32, rollouts=16),
    "64x8": replace(ADAM, batch=64, rollouts=8),
    "greedy-baseline": replace(ADAM, batch=256, rollouts=1, baseline="greedy"),
    "muon": MUON,
    "muon-0.002": replace(MUON, muon_rate=0.002),
    "muon-0.01": replace(MUON, muon_rate=0.01),
    "muon-0.02": replace(MUON, muon_rate=0.02),
    "muon-32x32": replace(MUON, muon_rate=0.01, batch=32),
    "muon-64x16": replace(MUON, muon_rate=0.01, batch=64, rollouts=16),
    "muon-entropy": replace(MUON, entropy=0.03),
    "muon-stratified": replace(MUON, stratified=True),
    "muon-deviation": replace(MUON, deviation=True),
    "muon-mean": replace(MUON, mean=True),
    "muon-layer": replace(MUON, normalisation="layer"),
    "muon-symmetries": replace(MUON, symmetries=8),
    "muon-average": replace(MUON, average=0.99),
    "critic": CRITIC,
    "critic-1": replace(CRITIC, trace=1.0),
    "critic-0.95": replace(CRITIC, trace=0.95),
    "critic-0.7": replace(CRITIC, trace=0.7),
    "critic-entropy": OPEN,
    "critic-32x32": replace(OPEN, batch=32),
    "critic-16x8": replace(OPEN, rollouts=8),
    "critic-32x8": replace(OPEN, batch=32, rollouts=8),
    "critic-64x8": replace(OPEN, batch=64, rollouts=8),
    "critic-128x8": replace(OPEN, batch=128, rollouts=8),
    "critic-32x8-0.01": FEW,
    "coverage": COVERAGE,
    "coverage-0.005": replace(COVERAGE, muon_rate=0.005),
    "coverage-0.02": replace(COVERAGE, muon_rate=0.02),
    "coverage-adam": replace(COVERAGE, optimiser="adam"),
    "coverage-adam-5e-4": replace(COVERAGE, optimiser="adam", learning_rate=5e-4),
    "coverage-text": replace(COVERAGE, form="text", guidance="c/N"),
    "coverage-layer": replace(COVERAGE, normalisation="layer"),
    "coverage-64x8": replace(COVERAGE, batch=64),
    "coverage-shared": SHARED,
    "coverage-mean": replace(SHARED, mean=True),
    "coverage-symmetries": replace(SHARED, symmetries=8),
    "coverage-greedy-baseline": replace(SHARED, batch=256, rollouts=1, baseline="greedy"),
    "am-gain": GAIN,
    "am-gain-coverage": replace(GAIN, attention="coverage"),
}
"""The variants by name."""


def config_of(variant: Variant, places: int, seed: int) -> Config:
    """The variant as the training's own config."""
    return config_from(
        {
            "model": {
                "name": variant.model,
                "form": variant.form,
                "attention": variant.attention,
                "guidance": variant.guidance,
                "mask": variant.mask,
                "normalisation": variant.normalisation,
                "polish": "no",
            },
            "stage": [{"sizes": [places, places]}],
            "train": {
                "seed": seed,
                "baseline": variant.baseline,
                "batch": variant.batch,
                "rollouts": variant.rollouts,
                "optimiser": variant.optimiser,
                "learning_rate": variant.learning_rate,
                "muon_rate": variant.muon_rate,
                "average": variant.average,
                "clip_norm": variant.clip_norm,
            },
        }
    )


def trial(variant: Variant, places: int, seconds: float, seed: int) -> str:
    """Train a variant and tell how it went, as a row of a table."""
    config = config_of(variant, places, seed)
    model = make_model(config.model, seed)
    mean = copy.deepcopy(model) if variant.average > 0 else model
    best = copy.deepcopy(model) if variant.baseline == "greedy" else None
    critic = make_critic(seed) if variant.baseline == "critic" else None
    optimiser = Optimiser(model, config.train, critic)
    generator = torch.Generator().manual_seed(seed)
    instances = [random_instance(places, nearest=7, seed=10**6 + one) for one in range(200)]
    steps, began = 0, process_time()
    while (done := (process_time() - began) / seconds) < 1:
        optimiser.zero_grad()
        step_of(variant, config, Networks(model, best, critic), generator, done)
        clip(model, variant.clip_norm)
        warm = min(1.0, 50 * done + 0.02)
        optimiser.step(warm * 0.5 * (1 + math.cos(math.pi * done)))
        steps += 1
        if mean is not model:
            follow(mean, model, variant.average, steps)
        if (
            best is not None
            and steps % 100 == 0
            and greedy_length(config, model, instances) < greedy_length(config, best, instances)
        ):
            best.load_state_dict(model.state_dict())
    stop = MaxIterations(10 * (20 + places))
    reference = np.mean([solve(instance, stop=stop).length for instance in instances])
    gap = greedy_length(config, mean, instances) / reference - 1
    tours = steps * variant.batch * variant.rollouts
    return f"{steps:,} | {tours:,} | {100 * gap:.1f}"


def step_of(
    variant: Variant,
    config: Config,
    networks: Networks,
    generator: torch.Generator,
    done: float,
) -> None:
    """Add the gradient of a step."""
    model, best, critic = networks.model, networks.best_policy, networks.critic
    b, r, places = variant.batch, variant.rollouts, config.stage[0].sizes[0]
    drawn = with_symmetries(
        draw(b // variant.symmetries, places, [rule_range("nearest 7")], generator),
        variant.symmetries,
    )
    batch = batch_of(drawn, variant.guidance)
    rules = rules_of(batch, config.model)
    noise = torch.rand(b, r, places, generator=generator)
    if variant.stratified:
        noise[:, :, 0] = (torch.arange(r) + noise[:, :, 0]) / r
    code = model.encode(batch)
    episodes = tours_of(model, config.model, code, rules, noise, r)
    costs = lengths_of(batch, episodes.stops)
    if best is not None:
        with torch.no_grad():
            greedy = tours_of(best, config.model, best.encode(batch), rules, None, 1)
        above = costs - lengths_of(batch, greedy.stops)
    else:
        together = costs.reshape(variant.symmetries, -1, r)
        above = (together - together.mean(axis=(0, 2), keepdims=True)).reshape(b, r)
    if variant.deviation:
        above = above / (above.std(axis=1, keepdims=True) + 1e-8)
    if variant.mean:
        above = above / (0.1 * episodes.counts)
    scored = score_episodes(model, config.model, code, rules, episodes)
    if critic is not None:
        credit = credit_of(critic, batch, scored.pairs, costs, variant.trace)
        (credit.loss / (b * r)).backward()
        above = credit.advantages
    else:
        above = per_choice(scored.pairs, above)
    loss = weighted(scored, above) / (b * r)
    if variant.entropy:
        loss = loss - variant.entropy * (1 - done) * entropies(scored).sum() / (b * r)
    loss.backward()


def with_symmetries(drawn: Draw, count: int) -> Draw:
    """The instances and so many of their symmetric copies."""

    def copies(one: Tensor) -> Tensor:
        return one.repeat(count, *([1] * (one.ndim - 1)))

    points = copies(drawn.points)
    for way, part in enumerate(points.chunk(count)):
        if way & 1:
            part[..., 0] = 1 - part[..., 0]
        if way & 2:
            part[..., 1] = 1 - part[..., 1]
        if way & 4:
            part.copy_(part.flip(-1))
    return Draw(points, copies(drawn.nearest), copies(drawn.radius))


def main() -> None:
    """Run the variants that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variants", nargs="+", choices=VARIANTS, metavar="VARIANT")
    parser.add_argument("--places", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=100.0, help="of processor time, each")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    use_well(threads=1)
    print("| variant | steps | tours | gap % |")
    print("| --- | ---: | ---: | ---: |")
    for name in asked.variants:
        row = trial(VARIANTS[name], asked.places, asked.seconds, asked.seed)
        print(f"| {name} | {row} |", flush=True)


if __name__ == "__main__":
    main()
