"""Checkpoints and weights: safetensors for numbers, JSON for the rest, never a pickle.

A checkpoint's numbers are written first, under a name of their own, then the JSON that names them
replaces the one before. So at any moment the JSON names a file that is whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from covertour.neural.config import Config, ModelConfig, config_from
from covertour.neural.inference.weightfile import (
    FORMAT,
    checked_format,
    read_weights,
    write_weights,
)
from covertour.neural.models import make_model
from covertour.neural.training.objective import Networks
from covertour.neural.training.optimiser import Optimiser
from covertour.neural.training.runs import CHECKPOINT, read_json, write_json
from covertour.problem.errors import InputError
from covertour.storage import write_bytes
from covertour.version import __version__


@dataclass(frozen=True)
class Progress:
    """Where a training stands: ``step`` steps made in ``seconds``; ``best`` validation cost."""

    step: int = 0
    seconds: float = 0.0
    best: float | None = None


def save_weights(path: Path, model: nn.Module, config: ModelConfig, about: dict[str, Any]) -> None:
    """Write the weights with the model's sizes, and whatever else is to be known about them."""
    tensors = _whole(model.state_dict())
    write_weights(path, {name: value.numpy() for name, value in tensors.items()}, config, about)


def load_model(path: str | Path) -> tuple[Any, ModelConfig]:
    """The model whose weights a file holds, and its sizes."""
    tensors, config, _ = read_weights(Path(path))
    model = make_model(config)
    model.load_state_dict({name: torch.from_numpy(value) for name, value in tensors.items()})
    return model, config


def save_checkpoint(
    directory: Path,
    config: Config,
    progress: Progress,
    networks: Networks,
    mean: nn.Module,
    optimiser: Optimiser,
) -> None:
    """Write all that a training needs to go on as if it had not been interrupted."""
    kept = {"model": networks.model, "baseline": networks.best_policy, "critic": networks.critic}
    kept["mean"] = None if mean is networks.model else mean
    tensors = {
        f"{what}/{name}": value
        for what, network in kept.items()
        if network is not None
        for name, value in network.state_dict().items()
    }
    for name, weight in _learning(networks):
        for key, value in optimiser.state_of(weight).items():
            tensors[f"optimiser/{name}/{key}"] = value
    file = f"checkpoint-{progress.step:09d}.safetensors"
    write_bytes(directory / file, safetensors.torch.save(_whole(tensors)))
    content = {
        "format": FORMAT,
        "version": __version__,
        "tensors": file,
        "config": config.to_dict(),
        **asdict(progress),
    }
    write_json(directory / CHECKPOINT, content)
    for older in directory.glob("checkpoint-*.safetensors"):
        if older.name != file:
            with suppress(OSError):
                older.unlink()


def load_checkpoint(
    directory: Path,
    config: Config,
    networks: Networks,
    mean: nn.Module,
    optimiser: Optimiser,
) -> Progress:
    """Put a training back to where its last checkpoint was."""
    model, baseline, critic = networks.model, networks.best_policy, networks.critic
    path = directory / CHECKPOINT
    content = checked_format(path, read_json(path))
    saved = config_from(content.get("config", {}), (), str(path))
    if saved.model != config.model:
        raise InputError(
            f"{path}: holds a training of {_told(saved.model)}, not of {_told(config.model)}"
        )
    try:
        file = directory / Path(str(content["tensors"])).name
        best = content["best"]
        progress = Progress(
            int(content["step"]),
            float(content["seconds"]),
            None if best is None else float(best),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: step, seconds, best and tensors expected ({error})") from None
    tensors = _read_tensors(file)
    _fill(file, model, _under("model/", tensors), config.model.name)
    if baseline is not None:
        # A training that had another baseline starts this one from its current policy.
        policy = _under("baseline/", tensors) or _under("model/", tensors)
        _fill(file, baseline, policy, config.model.name)
    if critic is not None and (known := _under("critic/", tensors)):
        # One that had none before starts with a new critic.
        _fill(file, critic, known, "critic")
    if mean is not model:
        _fill(file, mean, _under("mean/", tensors) or _under("model/", tensors), config.model.name)
    for name, weight in _learning(networks):
        moments = _under(f"optimiser/{name}/", tensors)
        if any(value.numel() not in (1, weight.numel()) for value in moments.values()):
            raise InputError(f"{file}: the optimiser's numbers do not fit {name}")
        if moments:
            optimiser.state_of(weight).update(moments)
    return progress


def _learning(networks: Networks) -> Iterator[tuple[str, nn.Parameter]]:
    """All weights that are learned, by name."""
    yield from networks.model.named_parameters()
    if networks.critic is not None:
        for name, weight in networks.critic.named_parameters():
            yield f"critic/{name}", weight


def _told(config: ModelConfig) -> str:
    return f"{config.name} ({config.width} wide, {config.heads} heads, {config.layers} layers)"


def _whole(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().cpu().contiguous() for name, value in tensors.items()}


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            names = list(file.keys())
            return {name: file.get_tensor(name) for name in names}
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except safetensors.SafetensorError as error:
        raise InputError(f"{path}: cut off or not safetensors ({error})") from None


def _fill(path: Path, model: nn.Module, tensors: dict[str, Tensor], name: str) -> None:
    """Load the weights into the model; those of another model are refused."""
    wanted = model.state_dict()
    for key in [*wanted, *tensors]:
        if key not in wanted or key not in tensors or wanted[key].shape != tensors[key].shape:
            raise InputError(f"{path}: not the weights of this {name}: {key} does not fit")
    model.load_state_dict(tensors)
