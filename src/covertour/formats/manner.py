"""Manner: how outcomes are written, as far as neither the instance nor the tour can tell."""

from __future__ import annotations

import re
from dataclasses import dataclass

from covertour.problem.errors import InputError, shown
from covertour.problem.times import Times


@dataclass(frozen=True)
class Manner:
    """What a caller wishes of writers; each takes what concerns it.

    ``tiles``: the address of a tile server for the HTML map to ask; None to ask nobody. ``times``:
    how long things take, to tell when each stop is reached; None to tell no times. ``excel``:
    whether CSV begins with a byte order mark, by which Excel knows that it is UTF-8.
    """

    tiles: str | None = None
    times: Times | None = None
    excel: bool = False

    def __post_init__(self) -> None:
        if self.tiles is not None:
            tile_server(self.tiles)


def tile_server(tiles: str) -> str:
    """The server of a tile address, as a page's policy has to name it.

    >>> tile_server("https://{s}.example.org/{z}/{x}/{y}.png")
    'https://*.example.org'
    """
    found = re.fullmatch(r"(https?://[\w.:\[\]{}-]+)/[^\s\"'<>]*", tiles, re.ASCII)
    if found is None or not all(slot in tiles for slot in ("{z}", "{x}", "{y}")):
        raise InputError(
            "tiles: expected an address such as https://tile.openstreetmap.org/{z}/{x}/{y}.png, "
            f"got {shown(tiles)}"
        )
    return found[1].replace("{s}", "*")
