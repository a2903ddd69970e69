"""Training: one loop, the same alone and under torchrun; Section 'Train with REINFORCE Algorithm'.

All randomness of a step comes from the seed and the number of the step, and is drawn for the whole
batch before each process takes its share. So a resumed training goes on with the very numbers of an
uninterrupted one, and several processes do what one would have done, up to rounding.
"""

from __future__ import annotations

import copy
import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from covertour.neural.config import Config, StageConfig, rule_range
from covertour.neural.models import make_model
from covertour.neural.training.batch import Draw, batch_of, draw
from covertour.neural.training.checkpoint import (
    Progress,
    load_checkpoint,
    load_model,
    save_checkpoint,
    save_weights,
)
from covertour.neural.training.critic import make_critic
from covertour.neural.training.episodes import rules_of
from covertour.neural.training.objective import (
    Networks,
    Teach,
    costs_of,
    greedy_tours,
    step_gradient,
)
from covertour.neural.training.optimiser import Optimiser, clip, follow, rate_share
from covertour.neural.training.processes import agreed, average, processes, share
from covertour.neural.training.processor import use_well
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
from covertour.storage import hold

INSTANCES, NOISE, EPOCH = range(3)
"""What the random numbers of a step are for; each has a stream of its own."""


@dataclass(frozen=True)
class Report:
    """How a training stands after a step, for whoever watches it.

    ``seconds``: spent on it, in all runs together. ``cost``: mean length of the step's tours.
    ``validation``: mean length of the greedy policy at the last validation, ``gap``: that of the
    search's tours to it, where known. ``interrupted``: whether it was told to end.
    """

    step: int
    steps: int
    seconds: float
    cost: float
    validation: float | None
    gap: float | None
    interrupted: bool = False


def train(
    config: Config,
    directory: Path,
    *,
    resume: bool = False,
    teach: Teach | None = None,
    threads: int | None = None,
    seconds: float = math.inf,
    on_step: Callable[[Report], None] | None = None,
) -> Report:
    """Train a model until all steps are made or the seconds are over; files go to the directory.

    ``teach`` gives the tours to imitate and the reference of the validation set. ``on_step`` is
    called after every step. Ctrl-C and SIGTERM end it with a checkpoint. What is left in the
    directory: :mod:`covertour.neural.training.runs`.
    """
    began = perf_counter()
    use_well(threads)
    if any(stage.learn == "imitate" for stage in config.stage) and teach is None:
        raise InputError("stage.learn: 'imitate' needs a teacher")
    with processes() as (rank, count), _alone(directory, resume, rank), _asked() as asked:
        mine = share(config.train.batch, rank, count)
        model = first_model(config, resume)
        # Algorithm 'Training Algorithm using REINFORCE', line 1: θ* <- θ.
        best_policy = copy.deepcopy(model) if config.train.baseline == "greedy" else None
        critic = make_critic(config.train.seed) if config.train.baseline == "critic" else None
        networks = Networks(model, best_policy, critic)
        optimiser = Optimiser(model, config.train, critic)
        mean = copy.deepcopy(model) if config.train.average > 0 else model
        progress = Progress()
        if resume:
            progress = load_checkpoint(directory, config, networks, mean, optimiser)
        step, spent, best = progress.step, progress.seconds, progress.best
        instances = validation_set(config)
        reference = reference_length(directory, instances, teach, rank)
        validation = gap = None
        board = open_logs(directory, config, step) if rank == 0 else None
        ready = perf_counter()

        while step < config.steps:
            stage = config.stage_of(step)
            # Lines 4 to 7: random instances, sampled tours, the baseline's tours, the gradient.
            drawn, noise = draw_step(config, stage, step)
            rate = rate_share(config, step)
            optimiser.zero_grad()
            sums = step_gradient(
                config, stage, networks, drawn.part(mine), noise[mine], rate, teach
            )
            ending = perf_counter() - began > seconds or bool(asked)
            told = average(optimiser.weights, sums.cost / sums.tours, sums.loss, ending, count)
            norm = clip(model, config.train.clip_norm)
            # Line 8: update θ by Adam.
            optimiser.step(rate)
            step += 1
            if mean is not model:
                follow(mean, model, config.train.average, step)
            now = spent + perf_counter() - ready

            # Lines 10 to 12, at the end of an epoch: θ* <- θ if θ performs better than θ*.
            if best_policy is not None and step % config.train.epoch_steps == 0:
                fresh = epoch_set(config, stage, step)
                if is_better(config, model, best_policy, fresh, count):
                    best_policy.load_state_dict(model.state_dict())

            last = step == config.steps or told.ending
            if rank == 0:
                if step % config.train.log_every == 0 or last:
                    row = {
                        "step": step,
                        "seconds": round(now, 3),
                        "places": drawn.points.shape[1],
                        "tours": step * config.train.batch * config.train.rollouts,
                        "cost": told.cost,
                        "loss": told.loss,
                        "gradient": norm,
                        "learning_rate": config.train.learning_rate * rate,
                    }
                    log(directory, TRAINING, row, board)
                if step % config.train.validate_every == 0 or step == config.steps:
                    validation = greedy_length(config, mean, instances)
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
                        save_weights(directory / BEST, mean, config.model, about)
                if step % config.train.checkpoint_every == 0 or last:
                    progress = Progress(step, now, best)
                    save_checkpoint(directory, config, progress, networks, mean, optimiser)
                if on_step is not None:
                    on_step(Report(step, config.steps, now, told.cost, validation, gap))
            if told.ending:
                break
        if board is not None:
            board.close()
        now = spent + perf_counter() - ready
        return Report(step, config.steps, now, math.nan, validation, gap, bool(asked))


@contextmanager
def _alone(directory: Path, resume: bool, rank: int) -> Iterator[None]:
    """The directory, made; nobody else trains in it, and a training in it is not overwritten."""
    if rank != 0:
        yield
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{directory}: cannot be made: {error.strerror or error}") from None
    with hold(directory, "a training"):
        if resume and not has_checkpoint(directory):
            raise InputError(f"{directory}: no training here to resume")
        if not resume and has_checkpoint(directory):
            raise InputError(f"{directory}: holds a training already; resume it or choose another")
        yield


@contextmanager
def _asked() -> Iterator[list[int]]:
    """The signals that asked the training to end, Ctrl-C or SIGTERM; a second one ends it at once.

    Only the main thread of a process hears of signals.
    """
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def hear(number: int, frame: Any) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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


# --- Random numbers -------------------------------------------------------------------------------


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


# --- The greedy baseline --------------------------------------------------------------------------


def epoch_set(config: Config, stage: StageConfig, step: int) -> Draw:
    """Fresh instances, of the largest size of the stage, on which two policies are compared."""
    rules = [rule_range(rule) for rule in stage.rules]
    generator = stream(config, EPOCH, step)
    return draw(config.train.epoch_instances, stage.sizes[1], rules, generator)


def is_better(config: Config, model: Any, best_policy: Any, drawn: Draw, count: int) -> bool:
    """Whether the model's greedy tours are shorter, in the mean, than those of the baseline."""
    total = torch.zeros(2, dtype=torch.float64)
    for first in range(0, len(drawn.points), AT_ONCE):
        batch = batch_of(drawn.part(slice(first, first + AT_ONCE)), config.model.guidance)
        rules = rules_of(batch, config.model)
        for which, policy in enumerate((model, best_policy)):
            tours = greedy_tours(policy, config.model, batch, rules)
            total[which] += costs_of(config, batch, tours).sum()
    total = agreed(total, count)
    return bool(total[0] < total[1])


# --- Files ----------------------------------------------------------------------------------------


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
