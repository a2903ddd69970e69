"""Network: an exported model, loaded into ONNX Runtime and checked. Loading executes no code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from covertour.neural.config import ModelConfig, config_from
from covertour.neural.inference.gain_kernels import FEATURES, GainWeights
from covertour.neural.training.runs import checked_format, read_json
from covertour.problem.errors import InputError

GRAPHS = ("encoder", "first", "next")
DECODER = "decoder.npz"
"""The weights of am-gain's decoder, which has a loop of its own."""

STATE = ("guidance", "uncovered", "gain", "visited", "first", "last", "done")
"""What the decoder is told of the tours so far; a graph lists those that its model looks at."""


@dataclass(frozen=True, eq=False)
class Graph:
    """A part of an exported model: a session of ONNX Runtime, and what goes in and comes out."""

    session: Any
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Network:
    """An exported model: its sizes, its graphs, and of am-gain the decoder's weights."""

    config: ModelConfig
    encoder: Graph
    first: Graph
    next: Graph
    decoder: GainWeights | None = None

    @cached_property
    def guided(self) -> bool:
        """Whether the model looks at the guidance."""
        return "guidance" in self.next.inputs or "guidance" in self.first.inputs

    @cached_property
    def gains(self) -> bool:
        """Whether it must be known how much each place would cover anew."""
        return "gain" in self.next.inputs or self.config.mask == "useful"


def load_network(directory: str | Path) -> Network:
    """The model that :func:`covertour.neural.training.export.export` wrote into the directory."""
    folder = Path(directory)
    path = folder / "model.json"
    content = checked_format(path, read_json(path))
    if "model" not in content:
        raise InputError(f"{path}: no model in it")
    config = config_from({"model": content["model"]}, (), str(path)).model
    encoder, first, later = (_graph(folder / f"{name}.onnx") for name in GRAPHS)
    decoder = _decoder(folder / DECODER, config.width) if config.name == "am-gain" else None
    network = Network(config, encoder, first, later, decoder)
    _check_sizes(folder, network)
    return network


def _graph(file: Path) -> Graph:
    """A session on one thread: several threads decode several instances, each on its own."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    try:
        data = file.read_bytes()
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except OSError as error:
        raise InputError(f"{file}: {error.strerror or error}") from None
    except Exception as error:  # onnxruntime has its own exceptions, without a common base
        why = " ".join(str(error).split())
        raise InputError(f"{file}: cut off or not an ONNX model ({why})") from None
    inputs = tuple(one.name for one in session.get_inputs())
    return Graph(session, inputs, tuple(one.name for one in session.get_outputs()))


def _decoder(file: Path, d: int) -> GainWeights:
    """The decoder's weights, all there and of the right shapes."""
    try:
        with open(file, "rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            weights = GainWeights(*(arrays[name] for name in GainWeights._fields))
    except FileNotFoundError:
        raise InputError(f"{file}: not there; `covertour export` writes it") from None
    except Exception as error:  # of the archive, of numpy or of a name that is missing
        why = " ".join(str(error).split())
        raise InputError(f"{file}: cut off or not the weights of a decoder ({why})") from None
    c = FEATURES
    shapes = [(d,), (d, c), (d, c), (d, c), (d, c), (d, d), (d,), (1,)]
    if any(
        one.shape != shape or one.dtype != np.float32 or not one.flags.c_contiguous
        for one, shape in zip(weights, shapes, strict=True)
    ):
        raise InputError(f"{file}: not the decoder of the am-gain of model.json")
    return weights


def _check_sizes(folder: Path, network: Network) -> None:
    """Refuse graphs that do not belong together, by what they are given and their width."""
    code = network.encoder.outputs
    for name in GRAPHS:
        graph = getattr(network, name)
        known = {"places", "distances", "covers"} if name == "encoder" else {*code, *STATE}
        wanted = {"memory"} if name == "encoder" else {"scores", "memory_after"}
        shapes = {one.name: one.shape for one in graph.session.get_inputs()}
        width = shapes.get("memory", [network.config.width])[-1]
        if set(graph.inputs) - known or wanted - {*graph.outputs} or width != network.config.width:
            raise InputError(
                f"{folder / name}.onnx: not a part of the {network.config.name} of model.json"
            )
