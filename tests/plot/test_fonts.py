"""Names in any script: drawn with a font that has the glyphs, or said to be missing."""

from __future__ import annotations

import io

import pytest

from covertour import Instance, make_tour
from covertour.plot import fonts, plot_instance, plot_tour

MATHS = "\N{COMBINING ENCLOSING CIRCLE}"
"""Not in the usual font, but in one that comes with matplotlib."""

NOWHERE = "\U000e0101"
"""A variation selector, which no font has a glyph for."""


def named(*names: str) -> Instance:
    return Instance.from_coordinates(
        [[place, place % 2] for place in range(len(names))], nearest=1, labels=names, name=names[0]
    )


def test_a_character_that_the_usual_font_lacks_is_drawn_with_another() -> None:
    assert len(fonts.family("plain, Thiès, Łódź, Αθήνα, Москва")) == 1
    usual, other = fonts.family(f"a{MATHS}")
    assert usual == fonts.USUAL
    assert fonts.printable(f"a{MATHS}") == f"a{MATHS}"
    ax = plot_instance(named(f"a{MATHS}", "b"))
    assert [text.get_fontfamily() for text in ax.texts] == [[usual, other], [usual]]
    ax.figure.savefig(io.BytesIO())  # without a warning of a missing glyph


def test_characters_that_no_font_draws_are_named_once() -> None:
    places = named(f"x{NOWHERE}", f"y{NOWHERE}", "z")
    with pytest.warns(UserWarning, match="no font here draws") as told:
        ax = plot_tour(places, make_tour(places, [0, 1, 2]))
    assert len(told) == 1
    assert NOWHERE in str(told[0].message)
    assert {text.get_text() for text in ax.texts} >= {"x?", "y?"}
    assert ax.get_title().startswith("x?\n")


def test_what_cannot_be_seen_needs_no_font_and_no_warning() -> None:
    plot_instance(named("bell \x07", "tab\tand\nline"))
    assert fonts.printable("tab\tand\nline \x07") == "tab and line ?"
