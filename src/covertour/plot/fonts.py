"""Fonts: which of those installed draw a text, and what none of them can draw."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.legend import Legend

USUAL = "sans-serif"
"""The family that matplotlib is set to draw with."""

LIKELY = ("Noto Sans", "Noto", "Source Han", "WenQuanYi", "Droid", "Arial Unicode", "Free")
"""How the names of fonts with many scripts begin, to be looked at first."""

MOST_TOLD = 8
"""How many characters a warning names."""


def printable(text: str) -> str:
    """The text on one line, with a question mark for each character that no font here draws."""
    line = " ".join(text.split())
    hopeless = _others(_missing(line))[1]
    return "".join(c if c.isprintable() and ord(c) not in hopeless else "?" for c in line)


def family(text: str) -> list[str]:
    """The font families that draw a text together, the usual one first."""
    return [USUAL, *_others(_missing(text))[0]]


def warn_of_missing(texts: Iterable[str]) -> None:
    """Warn, once, of all characters in the texts that no font here draws."""
    hopeless = _others(_missing("".join(texts)))[1]
    if hopeless:
        told = " ".join(map(chr, sorted(hopeless)[:MOST_TOLD]))
        more = f" and {len(hopeless) - MOST_TOLD} more" if len(hopeless) > MOST_TOLD else ""
        warnings.warn(f"no font here draws {told}{more}; the picture has ? instead", stacklevel=3)


def in_plain_words(legend: Legend) -> None:
    """Draw the texts of a legend as they are: no formulas, and with the fonts they need."""
    for text in legend.get_texts():
        text.set_parse_math(False)
        text.set_fontfamily(family(text.get_text()))


def _missing(text: str) -> frozenset[int]:
    """What can be seen of a text and the usual font does not draw."""
    return frozenset(ord(c) for c in set(text) if c.isprintable()) - _characters(_usual_file())


@cache
def _others(missing: frozenset[int]) -> tuple[tuple[str, ...], frozenset[int]]:
    """Families that draw these characters, as few as come first, and the characters none draws."""
    chosen, left = [], missing
    for name, file in _installed() if missing else ():
        found = left & _characters(file)
        if found:
            chosen.append(name)
            left -= found
        if not left:
            break
    return tuple(chosen), left


@cache
def _usual_file() -> str:
    from matplotlib.font_manager import FontProperties, fontManager

    return fontManager.findfont(FontProperties(family=[USUAL]))


@cache
def _installed() -> tuple[tuple[str, str], ...]:
    """The upright fonts by family, those with many scripts first."""
    from matplotlib.font_manager import fontManager

    files = {
        entry.name: entry.fname
        for entry in sorted(fontManager.ttflist, key=lambda entry: entry.weight != 400)[::-1]
        # The font of last resort draws a box for every character there is.
        if entry.style == "normal" and "Last Resort" not in entry.name
    }
    rank = {
        name: next((at for at, begin in enumerate(LIKELY) if name.startswith(begin)), len(LIKELY))
        for name in files
    }
    return tuple(sorted(files.items(), key=lambda item: (rank[item[0]], item[0])))


@cache
def _characters(file: str) -> frozenset[int]:
    """The characters that a font draws; none where it cannot be loaded."""
    from matplotlib.font_manager import get_font

    try:
        return frozenset(get_font(file).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
