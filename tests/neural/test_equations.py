"""The equations of the paper, by hand on five places on a line at 0, .1, .3, .6 and 1.

Each covers its two nearest others: 0 covers 1 2, 1 covers 0 2, 2 covers 1 0 or 3 (tied: .3), 3
covers 2 4, 4 covers 3 2.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from covertour import Instance, random_instance
from covertour.neural.config import ModelConfig
from covertour.neural.models import make_model
from covertour.neural.models.attention_dynamic import glimpse
from covertour.neural.training.batch import batch_from
from covertour.neural.training.decoding import decode, greedy, remember
from covertour.neural.training.environment import State, begin, selectable, visit

SMALL = {"width": 8, "heads": 2, "layers": 1, "feed_forward": 16}


def stop_at(place: int) -> torch.Tensor:
    return torch.tensor([[place]])


def numbers(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()


def softmax(scores: np.ndarray) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def test_guidance_shrinks_by_rank_over_count_for_each_place_that_a_stop_covers(
    five: Instance,
) -> None:
    batch = batch_from([five], "c/N")
    state = begin(batch, 1)
    assert numbers(state.guidance).tolist() == [[[1, 1, 1, 1, 1]]]
    state = visit(batch, state, stop_at(1))  # covers 0 at .1 (c = 1) and 2 at .2 (c = 2)
    assert_allclose(numbers(state.guidance)[0, 0], [1 / 2, 1, 1, 1, 1])
    state = visit(batch, state, stop_at(0))  # covers 1 at .1 (c = 1) and 2 at .3 (c = 2)
    assert_allclose(numbers(state.guidance)[0, 0], [1 / 2, 1 / 2, 1, 1, 1])
    # 2 covers 1 at .2 (c = 1), and 0 and 3, tied at .3 (both c = 3); N_C = 3.
    state = visit(batch, state, stop_at(2))
    assert_allclose(numbers(state.guidance)[0, 0], [1 / 2, 1 / 6, 1, 1, 1], rtol=1e-6)


def test_the_released_guidance_counts_from_zero(five: Instance) -> None:
    batch = batch_from([five], "(c-1)/N")
    state = visit(batch, begin(batch, 1), stop_at(1))  # covers 0 (c = 1) and 2 (c = 2)
    assert_allclose(numbers(state.guidance)[0, 0], [0, 1, 1 / 2, 1, 1])


def test_covered_places_gains_and_masks_follow_the_stops(five: Instance) -> None:
    batch = batch_from([five], "c/N")
    state = begin(batch, 1)
    assert state.gain[0, 0].tolist() == [3, 3, 4, 3, 3]
    assert selectable(batch, state, False).all()
    state = visit(batch, state, stop_at(0))
    assert state.uncovered[0, 0].tolist() == [False, False, False, True, True]
    assert state.gain[0, 0].tolist() == [0, 0, 1, 2, 2]
    assert selectable(batch, state, False)[0, 0].tolist() == [False, True, True, True, True]
    assert selectable(batch, state, True)[0, 0].tolist() == [False, False, True, True, True]
    state = visit(batch, state, stop_at(4))
    assert state.done.all()
    assert selectable(batch, state, False)[0, 0].tolist() == [False] * 4 + [True]


def test_depot_comes_first_required_places_last_and_forbidden_never(five: Instance) -> None:
    batch = batch_from([five.with_changes(depot=3, required=(1,), forbidden=(2,))], "c/N")
    state = begin(batch, 1)
    assert selectable(batch, state, True)[0, 0].tolist() == [False] * 3 + [True, False]
    state = visit(batch, state, stop_at(3))
    # 0 and 1 are left to cover; 2 is forbidden, and 4 covers nothing new.
    assert selectable(batch, state, True)[0, 0].tolist() == [True, True, False, False, False]
    assert selectable(batch, state, False)[0, 0].tolist() == [True, True, False, False, True]
    state = visit(batch, state, stop_at(0))
    assert not state.uncovered.any()
    assert not state.done.any()
    for useful in (False, True):
        assert selectable(batch, state, useful)[0, 0].tolist() == [False, True] + [False] * 3
    assert visit(batch, state, stop_at(1)).done.all()


@pytest.mark.parametrize("form", ["text", "released"])
@pytest.mark.parametrize(("normalisation", "axis"), [("layer", 1), ("instance", 0)])
def test_attention_dynamic_is_what_the_paper_says(
    five: Instance, normalisation: str, axis: int, form: str
) -> None:
    """Encoder, dynamic keys, GRU, glimpse and log-probabilities, in numpy, for two steps."""
    config = ModelConfig("am-dynamic", **SMALL, normalisation=normalisation, form=form)
    model = make_model(config, seed=3)
    released = form == "released"
    weight = {name: numbers(value) for name, value in model.state_dict().items()}
    batch = batch_from([five], "c/N")
    d, m = 8, 2
    x = numbers(batch.places)[0]

    def heads(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        parts = []
        for head in range(m):
            cut = slice(head * d // m, (head + 1) * d // m)
            parts.append(softmax(q[:, cut] @ k[:, cut].T / np.sqrt(d / m)) @ v[:, cut])
        return np.concatenate(parts, axis=1)

    def norm(h: np.ndarray, which: str) -> np.ndarray:
        centred = h - h.mean(axis=axis, keepdims=True)
        flat = centred / np.sqrt((centred**2).mean(axis=axis, keepdims=True) + 1e-5)
        return flat * weight[f"{which}.scale"] + weight[f"{which}.shift"]

    h = x @ weight["encoder.embed.weight"].T + weight["encoder.embed.bias"]
    layer = "encoder.layers.0"
    q, k, v = np.split(h @ weight[f"{layer}.query_key_value.weight"].T, 3, axis=1)
    h = norm(h + heads(q, k, v) @ weight[f"{layer}.project.weight"].T, f"{layer}.norm_1")
    forward = f"{layer}.feed_forward"
    hidden = np.maximum(h @ weight[f"{forward}.0.weight"].T + weight[f"{forward}.0.bias"], 0)
    after = hidden @ weight[f"{forward}.2.weight"].T + weight[f"{forward}.2.bias"]
    h = norm(h + after, f"{layer}.norm_2")
    assert_allclose(numbers(model.encode(batch).h)[0], h, atol=1e-5)

    def gru(given: np.ndarray, before: np.ndarray) -> np.ndarray:
        a = weight["gru.weight_ih"] @ given + weight["gru.bias_ih"]
        b = weight["gru.weight_hh"] @ before + weight["gru.bias_hh"]
        reset, update = sigmoid(a[:d] + b[:d]), sigmoid(a[d : 2 * d] + b[d : 2 * d])
        new = np.tanh(a[2 * d :] + reset * b[2 * d :])
        return (1 - update) * new + update * before

    def log_p(memory: np.ndarray, g: np.ndarray, masked: list[int]) -> np.ndarray:
        k_1, v_1 = h @ weight["glimpse_key.weight"].T, h @ weight["glimpse_value.weight"].T
        seen = [p for p in range(5) if not (released and p in masked)]
        query = (heads(memory[None], k_1[seen], v_1[seen]) @ weight["project.weight"].T)[0]
        dynamic = g[:, None] * weight["dynamic"]  # G_i = g_i W_G
        keys = (h @ weight["key.weight"].T) * (released + dynamic)  # k_i = W^K h_i ∘ G_i
        u = 10 * np.tanh(keys @ query / np.sqrt(d if released else d / m))
        u[masked] = -np.inf
        return u - np.log(np.exp(u).sum())

    d_0 = h.mean(axis=0)
    if released:
        d_0 = weight["first_memory.weight"] @ d_0 + weight["first_memory.bias"]
    d_1 = gru(weight["first_input"], d_0)
    first = log_p(d_1, np.ones(5), [])
    d_2 = gru(h[1], d_1)
    second = log_p(d_2, np.array([1 / 2, 1, 1, 1, 1]), [1])

    seen: list[torch.Tensor] = []

    def choose(step: int, found: torch.Tensor) -> torch.Tensor:
        seen.append(found)
        return stop_at([1, 4][step])

    rollout = decode(model, batch, 1, choose, useful=False)
    assert_allclose(numbers(seen[0])[0, 0], first, atol=1e-4)
    assert_allclose(numbers(seen[1])[0, 0], second, atol=1e-4)
    assert_allclose(numbers(rollout.log_probability), [[first[1] + second[4]]], atol=1e-4)
    assert_allclose(numbers(rollout.lengths), [[1.8]], rtol=1e-6)
    assert rollout.places(0) == [1, 4]


@pytest.mark.parametrize("kept", [0, 1])
def test_covering_heads_see_along_coverage_and_a_place_itself(kept: int) -> None:
    """With one such head kept, an embedding depends on its place and on whom that head sees."""
    sizes = {"width": 8, "heads": 4, "layers": 1, "feed_forward": 16}
    config = ModelConfig("am-dynamic", **sizes, attention="coverage", normalisation="layer")
    model = make_model(config, seed=3)
    project = model.encoder.layers[0].project.weight.data
    project[:, [column for column in range(8) if column // 2 != kept]] = 0
    covers = [[0, 1, 2], [1], [2, 4], [3, 0], []]  # the last place is forbidden, so covers nobody
    sees = {(i, i) for i in range(5)}
    sees |= {(i, j) if kept == 0 else (j, i) for i in range(5) for j in covers[i]}

    def embeddings(points: np.ndarray) -> np.ndarray:
        instance = Instance.from_coordinates(points, sets=covers, forbidden=(4,))
        return numbers(model.encode(batch_from([instance], "c/N")).h)[0]

    at = np.array([[0.0, 0.0], [0.1, 0.8], [0.9, 0.3], [1.0, 1.0], [0.6, 0.2]])
    before = embeddings(at)
    for moving in (1, 2, 4):  # 0 and 3 are the corners of the square that all is scaled to
        points = at.copy()
        points[moving] += 0.05
        changed = np.flatnonzero(np.abs(embeddings(points) - before).max(axis=1) > 1e-6)
        assert changed.tolist() == [i for i in range(5) if (i, moving) in sees]


def test_smaller_instances_have_the_same_embeddings_beside_larger_ones() -> None:
    sizes = {"width": 8, "heads": 4, "layers": 2, "feed_forward": 16}
    config = ModelConfig("am-dynamic", **sizes, attention="coverage")
    model = make_model(config, seed=3)
    instances = [random_instance(n, nearest=2, seed=n) for n in (5, 9)]
    together = numbers(model.encode(batch_from(instances, "c/N")).h)
    for row, instance in enumerate(instances):
        alone = numbers(model.encode(batch_from([instance], "c/N")).h)[0]
        assert_allclose(together[row, : instance.n], alone, atol=1e-5)


@pytest.mark.parametrize("visited", [True, False])
def test_half_of_the_glimpse_looks_at_what_is_left(visited: bool) -> None:
    """Where nothing is left, at all that may be seen, as the other half does anyway."""
    generator = torch.Generator().manual_seed(1)
    query = torch.randn(1, 3, 8, generator=generator)
    key, value = (torch.randn(1, 4, 5, 2, generator=generator) for _ in range(2))
    left = torch.tensor([[[0, 1, 1, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]]).bool()
    seen = torch.tensor([[[0, 1, 1, 1, 1], [0, 1, 1, 0, 1], [0, 1, 0, 0, 1]]]).bool()
    made = numbers(glimpse(query, key, value, seen if visited else None, left))[0]
    for q in range(3):
        rest = seen[0, q] if visited else torch.ones(5).bool()
        for head in range(4):
            where = left[0, q] if head < 2 and left[0, q].any() else rest
            k, v = numbers(key[0, head, where]), numbers(value[0, head, where])
            cut = slice(2 * head, 2 * head + 2)
            expected = softmax(numbers(query[0, q, cut]) @ k.T / np.sqrt(2)) @ v
            assert_allclose(made[q, cut], expected, atol=1e-5)


def test_pointer_network_is_what_the_paper_says(five: Instance) -> None:
    """u_i = v · tanh(W_1 e_i + W_2 d_0) at first, where d_0 is the last state of the encoder."""
    model = make_model(ModelConfig("pn", **SMALL), seed=3)
    batch = batch_from([five], "c/N")
    embedded = model.embed(batch.places)
    e, last = model.encoder(embedded)
    u = [
        model.point(torch.tanh(model.reference(e[0, i]) + model.query(last[0, 0])))
        for i in range(5)
    ]
    expected = (10 * torch.tanh(torch.cat(u))).log_softmax(0)
    assert_allclose(
        numbers(greedy(model, batch, useful=False).first)[0, 0], numbers(expected), atol=1e-5
    )


def test_pointer_dynamic_is_nazaris_with_guidance_as_its_dynamic_element(five: Instance) -> None:
    model = make_model(ModelConfig("pn-dynamic", **SMALL), seed=3)
    batch = batch_from([five], "c/N")
    state: State = visit(batch, begin(batch, 1), stop_at(1))
    memory = torch.rand(1, 1, 8, generator=torch.Generator().manual_seed(1))
    code = model.encode(batch)
    after = remember(model, code, memory, state)
    found = model.scores(code, after, state)
    static = model.embed(batch.places)[0]
    delta = model.embed_dynamic(state.guidance[0, 0][:, None])
    hidden = model.gru(static[1:2], memory[0])
    mixed = model.attend_static(static) + model.attend_dynamic(delta) + model.attend_memory(hidden)
    a = model.attend(torch.tanh(mixed)).softmax(0)
    context = torch.cat([(a * static).sum(0), (a * delta).sum(0)])
    mixed = model.point_static(static) + model.point_dynamic(delta) + model.point_context(context)
    u = 10 * torch.tanh(model.point(torch.tanh(mixed)))
    assert_allclose(numbers(found)[0, 0], numbers(u)[:, 0], atol=1e-5)
    assert_allclose(numbers(after)[0], numbers(hidden), atol=1e-6)


def test_am_gain_makes_the_keys_that_its_description_has(five: Instance) -> None:
    model = make_model(ModelConfig("am-gain", **SMALL), seed=3)
    batch = batch_from([five], "c/N")
    state = visit(batch, begin(batch, 1), stop_at(0))
    code = model.encode(batch)
    found = model.scores(code, model.start(code, 1), state)
    weight = {name: numbers(value) for name, value in model.state_dict().items()}
    h, d, m = numbers(model.encoder(batch))[0], 8, 2
    # g: 0 covers 1 (c = 1) and 2 (c = 2); then 3 and 4 are uncovered, and each place has its gain.
    seen = np.array([[1, 0, 0 / 3], [1 / 2, 0, 0 / 3], [1, 0, 1 / 4], [1, 1, 2 / 3], [1, 1, 2 / 3]])
    most = np.array([0, 0, 1, 2, 2]) / 2
    way = np.array([0, 0.1, 0.3, 0.6, 1.0]) * np.sqrt(5)
    ways = [way / 4, way / 4, np.exp(-way / 2), most / (1 + way)]
    features = np.column_stack([seen, most, *ways])
    k_1, v_1, key = np.split(h @ weight["key_value_logit.weight"].T, 3, axis=1)
    context = (
        weight["context_mean.weight"] @ h.mean(axis=0)
        + weight["context_stops.weight"] @ np.concatenate([h[0], h[0]])
        + weight["context_uncovered.weight"] @ h[[3, 4]].mean(axis=0)
    )
    k_1 = k_1 + features @ weight["feature_key"]
    v_1 = v_1 + features @ weight["feature_value"]
    parts = []
    for cut in (slice(0, 4), slice(4, 8)):
        parts.append(softmax(k_1[:, cut] @ context[cut] / np.sqrt(d / m)) @ v_1[:, cut])
    query = weight["project.weight"] @ np.concatenate(parts)
    keys = key * (1 + features @ weight["feature_times"]) + features @ weight["feature_plus"]
    rate = np.log1p(np.exp(weight["penalty.weight"][0] @ query + weight["penalty.bias"][0]))
    expected = 10 * np.tanh(keys @ query / np.sqrt(d)) - rate * way
    assert_allclose(numbers(found)[0, 0], expected, atol=1e-4)


def test_attention_model_scores_from_mean_last_and_first(five: Instance) -> None:
    model = make_model(ModelConfig("am", **SMALL), seed=3)
    batch = batch_from([five], "c/N")
    state = visit(batch, visit(batch, begin(batch, 1), stop_at(1)), stop_at(0))
    code = model.encode(batch)
    found = model.scores(code, model.start(code, 1), state)
    weight = {name: numbers(value) for name, value in model.state_dict().items()}
    h = numbers(model.encoder(batch))[0]
    k_1, v_1, key = np.split(h @ weight["key_value_logit.weight"].T, 3, axis=1)
    context = weight["context_mean.weight"] @ h.mean(axis=0) + weight[
        "context_stops.weight"
    ] @ np.concatenate([h[0], h[1]])
    left = [2, 3, 4]  # the glimpse sees what is not yet visited
    parts = []
    for cut in (slice(0, 4), slice(4, 8)):
        parts.append(softmax(k_1[left, cut] @ context[cut] / 2) @ v_1[left, cut])
    query = weight["project.weight"] @ np.concatenate(parts)
    assert_allclose(numbers(found)[0, 0], 10 * np.tanh(key @ query / np.sqrt(8)), atol=1e-4)
