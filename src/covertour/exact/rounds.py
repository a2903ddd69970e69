"""A round of separation: which families are tried, in which order, and which cuts are kept."""

from __future__ import annotations

import numpy as np

from covertour.exact import combs
from covertour.exact import separation as families
from covertour.exact.cuts import Cut
from covertour.exact.separation import Point
from covertour.problem.metric import FloatArray, IntArray

LEAST = 0.02
"""Cuts that are violated by less are not worth a row."""

DEEP_LEAST = 0.005
"""The same when looking deep."""

FEW = 10
"""With fewer cuts than this the next, slower family is tried."""

FAMILIES = 10
"""Ways to shrink clusters of places that are tried when looking for combs."""

DEEP_FAMILIES = 40
"""The same when looking deep."""


HANDLES = 2
"""A place is in the handles of so many combs of a round: more of them there say much the same."""


def separate(point: Point, rng: np.random.Generator, most: int, deep: bool = False) -> list[Cut]:
    """Violated cuts: all links, the ``most`` connectivity cuts and at most half as many combs.

    ``deep`` looks harder, for points that the usual cuts hardly move any more.
    """
    least = DEEP_LEAST if deep else LEAST
    links = families.links(point)
    found = families.connectivity(point, families.components(point), least)
    if len(found) < 3:
        found += _by_flows(point, families.from_root(point, least), least)
    # With a certain stop the flows to it have found every violated connectivity cut.
    if point.y.max() < 1.0 - 1e-6:
        if len(found) < FEW:
            found += _by_flows(point, families.between_sets(point, least, rng, 10), least)
        if len(found) < FEW:
            found += _by_flows(point, families.place_to_sets(point, least, rng, 10), least)
    teeth: list[tuple[float, Cut]] = []
    if len(found) < max(FEW, len(point.y) // 10):
        teeth += combs.combs(point, [], least)
        for _ in range(DEEP_FAMILIES if deep else FAMILIES):
            clusters = combs.random_clusters(point, rng)
            if clusters:
                teeth += combs.combs(point, clusters, least)
    return links + _most_violated(found, most) + _spread(teeth, most // 2, len(point.y))


def _most_violated(found: list[tuple[float, Cut]], most: int) -> list[Cut]:
    return [cut for _, cut in sorted(found, key=lambda item: -item[0])[:most]]


def _spread(found: list[tuple[float, Cut]], most: int, n: int) -> list[Cut]:
    """The most violated combs, passing over those whose handle is taken up by better ones."""
    handles = np.zeros(n, dtype=np.int64)
    kept: list[Cut] = []
    for _, cut in sorted(found, key=lambda item: -item[0]):
        handle = cut.sets[0]
        if handles[handle].max() < HANDLES and len(kept) < most:
            handles[handle] += 1
            kept.append(cut)
    return kept


def _by_flows(
    point: Point, flows: tuple[IntArray, IntArray, FloatArray], least: float
) -> list[tuple[float, Cut]]:
    return families.connectivity(point, families.flow_sides(point, *flows, 1), least)
