"""Validation: the greedy policy on fixed instances, against the search's tours of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from covertour.neural.config import Config, rule_range
from covertour.neural.training.batch import batch_from
from covertour.neural.training.episodes import rules_of, tours_of
from covertour.neural.training.objective import Teach, polished
from covertour.neural.training.runs import REFERENCE, read_json, read_numbers, write_json
from covertour.problem.generate import random_instance
from covertour.problem.instance import Instance

AT_ONCE = 256
"""How many instances the greedy policy is measured on at a time."""


def validation_set(config: Config) -> list[Instance]:
    """The fixed instances of the validation."""
    chosen, last = config.validation, config.stage[-1]
    sizes = chosen.sizes or tuple(sorted(set(last.sizes)))
    rules = [rule_range(rule) for rule in chosen.rules or last.rules]
    found = []
    for index in range(chosen.instances):
        n = sizes[index % len(sizes)]
        rule = rules[index // len(sizes) % len(rules)]
        seed = chosen.seed + index
        one = rule.low == rule.high  # then the same instances as `covertour generate` makes
        if rule.kind == "radius":
            radius = rule.low if one else (rule.low, rule.high)
            found.append(random_instance(n, radius=radius, seed=seed))
        else:
            nearest = int(rule.low) if one else (int(rule.low), int(rule.high))
            found.append(random_instance(n, nearest=nearest, seed=seed))
    return found


def greedy_length(config: Config, model: Any, instances: list[Instance]) -> float:
    """Mean length of the greedy policy's tours, polished where the model's are."""
    lengths = []
    for n in sorted({instance.n for instance in instances}):
        same = [instance for instance in instances if instance.n == n]
        for first in range(0, len(same), AT_ONCE):
            part = same[first : first + AT_ONCE]
            batch = batch_from(part, config.model.guidance)
            rules = rules_of(batch, config.model)
            with torch.no_grad():
                code = model.encode(batch)
            tours = tours_of(model, config.model, code, rules, None, 1).stops
            if config.model.polish == "yes":
                tours = polished(batch, tours)
            lengths += [one.length(tour) for one, tour in zip(part, tours[:, 0], strict=True)]
    return float(np.mean(lengths))


def reference_length(
    directory: Path, instances: list[Instance], teach: Teach | None, rank: int
) -> float | None:
    """Mean length of the teacher's tours of the validation set, worked out once per directory."""
    path = directory / REFERENCE
    if rank != 0 or teach is None:
        return None
    names = [instance.name for instance in instances]
    known = read_json(path) if path.exists() else {}
    if known.get("instances") != names:
        pairs = zip(instances, teach(instances), strict=True)
        lengths = [instance.length(tour) for instance, tour in pairs]
        known = {"instances": names, "lengths": lengths}
        write_json(path, known)
    return float(np.mean(read_numbers(path, known, "lengths", len(names))))
