"""A round of separation: which families are tried, in which order, and which cuts are kept."""

from __future__ import annotations

import numpy as np

from covertour.exact import combs
from covertour.exact import separation as families
from covertour.exact.cuts import Cut
from covertour.exact.separation import Point
from covertour.metric import FloatArray, IntArray

LEAST = 0.02
"""Cuts that are violated by less are not worth a row."""

FEW = 10
"""With fewer cuts than this the next, slower family is tried."""

FAMILIES = 10
"""Ways to shrink clusters of places that are tried when looking for combs."""


def separate(point: Point, rng: np.random.Generator, most: int) -> list[Cut]:
    """Violated cuts: all links, the ``most`` connectivity cuts and half as many combs."""
    links = families.links(point)
    found = families.connectivity(point, families.components(point), LEAST)
    if len(found) < 3:
        found += _by_flows(point, families.from_root(point, LEAST), 1)
    # With a certain stop the flows to it have found every violated connectivity cut.
    if point.y.max() < 1.0 - 1e-6:
        if len(found) < FEW:
            found += _by_flows(point, families.between_sets(point, LEAST, rng, 10), 1)
        if len(found) < FEW:
            found += _by_flows(point, families.place_to_sets(point, LEAST, rng, 10), 1)
    teeth: list[tuple[float, Cut]] = []
    if len(found) < max(FEW, len(point.y) // 10):
        teeth += combs.combs(point, [], LEAST)
        for _ in range(FAMILIES):
            clusters = combs.random_clusters(point, rng)
            if clusters:
                teeth += combs.combs(point, clusters, LEAST)
    return links + _most_violated(found, most) + _most_violated(teeth, most // 2)


def _most_violated(found: list[tuple[float, Cut]], most: int) -> list[Cut]:
    return [cut for _, cut in sorted(found, key=lambda item: -item[0])[:most]]


def _by_flows(
    point: Point, flows: tuple[IntArray, IntArray, FloatArray], each: int
) -> list[tuple[float, Cut]]:
    return families.connectivity(point, families.flow_sides(point, *flows, each), LEAST)
