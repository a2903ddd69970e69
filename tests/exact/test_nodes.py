"""The queue of nodes: what comes next, and the bound of all that is left."""

import numpy as np
import pytest

from covertour.exact.basis import Basis
from covertour.exact.branching import Branch
from covertour.exact.nodes import NodeQueue

BASIS = Basis(*(np.empty(0, dtype=np.int64) for _ in range(6)))


def stop_at(place, value):
    return Branch(place, None, value, 0.5)


def branched(queue, bound, *children):
    """Close the active node with a bound; its children, which have the bounds given."""
    (node,) = queue.active
    node.bound = bound
    nodes = [queue.child(node, stop_at(k, 1), BASIS) for k in range(len(children))]
    for child, its_bound in zip(nodes, children, strict=True):
        child.bound = its_bound
    queue.replace(node, nodes)
    return nodes


def test_nothing_is_known_at_the_root():
    queue = NodeQueue()
    (root,) = queue.active
    assert root.is_root
    assert queue.lowest_bound() == 0.0


def test_the_lowest_bound_is_of_active_open_and_unresolved_nodes():
    queue = NodeQueue()
    branched(queue, 10.0, 11.0, 12.0)
    assert queue.lowest_bound() == 11.0
    node = queue.activate_next(cutoff=20.0)
    assert queue.lowest_bound() == 11.0
    queue.give_up(node)
    queue.replace(node, [])
    assert queue.activate_next(cutoff=11.5) is None
    assert queue.active == []
    assert queue.lowest_bound() == 11.0


def test_the_lowest_bound_is_of_all_nodes_that_somebody_works_on():
    queue = NodeQueue()
    branched(queue, 10.0, 11.0, 12.0)
    one = queue.activate_next(cutoff=20.0)
    other = queue.activate_next(cutoff=20.0)
    assert queue.active == [one, other]
    assert queue.activate_next(cutoff=20.0) is None
    queue.replace(other, [])
    assert queue.lowest_bound() == 11.0
    queue.replace(one, [])
    assert queue.lowest_bound() == np.inf


def test_the_lowest_bound_comes_next_and_of_equals_the_first_child():
    queue = NodeQueue()
    branched(queue, 10.0, 11.0, 10.5)
    assert queue.activate_next(cutoff=20.0).bound == 10.5
    children = branched(queue, 10.5, 11.0, 10.7, 10.7)
    assert queue.activate_next(cutoff=20.0) is children[1]
    assert queue.activate_next(cutoff=20.0) is children[2]
    assert queue.activate_next(cutoff=20.0).depth == 1  # of the two at 11 the older one


def test_nodes_beyond_the_cutoff_are_dropped():
    queue = NodeQueue()
    branched(queue, 10.0, 30.0, 31.0)
    assert queue.activate_next(cutoff=30.0) is None
    assert queue.lowest_bound() == np.inf


def test_a_pair_that_is_used_makes_its_ends_stops():
    queue = NodeQueue()
    used = queue.child(queue.active[0], Branch(-1, (3, 5), 1, 0.4), BASIS)
    assert (used.stops, used.pairs, used.depth) == ({3: 1, 5: 1}, {(3, 5): 1}, 1)
    unused = queue.child(used, Branch(-1, (3, 6), 0, 0.6), BASIS)
    assert (unused.stops, unused.pairs) == ({3: 1, 5: 1}, {(3, 5): 1, (3, 6): 0})
    assert not unused.is_root


@pytest.mark.parametrize("value", [0, 1])
def test_children_do_not_change_their_parent(value):
    queue = NodeQueue()
    child = queue.child(queue.active[0], stop_at(4, value), BASIS)
    assert child.stops == {4: value}
    assert queue.active[0].stops == {}
