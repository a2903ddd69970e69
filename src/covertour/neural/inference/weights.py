"""Networks by name: which weights a model takes, those that ship or one's own. Needs no torch.

A set of weights is a directory that holds weights.safetensors; `covertour export` writes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from covertour.neural.config import ModelConfig
from covertour.neural.inference.decoders import decoder_of
from covertour.neural.inference.weightfile import read_weights
from covertour.problem.errors import InputError

SHIPPED = Path(__file__).parent.parent / "weights"
"""A directory for each, see :func:`nearest_name`."""

FILE = "weights.safetensors"


@dataclass(frozen=True, eq=False)
class Network:
    """A trained model: its config, the module that decodes it, and the weights this is given."""

    config: ModelConfig
    decoder: ModuleType
    weights: Any


def shipped() -> list[str]:
    """The names of the weights that ship."""
    return _names(SHIPPED)


def weights_for(model: str, n: int, wanted: str | Path | None = None) -> Path:
    """The directory of the weights that a model takes for n places.

    ``wanted``: a name in :func:`shipped`, a directory of weights, or one that holds several such
    directories, as the one that ships does; of several, see :func:`nearest_name`.
    """
    there = shipped()
    if wanted is None:
        chosen = _nearest(SHIPPED, there, model, n)
        if chosen is None:
            raise InputError(
                f"{model}: no weights of it ship with covertour; give a directory: --weights DIR, "
                "or Decoding(weights=DIR) (the repository has some in experiments/weights)"
            )
        return chosen
    if str(wanted) in there:
        return SHIPPED / str(wanted)
    home = Path(wanted)
    if not home.is_dir():
        known = f"shipped are {', '.join(there)}" if there else "none are shipped"
        raise InputError(f"weights: {str(wanted)!r} is no directory and no name; {known}")
    return _nearest(home, _names(home), model, n) or home


def _names(home: Path) -> list[str]:
    """The directories of weights in a directory."""
    names = os.listdir(home) if home.is_dir() else []
    return sorted(name for name in names if os.path.exists(f"{home}/{name}/{FILE}"))


def nearest_name(names: Iterable[str], model: str, n: int) -> str | None:
    """Which of these weights suit a model and n places best; None where none are of the model.

    Weights are named after the model, if they are for all sizes, or also after the size that they
    were trained on, am-20, or the least and the greatest one, am-60-200. Of those as near the ones
    with the narrower range are taken, as they know their size better, then the smaller ones.
    """
    found = []
    for name in names:
        if name == model:
            return model
        if match := re.fullmatch(rf"{re.escape(model)}-(\d+)(?:-(\d+))?", name):
            least, most = int(match[1]), int(match[2] or match[1])
            found.append((max(least - n, n - most, 0), most - least, least, name))
    return min(found)[-1] if found else None


def _nearest(home: Path, names: list[str], model: str, n: int) -> Path | None:
    """Those of the weights in a directory that suit a model and n places; None where none do."""
    name = nearest_name(names, model, n)
    return None if name is None else home / name


def network_for(model: str, n: int, wanted: str | Path | None = None) -> Network:
    """The model with the weights that it takes for n places, loaded once."""
    file = weights_for(model, n, wanted) / FILE
    try:
        written = file.stat().st_mtime_ns
    except OSError as error:
        why = f"no {FILE} here, so no weights" if file.parent.is_dir() else error.strerror
        raise InputError(f"{file.parent}: {why}; `covertour export` writes them") from None
    network = _loaded(file.parent.absolute(), written)
    if network.config.name != model:
        raise InputError(f"{file.parent}: holds weights of {network.config.name}, not of {model}")
    return network


@cache
def _loaded(directory: Path, written: int) -> Network:
    """The network of a directory; anew if its file was ``written`` again since."""
    return load_network(directory)


def load_network(directory: Path) -> Network:
    """The network whose weights are in a directory."""
    tensors, config, _ = read_weights(directory / FILE)
    decoder = decoder_of(config.name)
    return Network(config, decoder, decoder.prepare(tensors, config))
