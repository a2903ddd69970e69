"""Training: one loop, the same alone and under torchrun; Section 'Train with REINFORCE Algorithm'.

All randomness of a step comes from the seed and the number of the step, and is drawn for the whole
batch before each process takes its share. So a resumed training goes on with the very numbers of an
uninterrupted one, and several processes do what one would have done, up to rounding.
"""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from covertour.neural.config import Config, StageConfig, rule_range
from covertour.neural.models import make_model
from covertour.neural.training.batch import Batch, Draw, batch_of, draw
from covertour.neural.training.checkpoint import (
    Progress,
    load_checkpoint,
    load_model,
    save_checkpoint,
    save_weights,
)
from covertour.neural.training.decoding import Rollout, greedy, polished, sample
from covertour.neural.training.environment import lengths
from covertour.neural.training.imitation import Teach, imitation_loss
from covertour.neural.training.runs import (
    BEST,
    TENSORBOARD,
    TRAINING,
    VALIDATION,
    add_row,
    begin_log,
    has_checkpoint,
)
from covertour.neural.training.validation import (
    AT_ONCE,
    greedy_length,
    reference_length,
    validation_set,
)
from covertour.problem.errors import InputError

INSTANCES, NOISE, EPOCH = range(3)
"""What the random numbers of a step are for; each has a stream of its own."""


@dataclass(frozen=True)
class Report:
    """How a training stands after a step, for whoever watches it.

    ``seconds``: spent on it, in all runs together. ``cost``: mean length of the step's tours.
    ``validation``: mean length of the greedy policy at the last validation, ``gap``: that of the
    search's tours to it, where known.
    """

    step: int
    steps: int
    seconds: float
    cost: float
    validation: float | None
    gap: float | None


def train(
    config: Config,
    directory: Path,
    *,
    resume: bool = False,
    teach: Teach | None = None,
    device: str = "cpu",
    threads: int | None = None,
    seconds: float = math.inf,
    on_step: Callable[[Report], None] | None = None,
) -> Report:
    """Train a model until all steps are made or the seconds are over; files go to the directory.

    ``teach`` gives the tours to imitate and the reference of the validation set. ``on_step`` is
    called after every step. What is left in the directory: :mod:`covertour.neural.training.runs`.
    """
    began = perf_counter()
    if threads is not None:
        torch.set_num_threads(threads)
    if any(stage.learn == "imitate" for stage in config.stage) and teach is None:
        raise InputError("stage.learn: 'imitate' needs a teacher")
    with processes(device) as (rank, count):
        mine = share(config.train.batch, rank, count)
        prepare_directory(directory, resume, rank)

        model = first_model(config, resume).to(device)
        optimizer = torch.optim.Adam(model.parameters(), lr=config.train.learning_rate)
        # Algorithm 'Training Algorithm using REINFORCE', line 1: θ* <- θ.
        best_policy = copy.deepcopy(model) if config.train.baseline == "greedy" else None
        progress = Progress()
        if resume:
            progress = load_checkpoint(directory, config, model, best_policy, optimizer)
        step, spent, best = progress.step, progress.seconds, progress.best
        instances = validation_set(config)
        reference = reference_length(directory, instances, teach, rank)
        validation = gap = None
        board = open_logs(directory, config, step) if rank == 0 else None
        ready = perf_counter()

        while step < config.steps:
            stage = config.stage_of(step)
            rate = learning_rate(config, step)
            for group in optimizer.param_groups:
                group["lr"] = rate
            # Lines 4 to 7: random instances, sampled tours, the baseline's tours, the gradient.
            drawn, noise = draw_step(config, stage, step)
            loss, cost = step_loss(
                config, stage, model, best_policy, drawn.part(mine), noise[mine], teach
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            time_is_up = perf_counter() - began > seconds
            told = average(model, torch.stack([cost, loss.detach()]), time_is_up, count)
            norm = clip(model, config.train.clip_norm)
            # Line 8: update θ by Adam.
            optimizer.step()
            step += 1
            now = spent + perf_counter() - ready

            # Lines 10 to 12, at the end of an epoch: θ* <- θ if θ performs better than θ*.
            if best_policy is not None and step % config.train.epoch_steps == 0:
                fresh = epoch_set(config, stage, step)
                if is_better(config, model, best_policy, fresh, count):
                    best_policy.load_state_dict(model.state_dict())

            last = step == config.steps or told.time_is_up
            if rank == 0:
                if step % config.train.log_every == 0 or last:
                    row = {
                        "step": step,
                        "seconds": round(now, 3),
                        "places": drawn.points.shape[1],
                        "cost": told.cost,
                        "loss": told.loss,
                        "gradient": norm,
                        "learning_rate": rate,
                    }
                    log(directory, TRAINING, row, board)
                if step % config.train.validate_every == 0 or step == config.steps:
                    validation = greedy_length(config, model, instances)
                    gap = validation / reference - 1.0 if reference else None
                    tested = {
                        "step": step,
                        "seconds": round(now, 3),
                        "cost": validation,
                        "gap": gap,
                    }
                    log(directory, VALIDATION, tested, board)
                    if best is None or validation < best:
                        best = validation
                        about = {"config": config.to_dict(), **tested}
                        save_weights(directory / BEST, model, config.model, about)
                if step % config.train.checkpoint_every == 0 or last:
                    progress = Progress(step, now, best)
                    save_checkpoint(directory, config, progress, model, best_policy, optimizer)
                if on_step is not None:
                    on_step(Report(step, config.steps, now, told.cost, validation, gap))
            if told.time_is_up:
                break
        if board is not None:
            board.close()
        return Report(step, config.steps, spent + perf_counter() - ready, math.nan, validation, gap)


def first_model(config: Config, resume: bool) -> Any:
    """The model before the first step: with random weights, or with those it is to begin with."""
    if not config.train.initial or resume:
        return make_model(config.model, config.train.seed)
    model, sizes = load_model(config.train.initial)
    if sizes != config.model:
        raise InputError(
            f"train.initial: {config.train.initial} holds another model, or one of other sizes"
        )
    return model


# --- A step ---------------------------------------------------------------------------------------


def stream(config: Config, purpose: int, step: int) -> torch.Generator:
    """The random numbers of a step for a purpose."""
    words = np.random.SeedSequence([config.train.seed, purpose, step]).generate_state(2, np.uint32)
    return torch.Generator().manual_seed(int(words[0]) << 31 | int(words[1]) >> 1)


def draw_step(config: Config, stage: StageConfig, step: int) -> tuple[Draw, Tensor]:
    """The instances of a step, and the noise, float32[b, r, n], that its tours are drawn with."""
    generator = stream(config, INSTANCES, step)
    low, high = stage.sizes
    power = float(torch.rand(1, generator=generator))
    n = min(int(low * ((high + 1) / low) ** power), high)
    drawn = draw(config.train.batch, n, [rule_range(rule) for rule in stage.rules], generator)
    shape = (config.train.batch, config.train.rollouts, n)
    return drawn, torch.rand(shape, generator=stream(config, NOISE, step))


def step_loss(
    config: Config,
    stage: StageConfig,
    model: Any,
    best_policy: Any,
    drawn: Draw,
    noise: Tensor,
    teach: Teach | None,
) -> tuple[Tensor, Tensor]:
    """A loss whose gradient is that of line 7 over the number of tours, and the tours' mean cost.

    (L(π) - b(s)) ∇ log p(π | s), where L is the cost of a tour and b(s) that of the baseline
    policy's greedy tour or, with the shared baseline, the mean over the rollouts of the instance.
    """
    useful = config.model.mask == "useful"
    if stage.learn == "imitate":
        assert teach is not None
        loss, rollout = imitation_loss(model, drawn, teach, noise[:, :, 0], useful=useful)
        return loss, rollout.lengths.mean()
    device = next(model.parameters()).device
    batch = batch_of(drawn).to(device)
    rollout = sample(model, batch, noise.to(device), useful=useful)
    costs = costs_of(config, batch, rollout)
    if best_policy is None:
        baseline = costs.mean(1, keepdim=True)
    else:
        with torch.no_grad():
            baseline = costs_of(config, batch, greedy(best_policy, batch, useful=useful))
    loss = ((costs - baseline) * rollout.log_probability).mean()
    return loss, costs.mean()


def costs_of(config: Config, batch: Batch, rollout: Rollout) -> Tensor:
    """What each tour costs, float32[b, r]: its length or, where tours are polished, mostly that."""
    if config.model.polish == "no":
        return rollout.lengths
    polished_lengths = lengths(batch, polished(batch, rollout.tours))
    return torch.lerp(polished_lengths, rollout.lengths, config.train.raw_share)


def learning_rate(config: Config, step: int) -> float:
    """The learning rate of a step, counted from 0."""
    rate = config.train.learning_rate
    if step < config.train.warmup_steps:
        return rate * (step + 1) / config.train.warmup_steps
    if config.train.schedule == "cosine":
        done = (step - config.train.warmup_steps) / max(config.steps - config.train.warmup_steps, 1)
        return rate * 0.5 * (1.0 + math.cos(math.pi * done))
    return rate


def clip(model: Any, longest: float) -> float:
    """Shorten the gradient where it is longer than this (0: never); its norm before."""
    limit = longest if longest > 0 else math.inf
    return float(torch.nn.utils.clip_grad_norm_(model.parameters(), limit))


# --- Several processes ----------------------------------------------------------------------------


@contextmanager
def processes(device: str) -> Iterator[tuple[int, int]]:
    """Rank and number of the processes that torchrun started; 0 and 1 alone."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise InputError("device: no CUDA device here")
    if count == 1:
        yield 0, 1
        return
    dist.init_process_group("nccl" if device.startswith("cuda") else "gloo")
    if device.startswith("cuda"):
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    try:
        yield dist.get_rank(), count
    finally:
        dist.destroy_process_group()


def share(batch: int, rank: int, count: int) -> slice:
    """The part of the batch that is a process's own."""
    if batch % count:
        raise InputError(f"train.batch: {batch} instances cannot be shared by {count} processes")
    each = batch // count
    return slice(rank * each, (rank + 1) * each)


@dataclass(frozen=True)
class Told:
    """Means over the processes, and whether the time is up for any of them."""

    cost: float
    loss: float
    time_is_up: bool


def average(model: Any, figures: Tensor, time_is_up: bool, count: int) -> Told:
    """Give all processes the mean of their gradients; and the mean of cost and loss."""
    cost, loss = figures.tolist()
    if count == 1:
        return Told(cost, loss, time_is_up)
    weights = list(model.parameters())
    parts = [
        weight.grad if weight.grad is not None else torch.zeros_like(weight) for weight in weights
    ]
    flag = figures.new_tensor([float(time_is_up)])
    flat = torch.cat([*(part.flatten() for part in parts), figures, flag])
    dist.all_reduce(flat)
    flat /= count
    begin = 0
    for weight in weights:
        weight.grad = flat[begin : begin + weight.numel()].view_as(weight)
        begin += weight.numel()
    cost, loss, late = flat[-3:].tolist()
    return Told(cost, loss, late > 0)


# --- The greedy baseline --------------------------------------------------------------------------


def epoch_set(config: Config, stage: StageConfig, step: int) -> Draw:
    """Fresh instances, of the largest size of the stage, on which two policies are compared."""
    rules = [rule_range(rule) for rule in stage.rules]
    generator = stream(config, EPOCH, step)
    return draw(config.train.epoch_instances, stage.sizes[1], rules, generator)


def is_better(config: Config, model: Any, best_policy: Any, drawn: Draw, count: int) -> bool:
    """Whether the model's greedy tours are shorter, in the mean, than those of the baseline."""
    useful = config.model.mask == "useful"
    device = next(model.parameters()).device
    total = torch.zeros(2, dtype=torch.float64, device=device)
    with torch.no_grad():
        for first in range(0, len(drawn.points), AT_ONCE):
            batch = batch_of(drawn.part(slice(first, first + AT_ONCE))).to(device)
            for which, policy in enumerate((model, best_policy)):
                tours = greedy(policy, batch, useful=useful)
                total[which] += costs_of(config, batch, tours).double().sum()
    if count > 1:
        dist.broadcast(total, 0)  # all must come to the same verdict, whatever their rounding
    return bool(total[0] < total[1])


# --- Files ----------------------------------------------------------------------------------------


def prepare_directory(directory: Path, resume: bool, rank: int) -> None:
    """Make the directory; a training that is already there is not overwritten."""
    if resume and not has_checkpoint(directory):
        raise InputError(f"{directory}: no training here to resume")
    if not resume and has_checkpoint(directory):
        raise InputError(f"{directory}: holds a training already; resume it or choose another")
    if rank == 0:
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{directory}: cannot be made: {error.strerror or error}") from None


def open_logs(directory: Path, config: Config, step: int) -> Any:
    """Make the CSV files ready for the steps to come; the TensorBoard writer, None if unwanted."""
    for name in (TRAINING, VALIDATION):
        begin_log(directory, name, step)
    if not config.train.tensorboard:
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise InputError(
            "train.tensorboard: tensorboard is not installed; set it to false"
        ) from None
    writer: Any = SummaryWriter
    return writer(str(directory / TENSORBOARD), purge_step=step + 1)


def log(directory: Path, name: str, row: dict[str, Any], board: Any) -> None:
    """A row for the CSV file, and the same for TensorBoard."""
    add_row(directory, name, row)
    if board is not None:
        kind = name.removesuffix(".csv")
        for key, value in row.items():
            if key not in ("step", "seconds") and value is not None:
                board.add_scalar(f"{kind}/{key}", value, row["step"])
