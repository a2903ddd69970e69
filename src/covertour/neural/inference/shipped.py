"""Weights by name: those that ship with covertour, and which of them a model takes. No torch."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

from covertour.neural.inference.network import Network, load_network
from covertour.neural.inference.runtime import best_tours
from covertour.problem.errors import InputError
from covertour.problem.instance import Instance

WEIGHTS = Path(__file__).parent.parent / "weights"
"""A directory for each, named after the model and, where it was trained on one, the size."""

MODEL = "model.json"


def shipped() -> list[str]:
    """The names of the weights that ship."""
    return _names(WEIGHTS)


def weights_for(model: str, n: int, wanted: str | Path | None = None) -> Path:
    """The directory of the weights that a model takes for n places.

    ``wanted``: a name in :func:`shipped`, a directory of weights, or one that holds several such
    directories, as the one that ships does. Of several, the weights of the model's own name are
    taken, else those trained on the nearest size, the smaller of two as near.
    """
    there = shipped()
    if wanted is None:
        chosen = _nearest(WEIGHTS, there, model, n)
        if chosen is None:
            raise InputError(
                f"{model}: no weights of it ship with covertour; give a directory: --weights DIR, "
                "or Decoding(weights=DIR) (the repository has some in experiments/weights)"
            )
        return chosen
    if str(wanted) in there:
        return WEIGHTS / str(wanted)
    home = Path(wanted)
    if not home.is_dir():
        known = f"shipped are {', '.join(there)}" if there else "none are shipped"
        raise InputError(f"weights: {str(wanted)!r} is no directory and no name; {known}")
    return _nearest(home, _names(home), model, n) or home


def _names(home: Path) -> list[str]:
    """The directories of weights in a directory."""
    names = os.listdir(home) if home.is_dir() else []
    return sorted(name for name in names if os.path.exists(f"{home}/{name}/{MODEL}"))


def _nearest(home: Path, names: list[str], model: str, n: int) -> Path | None:
    """Those of the weights in a directory that suit a model and n places; None where none do."""
    if model in names:
        return home / model
    sizes = [int(match[1]) for name in names if (match := re.fullmatch(rf"{model}-(\d+)", name))]
    if not sizes:
        return None
    return home / f"{model}-{min(sizes, key=lambda size: (abs(size - n), size))}"


def network_for(model: str, n: int, wanted: str | Path | None = None) -> Network:
    """The model with the weights that it takes for n places, loaded once."""
    path = weights_for(model, n, wanted)
    try:
        written = (path / MODEL).stat().st_mtime_ns
    except OSError as error:
        why = f"no {MODEL} here, so no exported weights" if path.is_dir() else error.strerror
        raise InputError(f"{path}: {why}; `covertour export` writes them") from None
    network = _loaded(path.absolute(), written)
    if network.config.name != model:
        raise InputError(f"{path}: holds weights of {network.config.name}, not of {model}")
    return network


@cache
def _loaded(path: Path, written: int) -> Network:
    """The network in a directory, anew if ``written`` again since; tried on three places."""
    network = load_network(path)
    try:
        best_tours(network, [Instance.from_coordinates([[0, 0], [0, 1], [1, 1]], nearest=0)])
    except Exception as error:  # onnxruntime has its own exceptions, without a common base
        why = " ".join(str(error).split())
        raise InputError(f"{path}: the graphs do not fit together ({why})") from None
    return network
