"""Numbers and positions as people write them: decimal commas, degrees and minutes, `lat, lon`."""

from __future__ import annotations

import re
from typing import NamedTuple

from covertour.problem.errors import shown

GAPS = re.compile("[ '\u00a0\u2007\u2009\u2019\u202f]")
"""What stands between groups of three digits: spaces of any width, or apostrophes."""

GROUPED = re.compile(rf"[+-]?\d{{1,3}}(?:{GAPS.pattern}\d{{3}})+(?:[.,]\d+)?")
COMMA = re.compile(r"[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?")
POINT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
COMMA_GROUPS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?")
POINT_GROUPS = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?")

MINUSES = str.maketrans({"−": "-", "–": "-"})
"""Dashes that spreadsheets and web pages put for a minus."""


def number(text: str, decimal_comma: bool = False) -> float | None:
    """The number that a cell holds, None if it holds none.

    ``decimal_comma``: whether its table writes decimal commas, which decides what 1,234 means.

    >>> number("1 234,5", True), number("1,234"), number("1.234", True), number("twelve")
    (1234.5, 1234.0, 1234.0, None)
    """
    text = text.strip().translate(MINUSES)
    if GROUPED.fullmatch(text):
        text = GAPS.sub("", text)
    first, second = (POINT, COMMA_GROUPS), (COMMA, POINT_GROUPS)
    for plain, groups in (second, first) if decimal_comma else (first, second):
        mark, gap = (",", ".") if plain is COMMA else (".", ",")
        if groups.fullmatch(text):
            return float(text.replace(gap, "").replace(mark, "."))
        if plain.fullmatch(text):
            return float(text.replace(mark, "."))
    return None


def has_decimal_comma(text: str) -> bool:
    """Whether a cell that holds a coordinate has a comma where others have a point."""
    return COMMA.fullmatch(text.strip().translate(MINUSES)) is not None


DIRECTIONS = {
    **dict.fromkeys(("N", "NORTH", "NORD", "NORTE"), ("latitude", 1.0)),
    **dict.fromkeys(("S", "SOUTH", "SUD", "SUR", "SUL", "SÜD"), ("latitude", -1.0)),
    **dict.fromkeys(("E", "EAST", "EST", "ESTE", "LESTE", "OST"), ("longitude", 1.0)),
    **dict.fromkeys(("W", "WEST", "OUEST", "OESTE"), ("longitude", -1.0)),
}
"""Which axis a point of the compass is of, and its sign."""

UNCLEAR = "O"
"""West in French, Spanish and Portuguese, east in German."""

_COMPASS = "|".join(sorted((*DIRECTIONS, UNCLEAR), key=len, reverse=True))
_NUMBER = r"\d+(?:[.,]\d*)?"

ANGLE = re.compile(
    rf"(?P<before>{_COMPASS})?\s*(?P<sign>[+-])?\s*(?P<degrees>{_NUMBER})"
    rf"(?:\s*(?:°|DEG\.?|GRAD|D|:|\s)\s*"
    rf"(?:(?P<minutes>{_NUMBER})\s*(?:'|MIN\.?|M|:|\s)?\s*"
    rf"(?:(?P<seconds>{_NUMBER})\s*(?:\"|''|SEC\.?|SEK\.?)?)?)?)?"
    rf"\s*(?P<after>{_COMPASS})?",
)
D_M_S = re.compile(r"(\d)s(?=\s*[NSEWO]?$)")
"""The mark of seconds that might be taken for the south."""

LIKE_MARKS = str.maketrans(
    {"′": "'", "’": "'", "‘": "'", "´": "'", "`": "'", "″": '"', "”": '"', "“": '"', "º": "°"}
    | {"˚": "°", "\u00a0": " ", "\u202f": " ", "−": "-", "–": "-", "\t": " "}
)


class Angle(NamedTuple):
    """Degrees, and whether they are a latitude or a longitude where the text says so."""

    degrees: float
    axis: str | None


def angle(text: str, o_is: float | None = None) -> Angle | str:
    """The angle that a text holds, or why it is none.

    ``o_is``: the sign of a longitude with the letter O, where that is known.

    >>> angle("14°41'24\\" N"), angle("17 26.4 W"), angle("-17,44")
    (Angle(degrees=14.69, axis='latitude'), Angle(degrees=-17.44, axis='longitude'), \
Angle(degrees=-17.44, axis=None))
    """
    clean = text.strip().translate(LIKE_MARKS)
    if re.search(r"\d\s*d.*\d\s*m", clean):
        clean = D_M_S.sub(r'\1"', clean)
    found = ANGLE.fullmatch(clean.upper())
    if found is None:
        return f"{shown(text)} is not a number"
    parts = [found["degrees"], found["minutes"], found["seconds"]]
    values = [float(part.replace(",", ".")) if part else 0.0 for part in parts]
    if any(part and re.search("[.,]", part) and any(parts[at + 1 :]) for at, part in
           enumerate(parts)):  # fmt: skip
        return f"{shown(text)} has a fraction before its minutes or seconds"
    if values[1] >= 60 or values[2] >= 60:
        return f"{shown(text)} has 60 minutes or seconds or more"
    size = round(values[0] + values[1] / 60 + values[2] / 3600, 12)
    if found["before"] and found["after"]:
        return f"{shown(text)} has two points of the compass"
    letter = found["before"] or found["after"]
    if letter is None:
        return Angle(-size if found["sign"] == "-" else size, None)
    if found["sign"]:
        return f"{shown(text)} has both a sign and a point of the compass"
    if letter == UNCLEAR:
        if o_is is None:
            return f"{shown(text)}: O may be west (ouest, oeste) or east (Ost); write W or E"
        return Angle(o_is * size, "longitude")
    axis, sign = DIRECTIONS[letter]
    return Angle(sign * size, axis)


WKT = re.compile(r"\s*(?:SRID=\d+;)?\s*POINT\s*Z?M?\s*\(\s*([^()]*)\)\s*", re.IGNORECASE)
AFTER_COMPASS = re.compile(r"(?<=[NSEWO])[\s,;/]+(?=[\d+-])", re.IGNORECASE)
BEFORE_COMPASS = re.compile(r"(?<=[\d'\"°])[\s,;/]+(?=[NSEWO])", re.IGNORECASE)
SEPARATORS = (r"\s*[;/|]\s*", r",\s+", r"\s*,\s*", r"\s+")


def pair(text: str, longitude_first: bool = False) -> tuple[float, float] | str:
    """Latitude and longitude from one cell, or why there are none.

    >>> pair("14.69, -17.44"), pair("14,69; -17,44"), pair("POINT(-17.44 14.69)")
    ((14.69, -17.44), (14.69, -17.44), (14.69, -17.44))
    """
    point = WKT.fullmatch(text)
    if point is not None:
        longitude_first = True
    inner = point[1] if point else text.strip().strip("()[]{}").strip()
    letters = BEFORE_COMPASS if inner[:1].isalpha() else AFTER_COMPASS
    for separator in (letters, *map(re.compile, SEPARATORS)):
        parts = [part for part in separator.split(inner) if part]
        if not 2 <= len(parts) <= 4:
            continue
        more = parts[2:]  # the height and its accuracy, which some devices write too
        if more and ("," in separator.pattern and not all("." in part for part in parts[:2])):
            continue
        if any(number(part) is None for part in more):
            continue
        first, second = angle(parts[0]), angle(parts[1])
        if isinstance(first, str) or isinstance(second, str):
            continue
        if first.axis == "longitude" or second.axis == "latitude":
            if first.axis == second.axis:
                return f"{shown(text)} has the same axis twice"
            return second.degrees, first.degrees
        if longitude_first and first.axis is None:
            return second.degrees, first.degrees
        return first.degrees, second.degrees
    if not text.strip():
        return "is missing"
    return f"{shown(text)} is not a latitude and a longitude"
