"""Network: an exported model, loaded into ONNX Runtime and checked. Loading executes no code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from covertour.errors import InputError
from covertour.neural.config import ModelConfig, config_from
from covertour.neural.runs import checked_format, read_json

GRAPHS = ("encoder", "first", "next")

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
    """An exported model: its sizes, and its graphs."""

    config: ModelConfig
    encoder: Graph
    first: Graph
    next: Graph

    @cached_property
    def guided(self) -> bool:
        """Whether the model looks at the guidance."""
        return "guidance" in self.next.inputs or "guidance" in self.first.inputs

    @cached_property
    def gains(self) -> bool:
        """Whether it must be known how much each place would cover anew."""
        return "gain" in self.next.inputs or self.config.mask == "useful"


def load_network(directory: str | Path) -> Network:
    """The model that :func:`covertour.neural.export.export` wrote into the directory."""
    folder = Path(directory)
    path = folder / "model.json"
    content = checked_format(path, read_json(path))
    if "model" not in content:
        raise InputError(f"{path}: no model in it")
    config = config_from({"model": content["model"]}, (), str(path)).model
    network = Network(config, *(_graph(folder / f"{name}.onnx") for name in GRAPHS))
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
