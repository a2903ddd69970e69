"""The file of a model's weights: safetensors, with the model's config as metadata. Needs no torch.

Training writes such files and `covertour export` copies them; both training and inference read
them here, with all their checks. Reading executes no code.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.neural.config import ModelConfig, config_from
from covertour.neural.inference.decoders import decoder_of
from covertour.problem.errors import InputError
from covertour.storage import write_bytes
from covertour.version import __version__

FORMAT = 2
"""Of weights and checkpoints; raised when older files could no longer be read."""

HEADER = "covertour"
"""The name of our metadata in a file."""

Tensors = Mapping[str, npt.NDArray[np.float32]]
"""The tensors of a model by their names in torch."""

Stored = Mapping[str, npt.NDArray[np.floating[Any]]]
"""The same as they are stored, some with half the digits."""


def write_weights(
    path: Path,
    tensors: Tensors,
    config: ModelConfig,
    about: Mapping[str, Any],
    *,
    half: bool = False,
) -> None:
    """Write the tensors of a model; ``about``: whatever else is to be known about them.

    ``half``: with half the digits, in half the space.
    """
    from safetensors.numpy import save

    kind: Any = np.float16 if half else np.float32
    whole: Stored = {
        name: np.ascontiguousarray(tensors[name], dtype=kind) for name in sorted(tensors)
    }
    model = asdict(config)
    content = {
        "format": FORMAT,
        "version": __version__,
        "model": model,
        "checksum": checksum(whole, model),
        "about": about,
    }
    write_bytes(path, save(dict(whole), {HEADER: json.dumps(content)}))


def read_weights(path: Path) -> tuple[Tensors, ModelConfig, dict[str, Any]]:
    """The tensors of a file, the model whose they are, and what else is said about them.

    A file that is cut, of another model or that contradicts itself is refused in one line.
    """
    content = _header(path)
    config = config_from({"model": content["model"]}, (), str(path)).model
    tensors = read_tensors(path, config)
    right = checksum(tensors, content["model"])
    if content.get("checksum", right) != right:
        raise InputError(f"{path}: changed since it was written: its checksum does not fit")
    about = content.get("about")
    return tensors, config, about if isinstance(about, dict) else {}


def _header(path: Path) -> dict[str, Any]:
    with _opened(path) as file:
        text = (file.metadata() or {}).get(HEADER, "")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{path}: not weights of covertour") from None
    if not isinstance(content, dict) or "model" not in checked_format(path, content):
        raise InputError(f"{path}: no model in it")
    return content


def checked_format(path: Path, content: dict[str, Any]) -> dict[str, Any]:
    """The content of weights or a checkpoint, refused if another version of covertour wrote it."""
    if content.get("format") != FORMAT:
        raise InputError(
            f"{path}: has format {content.get('format')!r}, this covertour reads {FORMAT}"
        )
    return content


def read_tensors(path: Path, config: ModelConfig, prefix: str = "") -> Tensors:
    """The model's tensors, those of a file whose names begin with the prefix; all are checked."""
    expected = decoder_of(config.name).shapes(config)
    with _opened(path) as file:
        names = list(file.keys())
        there = {name.removeprefix(prefix) for name in names if name.startswith(prefix)}
        for name in sorted(there | set(expected)):
            wrong = "is missing" if name not in there else ""
            if name in there and name not in expected:
                wrong = "is none of its tensors"
            elif name in there:  # looked at before any tensor is read
                found = file.get_slice(prefix + name)
                shape, kind = tuple(found.get_shape()), found.get_dtype()
                if shape != expected[name] or kind not in ("F16", "F32"):
                    wrong = f"is {kind}{list(shape)}, expected F32{list(expected[name])}"
            if wrong:
                raise InputError(f"{path}: not the weights of this {config.name}: {name} {wrong}")
        tensors = {
            name: np.array(file.get_tensor(prefix + name), dtype=np.float32) for name in expected
        }
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            raise InputError(f"{path}: {name} holds values that are not numbers")
    return tensors


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The file, by safetensors."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except SafetensorError as error:
        raise InputError(f"{path}: cut off or not safetensors ({error})") from None


def checksum(tensors: Stored, model: Mapping[str, Any]) -> int:
    """Of the model's config as it is written, and of the tensors in the order of their names."""
    total = zlib.crc32(json.dumps(model, sort_keys=True).encode())
    for name in sorted(tensors):
        values = tensors[name].astype(np.float32, copy=False)
        total = zlib.crc32(values.data, zlib.crc32(name.encode(), total))
    return total
