"""The two ways covertour says no, each with a message of one line, and what such messages share."""

from __future__ import annotations

from collections.abc import Iterable


class InputError(ValueError):
    """The input makes no sense; the message names the file or field and what was expected."""


class SolveError(RuntimeError):
    """A solve could not finish although the input is fine."""


def shown(value: object, most: int = 40) -> str:
    """A value for a message: on one line and not longer than a glance."""
    try:
        text = " ".join(repr(value).split())
    except (RecursionError, ValueError):  # lists in lists in lists; thousands of digits
        return f"an endless {type(value).__name__}"
    return text if len(text) <= most else text[: most - 3] + "..."


def why(error: BaseException, most: int = 120) -> str:
    """What another library says is wrong: on one line and not longer than a glance."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= most else text[: most - 3] + "..."


def did_you_mean(text: str, known: Iterable[str], list_all: bool = True, alike: float = 0.6) -> str:
    """The end of a message about an unknown word: what sounds like it, or else all there are.

    >>> did_you_mean("exakt", ["lns", "exact"]), did_you_mean("simplex", ["lns", "exact"])
    ("; did you mean 'exact'?", '; there are lns, exact')
    """
    from difflib import get_close_matches

    words = list(known)
    close = get_close_matches(text, words, n=1, cutoff=alike)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(words)}" if list_all and words else ""
