"""Proofs agree with brute force on small instances with every constraint mixed."""

import numpy as np
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

from covertour import InputError, Instance, make_tour, verify
from covertour.exact.branch_and_cut import prove
from covertour.exact.enumeration import can_enumerate, shortest_tour
from covertour.solving.clock import Clock
from covertour.solving.stop import MaxIterations


def shortest(instance: Instance) -> float:
    """Length of the shortest covering tour: Held and Karp's recursion over all sets of stops."""
    n = instance.n
    allowed = [i for i in range(n) if i not in instance.forbidden]
    covers = [sum(1 << int(j) for j in instance.coverage.covers_of(i)) for i in range(n)]
    must = sum(1 << int(i) for i in instance.must_visit)
    distance = [[float(instance.distances(i, j)) for j in range(n)] for i in range(n)]
    everything = (1 << n) - 1
    best = np.inf
    for first in allowed:
        reach = {(1 << first, first): 0.0}
        later = [i for i in allowed if i > first]
        while reach:
            further: dict[tuple[int, int], float] = {}
            for (stops, last), length in reach.items():
                covered = 0
                for i in allowed:
                    if stops >> i & 1:
                        covered |= covers[i]
                if covered == everything and stops & must == must:
                    best = min(best, length + distance[last][first])
                for i in later:
                    if not stops >> i & 1:
                        key = (stops | 1 << i, i)
                        value = length + distance[last][i]
                        if value < further.get(key, np.inf):
                            further[key] = value
            reach = further
    return best


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    n = draw(st.integers(1, 9))
    places = st.integers(0, n - 1)
    rule = draw(
        st.one_of(
            st.fixed_dictionaries({"nearest": st.integers(0, 4)}),
            st.fixed_dictionaries({"nearest": st.lists(st.integers(0, 4), min_size=n, max_size=n)}),
            st.fixed_dictionaries({"radius": st.lists(st.floats(0, 6), min_size=n, max_size=n)}),
            st.fixed_dictionaries(
                {"sets": st.lists(st.lists(places, max_size=3), min_size=n, max_size=n)}
            ),
        )
    )
    forbidden = draw(st.sets(places, max_size=n // 3))
    free = sorted(set(range(n)) - forbidden)
    required = draw(st.sets(st.sampled_from(free), max_size=2))
    depot = draw(st.one_of(st.none(), st.sampled_from(free)))
    limits = {"forbidden": forbidden, "required": required, "depot": depot}
    if draw(st.booleans()):
        above = draw(
            st.lists(
                st.one_of(st.integers(0, 20), st.floats(1e-9, 20)),
                min_size=n * (n - 1) // 2,
                max_size=n * (n - 1) // 2,
            )
        )
        matrix = np.zeros((n, n))
        matrix[np.triu_indices(n, 1)] = above
        return Instance.from_matrix(matrix + matrix.T, **rule, **limits)
    metric = draw(st.sampled_from(["euclidean", "euc_2d", "ceil_2d", "att"]))
    whole = st.tuples(st.integers(0, 8), st.integers(0, 8))
    points = draw(st.lists(whole, min_size=n, max_size=n))
    return Instance.from_coordinates(points, metric=metric, **rule, **limits)


def is_coverable(instance: Instance) -> bool:
    try:
        return len(instance.coverage.covers) > 0
    except InputError:
        return False


@settings(max_examples=max(120, settings().max_examples))
@given(instance=st.one_of(instances(), strategies.instances(most=8)))
def test_enumeration_agrees_with_brute_force(instance: Instance) -> None:
    if not is_coverable(instance):
        return
    assert can_enumerate(instance)
    tour = make_tour(instance, shortest_tour(instance))
    true = shortest(instance)
    assert verify(instance, tour).problems(instance) == []
    assert abs(tour.length - true) <= 1e-9 * (1 + true)


@settings(max_examples=max(120, settings().max_examples))
@given(instance=instances(), nodes=st.integers(1, 3), seed=st.integers(0, 3))
def test_proofs_agree_with_brute_force(instance: Instance, nodes: int, seed: int) -> None:
    if not is_coverable(instance):
        return
    start = np.array([i for i in range(instance.n) if i not in instance.forbidden])
    true = shortest(instance)
    rounding = 1e-9 + 1e-6 * true

    proof = prove(instance, start, Clock(), seed=seed)
    assert proof.optimal
    assert abs(proof.cost - true) <= rounding
    assert proof.bound <= true + 1e-9 * (1 + true)
    assert proof.bound >= true - rounding
    assert instance.length(proof.places) == proof.cost

    early = prove(instance, start, Clock(MaxIterations(nodes)), seed=seed)
    assert early.bound <= true + 1e-9 * (1 + true)
    assert early.cost >= true - 1e-9 * (1 + true)
