"""How covertour words things, wherever it says them: distances, counts, coverage rules."""

from __future__ import annotations

import math

import numpy as np

from covertour.problem.coverage import Nearest, Radius
from covertour.problem.instance import Instance
from covertour.problem.metric import SPHERE_KM, FloatArray, IntArray

DIGITS = 6
"""How many digits of a length are said."""


def unit(instance: Instance) -> str:
    """The unit of distances: ``km`` on the globe, by road also ``min``, none in the plane."""
    if instance.roads is not None:
        return instance.roads.unit
    return "km" if instance.metric in SPHERE_KM else ""


def measure(instance: Instance, distance: float, whole: float | None = None) -> str:
    """A distance as text with its unit, to about six digits of ``whole``, the tour's length.

    >>> measure(Instance.from_coordinates([[0, 0]], radius=0), 3.14159265)
    '3.14159'
    """
    if instance.integral:
        decimals = 0
    elif instance.drawn_metric in SPHERE_KM:
        decimals = 1
    else:
        size = abs(distance if whole is None else whole)
        if size == 0 or not math.isfinite(size):
            return f"{distance:g}"
        decimals = DIGITS - 1 - math.floor(math.log10(size))
        if decimals > 2 * DIGITS:  # zeros would fill the line
            return f"{distance:.{DIGITS}g}"
    return f"{distance:,.{max(decimals, 0)}f} {unit(instance)}".rstrip()


def measure_cover(instance: Instance, distance: float, whole: float | None = None) -> str:
    """How far a place is from its stop; by road in kilometres, even if the tour is in minutes."""
    if instance.roads is not None and instance.roads.pair is not None:
        return f"{distance:,.1f} km"
    return measure(instance, distance, whole)


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 stop``, ``2 stops``, ``10,000 stops``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def rule_in_words(instance: Instance) -> str:
    """What a place covers, for a title."""
    if instance.roads is not None and instance.roads.cover:
        return f"a place covers {instance.roads.cover}"
    match instance.rule:
        case Nearest(k):
            return f"a place covers its {span(k)} nearest"
        case Radius(r):
            return f"a place covers a radius of {span(r)} {unit(instance)}".rstrip()
    return "a place covers a given set"


def weight_word(instance: Instance) -> str:
    """What is counted: ``people``, ``weight`` where that comes in fractions, else ``places``."""
    if instance.weight is None:
        return "places"
    return "people" if bool(np.all(instance.weight == np.floor(instance.weight))) else "weight"


def weighed(weight: float) -> str:
    """A weight as text.

    >>> weighed(1234567), weighed(1234.5678)
    ('1,234,567', '1,234.57')
    """
    return f"{weight:,.0f}" if weight == math.floor(weight) else f"{weight:,.6g}"


def share_in_words(instance: Instance, weight: float) -> str:
    """How much of the weight this is: ``9 of 10 places (90.0 %)``.

    A share that is not the whole never reads as 100 %.
    """
    total = instance.total_weight
    share = 100.0 if total == 0 else 100.0 * weight / total
    if weight < total:
        share = min(share, 99.9)
    return f"{weighed(weight)} of {weighed(total)} {weight_word(instance)} ({share:.1f} %)"


def duration(hours: float) -> str:
    """A time as hours and minutes.

    >>> duration(2.51)
    '2:31 h'
    """
    minutes = round(hours * 60)
    return f"{minutes // 60}:{minutes % 60:02d} h"


def meaning_of_lengths(instance: Instance) -> str:
    """What a kilometre of this instance is, as a sentence for people who read its map."""
    if instance.roads is not None:
        what = "Minutes" if instance.roads.unit == "min" else "Kilometres"
        return f"{what} are {instance.roads.tour}, along real roads."
    if instance.metric in SPHERE_KM:
        return "Kilometres are straight lines over the globe, not roads."
    if instance.metric == "matrix":
        return "Distances are those of the table that was given."
    return "Distances are straight lines."


def sentence(text: str) -> str:
    """A text with a capital letter in front."""
    return text[:1].upper() + text[1:]


def span(values: float | FloatArray | IntArray) -> str:
    """One number where all are equal, else from the least to the largest."""
    low, high = f"{np.min(values):.4g}", f"{np.max(values):.4g}"
    return low if low == high else f"{low} to {high}"
