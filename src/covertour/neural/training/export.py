"""Export: the weights of a training as a directory that `solve --weights` takes. Needs no torch."""

from __future__ import annotations

from pathlib import Path

from covertour.neural.config import ModelConfig, config_from
from covertour.neural.inference.weightfile import read_tensors, read_weights, write_weights
from covertour.neural.inference.weights import FILE
from covertour.neural.training.card import write_card
from covertour.neural.training.runs import (
    BEST,
    CHECKPOINT,
    checkpoint_config,
    has_checkpoint,
    read_json,
)
from covertour.problem.errors import InputError


def export(source: Path, output: Path, *, latest: bool = False, half: bool = False) -> ModelConfig:
    """Write weights.safetensors and, of a training's directory, the card; the model.

    ``source``: a training's directory, or a file of weights. ``latest``: not the weights that did
    best on the validation set, but those of the last checkpoint. ``half``: with half the digits, in
    half the space.
    """
    if not source.exists():
        raise InputError(f"{source}: no such file or directory")
    if source.is_file():
        if latest:
            raise InputError(f"--latest: is for a training's directory, not for the file {source}")
        tensors, config, about = read_weights(source)
    elif latest:
        checkpoint_config(source)  # the checkpoint is there and of this version
        content = read_json(source / CHECKPOINT)
        training = config_from(content["config"], (), str(source / CHECKPOINT))
        config = training.model
        part = "mean/" if training.train.average > 0 else "model/"  # what is validated
        tensors = read_tensors(source / Path(str(content.get("tensors"))).name, config, part)
        about = {"step": content.get("step")}
    elif (source / BEST).exists():
        tensors, config, about = read_weights(source / BEST)
    else:
        hint = "; --latest takes its last checkpoint" if has_checkpoint(source) else ""
        raise InputError(f"{source}: no {BEST} here{hint or ', so no training of covertour'}")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{output}: cannot be made: {error.strerror or error}") from None
    write_weights(output / FILE, tensors, config, about, half=half)
    if source.is_dir() and has_checkpoint(source):
        step = about.get("step")
        write_card(source, output, step if isinstance(step, int) else 0)
    return config
