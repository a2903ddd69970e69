"""The flow kernels agree with scipy's, and their sides are minimum cuts."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from covertour.exact.maxflow import (
    Flows,
    Groups,
    cuts_to_one,
    make_graph,
    small_cuts,
    tree_of_cuts,
)

PARTS = 1000
"""Capacities are multiples of 1/1000, because scipy's flows are whole numbers."""


def random_graph(rng, nodes):
    u, v = np.triu_indices(nodes, 1)
    keep = rng.random(len(u)) < 0.4
    return u[keep], v[keep], rng.integers(1, PARTS, keep.sum()) / PARTS


def scipy_flow(nodes, u, v, x, from_source, to_sink):
    table = np.zeros((nodes + 2, nodes + 2), dtype=np.int32)
    table[u, v] = table[v, u] = np.round(x * PARTS)
    table[nodes, :nodes] = np.round(from_source * PARTS)
    table[:nodes, nodes + 1] = np.round(to_sink * PARTS)
    return maximum_flow(csr_matrix(table), nodes, nodes + 1).flow_value / PARTS


@pytest.mark.parametrize("seed", range(20))
def test_small_cuts_are_the_minimum_cuts_between_groups_that_no_earlier_one_separates(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(3, 12))
    u, v, x = random_graph(rng, nodes)
    strength = rng.integers(1, PARTS, nodes) / PARTS
    members = [rng.choice(nodes, int(rng.integers(1, 4)), replace=False) for _ in range(5)]
    groups = Groups(np.cumsum([0, *map(len, members)]), np.concatenate(members), strength)
    source, sink = np.triu_indices(5, 1)
    for limit, per_source in ((0.4, 100), (100.0, 100), (0.8, 1)):
        flows = Flows(source, sink, np.full(len(source), limit))
        found = small_cuts(make_graph(nodes, u, v, x), groups, flows, per_source, 100).astype(bool)
        sides = iter(found)
        of_source = {int(a): [] for a in source}
        for a, b in zip(source.tolist(), sink.tolist(), strict=True):
            earlier = of_source[a]
            if len(earlier) >= per_source or any(not s[members[b]].any() for s in earlier):
                continue
            from_source = np.where(np.isin(np.arange(nodes), members[a]), strength, 0.0)
            to_sink = np.where(np.isin(np.arange(nodes), members[b]), strength, 0.0)
            flow = scipy_flow(nodes, u, v, x, from_source, to_sink)
            if flow < limit - 1e-6:
                side = next(sides)
                cut = x[side[u] != side[v]].sum() + from_source[~side].sum() + to_sink[side].sum()
                assert cut == pytest.approx(flow)
                earlier.append(side)
        assert list(sides) == []


@pytest.mark.parametrize("seed", range(30))
def test_cuts_to_one_sink_are_those_of_the_flows_one_by_one(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(5, 14))
    u, v, x = random_graph(rng, nodes)
    graph = make_graph(nodes, u, v, x)
    strength = np.bincount(np.concatenate([u, v]), np.concatenate([x, x]), nodes)
    sets = [rng.choice(nodes - 1, int(rng.integers(2, 4)), replace=False) for _ in range(8)]
    members = [*sets, *([i] for i in range(nodes))]
    groups = Groups(np.cumsum([0, *map(len, members)]), np.concatenate(members), strength)
    source = np.arange(len(members) - 1)
    sink = np.full(len(source), len(members) - 1)
    limit = rng.choice([0.5, 1.0, 1.5, 2.0], len(source))
    found = cuts_to_one(graph, groups, Flows(source, sink, limit), 100).astype(bool)
    below = []
    for a in source:
        from_source = np.where(np.isin(np.arange(nodes), members[a]), strength, 0.0)
        to_sink = np.where(np.arange(nodes) == nodes - 1, strength, 0.0)
        flow = scipy_flow(nodes, u, v, x, from_source, to_sink)
        if flow < limit[a] - 1e-6:
            below.append((a, flow, from_source, to_sink))
    assert len(found) == len(below)
    values = (found[:, u] != found[:, v]) @ x
    for _, flow, from_source, to_sink in below:
        cuts = values + ~found @ from_source + found @ to_sink
        assert cuts.min() == pytest.approx(flow)


@pytest.mark.parametrize("seed", range(10))
def test_tree_has_a_minimum_cut_between_every_two_nodes(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 10))
    u, v, x = random_graph(rng, nodes)
    sides = tree_of_cuts(make_graph(nodes, u, v, x)).astype(bool)
    values = (sides[:, u] != sides[:, v]) @ x
    for a in range(nodes):
        for b in range(a + 1, nodes):
            best = values[sides[:, a] != sides[:, b]].min()
            ends = np.eye(nodes) * 1000
            assert best == pytest.approx(scipy_flow(nodes, u, v, x, ends[a], ends[b]))
