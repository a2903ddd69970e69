"""The runtime: tours of exported models with ONNX Runtime and numpy, without torch.

The same steps as :mod:`covertour.neural.environment` and :mod:`covertour.neural.decoding`, for
instances of one size at a time, so nothing is padded. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from covertour.errors import InputError
from covertour.instance import Instance
from covertour.metric import FloatArray, IntArray
from covertour.neural.config import ModelConfig, config_from
from covertour.neural.places import unit_square
from covertour.neural.runs import checked_format, read_json

BoolArray = npt.NDArray[np.bool_]
Float32Array = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Network:
    """An exported model: its sizes, and a session of ONNX Runtime for each of its graphs."""

    config: ModelConfig
    encoder: Any
    first: Any
    next: Any


def load_network(directory: str | Path, threads: int = 1) -> Network:
    """The model that :func:`covertour.neural.export.export` wrote into the directory."""
    import onnxruntime

    folder = Path(directory)
    path = folder / "model.json"
    content = checked_format(path, read_json(path))
    config = config_from({"model": content.get("model", {})}, (), str(path)).model
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    sessions = []
    for name in ("encoder", "first", "next"):
        file = folder / f"{name}.onnx"
        try:
            data = file.read_bytes()
            sessions.append(
                onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
            )
        except OSError as error:
            raise InputError(f"{file}: {error.strerror or error}") from None
        except Exception as error:  # onnxruntime has its own exceptions, without a common base
            why = " ".join(str(error).split())
            raise InputError(f"{file}: cut off or not an ONNX model ({why})") from None
    return Network(config, *sessions)


@dataclass(frozen=True, eq=False)
class Problem:
    """b instances of n places, as arrays; the fields of :class:`covertour.neural.batch.Batch`."""

    places: Float32Array
    distances: Float32Array
    covers: BoolArray
    factors: Float32Array
    allowed: BoolArray
    required: BoolArray
    depot: IntArray


def problem_of(instances: Sequence[Instance]) -> Problem:
    """Instances of the same number of places as arrays."""
    n = instances[0].n
    if any(instance.n != n for instance in instances):
        raise InputError("expected instances of the same number of places")
    b = len(instances)
    everyone = np.arange(n)
    places = np.stack([unit_square(instance)[0] for instance in instances])
    gaps = places[:, :, None] - places[:, None, :]
    covers = np.zeros((b, n, n), dtype=bool)
    factors = np.ones((b, n, n), dtype=np.float32)
    allowed = np.ones((b, n), dtype=bool)
    required = np.zeros((b, n), dtype=bool)
    depot = np.full(b, -1)
    for row, instance in enumerate(instances):
        table = instance.coverage
        covers[row, np.repeat(everyone, np.diff(table.covers_start)), table.covers] = True
        far = instance.distances(everyone[:, None], everyone[None, :])
        factors[row] = guidance_factors(far, covers[row])
        allowed[row, list(instance.forbidden)] = False
        required[row, instance.must_visit] = True
        if instance.depot is not None:
            depot[row] = instance.depot
    return Problem(
        places=places.astype(np.float32),
        distances=np.hypot(gaps[..., 0], gaps[..., 1]).astype(np.float32),
        covers=covers,
        factors=factors,
        allowed=allowed,
        required=required,
        depot=depot,
    )


def guidance_factors(distances: FloatArray, covers: BoolArray) -> Float32Array:
    """c_i / N_C of the paper's guidance update, float32[n, n]; 1 where nothing changes."""
    others = covers & ~np.eye(len(covers), dtype=bool)
    far = np.where(others, distances, np.inf)
    order = np.argsort(far, axis=1, kind="stable")
    near_to_far = np.take_along_axis(far, order, axis=1)
    # Tied places share the rank of the last of them: the next at which the distance changes.
    n = len(covers)
    rank = np.broadcast_to(np.arange(1, n + 1), (n, n)).copy()
    rank[:, :-1][near_to_far[:, :-1] == near_to_far[:, 1:]] = n
    rank = np.minimum.accumulate(rank[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty_like(rank)
    np.put_along_axis(ranks, order, rank, axis=1)
    share = ranks / np.maximum(others.sum(axis=1, keepdims=True), 1)
    return np.where(others, share, 1.0).astype(np.float32)


def rollouts(
    network: Network, problem: Problem, noise: Float32Array | None = None
) -> tuple[IntArray, FloatArray]:
    """Tours int64[b, r, t], finished ones repeating their last stop, and log-probabilities [b, r].

    ``noise``: float32[b, r, n], uniform in [0, 1), by which stops are drawn; without it one greedy
    tour an instance.
    """
    b, n, _ = problem.places.shape
    r = 1 if noise is None else noise.shape[1]
    code = _run(network.encoder, vars(problem))
    memory = np.repeat(code.pop("memory"), r, axis=1)
    row = np.arange(b)[:, None]
    column = np.arange(r)[None, :]
    reverse = problem.covers.transpose(0, 2, 1).astype(np.float32)
    visited = np.zeros((b, r, n), dtype=bool)
    uncovered = np.ones((b, r, n), dtype=bool)
    guidance = np.ones((b, r, n), dtype=np.float32)
    last = first = np.zeros((b, r), dtype=np.int64)
    done = np.zeros((b, r), dtype=bool)
    total = np.zeros((b, r))
    tours: list[IntArray] = []
    while not done.all():
        gain = uncovered.astype(np.float32) @ reverse
        state = {
            "memory": memory,
            "guidance": guidance,
            "uncovered": uncovered,
            "gain": gain,
            "visited": visited,
            "first": first,
            "last": last,
            "done": done,
        }
        found = _run(network.next if tours else network.first, code | state)
        memory = found["memory_after"]
        free = problem.allowed[:, None] & ~visited
        if network.config.mask == "useful":
            free &= gain > 0
        free &= uncovered.any(axis=2, keepdims=True)
        free |= problem.required[:, None] & ~visited
        if tours:
            only, forced = last, done
        else:
            only = np.broadcast_to(np.maximum(problem.depot, 0)[:, None], (b, r))
            forced = np.broadcast_to((problem.depot >= 0)[:, None], (b, r))
        free[forced] = False
        free[row, column, only] |= forced
        scores = np.where(free, found["scores"], -np.inf)
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        if noise is None:
            place = scores.argmax(axis=2)
        else:
            below = powers.cumsum(axis=2)
            drawn = noise[:, :, len(tours)][..., None] * below[..., -1:]
            place = (below <= drawn).sum(axis=2)
        total += np.log(powers[row, column, place] / powers.sum(axis=2))
        visited[row, column, place] = True
        uncovered = uncovered & ~problem.covers[row, place]
        guidance = np.where(done[..., None], guidance, guidance * problem.factors[row, place])
        first = first if tours else place
        last = place
        done = ~(uncovered | (problem.required[:, None] & ~visited)).any(axis=2)
        tours.append(place)
    return np.stack(tours, axis=2), total


def _run(session: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The outputs of a graph by name; it is given what it asks for."""
    given = {one.name: values[one.name] for one in session.get_inputs()}
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, given), strict=True))


def best_tours(
    network: Network,
    instances: Sequence[Instance],
    *,
    samples: int = 0,
    symmetries: bool = False,
    seed: int = 0,
) -> list[IntArray]:
    """The shortest tour found of each instance, int64[m]: greedy, and of ``samples`` drawn ones.

    ``symmetries``: from all eight ways to turn and mirror the places, each with its own samples.
    """
    best: list[IntArray | None] = [None] * len(instances)
    length = [np.inf] * len(instances)
    for n in sorted({instance.n for instance in instances}):
        index = [i for i, instance in enumerate(instances) if instance.n == n]
        problem = problem_of([instances[i] for i in index])
        rng = np.random.default_rng([seed, n])
        for way in range(8 if symmetries else 1):
            turned = Problem(**{**vars(problem), "places": turn(problem.places, way)})
            found = [rollouts(network, turned)[0]]
            if samples:
                noise = rng.random((len(index), samples, n), dtype=np.float32)
                found.append(rollouts(network, turned, noise)[0])
            for tours in found:
                for row, i in enumerate(index):
                    for tour in tours[row]:
                        stops = tour[: _stops(tour)]
                        far = instances[i].length(stops)
                        if far < length[i]:
                            best[i], length[i] = stops, far
    return [tour for tour in best if tour is not None]


def _stops(tour: IntArray) -> int:
    """How many stops a tour has before it repeats its last one."""
    return int(np.argmax(tour == tour[-1])) + 1


def turn(places: Float32Array, way: int) -> Float32Array:
    """Places of the unit square after one of its eight symmetries."""
    x, y = places[..., 0], places[..., 1]
    if way & 1:
        x = 1 - x
    if way & 2:
        y = 1 - y
    if way & 4:
        x, y = y, x
    return np.stack([x, y], axis=-1)
