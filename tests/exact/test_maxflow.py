"""The flow kernels agree with scipy's, and their sides are minimum cuts."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from covertour.exact.maxflow import arcs, small_cuts, tree_of_cuts

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
def test_small_cuts_are_minimum_cuts_between_groups(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(3, 12))
    u, v, x = random_graph(rng, nodes)
    strength = rng.integers(1, PARTS, nodes) / PARTS
    groups = [rng.choice(nodes, int(rng.integers(1, 4)), replace=False) for _ in range(5)]
    start = np.cumsum([0, *map(len, groups)])
    source, sink = np.triu_indices(5, 1)
    for limit, each in ((0.4, 100), (100.0, 100), (0.8, 1)):
        sides, which, runs = small_cuts(
            *arcs(nodes, u, v, x),
            start,
            np.concatenate(groups),
            strength,
            source,
            sink,
            np.full(len(source), limit),
            each,
            100,
        )
        assert runs[0] <= len(source)
        found = dict(zip(which.tolist(), sides.astype(bool), strict=True))
        for p, (a, b) in enumerate(zip(source, sink, strict=True)):
            from_source = np.where(np.isin(np.arange(nodes), groups[a]), strength, 0.0)
            to_sink = np.where(np.isin(np.arange(nodes), groups[b]), strength, 0.0)
            flow = scipy_flow(nodes, u, v, x, from_source, to_sink)

            def cut(side, out=from_source, into=to_sink):
                return x[side[u] != side[v]].sum() + out[~side].sum() + into[side].sum()

            if p in found:
                assert flow < limit
                assert cut(found[p]) == pytest.approx(flow)
            elif flow < limit - 1e-6:
                # Skipped only where a cut found for the same source already separates it.
                others = [s for q, s in found.items() if source[q] == a and q < p]
                assert len(others) >= each or any(not side[groups[b]].any() for side in others)


@pytest.mark.parametrize("seed", range(10))
def test_tree_has_a_minimum_cut_between_every_two_nodes(seed):
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 10))
    u, v, x = random_graph(rng, nodes)
    sides = tree_of_cuts(*arcs(nodes, u, v, x)).astype(bool)
    values = (sides[:, u] != sides[:, v]) @ x
    for a in range(nodes):
        for b in range(a + 1, nodes):
            best = values[sides[:, a] != sides[:, b]].min()
            ends = np.eye(nodes) * 1000
            assert best == pytest.approx(scipy_flow(nodes, u, v, x, ends[a], ends[b]))
