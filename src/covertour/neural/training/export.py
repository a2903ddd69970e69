"""Export to ONNX: an encoder, the decoder's first step and its later steps, for the runtime."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as f

from covertour.neural.config import ModelConfig
from covertour.neural.inference.network import DECODER, STATE
from covertour.neural.models import attention, baselines, gain
from covertour.neural.models.attention import fold, of_stop, unfold
from covertour.neural.training.batch import Batch
from covertour.neural.training.environment import State
from covertour.neural.training.runs import FORMAT, write_json
from covertour.problem.errors import InputError
from covertour.storage import write_bytes
from covertour.version import __version__

OPSET = 17
PLACES = 499
"""Places of the instances that graphs are traced on; a prime, which no size of a model is."""


class EncoderGraph(nn.Module):
    """From places, distances and who covers whom, of instances of equal size, to the code."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.kind: Any = tuple

    def forward(self, places: Tensor, distances: Tensor, covers: Tensor) -> tuple[Tensor, ...]:
        """The memory before the first stop, [b, 1, d], then the parts of the code."""
        everyone = torch.ones_like(places[:, :, 0], dtype=torch.bool)
        batch = Batch(
            places=places,
            distances=distances,
            scale=places[:, 0, 0],
            covers=covers,
            factors=distances,
            exists=everyone,
            allowed=everyone,
            required=everyone,
            depot=places[:, 0, 0],
        )
        code = self.model.encode(batch)
        self.kind = type(code)
        return (self.model.start(code, 1), *code)


class DecoderGraph(nn.Module):
    """A step of the decoder: scores of the next stop, and the memory after it."""

    def __init__(self, model: Any, kind: Any, step: int) -> None:
        super().__init__()
        self.model, self.kind, self.step = model, kind, step

    def forward(self, memory: Tensor, *parts: Tensor) -> tuple[Tensor, Tensor]:
        """Scores [b, r, n] and memory [b, r, d]."""
        code, state = parts[: -len(STATE)], dict(zip(STATE, parts[-len(STATE) :], strict=True))
        return self.model.scores(self.kind(*code), memory, State(step=self.step, **state))


# --- Leaner operations ----------------------------------------------------------------------------
#
# A step of the decoder is so little work that the number of operations tells, and the exporter
# turns some of torch's into a dozen, half of which only find out shapes. While a graph is traced
# these stand in for those of the same names; a test compares the graphs with the models.


class _Fold(torch.autograd.Function):
    """``fold`` of :mod:`covertour.neural.models.attention`, as one operation."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, parts: int) -> Tensor:
        """As without export."""
        return fold(x, parts)

    @staticmethod
    def symbolic(g: Any, x: Any, parts: int) -> Any:
        """In the shape, 0 is what it was, -1 what is left."""
        return g.op("Reshape", x, g.op("Constant", value_t=torch.tensor([0, 0, parts, -1])))


class _Unfold(torch.autograd.Function):
    """``unfold``, as one operation."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """As without export."""
        return unfold(x)

    @staticmethod
    def symbolic(g: Any, x: Any) -> Any:
        """In the shape, 0 is what it was, -1 what is left."""
        return g.op("Reshape", x, g.op("Constant", value_t=torch.tensor([0, 0, -1])))


class _OfStop(torch.autograd.Function):
    """``of_stop``, as two operations."""

    @staticmethod
    def forward(ctx: Any, h: Tensor, place: Tensor) -> Tensor:
        """As without export."""
        return of_stop(h, place)

    @staticmethod
    def symbolic(g: Any, h: Any, place: Any) -> Any:
        """Rows of each instance by number."""
        column = g.op("Unsqueeze", place, g.op("Constant", value_t=torch.tensor([2])))
        return g.op("GatherND", h, column, batch_dims_i=1)


def _fold(x: Tensor, parts: int) -> Tensor:
    """``fold``; while a graph is traced, sizes are tensors."""
    return _Fold.apply(x, int(parts))  # type: ignore[no-untyped-call]


def _among(u: Tensor, seen: Tensor) -> Tensor:
    """``among``, where in the runtime all places exist."""
    return u


def _products_of(query: Tensor, key: Tensor) -> Tensor:
    """``products_of``, without shapes."""
    return query @ key.transpose(1, 2)[:, None]


def _centred_over(h: Tensor, exists: Tensor) -> tuple[Tensor, Tensor]:
    """``centred_over``, where all places exist."""
    centred = h - h.mean(1, keepdim=True)
    return centred, centred.square().mean(1, keepdim=True)


def _attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor) -> Tensor:
    """softmax(Q K^T / sqrt(d_k)) V over what the mask shows, in as few operations as it takes."""
    u = query / math.sqrt(query.shape[-1]) @ key.transpose(-1, -2)
    return u.masked_fill(~attn_mask, -torch.inf).softmax(-1) @ value


def _attention_to_all(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor) -> Tensor:
    """The same where the mask shows everything: in the encoder all places exist."""
    return (query / math.sqrt(query.shape[-1]) @ key.transpose(-1, -2)).softmax(-1) @ value


LEAN: dict[str, Callable[..., Any]] = {
    "fold": _fold,
    "unfold": _Unfold.apply,
    "of_stop": _OfStop.apply,
    "among": _among,
    "products_of": _products_of,
    "centred_over": _centred_over,
}


@contextmanager
def _traced_with(attended: Callable[..., Any]) -> Iterator[None]:
    """The models with the leaner operations, and attention by this function."""
    replaced = [(f, "scaled_dot_product_attention", attended)] + [
        (module, name, operation)
        for module in (attention, baselines, gain)
        for name, operation in LEAN.items()
        if hasattr(module, name)
    ]
    usual = [getattr(module, name) for module, name, _ in replaced]
    try:
        for module, name, operation in replaced:
            setattr(module, name, operation)
        yield
    finally:
        for (module, name, _), operation in zip(replaced, usual, strict=True):
            setattr(module, name, operation)


def export(model: Any, config: ModelConfig, directory: Path) -> None:
    """Write encoder.onnx, first.onnx, next.onnx, model.json; of am-gain decoder.npz too."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{directory}: cannot be made: {error.strerror or error}") from None
    b, r, n = 2, 3, PLACES
    generator = torch.Generator().manual_seed(0)
    places = torch.rand(b, n, 2, generator=generator)
    distances = torch.cdist(places, places)
    encoder = EncoderGraph(model)
    given = {"places": places, "distances": distances, "covers": distances < 0.3}
    with torch.no_grad():
        memory, *parts = encoder(**given)
    names = ["memory", *encoder.kind._fields]
    with _traced_with(_attention_to_all):
        _write(directory / "encoder.onnx", encoder, given, names)

    flags = given["covers"][:, :1].expand(b, r, n)
    floats = torch.rand(b, r, n, generator=generator)
    stops = torch.zeros(b, r, dtype=torch.long)
    state = (floats, flags, floats, flags, stops, stops, stops > 0)
    given = {
        "memory": memory.expand(b, r, -1).contiguous(),
        **dict(zip(encoder.kind._fields, parts, strict=True)),
        **dict(zip(STATE, state, strict=True)),
    }
    for name, step in (("first", 0), ("next", 1)):
        decoder = DecoderGraph(model, encoder.kind, step)
        with _traced_with(_attention):
            _write(directory / f"{name}.onnx", decoder, given, ["scores", "memory_after"])
    if isinstance(model, gain.AttentionGain):
        buffer = io.BytesIO()
        np.savez(buffer, **model.decoder_weights()._asdict())
        write_bytes(directory / DECODER, buffer.getvalue())
    content = {"format": FORMAT, "version": __version__, "model": asdict(config)}
    write_json(directory / "model.json", content)


def _write(path: Path, graph: nn.Module, given: dict[str, Tensor], outputs: list[str]) -> None:
    """Trace the graph on the given inputs and write it; sizes other than the model's stay open."""
    axes = {}
    for name, value in given.items():
        sizes = enumerate(value.shape)
        axes[name] = {0: "b"} | {axis: "n" for axis, size in sizes if size == PLACES}
        if name == "memory" or name in STATE:
            axes[name][1] = "r"
    buffer: Any = io.BytesIO()
    with warnings.catch_warnings():
        # The newer exporter needs one more package; this one calls itself old at every turn.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            graph,
            tuple(given.values()),
            buffer,
            dynamo=False,
            opset_version=OPSET,
            input_names=list(given),
            output_names=outputs,
            dynamic_axes=axes,
        )
    write_bytes(path, buffer.getvalue())
