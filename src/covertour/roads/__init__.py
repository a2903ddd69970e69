"""Real roads: distances, cover and lines from an OpenStreetMap extract or a routing server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from covertour.problem.coverage import Nearest, Radius, Rule, Sets
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.instance import Instance
from covertour.problem.metric import FloatArray, IntArray
from covertour.problem.roads import UNITS, Roads
from covertour.problem.words import span
from covertour.roads.cover import covered_pairs
from covertour.roads.openstreetmap import ENDINGS, Extract
from covertour.roads.osrm import Osrm
from covertour.roads.server import Server
from covertour.roads.source import Source
from covertour.roads.valhalla import Valhalla

MOST_PLACES = 6_000
"""A table of all ways between more places than this does not fit in the memory of a laptop."""

COVERS = ("car", "foot", "air")
"""How a place reaches the stop that covers it; ``air`` is the straight line."""

COVER_WORDS = {"car": "by car", "foot": "on foot by road", "air": "in a straight line"}

SERVERS = ("http://", "https://")
"""How the address of a server for the cover begins."""


def with_roads(
    instance: Instance,
    roads: str | os.PathLike[str],
    *,
    by: str = "distance",
    cover: str = "car",
    on_note: Callable[[str], None] | None = None,
) -> Instance:
    """The same places with the ways of real roads in place of straight lines.

    ``roads``: an OpenStreetMap extract (.osm.pbf, needs the extra ``roads``), or the address of a
    routing server: ``http://host:5000`` for OSRM, ``valhalla+http://host:8002`` for Valhalla. The
    tour is by car, measured ``by`` "distance" in kilometres or by "time" in minutes. The coverage
    rule of the instance, a radius in kilometres or the nearest places, is asked of the same roads
    by "car" or on "foot", or in a straight line through the "air"; ``cover`` may also be the
    address of another OSRM server. ``on_note`` is told how far places are from the roads.

    >>> from covertour import read
    >>> places = read("places.csv", radius=5)  # doctest: +SKIP
    >>> by_road = with_roads(places, "andorra.osm.pbf", cover="foot")  # doctest: +SKIP
    """
    _check(instance, by, cover)
    source = _source(instance, os.fspath(roads))
    table = source.tour(by)
    if on_note is not None and table.off is not None:
        on_note(_how_far(instance, table.off))
    if cover == "air":
        pair, distance = covered_pairs(instance.rule, instance.n, _straight(instance))
    else:
        pair, distance = source.cover(cover, instance.rule)
    return replace(
        instance,
        metric="matrix",
        matrix=table.matrix,
        rule=Sets(_sets(pair, instance.n)),
        roads=Roads(
            unit=UNITS[by],
            tour=source.words(by),
            cover=_cover_in_words(instance.rule, cover),
            pair=pair,
            distance=distance,
            credit=source.credit,
            lines=table.lines,
        ),
    )


def _check(instance: Instance, by: str, cover: str) -> None:
    """Refuse what has no roads, before anything is read."""
    if instance.metric != "haversine":
        raise InputError(
            f"{instance.name}: roads need places with latitude and longitude, "
            + (
                "not a distance matrix; its distances are given already"
                if instance.metric == "matrix"
                else f"not the metric {instance.metric!r}"
            )
        )
    if by not in UNITS:
        raise InputError(f"roads: by: no {shown(by)}{did_you_mean(str(by), UNITS)}")
    if cover not in COVERS and not cover.startswith(SERVERS):
        raise InputError(f"cover: no {shown(cover)}{did_you_mean(str(cover), COVERS)}")
    if instance.n > MOST_PLACES:
        raise InputError(
            f"{instance.name}: at most {MOST_PLACES:,} places go by road, not {instance.n:,}: "
            "the table of all ways between them would not fit in memory"
        )


def _source(instance: Instance, roads: str) -> Source:
    """What knows the roads: an extract or a server."""
    assert instance.coordinates is not None
    places, describe = instance.coordinates, instance.describe
    if "://" in roads:
        kind, plus, address = roads.rpartition("+")
        if kind not in ("", "osrm", "valhalla") or kind + plus == "+":
            raise InputError(
                f"{roads}: expected http://… or osrm+http://… for an OSRM server, "
                "valhalla+http://… for a Valhalla server"
            )
        server = Server(address)
        _ = server.parts  # an address that is none is told of now
        if kind == "valhalla":
            return Valhalla(server, places, describe)
        return Osrm(server, places, describe)
    if not roads.lower().endswith(ENDINGS):
        raise InputError(
            f"{roads}: expected an OpenStreetMap extract (.osm.pbf) or the address of a routing "
            "server (http://host:5000)"
        )
    return Extract(Path(roads), places, describe)


def _straight(instance: Instance) -> Iterator[tuple[IntArray, FloatArray]]:
    """Straight distances from each place to all others."""
    everyone = np.arange(instance.n)
    for place in everyone:
        some = everyone[place : place + 1]
        yield some, instance.distances(some[:, None], everyone)


def _sets(pair: IntArray, n: int) -> tuple[IntArray, ...]:
    """Whom each place covers, of pairs i n + j."""
    ends = np.searchsorted(pair, np.arange(1, n) * n)
    return tuple(np.split(pair % n, ends))


def _how_far(instance: Instance, off: FloatArray) -> str:
    """How far the places are from the roads."""
    worst = int(np.argmax(off))
    return (
        f"{instance.name}: the nearest road is {_metres(float(np.mean(off)))} away on average, "
        f"{_metres(float(off[worst]))} at most ({instance.label(worst)})"
    )


def _metres(kilometres: float) -> str:
    return f"{kilometres * 1000.0:.0f} m" if kilometres < 1.0 else f"{kilometres:.1f} km"


def _cover_in_words(rule: Rule, cover: str) -> str:
    how = COVER_WORDS.get(cover, "by road")
    match rule:
        case Radius(r):
            return f"all within {span(r)} km {how}"
        case Nearest(k):
            return f"its {span(k)} nearest {how}"
    return "a given set"
