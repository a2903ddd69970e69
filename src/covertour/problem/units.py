"""Units of length: distances such as 12mi and 500m in kilometres."""

from __future__ import annotations

import re

from covertour.problem.errors import InputError, shown

KILOMETRES = {
    **dict.fromkeys(("km", "kms", "kilometre", "kilometres", "kilometer", "kilometers"), 1.0),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), 0.001),
    **dict.fromkeys(("mi", "mile", "miles"), 1.609344),
    **dict.fromkeys(("nmi", "nm"), 1.852),
    **dict.fromkeys(("ft", "feet", "foot"), 0.0003048),
    **dict.fromkeys(("yd", "yards"), 0.0009144),
}
"""How many kilometres the units have that a distance may be given in."""

WITH_UNIT = re.compile(r"\s*([+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]+)\s*")


def in_kilometres(text: str) -> float | None:
    """A distance with its unit in kilometres; None for a text that has no unit.

    >>> in_kilometres("12mi"), in_kilometres("500 m"), in_kilometres("20")
    (19.312128, 0.5, None)
    """
    found = WITH_UNIT.fullmatch(text)
    if found is None:
        return None
    scale = KILOMETRES.get(found[2].lower())
    if scale is None:
        raise InputError(f"{shown(text)}: no unit {shown(found[2])}; there are km, m, mi, nmi, ft")
    return float(found[1].replace(",", ".")) * scale
