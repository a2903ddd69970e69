"""Tours from files, matched with the places of the instance they are said to be of."""

from __future__ import annotations

import numpy as np

from covertour.formats.source import FoundTour, Source
from covertour.problem.errors import InputError, did_you_mean, shown
from covertour.problem.instance import Instance
from covertour.problem.tour import Tour, check_places

MOST_NAMES = 20_000
"""Among more names than this none is looked for that sounds alike."""


def matched(source: Source, found: FoundTour, instance: Instance) -> Tour:
    """The tour of an instance that a file has; an error where a stop is not in the instance."""
    numbers = list(found.places)
    if found.names is not None and instance.labels is not None:
        numbers = _by_name(source, found, instance)
    try:
        places = np.array(numbers, dtype=np.int64)
        length = None if found.length is None else float(found.length)
    except OverflowError:
        raise InputError(
            f"{source}: a place number or the length of the tour is too large"
        ) from None
    try:
        check_places(instance, places)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    places.flags.writeable = False
    return Tour(places, instance.length(places) if length is None else length)


def known_stops(found: FoundTour, instance: Instance) -> tuple[list[int], list[str]]:
    """The places of an instance that a plan stops at, in order and each once, and what is missing.

    A plan may be of other places than the instance has: stops are found by name where both have
    names, and those that are not found, or not for certain, are told by name.
    """
    called: dict[str, list[int]] = {}
    for place, label in enumerate(instance.labels or ()):
        called.setdefault(found.as_written(label).strip(), []).append(place)
    stops: dict[int, None] = {}
    missing = []
    names = found.names or [None] * len(found.places)
    for place, name in zip(found.places, names, strict=True):
        there = called.get(name.strip(), []) if called and name is not None else [place]
        if place in there and 0 <= place < instance.n:
            stops[place] = None
        elif len(there) == 1 and 0 <= there[0] < instance.n:
            stops[there[0]] = None
        else:
            missing.append(str(place) if name is None else name)
    return list(stops), missing


def _by_name(source: Source, found: FoundTour, instance: Instance) -> list[int]:
    """The places by the names of the stops: rows may have moved since the tour was made."""
    assert instance.labels is not None
    assert found.names is not None
    called: dict[str, list[int]] = {}
    for place, label in enumerate(instance.labels):
        called.setdefault(found.as_written(label), []).append(place)
    numbers = []
    for stop, (place, name) in enumerate(zip(found.places, found.names, strict=True), start=1):
        # A place without a name is written with its number in the name's stead.
        nameless = name is None or (name == str(place) and name not in called)
        there = [place] if nameless else called.get(str(name), [])
        if place in there or len(there) == 1:
            numbers.append(place if place in there else there[0])
            continue
        if there:
            raise InputError(
                f"{source}: stop {stop} is {shown(name)}, place {place}, but there are "
                f"{len(there)} other places of this name"
            )
        hint = ""
        if len(called) <= MOST_NAMES:
            hint = did_you_mean(str(name), called, list_all=False)
        raise InputError(
            f"{source}: stop {stop} is {shown(name)}, but no place of {instance.name} is "
            f"called so{hint}"
        )
    return numbers
