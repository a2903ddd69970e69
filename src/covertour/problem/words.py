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
    """The unit of distances: ``km`` on the globe, none in the plane."""
    return "km" if instance.metric in SPHERE_KM else ""


def measure(instance: Instance, distance: float, whole: float | None = None) -> str:
    """A distance as text with its unit, to about six digits of ``whole``, the tour's length.

    >>> measure(Instance.from_coordinates([[0, 0]], radius=0), 3.14159265)
    '3.14159'
    """
    if instance.integral:
        decimals = 0
    elif instance.metric in SPHERE_KM:
        decimals = 1
    else:
        size = abs(distance if whole is None else whole)
        if size == 0 or not math.isfinite(size):
            return f"{distance:g}"
        decimals = DIGITS - 1 - math.floor(math.log10(size))
        if decimals > 2 * DIGITS:  # zeros would fill the line
            return f"{distance:.{DIGITS}g}"
    return f"{distance:,.{max(decimals, 0)}f} {unit(instance)}".rstrip()


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 stop``, ``2 stops``, ``10,000 stops``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def rule_in_words(instance: Instance) -> str:
    """What a place covers, for a title."""
    match instance.rule:
        case Nearest(k):
            return f"a place covers its {_range(k)} nearest"
        case Radius(r):
            return f"a place covers a radius of {_range(r)} {unit(instance)}".rstrip()
    return "a place covers a given set"


def _range(values: float | FloatArray | IntArray) -> str:
    low, high = f"{np.min(values):.4g}", f"{np.max(values):.4g}"
    return low if low == high else f"{low} to {high}"
