"""The runtime: tours of exported models with ONNX Runtime and numpy, without torch.

The same steps as :mod:`covertour.neural.training.environment` and
:mod:`covertour.neural.training.decoding`, for instances of one size at a time, so nothing is
padded. A test holds the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from covertour.neural.inference.compiled import AS_THEY_STAND, loops
from covertour.neural.inference.gain_kernels import GainCode, GainTask
from covertour.neural.inference.kernels import BoolArray, Float32Array, Tables
from covertour.neural.inference.network import Graph, Network
from covertour.neural.inference.polish import polish
from covertour.neural.inference.problem import Problem, problem_of, turn
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray

INSTANCES_AT_ONCE = 64
NUMBERS_AT_ONCE = 100_000
"""How much is decoded at once: instances, and pairs of places or of rollouts and places, of which
every head of a model keeps a few numbers. More would not stay in a processor's cache."""

SHRINK = 0.75
"""Finished tours are put aside when no more than this share of a batch is left."""


def encode(network: Network, problem: Problem) -> dict[str, Any]:
    """What stays the same during decoding, and the memory before the first stop, by name."""
    graph = network.encoder
    given = {name: getattr(problem, name) for name in graph.inputs}
    return dict(zip(graph.outputs, graph.session.run(graph.outputs, given), strict=True))


def rollouts(
    network: Network,
    problem: Problem,
    noise: Float32Array | None = None,
    *,
    code: dict[str, Any] | None = None,
    scored: bool = False,
) -> tuple[IntArray, FloatArray]:
    """Tours int64[b, r, t], finished ones repeating their last stop, and log-probabilities [b, r].

    ``noise``: float32[b or 1, r, n], uniform in [0, 1), by which stops are drawn; without it one
    greedy tour an instance. ``code``: of :func:`encode`, where it is known. The log-probabilities
    are 0 where nobody asks for them by ``scored``.
    """
    b, n, _ = problem.places.shape
    r = 1 if noise is None else noise.shape[1]
    if noise is not None:
        noise = np.broadcast_to(noise, (b, r, n)).reshape(b * r, n)
    code = dict(encode(network, problem) if code is None else code)
    live = _begin(network, problem, code.pop("memory"), r)
    total = np.zeros(b * r)
    stops = np.zeros(b * r, dtype=np.int64)
    tours: list[IntArray] = []
    ways = _ways(network, problem)
    graph, bound = network.first, _bind(network.first, code, live)
    while True:
        graph.session.run_with_iobinding(bound)
        scores, done, place = live["scores"], live["done"], live["place"]
        _block(network, ways, live)
        who = live["who"]
        if noise is not None:
            _draw(scores, noise[who, len(tours)], place)
        np.copyto(place, live["last"], where=done)
        if not tours:
            np.copyto(place, ways["depot"][:, None], where=ways["depot"][:, None] >= 0)
            live["first"][...] = place
        if scored:
            _score(scores, place, done, total, who, depot=None if tours else ways["depot"])
        live["last"][...] = place
        stops[who] = place
        tours.append(stops.copy())
        _visit(ways, live)
        if done.all() or len(tours) == n:
            break
        live["memory"][...] = live["memory_after"]
        smaller = _shrunk(code, ways, live)
        if smaller is not None:
            code, ways, live = smaller
        if smaller is not None or graph is network.first:
            graph, bound = network.next, _bind(network.next, code, live)
    return np.stack(tours, axis=1).reshape(b, r, -1), total.reshape(b, r)


def _begin(network: Network, problem: Problem, memory: Float32Array, r: int) -> dict[str, Any]:
    """The tours that are decoded, before their first stop: arrays [b, r, n], [b, r, d], [b, r].

    As in :class:`covertour.neural.training.environment.State`, ``who``: which of the b·r tours each
    is; ``closed``: not allowed or visited; and where the decoder writes.
    """
    b, n, _ = problem.places.shape
    none, shape = np.zeros((b, r), dtype=np.int64), (b, r, n)
    memory = np.repeat(memory, r, axis=1)
    live = {
        "memory": memory,
        "memory_after": np.empty_like(memory),
        "scores": np.empty(shape, dtype=np.float32),
        "guidance": np.ones(shape if network.guided else (b, r, 0), dtype=np.float32),
        "uncovered": np.ones(shape, dtype=bool),
        "visited": np.zeros(shape, dtype=bool),
        "closed": np.repeat(~problem.allowed[:, None], r, axis=1),
        "gain": np.zeros((b, r, 0), dtype=np.float32),
        "first": none,
        "last": none.copy(),
        "place": none.copy(),
        "done": np.zeros((b, r), dtype=bool),
        "who": np.arange(b * r).reshape(b, r),
    }
    if network.gains:
        covered = problem.covers.sum(axis=2, dtype=np.float32)
        live["gain"] = np.repeat(covered[:, None], r, axis=1)
    return live


def _ways(network: Network, problem: Problem) -> dict[str, Any]:
    """What the steps need of the instances, arrays with b rows."""
    covered_by = problem.covers.transpose(0, 2, 1) if network.gains else problem.covers[:, :0]
    return {
        "covers": problem.covers,
        "covered_by": covered_by.astype(np.float32, order="C"),
        "factors": problem.factors,
        "required": problem.required if problem.required.any() else problem.required[:, :0].copy(),
        "depot": problem.depot,
    }


def _bind(graph: Graph, code: dict[str, Any], live: dict[str, Any]) -> Any:
    """The graph tied to the arrays: it reads and writes them in place, nothing is copied."""
    from onnxruntime import OrtValue

    bound = graph.session.io_binding()
    for name in graph.inputs:
        bound.bind_cpu_input(name, live[name] if name in live else code[name])
    for name in ("scores", "memory_after"):
        bound.bind_ortvalue_output(name, OrtValue.ortvalue_from_numpy(live[name]))
    return bound


def _block(network: Network, ways: dict[str, Any], live: dict[str, Any]) -> None:
    """Rule out where the next stop may not be, and choose the best of the rest."""
    loops().block(
        live["scores"],
        live["closed"],
        live["gain"],
        ways["required"],
        live["visited"],
        live["uncovered"],
        network.config.mask == "useful",
        live["place"],
    )


def _draw(scores: Float32Array, noise: Float32Array, place: IntArray) -> None:
    """Draw the stops, int64[b, r], by the noise, float32[b, r]."""
    below = _powers(scores).cumsum(axis=2)
    drawn = noise[:, :, None] * below[:, :, -1:]
    np.sum(below <= drawn, axis=2, out=place)
    # Only where scores are not numbers could it lie outside; the referee will tell.
    np.minimum(place, scores.shape[2] - 1, out=place)


def _powers(scores: Float32Array) -> Float32Array:
    """exp(u), scaled to 1 at the best; of tours without a free place, nothing but 0."""
    best = scores.max(axis=2, keepdims=True)
    best[best == -np.inf] = 0.0
    powers = scores - best
    return np.exp(powers, out=powers)


def _score(
    scores: Float32Array,
    place: IntArray,
    done: BoolArray,
    total: FloatArray,
    who: IntArray,
    depot: IntArray | None,
) -> None:
    """Add the log-probabilities of the stops that were chosen; forced ones have 0."""
    powers = _powers(scores)
    chosen = np.take_along_axis(powers, place[:, :, None], axis=2)[:, :, 0]
    free = ~done if depot is None else ~done & (depot < 0)[:, None]
    total[who[free]] += np.log(chosen[free] / powers.sum(axis=2)[free])


def _visit(ways: dict[str, Any], live: dict[str, Any]) -> None:
    """The tours after a stop at ``place``, in place."""
    loops().visit(
        live["place"],
        ways["covers"],
        ways["covered_by"],
        ways["factors"],
        ways["required"],
        live["uncovered"],
        live["visited"],
        live["closed"],
        live["guidance"],
        live["gain"],
        live["done"],
    )


def _shrunk(
    code: dict[str, Any], ways: dict[str, Any], live: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]] | None:
    """The same without finished tours and instances, where that is worth the copying."""
    b, r = live["done"].shape
    if b * r == 1:
        return None
    left = r - live["done"].sum(axis=1)
    rows = np.flatnonzero(left)
    most = int(left.max())
    if len(rows) <= SHRINK * b:
        code = {name: value[rows] for name, value in code.items()}
        ways = {name: value[rows] for name, value in ways.items()}
        live = {name: value[rows] for name, value in live.items()}
    elif most > SHRINK * r:
        return None
    if most <= SHRINK * r:
        # Unfinished ones first, as many as the instance with most of them has.
        order = np.argsort(live["done"], axis=1, kind="stable")[:, :most]
        row = np.arange(len(order))[:, None]
        live = {name: value[row, order] for name, value in live.items()}
    return code, ways, live


def best_tours(
    network: Network,
    instances: Sequence[Instance],
    *,
    samples: int = 0,
    symmetries: bool = False,
    raw: bool = False,
    seed: int = 0,
    workers: int = 1,
) -> list[IntArray]:
    """The shortest tour found of each instance, int64[m]: greedy, and of ``samples`` drawn ones.

    ``symmetries``: from all eight ways to turn and mirror the places, each with its own samples.
    ``raw``: they are not polished. ``workers``: threads; instances and symmetries are shared out
    among them.
    """
    batches = _batches([instance.n for instance in instances], samples, workers)
    best: dict[int, IntArray] = {}
    with ThreadPoolExecutor(workers) as pool:
        # Threads share the batches or, where there is but one, its symmetries.
        shared = pool.map if workers > 1 else map
        each, turned = (shared, map) if len(batches) > 1 else (map, shared)

        def solve(index: Sequence[int]) -> list[IntArray]:
            same = [instances[i] for i in index]
            problem = problem_of(same, network.guided)
            ways = range(8 if symmetries else 1)
            tours = turned(lambda way: _decoded(network, problem, way, samples, seed), ways)
            together = [tour for found in tours for tour in found]
            polished = network.config.polish == "yes" and not raw
            return shortest(same, problem, together, polished=polished)

        for index, tours in zip(batches, each(solve, batches), strict=True):
            best.update(zip(index, tours, strict=True))
    return [best[i] for i in range(len(instances))]


def _batches(sizes: Sequence[int], samples: int, workers: int) -> list[list[int]]:
    """Instances of equal size together, by number; no more than memory and workers ask for."""
    batches = []
    for n in sorted(set(sizes)):
        same = [i for i, size in enumerate(sizes) if size == n]
        most = min(INSTANCES_AT_ONCE, -(-len(same) // workers))
        most = max(1, min(most, NUMBERS_AT_ONCE // (n * max(n, samples))))
        batches += [same[first : first + most] for first in range(0, len(same), most)]
    return batches


def _decoded(
    network: Network, problem: Problem, way: int, samples: int, seed: int
) -> list[IntArray]:
    """Tours int64[b, ., .]: the greedy ones and so many samples, of the places turned one way.

    What is drawn for an instance depends on the seed alone, not on those beside it.
    """
    b, n, _ = problem.places.shape
    problem = replace(problem, places=turn(problem.places, way))
    code = encode(network, problem)
    found = [_tours(network, problem, code)]
    rng = np.random.default_rng([seed, way])
    most = max(1, NUMBERS_AT_ONCE // (b * n))
    for first in range(0, samples, most):
        noise = rng.random((1, min(most, samples - first), n), dtype=np.float32)
        found.append(_tours(network, problem, code, noise))
    return found


def _tours(
    network: Network, problem: Problem, code: dict[str, Any], noise: Float32Array | None = None
) -> IntArray:
    """The tours of :func:`rollouts`, by am-gain's own loop where that is compiled."""
    if network.decoder is None or loops() is AS_THEY_STAND:
        return rollouts(network, problem, noise, code=code)[0]
    b, n, _ = problem.places.shape

    def places_last(heads: Float32Array) -> Float32Array:
        return np.ascontiguousarray(np.swapaxes(heads, -1, -2)).reshape(b, -1, n)

    code = {"mean": code["memory"], **code}
    code |= {name: places_last(code[name]) for name in ("key", "key_1", "value_1")}
    covered_by = np.swapaxes(problem.covers, 1, 2).astype(np.float32, order="C")
    given = {"covered_by": covered_by, **vars(problem)}
    r = 1 if noise is None else noise.shape[1]
    tours = np.empty((b, r, n), dtype=np.int64)
    most = loops().decode_gain(
        tours,
        np.empty((1, 0, n), dtype=np.float32) if noise is None else noise,
        GainCode(*(code[name] for name in GainCode._fields)),
        network.decoder,
        GainTask(*(given[name] for name in GainTask._fields)),
        network.config.heads,
        np.float32(network.config.clip),
        network.config.mask == "useful",
    )
    return tours[:, :, :most]


def shortest(
    instances: Sequence[Instance], problem: Problem, tours: Sequence[IntArray], *, polished: bool
) -> list[IntArray]:
    """The shortest tour of each of b instances, int64[m], of those found, int64[b, ., .] each.

    Every tour that was decoded passes through here. Tours may repeat a stop, one after the other.
    ``polished``: they are polished first (:mod:`covertour.neural.inference.polish`).
    """
    longest = max(found.shape[2] for found in tours)
    filled = [
        np.concatenate([found, found[:, :, -1:].repeat(longest - found.shape[2], axis=2)], axis=2)
        for found in tours
    ]
    whole = np.concatenate(filled, axis=1)
    if polished:
        whole = _polished(instances, problem, whole)
    best = []
    for instance, found in zip(instances, whole, strict=True):
        which = 0
        if len(found) > 1:
            which = instance.distances(found, np.roll(found, -1, axis=1)).sum(axis=1).argmin()
        stops = found[which]
        repeated = np.append(False, stops[1:] == stops[:-1])
        best.append(stops[~repeated])
    return best


def _polished(instances: Sequence[Instance], problem: Problem, tours: IntArray) -> IntArray:
    """Tours, int64[b, k, t], polished by the instances' own distances."""
    b, k, t = tours.shape
    if all(instance.metric == "euclidean" for instance in instances):
        distances = problem.distances.astype(np.float64)
    else:
        place = np.arange(instances[0].n)
        pairs = place[:, None], place[None, :]
        distances = np.stack([instance.distances(*pairs) for instance in instances])
    tables = Tables(distances, problem.covers, problem.allowed, problem.required)
    better = polish(tours.reshape(b * k, t), np.repeat(np.arange(b), k), tables)
    return better.reshape(b, k, t)
